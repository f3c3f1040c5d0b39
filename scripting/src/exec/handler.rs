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

use metatopia_types::{PackageId, wire};

use super::{
    convert::datum_of,
    datum::Datum,
    loaded::{LoadedProgram, ProgramError},
    machine::CallMachine,
    meter::{CallFault, CallOutcome},
};
use crate::{
    Call, CompileError, ErrorKind, Event, EventKind, Executor, FailureReport, Handler, Package,
    ScriptContext, ScriptError, ScriptOutput,
    ir::ScriptProgram,
    lang::SourcePoint,
    limits::{GAS_PER_CALL_MAX, GAS_PER_CALL_MIN, NANOSECONDS_PER_GAS, STATE_BYTES_PER_GAS},
};

/// The executor of Metatopia's own: it compiles sources to programs for registers.
#[derive(Debug, Clone, Copy, Default)]
pub struct ScriptExecutor;

impl Executor for ScriptExecutor {
    fn compile(&self, package: &Package) -> Result<Arc<dyn Handler>, CompileError> {
        Ok(Arc::new(ScriptHandler::new(package)?))
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
    file: String,
    program: LoadedProgram,
}

impl ScriptHandler {
    /// Compiles the entry file of a package.
    ///
    /// # Errors
    /// What is wrong with the source, by line and column.
    pub fn new(package: &Package) -> Result<Self, CompileError> {
        let file = package.manifest().entry.clone();
        match ScriptProgram::compile(package.entry()) {
            Ok(program) => {
                let loaded = Self::load(package.id(), file, &program);
                Ok(loaded.expect("what was compiled here calls what there is here"))
            }
            Err(diagnostics) => Err(CompileError { file, diagnostics }),
        }
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
        Ok(Self { package, file, program: LoadedProgram::new(program)? })
    }

    fn handler(&self, kind: EventKind) -> Option<u16> {
        let mut handlers = self.program.handlers.iter();
        handlers.find(|(handled, _)| *handled == kind).map(|(_, function)| *function)
    }

    fn failed(&self, fault: CallFault, gas: u64, log: Vec<String>) -> ScriptError {
        let CallFault { kind, message, at, trace, .. } = fault;
        let told = |(function, at): (u16, SourcePoint)| {
            let title = self.program.functions[usize::from(function)].title();
            format!("{title}, called at {}:{}", at.line, at.column)
        };
        let report = FailureReport {
            file: self.file.clone(),
            line: at.line,
            column: at.column,
            message,
            trace: trace.into_iter().map(told).collect(),
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
        let scene = Some(ScriptContext::new(call));
        let time = limit * NANOSECONDS_PER_GAS;
        let mut machine = CallMachine::new(&self.program, scene, call.object, time);
        let run = AssertUnwindSafe(|| handle(&mut machine, call, function));
        // A panic comes out of the same code and values on every server, so it is an outcome like others.
        let result = catch_unwind(run)
            .unwrap_or_else(|cause| Err(CallFault::new(ErrorKind::Panic, words(&*cause))));
        let used = time - machine.meter.time_left();
        let gas = used.div_ceil(NANOSECONDS_PER_GAS);
        let scene = machine.scene.take().expect("it was put in above, and nothing takes it");
        let (mut fault, log) = match result {
            Ok(()) => match scene.finish() {
                Ok(part) => return Ok(ScriptOutput { gas, ..part }),
                Err(fault) => (Box::<CallFault>::from(fault), Vec::new()),
            },
            Err(fault) => (fault, scene.into_log()),
        };
        if fault.at == SourcePoint::default() {
            fault.at = self.program.functions[usize::from(function)].at;
        }
        Err(self.failed(*fault, gas, log))
    }
}

/// Runs a handler, and keeps what it wrote to the state.
fn handle(machine: &mut CallMachine<'_>, call: &Call<'_>, function: u16) -> CallOutcome<()> {
    let state = (wire::length(&**call.state) / STATE_BYTES_PER_GAS) as u64;
    machine.meter.pay((GAS_PER_CALL_MIN + state) * NANOSECONDS_PER_GAS)?;
    let parameters = machine.program.functions[usize::from(function)].parameters;
    let mut stack = Vec::new();
    arguments(call.event, &mut stack);
    stack.truncate(usize::from(parameters));
    for value in &stack {
        machine.meter.take(value.size())?;
    }
    machine.call(&mut stack, function, 0)?;
    machine.keep_state()
}

/// What a handler is given, in the order of [`EventKind::parameters`].
fn arguments(event: &Event, stack: &mut Vec<Datum>) {
    match event {
        Event::Start | Event::Upgrade | Event::Arrive => {}
        Event::Sit { who } | Event::Stand { who } => stack.push(Datum::Object(*who)),
        Event::Refused { why } => stack.push(Datum::text(why.as_str())),
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
        Event::Timer { name } => stack.push(Datum::text(name.as_str())),
        Event::Spawn { thing, tag } => {
            let thing = thing.map_or(Datum::Unit, Datum::Object);
            stack.extend([thing, Datum::text(tag.as_str())]);
        }
        Event::Enter { other } | Event::Leave { other } => stack.push(Datum::Object(*other)),
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
