//! `script test` runs the tests of a package in a small simulated sim.

use std::{fmt, path::PathBuf};

use clap::Args;
use metatopia_scenarios::{RehearsedTest, rehearse};
use serde::Serialize;

use super::{check::ImportArgs, lines::shown};
use crate::cli::{console::Console, exit::Exit, failure::Failure};

#[derive(Debug, Args)]
pub(in crate::cli) struct ScriptTestArgs {
    /// The folder of the package.
    dir: PathBuf,
    #[command(flatten)]
    imports: ImportArgs,
    /// Run only the test of this name.
    #[arg(long, value_name = "TEST")]
    only: Option<String>,
}

/// A test that was run, as programs read of it.
#[derive(Debug, Serialize)]
struct TestLine {
    test: String,
    passed: bool,
    /// The place and the reason of a failure: `file:line:column: message`.
    why: Option<String>,
    log: Vec<String>,
}

impl fmt::Display for TestLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = self.log.iter().map(|line| format!("    {}\n", shown(line)));
        let log: String = lines.collect();
        match &self.why {
            None => write!(f, "{log}passed  {}", self.test),
            Some(why) => write!(f, "{log}FAILED  {}: {}", self.test, shown(why)),
        }
    }
}

pub(super) fn run(args: &ScriptTestArgs, console: Console) -> Result<(), Failure> {
    let folder = args.imports.folder(&args.dir)?;
    let package = folder.checked(console)?;
    let mut tests = match rehearse(folder.name(), &package, folder.known()) {
        Ok(tests) => tests,
        Err(found) => return Err(folder.tell(&found, console)?),
    };
    if let Some(only) = &args.only {
        tests.retain(|test| test.name == *only);
        if tests.is_empty() {
            return Err(Failure::not_found(format!("{} has no test {only}", folder.name())));
        }
    }
    let failed = tests.iter().filter(|test| test.mistake.is_some()).count();
    let count = tests.len();
    for RehearsedTest { name, mistake, log, .. } in tests {
        let why = mistake.map(|mistake| mistake.to_string());
        console.show(&TestLine { test: name, passed: why.is_none(), why, log })?;
    }
    match failed {
        0 => Ok(()),
        _ if console.is_json() => Err(Failure::quiet(Exit::Failed)),
        _ => Err(Failure::failed(format!("{failed} of {count} tests failed"))),
    }
}
