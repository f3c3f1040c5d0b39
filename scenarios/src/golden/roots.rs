//! Written by `cargo run -p metatopia-scenarios --example record_golden`.

use metatopia_types::Height;

/// Roots after some heights of the log, its beginning and end among them.
pub const ROOTS: [(Height, &str); 10] = [
    (Height(0), "a971fb24d986a955a33db857ca007d8d7c5dc812cd5632bf05dba0367c623437"),
    (Height(1), "7ddfbc5b2a18b036bc1517596a0f245b849bf3668a7402eec0a638f1c784bdd4"),
    (Height(2), "b7ccf5383e79112866344d181cad9c8b8e279dcc379be8d913c6175f15f7e33c"),
    (Height(10), "645a5d3813aaa0fc3b5ea4219aa506de02787dc79d749183d429017517f60c35"),
    (Height(50), "8724909a63a5341b5579f7660eaa315b0adf91b4d33598ed2fe8c1f2a9d155dc"),
    (Height(100), "bdd28d27b2b67e1adea98060d81fa09937f96b256ff4b7c9ef7e157558686ac2"),
    (Height(200), "6d0b983ab3d4c1f7fa5610a4ec0c7fc08f2ff52dd836f00b26382b082c22f20b"),
    (Height(300), "77fa2c5ce7a25721088804210eae77772c1f3a56918fb0dcc840cff50b264845"),
    (Height(499), "62ed32ae196edb90f5b2621b853320d76dd168fa89dd31f1c700c02bfa427825"),
    (Height(500), "e378761085abc4a673c3a71a11abdbe19dad58c1370084494ac0a497f6976868"),
];
