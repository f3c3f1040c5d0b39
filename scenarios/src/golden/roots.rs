//! Written by `cargo run -p metatopia-scenarios --example record_golden`.

use metatopia_types::Height;

/// Roots after some heights of the log, its beginning and end among them.
pub const ROOTS: [(Height, &str); 10] = [
    (Height(0), "2dff1d437e4a1c0f3a95d158f0d070974ca39764dfef022183d3c0e10be9cce7"),
    (Height(1), "e10086e93f70714ad13edbbd6ef3854c93c4410246c9cfe03260764674387dd5"),
    (Height(2), "c00d3e781d798f522b7961c6059f3d2f4c4d2d378a42f1e1ec37e9160114029b"),
    (Height(10), "5a249fe2c673938b39bd50175acd9d0857b4956bb95ec21bc7034bf98f463204"),
    (Height(50), "3859b2c5dd09374520cbd78c292fff1ad90f8693e474e1769b640fce80417353"),
    (Height(100), "c7ca9daec212e76807517ece93b26189b0b6c2a3f681bc38fd37eac9cfb69cb3"),
    (Height(200), "279aeb7d6f82a6f082dcdc0986405838dc62c86b4d005076c784f1beff03e7d9"),
    (Height(300), "570e6e3d3ee032fc3c4815b301ba887635449bbec4ad8f24325fafee01a255b1"),
    (Height(399), "bd26b8ff4d6753b1aa239d0ffa914260b82134b8ac08655a91ca5509df5ef222"),
    (Height(400), "ca208636af1ca1cea5ae2e7326fe8089cd8db8b6b20098bf37285a8d6bd3a24c"),
];
