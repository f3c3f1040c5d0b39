//! Written by `cargo run -p metatopia-scenarios --example record_golden`.

use metatopia_types::Height;

/// Roots after some heights of the log, its beginning and end among them.
pub const ROOTS: [(Height, &str); 10] = [
    (Height(0), "48deeb7d41c2a2a00c9ae8a328e9c528e00328b4e6dd48141d3c1314298a7782"),
    (Height(1), "3b0aa58e3ad0fbb00dda827fab83e7ff0e040feafe31859441c3fb1a88b64c80"),
    (Height(2), "6282786c1c8cfc77b502f8dae5431b3ff1bbfe78cb009e789df477591ceb97c7"),
    (Height(10), "efc8d961222af2385deac0f01977dfeff9db9c3616bfc1a55003fbd78780eea8"),
    (Height(50), "5b60264ff7072b19a93240722504460241a63904740e4d5d1473078680698ad1"),
    (Height(100), "73a98b916965eece6d4f9eb7072e7cad11046d595e9e84f7e7b3ba6b03031e5f"),
    (Height(200), "6f3d0b1ee3aef1c991f085c21b4690f529990f292f20ab08c62bffa636f197d3"),
    (Height(300), "fda527cd7358f76682c74fe22e2c6a6c92c388dfda2ef0d47f2ab99702fede05"),
    (Height(499), "031686a1721ed4e1de05ca50f44eaa74833bedcc4830f47d9c64de743a1ab1c6"),
    (Height(500), "14797c4a3f14046ac10293b9b301d1e5856e7d6298f943ed4f4f79726bd0f842"),
];
