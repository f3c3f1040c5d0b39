//! Written by `cargo run -p metatopia-scenarios --example record_golden`.

use metatopia_types::Height;

/// Roots after some heights of the log, its beginning and end among them.
pub const ROOTS: [(Height, &str); 10] = [
    (Height(0), "adb1b930afad0c6538f5fd5c2af7b329633e7b3f11b9dbc6a3ff6bc893fbd50d"),
    (Height(1), "caf6afacfb0adbf58a51906edb1af0dc5f43fb90168643164efea70b025fdcef"),
    (Height(2), "ddd2adea3eed1d8d0242cceb3d12df362ca4aa1d0065dbabda986c6b8b296a09"),
    (Height(10), "f71e4c29e9aee207a0157d955ca3c58bd0f190587254d50762821b00f5871e7c"),
    (Height(50), "8f46c733167873572776a9f126756749e5387c3999a3201b00bad24a3f0cfb51"),
    (Height(100), "2a0b230a9ecc1874ae9729dd7a68a07ea1f3572d01360d7833f7491479aee7f7"),
    (Height(200), "6e35d5de1369301adb4d9b3748e75fdc4c937497c29afc4bd821140ac2e9f696"),
    (Height(300), "cdb606d76dcce9a72767410aae8a1dd5287efec5bcdd54abe7ea2507eb07eb28"),
    (Height(499), "500d09465be8d7cfe62e53ae9e90eeb44fdc531b2b07e0e1a5542c8c0fa980db"),
    (Height(500), "05cd0258307a9b83fae6d09d0d0e515f9ba63856e6c5b4f6e85aa706c68d2e8e"),
];
