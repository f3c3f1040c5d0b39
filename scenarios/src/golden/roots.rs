//! Written by `cargo run -p metatopia-scenarios --example record_golden`.

use metatopia_types::Height;

/// Roots after some heights of the log, its beginning and end among them.
pub const ROOTS: [(Height, &str); 10] = [
    (Height(0), "172f14ec095c0d7e85ef37c633549c3a993308c706720240ba5bc4c432328b87"),
    (Height(1), "f30dcd34cea9cc9c5aaad883529d5f016e94766c88e4cc21cc6054ff84dab9cd"),
    (Height(2), "e091e8cae452ea95a5de0c0e249d2ae3b73d510c831dd6c98e3657ad03a01e1a"),
    (Height(10), "3506f8b455a8a2e43f626cbcf2fa86806ac3bcbc9f082f937e0d0d6f02286154"),
    (Height(50), "41a07f47596cccb87cd9c90b998061ecef4ef89a1d01aaeceec0b8e8543bf242"),
    (Height(100), "c9b0477cb8c3947d0fff0a6db8b67bf7ec3c459fa2ee8c06806e6eecb0542085"),
    (Height(200), "c41aba737f234915e33a3a5ab168ed05d7bcf977ca5e5618eef3cd11a380c538"),
    (Height(300), "348287083d81810d06f2c6f75927863b7585dfc2456071a0caa02c6abd39d8b0"),
    (Height(499), "deda3f58f00bac6dccd8d5ed86155f337902f605065f4a8a084044defbeac4e1"),
    (Height(500), "47496b730c3937baef0aea97ec58e096c40932b77cab5852eaa5db1600cba305"),
];
