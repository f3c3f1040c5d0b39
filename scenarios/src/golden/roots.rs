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
    (Height(200), "77da50df533a5174a9d8ba9f098a95c956c9f1557bb40732c6e49d1e7e03f721"),
    (Height(300), "68c2131635ea3d8c11c96207a108ca1419fe9fdd51e1d86a9da545a2b84e10c6"),
    (Height(499), "50f50cef52aab0ce2f7e5c69a7db23c148f1f86229d5cb7d81eee3fb51301937"),
    (Height(500), "101b74bb8fe1197b0450c818a4896c8e96dc4e71496fed24efc51fd25e7f0832"),
];
