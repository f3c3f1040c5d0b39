//! Written by `cargo run -p metatopia-scenarios --example record_golden`.

use metatopia_types::Height;

/// Roots after some heights of the log, its beginning and end among them.
pub const ROOTS: [(Height, &str); 10] = [
    (Height(0), "c8fe5fc80d4bd0dff50936b861b911f02945c6c1af4a241720a37dbf5f897297"),
    (Height(1), "3c3a4fc2e67fb62ae9a83f66c82596ae41fe28de6f0bdea659db9e6fdbc49103"),
    (Height(2), "7d6b27173135bb60050f9e225772ea33c1559392cea7b2db36ae9c7a79789a3b"),
    (Height(10), "d2709757a118d01893a949a53c459683ae3e3ccb028c2efe223e3e0fda4168f9"),
    (Height(50), "f8934f4f295543e9f8b7c462b6260a1673933b4e9ba613a8686443d18748cd3a"),
    (Height(100), "94b10ff99611c006588bac5cc188797f4d83e485631f1448b8b90413ef3cebb0"),
    (Height(200), "851c306b63ed08225ad509dbe653479b97bfcb620b2ef4856ae31d3806fee22f"),
    (Height(300), "742df27579a0991168edffeef786726e0c4e92a5bf480a547db0a57d03c7a8cf"),
    (Height(499), "b512dd5d61c3af5967b535d39253b2be519fea7738a2a16eeabea90e1bd45591"),
    (Height(500), "7a6436e5160fcdbb9b203adf1576189568d87eac71473ae5a10cc2c6af2a6d56"),
];
