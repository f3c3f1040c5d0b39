//! What scripts remember, as a `place.toml` says it.
//!
//! Whole numbers, switches, texts and arrays are as TOML has them. All else is a table of one entry
//! that says what it is: `{ fixed = "1.5" }`, `{ vector = ["1", "2"] }`, `{ thing = "mark" }`,
//! `{ map = { .. } }`, `{ unit = true }`, and `{ gone = true }` for a handle of a thing that is not there.

use std::collections::BTreeMap;

use metatopia_math::{Fx, Vec2};
use metatopia_scripting::{ScriptState, Value};
use metatopia_types::ObjectId;
use toml::{Spanned, Table, Value as Written};

/// The number that no thing ever has: a handle of it is one of a thing that is gone.
pub(super) const NOTHING: ObjectId = ObjectId(0);

/// Reads a state; `marks` are the numbers of the things that have marks. Returns the values that are none as well,
/// each with the reason.
pub(super) fn read<'a>(
    state: &'a BTreeMap<String, Spanned<Written>>,
    marks: &BTreeMap<&str, ObjectId>,
) -> (ScriptState, Vec<(&'a Spanned<Written>, String)>) {
    let (mut values, mut wrong) = (BTreeMap::new(), Vec::new());
    for (name, written) in state {
        match value(written.get_ref(), marks) {
            Ok(value) => drop(values.insert(name.clone(), value)),
            Err(why) => wrong.push((written, why)),
        }
    }
    (ScriptState(values), wrong)
}

/// Reads a value. The parser of TOML bounds how deep it is.
fn value(written: &Written, marks: &BTreeMap<&str, ObjectId>) -> Result<Value, String> {
    Ok(match written {
        Written::Integer(whole) => Value::Int(*whole),
        Written::Boolean(switch) => Value::Bool(*switch),
        Written::String(text) => Value::Text(text.clone()),
        Written::Array(values) => {
            Value::Array(values.iter().map(|each| value(each, marks)).collect::<Result<_, _>>()?)
        }
        Written::Table(table) => return tagged(table, marks),
        Written::Float(_) => return Err("write `{ fixed = \"1.5\" }` for 1.5".to_owned()),
        Written::Datetime(_) => return Err("scripts know no dates".to_owned()),
    })
}

/// Reads a table that says what it is.
fn tagged(table: &Table, marks: &BTreeMap<&str, ObjectId>) -> Result<Value, String> {
    let mut entries = table.iter();
    let (Some((tag, content)), None) = (entries.next(), entries.next()) else {
        return Err("a table says what it is by one entry, such as `map`".to_owned());
    };
    match (tag.as_str(), content) {
        ("fixed", Written::String(text)) => number(text).map(Value::Fixed),
        ("vector", Written::Array(parts)) => match parts.as_slice() {
            [Written::String(x), Written::String(y)] => {
                Ok(Value::Vec2(Vec2::new(number(x)?, number(y)?)))
            }
            _ => Err("a vector is two numbers in quotes".to_owned()),
        },
        ("thing", Written::String(mark)) => match marks.get(mark.as_str()) {
            Some(id) => Ok(Value::Object(*id)),
            None => Err(format!("no thing has the mark {mark:?}")),
        },
        ("gone", Written::Boolean(true)) => Ok(Value::Object(NOTHING)),
        ("unit", Written::Boolean(true)) => Ok(Value::Unit),
        ("map", Written::Table(entries)) => {
            let entry = |(name, each): (&String, &Written)| Ok((name.clone(), value(each, marks)?));
            entries.iter().map(entry).collect::<Result<_, String>>().map(Value::Map)
        }
        _ => Err(format!("{tag:?} says nothing: write fixed, vector, thing, gone, unit or map")),
    }
}

fn number(text: &str) -> Result<Fx, String> {
    Fx::parse(text).map_err(|error| format!("{text:?} is no number: {error}"))
}

/// Writes a state; `marks` are the marks of things by their numbers.
pub(super) fn write(
    state: &ScriptState,
    marks: &BTreeMap<ObjectId, String>,
) -> BTreeMap<String, Spanned<Written>> {
    let spanned =
        |(name, value): (&String, &Value)| (name.clone(), Spanned::new(0..0, shown(value, marks)));
    state.0.iter().map(spanned).collect()
}

fn shown(value: &Value, marks: &BTreeMap<ObjectId, String>) -> Written {
    let tagged = |tag: &str, content: Written| {
        Written::Table([(tag.to_owned(), content)].into_iter().collect())
    };
    let text = |number: &Fx| Written::String(number.to_string());
    match value {
        Value::Unit => tagged("unit", Written::Boolean(true)),
        Value::Bool(switch) => Written::Boolean(*switch),
        Value::Int(whole) => Written::Integer(*whole),
        Value::Fixed(number) => tagged("fixed", text(number)),
        Value::Vec2(Vec2 { x, y }) => tagged("vector", Written::Array(vec![text(x), text(y)])),
        Value::Text(text) => Written::String(text.clone()),
        Value::Object(id) => match marks.get(id) {
            Some(mark) => tagged("thing", Written::String(mark.clone())),
            None => tagged("gone", Written::Boolean(true)),
        },
        Value::Array(values) => {
            Written::Array(values.iter().map(|each| shown(each, marks)).collect())
        }
        Value::Map(entries) => {
            let entries = entries.iter().map(|(name, each)| (name.clone(), shown(each, marks)));
            tagged("map", Written::Table(entries.collect()))
        }
    }
}

/// Gives every handle in a value the number that `of` returns for the one that it has.
pub(super) fn renumber(value: &mut Value, of: &impl Fn(ObjectId) -> ObjectId) {
    match value {
        Value::Object(id) => *id = of(*id),
        Value::Array(values) => values.iter_mut().for_each(|each| renumber(each, of)),
        Value::Map(entries) => entries.values_mut().for_each(|each| renumber(each, of)),
        _ => {}
    }
}

/// Calls `note` with the number of each thing of which a value holds a handle.
pub(super) fn handles(value: &Value, note: &mut impl FnMut(ObjectId)) {
    match value {
        Value::Object(id) => note(*id),
        Value::Array(values) => values.iter().for_each(|each| handles(each, note)),
        Value::Map(entries) => entries.values().for_each(|each| handles(each, note)),
        _ => {}
    }
}
