//! Written by `cargo run -p metatopia-scenarios --example record_golden`.

use metatopia_types::Height;

/// Roots after some heights of the log, its beginning and end among them.
pub const ROOTS: [(Height, &str); 10] = [
    (Height(0), "2b208fdac3a9554c24494f0c9295c25c8de94ff714800c47e358e40247a02b40"),
    (Height(1), "c1c6df3e647f73441bd3b3ed28530658b18b126ebacdb9d1200a8e5b38d95189"),
    (Height(2), "e07cd35220960d08202fb7f1b8e4b801660fe6973e3a87570a23cf90f018918c"),
    (Height(10), "2dd71f7bd875c4fd040310e2aad6a39fbf3141ab077bc7f3a6e98dea65066c9d"),
    (Height(50), "c9a1a355ae83f3b4c637cd383c35523d83f999863773e0fb46b442d6c9e490af"),
    (Height(100), "8c69cbc6d17e74e48e2dc97d2ae09c0635af2ae24058805e9768dfa703d55cd9"),
    (Height(200), "a78b086784399965bf22dbb4757f0e2103f6cabe5984d8bbe0dff2e8dade9bac"),
    (Height(300), "57a270bcdf857d8156911e5e5b5ab8443d7a29e79e206185d49d5218d49ac0f1"),
    (Height(499), "35006889cb9693757cf6e08edbc64f65b49a6c8732e3c6b1c14ddaaacfce36ee"),
    (Height(500), "715efa81147be8522718acd2ed351610c77a209126344387b36a1488ae05075a"),
];
