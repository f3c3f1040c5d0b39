//! How a call fails.

use alloc::{boxed::Box, string::String, vec::Vec};
use core::fmt;

use serde::{Deserialize, Serialize};

/// A call failed: its writes and effects are lost, what it cost is not.
///
/// [`ScriptError::kind`] and [`ScriptError::gas`] are the same on every server and may enter the
/// state of the world. The [`FailureReport`] is for people: its texts may change with any release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptError {
    /// What went wrong.
    pub kind: ErrorKind,
    /// What the call cost until then.
    pub gas: u64,
    /// Where and why, for the author.
    pub report: Box<FailureReport>,
}

/// Where and why a call failed. Never part of the state of the world.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FailureReport {
    /// The file, as the package names it.
    pub file: String,
    /// Line in the file, from 1; 0 if no place is known.
    pub line: u32,
    /// Column in the line, in characters from 1; 0 if no place is known.
    pub column: u32,
    /// What went wrong, in words.
    pub message: String,
    /// The functions under way, innermost first, with the lines they were called from.
    pub trace: Vec<String>,
    /// What the call had logged.
    pub log: Vec<String>,
}

/// What a host function refuses, before it is known where in the source that was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostFault {
    /// What went wrong.
    pub kind: ErrorKind,
    /// The same in words.
    pub message: String,
}

impl HostFault {
    /// A fault of a kind, in words.
    #[must_use]
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }
}

/// What went wrong in a call.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    thiserror::Error,
)]
pub enum ErrorKind {
    /// More gas than the call may use.
    #[error("out of gas")]
    Gas,
    /// Functions or expressions too deep inside one another.
    #[error("nested too deeply")]
    Depth,
    /// A string, array, map, or all variables together grew too large.
    #[error("too much memory")]
    Memory,
    /// A number left its range, or a division by zero.
    #[error("arithmetic")]
    Arithmetic,
    /// An operator or function that does not take values of these types.
    #[error("wrong type")]
    Type,
    /// A variable, function or property that does not exist.
    #[error("unknown name")]
    Unknown,
    /// No such place in an array or string, no such name in a map.
    #[error("out of bounds")]
    Bounds,
    /// A host function was called with a value that it refuses.
    #[error("bad argument")]
    Argument,
    /// A handle of an object that is no longer there.
    #[error("no such object")]
    Gone,
    /// More effects than a call may have, or larger ones.
    #[error("too many effects")]
    Effects,
    /// The state is too large, too deep, or holds what cannot be kept.
    #[error("bad state")]
    State,
    /// The script itself said so, with `throw`.
    #[error("thrown")]
    Thrown,
    /// A fault of Metatopia, not of the script. Still the same on every server.
    #[error("internal fault")]
    Panic,
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FailureReport { file, line, column, message, .. } = &*self.report;
        write!(f, "{file}:{line}:{column}: {}: {message}", self.kind)
    }
}

impl core::error::Error for ScriptError {}
