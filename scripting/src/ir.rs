//! What a source is compiled to: code for registers, versioned and serialisable.
//!
//! A program names no place of this crate's own tables: host functions, properties and state variables
//! stand in it by name, and are looked up when it is loaded. It states no prices: those belong to the
//! executor.

mod op;
mod packed;

use alloc::{string::String, vec::Vec};

use metatopia_types::wire;
use serde::{Deserialize, Serialize};

use crate::lang::SourcePoint;
use crate::{Diagnostic, EventKind, ProgramError, Value};
pub(crate) use op::{BinaryOp, IrOp, UnaryOp};
pub(crate) use packed::{PackedInt, PackedPrice};

/// The number of this form of programs. A change of the form, or of what it means, takes the next one.
pub const IR_FORMAT: u16 = 1;

/// A compiled source.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScriptProgram {
    /// The form that it is in: [`IR_FORMAT`].
    pub(crate) format: u16,
    /// Functions of the source and its closures.
    pub(crate) functions: Vec<IrFunction>,
    /// Which function handles which kind of event.
    pub(crate) handlers: Vec<(EventKind, u16)>,
    /// Values that stand in the source, and those of its constants.
    pub(crate) constants: Vec<Value>,
    /// Names of properties, entries of maps, and state variables.
    pub(crate) names: Vec<String>,
    /// Lists of names: one for each literal map.
    pub(crate) shapes: Vec<Vec<u16>>,
    /// Host functions that are called, with the number of arguments.
    pub(crate) calls: Vec<(String, u8)>,
    /// Ways from a variable to an inner part that is written.
    pub(crate) paths: Vec<IrPath>,
}

impl ScriptProgram {
    /// Compiles a source.
    ///
    /// # Errors
    /// All mistakes in it, by line and column; those behind a mistake of syntax are not seen.
    pub fn compile(source: &str) -> Result<Self, Vec<Diagnostic>> {
        crate::lang::compile(source)
    }

    /// Returns the bytes of the program.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        wire::encode(self)
    }

    /// Reads a program that [`ScriptProgram::encode`] wrote. Bytes of strangers are no programs: what
    /// names registers that do not exist makes a call panic.
    ///
    /// # Errors
    /// [`ProgramError::Malformed`] for anything else, [`ProgramError::Format`] for another form.
    pub fn decode(bytes: &[u8]) -> Result<Self, ProgramError> {
        let program: Self =
            wire::decode(bytes, bytes.len()).map_err(|_| ProgramError::Malformed)?;
        if program.format == IR_FORMAT {
            Ok(program)
        } else {
            Err(ProgramError::Format { found: program.format })
        }
    }
}

/// A compiled function or closure.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct IrFunction {
    /// Its name; none for a closure.
    pub(crate) name: String,
    /// How many parameters it takes, which are its first registers.
    pub(crate) parameters: u16,
    /// How many captured values follow them.
    pub(crate) captures: u16,
    /// How many registers it uses.
    pub(crate) registers: u16,
    /// Where its body begins.
    pub(crate) at: SourcePoint,
    /// Its operations, in order.
    pub(crate) code: Vec<IrOp>,
    /// Where each operation comes from.
    pub(crate) places: Vec<SourcePoint>,
    /// Where the brackets of operations stand that have some.
    pub(crate) signs: Vec<(u16, SourcePoint)>,
}

/// A way from a variable to an inner part of its value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct IrPath {
    /// Its links, the outermost first.
    pub(crate) links: Vec<IrLink>,
}

/// The path that leads nowhere else: a variable itself is meant.
pub(crate) const WHOLE_VARIABLE: u16 = 0;

/// One link of a path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct IrLink {
    /// What it leads to.
    pub(crate) kind: IrLinkKind,
    /// The value before it may be `()`, which ends the path.
    pub(crate) optional: bool,
    /// Where it stands.
    pub(crate) at: SourcePoint,
    /// Where its dot or bracket stands.
    pub(crate) sign: SourcePoint,
}

/// What a link of a path leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum IrLinkKind {
    /// A property of this name.
    Name(u16),
    /// An element; a register holds which.
    Index(u16),
}
