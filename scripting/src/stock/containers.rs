//! Arrays, maps and ranges: the functions of the table that work on the interpreter's own values.

use alloc::{boxed::Box, vec::Vec};
use core::{
    cmp::Ordering,
    ops::{Range, RangeInclusive},
};

use rhai::{Array, Dynamic, Engine, EvalAltResult, FuncRegistration, INT, ImmutableString, Map};

use super::{
    active::{self, raise},
    values::{to_value, weight},
};
use crate::{
    ErrorKind, HostFault, Value,
    host::{self, FUNCTIONS, HostImplementation, ValueKind},
};

/// Bytes of a value that are compared for a unit of gas.
const BYTES_PER_GAS: usize = 128;

/// Elements that are looked at for a unit of gas.
const ELEMENTS_PER_GAS: usize = 16;

type EvalResult<T> = Result<T, Box<EvalAltResult>>;

/// Registers them. Which of them there are, and what they cost, is in the table.
pub(super) fn register(engine: &mut Engine) {
    engine
        .register_iterator::<Array>()
        .register_iterator::<Range<INT>>()
        .register_iterator::<RangeInclusive<INT>>();
    register_array_changes(engine);
    register_array_questions(engine);
    register_maps(engine);
    let charge = gas_of("contains", ValueKind::Range);
    changes("contains", false)
        .register_into_engine(engine, move |range: Range<INT>, value: INT| {
            charge(0).map(|()| range.contains(&value))
        });
    changes("contains", false)
        .register_into_engine(engine, move |range: RangeInclusive<INT>, value: INT| {
            charge(0).map(|()| range.contains(&value))
        });
}

/// What takes the gas of a function of the table, and for the elements it looks at.
fn gas_of(
    name: &str,
    first: ValueKind,
) -> impl Fn(usize) -> EvalResult<()> + Copy + Send + Sync + use<> {
    let entry = FUNCTIONS.iter().find(|function| {
        let executor = matches!(function.run, HostImplementation::Executor);
        let takes = function.arguments.first().is_some_and(|(_, kind)| *kind == first);
        executor && takes && function.name == name
    });
    let gas = entry.expect("each function here is in the table").gas;
    move |elements| active::charge(gas + (elements / ELEMENTS_PER_GAS) as u64).map_err(raise)
}

/// A function that `writes` its first argument is refused for constants.
fn changes(name: &'static str, writes: bool) -> FuncRegistration {
    FuncRegistration::new(name).with_purity(!writes)
}

fn register_array_changes(engine: &mut Engine) {
    let charge = gas_of("push", ValueKind::Array);
    changes("push", true).register_into_engine(engine, move |array: &mut Array, value: Dynamic| {
        charge(0).map(|()| array.push(value))
    });
    let charge = gas_of("pop", ValueKind::Array);
    changes("pop", true).register_into_engine(engine, move |array: &mut Array| {
        charge(0).map(|()| array.pop().unwrap_or(Dynamic::UNIT))
    });
    let charge = gas_of("insert", ValueKind::Array);
    changes("insert", true).register_into_engine(
        engine,
        move |array: &mut Array, place: INT, value: Dynamic| -> EvalResult<()> {
            charge(array.len())?;
            let place = place_in(array.len() + 1, place)?;
            array.insert(place, value);
            Ok(())
        },
    );
    let charge = gas_of("remove", ValueKind::Array);
    changes("remove", true).register_into_engine(
        engine,
        move |array: &mut Array, place: INT| -> EvalResult<Dynamic> {
            charge(array.len())?;
            let place = place_in(array.len(), place)?;
            Ok(array.remove(place))
        },
    );
    let charge = gas_of("clear", ValueKind::Array);
    changes("clear", true).register_into_engine(engine, move |array: &mut Array| {
        charge(array.len()).map(|()| array.clear())
    });
    let charge = gas_of("reverse", ValueKind::Array);
    changes("reverse", true).register_into_engine(engine, move |array: &mut Array| {
        charge(array.len()).map(|()| array.reverse())
    });
    let charge = gas_of("sort", ValueKind::Array);
    changes("sort", true).register_into_engine(
        engine,
        move |array: &mut Array| -> EvalResult<()> {
            // n log n comparisons, and n is at most 2^10.
            charge(array.len() * 10)?;
            sort(array).map_err(raise)
        },
    );
}

fn register_array_questions(engine: &mut Engine) {
    let charge = gas_of("len", ValueKind::Array);
    changes("len", false).register_into_engine(engine, move |array: &mut Array| {
        charge(0).map(|()| count(array.len()))
    });
    let charge = gas_of("contains", ValueKind::Array);
    changes("contains", false).register_into_engine(
        engine,
        move |array: &mut Array, value: Dynamic| -> EvalResult<bool> {
            charge(array.len())?;
            Ok(position(array, &value)?.is_some())
        },
    );
    let charge = gas_of("index_of", ValueKind::Array);
    changes("index_of", false).register_into_engine(
        engine,
        move |array: &mut Array, value: Dynamic| -> EvalResult<Dynamic> {
            charge(array.len())?;
            Ok(position(array, &value)?.map_or(Dynamic::UNIT, |at| count(at).into()))
        },
    );
    for (name, wanted) in [("==", true), ("!=", false)] {
        let charge = gas_of(name, ValueKind::Array);
        changes(name, false).register_into_engine(
            engine,
            move |a: &mut Array, b: Array| -> EvalResult<bool> {
                charge(a.len() + b.len())?;
                let (a, b) = (Value::Array(values(a)?), Value::Array(values(&b)?));
                Ok(host::equal(&a, &b) == wanted)
            },
        );
    }
}

fn register_maps(engine: &mut Engine) {
    let charge = gas_of("len", ValueKind::Map);
    changes("len", false)
        .register_into_engine(engine, move |map: &mut Map| charge(0).map(|()| count(map.len())));
    let charge = gas_of("keys", ValueKind::Map);
    changes("keys", false).register_into_engine(engine, move |map: &mut Map| {
        charge(map.len()).map(|()| map.keys().map(|name| name.as_str().into()).collect::<Array>())
    });
    let charge = gas_of("values", ValueKind::Map);
    changes("values", false).register_into_engine(engine, move |map: &mut Map| {
        charge(map.len()).map(|()| map.values().cloned().collect::<Array>())
    });
    let charge = gas_of("contains", ValueKind::Map);
    changes("contains", false).register_into_engine(
        engine,
        move |map: &mut Map, name: ImmutableString| {
            charge(0).map(|()| map.contains_key(name.as_str()))
        },
    );
    let charge = gas_of("remove", ValueKind::Map);
    changes("remove", true).register_into_engine(
        engine,
        move |map: &mut Map, name: ImmutableString| {
            charge(0).map(|()| map.remove(name.as_str()).unwrap_or(Dynamic::UNIT))
        },
    );
    let charge = gas_of("clear", ValueKind::Map);
    changes("clear", true)
        .register_into_engine(engine, move |map: &mut Map| charge(map.len()).map(|()| map.clear()));
    for (name, wanted) in [("==", true), ("!=", false)] {
        let charge = gas_of(name, ValueKind::Map);
        changes(name, false).register_into_engine(
            engine,
            move |a: &mut Map, b: Map| -> EvalResult<bool> {
                charge(a.len() + b.len())?;
                let (a, b) = (Dynamic::from_map(a.clone()), Dynamic::from_map(b));
                let (a, b) = (paid(&a)?, paid(&b)?);
                Ok(host::equal(&a, &b) == wanted)
            },
        );
    }
}

fn count(elements: usize) -> INT {
    INT::try_from(elements).unwrap_or(INT::MAX)
}

/// A place among `elements`; below zero it counts from the end.
fn place_in(elements: usize, place: INT) -> EvalResult<usize> {
    let from_start = if place < 0 { place.checked_add(count(elements)) } else { Some(place) };
    let found = from_start.and_then(|place| usize::try_from(place).ok());
    found.filter(|place| *place < elements).ok_or_else(|| {
        let message = alloc::format!("there is no place {place} in this array");
        raise(HostFault::new(ErrorKind::Bounds, message))
    })
}

fn values(array: &Array) -> EvalResult<Vec<Value>> {
    let values: EvalResult<Vec<Value>> =
        array.iter().map(|value| to_value(value).map_err(raise)).collect();
    let values = values?;
    pay(values.iter().map(weight).sum())?;
    Ok(values)
}

/// The interpreter's value as ours; what is in it is looked at for gas.
fn paid(value: &Dynamic) -> EvalResult<Value> {
    let value = to_value(value).map_err(raise)?;
    pay(weight(&value))?;
    Ok(value)
}

fn pay(bytes: usize) -> EvalResult<()> {
    active::charge((bytes / BYTES_PER_GAS) as u64).map_err(raise)
}

fn position(array: &Array, value: &Dynamic) -> EvalResult<Option<usize>> {
    let value = paid(value)?;
    let (mut bytes, mut found) = (0, None);
    for (at, element) in array.iter().enumerate() {
        let element = to_value(element).map_err(raise)?;
        bytes += weight(&element);
        if host::equal(&element, &value) {
            found = Some(at);
            break;
        }
    }
    pay(bytes).map(|()| found)
}

/// Sorts numbers, or strings, so that equal elements keep their order. The interpreter's own sort
/// calls back into the script, loses its errors, and then falls back on an order that differs
/// between builds.
fn sort(array: &mut Array) -> Result<(), HostFault> {
    let mixed =
        || HostFault::new(ErrorKind::Type, "sort: only numbers, or only strings, have an order");
    let keys: Vec<Value> = array.iter().map(to_value).collect::<Result<_, _>>()?;
    if let Some(first) = keys.first()
        && !keys.iter().all(|key| host::order(first, key).is_some())
    {
        return Err(mixed());
    }
    let mut keyed: Vec<(Value, Dynamic)> = keys.into_iter().zip(core::mem::take(array)).collect();
    // Stable, and total: whatever compares with the first compares with all.
    keyed.sort_by(|(a, _), (b, _)| host::order(a, b).unwrap_or(Ordering::Equal));
    array.extend(keyed.into_iter().map(|(_, value)| value));
    Ok(())
}
