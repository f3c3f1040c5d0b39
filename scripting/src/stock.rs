//! The first executor: the stock interpreter, tamed as far as that can be done from outside.
//!
//! What it does not close is listed at [`RhaiHandler`].

mod active;
mod containers;
mod engine;
mod failure;
mod lint;
mod registry;
mod values;

use alloc::{
    boxed::Box,
    collections::BTreeMap,
    string::{String, ToString},
    sync::Arc,
    vec,
    vec::Vec,
};

use metatopia_types::{PackageId, wire};
use rhai::{AST, Dynamic, EvalAltResult, Module, Position, Scope};

use crate::{
    Call, CompileError, Diagnostic, ErrorKind, Event, EventKind, Executor, FailureReport, Handler,
    Package, ScriptContext, ScriptError, ScriptOutput, Value,
    host::NAMES,
    lang::statements_of,
    limits::{GAS_PER_CALL_MAX, GAS_PER_CALL_MIN, STATE_BYTES_PER_GAS},
};
use active::{Active, Global, Globals};
pub(crate) use engine::seed_hashes;
use failure::TracedFault;
use lint::diagnostic;
use values::to_dynamic;

/// A package executed by the stock interpreter (rhai 1.27.0).
///
/// Closed here: gas counts every operation, also inside of host functions' work; no package of the
/// interpreter's library is registered (no sleep, eval, clock, print, sort with callbacks); syntax
/// whose meaning depends on hashes, build or machine is refused before it runs (closures, `switch`,
/// `try`, `this`, ranges other than after `in`); depths are the same in every build; hashes are
/// seeded; what variables hold is bounded.
///
/// Not closed, and the reason why only reviewed packages that ship with a sim may run here:
/// - Gas counts the interpreter's operations, so it belongs to its exact version. A change of the
///   version is a change of the engine number.
/// - The byte budget counts 16 bytes a value. It looks at a variable whenever it is accessed, and
///   at all of a function's variables at every 16th access, so a call can hold more than
///   `HEAP_BYTES_MAX` in between: 16 MB would be the worst in theory, hostile scripts were seen to
///   hold 0.4. Temporaries of an expression are bounded only one by one (`ARRAY_LENGTH_MAX`,
///   `MAP_LENGTH_MAX`, `STRING_BYTES_MAX`).
/// - Gas follows the interpreter's steps and what values hold, not its work: at worst a unit takes 0.2
///   microseconds instead of 0.1 (`metatopia-abuse scripts`).
/// - Functions are found by 64-bit hashes, and equal hashes count as equal names. An author can
///   make two names collide; which then runs is the same everywhere that hashes alike.
/// - Native stack: `CALL_DEPTH_MAX` calls of the deepest expressions need under 512 KiB, which the
///   thread must have; less kills the process.
#[derive(Debug)]
pub struct RhaiHandler {
    package: PackageId,
    file: String,
    program: Program,
}

/// A compiled source.
#[derive(Debug)]
pub(crate) struct Program {
    handlers: BTreeMap<EventKind, HandlerEntry>,
    globals: Arc<Globals>,
}

/// A handler's body, with the names of its parameters.
#[derive(Debug)]
struct HandlerEntry {
    /// The body stands as the statements of a tree of its own: then an error that the interpreter
    /// passes through functions without their places still names a line of the handler.
    body: AST,
    parameters: Vec<String>,
    start: Position,
}

impl RhaiHandler {
    /// Compiles the entry file of a package.
    ///
    /// # Errors
    /// What is wrong with the source, by line and column.
    pub fn new(package: &Package) -> Result<Self, CompileError> {
        let file = package.manifest().entry.clone();
        match compile(package.entry()) {
            Ok(program) => Ok(Self { package: package.id(), file, program }),
            Err(diagnostics) => Err(CompileError { file, diagnostics }),
        }
    }

    fn failed(&self, failure: TracedFault, gas: u64, log: Vec<String>) -> ScriptError {
        let TracedFault { fault, at, trace } = failure;
        let place = diagnostic(at, fault.message);
        let report = FailureReport {
            file: self.file.clone(),
            line: place.line,
            column: place.column,
            message: place.message,
            trace,
            log,
        };
        ScriptError { kind: fault.kind, gas, report: Box::new(report) }
    }
}

/// The executor that walks the trees of rhai's parser.
#[derive(Debug, Clone, Copy, Default)]
pub struct RhaiExecutor;

impl Executor for RhaiExecutor {
    fn compile(&self, package: &Package) -> Result<Arc<dyn Handler>, CompileError> {
        Ok(Arc::new(RhaiHandler::new(package)?))
    }
}

impl Handler for RhaiHandler {
    fn package(&self) -> PackageId {
        self.package
    }

    fn handles(&self, kind: EventKind) -> bool {
        self.program.handlers.contains_key(&kind)
    }

    fn call(&self, call: &Call<'_>) -> Result<ScriptOutput, ScriptError> {
        let Some(entry) = self.program.handlers.get(&call.event.kind()) else {
            return Ok(ScriptOutput::default());
        };
        let mut scope = Scope::new();
        for (name, value) in entry.parameters.iter().zip(arguments(call.event)) {
            scope.push_dynamic(name.as_str(), to_dynamic(value));
        }
        let limit = call.gas.min(GAS_PER_CALL_MAX);
        let state = (wire::length(&**call.state) / STATE_BYTES_PER_GAS) as u64;
        let globals = Arc::clone(&self.program.globals);
        let active = Active::new(Some(ScriptContext::new(call)), globals, limit);

        let (result, active) = active::run(active, || {
            active::charge(GAS_PER_CALL_MIN + state).map_err(active::raise)?;
            evaluate(&entry.body, &mut scope)
        });

        let gas = limit - active.gas_left;
        let scene = active.scene.expect("it was put in above, and nothing takes it");
        let failure = match result {
            Ok(Ok(())) if !active.out_of_gas => {
                return match scene.finish() {
                    Ok(part) => Ok(ScriptOutput { gas, ..part }),
                    Err(fault) => {
                        let failure = TracedFault { fault, at: entry.start, trace: vec![] };
                        Err(self.failed(failure, gas, vec![]))
                    }
                };
            }
            Ok(Ok(())) => TracedFault::new(ErrorKind::Gas, "the call has used all its gas"),
            Ok(Err(error)) => TracedFault::of(&error),
            Err(panic) => TracedFault::new(ErrorKind::Panic, panic),
        };
        Err(self.failed(failure.or_at(entry.start), gas, scene.into_log()))
    }
}

/// Runs statements for their effects; what the last one gives is nobody's.
fn evaluate(body: &AST, scope: &mut Scope<'_>) -> Result<(), Box<EvalAltResult>> {
    engine::engine().eval_ast_with_scope::<Dynamic>(scope, body).map(drop)
}

/// What a handler is given, in the order of [`EventKind::parameters`].
fn arguments(event: &Event) -> Vec<Value> {
    match event {
        Event::Start | Event::Upgrade => vec![],
        Event::Tick { dt } => vec![Value::Fixed(*dt)],
        Event::Touch { other, at, impulse } => {
            vec![Value::Object(*other), Value::Vec2(*at), Value::Fixed(*impulse)]
        }
        Event::Chat { from, text } => vec![Value::Object(*from), Value::Text(text.clone())],
        Event::Message { from, topic, data } => {
            vec![Value::Object(*from), Value::Text(topic.clone()), data.clone()]
        }
        Event::Timer { name } => vec![Value::Text(name.clone())],
    }
}

/// Compiles a source: syntax, then names, then constants.
pub(crate) fn compile(source: &str) -> Result<Program, Vec<Diagnostic>> {
    let parsed = active::quietly(|| engine::engine().compile(source));
    let ast = match parsed {
        Ok(Ok(ast)) => ast,
        Ok(Err(error)) => return Err(vec![diagnostic(error.position(), error.0.to_string())]),
        Err(panic) => return Err(vec![diagnostic(Position::NONE, panic)]),
    };
    let mut globals = Globals::new();
    let named =
        NAMES.iter().filter_map(|name| Some((name.name.into(), Dynamic::from(name.value?))));
    for (name, value) in lint::lint(&ast)?.into_iter().chain(named) {
        globals.insert(name, Global::of(value).expect("a number is no list"));
    }
    let constants = constants(&ast, &globals)?;
    globals.extend(constants);
    Ok(Program { handlers: handlers(&ast), globals: Arc::new(globals) })
}

/// Evaluates the constants of a source, in order.
fn constants(ast: &AST, globals: &Globals) -> Result<Globals, Vec<Diagnostic>> {
    let statements = AST::new(ast.statements().to_vec(), Module::new());
    let mut scope = Scope::new();
    let active = Active::new(None, Arc::new(globals.clone()), GAS_PER_CALL_MAX);
    let (result, _) = active::run(active, || evaluate(&statements, &mut scope));
    let failure = match result {
        Ok(Ok(())) => None,
        Ok(Err(error)) => Some(TracedFault::of(&error)),
        Err(panic) => Some(TracedFault::new(ErrorKind::Panic, panic)),
    };
    if let Some(TracedFault { fault, at, .. }) = failure {
        return Err(vec![diagnostic(at, fault.message)]);
    }
    let mut constants = Globals::new();
    for (name, _, value) in scope.iter_raw() {
        let constant = Global::of(value.clone()).map_err(|fault| {
            let message = alloc::format!("the constant {name}: {}", fault.message);
            vec![diagnostic(Position::NONE, message)]
        });
        constants.insert(name.into(), constant?);
    }
    Ok(constants)
}

fn handlers(ast: &AST) -> BTreeMap<EventKind, HandlerEntry> {
    let mut handlers = BTreeMap::new();
    for function in ast.iter_fn_def() {
        let kind = EventKind::ALL.into_iter().find(|kind| kind.handler() == function.name.as_str());
        let Some(kind) = kind else { continue };
        let entry = HandlerEntry {
            body: AST::new(statements_of(function), Arc::clone(ast.shared_lib())),
            parameters: function.params.iter().map(ToString::to_string).collect(),
            start: function.body.start_position(),
        };
        handlers.insert(kind, entry);
    }
    handlers
}
