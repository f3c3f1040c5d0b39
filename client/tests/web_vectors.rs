//! The page speaks the protocol in another language: what both must agree on is in files that both
//! test.

use metatopia_types::{Ed25519, PublicKey, Signature, Verify as _};
use serde_json::Value;

#[path = "web/vectors.rs"]
mod vectors;

#[test]
fn the_messages_that_the_page_is_tested_with_are_those_of_this_protocol() {
    let here = vectors::file();
    let file = include_str!("web/vectors.json");
    for (number, (ours, theirs)) in (1..).zip(here.lines().zip(file.lines())) {
        assert_eq!(ours, theirs, "line {number}: run the example record_web_vectors");
    }
    assert_eq!(here.lines().count(), file.lines().count());
}

fn bytes<const N: usize>(row: &Value, name: &str) -> [u8; N] {
    hex(row, name).try_into().expect("as many bytes as the type has")
}

fn hex(row: &Value, name: &str) -> Vec<u8> {
    let text = row[name].as_str().expect("text");
    let digit = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).expect("two digits");
    (0..text.len()).step_by(2).map(digit).collect()
}

#[test]
fn signatures_on_the_edge_get_the_verdict_that_the_page_gives() {
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
