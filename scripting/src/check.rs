//! Looking at a source before it runs: what is wrong, where, and what was probably meant.

use alloc::{collections::BTreeMap, string::String, vec::Vec};
use core::fmt;

use crate::lang;

/// One complaint about a source.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Diagnostic {
    /// Line, from 1; 0 if it is about the whole file.
    pub line: u32,
    /// Column in characters, from 1; 0 if it is about the whole line.
    pub column: u32,
    /// What is wrong, in words.
    pub message: String,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

/// Why a package cannot be executed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{}", show(.diagnostics))]
pub struct CompileError {
    /// The file, as the package names it.
    pub file: String,
    /// What is wrong in it, by place; at least one.
    pub diagnostics: Vec<Diagnostic>,
}

fn show(diagnostics: &[Diagnostic]) -> String {
    let more = diagnostics.len().saturating_sub(1);
    match diagnostics.first() {
        Some(first) if more > 0 => alloc::format!("{first} (and {more} more)"),
        Some(first) => alloc::format!("{first}"),
        None => String::new(),
    }
}

/// Checks the syntax of a source whose imports are not at hand, and nothing else.
#[must_use]
pub fn check_syntax(source: &str) -> Vec<Diagnostic> {
    lang::parse(source).err().unwrap_or_default()
}

/// Checks the source of an entry file that imports nothing, for its author; empty if nothing is wrong. A mistake
/// of syntax ends the check, all others are told, and with them calls and assignments that can run but fail
/// whenever they do. Nothing is executed but the expressions of constants.
#[must_use]
pub fn check(source: &str) -> Vec<Diagnostic> {
    let alone = lang::SourceUnit { source, imports: BTreeMap::new() };
    lang::review(&[alone]).err().map(|mistakes| mistakes.diagnostics).unwrap_or_default()
}
