//! Written by `cargo run -p metatopia-scenarios --example record_golden`.

use metatopia_types::Height;

/// Roots after some heights of the log, its beginning and end among them.
pub const ROOTS: [(Height, &str); 10] = [
    (Height(0), "10e20ff5653aed60173537449cd9f566b399aa01fa8fb124a741448b0ba5b6bb"),
    (Height(1), "4eaac333cc1c1b8a9087e2bd091a6b31820c8083d7f04170c7c9b00d248df603"),
    (Height(2), "4792f21e02107680b56a6b794bc665ec26fb9d4167d3a22e25cbf6de9d28c843"),
    (Height(10), "b380eacd6b4dc221c953a94f7071dc12635f7a52ec2c6f8311f1d861f193e01d"),
    (Height(50), "5c693898bb9a382b0d7f330cf98957b304fd01254a97eb8a5fa757199b3caadb"),
    (Height(100), "08731aa0cc9ef8d30c16c1c48a70f382245c51797e8fe6742d411d4c633047c8"),
    (Height(200), "4f373b832898c6bc83c384f633268c36b06d793c5832842479f48a657f038ec2"),
    (Height(300), "34bd8ede7ab64c3bd4c88bb77dcccb0343a08196901577f72611904491685b07"),
    (Height(399), "12653e74d742ebf087999a2b5cd582c5a1fab8a828f16a5849c900da361adee3"),
    (Height(400), "174900e9df0bc63f390e4b550add6b84f0b291f5026fbaf4d2214563b1f13802"),
];
