//! Written by `cargo run -p metatopia-scenarios --example record_golden`.

use metatopia_types::Height;

/// Roots after some heights of the log, its beginning and end among them.
pub const ROOTS: [(Height, &str); 10] = [
    (Height(0), "8f134d00b45df15a9a2b1cf8e9880f65db44a797c2ed24dd42637d66e1411a14"),
    (Height(1), "77ce7f4b0726e48d70774e32f119a6e19f22b3cfef1d28b752186d04dddedb48"),
    (Height(2), "06ef735ccf752a7394bd32c6a1e9f8ca5915b44c973b02f0faf348be9555308f"),
    (Height(10), "13a1f2aa2efec4684b34c710c74e9804fb532daf11fdfdff423d3d2f345fd6a2"),
    (Height(50), "24afffb97ca729a901a062a46feaed8fabb134bc55b9cfc3cb33306a5618b74f"),
    (Height(100), "dd052983279b5d9472ee1f6398ed11c9ba1575477b68390eff128d61b04a9ddd"),
    (Height(200), "4c43ff74cc5a5fe67b416b29807a931e5ded31310cf9ab5d3f5cce664e90dcf9"),
    (Height(300), "563a7856eb74da3d153ec1cf82223dbfef9a8eeee326f00869775d2488735dd4"),
    (Height(499), "d0bd1fa70f5368f430b47872a42abaf8cd89ba4026f0a00c63c89d9719a98373"),
    (Height(500), "5edeeb31b884a9e25034c77fd47834e3c9c67fa6c39783502a74c0030cb76656"),
];
