//! Written by `cargo run -p metatopia-scenarios --example record_golden`.

use metatopia_types::Height;

/// Roots after some heights of the log, its beginning and end among them.
pub const ROOTS: [(Height, &str); 10] = [
    (Height(0), "290abdeea9663b6e7f501027f4111bc25cfdec302dcf79f1600324ef4b20863a"),
    (Height(1), "c6663678a8be34d0c5be94dba117a1e6a1d712b466fe76b76b95b74d25d15e35"),
    (Height(2), "b2082e472a624016fbf88fffcf09394ace9c5a369f3aba38df637f91de7709a1"),
    (Height(10), "460014a8e1f16b2ca142235d39d14709d96a897bef23539737b6c84a29a9be32"),
    (Height(50), "771c003218bc5b44376355941d520dda4bc218535e6ee6cc38a976e486f656d4"),
    (Height(100), "fed46d01bb946b60b096443d4eff7d6d47c63014e54e1b71a63fb0732264f2b3"),
    (Height(200), "45a9286d33d2b063af1f6d5869259782f232c4b5ec6a124c22f60ca91858b0b2"),
    (Height(300), "65b33830f23b4d40741d48c1dd08ab31978c8aa3a47bb6306199af4533804336"),
    (Height(499), "6e0d4064dbbd44c72795db169f3631929cc56e18ee7ce0a53280b68992cff07d"),
    (Height(500), "1d472535e03e0d97ee8921597fdc2e8940a4ff68fad2aedc35316e2aa8b647f8"),
];
