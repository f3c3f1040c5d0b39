//! Written by `cargo run -p metatopia-scenarios --example record_golden`.

use metatopia_types::Height;

/// Roots after some heights of the log, its beginning and end among them.
pub const ROOTS: [(Height, &str); 10] = [
    (Height(0), "058aa880fec7b67434f305178e08fd1b12b2d9c2a97c2c49f796202af9bbe9f7"),
    (Height(1), "994a6fca6c34550101c044ae43220b461f0e295d3dfd39aa79e1cc6cdc3e9c6f"),
    (Height(2), "14708b24f3d63ef838244c244e3a67533304bc4853200879a457d1f457bffdbe"),
    (Height(10), "a78d4757900fd7a789c57cd105444f595a098bc7b9a61788a2377442ac8195a2"),
    (Height(50), "d1009417786ba166cf228959be89131c969a98f807e47d634ca2e3c159e634ef"),
    (Height(100), "21f84d504f1810574ae551cc0759a8843b7a7b06b2821f5a875e74ae22ec2ac0"),
    (Height(200), "8bbd65bcafb7695f5362927d0f87b2e4573646821b56460465d20785f9e6e681"),
    (Height(300), "d20debff1a218cce529e1060fb34cdc453b2d016c8994669f9f98fd47282e430"),
    (Height(499), "c560988f50d15d3bd98ea2d41326e01da9035686dd4ae9c1db5ae74f6f469fca"),
    (Height(500), "c9dddbd3a2538746598912b86574cb3c2955303e6a30b79d3a8f58a61c45fc1e"),
];
