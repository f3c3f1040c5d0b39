//! What scripts can call and read: described once, for executors, documentation and ports.

mod numbers;
mod reference;
mod table;
mod text;
mod vectors;
mod world;

use alloc::{format, string::String, vec::Vec};
use core::fmt;

use metatopia_math::{Fx, Vec2};

use crate::{ErrorKind, HostFault, ScriptContext, Value};

pub use reference::{SYNTAX, reference};
pub use table::{FUNCTIONS, NAMES, PROPERTIES};

/// A kind of value, as the table and messages name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ValueKind {
    /// The value `()`.
    Unit,
    /// `true` or `false`.
    Bool,
    /// A whole number of 64 bits.
    Int,
    /// A fixed-point number.
    Fixed,
    /// An `int` or a `fixed`; an `int` is promoted where both meet.
    Number,
    /// A string, or a single character.
    Text,
    /// A vector of two numbers.
    Vec2,
    /// A handle of an object.
    Object,
    /// An array of values.
    Array,
    /// A map from names to values.
    Map,
    /// A range of whole numbers.
    Range,
    /// A closure of the script.
    Function,
    /// The script's persistent variables.
    State,
    /// A value of any type.
    Any,
}

/// What a host function depends on and changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Purity {
    /// Depends on its arguments alone; may stand in a constant.
    Pure,
    /// Reads the world.
    Reads,
    /// Writes, queues effects, or draws random numbers.
    Writes,
}

/// A function or operator that scripts can use.
#[derive(Clone, Copy, Debug)]
pub struct HostFunction {
    /// Its name, or the operator.
    pub name: &'static str,
    /// Name and kind of each argument. With at least one, it can be called as `first.name(..)`.
    pub arguments: &'static [(&'static str, ValueKind)],
    /// What it gives.
    pub result: ValueKind,
    /// What a call costs, in nanoseconds of the reference machine, besides its arguments and what depends on
    /// their sizes.
    pub price: u64,
    /// What it depends on.
    pub purity: Purity,
    /// One line for its users.
    pub doc: &'static str,
    /// How it is done.
    pub(crate) run: HostImplementation,
}

/// How a host function is done.
#[derive(Clone, Copy, Debug)]
pub(crate) enum HostImplementation {
    /// It is computed from its arguments.
    Pure(fn(&[Value]) -> Result<Value, HostFault>),
    /// It reads or changes the scene.
    Scene(fn(&mut ScriptContext, &[Value]) -> Result<Value, HostFault>),
    /// The executor does it, on its own representation of arrays, maps and ranges.
    Executor,
}

/// A property of a vector or an object.
#[derive(Clone, Copy, Debug)]
pub struct HostProperty {
    /// [`ValueKind::Vec2`] or [`ValueKind::Object`].
    pub of: ValueKind,
    /// The name of the argument.
    pub name: &'static str,
    /// What it holds.
    pub kind: ValueKind,
    /// One line for its users.
    pub doc: &'static str,
    /// How it is read and written.
    pub(crate) access: Access,
}

/// How a property is read and written.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Access {
    /// A coordinate of a vector.
    Coordinate(fn(&mut Vec2) -> &mut Fx),
    /// A field of an object; the own one's may be written.
    Field(GetField, Option<SetField>),
}

/// Reads a field of an object.
pub(crate) type GetField = fn(&crate::ObjectView<'_>) -> Value;
/// Writes a field of the own object.
pub(crate) type SetField = fn(&mut ScriptContext, &[Value]) -> Result<Value, HostFault>;

impl HostFunction {
    /// Computes a function that depends on its arguments alone; nothing for all others.
    #[must_use]
    pub fn compute(&self, arguments: &[Value]) -> Option<Result<Value, HostFault>> {
        match self.run {
            HostImplementation::Pure(work) => Some(work(arguments)),
            HostImplementation::Scene(_) | HostImplementation::Executor => None,
        }
    }

    /// Does what a function of the world does; nothing for all others.
    #[must_use]
    pub fn compute_in(
        &self,
        scene: &mut ScriptContext,
        arguments: &[Value],
    ) -> Option<Result<Value, HostFault>> {
        match self.run {
            HostImplementation::Scene(work) => Some(work(scene, arguments)),
            HostImplementation::Pure(_) | HostImplementation::Executor => None,
        }
    }

    /// Returns whether the executor does it, also on values that nothing else can hold.
    pub(crate) const fn is_of_the_executor(&self) -> bool {
        matches!(self.run, HostImplementation::Executor)
    }

    /// Returns whether it reads or changes the world.
    #[must_use]
    pub const fn is_of_the_world(&self) -> bool {
        matches!(self.run, HostImplementation::Scene(_))
    }
}

impl HostProperty {
    /// Returns whether scripts may write the field. Those of objects they may write on the own object only.
    #[must_use]
    pub const fn is_writable(&self) -> bool {
        !matches!(self.access, Access::Field(_, None))
    }

    /// Reads it from an object; nothing if it is one of vectors.
    #[must_use]
    pub fn read(&self, object: &crate::ObjectView<'_>) -> Option<Value> {
        match self.access {
            Access::Field(get, _) => Some(get(object)),
            Access::Coordinate(_) => None,
        }
    }

    /// Writes it to the own object; nothing if scripts may not.
    #[must_use]
    pub fn write(&self, scene: &mut ScriptContext, value: Value) -> Option<Result<(), HostFault>> {
        match self.access {
            Access::Field(_, Some(set)) => Some(set(scene, &[value]).map(drop)),
            Access::Field(_, None) | Access::Coordinate(_) => None,
        }
    }
}

impl HostName {
    /// Returns its value, if it is a constant.
    #[must_use]
    pub const fn value(&self) -> Option<Fx> {
        self.value
    }
}

/// A name that every script knows.
#[derive(Clone, Copy, Debug)]
pub struct HostName {
    /// The name of the function.
    pub name: &'static str,
    /// What it stands for.
    pub kind: ValueKind,
    /// One line for its users.
    pub doc: &'static str,
    /// Its value, if it is a constant.
    pub(crate) value: Option<Fx>,
}

impl fmt::Display for ValueKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Unit => "()",
            Self::Bool => "bool",
            Self::Int => "int",
            Self::Fixed => "fixed",
            Self::Number => "number",
            Self::Text => "string",
            Self::Vec2 => "vec2",
            Self::Object => "object",
            Self::Array => "array",
            Self::Map => "map",
            Self::Range => "range",
            Self::Function => "function",
            Self::State => "state",
            Self::Any => "any",
        })
    }
}

impl Value {
    /// Returns the value's type.
    #[must_use]
    pub const fn kind(&self) -> ValueKind {
        match self {
            Self::Unit => ValueKind::Unit,
            Self::Bool(_) => ValueKind::Bool,
            Self::Int(_) => ValueKind::Int,
            Self::Fixed(_) => ValueKind::Fixed,
            Self::Text(_) => ValueKind::Text,
            Self::Vec2(_) => ValueKind::Vec2,
            Self::Object(_) => ValueKind::Object,
            Self::Array(_) => ValueKind::Array,
            Self::Map(_) => ValueKind::Map,
        }
    }
}

/// The complaint about arguments that a function does not take.
fn wrong_types(name: &str, args: &[Value]) -> HostFault {
    let kinds: Vec<String> = args.iter().map(|arg| format!("{}", arg.kind())).collect();
    HostFault::new(ErrorKind::Type, format!("{name} does not take ({})", kinds.join(", ")))
}
