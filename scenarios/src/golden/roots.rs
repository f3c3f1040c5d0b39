//! Written by `cargo run -p metatopia-scenarios --example record_golden`.

use metatopia_types::Height;

/// Roots after some heights of the log, its beginning and end among them.
pub const ROOTS: [(Height, &str); 10] = [
    (Height(0), "8b5228800a6767adb39a09a12af30ee85838fdc0bcd8652f28c7b4be872ca244"),
    (Height(1), "68c3839c6a460a2c8666bd428c299241d302b4ffdbced9f89e0223760e3d898d"),
    (Height(2), "f621b6ae06d4f783617d9ea9e186517f532617a796be660290266e87ef4ad3fc"),
    (Height(10), "d29e3a16d1f1ad0a0f9e401ed646800a2b249a2959061123865deb9eb571e0df"),
    (Height(50), "de98637ac89e55dda7741d45f01c45f1a31de5660a9f82b1cca881c7ddc4f70e"),
    (Height(100), "201549486c84befd97fd94b99d70a1156c4edb2b18dc37728c3d736b368f02e6"),
    (Height(200), "1ed5721315bd94ed9ecc5e9fa76bd36424b14516b65f88fa95e81d21612a9e7d"),
    (Height(300), "a295b0440081ea07e0aa77a4215349ee629d4d00c402bd8edc6847a1724c6bdb"),
    (Height(499), "11e6f3ecbf0e2b4501a38f7da233393e96bc125dd544e342c7d94e1c346ef642"),
    (Height(500), "d0372cf334c8865f8022648691cf34010cd917169ba3808d926c0b637ec64a0d"),
];
