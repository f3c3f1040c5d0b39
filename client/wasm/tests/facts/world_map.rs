//! Maps that a node tells: what is no map, or of another world, is refused by its reason.

use data_encoding::HEXLOWER;
use metatopia_sim::Genesis;
use metatopia_types::{GenesisHead, OfficeFounding, PublicKey, Square, wire};
use metatopia_wasm::{MAP_PROOFS_MAX, prove_map};
use serde_json::{Value, json};

/// The head of a land office with this holder.
fn office(holder: u8) -> GenesisHead {
    let (square, holder) = (Square { x: 0, y: 0, doublings: 2 }, PublicKey([holder; 32]));
    let founding = OfficeFounding { square, holder, beacons: vec![holder] };
    Genesis {
        office: Some(founding),
        admins: [holder].into(),
        validators: [(holder, Default::default())].into(),
        ..Genesis::empty()
    }
    .head()
}

/// Returns what a node tells of the world of an office without any map.
fn told(office: &GenesisHead) -> Value {
    json!({
        "world": office.id().to_string(),
        "office": HEXLOWER.encode(&wire::encode(office)),
        "links": "00",
        "proofs": [],
    })
}

/// The word for why a map is refused; none if it is proved.
fn refused(told: &Value) -> Option<&'static str> {
    prove_map(told.to_string().as_bytes()).err().map(|error| error.code)
}

#[test]
fn a_map_that_is_none_or_of_another_world_is_refused() {
    let good = told(&office(1));
    assert_eq!(prove_map(good.to_string().as_bytes()).unwrap(), br#"{"squares":[],"oldest":null}"#);
    let with = |field: &str, value: Value| {
        let mut other = good.clone();
        other[field] = value;
        refused(&other)
    };
    assert_eq!(with("office", told(&office(2))["office"].clone()), Some("unproved"));
    assert_eq!(with("world", told(&office(2))["world"].clone()), Some("unproved"));
    assert_eq!(with("proofs", json!(["00ff"])), Some("unproved"));
    for (field, value) in [
        ("world", json!("garden")),
        ("office", json!("no digits")),
        ("office", json!("00")),
        ("links", json!("zz")),
        ("links", json!("ff")),
        ("proofs", json!(["x"])),
        ("proofs", json!("00")),
        ("proofs", Value::Null),
    ] {
        assert_eq!(with(field, value.clone()), Some("input"), "{field}: {value}");
    }
    assert!(prove_map(b"\xff").is_err());
    let plain = GenesisHead { office: None, ..office(1) };
    assert_eq!(refused(&told(&plain)), Some("unproved"), "it founds no world");
}

#[test]
fn so_many_proofs_of_a_map_are_opened_and_no_more() {
    let mut many = told(&office(1));
    many["proofs"] = json!(vec![""; MAP_PROOFS_MAX]);
    assert_eq!(refused(&many), Some("unproved"), "the first of them is opened");
    many["proofs"] = json!(vec![""; MAP_PROOFS_MAX + 1]);
    assert_eq!(refused(&many), Some("input"));
}
