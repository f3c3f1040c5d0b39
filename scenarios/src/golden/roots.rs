//! Written by `cargo run -p metatopia-scenarios --example record_golden`.

use metatopia_types::Height;

/// Roots after some heights of the log, its beginning and end among them.
pub const ROOTS: [(Height, &str); 10] = [
    (Height(0), "461e9357f3c195fa9db829b30de606dd234eb3c8dc8fe29487274acdb6899e4a"),
    (Height(1), "8ed3e21da1a9a97b2bcfa6a82a93be5ad463186f8388240cca9c7b7d9c0e3362"),
    (Height(2), "72d35f100e896df188395b4d9e474c8062bab5501f334bd1fa6bdabca39aca5b"),
    (Height(10), "8aa8d227501efbc4f1a182ad258c76a14b3b5ff6daf855b4fc9121236e578414"),
    (Height(50), "a322a7eb5adbb9e32e97155f3be3999db1b5e7a61005772bc5dc40922952c883"),
    (Height(100), "c423c8435d494f896a72323d2599ec85314265397ad5f680672f7230290ed64b"),
    (Height(200), "504fb4681e49b7c502a6bca11536ad3cc2e63564c8928418e5338075c436611f"),
    (Height(300), "7487d4b7c6eafbd86938dd59dafb861315ff021103f94bad006df479b3162afd"),
    (Height(499), "3b0ff6dcecd71d66a4ce277afa21b201f516c6d10056c2dd4f5af8c765bda903"),
    (Height(500), "a724312a4364589cacb5498ad1e8de38b9d34ce10cd1ce602689318063fc711d"),
];
