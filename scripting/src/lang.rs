//! The language: from a source to a program.
//!
//! The pinned parser reads the source, `adapter` turns what it gives into our own tree, and `lower`
//! resolves every name of it to a register, a constant, a function or a host function.

mod adapter;
mod lower;
mod tree;

use alloc::vec::Vec;

use crate::{Diagnostic, ir::ScriptProgram};

pub(crate) use tree::SourcePoint;

/// Compiles the source of an entry file; tells all mistakes but those behind one of syntax.
pub(crate) fn compile(source: &str) -> Result<ScriptProgram, Vec<Diagnostic>> {
    lower::lower(&adapter::parse(source)?)
}
