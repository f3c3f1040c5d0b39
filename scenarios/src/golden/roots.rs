//! Written by `cargo run -p metatopia-scenarios --example record_golden`.

use metatopia_types::Height;

/// Roots after some heights of the log, its beginning and end among them.
pub const ROOTS: [(Height, &str); 10] = [
    (Height(0), "c3b4248c76aa4960968de55dafd61c3f7069d514fa703a47873cc433f4d5507e"),
    (Height(1), "2d159d7cbef8f28e1b151fcd67147c0a7ef58f79fe12d657f153bbb34eaa2ed2"),
    (Height(2), "0b01a46b0c209fa0c4665d41df8442abdf637777841b25341315e839b4e6321f"),
    (Height(10), "25dda70230813a2654263219f24ccb33abd16c967862e4076d8003b3536541d8"),
    (Height(50), "02a14aa70913d50827bfafebf246ff6bc1fc3d8fc4fa21fed853ee12eaac4e70"),
    (Height(100), "6076f2355421a776653ac057e1dd242195e24f224588df82cd22c3b95cec0d68"),
    (Height(200), "b48a639d2ded22107356a034be3f1c6bbb3cf8aebd4ab66ff38bb293bf954834"),
    (Height(300), "2cc37a789e6d8b85364ea9ab57bbf0b0bf97cac63fafce83f9f4d763e1987dc3"),
    (Height(499), "1df6bf1cbdb154cc378a4cacbab2914df9d1c037c2539bf4e5f086a01a4c95e2"),
    (Height(500), "75c91ba1bd1adf6edf7c085ee29264772f0c0ad004858261ff5128432df3d1ab"),
];
