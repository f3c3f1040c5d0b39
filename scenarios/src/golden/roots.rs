//! Written by `cargo run -p metatopia-scenarios --example record_golden`.

use metatopia_types::Height;

/// Roots after some heights of the log, its beginning and end among them.
pub const ROOTS: [(Height, &str); 10] = [
    (Height(0), "825a87e1f9942089966936d025fce8869d97f7dd6a0e3a6fbf0bc9dfdd867c6a"),
    (Height(1), "bb7adabe6281dbab58c6d87cc1481c4b080ed460577740acab05d68922b9961b"),
    (Height(2), "00e4e4a1c0d8dac7180eee672441b22ba171f646bdd5a33bff15b6d20840e123"),
    (Height(10), "43ea8a8c4f663dbbcca00249be9db4ec04eccb34d673f5d99585bef5d54614c3"),
    (Height(50), "537040bac48faa00b7528d36d97d48fda6f4c904992e63eeacc35f8dee8b7d8a"),
    (Height(100), "ead116da39ee66b11dff6e642aa79791a5122a3be1ebdbc8442847185093766d"),
    (Height(200), "672f9812254c5ffaefcd4da950f78860c2e693568294dd45873274891d469703"),
    (Height(300), "fca83b71aa7b2a24558277662f01df6fab674e130d2a8e135d1ce26e943d1242"),
    (Height(499), "aebc272bc696c96083fab1be3e7b23e3191c9d10d019f1808afd52263ab97780"),
    (Height(500), "506d350494e957a7759077612af7674178f26cbceff2d894ef44b8a9d4f8c2d7"),
];
