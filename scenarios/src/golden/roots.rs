//! Written by `cargo run -p metatopia-scenarios --example record_golden`.

use metatopia_types::Height;

/// Roots after some heights of the log, its beginning and end among them.
pub const ROOTS: [(Height, &str); 10] = [
    (Height(0), "8ea6f1719469749be264d82dff5c627eefa28b6902bdad06ce4495c788e08cc9"),
    (Height(1), "f332414d38fb6da4c3c0abd487ac2f20b23c97c4bf2375981cdebc11b84a0a05"),
    (Height(2), "bd13284d8db3b3d457013d450f80942410240b302acaef99b23027e336efde47"),
    (Height(10), "55b2e4ede3ba3245eeb3e3939df7d7f11764d55b665b93394b6a997d0ceb5613"),
    (Height(50), "349906b2a73abe319eed2e9db757d5d720297dec022d54db64bd5f6b4f4daf4a"),
    (Height(100), "1cf1108450ea78d94c50e078b50239795a9d61f535cfb718af201fe413805cdd"),
    (Height(200), "ad00c106e8b4ac27d30b8310605a8df65277c2abb09556cb38342ac133c3bb68"),
    (Height(300), "b4b92c4c1b2ad77d2d52bf8aa56f7ad03d6a0ea379f3fcae8c2bc8f487234754"),
    (Height(499), "bf4a96a45a52478b96c581be1536e6d0edd39d865b0972c36153e700530bdd26"),
    (Height(500), "48abf9e958c573105a67d2029797a37be8797ac2b49a611b7ed8148382d5b6c4"),
];
