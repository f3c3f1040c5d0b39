//! How a hostile program ends, in one line that is the same in every build.

use metatopia_scripting::{ErrorKind, ScriptHandler, ScriptProgram};
use metatopia_types::{Digest, PackageId};

use super::nowhere;

/// Compiles a program. The line of one that is refused says where.
pub(crate) fn compiled(source: &str) -> Result<ScriptHandler, String> {
    let program =
        ScriptProgram::compile(source).map_err(|found| format!("refused at {}", found[0]))?;
    let package = PackageId(Digest::ZERO);
    Ok(ScriptHandler::load(package, String::new(), &program).expect("what was just compiled"))
}

/// Runs a program, and returns how it ended, where, and after how much gas.
///
/// # Panics
/// When the executor panicked: then the program found a hole.
pub(crate) fn ended(handler: &ScriptHandler) -> String {
    match nowhere::start(handler) {
        Ok(part) => format!("well, {} gas", part.gas),
        Err(error) => {
            assert_ne!(error.kind, ErrorKind::Panic, "{error}");
            let report = &error.report;
            format!("{}, {}:{}, {} gas", error.kind, report.line, report.column, error.gas)
        }
    }
}
