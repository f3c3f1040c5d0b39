//! Written by `cargo run -p metatopia-scenarios --example record_golden`.

use metatopia_types::Height;

/// Roots after some heights of the log, its beginning and end among them.
pub const ROOTS: [(Height, &str); 10] = [
    (Height(0), "567775dbd40d0a3056b75b316e8d650356bb18a08d3a2b88ffe1c4e5e9258394"),
    (Height(1), "3efdfdaa1f08c9d4de9865429122d4dc07f17e755126cbfac7649babb0197e40"),
    (Height(2), "22f4814889c6dae18cc16af1e3124583189ae5402992854453f8f60ed4b4cd66"),
    (Height(10), "1a7d380d02c41f446c41df0ae66c937f67250d68141b97fc86ff739d2c1430a5"),
    (Height(50), "668a0d0339e11411195061f08c1c54eb2c2c3517551937628466d518450a9d7a"),
    (Height(100), "aacc887720364678dcf62d1520d95c336bf6d973e9571886591a79d59d0a5187"),
    (Height(200), "8690c32408a2ef50d583aa3c901c84a96192969c17e85fb9172cb265231d992c"),
    (Height(300), "b1426a5ed4ba30e71fe16267225b455595de9c2ecdd10005332dca5a74ec2781"),
    (Height(499), "d5083f693922bc0746a96c0f8a4ce0137abb112214f24989c52f7a04a692b073"),
    (Height(500), "57f4e0517190366c217792267d880ab7605c5857f24fb24384889a81a64b4995"),
];
