//! `script logs` tells what scripts log, and where they fail.
//!
//! Neither is part of a state, and no server keeps it. Both follow from the state and the turns, which a
//! sim's servers sign; so this command computes the sim along, as a follower does.

use std::{fmt, time::Duration};

use clap::Args;
use metatopia_client_driver::ClientDriver;
use metatopia_sim::{Applied, LogLine, ScriptFailure};
use metatopia_types::ScriptId;
use serde::Serialize;
use tokio::time::sleep;

use super::{follow, lines::shown, packages};
use crate::cli::{console::Console, failure::Failure, session::NodeArgs};

/// The time between two questions for turns, once all are there: a few turns.
const AGAIN: Duration = Duration::from_millis(200);

#[derive(Debug, Args)]
pub(in crate::cli) struct ScriptLogsArgs {
    /// Only what this script logs: its number, or the name of the thing that runs it [default: all scripts].
    script: Option<String>,
    /// Go on until you stop it.
    #[arg(short, long)]
    follow: bool,
    #[command(flatten)]
    at: NodeArgs,
}

/// Something that a script logged, or a call of it that failed.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct ScriptLogLine {
    height: u64,
    tick: u64,
    script: u64,
    /// The place and the kind of a failure; nothing for what a script logged.
    failed: Option<String>,
    text: String,
}

impl fmt::Display for ScriptLogLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tick, script, failed, text, .. } = self;
        let text = shown(text);
        match failed {
            None => write!(f, "tick {tick}  script {script}  {text}"),
            Some(failed) => write!(f, "tick {tick}  script {script}  FAILED {failed}: {text}"),
        }
    }
}

pub(super) async fn run(args: ScriptLogsArgs, console: Console) -> Result<(), Failure> {
    let mut driver = args.at.open_to_ask().await?;
    let told = tell(&mut driver, &args, console).await;
    driver.leave().await;
    told
}

async fn tell(
    driver: &mut ClientDriver,
    args: &ScriptLogsArgs,
    console: Console,
) -> Result<(), Failure> {
    let only = match &args.script {
        None => None,
        Some(named) => Some(match named.parse() {
            Ok(number) => ScriptId(number),
            Err(_) => packages::script(driver, named).await?.script,
        }),
    };
    let mut course = follow::begin(driver, |_, _| ()).await?;
    console.note(&format!("from turn {} on", course.world().height().plus(1)));
    // A script that is gone by now may have told something before.
    let mut asked = only;
    loop {
        follow::catch_up(driver, &mut course, |applied| {
            let wanted = |script| only.is_none_or(|only| only == script);
            let lines = lines(applied, wanted);
            asked = asked.filter(|_| lines.is_empty());
            lines.iter().try_for_each(|line| console.show(line))
        })
        .await?;
        if let Some(script) = asked.take() {
            packages::script(driver, &script.to_string()).await?;
        }
        if !args.follow {
            return Ok(());
        }
        sleep(AGAIN).await;
    }
}

/// Returns what these scripts told in a turn, in the order of ticks, and of scripts in each.
pub(super) fn lines(applied: &Applied, is_wanted: impl Fn(ScriptId) -> bool) -> Vec<ScriptLogLine> {
    let height = applied.height.0;
    let logged = applied.log.iter().map(|LogLine { tick, script, text }| ScriptLogLine {
        height,
        tick: tick.0,
        script: script.0,
        failed: None,
        text: text.clone(),
    });
    let failed = applied.failures.iter().map(|failure| {
        let ScriptFailure { tick, script, kind, report } = failure;
        let place = format!("{}:{}:{}: {kind}", report.file, report.line, report.column);
        let (tick, script) = (tick.0, script.0);
        ScriptLogLine { height, tick, script, failed: Some(place), text: report.message.clone() }
    });
    let wanted = |line: &ScriptLogLine| is_wanted(ScriptId(line.script));
    let mut lines: Vec<ScriptLogLine> = logged.chain(failed).filter(wanted).collect();
    lines.sort_by_key(|line| (line.tick, line.script));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_names_file_line_column_and_kind() {
        let mut line = ScriptLogLine {
            height: 7,
            tick: 21,
            script: 3,
            failed: None,
            text: "lit\u{1b}[2J".to_owned(),
        };
        assert!(line.to_string().starts_with("tick 21  script 3  lit"));
        assert!(!line.to_string().contains('\u{1b}'));
        line.failed = Some("lamp.rhai:4:9: out of bounds".to_owned());
        let told = "tick 21  script 3  FAILED lamp.rhai:4:9: out of bounds: lit";
        assert!(line.to_string().starts_with(told), "{line}");
    }
}
