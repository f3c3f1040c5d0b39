//! Written by `cargo run -p metatopia-scenarios --example record_golden`.

use metatopia_types::Height;

/// Roots after some heights of the log, its beginning and end among them.
pub const ROOTS: [(Height, &str); 10] = [
    (Height(0), "058aa880fec7b67434f305178e08fd1b12b2d9c2a97c2c49f796202af9bbe9f7"),
    (Height(1), "c40ca289d863c52c07b5b3e496164662e4c18c8add25be180dbc249531124e3e"),
    (Height(2), "3eac02d9419a93922710c873f792a46c8ae06a8b733533a69ac3591627b11bdb"),
    (Height(10), "60c8eed2522e340567c20812a52e54c7a24d79e4c04fadf058d2af3648ccb9e6"),
    (Height(50), "c99b94e55b2c8f7efd0f06f8df6f64a2e763b988f3cc52e41591685f07e2372c"),
    (Height(100), "b3981a93efef51b26ba6519c196f0248aecfb9db2f1d00c1dada998efe446c35"),
    (Height(200), "9d169ac9b0816dcad445273ed2c9b58f435c666bd64287b2204c731a6062c447"),
    (Height(300), "f5b4cd3805cc11943378b7f7bd770934315fad678acdc0788a2806faec3b6070"),
    (Height(499), "03926746da5574535e67efd5f5f1924ae34efaa110deeb2de563c47dc2254793"),
    (Height(500), "b38737aa6bbb372392eb4243e9bc9c1c57a52d3d33a098542620550422f669b1"),
];
