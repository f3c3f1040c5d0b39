//! Stock rhai behind the trait of handlers.

use metatopia_scripting::{
    Call, ErrorKind, Event, EventKind, Handler, ScriptContext, ScriptError, ScriptOutput,
};
use metatopia_types::{Digest, PackageId};
use rhai::{AST, CallFnOptions, Dynamic, Engine, EvalAltResult, Scope};

use crate::stock::{HostError, scene::in_scene};

/// A source that stock rhai runs.
pub(crate) struct StockHandler {
    engine: Engine,
    ast: AST,
}

impl StockHandler {
    pub(crate) fn new(engine: Engine, source: &str) -> Self {
        let ast = engine.compile(source).expect("it compiles");
        Self { engine, ast }
    }
}

impl Handler for StockHandler {
    fn package(&self) -> PackageId {
        PackageId(Digest::ZERO)
    }

    fn handles(&self, kind: EventKind) -> bool {
        self.ast.iter_functions().any(|function| function.name == kind.handler())
    }

    fn call(&self, call: &Call<'_>) -> Result<ScriptOutput, ScriptError> {
        let arguments: Vec<Dynamic> = match call.event {
            Event::Tick { dt } => vec![Dynamic::from(*dt)],
            _ => vec![],
        };
        let (result, scene) = in_scene(ScriptContext::new(call), || {
            let (options, name) =
                (CallFnOptions::new().eval_ast(false), call.event.kind().handler());
            let (engine, scope) = (&self.engine, &mut Scope::new());
            engine.call_fn_with_options::<Dynamic>(options, scope, &self.ast, name, arguments)
        });
        let failed = |kind| ScriptError { kind, gas: 0, report: Box::default() };
        match result {
            Ok(_) => scene.finish().map_err(|fault| failed(fault.kind)),
            Err(error) => match *error {
                EvalAltResult::ErrorRuntime(value, _) => Err(failed(
                    value.read_lock::<HostError>().map_or(ErrorKind::Thrown, |e| e.0.kind),
                )),
                _ => Err(failed(ErrorKind::Panic)),
            },
        }
    }
}
