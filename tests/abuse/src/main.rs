//! Plays attacks that cost an attacker little against real servers and against the sim, and holds
//! what they do against bounds.

mod attacks;
mod client;
mod cluster;
mod finding;

use std::{path::PathBuf, process::ExitCode, time::Duration};

use clap::Parser;
use metatopia_client_driver::NodeUrl;

use crate::{
    attacks::{ATTACKS, Attack, Play, rage},
    finding::Finding,
};

/// Attacks that cost an attacker little, beside the bounds that must hold.
#[derive(Debug, Parser)]
#[command(after_help = "Examples:\n  \
    metatopia-abuse                      every attack\n  \
    metatopia-abuse seats pings --json   two of them, one JSON object a line\n\n\
    Exit codes:\n  0   all bounds held\n  \
    1   a figure past its bound, or an attack that could not be played\n  2   usage")]
struct AbuseArgs {
    /// Only these attacks [default: all].
    #[arg(value_name = "ATTACK")]
    attacks: Vec<String>,
    /// Plays a short form of each attack.
    #[arg(long)]
    short: bool,
    /// Decides what is left to chance.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The program under attack [default: `metatopia` beside this one].
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// Prints one JSON object a line.
    #[arg(long)]
    json: bool,
    /// Be the hostile clients of these servers for so many seconds, and nothing else.
    #[arg(long, hide = true, value_delimiter = ',', requires = "seconds")]
    enemies_of: Vec<NodeUrl>,
    #[arg(long, hide = true)]
    seconds: Option<u64>,
    /// Lists the attacks.
    #[arg(long)]
    list: bool,
}

fn main() -> ExitCode {
    let arguments = AbuseArgs::parse();
    if arguments.list {
        ATTACKS.iter().for_each(|attack| println!("{:<12} {}", attack.name, attack.about));
        return ExitCode::SUCCESS;
    }
    if let Some(seconds) = arguments.seconds {
        return match rage(&arguments.enemies_of, Duration::from_secs(seconds)) {
            Ok(()) => ExitCode::SUCCESS,
            Err(why) => {
                eprintln!("error: {why}");
                ExitCode::FAILURE
            }
        };
    }
    let chosen = match choose(&arguments.attacks) {
        Ok(chosen) => chosen,
        Err(unknown) => {
            let names: Vec<_> = ATTACKS.iter().map(|attack| attack.name).collect();
            eprintln!("error: no attack is called `{unknown}`; there are {}", names.join(", "));
            return ExitCode::from(2);
        }
    };
    let beside = || std::env::current_exe().map(|own| own.with_file_name("metatopia"));
    let program = match arguments.program.clone().map_or_else(beside, Ok) {
        Ok(program) => program,
        Err(error) => {
            eprintln!(
                "error: where this program is cannot be known: {error}; name the other by --program"
            );
            return ExitCode::FAILURE;
        }
    };
    let play = Play { program, short: arguments.short, seed: arguments.seed };
    let mut all_held = true;
    for attack in chosen {
        eprintln!("{}: {}", attack.name, attack.about);
        match (attack.play)(&play) {
            Ok(findings) => findings.iter().for_each(|finding| {
                all_held &= finding.ok;
                print(finding, arguments.json);
            }),
            Err(why) => {
                all_held = false;
                eprintln!("error: {}: {why}", attack.name);
            }
        }
    }
    if all_held { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Returns the attacks of these names, or the first name that is none.
fn choose(names: &[String]) -> Result<Vec<&'static Attack>, &str> {
    if names.is_empty() {
        return Ok(ATTACKS.iter().collect());
    }
    let find = |name: &str| ATTACKS.iter().find(|attack| attack.name == name);
    names.iter().map(|name| find(name).ok_or(name.as_str())).collect()
}

fn print(finding: &Finding, json: bool) {
    if json {
        println!("{}", serde_json::to_string(finding).expect("numbers and text"));
        return;
    }
    let Finding { attack, value, bound, unit, ok, control, slowness, note } = finding;
    let beside = control.map_or(String::new(), |control| format!(", {control:.1} without"));
    let pace = slowness.map_or(String::new(), |times| format!(" on this machine (x {times:.2})"));
    let verdict = if *ok { "ok" } else { "PAST ITS BOUND" };
    let value = format!("{value:.2}{beside}");
    println!("{attack:<12} {value} {unit:<10} bound {bound:.1}{pace}  {verdict}  {note}");
}
