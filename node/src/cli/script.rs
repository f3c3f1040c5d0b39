//! `script` checks source before it runs, and lists the scripts that run.

use std::{
    fmt,
    fs::File,
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use clap::{Args, Subcommand};
use metatopia_protocol::{Answer, Question, SCRIPTS_PER_ANSWER_MAX, ScriptEntry};
use metatopia_scripting::{Diagnostic, check as diagnose, limits::FILE_BYTES_MAX};
use metatopia_types::ScriptId;
use serde::Serialize;

use super::{console::Console, exit::Exit, failure::Failure, session::NodeArgs};

#[derive(Debug, Subcommand)]
pub(super) enum ScriptCommand {
    /// Check a script's source, and show what is wrong in which line and column. Nothing is run.
    #[command(
        after_help = "Example:\n  metatopia script check door.rhai\n\nA script with mistakes \
        ends with exit code 1."
    )]
    Check(ScriptCheckArgs),
    /// List the scripts that run, with the packages of their source.
    List(NodeArgs),
}

#[derive(Debug, Args)]
pub(super) struct ScriptCheckArgs {
    /// The source file.
    file: PathBuf,
}

#[derive(Debug, Serialize)]
struct ScriptMistake {
    line: u32,
    column: u32,
    message: String,
}

#[derive(Debug, Serialize)]
struct ScriptCheckReport {
    file: String,
    ok: bool,
    diagnostics: Vec<ScriptMistake>,
}

pub(super) fn check(args: &ScriptCheckArgs, console: Console) -> Result<(), Failure> {
    let file = args.file.display().to_string();
    let source = read(&args.file)?;
    let found = diagnose(&source);
    let ok = found.is_empty();
    if console.is_json() {
        let mistake = |d: &Diagnostic| ScriptMistake {
            line: d.line,
            column: d.column,
            message: d.message.clone(),
        };
        console.json(&ScriptCheckReport {
            file,
            ok,
            diagnostics: found.iter().map(mistake).collect(),
        })?;
        return if ok { Ok(()) } else { Err(Failure::quiet(Exit::Failed)) };
    }
    if ok {
        return console.line(&format!("{file}: {}", console.verdict(true, "fine")));
    }
    for diagnostic in &found {
        console.line(&explain(&file, &source, diagnostic))?;
    }
    let count = found.len();
    let mistakes = if count == 1 { "mistake" } else { "mistakes" };
    Err(Failure::failed(format!("{file} has {count} {mistakes}")))
}

fn read(path: &Path) -> Result<String, Failure> {
    let name = path.display();
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => Failure::not_found(format!("there is no file {name}")),
        _ => Failure::failed(format!("cannot read {name}: {error}")),
    };
    let mut bytes = Vec::new();
    let limit = FILE_BYTES_MAX as u64 + 1;
    File::open(path).map_err(failed)?.take(limit).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() > FILE_BYTES_MAX {
        let message =
            format!("{name} is longer than {FILE_BYTES_MAX} bytes, the most a script has");
        return Err(Failure::failed(message));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Failure::failed(format!("{name} is not UTF-8 from byte {at} on"))
    })
}

/// Returns the complaint, the line that it is about, and a mark under the column.
fn explain(file: &str, source: &str, diagnostic: &Diagnostic) -> String {
    let Diagnostic { line, column, message } = diagnostic;
    let text = usize::try_from(*line).ok().and_then(|n| source.lines().nth(n.checked_sub(1)?));
    let Some(text) = text else {
        return format!("{file}: {message}");
    };
    let gutter = " ".repeat(line.to_string().len());
    let mut said = format!("{file}:{line}:{column}: {message}\n {line} | {text}");
    if *column > 0 {
        // Tabs stay tabs, so that the mark stands where the terminal puts the character.
        let before = text.chars().take(*column as usize - 1);
        let blank: String = before.map(|c| if c == '\t' { c } else { ' ' }).collect();
        said.push_str(&format!("\n {gutter} | {blank}^"));
    }
    said
}

#[derive(Debug, Serialize)]
struct RunningLine {
    script: u64,
    object: u64,
    name: String,
    package: String,
    owner: Option<String>,
    failures: u64,
    last_failure: Option<(u64, String)>,
    dropped: u64,
}

impl fmt::Display for RunningLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { script, object, name, package, failures, dropped, .. } = self;
        let name = metatopia_client::text::printable(name);
        write!(f, "{script:>5}  on {name} (object {object}), package {package}")?;
        if let Some((tick, kind)) = &self.last_failure {
            write!(f, "; {failures} calls failed, the last at tick {tick}: {kind}")?;
        }
        if *dropped > 0 {
            write!(f, "; {dropped} events, timers or lines dropped")?;
        }
        Ok(())
    }
}

pub(super) async fn list(args: NodeArgs, console: Console) -> Result<(), Failure> {
    let mut after = ScriptId(0);
    loop {
        let Answer::Scripts(page) = args.ask(Question::Scripts { after }).await? else {
            return Err(
                Failure::timed_out("the node is too busy to list its scripts").hint("try again")
            );
        };
        let last = page.len() < SCRIPTS_PER_ANSWER_MAX;
        after = page.last().map_or(after, |entry| entry.script);
        show(page, &console)?;
        if last {
            return Ok(());
        }
    }
}

fn show(scripts: Vec<ScriptEntry>, console: &Console) -> Result<(), Failure> {
    for entry in scripts {
        console.show(&RunningLine {
            script: entry.script.0,
            object: entry.object.0,
            name: entry.name,
            package: entry.package.to_string(),
            owner: entry.owner.map(|key| key.to_string()),
            failures: entry.failures,
            last_failure: entry.last_failure.map(|(tick, kind)| (tick.0, kind)),
            dropped: entry.dropped,
        })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(line: u32, column: u32) -> Diagnostic {
        Diagnostic { line, column, message: "oh no".into() }
    }

    #[test]
    fn the_mark_stands_under_the_column() {
        let source = "let a = 1;\n\tlet b = ;\n";
        let said = explain("a.rhai", source, &at(2, 10));
        assert_eq!(said, "a.rhai:2:10: oh no\n 2 | \tlet b = ;\n   | \t        ^");
    }

    #[test]
    fn a_complaint_about_a_line_or_file_has_no_mark() {
        assert_eq!(explain("a", "x\n", &at(1, 0)), "a:1:0: oh no\n 1 | x");
        assert_eq!(explain("a", "x\n", &at(0, 0)), "a: oh no");
        assert_eq!(explain("a", "x\n", &at(9, 1)), "a: oh no");
    }

    #[test]
    fn a_mark_past_the_end_of_a_line_stands_behind_it() {
        assert_eq!(explain("a", "xy", &at(1, 3)), "a:1:3: oh no\n 1 | xy\n   |   ^");
        assert_eq!(explain("a", "xy", &at(1, 99)), "a:1:99: oh no\n 1 | xy\n   |   ^");
    }
}
