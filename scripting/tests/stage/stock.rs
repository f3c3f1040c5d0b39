//! Stock rhai with the same functions: what our own executor is held to, and measured against.

pub(crate) mod scene;

use std::{
    any::TypeId,
    sync::atomic::{AtomicU64, Ordering},
};

use metatopia_math::{Fx, Vec2};
use metatopia_scripting::{
    ErrorKind, HostFault, ScriptProgram, Value,
    host::{FUNCTIONS, HostFunction, ValueKind},
    limits::EXPRESSION_DEPTH_MAX,
};
use metatopia_types::ObjectId;
use rhai::{
    Array, Dynamic, Engine, EvalAltResult, FnPtr, FuncRegistration, INT, ImmutableString, LexError,
    Map, NativeCallContext, Position, Token,
};

type StockResult<T> = Result<T, Box<EvalAltResult>>;

/// A fault of a host function on its way through the interpreter.
#[derive(Clone, Debug)]
pub(crate) struct HostError(pub(crate) HostFault);

/// Operations of the program that runs; programs run one after the other.
pub(crate) static OPERATIONS: AtomicU64 = AtomicU64::new(0);

/// Operations at which a program is stopped.
const OPERATIONS_MAX: u64 = 100_000;

#[expect(deprecated, reason = "the hooks are marked so to say: volatile")]
pub(crate) fn engine() -> Engine {
    // Hashes get their seed with the first source that is compiled, and functions are found by hashes.
    drop(ScriptProgram::compile(""));
    let mut engine = Engine::new_raw();
    engine
        .set_max_expr_depths(EXPRESSION_DEPTH_MAX, EXPRESSION_DEPTH_MAX)
        .set_max_call_levels(12)
        .set_max_string_size(4_096)
        .set_max_array_size(512)
        .set_max_map_size(128)
        .on_progress(|operations| {
            OPERATIONS.store(operations, Ordering::Relaxed);
            (operations > OPERATIONS_MAX).then_some(Dynamic::UNIT)
        })
        .on_parse_token(|token, _, _| match token {
            Token::DecimalConstant(constant) => match Fx::parse(&constant.1) {
                Ok(_) => Token::Identifier(Box::new(format!("#{}", constant.1).into())),
                Err(_) => Token::LexError(Box::new(LexError::ImproperSymbol(
                    constant.1.to_string(),
                    String::new(),
                ))),
            },
            token => token,
        })
        .on_var(|name, index, _| match name.strip_prefix('#') {
            Some(text) => Ok(Some(Dynamic::from(Fx::parse(text).unwrap()))),
            None if index == 0 => Ok(scene::global(name)),
            None => Ok(None),
        })
        .register_type_with_name::<INT>("int")
        .register_type_with_name::<Fx>("fixed")
        .register_type_with_name::<Vec2>("vec2")
        .register_iterator::<Array>()
        .register_iterator::<std::ops::Range<INT>>()
        .register_iterator::<std::ops::RangeInclusive<INT>>();
    for function in FUNCTIONS {
        if function.compute(&[]).is_some() {
            for types in overloads(function) {
                engine.register_raw_fn(function.name, types, move |_, args| invoke(function, args));
            }
        }
    }
    scene::register(&mut engine);
    coordinates(&mut engine);
    containers(&mut engine);
    callbacks(&mut engine);
    engine
}

fn raise(fault: HostFault) -> Box<EvalAltResult> {
    Box::new(EvalAltResult::ErrorRuntime(Dynamic::from(HostError(fault)), Position::NONE))
}

fn invoke(function: &'static HostFunction, args: &mut [&mut Dynamic]) -> StockResult<Dynamic> {
    let values: Vec<Value> = args.iter().map(|arg| to_value(arg)).collect();
    let result = function.compute(&values).expect("only pure ones are registered");
    result.map(to_dynamic).map_err(raise)
}

fn types_of(kind: ValueKind) -> Vec<TypeId> {
    match kind {
        ValueKind::Bool => vec![TypeId::of::<bool>()],
        ValueKind::Int => vec![TypeId::of::<INT>()],
        ValueKind::Fixed => vec![TypeId::of::<Fx>()],
        ValueKind::Number => vec![TypeId::of::<INT>(), TypeId::of::<Fx>()],
        ValueKind::Text => vec![TypeId::of::<ImmutableString>(), TypeId::of::<char>()],
        ValueKind::Vec2 => vec![TypeId::of::<Vec2>()],
        ValueKind::Array => vec![TypeId::of::<Array>()],
        ValueKind::Map => vec![TypeId::of::<Map>()],
        ValueKind::Object => vec![TypeId::of::<ObjectId>()],
        ValueKind::Any => vec![TypeId::of::<Dynamic>()],
        _ => vec![],
    }
}

/// Every combination of the interpreter's types that a function takes.
fn overloads(function: &HostFunction) -> Vec<Vec<TypeId>> {
    let mut all: Vec<Vec<TypeId>> = vec![vec![]];
    for (_, kind) in function.arguments {
        let next = |first: Vec<TypeId>| {
            types_of(*kind).into_iter().map(move |next| [&*first, &[next]].concat())
        };
        all = all.into_iter().flat_map(next).collect();
    }
    // Operators on two ints are the language's own.
    if !function.name.starts_with(|c: char| c.is_ascii_lowercase()) && function.arguments.len() == 2
    {
        all.retain(|types| types.iter().any(|id| *id != TypeId::of::<INT>()));
    }
    all
}

fn coordinates(engine: &mut Engine) {
    type Coordinate = fn(&mut Vec2) -> &mut Fx;
    let all: [(&str, Coordinate); 2] = [("x", |v| &mut v.x), ("y", |v| &mut v.y)];
    for (name, at) in all {
        FuncRegistration::new_getter(name)
            .register_into_engine(engine, move |vector: &mut Vec2| *at(vector));
        FuncRegistration::new_setter(name).register_into_engine(
            engine,
            move |vector: &mut Vec2, value: Dynamic| -> StockResult<()> {
                *at(vector) = match to_value(&value) {
                    Value::Fixed(value) => value,
                    Value::Int(value) => Fx::checked_from_int(value)
                        .ok_or_else(|| raise(HostFault::new(ErrorKind::Arithmetic, "")))?,
                    _ => return Err(raise(HostFault::new(ErrorKind::Type, ""))),
                };
                Ok(())
            },
        );
    }
}

fn bounds() -> Box<EvalAltResult> {
    raise(HostFault::new(ErrorKind::Bounds, ""))
}

fn place_in(length: usize, place: INT) -> StockResult<usize> {
    let length = length as INT;
    let place = if place < 0 { place + length } else { place };
    if (0..length).contains(&place) { Ok(place as usize) } else { Err(bounds()) }
}

/// Returns whether both are equal, as the table of host functions says: numbers by value.
fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Int(int), Value::Fixed(fixed)) | (Value::Fixed(fixed), Value::Int(int)) => {
            Fx::checked_from_int(*int) == Some(*fixed)
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b))
        }
        (Value::Map(a), Value::Map(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|((an, a), (bn, b))| an == bn && equal(a, b))
        }
        (a, b) => a == b,
    }
}

fn containers(engine: &mut Engine) {
    engine
        .register_fn("len", |array: &mut Array| array.len() as INT)
        .register_fn("len", |map: &mut Map| map.len() as INT)
        .register_fn("push", |array: &mut Array, value: Dynamic| array.push(value))
        .register_fn("pop", |array: &mut Array| array.pop().unwrap_or(Dynamic::UNIT))
        .register_fn("clear", |array: &mut Array| array.clear())
        .register_fn("reverse", |array: &mut Array| array.reverse())
        .register_fn("insert", |array: &mut Array, place: INT, value: Dynamic| -> StockResult<()> {
            let place = place_in(array.len() + 1, place)?;
            array.insert(place, value);
            Ok(())
        })
        .register_fn("remove", |array: &mut Array, place: INT| -> StockResult<Dynamic> {
            let place = place_in(array.len(), place)?;
            Ok(array.remove(place))
        })
        .register_fn("remove", |map: &mut Map, name: ImmutableString| {
            map.remove(name.as_str()).unwrap_or(Dynamic::UNIT)
        })
        .register_fn("keys", |map: &mut Map| -> Array {
            map.keys().map(|name| name.as_str().into()).collect()
        })
        .register_fn("values", |map: &mut Map| -> Array { map.values().cloned().collect() })
        .register_fn("contains", |map: &mut Map, name: ImmutableString| {
            map.contains_key(name.as_str())
        })
        // A letter is a text.
        .register_fn("contains", |map: &mut Map, name: char| {
            map.contains_key(name.to_string().as_str())
        })
        .register_fn("contains", |range: std::ops::Range<INT>, value: INT| range.contains(&value))
        .register_fn("contains", |range: std::ops::RangeInclusive<INT>, value: INT| {
            range.contains(&value)
        })
        .register_fn("contains", |array: &mut Array, value: Dynamic| {
            let value = to_value(&value);
            array.iter().any(|item| equal(&to_value(item), &value))
        })
        .register_fn("index_of", |array: &mut Array, value: Dynamic| {
            let value = to_value(&value);
            let found = array.iter().position(|item| equal(&to_value(item), &value));
            found.map_or(Dynamic::UNIT, |place| (place as INT).into())
        })
        .register_fn("sort", |array: &mut Array| -> StockResult<()> {
            let number = |item: &Dynamic| match to_value(item) {
                Value::Int(int) => Some(i128::from(int) << 32),
                Value::Fixed(fixed) => Some(i128::from(fixed.to_bits())),
                _ => None,
            };
            if array.iter().all(|item| number(item).is_some()) {
                array.sort_by_key(number);
                Ok(())
            } else if array.iter().all(Dynamic::is_string) {
                array.sort_by_key(ToString::to_string);
                Ok(())
            } else {
                Err(raise(HostFault::new(ErrorKind::Type, "")))
            }
        });
    for (name, wanted) in [("==", true), ("!=", false)] {
        engine.register_fn(name, move |a: Array, b: Array| {
            equal(&to_value(&a.into()), &to_value(&b.into())) == wanted
        });
        engine.register_fn(name, move |a: Map, b: Map| {
            equal(&to_value(&a.into()), &to_value(&b.into())) == wanted
        });
    }
}

fn truth(value: &Dynamic) -> StockResult<bool> {
    value.as_bool().map_err(|_| raise(HostFault::new(ErrorKind::Type, "")))
}

fn callbacks(engine: &mut Engine) {
    engine.register_fn("map", |cx: NativeCallContext<'_>, array: Array, f: FnPtr| {
        let each = array.into_iter().map(|item| f.call_within_context::<Dynamic>(&cx, (item,)));
        each.collect::<StockResult<Array>>()
    });
    engine.register_fn("filter", |cx: NativeCallContext<'_>, array: Array, f: FnPtr| {
        let mut kept = Array::new();
        for item in array {
            if truth(&f.call_within_context::<Dynamic>(&cx, (item.clone(),))?)? {
                kept.push(item);
            }
        }
        StockResult::Ok(kept)
    });
    engine.register_fn(
        "reduce",
        |cx: NativeCallContext<'_>, array: Array, f: FnPtr, start: Dynamic| {
            array
                .into_iter()
                .try_fold(start, |sum, item| f.call_within_context::<Dynamic>(&cx, (sum, item)))
        },
    );
    engine.register_fn("any", |cx: NativeCallContext<'_>, array: Array, f: FnPtr| {
        for item in array {
            if truth(&f.call_within_context::<Dynamic>(&cx, (item,))?)? {
                return StockResult::Ok(true);
            }
        }
        Ok(false)
    });
}

pub(crate) fn to_value(value: &Dynamic) -> Value {
    if let Some(fixed) = value.read_lock::<Fx>() {
        return Value::Fixed(*fixed);
    }
    if let Some(vector) = value.read_lock::<Vec2>() {
        return Value::Vec2(*vector);
    }
    if let Some(object) = value.read_lock::<ObjectId>() {
        return Value::Object(*object);
    }
    if let Some(text) = value.read_lock::<ImmutableString>() {
        return Value::Text(text.as_str().into());
    }
    if let Some(values) = value.read_lock::<Array>() {
        return Value::Array(values.iter().map(to_value).collect());
    }
    if let Some(values) = value.read_lock::<Map>() {
        return Value::Map(values.iter().map(|(n, v)| (n.as_str().into(), to_value(v))).collect());
    }
    if let Ok(value) = value.as_char() {
        return Value::Text(value.into());
    }
    match (value.as_int(), value.as_bool()) {
        (Ok(int), _) => Value::Int(int),
        (_, Ok(truth)) => Value::Bool(truth),
        _ => Value::Unit,
    }
}

fn to_dynamic(value: Value) -> Dynamic {
    match value {
        Value::Unit => Dynamic::UNIT,
        Value::Bool(value) => value.into(),
        Value::Int(value) => value.into(),
        Value::Fixed(value) => Dynamic::from(value),
        Value::Vec2(value) => Dynamic::from(value),
        Value::Object(value) => Dynamic::from(value),
        Value::Text(value) => value.into(),
        Value::Array(values) => values.into_iter().map(to_dynamic).collect::<Array>().into(),
        Value::Map(values) => {
            let entries = values.into_iter().map(|(name, v)| (name.as_str().into(), to_dynamic(v)));
            entries.collect::<Map>().into()
        }
    }
}
