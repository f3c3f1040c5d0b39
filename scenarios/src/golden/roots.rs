//! Written by `cargo run -p metatopia-scenarios --example record_golden`.

use metatopia_types::Height;

/// Roots after some heights of the log, its beginning and end among them.
pub const ROOTS: [(Height, &str); 10] = [
    (Height(0), "73feaae27ca82727e6acc8ac55461f388f8ad81ae22045e5c744eaffd82f1970"),
    (Height(1), "7e0351567068f73fd5f8f2b78a56daa1501c5759f2a346bd7354528b77cc2efe"),
    (Height(2), "bbe0d4a7ed6015674488f3a7d82bac6cf015519007f4398dab2dfe0389d7584f"),
    (Height(10), "ae906bf068d19127ff0089cbaccfbf570b1f53af7f11c8a8db934c393fcd9bfb"),
    (Height(50), "62d76fa0e36310eb2cc78ce6b8d47406406d1578e0aa02a9354a275938146a9d"),
    (Height(100), "b064ed6adca9aa4dda5296cb82b2200992691b6f4024802b29292491bcbdbc2e"),
    (Height(200), "fb4e9a4a7c0954c2971f7123251ecac4a731dbc18a3bf164b6b31f77571b9f08"),
    (Height(300), "7331d49c0d984949f73ace389a65d282eb9baa90fba1e978aef703aa84c760d6"),
    (Height(399), "d70f01cfb7a2f3f5090853b1fcaf8d8821f11bc17ee012b344f6b27dc9e2bfa2"),
    (Height(400), "3da461e7cc5abbdcef39b3116a21091a7bb84a5dd3b9b44c4ac365b224ecdbaa"),
];
