//! Written by `cargo run -p metatopia-scenarios --example record_golden`.

use metatopia_types::Height;

/// Roots after some heights of the log, its beginning and end among them.
pub const ROOTS: [(Height, &str); 10] = [
    (Height(0), "a6e79a85dd5b89cc676edc628101f1526bcd7edf6e11bb15d59579ebafa9c513"),
    (Height(1), "b2cfecda17b9133c83cc5aac68b4d64a1e3ba747bf88fd77d54df733308025ac"),
    (Height(2), "30e44256ae98ac70760028a8210ce4d1aae86ed566c76e5e16ca7b47256c2aac"),
    (Height(10), "7914f400246ba9b5e14038a87580389d55909b747e865beaa116591cd93aa399"),
    (Height(50), "3ac69ccd2fe6ff6a689918702e1e958dc8093bd5cf5a324a83d4b3da055547ee"),
    (Height(100), "3f90b22e851c4846565c8d05cef772ecab5929a836485f93c244a738c8cec30a"),
    (Height(200), "f76d667973232d3ea10bba9270108932164b4c009db8d65da26540dc69f90f68"),
    (Height(300), "640b9de22f3c45bd18e66a014b96343a7a85541a82c84ad70693f7f755f67fe3"),
    (Height(499), "23f7e7c5d3e5a0cbddfc15f9977c17616a847d1d67ca7ae8e4fb22b4af5dbca8"),
    (Height(500), "4f9cfc6cddf6b9d6699e16e3a9c3660f055db26ef80eeedeb9ed5cf97664ba69"),
];
