//! Written by `cargo run -p metatopia-scenarios --example record_golden`.

use metatopia_types::Height;

/// Roots after some heights of the log, its beginning and end among them.
pub const ROOTS: [(Height, &str); 10] = [
    (Height(0), "3152ab4adb475aa00443720f89a5928f6c4eeda9bb962138300c0885444fafef"),
    (Height(1), "2cd1ab8609a17b1da3803d445d8bca968a8d9b406096005f813c10a8493b50ed"),
    (Height(2), "c2790cd2e0878ee9e6fff3573fa8fcc27644fa7e5c56710b20e01ce03a8f1ebc"),
    (Height(10), "facad3f1b7377e2982a8c739685d82753f6ed05d7882f82d8b44a7f615bd608f"),
    (Height(50), "296ebc24f6435e1f99721dad9dddaa4d497661287afe67672374ee6ee5a50c23"),
    (Height(100), "df057bb68b1f68f2e1b93bab73ae0df3a17538d267d40c299235342fde93f421"),
    (Height(200), "72dd105ac6d1cd2c5cab25d0fc2143e1976e85dbf7e0cf9abb087bcf4f4a964e"),
    (Height(300), "ae6ff00e8db053ff8b42de1008d3076e6eb45a62de9edb0c04fed33a22a619e8"),
    (Height(399), "959fc1edcaaf70f166896b3270f1fbf8c6f4b73414381425c1a1ba435509340c"),
    (Height(400), "4a7cad2c08b5776d19dc5908db3155704e0b8fe38b738d80b6d818fc8b907a14"),
];
