//! Written by `cargo run -p metatopia-scenarios --example record_golden`.

use metatopia_types::Height;

/// Roots after some heights of the log, its beginning and end among them.
pub const ROOTS: [(Height, &str); 10] = [
    (Height(0), "cfa24adac88fe47a4052d50986932207ff0f1d74d998732e4be03927afbf6b72"),
    (Height(1), "360b836da0d137cc12b545bd36103248ec68361c33de1201c92d8c42e2d49a91"),
    (Height(2), "85cc2e578c4c37c24e05ca36eb5e734eea9bf84580250e89e77edf01573d351d"),
    (Height(10), "749f5ed6d65caa53c3c96acf2e6003327faf48755ed364f4031454ec1cfcc345"),
    (Height(50), "0f1100dc9faa3b0bc38b441eaa75684b253ad0435608052c436c82c207d6f64e"),
    (Height(100), "7811c57e835f85b622ec50a55438661a149073bad6bcebc2bca7863c8663cc19"),
    (Height(200), "887ce1f3aabe91c65155c8329fa8151e1e2e9c3dc3baf151d403d8e48de2743a"),
    (Height(300), "8026d94fc7b880399757bc91d82ae52e6e09a120c52bf87d878074ba0f2df160"),
    (Height(499), "8e9c308f611daf2177c895aabf51dde70c1d35dfc265fb2945fc9905737bddbf"),
    (Height(500), "0ab6405d75d71488eec190017b3a302535dd2653bf51a8c1f5bdc78d65a63f15"),
];
