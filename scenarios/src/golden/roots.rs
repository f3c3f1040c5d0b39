//! Written by `cargo run -p metatopia-scenarios --example record_golden`.

use metatopia_types::Height;

/// Roots after some heights of the log, its beginning and end among them.
pub const ROOTS: [(Height, &str); 10] = [
    (Height(0), "34dbcabb8eed8c0253d4ca3b03d7d1180a445221201d04d3620e16bb9e5119cb"),
    (Height(1), "86f1f23c693b3eb5bb5091d973e48df2d7ce32419791ed05edb8b8c89e2f004c"),
    (Height(2), "2f50ecac14aac34eb7c4e2262edf4a10a119f110d85ee01a5c8e5ab54f44e3df"),
    (Height(10), "fe5d7e1c01171e4e77e095428112c6e006ceece11d38eca8d66d0ae463bbc052"),
    (Height(50), "d21e58d2c68ce9f86e53568a8ae7276bcbacd60ad734eab6e034aa06884205d9"),
    (Height(100), "1498f9a477b063b8f3b999e2eacc0195105f28ffb653a21a5bf47bdddd8c4663"),
    (Height(200), "aa447612fd382e27a498954412f77a2fd7cc66294374de9d3471daba105c52aa"),
    (Height(300), "8c7af9fc5bbfb33a193ecfdf008068a11f9af572c90fcfb40e7bd096f05b8bd4"),
    (Height(499), "f8631b7ce11f27215747f3176a33dab750efb109a860e61f168f25e657566ec4"),
    (Height(500), "f1bf5063992d3c2b6877191e8388a06087f35abcde1afcb44fa1f4a05f8ce3a7"),
];
