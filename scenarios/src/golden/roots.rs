//! Written by `cargo run -p metatopia-scenarios --example record_golden`.

use metatopia_types::Height;

/// Roots after some heights of the log, its beginning and end among them.
pub const ROOTS: [(Height, &str); 10] = [
    (Height(0), "3152ab4adb475aa00443720f89a5928f6c4eeda9bb962138300c0885444fafef"),
    (Height(1), "2cd1ab8609a17b1da3803d445d8bca968a8d9b406096005f813c10a8493b50ed"),
    (Height(2), "c2790cd2e0878ee9e6fff3573fa8fcc27644fa7e5c56710b20e01ce03a8f1ebc"),
    (Height(10), "facad3f1b7377e2982a8c739685d82753f6ed05d7882f82d8b44a7f615bd608f"),
    (Height(50), "0d81473a4afde76a83df6d825f40b202cb13c76eedcccf42442d1ac809d604f5"),
    (Height(100), "0e84784b9ce688b1016be9a185b0c9025ac849bba00b9c4735c093a9a08e0063"),
    (Height(200), "51077861346c1da3b5243bd8b8de9d626274aa5970db8165acccfc1b2663ed10"),
    (Height(300), "d7bb0fbcb6ad46fecccf063b91c02182a88a4944d078933d89092d98033fdbdf"),
    (Height(399), "d93ae1a978516fe795fa17b867f8747fcb9bb0b4b2b9b42eacfe48de6c10687e"),
    (Height(400), "bb9219b931b31f9af371151e77d42769b08441df6e6da26bb1d19aec0448e7c9"),
];
