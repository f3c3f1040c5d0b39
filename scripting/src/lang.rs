//! The language: from sources to a program.
//!
//! The pinned parser reads a source, `adapter` turns what it gives into our own tree, and `lower` resolves
//! every name of it to a register, a constant, a function or a host function. What a source imports is
//! lowered before it into the same program, so that nothing of a program is found by name when it runs.

mod adapter;
mod lower;
mod tree;

use alloc::{collections::BTreeMap, vec::Vec};

use crate::{Diagnostic, ir::ScriptProgram};
pub(crate) use lower::ImportableNames;
use lower::ProgramUnderWay;
pub(crate) use tree::SourcePoint;

/// A source that becomes part of a program.
#[derive(Clone, Debug)]
pub(crate) struct SourceUnit<'a> {
    pub(crate) source: &'a str,
    /// Sources before this one, by the names that its package has for them.
    pub(crate) imports: BTreeMap<&'a str, usize>,
}

/// What is wrong with one of several sources.
#[derive(Debug)]
pub(crate) struct UnitMistakes {
    /// Its place among them.
    pub(crate) unit: usize,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// A program that was made of several sources.
#[derive(Debug)]
pub(crate) struct LinkedProgram {
    pub(crate) program: ScriptProgram,
    /// The place of the first function of each source, in their order.
    pub(crate) firsts: Vec<usize>,
    /// What others can name of each source but the last.
    pub(crate) names: Vec<ImportableNames>,
}

/// Compiles the source of an entry file that imports nothing; tells all mistakes but those behind one of
/// syntax.
pub(crate) fn compile(source: &str) -> Result<ScriptProgram, Vec<Diagnostic>> {
    let alone = SourceUnit { source, imports: BTreeMap::new() };
    link(&[alone]).map(|linked| linked.program).map_err(|mistakes| mistakes.diagnostics)
}

/// Says what is wrong with the syntax of a source.
pub(crate) fn parse(source: &str) -> Result<(), Vec<Diagnostic>> {
    adapter::parse(source).map(drop)
}

/// Compiles sources to one program, of which the last is the entry file whose handlers run.
pub(crate) fn link(units: &[SourceUnit<'_>]) -> Result<LinkedProgram, UnitMistakes> {
    compile_all(units, false)
}

/// Says what is wrong with sources, of which the last is an author's: there, what fails whenever it runs is a
/// mistake too.
pub(crate) fn review(units: &[SourceUnit<'_>]) -> Result<(), UnitMistakes> {
    compile_all(units, true).map(drop)
}

fn compile_all(
    units: &[SourceUnit<'_>],
    is_for_author: bool,
) -> Result<LinkedProgram, UnitMistakes> {
    let mut program = ProgramUnderWay::new(is_for_author);
    let (mut named, mut firsts): (Vec<ImportableNames>, _) = (Vec::new(), Vec::new());
    for (unit, SourceUnit { source, imports }) in units.iter().enumerate() {
        let wrong = |diagnostics| UnitMistakes { unit, diagnostics };
        let tree = adapter::parse(source).map_err(wrong)?;
        let imports = imports.iter().map(|(name, place)| (*name, &named[*place])).collect();
        firsts.push(program.functions());
        if unit + 1 == units.len() {
            program.add_entry(&tree, &imports).map_err(wrong)?;
        } else {
            let names = program.add_import(&tree, &imports).map_err(wrong)?;
            named.push(names);
        }
    }
    Ok(LinkedProgram { program: program.finish(), firsts, names: named })
}
