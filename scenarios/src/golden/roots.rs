//! Written by `cargo run -p metatopia-scenarios --example record_golden`.

use metatopia_types::Height;

/// Roots after some heights of the log, its beginning and end among them.
pub const ROOTS: [(Height, &str); 10] = [
    (Height(0), "c3fe8353b949d9f74fc67d504a1748e2f80171e470854021e6051e110c810003"),
    (Height(1), "deacb4384c79cf0c75d80b4e205b00b4ba15851980145d54292bfafac3dd8441"),
    (Height(2), "cbddcac5e8831ba02b6ee1070d1e903f0257ef7b0ef4b05165b8fb1371475a61"),
    (Height(10), "47804b6c3df3810f43b36d7169f83229e41619c07ffd53d2c82e65542be8e482"),
    (Height(50), "3ce8c66da93d34906c17629b0f092f927891277f650745ddbc5c7c0f4572067b"),
    (Height(100), "a824d3a749d694ea371754607236f083db6750b2473086a634ba20b5e2318c1b"),
    (Height(200), "2b234ae34df180242b527e12b9297378bf4392ee94c5fa801cc8547219bb6873"),
    (Height(300), "7dbc7d514a18d65bb57e3aa6c66ae7af582a57ceac85cf6f068482ffafaffad2"),
    (Height(499), "dd21b2a74e063fda2a03c59c2e9cfe48ace129af21ad0a41102bf952b4ef5c71"),
    (Height(500), "3eecafc16cbea5f8f126c97e03ffe049db881d0ac8bfdc5e85f90d604f9539f0"),
];
