//! Written by `cargo run -p metatopia-scenarios --example record_golden`.

use metatopia_types::Height;

/// Roots after some heights of the log, its beginning and end among them.
pub const ROOTS: [(Height, &str); 10] = [
    (Height(0), "d55c73fe7c9b186d792e07af2e5292016601174000316628f9cffb72ea66d0f0"),
    (Height(1), "cf95f6877d5e903cab5269be78eb6bf8880e4231bd44800dfb16994cb470e506"),
    (Height(2), "63a8be2bd7528df08a40eaa66fe525ab0ed4dcc929a1a88976974bfc1e6aeac6"),
    (Height(10), "bb8e68c2fd994f07becf753d99b503557a1e002cfd9feb690a00b732dfb5a98b"),
    (Height(50), "677c3f7d300cd9e87f5d8d9686d5fd61be217c3ff055b7be0a1c8a1c1fd37b02"),
    (Height(100), "3c5494331344e98f9b085a3ff71c1a736a3a6626fa80937861c471a754652f75"),
    (Height(200), "2e6dd7b2bd13fa12c979b94ef728fc777b76702623e7921ced2d6bf9951790b1"),
    (Height(300), "292092d22aa4e3896fb13c05d69a21c26e17d072e45f9963b9e1cd2b8e22df57"),
    (Height(499), "21766d202e0ee0e611e5e97279246fde18e581938048308e3436f679d95094c9"),
    (Height(500), "f24809f73f48d62fbe7d4d1a76ff0b851945b4d15ac6650235ed3bb3029711fd"),
];
