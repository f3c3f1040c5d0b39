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
    HostFault, ScriptContext, Value,
    host::{
        Access, FUNCTIONS, GetField, HostFunction, HostImplementation, PROPERTIES, SetField,
        ValueKind, to_fixed,
    },
};

/// Bytes of arguments and result that cost a unit of gas.
const BYTES_PER_GAS: usize = 128;

/// Objects that `nearby` looks at for a unit of gas: a look takes some 50 nanoseconds.
const LOOKS_PER_GAS: usize = 2;

/// Gas of putting or turning the own object: its body is held against all that is near it, at worst for
/// 40 microseconds.
const POSE_GAS: u64 = 200;

/// What is written so.
const POSE: [&str; 2] = ["pos", "angle"];

type RegistryResult<T> = Result<T, Box<EvalAltResult>>;

pub(super) fn register(engine: &mut Engine) {
    for (path, name) in names_of_types() {
        engine.register_type_with_name_raw(path, name);
    }
    for function in FUNCTIONS {
        if matches!(function.run, HostImplementation::Executor) {
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
fn types_of(kind: ValueKind) -> Vec<TypeId> {
    match kind {
        ValueKind::Unit => vec![TypeId::of::<()>()],
        ValueKind::Bool => vec![TypeId::of::<bool>()],
        ValueKind::Int => vec![TypeId::of::<rhai::INT>()],
        ValueKind::Fixed => vec![TypeId::of::<Fx>()],
        ValueKind::Number => vec![TypeId::of::<rhai::INT>(), TypeId::of::<Fx>()],
        ValueKind::Text => vec![TypeId::of::<ImmutableString>(), TypeId::of::<char>()],
        ValueKind::Vec2 => vec![TypeId::of::<Vec2>()],
        ValueKind::Object => vec![TypeId::of::<ObjectId>()],
        ValueKind::Array => vec![TypeId::of::<Array>()],
        ValueKind::Map => vec![TypeId::of::<Map>()],
        ValueKind::Range => vec![TypeId::of::<Range<rhai::INT>>()],
        ValueKind::State => vec![TypeId::of::<StateRoot>()],
        ValueKind::Any => vec![TypeId::of::<Dynamic>()],
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

fn invoke(function: &'static HostFunction, args: &mut [&mut Dynamic]) -> RegistryResult<Dynamic> {
    let run = || {
        let args = args.iter().map(|arg| to_value(arg));
        let args = args.collect::<Result<Vec<_>, HostFault>>()?;
        active::charge(function.gas + gas_for(args.iter().map(weight).sum()))?;
        let result = match function.run {
            HostImplementation::Pure(work) => work(&args)?,
            HostImplementation::Scene(work) => active::with(|active| work(active.scene()?, &args))?,
            HostImplementation::Executor => {
                unreachable!("the executor's own functions are registered elsewhere")
            }
        };
        active::charge(gas_for(weight(&result)))?;
        active::with(|active| {
            let looked = active.scene.as_mut().map_or(0, ScriptContext::take_looked);
            active.charge((looked / LOOKS_PER_GAS) as u64)
        })?;
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
        move |vector: &mut Vec2, value: Dynamic| -> RegistryResult<()> {
            let value = to_value(&value).and_then(|value| to_fixed("a coordinate", &value));
            *at(vector) = value.map_err(raise)?;
            Ok(())
        },
    );
}

fn register_field(engine: &mut Engine, name: &'static str, get: GetField, set: Option<SetField>) {
    FuncRegistration::new_getter(name).register_into_engine(
        engine,
        move |object: &mut ObjectId| -> RegistryResult<Dynamic> {
            let value = active::with(|active| Ok(get(&active.scene()?.object(*object)?)));
            value.map(to_dynamic).map_err(raise)
        },
    );
    // Handles may be constant: writing through one changes no variable.
    FuncRegistration::new_setter(name).with_purity(true).register_into_engine(
        engine,
        move |object: &mut ObjectId, value: Dynamic| -> RegistryResult<()> {
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
                    set(scene, &[value])?;
                    active.charge(if POSE.contains(&name) { POSE_GAS } else { 0 })
                })
            });
            written.map_err(raise)
        },
    );
}

fn read_only(name: &str) -> HostFault {
    HostFault::new(crate::ErrorKind::Argument, alloc::format!("{name} cannot be written"))
}

fn not_own(name: &str) -> HostFault {
    let message = alloc::format!("{name} of another object cannot be written: send it a message");
    HostFault::new(crate::ErrorKind::Argument, message)
}

fn register_state(engine: &mut Engine) {
    FuncRegistration::new_index_getter().register_into_engine(
        engine,
        |_: &mut StateRoot, name: ImmutableString| -> RegistryResult<Dynamic> {
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
        |_: &mut StateRoot, name: ImmutableString, value: Dynamic| -> RegistryResult<()> {
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
