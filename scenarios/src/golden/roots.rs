//! Written by `cargo run -p metatopia-scenarios --example record_golden`.

use metatopia_types::Height;

/// Roots after some heights of the log, its beginning and end among them.
pub const ROOTS: [(Height, &str); 10] = [
    (Height(0), "4894d6ef336dd65f7beaa29042b941fc4df315554cb4d4682bcedbc91998fac9"),
    (Height(1), "1f02d19acb02ccc32da183585b2cd89da3a85fe032244bd8c8da6f8897a6bc08"),
    (Height(2), "d40ebd5ea2d27c0f566c28d4f891d8d16acf352e134eb2c1197fb75c9a3b0c77"),
    (Height(10), "cfb2510abc4d76cdedd6a5633e830250a65dca5cbae64d58b965157b40cc8d39"),
    (Height(50), "4d1bee2c8de08d8b815689c4264a7837c6d18eda7f602d29e20f0165c8af424a"),
    (Height(100), "314ffc7aa181efbd22d1ae245c3ed6fd9a92df5681b576bec98f7bedc1fda4c1"),
    (Height(200), "2c40a24e4cb164e391589df8913785b41b8fb334e020e62e9c2b71ef7001388a"),
    (Height(300), "151a6eb8c6ecfbf2372c8c62186a1d51e79b5362962a4a39883a7aa03f9d838b"),
    (Height(399), "c9b47e4bae631b8023a510cd3404b0bb5cc4f943b299becab993e515507b9ccf"),
    (Height(400), "135dd854f5b9e23b66ab79462df78da03bacea2b9475d0750ee598a0dacb4d65"),
];
