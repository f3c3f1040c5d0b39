//! Cross-crate tests: layering, determinism, conformance, real processes.
