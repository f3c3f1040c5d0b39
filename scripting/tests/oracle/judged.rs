//! A program in stock rhai.

use std::sync::atomic::Ordering;

use metatopia_scripting::{ErrorKind, ScriptContext};
use rhai::{Dynamic, Engine, EvalAltResult};

use crate::{
    Verdict,
    grammar::CALL,
    stock::{HostError, OPERATIONS, scene::in_scene, to_value},
    world,
};

/// Runs a program; also says how many operations that took.
pub(crate) fn run(engine: &Engine, source: &str) -> (Verdict, u64) {
    let text = format!("{}\nrun()", source.replace(CALL, ".call"));
    let Ok(ast) = engine.compile(&text) else { return (Verdict::Refused, 0) };
    OPERATIONS.store(0, Ordering::Relaxed);
    let run = || engine.eval_ast::<Dynamic>(&ast);
    let (result, scene) = world::call(|call| in_scene(ScriptContext::new(call), run));
    let operations = OPERATIONS.load(Ordering::Relaxed);
    let verdict = match (result, scene.finish()) {
        (Ok(value), Ok(part)) => Verdict::Value(to_value(&value), world::compared(part)),
        (Ok(_), Err(_)) => Verdict::TooMuch,
        (Err(error), _) => verdict_of(&error),
    };
    (verdict, operations)
}

fn verdict_of(error: &EvalAltResult) -> Verdict {
    use EvalAltResult as E;
    let mut inner = error;
    while let E::ErrorInFunctionCall(_, _, next, _) = inner {
        inner = next;
    }
    let kind = match inner {
        E::ErrorRuntime(value, _) => {
            let kind = value.read_lock::<HostError>().map(|error| error.0.kind);
            if kind == Some(ErrorKind::State) {
                return Verdict::TooMuch;
            }
            kind.unwrap_or(ErrorKind::Thrown)
        }
        // A closure that names the array it is called for: stock rhai shares variables, and locks them.
        E::ErrorTerminated(..)
        | E::ErrorStackOverflow(_)
        | E::ErrorDataTooLarge(..)
        | E::ErrorDataRace(..)
        // So does a literal that a closure captured: stock rhai takes the variable for a constant then. Seed
        // 144555 writes to one.
        | E::ErrorAssignmentToConstant(..) => {
            return Verdict::TooMuch;
        }
        E::ErrorArithmetic(..) => ErrorKind::Arithmetic,
        E::ErrorPropertyNotFound(..) | E::ErrorDotExpr(..) => ErrorKind::Unknown,
        E::ErrorIndexNotFound(..) | E::ErrorArrayBounds(..) | E::ErrorStringBounds(..) => {
            ErrorKind::Bounds
        }
        E::ErrorFunctionNotFound(..)
        | E::ErrorMismatchDataType(..)
        | E::ErrorIndexingType(..)
        | E::ErrorFor(_) => ErrorKind::Type,
        other => panic!("an error of no kind: {other:?}"),
    };
    let at = inner.position();
    let small = |number: Option<usize>| u32::try_from(number.unwrap_or(0)).unwrap();
    Verdict::Error { kind, line: small(at.line()), column: small(at.position()) }
}
