//! Written by `cargo run -p metatopia-scenarios --example record_golden`.

use metatopia_types::Height;

/// Roots after some heights of the log, its beginning and end among them.
pub const ROOTS: [(Height, &str); 10] = [
    (Height(0), "2b208fdac3a9554c24494f0c9295c25c8de94ff714800c47e358e40247a02b40"),
    (Height(1), "c1c6df3e647f73441bd3b3ed28530658b18b126ebacdb9d1200a8e5b38d95189"),
    (Height(2), "e07cd35220960d08202fb7f1b8e4b801660fe6973e3a87570a23cf90f018918c"),
    (Height(10), "2dd71f7bd875c4fd040310e2aad6a39fbf3141ab077bc7f3a6e98dea65066c9d"),
    (Height(50), "7c08e31a32182d4e8a6f6b6b7d62f501a37aa5f9912c9b462d42d08e4cc68319"),
    (Height(100), "328e046eac1ccf27b0f06b2864438041804309c5c0f46354a80e67f8a1bcce87"),
    (Height(200), "24d94e5ad92d7430ca0b25b1fbdc74c28c87768318e5b397c2ad97555e202ad6"),
    (Height(300), "885bfb5bec7c4b1820c4b6e5f77b5e4842d34e43b82c70eb30f42a9900259945"),
    (Height(499), "74521123cbd8c9eebf68b11a77f614df77855af9283d97652787608a205a03a6"),
    (Height(500), "3e4d4ea8a64253837a23986c539c54fd124b9b6d92a54644eb50b9f2bdfba81d"),
];
