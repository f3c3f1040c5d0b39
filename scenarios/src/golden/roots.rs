//! Written by `cargo run -p metatopia-scenarios --example record_golden`.

use metatopia_types::Height;

/// Roots after some heights of the log, its beginning and end among them.
pub const ROOTS: [(Height, &str); 10] = [
    (Height(0), "915733f4ab8caef5a0886c6e8dbef6b63f4920d9a131d3d0feb3d731e1d0d404"),
    (Height(1), "2dfca0f75a360c4e0205875b6fa034645e099a0c788307cd6a486cb9e20ec374"),
    (Height(2), "0a992a172fb75f7b5c4b57af6a74059aeb0d4b5421b0bc8b84fb3330c07173fd"),
    (Height(10), "436877fada405741c429907e572ce4747f1c36ac3ef70ed4cb504fdd6606ba86"),
    (Height(50), "e02782a9d48cf019e2fde0356ea6acd770eb1f0c6bbb505d6d94d9e927d3ee37"),
    (Height(100), "084374cf07f45b9fde7ba6e765e409593fb6cc242c945405e448610f5b8aff23"),
    (Height(200), "40eb74f954a5ab3b523a62235aad65f6b23ce3fe92888252b5ae0db2b4ea1f80"),
    (Height(300), "30bff974c94a45b890793a63faee1567fdfae9c1c6cd7997967445b121b5369d"),
    (Height(499), "7f32e9582a139b29838351bf0719ba3dcb0c43e072a5d05cd51fbde9c88c63ad"),
    (Height(500), "ff3a7677165d3a870f3f07c60fbae067241a3fe80eb35b7f4bc55639f2ad38cf"),
];
