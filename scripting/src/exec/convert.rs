//! Values that outlive a call, and those while one runs.

use alloc::{collections::BTreeMap, string::String, sync::Arc, vec::Vec};

use super::{
    datum::{Datum, DatumList, DatumMap},
    meter::{CallFault, CallOutcome},
};
use crate::{ErrorKind, Value};

/// The value while a call runs.
pub(super) fn datum_of(value: &Value) -> Datum {
    match value {
        Value::Unit => Datum::Unit,
        Value::Bool(value) => Datum::Bool(*value),
        Value::Int(value) => Datum::Int(*value),
        Value::Fixed(value) => Datum::Fixed(*value),
        Value::Vec2(value) => Datum::Vec2(*value),
        Value::Object(value) => Datum::Object(*value),
        Value::Text(text) => Datum::text(text.as_str()),
        Value::Array(values) => {
            Datum::Array(Arc::new(DatumList::of(values.iter().map(datum_of).collect())))
        }
        Value::Map(values) => {
            let mut map = DatumMap::default();
            for (name, value) in values {
                map.insert(&Arc::from(name.as_str()), datum_of(value));
            }
            Datum::Map(Arc::new(map))
        }
    }
}

/// Converts a value that nobody else needs, as [`datum_of`] does: its texts are taken over.
pub(super) fn into_datum(value: Value) -> Datum {
    match value {
        Value::Text(text) => Datum::text(text),
        Value::Array(values) => {
            Datum::Array(Arc::new(DatumList::of(values.into_iter().map(into_datum).collect())))
        }
        value => datum_of(&value),
    }
}

/// The value that can outlive the call. Its size is bounded, and is paid for before.
pub(super) fn value_of(datum: &Datum) -> CallOutcome<Value> {
    Ok(match datum {
        Datum::Unit => Value::Unit,
        Datum::Bool(value) => Value::Bool(*value),
        Datum::Int(value) => Value::Int(*value),
        Datum::Fixed(value) => Value::Fixed(*value),
        Datum::Vec2(value) => Value::Vec2(*value),
        Datum::Object(value) => Value::Object(*value),
        Datum::Text(text) => Value::Text(text.as_str().into()),
        Datum::Array(list) => {
            let values: CallOutcome<Vec<Value>> = list.items().iter().map(value_of).collect();
            Value::Array(values?)
        }
        Datum::Map(map) => {
            let entry =
                |(name, value): &(Arc<str>, Datum)| Ok((String::from(&**name), value_of(value)?));
            let values: CallOutcome<BTreeMap<String, Value>> =
                map.entries().iter().map(entry).collect();
            Value::Map(values?)
        }
        other => {
            let words = alloc::format!(
                "a {} cannot be kept or sent, and the world cannot use it",
                other.kind_name()
            );
            return Err(CallFault::new(ErrorKind::Type, words));
        }
    })
}
