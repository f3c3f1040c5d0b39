//! From the tree to a program: names become registers and places in tables.

mod assignments;
mod chains;
mod deeds;
mod emit;
mod expressions;
mod failures;
mod flow;
mod handlers;
mod imports;
mod kinds;
mod names;
mod statements;
mod switches;
mod tables;

use alloc::{
    collections::{BTreeMap, BTreeSet},
    format,
    string::{String, ToString},
    vec::Vec,
};

use super::tree::{SourceFunction, SourcePoint, SourceTree, Statement, StatementKind};
use crate::{
    Diagnostic, EventKind,
    exec::evaluate_constants,
    host::FUNCTIONS,
    ir::{IR_FORMAT, IrFunction, IrOp, ScriptProgram, WHOLE_VARIABLE},
    limits::{GAS_PER_CALL_MAX, NANOSECONDS_PER_GAS},
};
use emit::FunctionBody;
pub(crate) use imports::ImportableNames;
use tables::ProgramTables;

/// Complaints that are collected at most.
const DIAGNOSTICS_MAX: usize = 32;

/// Mistakes that are looked for what was meant; more than are told, for they are told by their places. Each is held
/// against all names that are known there.
const HINTS_MAX: usize = 2 * DIAGNOSTICS_MAX;

/// What the sources that are lowered so far are linked to.
#[derive(Debug)]
pub(super) struct ProgramUnderWay {
    program: ScriptProgram,
    tables: ProgramTables,
    /// Nanoseconds of the reference machine that the constants of all sources may still take: as many as
    /// one call, so that many small sources are no way to more.
    time_left: u64,
    /// The entry source is looked over for its author, and nothing runs it: see `failures`.
    is_for_author: bool,
}

impl ProgramUnderWay {
    /// Returns a program without any source. If it is for an author, what fails whenever it runs is a mistake.
    pub(super) fn new(is_for_author: bool) -> Self {
        let mut lowering = Lowering::default();
        lowering.program.format = IR_FORMAT;
        let variable = lowering.path(Vec::new(), SourcePoint::default());
        debug_assert_eq!(variable, WHOLE_VARIABLE, "nothing was put there before");
        let Lowering { program, tables, .. } = lowering;
        let time_left = GAS_PER_CALL_MAX * NANOSECONDS_PER_GAS;
        Self { program, tables, time_left, is_for_author }
    }

    /// Returns how many functions and closures the program has.
    pub(super) fn functions(&self) -> usize {
        self.program.functions.len()
    }

    /// Returns the program.
    pub(super) fn finish(self) -> ScriptProgram {
        self.program
    }

    /// Adds a source that others import. Returns what they can name of it, or what is wrong with it.
    /// `imports` are the sources that it imports itself, by the names of its package for them.
    pub(super) fn add_import(
        &mut self,
        tree: &SourceTree,
        imports: &BTreeMap<&str, &ImportableNames>,
    ) -> Result<ImportableNames, Vec<Diagnostic>> {
        let lowering = self.add(tree, imports, true)?;
        Ok(ImportableNames::of(tree, lowering.functions, lowering.constants))
    }

    /// Adds the source whose handlers run, the last one; or tells what is wrong with it.
    pub(super) fn add_entry(
        &mut self,
        tree: &SourceTree,
        imports: &BTreeMap<&str, &ImportableNames>,
    ) -> Result<(), Vec<Diagnostic>> {
        self.add(tree, imports, false).map(drop)
    }

    fn add(
        &mut self,
        tree: &SourceTree,
        imports: &BTreeMap<&str, &ImportableNames>,
        is_import: bool,
    ) -> Result<Lowering, Vec<Diagnostic>> {
        let first = self.program.functions.len();
        let mut lowering = Lowering {
            program: core::mem::take(&mut self.program),
            tables: core::mem::take(&mut self.tables),
            time_left: self.time_left,
            is_import,
            is_for_author: self.is_for_author && !is_import,
            first,
            ..Lowering::default()
        };
        for (function, index) in tree.functions.iter().zip(first..) {
            let key = (function.name.clone(), function.parameters.len());
            lowering.functions.insert(key, u16::try_from(index).unwrap_or(u16::MAX));
        }
        for function in &tree.functions {
            lowering.note_called(&function.body);
        }
        lowering.import(&tree.statements, imports);
        lowering.constants(&tree.statements)?;
        // Closures come behind the functions with names, whose places are known already.
        lowering.program.functions.resize(first + tree.functions.len(), IrFunction::default());
        for (function, index) in tree.functions.iter().zip(first..) {
            lowering.program.functions[index] = lowering.function(function);
        }
        lowering.judge_names(&tree.functions);
        let mut lowering = lowering.finish()?;
        self.program = core::mem::take(&mut lowering.program);
        self.tables = core::mem::take(&mut lowering.tables);
        self.time_left = lowering.time_left;
        Ok(lowering)
    }
}

/// The walk over one source.
#[derive(Debug, Default)]
struct Lowering {
    found: Vec<Diagnostic>,
    /// It is imported by another source: its handlers are functions like others.
    is_import: bool,
    /// What fails whenever it runs is a mistake.
    is_for_author: bool,
    /// A mistake lists all handlers already.
    has_listed_handlers: bool,
    /// Functions of the program that sources before this one brought.
    first: usize,
    /// Nanoseconds that its constants may take, of those of the whole program.
    time_left: u64,
    /// Functions of the source, by name and number of parameters, and of its imports with their names
    /// before them.
    functions: BTreeMap<(String, usize), u16>,
    /// Constants of the source and its imports, by name: their places among those of the program.
    constants: BTreeMap<String, u16>,
    /// The names by which the source calls its imports.
    aliases: BTreeSet<String>,
    /// Functions of imports that those keep for themselves.
    private: BTreeSet<String>,
    /// The values of the constants stand at their places.
    has_constants: bool,
    /// Names that the source calls as functions.
    called: BTreeSet<String>,
    in_constant: bool,
    program: ScriptProgram,
    tables: ProgramTables,
    /// The function under way.
    body: FunctionBody,
}

impl Lowering {
    fn complain(&mut self, at: SourcePoint, message: impl Into<String>) {
        let SourcePoint { line, column } = at;
        self.found.push(Diagnostic { line, column, message: message.into() });
    }

    fn finish(mut self) -> Result<Self, Vec<Diagnostic>> {
        self.found.sort();
        self.found.dedup();
        self.found.truncate(DIAGNOSTICS_MAX);
        if self.found.is_empty() { Ok(self) } else { Err(self.found) }
    }

    /// Evaluates the constants, once. They are all that may stand outside of functions.
    fn constants(&mut self, statements: &[Statement]) -> Result<(), Vec<Diagnostic>> {
        self.in_constant = true;
        let mut names = BTreeSet::new();
        let mut order = Vec::new();
        self.leader(SourcePoint::default());
        for Statement { at, kind } in statements {
            match kind {
                StatementKind::Let { name, value, constant: true } => {
                    let register = self.register(*at);
                    self.value_into(value, register);
                    self.free_name(name, *at);
                    if !names.insert(name.clone()) {
                        self.complain(*at, format!("there are two constants {name}"));
                    }
                    self.declare(name, register, true, *at);
                    order.push((name.clone(), *at));
                }
                // These were looked at before.
                StatementKind::Import { .. } => {}
                StatementKind::Refused(words) => self.complain(*at, words.clone()),
                StatementKind::Let { .. } => self.complain(
                    *at,
                    "a variable outside of a function would be gone after the call: use const, \
                     or state.name inside of a handler",
                ),
                _ => self.complain(
                    *at,
                    "only constants and functions stand outside of functions: put this into a \
                     handler such as on_start",
                ),
            }
        }
        self.in_constant = false;
        let end = self.register(SourcePoint::default());
        self.emit(IrOp::Unit { to: end }, SourcePoint::default());
        self.emit(IrOp::Return { from: end }, SourcePoint::default());
        let at = order.first().map_or_else(SourcePoint::default, |(_, at)| *at);
        let function = self.take_body().into_function(String::new(), at);
        // Targets of jumps are numbers of 16 bits: in a longer one a jump could meet itself, unpaid.
        self.fits(&function);
        if order.is_empty() || !self.found.is_empty() {
            // Functions may still name them.
            self.constants.extend(names.into_iter().map(|name| (name, 0)));
            return Ok(());
        }
        self.evaluate(function, &order)
    }

    fn evaluate(
        &mut self,
        function: IrFunction,
        order: &[(String, SourcePoint)],
    ) -> Result<(), Vec<Diagnostic>> {
        if self.program.functions.len() > self.first {
            self.program.functions.truncate(self.first);
            self.complain(order[0].1, "a constant cannot hold a closure");
            return Ok(());
        }
        // Constants call no function, so the one that computes them may stand alone.
        let others = core::mem::replace(&mut self.program.functions, alloc::vec![function]);
        let places: Vec<SourcePoint> = order.iter().map(|(_, at)| *at).collect();
        let values = evaluate_constants(&self.program, &places, &mut self.time_left);
        self.program.functions = others;
        match values {
            Ok(values) => {
                for ((name, at), value) in order.iter().zip(values) {
                    let place = self.tables.own_constant(&mut self.program, value);
                    let known = self.known(place, *at);
                    self.constants.insert(name.clone(), known);
                }
                self.has_constants = true;
                Ok(())
            }
            Err((at, message)) => {
                self.complain(at, message);
                self.constants.extend(order.iter().map(|(name, _)| (name.clone(), 0)));
                Ok(())
            }
        }
    }

    fn function(&mut self, function: &SourceFunction) -> IrFunction {
        let SourceFunction { name, named_at, parameters, at, body, is_method, is_private: _ } =
            function;
        if *is_method {
            self.complain(
                *named_at,
                format!("{name}: functions of a type are not part of the language"),
            );
        }
        let mut known = FUNCTIONS.iter();
        if known.any(|f| f.name == name && f.arguments.len() == parameters.len()) {
            let told = format!("{name} is a function of the world: choose another name");
            self.complain(*named_at, told);
        }
        let is_handler = name.starts_with("on_");
        let event = is_handler.then(|| self.handler(name, parameters.len(), *named_at)).flatten();
        self.note_assigned(body);
        // What the world gives to a handler is known; a handler that is called by name can get anything.
        let event_kinds = event.map_or(&[][..], EventKind::parameter_kinds);
        let is_called = self.is_import || self.called.contains(name);
        for (index, parameter) in parameters.iter().enumerate() {
            self.free_name(parameter, *named_at);
            let register = self.register(*at);
            self.declare(parameter, register, false, *at);
            self.holds(event_kinds.get(index).copied().filter(|_| !is_called));
        }
        self.leader(*at);
        let result = self.register(*at);
        // What the last statement of a handler gives is nobody's.
        if event.is_some() {
            self.block(body, None, *at);
            self.emit(IrOp::Unit { to: result }, *at);
        } else {
            self.block(body, Some(result), *at);
        }
        self.emit(IrOp::Return { from: result }, *at);
        let mut lowered = self.take_body().into_function(name.clone(), *at);
        lowered.parameters = u16::try_from(parameters.len()).unwrap_or(u16::MAX);
        if let Some(event) = event
            && !self.is_import
        {
            let index = self.functions[&(name.clone(), parameters.len())];
            self.program.handlers.push((event, index));
        }
        self.fits(&lowered);
        lowered
    }

    /// Makes a closure's function, in place of the one that is under way.
    fn closure(
        &mut self,
        parameters: &[String],
        captures: &[String],
        statements: &[Statement],
        at: SourcePoint,
    ) -> u16 {
        let outer = self.take_body();
        self.note_assigned(statements);
        for name in parameters.iter().chain(captures) {
            let register = self.register(at);
            self.declare(name, register, false, at);
        }
        for parameter in parameters {
            self.free_name(parameter, at);
        }
        self.leader(at);
        let result = self.register(at);
        self.block(statements, Some(result), at);
        self.emit(IrOp::Return { from: result }, at);
        let mut lowered = self.take_body().into_function(String::new(), at);
        self.body = outer;
        lowered.parameters = u16::try_from(parameters.len()).unwrap_or(u16::MAX);
        lowered.captures = u16::try_from(captures.len()).unwrap_or(u16::MAX);
        self.fits(&lowered);
        let place = self.program.functions.len();
        self.program.functions.push(lowered);
        self.known(u16::try_from(place).ok(), at)
    }

    /// Complains if the number of something, which an operation holds in 16 bits, does not fit.
    fn known(&mut self, place: Option<u16>, at: SourcePoint) -> u16 {
        if place.is_none() {
            self.complain(at, "this source is too large: split it into several packages");
        }
        place.unwrap_or(0)
    }

    fn fits(&mut self, function: &IrFunction) {
        if function.code.len() > usize::from(u16::MAX) {
            let name = function.name.to_string();
            let what = if name.is_empty() {
                "a constant or closure".into()
            } else {
                format!("the function {name}")
            };
            self.complain(function.at, format!("{what} is too long: split it"));
        }
    }
}
