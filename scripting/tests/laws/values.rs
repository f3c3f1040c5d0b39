//! Values have one encoding, and hostile bytes cannot exhaust the stack.

use metatopia_math::{Fx, Vec2};
use metatopia_scripting::{ScriptState, Value, limits::VALUE_DEPTH_MAX};
use metatopia_types::{ObjectId, wire};
use proptest::prelude::*;

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Unit),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::Int),
        any::<i64>().prop_map(|bits| Value::Fixed(Fx::from_bits(bits))),
        any::<(i64, i64)>()
            .prop_map(|(x, y)| Value::Vec2(Vec2::new(Fx::from_bits(x), Fx::from_bits(y)))),
        ".{0,9}".prop_map(Value::Text),
        any::<u64>().prop_map(|id| Value::Object(ObjectId(id))),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            proptest::collection::btree_map("[a-c]{0,2}", inner, 0..4).prop_map(Value::Map),
        ]
    })
}

proptest! {
    #[test]
    fn a_value_comes_back_as_it_was(value in values()) {
        let bytes = wire::encode(&value);
        prop_assert_eq!(wire::decode::<Value>(&bytes, bytes.len()).unwrap(), value);
    }

    #[test]
    fn decoding_never_panics(bytes in proptest::collection::vec(0_u8..12, 0..64)) {
        if let Ok(value) = wire::decode::<Value>(&bytes, 64) {
            prop_assert!(value.depth() <= VALUE_DEPTH_MAX);
            prop_assert_eq!(wire::encode(&value), bytes);
        }
    }

    #[test]
    fn what_a_script_keeps_is_what_it_got(value in values()) {
        let source = "fn on_message(from, topic, data) { state.x = data; state.y = [data]; }";
        let event = metatopia_scripting::Event::Message {
            from: ObjectId(2),
            topic: "t".into(),
            data: value.clone(),
        };
        let handler = crate::stage::handler(source);
        let part = crate::stage::run_in(crate::stage::world(), &handler, &event, ScriptState::default());
        let state = part.unwrap().state.unwrap().0;
        prop_assert_eq!(&state["y"], &Value::Array(vec![value.clone()]));
        prop_assert_eq!(state.get("x").cloned().unwrap_or(Value::Unit), value);
    }
}

#[test]
fn decoding_stops_at_the_depth_limit() {
    let nested = |levels: usize| {
        let mut bytes = [7, 1].repeat(levels);
        bytes.push(0);
        wire::decode::<Value>(&bytes, usize::MAX)
    };
    let levels = VALUE_DEPTH_MAX as usize;
    assert_eq!(nested(levels).unwrap().depth(), VALUE_DEPTH_MAX);
    assert_eq!(nested(levels + 1), Err(wire::DecodeError::Malformed));
    assert_eq!(nested(1_000_000), Err(wire::DecodeError::Malformed));
}

#[test]
fn a_stated_length_is_not_believed() {
    // An array, and a map, that claim 2^32 - 1 elements and have none.
    for kind in [7, 8] {
        let bytes = [kind, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F];
        assert_eq!(wire::decode::<Value>(&bytes, 64), Err(wire::DecodeError::Malformed));
    }
}

#[test]
fn every_kind_has_its_bytes() {
    let map = Value::Map([("a".into(), Value::Bool(true)), ("b".into(), Value::Int(-1))].into());
    let all = Value::Array(vec![
        Value::Unit,
        map,
        Value::Fixed(Fx::ONE),
        Value::Vec2(Vec2::X),
        Value::Text("hi".into()),
        Value::Object(ObjectId(300)),
    ]);
    let bytes = wire::encode(&all);
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(hex, "07060008020161010101620201038080808020048080808020000502686906ac02");
}

#[test]
fn numbers_are_printed_short() {
    for (value, text) in [
        (Value::Fixed(Fx::ONE), "1.0"),
        (Value::Fixed(Fx::parse("0.1").unwrap()), "0.1"),
        (Value::Fixed(Fx::parse("-2.123456789").unwrap()), "-2.123457"),
        (Value::Fixed(Fx::ULP), "0.0"),
        (Value::Fixed(Fx::MIN), "-2147483648.0"),
        (Value::Object(ObjectId(7)), "object"),
    ] {
        assert_eq!(value.to_string(), text);
    }
}
