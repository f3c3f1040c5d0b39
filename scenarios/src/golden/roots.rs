//! Written by `cargo run -p metatopia-scenarios --example record_golden`.

use metatopia_types::Height;

/// Roots after some heights of the log, its beginning and end among them.
pub const ROOTS: [(Height, &str); 10] = [
    (Height(0), "fb0f4a78a426c9ccd8d731a9b11ed62e062cb9d58aa2961c6bcc00934831a817"),
    (Height(1), "9e3c468e15ce795ded924c970bea4d73e577fded8b96f0ebd832eabad6d7a605"),
    (Height(2), "daaef8263c3f45600e7334c243d1939ae250e8441accbbccbca255164af9f500"),
    (Height(10), "c8f6cd3cec1dfe196197e9aa1c7f1513eb5de1635f8b788596426bafeb02d960"),
    (Height(50), "e1950ffdb86f10bfb1db1c0c486f682a4cea27ec351d8ff3459016c52f9cb455"),
    (Height(100), "2a8baa4af4c53ab0b39466036dab37cb71b598cc6bedec940ea3e22f94db6c5c"),
    (Height(200), "5776f86976d0b2faaba3c36faee1efffb8e727ee448d702f8a66407abc7f84a5"),
    (Height(300), "1b0d4bb1a9d7d8512f2aea0c5448c854c2778ab021a2dde926ab60ce8ca17dcf"),
    (Height(499), "166f1c8e74c4173a76ebede5a02a8ed0d9dd5a600cc2d1e6f8f5b4dda4e180c7"),
    (Height(500), "918861345d0dc5d849210e981253a28e314e9daa0991ca377292a6e0b9799a77"),
];
