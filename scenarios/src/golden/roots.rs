//! Written by `cargo run -p metatopia-scenarios --example record_golden`.

use metatopia_types::Height;

/// Roots after some heights of the log, its beginning and end among them.
pub const ROOTS: [(Height, &str); 10] = [
    (Height(0), "adb1b930afad0c6538f5fd5c2af7b329633e7b3f11b9dbc6a3ff6bc893fbd50d"),
    (Height(1), "0e76781d21c84845ab0dca0e797a7e8b5aec2e4639bd3cf4b6b5e74be6c0acae"),
    (Height(2), "055a7b5b04d8f5352d97a80ecb83ffcb7584cd8d015edee62b7614f014dbd9cf"),
    (Height(10), "6f16c05c4562383c7ae5a5ee8639de65b4f2239c697db20dc6743ca0023657c9"),
    (Height(50), "3c368a489bb913dc6e1d852ccaa0d0edc2948a2a6d39d0195fdc15af85c7b9d9"),
    (Height(100), "6363501aa7bd9fa5cd474b2143905b7c1c5df39fb5df239e918c83f3ec84f3d8"),
    (Height(200), "e17923dc498336998621983392eb62f34608749d1519d2a26cb26a41ccbeda21"),
    (Height(300), "2d12c2711ed56334328484476db6496fb6a68e4319c6a571a7f450eacdd8753c"),
    (Height(499), "61966282051290f3430e45a441193aca1af1fe6afaa1aa4be0f4bcba74aeb23e"),
    (Height(500), "8e1871ee4faca6d055d1a3a27326236b3b913614d874cfca5737b792b706254e"),
];
