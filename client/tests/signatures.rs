//! Signatures on the edge, which verifiers disagree about, get one verdict: natively here, and in the
//! page's module in `client/wasm/tests/module.test.mjs`.

use metatopia_types::{Ed25519, PublicKey, Signature, Verify as _};
use serde_json::Value;

fn bytes<const N: usize>(row: &Value, name: &str) -> [u8; N] {
    hex(row, name).try_into().expect("as many bytes as the type has")
}

fn hex(row: &Value, name: &str) -> Vec<u8> {
    let text = row[name].as_str().expect("text");
    let digit = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).expect("two digits");
    (0..text.len()).step_by(2).map(digit).collect()
}

#[test]
fn signatures_on_the_edge_get_the_strict_verdict() {
    let rows: Vec<Value> =
        serde_json::from_str(include_str!("web/signatures.json")).expect("the shared file");
    assert!(rows.len() > 20);
    for row in &rows {
        let key = PublicKey(bytes(row, "key"));
        let signature = Signature::from_bytes(bytes(row, "signature"));
        let verdict = Ed25519.verify(&key, &hex(row, "message"), &signature);
        assert_eq!(Some(verdict), row["valid"].as_bool(), "{}", row["name"]);
    }
    assert!(rows.iter().any(|row| row["valid"] == true));
}
