//! The executor behind the traits of this crate.

use alloc::{
    boxed::Box,
    format,
    string::{String, ToString},
    sync::Arc,
    vec::Vec,
};
use core::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use metatopia_types::PackageId;

use super::{
    convert::datum_of,
    datum::Datum,
    loaded::{LoadedProgram, ProgramError},
    machine::CallMachine,
    meter::{CallFault, CallOutcome},
    ported::PortedBody,
};
use crate::{
    Call, CompileError, ErrorKind, Event, EventKind, Executor, FailureReport, Handler,
    LinkedPackage, Package, ScriptContext, ScriptError, ScriptOutput,
    ir::ScriptProgram,
    lang::{LinkedProgram, SourcePoint},
    limits::{GAS_PER_CALL_MAX, GAS_PER_CALL_MIN, NANOSECONDS_PER_GAS},
};

/// The executor of Metatopia's own: it compiles sources to programs for registers.
#[derive(Debug, Clone, Copy, Default)]
pub struct ScriptExecutor;

impl Executor for ScriptExecutor {
    fn compile(&self, package: &LinkedPackage<'_>) -> Result<Arc<dyn Handler>, CompileError> {
        Ok(Arc::new(ScriptHandler::linked(package)?))
    }
}

/// A package executed by [`ScriptExecutor`].
///
/// Everything that a call does is paid for before it is done, by one table of prices in nanoseconds of a
/// reference machine. Memory is counted with sizes that are the same on every machine. No function of a
/// script uses native stack; closures that the world's functions call back use one level of it each, and
/// count as calls.
#[derive(Debug)]
pub struct ScriptHandler {
    package: PackageId,
    /// The file of each source, with its first function in the program; the entry file is the last.
    files: Box<[(u16, Box<str>)]>,
    program: LoadedProgram,
    /// The functions of the program in Rust, if it is a port.
    bodies: Box<[PortedBody]>,
}

impl ScriptHandler {
    /// Compiles the entry file of a package that imports nothing.
    ///
    /// # Errors
    /// What is wrong with the source, by line and column; also the first import.
    pub fn new(package: &Package) -> Result<Self, CompileError> {
        Self::linked(&LinkedPackage::new(package, &|_| None)?)
    }

    /// Compiles the entry file of a package with all that it imports.
    ///
    /// # Errors
    /// What is wrong with the source, by line and column.
    pub fn linked(linked: &LinkedPackage<'_>) -> Result<Self, CompileError> {
        let package = linked.package();
        let file = package.manifest().entry.clone();
        let LinkedProgram { program, firsts, .. } =
            linked.imports().link(&file, package.entry())?;
        let program = LoadedProgram::new(&program);
        let files = linked.imports().files().chain([file]).map(String::into_boxed_str);
        let first = |first| u16::try_from(first).expect("functions have numbers of 16 bits");
        Ok(Self {
            package: package.id(),
            files: firsts.into_iter().map(first).zip(files).collect(),
            program: program.expect("what was compiled here calls what there is here"),
            bodies: Box::default(),
        })
    }

    /// Makes a handler of a compiled program.
    ///
    /// # Errors
    /// See [`ProgramError`].
    pub fn load(
        package: PackageId,
        file: String,
        program: &ScriptProgram,
    ) -> Result<Self, ProgramError> {
        let files = [(0, file.into())].into();
        Ok(Self { package, files, program: LoadedProgram::new(program)?, bodies: Box::default() })
    }

    /// Makes a handler of a program whose values all lie in registers, to compare with.
    #[cfg(test)]
    pub(crate) fn plain(program: &ScriptProgram) -> Result<Self, ProgramError> {
        let (package, files) = (PackageId(metatopia_types::Digest::ZERO), [(0, "x".into())].into());
        Ok(Self { package, files, program: LoadedProgram::plain(program)?, bodies: Box::default() })
    }

    /// Says how many operations those functions have that use slots.
    #[cfg(test)]
    pub(crate) fn operations_on_slots(&self) -> usize {
        let functions = self.program.functions.iter().filter(|function| function.uses_slots());
        functions.map(|function| function.code.len()).sum()
    }

    /// Makes a handler of a port: of a program without operations, and of its functions in Rust. Files are
    /// those of its sources, each with its first function; the entry file is the last.
    ///
    /// # Errors
    /// See [`ProgramError`].
    pub(crate) fn port(
        package: PackageId,
        files: Vec<(u16, String)>,
        program: &ScriptProgram,
        bodies: Vec<PortedBody>,
    ) -> Result<Self, ProgramError> {
        let files = files.into_iter().map(|(first, file)| (first, file.into())).collect();
        Ok(Self { package, files, program: LoadedProgram::new(program)?, bodies: bodies.into() })
    }

    fn handler(&self, kind: EventKind) -> Option<u16> {
        let mut handlers = self.program.handlers.iter();
        handlers.find(|(handled, _)| *handled == kind).map(|(_, function)| *function)
    }

    /// Returns the file of the source that a function is from.
    fn file(&self, function: u16) -> &str {
        let mut files = self.files.iter().rev();
        let of = files.find(|(first, _)| *first <= function);
        of.map_or("", |(_, file)| file)
    }

    /// Returns the error of a call of this handler.
    fn failed(&self, handler: u16, fault: CallFault, gas: u64, log: Vec<String>) -> ScriptError {
        let CallFault { kind, message, at, trace, .. } = fault;
        // What a function is called from is in the next one of the trace, and at last in the handler.
        let callers = trace.iter().skip(1).map(|(function, _)| *function).chain([handler]);
        let told = |((function, at), caller): (&(u16, SourcePoint), u16)| {
            let title = self.program.title(*function);
            let SourcePoint { line, column } = at;
            match (self.file(caller), self.file(handler)) {
                (file, own) if file == own => format!("{title}, called at {line}:{column}"),
                (file, _) => format!("{title}, called at {file}:{line}:{column}"),
            }
        };
        let innermost = trace.first().map_or(handler, |(function, _)| *function);
        let report = FailureReport {
            file: self.file(innermost).into(),
            line: at.line,
            column: at.column,
            message,
            trace: trace.iter().zip(callers).map(told).collect(),
            log,
        };
        ScriptError { kind, gas, report: Box::new(report) }
    }
}

impl Handler for ScriptHandler {
    fn package(&self) -> PackageId {
        self.package
    }

    fn handles(&self, kind: EventKind) -> bool {
        self.handler(kind).is_some()
    }

    fn call(&self, call: &Call<'_>) -> Result<ScriptOutput, ScriptError> {
        let Some(function) = self.handler(call.event.kind()) else {
            return Ok(ScriptOutput::default());
        };
        let limit = call.gas.min(GAS_PER_CALL_MAX);
        let time = limit * NANOSECONDS_PER_GAS;
        // It stays where it is: to move it takes as long as some operations.
        let mut scene = ScriptContext::new(call);
        let (result, left) = self.run(call, function, &mut scene, time);
        let gas = (time - left).div_ceil(NANOSECONDS_PER_GAS);
        let (mut fault, log) = match result {
            Ok(()) => match scene.check_changed_state() {
                Ok(()) => return Ok(scene.into_output(gas)),
                Err(fault) => (Box::<CallFault>::from(fault), Vec::new()),
            },
            Err(fault) => (fault, scene.into_log()),
        };
        if fault.at == SourcePoint::default() {
            fault.at = self.program.begin(function);
        }
        Err(self.failed(function, *fault, gas, log))
    }
}

impl ScriptHandler {
    /// Runs a handler, and returns what is left of its time too.
    fn run(
        &self,
        call: &Call<'_>,
        function: u16,
        scene: &mut ScriptContext,
        time: u64,
    ) -> (CallOutcome<()>, u64) {
        let mut machine = CallMachine::new(&self.program, Some(scene), call.object, time);
        machine.bodies = &self.bodies;
        let run = AssertUnwindSafe(|| handle(&mut machine, call, function));
        // A panic comes out of the same code and values on every server, so it is an outcome like others.
        let result = catch_unwind(run)
            .unwrap_or_else(|cause| Err(CallFault::new(ErrorKind::Panic, words(&*cause))));
        (result, machine.meter.time_left())
    }
}

/// Runs a handler, and keeps what it wrote to the state.
fn handle(machine: &mut CallMachine<'_>, call: &Call<'_>, function: u16) -> CallOutcome<()> {
    let state = call.state.gas();
    machine.meter.pay((GAS_PER_CALL_MIN + state) * NANOSECONDS_PER_GAS)?;
    let of = &machine.program.functions[usize::from(function)];
    let parameters = of.parameters;
    let mut stack = Vec::with_capacity(of.registers().max(4));
    arguments(call.event, &mut stack);
    stack.truncate(usize::from(parameters));
    for value in &stack {
        machine.meter.take(value.size())?;
    }
    machine.call(&mut stack, function, 0)?;
    stack.into_iter().for_each(Datum::release);
    machine.keep_state()
}

/// Puts on the stack what a handler is given, in the order of [`EventKind::parameters`].
fn arguments(event: &Event, stack: &mut Vec<Datum>) {
    match event {
        Event::Start | Event::Upgrade | Event::Arrive => {}
        Event::Sit { who } | Event::Stand { who } => stack.push(Datum::Object(*who)),
        Event::Refused { why: text } | Event::Depart { how: text } => {
            stack.push(Datum::text(text.as_str()));
        }
        Event::Tick { dt } => stack.push(Datum::Fixed(*dt)),
        Event::Touch { other, at, impulse } => {
            stack.extend([Datum::Object(*other), Datum::Vec2(*at), Datum::Fixed(*impulse)]);
        }
        Event::Chat { from, text } => {
            stack.extend([Datum::Object(*from), Datum::text(text.as_str())]);
        }
        Event::Message { from, topic, data } => {
            stack.extend([Datum::Object(*from), Datum::text(topic.as_str()), datum_of(data)]);
        }
        Event::Undelivered { to, topic, why } => {
            let (topic, why) = (Datum::text(topic.as_str()), Datum::text(why.as_str()));
            stack.extend([Datum::Object(*to), topic, why]);
        }
        Event::HitBeyond { what, speed } => {
            stack.extend([Datum::text(what.as_str()), Datum::Fixed(*speed)]);
        }
        Event::Timer { name } => stack.push(Datum::text(name.as_str())),
        Event::Spawn { thing, tag } => {
            let thing = thing.map_or(Datum::Unit, Datum::Object);
            stack.extend([thing, Datum::text(tag.as_str())]);
        }
        Event::Enter { other } | Event::Leave { other } | Event::TouchEnd { other } => {
            stack.push(Datum::Object(*other));
        }
        Event::Ui { who, tag, choice, text } => {
            let (tag, text) = (Datum::text(tag.as_str()), Datum::text(text.as_str()));
            stack.extend([Datum::Object(*who), tag, Datum::Int((*choice).into()), text]);
        }
        Event::Answer { who, tag, accepted } => {
            stack.extend([Datum::Object(*who), Datum::text(tag.as_str()), Datum::Bool(*accepted)]);
        }
        Event::Hit { other, speed } => {
            stack.extend([Datum::Object(*other), Datum::Fixed(*speed)]);
        }
        Event::Break { other } => stack.push(other.map_or(Datum::Unit, Datum::Object)),
    }
}

fn words(cause: &(dyn Any + Send)) -> String {
    let text = cause.downcast_ref::<&str>().map(ToString::to_string);
    let text = text.or_else(|| cause.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "a panic without words".into())
}
