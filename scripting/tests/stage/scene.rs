//! The world of a call in stock rhai: functions, properties of objects, and the state.

use std::cell::RefCell;

use metatopia_scripting::{
    ErrorKind, HostFault, ScriptContext, Value,
    host::{FUNCTIONS, HostFunction, NAMES, PROPERTIES, ValueKind},
};
use metatopia_types::ObjectId;
use rhai::{Dynamic, Engine, FuncRegistration, ImmutableString};

use super::{StockResult, overloads, raise, to_dynamic, to_value};

/// Stands for the script's persistent variables.
#[derive(Clone, Copy, Debug)]
struct StockState;

thread_local! {
    /// The call under way: the interpreter owns the functions that work on it.
    static SCENE: RefCell<Option<ScriptContext>> = const { RefCell::new(None) };
}

/// Does something with a call's scene in place.
pub(crate) fn in_scene<T>(scene: ScriptContext, work: impl FnOnce() -> T) -> (T, ScriptContext) {
    SCENE.set(Some(scene));
    let result = work();
    (result, SCENE.take().expect("nothing takes it but this"))
}

fn with<T>(work: impl FnOnce(&mut ScriptContext) -> Result<T, HostFault>) -> StockResult<T> {
    let result = SCENE.with_borrow_mut(|scene| match scene {
        Some(scene) => work(scene),
        None => Err(HostFault::new(ErrorKind::Argument, "there is no world here")),
    });
    result.map_err(raise)
}

/// Returns what a name stands for that is no variable.
pub(super) fn global(name: &str) -> Option<Dynamic> {
    match name {
        "state" => Some(Dynamic::from(StockState)),
        "self_" => SCENE.with_borrow(|scene| Some(Dynamic::from(scene.as_ref()?.me()))),
        _ => NAMES.iter().find(|known| known.name == name)?.value().map(Dynamic::from),
    }
}

fn invoke(function: &'static HostFunction, args: &mut [&mut Dynamic]) -> StockResult<Dynamic> {
    let values: Vec<Value> = args.iter().map(|arg| to_value(arg)).collect();
    let result = with(|scene| {
        function.compute_in(scene, &values).expect("only functions of the world are registered")
    });
    result.map(to_dynamic)
}

pub(super) fn register(engine: &mut Engine) {
    engine.register_type_with_name::<ObjectId>("object");
    engine.register_type_with_name::<StockState>("state");
    for function in FUNCTIONS {
        if function.is_of_the_world() {
            for types in overloads(function) {
                engine.register_raw_fn(function.name, types, move |_, args| invoke(function, args));
            }
        }
    }
    for property in PROPERTIES.iter().filter(|property| property.of == ValueKind::Object) {
        FuncRegistration::new_getter(property.name).register_into_engine(
            engine,
            move |object: &mut ObjectId| -> StockResult<Dynamic> {
                let read = |scene: &mut ScriptContext| {
                    Ok(property.read(&scene.object(*object)?).expect("it is one of objects"))
                };
                with(read).map(to_dynamic)
            },
        );
        FuncRegistration::new_setter(property.name).with_purity(true).register_into_engine(
            engine,
            move |object: &mut ObjectId, value: Dynamic| -> StockResult<()> {
                let value = to_value(&value);
                with(|scene| {
                    // After a call on a property the interpreter writes back what it read.
                    if property.read(&scene.object(*object)?).as_ref() == Some(&value) {
                        return Ok(());
                    }
                    let refused = || HostFault::new(ErrorKind::Argument, "it is not to be written");
                    if *object != scene.me() {
                        return Err(refused());
                    }
                    property.write(scene, value).ok_or_else(refused)?
                })
            },
        );
    }
    FuncRegistration::new_index_getter().register_into_engine(
        engine,
        |_: &mut StockState, name: ImmutableString| -> StockResult<Dynamic> {
            let found = with(|scene| Ok(scene.state().0.get(name.as_str()).cloned()));
            found.map(|value| to_dynamic(value.unwrap_or(Value::Unit)))
        },
    );
    FuncRegistration::new_index_setter().with_purity(true).register_into_engine(
        engine,
        |_: &mut StockState, name: ImmutableString, value: Dynamic| -> StockResult<()> {
            with(|scene| scene.keep(name.as_str(), to_value(&value)))
        },
    );
}
