//! The call that runs on this thread.
//!
//! The interpreter calls back into functions that it owns, so what they work on cannot be lent to
//! them. It is moved here for the time of one call and taken out again, also when the call panics.
//! Nothing survives a call, so it does not matter which thread runs which.

use alloc::{
    borrow::ToOwned,
    boxed::Box,
    collections::BTreeMap,
    format,
    string::{String, ToString},
    sync::Arc,
};
use core::{any::Any, cell::RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};

use rhai::Dynamic;

use super::values::{Size, StateRoot};
use crate::{ErrorKind, HostFault, ScriptContext};

/// Constants of a script and the literals in it, by name. The literal `1.5` has the name `#1.5`.
pub(super) type Globals = BTreeMap<String, Global>;

/// A value that each access copies.
#[derive(Clone, Debug)]
pub(super) struct Global {
    value: Dynamic,
    /// What a copy costs.
    gas: u64,
}

impl Global {
    /// A fault if the value is larger than values may be.
    pub(super) fn of(value: Dynamic) -> Result<Self, HostFault> {
        let gas = Size::of(&value)?.gas();
        Ok(Self { value, gas })
    }
}

/// What a running script works on.
pub(super) struct Active {
    /// The world; nothing while constants are computed.
    pub(super) scene: Option<ScriptContext>,
    pub(super) globals: Arc<Globals>,
    pub(super) gas_left: u64,
    /// More was asked for than there was: the call has failed, whatever else happens.
    pub(super) out_of_gas: bool,
    /// Accesses to variables since all of them were added up.
    pub(super) accesses: u32,
}

std::thread_local! {
    static ACTIVE: RefCell<Option<Active>> = const { RefCell::new(None) };
}

/// Runs `script` over `active`, and gives both back. A panic inside is caught, and its words kept:
/// it comes out of the same code and values on every server, so it is an outcome like any other.
pub(super) fn run<T>(active: Active, script: impl FnOnce() -> T) -> (Result<T, String>, Active) {
    ACTIVE.set(Some(active));
    let result = quietly(script);
    let active = ACTIVE.take().expect("it was set above, and is taken nowhere else");
    (result, active)
}

/// Runs something of the interpreter's; a panic inside is caught, and its words kept.
pub(super) fn quietly<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|cause| words(&*cause))
}

fn words(cause: &(dyn Any + Send)) -> String {
    let text = cause.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| cause.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "a panic without words".to_string())
}

/// Works on the call that runs on this thread.
pub(super) fn with<T>(
    work: impl FnOnce(&mut Active) -> Result<T, HostFault>,
) -> Result<T, HostFault> {
    ACTIVE.with_borrow_mut(|active| match active {
        Some(active) => work(active),
        None => Err(HostFault::new(ErrorKind::Panic, "no script runs on this thread")),
    })
}

/// Takes gas from the call that runs on this thread.
pub(super) fn charge(gas: u64) -> Result<(), HostFault> {
    with(|active| active.charge(gas))
}

impl Active {
    pub(super) fn new(scene: Option<ScriptContext>, globals: Arc<Globals>, gas: u64) -> Self {
        Self { scene, globals, gas_left: gas, out_of_gas: false, accesses: 0 }
    }

    pub(super) fn charge(&mut self, gas: u64) -> Result<(), HostFault> {
        let left = self.gas_left.checked_sub(gas);
        self.out_of_gas |= left.is_none();
        self.gas_left = left.unwrap_or(0);
        if self.out_of_gas {
            return Err(HostFault::new(ErrorKind::Gas, "the call has used all its gas"));
        }
        Ok(())
    }

    pub(super) fn scene(&mut self) -> Result<&mut ScriptContext, HostFault> {
        let missing =
            || HostFault::new(ErrorKind::Argument, "a constant cannot depend on the world");
        self.scene.as_mut().ok_or_else(missing)
    }

    /// A name that is no variable of the function.
    pub(super) fn global(&mut self, name: &str) -> Result<Dynamic, HostFault> {
        match name {
            "self_" => Ok(Dynamic::from(self.scene()?.me())),
            "state" => Ok(Dynamic::from(StateRoot)),
            _ => {
                let globals = Arc::clone(&self.globals);
                let found = globals.get(name).ok_or_else(|| {
                    HostFault::new(ErrorKind::Unknown, format!("there is no variable {name}"))
                })?;
                self.charge(found.gas)?;
                Ok(found.value.clone())
            }
        }
    }
}

/// A fault as the interpreter passes it on; it adds the place.
pub(super) fn raise(fault: HostFault) -> Box<rhai::EvalAltResult> {
    let token = Dynamic::from(Raised(fault));
    Box::new(rhai::EvalAltResult::ErrorRuntime(token, rhai::Position::NONE))
}

/// A fault on its way through the interpreter.
#[derive(Clone, Debug)]
pub(super) struct Raised(pub(super) HostFault);
