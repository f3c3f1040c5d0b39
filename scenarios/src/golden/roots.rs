//! Written by `cargo run -p metatopia-scenarios --example record_golden`.

use metatopia_types::Height;

/// Roots after some heights of the log, its beginning and end among them.
pub const ROOTS: [(Height, &str); 10] = [
    (Height(0), "9bd3c241c1b3f0502ae880c5adc5e21a7fb7a386ca751273dc4b80bbd6f08dde"),
    (Height(1), "f63fc84269438fb7f8947a269ea509887c40c0f2abf97128aa37015427814a4e"),
    (Height(2), "a35f1664b962e2f81661afba44ba81c10d3da3b78186eb1ec086866fd89d85a1"),
    (Height(10), "c203d131d579a690fbea583bb7425a3f23e546e2a147479f1927fd0481f3d780"),
    (Height(50), "ea2af2e90f76799ca6991a1d03cf76c9ac3aad960ddb019f030972694a7f6c77"),
    (Height(100), "c96cb62115ed3daf1b4a391f7ad1c3fceffddadf807cc2bac8236a1c3ceb6ad9"),
    (Height(200), "587a8caa32f49cc9e7a926737b7088a6204fcecd4f95af3574e432e64558ae28"),
    (Height(300), "8a723ed68a628e779276b3ee9ec3300b53692f14a208bcabbb6e82cc8ef75d7c"),
    (Height(499), "7cdf25c48a605081ce129343e9818e2312660faca61e824d9cbb43a5babf926d"),
    (Height(500), "d2b1ce5caa444d86435c543737a3b49fb982e6f98372f41d68770ef2c110f24b"),
];
