//! Registers the table of host functions with the interpreter.

use alloc::{boxed::Box, vec, vec::Vec};
use core::{
    any::{TypeId, type_name},
    ops::{Range, RangeInclusive},
};

use metatopia_math::{Fx, Vec2};
use metatopia_types::ObjectId;
use rhai::{Array, Dynamic, Engine, EvalAltResult, FuncRegistration, ImmutableString, Map};

use super::{
    active::{self, raise},
    values::{StateRoot, to_dynamic, to_value, weight},
};
use crate::{
    Fault, Value,
    host::{Access, FUNCTIONS, GetField, HostFunction, Kind, PROPERTIES, Run, SetField, to_fixed},
};

/// Bytes of arguments and result that cost a unit of gas.
const BYTES_PER_GAS: usize = 128;

type Result<T> = core::result::Result<T, Box<EvalAltResult>>;

pub(super) fn register(engine: &mut Engine) {
    for (path, name) in names_of_types() {
        engine.register_type_with_name_raw(path, name);
    }
    for function in FUNCTIONS {
        if matches!(function.run, Run::Executor) {
            continue;
        }
        for types in overloads(function) {
            engine.register_raw_fn(function.name, types, move |_, args| invoke(function, args));
        }
    }
    for property in PROPERTIES {
        match property.access {
            Access::Coordinate(at) => register_coordinate(engine, property.name, at),
            Access::Field(get, set) => register_field(engine, property.name, get, set),
        }
    }
    register_state(engine);
}

/// What `type_of` and messages say: the table's names, never a path of this program's source.
pub(super) fn names_of_types() -> [(&'static str, &'static str); 8] {
    [
        // Before the int, which is in its name.
        (type_name::<Range<rhai::INT>>(), "range"),
        (type_name::<RangeInclusive<rhai::INT>>(), "range"),
        (type_name::<rhai::INT>(), "int"),
        (type_name::<Fx>(), "fixed"),
        (type_name::<Vec2>(), "vec2"),
        (type_name::<ObjectId>(), "object"),
        (type_name::<StateRoot>(), "state"),
        (type_name::<active::Raised>(), "fault"),
    ]
}

/// The interpreter's types for a kind of argument.
fn types_of(kind: Kind) -> Vec<TypeId> {
    match kind {
        Kind::Unit => vec![TypeId::of::<()>()],
        Kind::Bool => vec![TypeId::of::<bool>()],
        Kind::Int => vec![TypeId::of::<rhai::INT>()],
        Kind::Fixed => vec![TypeId::of::<Fx>()],
        Kind::Number => vec![TypeId::of::<rhai::INT>(), TypeId::of::<Fx>()],
        Kind::Text => vec![TypeId::of::<ImmutableString>(), TypeId::of::<char>()],
        Kind::Vec2 => vec![TypeId::of::<Vec2>()],
        Kind::Object => vec![TypeId::of::<ObjectId>()],
        Kind::Array => vec![TypeId::of::<Array>()],
        Kind::Map => vec![TypeId::of::<Map>()],
        Kind::Range => vec![TypeId::of::<Range<rhai::INT>>()],
        Kind::State => vec![TypeId::of::<StateRoot>()],
        Kind::Any => vec![TypeId::of::<Dynamic>()],
    }
}

/// Every combination of the interpreter's types that a function takes.
fn overloads(function: &HostFunction) -> Vec<Vec<TypeId>> {
    let mut all: Vec<Vec<TypeId>> = vec![vec![]];
    for (_, kind) in function.arguments {
        all = all
            .into_iter()
            .flat_map(|first| {
                types_of(*kind).into_iter().map(move |next| [&*first, &[next]].concat())
            })
            .collect();
    }
    // Operators on two ints are the language's own: int results, checked.
    let operator = !function.name.starts_with(|c: char| c.is_ascii_lowercase());
    if operator && function.arguments.len() == 2 {
        all.retain(|types| types.iter().any(|id| *id != TypeId::of::<rhai::INT>()));
    }
    all
}

fn invoke(function: &'static HostFunction, args: &mut [&mut Dynamic]) -> Result<Dynamic> {
    let run = || {
        let args = args.iter().map(|arg| to_value(arg));
        let args = args.collect::<core::result::Result<Vec<_>, Fault>>()?;
        active::charge(function.gas + gas_for(args.iter().map(weight).sum()))?;
        let result = match function.run {
            Run::Pure(work) => work(&args)?,
            Run::Scene(work) => active::with(|active| work(active.scene()?, &args))?,
            Run::Executor => unreachable!("the executor's own functions are registered elsewhere"),
        };
        active::charge(gas_for(weight(&result)))?;
        Ok(to_dynamic(result))
    };
    run().map_err(raise)
}

fn gas_for(bytes: usize) -> u64 {
    (bytes / BYTES_PER_GAS) as u64
}

fn register_coordinate(engine: &mut Engine, name: &str, at: fn(&mut Vec2) -> &mut Fx) {
    FuncRegistration::new_getter(name)
        .register_into_engine(engine, move |vector: &mut Vec2| *at(vector));
    FuncRegistration::new_setter(name).register_into_engine(
        engine,
        move |vector: &mut Vec2, value: Dynamic| -> Result<()> {
            let value = to_value(&value).and_then(|value| to_fixed("a coordinate", &value));
            *at(vector) = value.map_err(raise)?;
            Ok(())
        },
    );
}

fn register_field(engine: &mut Engine, name: &'static str, get: GetField, set: Option<SetField>) {
    FuncRegistration::new_getter(name).register_into_engine(
        engine,
        move |object: &mut ObjectId| -> Result<Dynamic> {
            let value = active::with(|active| Ok(get(&active.scene()?.object(*object)?)));
            value.map(to_dynamic).map_err(raise)
        },
    );
    // Handles may be constant: writing through one changes no variable.
    FuncRegistration::new_setter(name).with_purity(true).register_into_engine(
        engine,
        move |object: &mut ObjectId, value: Dynamic| -> Result<()> {
            let written = to_value(&value).and_then(|value| {
                active::with(|active| {
                    let scene = active.scene()?;
                    // After a call on a property the interpreter writes back what it read.
                    if get(&scene.object(*object)?) == value {
                        return Ok(());
                    }
                    let set = set.ok_or_else(|| read_only(name))?;
                    if *object != scene.me() {
                        return Err(not_own(name));
                    }
                    set(scene, &[value]).map(|_| ())
                })
            });
            written.map_err(raise)
        },
    );
}

fn read_only(name: &str) -> Fault {
    Fault::new(crate::ErrorKind::Argument, alloc::format!("{name} cannot be written"))
}

fn not_own(name: &str) -> Fault {
    let message = alloc::format!("{name} of another object cannot be written: send it a message");
    Fault::new(crate::ErrorKind::Argument, message)
}

fn register_state(engine: &mut Engine) {
    FuncRegistration::new_index_getter().register_into_engine(
        engine,
        |_: &mut StateRoot, name: ImmutableString| -> Result<Dynamic> {
            let value = active::with(|active| {
                let gas = active.scene()?.state().0.get(name.as_str()).map_or(0, weight);
                active.charge(gas_for(gas))?;
                let value = active.scene()?.state().0.get(name.as_str()).cloned();
                Ok(value.unwrap_or(Value::Unit))
            });
            value.map(to_dynamic).map_err(raise)
        },
    );
    FuncRegistration::new_index_setter().with_purity(true).register_into_engine(
        engine,
        |_: &mut StateRoot, name: ImmutableString, value: Dynamic| -> Result<()> {
            let kept = to_value(&value).and_then(|value| {
                active::with(|active| {
                    active.charge(gas_for(weight(&value)))?;
                    active.scene()?.keep(name.as_str(), value)
                })
            });
            kept.map_err(raise)
        },
    );
}
