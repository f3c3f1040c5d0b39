//! The interpreter's errors as ours: a kind that is agreed, and words for people.

use alloc::{
    format,
    string::{String, ToString},
    vec,
    vec::Vec,
};

use rhai::{EvalAltResult, Position};

use super::{active::Raised, registry, values::to_value};
use crate::{ErrorKind, HostFault};

/// A failure, with the place it is about and the functions under way.
pub(super) struct TracedFault {
    pub(super) fault: HostFault,
    pub(super) at: Position,
    pub(super) trace: Vec<String>,
}

impl TracedFault {
    /// A failure of which no place is known.
    pub(super) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { fault: HostFault::new(kind, message), at: Position::NONE, trace: vec![] }
    }

    /// The same at another place, if none is known.
    pub(super) fn or_at(self, at: Position) -> Self {
        let at = if self.at.is_none() { at } else { self.at };
        Self { at, ..self }
    }

    /// Looks through the functions under way at what failed.
    pub(super) fn of(error: &EvalAltResult) -> Self {
        let mut trace = Vec::new();
        let mut inner = error;
        while let EvalAltResult::ErrorInFunctionCall(name, _, next, at) = inner {
            trace.push(format!("{name}, called at {}", place(*at)));
            inner = next;
        }
        trace.reverse();
        Self { fault: fault_of(inner), at: inner.position(), trace }
    }
}

fn place(at: Position) -> String {
    format!("{}:{}", at.line().unwrap_or(0), at.position().unwrap_or(0))
}

fn fault_of(error: &EvalAltResult) -> HostFault {
    use EvalAltResult as E;
    let kind = match error {
        E::ErrorRuntime(value, _) => {
            return match value.read_lock::<Raised>() {
                Some(raised) => raised.0.clone(),
                None => thrown(value),
            };
        }
        E::ErrorTerminated(..) | E::ErrorTooManyOperations(_) => {
            return HostFault::new(ErrorKind::Gas, "the call has used all its gas");
        }
        E::ErrorStackOverflow(_) => {
            let message = format!("more than {} calls deep", crate::limits::CALL_DEPTH_MAX);
            return HostFault::new(ErrorKind::Depth, message);
        }
        E::ErrorTooManyVariables(_) | E::ErrorDataTooLarge(..) => ErrorKind::Memory,
        E::ErrorArithmetic(..) => ErrorKind::Arithmetic,
        E::ErrorVariableNotFound(..)
        | E::ErrorPropertyNotFound(..)
        | E::ErrorDotExpr(..)
        | E::ErrorModuleNotFound(..) => ErrorKind::Unknown,
        E::ErrorIndexNotFound(..)
        | E::ErrorArrayBounds(..)
        | E::ErrorStringBounds(..)
        | E::ErrorBitFieldBounds(..) => ErrorKind::Bounds,
        // Every called function exists, which was checked before: only the types can be wrong.
        E::ErrorFunctionNotFound(..)
        | E::ErrorMismatchDataType(..)
        | E::ErrorMismatchOutputType(..)
        | E::ErrorIndexingType(..)
        | E::ErrorNonPureMethodCallOnConstant(..)
        | E::ErrorAssignmentToConstant(..)
        | E::ErrorFor(_) => ErrorKind::Type,
        _ => ErrorKind::Panic,
    };
    HostFault::new(kind, words(error))
}

fn thrown(value: &rhai::Dynamic) -> HostFault {
    let text = to_value(value).map_or_else(|fault| fault.message, |value| value.to_string());
    HostFault::new(ErrorKind::Thrown, text)
}

/// The interpreter's own words without the place, which is reported apart, and with the names that
/// scripts know for types.
fn words(error: &EvalAltResult) -> String {
    let text = error.to_string();
    let place = format!(" ({})", error.position());
    let text = text.strip_suffix(place.as_str()).unwrap_or(&text);
    let names = registry::names_of_types();
    names.iter().fold(text.into(), |text: String, (path, name)| text.replace(path, name))
}
