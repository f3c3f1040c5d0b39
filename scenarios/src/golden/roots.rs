//! Written by `cargo run -p metatopia-scenarios --example record_golden`.

use metatopia_types::Height;

/// Roots after some heights of the log, its beginning and end among them.
pub const ROOTS: [(Height, &str); 10] = [
    (Height(0), "416eae1bded07d7472cd92530403fc9b7d39fa068b355ac0c308b686beaf6186"),
    (Height(1), "74885a1c9bed4e9d64fbcc5dd7fe975bcb1796115d583f043d238f115b2a065d"),
    (Height(2), "f52f212102d93cdf1f47a159c533e02e045b9ae8d4185f1bab5f95dc191636b8"),
    (Height(10), "1100c29cf0203ed2f5ade2e1dcd5ebaee04761a5da58eb0ce1bd3aef2fadecc1"),
    (Height(50), "95019be8b1e5e3bfacb559a9fdb0c41ebece1a53fb629130235c85f1460b6d19"),
    (Height(100), "7294afae978e9d57d594726ca4ebae9abb2783d713888daab03c87f5e38a95f0"),
    (Height(200), "5add39b6ab8ee0dceabdb86be0a8d5dde0526b8a02356e641226789edd6e8793"),
    (Height(300), "3d6e4e951a0bff89e6ccd444b624a6fc37abb08e0700843ea55230e28256244f"),
    (Height(399), "a51b2a9179356e965ebf0685a3ce853bb634b3c716a22b9d93b0a3cb49ccd535"),
    (Height(400), "1ce14ce705af3de05bacc661fa8615477690d0cfa23d584f7b1d1c512a47ce92"),
];
