//! Written by `cargo run -p metatopia-scenarios --example record_golden`.

use metatopia_types::Height;

/// Roots after some heights of the log, its beginning and end among them.
pub const ROOTS: [(Height, &str); 10] = [
    (
        Height(0),
        "73feaae27ca82727e6acc8ac55461f388f8ad81ae22045e5c744eaffd82f1970",
    ),
    (
        Height(1),
        "8860c85f7e81cc8d1da3039efd1d2e7dc02dc71f3bd248f7e178395abb637c94",
    ),
    (
        Height(2),
        "85d9be25e83d0728c31081037a5bad4a219e849302723d377a4fa4a84e67f549",
    ),
    (
        Height(10),
        "9202edd4c314eccece9c1b9900d57760d7271870a04465ede181f6865e3b347e",
    ),
    (
        Height(50),
        "247dc9170ce3be60add05c0c24e43377d27caf6b8ae3e0cd07465b1b95b269be",
    ),
    (
        Height(100),
        "bede737ddf026e4ec4c9849aa2d819630c0ce7ec1810645c51bb3d2afcdf186c",
    ),
    (
        Height(200),
        "f2f2154eea85e93210751faa0e790ed7a5c7920544ff332c9e5ea85670f0e885",
    ),
    (
        Height(300),
        "31a6bdb40505788cd7ba0499e52da05d2cd57812e6d73be85bc1f8e49ae93f4a",
    ),
    (
        Height(399),
        "c86eac52df6b1a0546f2da61e1ac10fe9ac816724166b91e23b0bf65fc06c563",
    ),
    (
        Height(400),
        "c2343d9fdaf120fa153e365654260e73fcacb5a2934a120490d5c89b54afbd18",
    ),
];
