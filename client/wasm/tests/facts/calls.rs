//! The C interface itself, as far as it can be called without foreign memory.

use metatopia_wasm::abi;

#[test]
fn an_operation_on_what_is_not_kept_is_refused_in_json() {
    abi::input(0);
    assert_eq!(abi::replica_status(7), 0);
    assert!(abi::output_length() > 0);
    assert_eq!(abi::drop_handle(7), 0);
}

#[test]
fn an_input_is_used_once() {
    assert!(!abi::input(32).is_null());
    assert_eq!(abi::public_key(), 1);
    assert_eq!(abi::output_length(), 32);
    // There is no secret any more.
    assert_eq!(abi::public_key(), 0);
}
