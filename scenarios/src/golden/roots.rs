//! Written by `cargo run -p metatopia-scenarios --example record_golden`.

use metatopia_types::Height;

/// Roots after some heights of the log, its beginning and end among them.
pub const ROOTS: [(Height, &str); 10] = [
    (Height(0), "172f14ec095c0d7e85ef37c633549c3a993308c706720240ba5bc4c432328b87"),
    (Height(1), "b2a2d501620307320be4a4e690174577b50757bf4b3c3812f539b6a161ba337f"),
    (Height(2), "0e1e2193a3e767b8ef31ed278b2f116096d4215921e1619e9396ccd54e8caabd"),
    (Height(10), "b2f26661ec8d675659e5293176810190fc51618a8a94a170b06280bef49402fc"),
    (Height(50), "710fe271a0ee1a759163a33dd122d7bf00fde91786102947a096fba6f670e181"),
    (Height(100), "e2945b2ef20ee9b4140a5a5cbbb1d2a610cd2edf903c6a373a1d4e8911b65545"),
    (Height(200), "dd28fbb205830fdb8c0d00d04aa617a9714ab20d693db8aaadef3dc6c434e058"),
    (Height(300), "9d2d4c7d083285afbcfe0e7b4b0ec13587c8d684e5926591377f4f876516a591"),
    (Height(499), "6df136ac35367d5f21ace0c6f677c95f386ad65370563e5b7e7c2553691e9c60"),
    (Height(500), "8453f58523fb7df3533744c24b380903fe9d937e15c43f69963c1d7ad2851512"),
];
