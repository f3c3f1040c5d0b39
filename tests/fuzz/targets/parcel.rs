#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| metatopia_fuzz::attempt("parcel", bytes));
