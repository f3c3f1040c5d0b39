//! Written by `cargo run -p metatopia-scenarios --example record_golden`.

use metatopia_types::Height;

/// Roots after some heights of the log, its beginning and end among them.
pub const ROOTS: [(Height, &str); 10] = [
    (Height(0), "f50cfaa05c6677c55ef28557e56eea6339fa41a29620f81821a213d64dc80c8d"),
    (Height(1), "3a0f15d382c0fd215ff9229d63c5322d86c8317fecbe1c17032004baa3678dfd"),
    (Height(2), "879ffe5af38e14aa2870484e8f4ce911a2c27353e8a01c36a3cc5ee21efbf00b"),
    (Height(10), "fd162d2515e7accd399df913e343d0fcb0df3f92d79d8ae27d636f36ae55c0e1"),
    (Height(50), "f3977d8affeac42f878aea98d6f49c9cd978e193821b3d8ddec14cef5d254360"),
    (Height(100), "1d8e00c46c348426b184e0715c2ee2598fcf35bf2c626437878bb2e404a6c46b"),
    (Height(200), "00f054c6057dd3c0130a1692592559286561eeafb34a4b37c279ff54aa254b34"),
    (Height(300), "dcc62659dc2376a6f135424a9d34f79df47893a68ed201aca605c110dd53dfce"),
    (Height(499), "3e3ae5ce7c12a1609783ffb12d9219afbc174cdc62971b5e9a76874a39ab62af"),
    (Height(500), "57f1787e81957b3380079e5237b6c58a8d187970946c2d74cfced52ab261d498"),
];
