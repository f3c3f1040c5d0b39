//! A program in the executor of our own.

use metatopia_scripting::{ErrorKind, Handler, ScriptHandler, ScriptProgram, Value};
use metatopia_types::{Digest, PackageId};

use crate::{Verdict, grammar::CALL, world};

/// The text for this executor: a closure is called by its name.
pub(crate) fn text(source: &str) -> String {
    let body = source.replace(CALL, "     ");
    format!("{body}\nfn on_start() {{ state.x = [run()]; }}")
}

pub(crate) fn run(source: &str) -> Verdict {
    let program = match ScriptProgram::compile(&text(source)) {
        Ok(program) => program,
        Err(found) if found.iter().all(|mistake| mistake.message.contains(" have no ")) => {
            return Verdict::RefusedMember;
        }
        Err(_) => return Verdict::Refused,
    };
    let handler = ScriptHandler::load(PackageId(Digest::ZERO), String::new(), &program).unwrap();
    match world::call(|call| handler.call(call)) {
        Ok(mut part) => match part.state.as_mut().and_then(|state| state.0.remove("x")) {
            Some(Value::Array(mut values)) => {
                Verdict::Value(values.remove(0), world::compared(part))
            }
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
