//! A program in the executor of our own.

use std::{collections::BTreeMap, sync::Arc};

use metatopia_math::{Fx, Vec2};
use metatopia_scripting::{
    Call, ErrorKind, Event, Handler, Nearby, ObjectView, ObjectWrites, ScriptHandler,
    ScriptProgram, ScriptState, Value, WorldView, limits::GAS_PER_CALL_MAX,
};
use metatopia_types::{Digest, ObjectId, PackageId, ScriptId, Tick};

use crate::{Verdict, grammar::CALL};

/// A world without anything in it.
struct Nowhere;

impl WorldView for Nowhere {
    fn object(&self, _: ObjectId) -> Option<ObjectView<'_>> {
        None
    }

    fn nearby(&self, _: Vec2, _: Fx, _: u32) -> Nearby {
        Nearby::default()
    }

    fn tick(&self) -> Tick {
        Tick(0)
    }

    fn seed(&self) -> Digest {
        Digest::ZERO
    }
}

/// The text for this executor: a closure is called by its name.
pub(crate) fn text(source: &str) -> String {
    let body = source.replace(CALL, "     ");
    format!("{body}\nfn on_start() {{ state.x = [run()]; }}")
}

pub(crate) fn run(source: &str) -> Verdict {
    let Ok(program) = ScriptProgram::compile(&text(source)) else { return Verdict::Refused };
    let handler = ScriptHandler::load(PackageId(Digest::ZERO), String::new(), &program).unwrap();
    let view: Arc<dyn WorldView> = Arc::new(Nowhere);
    let result = handler.call(&Call {
        view: &view,
        script: ScriptId(1),
        object: ObjectId(1),
        index: 0,
        event: &Event::Start,
        state: &Arc::new(ScriptState(BTreeMap::new())),
        own: &ObjectWrites::default(),
        gas: GAS_PER_CALL_MAX,
    });
    match result {
        Ok(part) => match part.state.and_then(|mut state| state.0.remove("x")) {
            Some(Value::Array(mut values)) => Verdict::Value(values.remove(0)),
            other => panic!("the handler keeps an array, not {other:?}"),
        },
        Err(error) => match error.kind {
            ErrorKind::Gas | ErrorKind::Memory | ErrorKind::Depth | ErrorKind::State => {
                Verdict::TooMuch
            }
            kind => Verdict::Error { kind, line: error.report.line, column: error.report.column },
        },
    }
}
