//! Written by `cargo run -p metatopia-scenarios --example record_golden`.

use metatopia_types::Height;

/// Roots after some heights of the log, its beginning and end among them.
pub const ROOTS: [(Height, &str); 10] = [
    (Height(0), "a6e79a85dd5b89cc676edc628101f1526bcd7edf6e11bb15d59579ebafa9c513"),
    (Height(1), "6e7554611cfa20d880e4a2e7302ea7263fbcd90d78c957e423d4ba0a9d8a8645"),
    (Height(2), "3c4c808bf88ebbea61c6c7acac9e1e5952483b2000ad07aed9fb4f4483468753"),
    (Height(10), "9939f14c6ab22ff4e5d57b25e7f9399bc0a70a330ec87c9af01149780299d114"),
    (Height(50), "c81c16ff766dcc59628a8c830d73220c33934d5028454f5099f4e4b064dc8489"),
    (Height(100), "1aff1aa490a9a4a70ba701337c41ba388a80d5bf69e7e6247cbf865e793236a3"),
    (Height(200), "509d30799b29510e9f1dc6999f853d1612e871848e3f11f730c39ff0da8cb830"),
    (Height(300), "b04695fae846d6e7e632562b80192f49c81898464a62c907802a6429f5873ca3"),
    (Height(499), "7fc4facca142972bfe847b147cf0258e9a49e9a3c2f8e2a1895aa5094dfbb644"),
    (Height(500), "e625a0a78c975bb204be2fa541fece49882fe07e216c101e9b104e55cd2422f4"),
];
