//! What is told of a world that broke a law: all it takes to play it again, and why it matters.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use metatopia_world::agreement::{Fault, Played, Seed, Swarm, shrink};

use super::campaign::Progress;
use super::span;

/// Lines of the history before the end.
const LINES: usize = 200;

/// No world is made smaller for longer than this.
const SHRINK_FOR: Duration = Duration::from_secs(120);

/// How to play it again.
pub(crate) fn command(swarm: &Swarm) -> String {
    let mut words = format!(
        "metatopia-world replay --seed {} --virtual {}",
        swarm.seed.number,
        span::written(swarm.span)
    );
    for class in &swarm.without {
        write!(words, " --without {class}").expect("a string takes everything");
    }
    if !swarm.from.is_zero() {
        write!(words, " --from {}", span::written(swarm.from)).expect("a string takes everything");
    }
    if let Some(until) = swarm.until {
        write!(words, " --until {}", span::written(until)).expect("a string takes everything");
    }
    words
}

/// What a world stands for, which laws it broke, and its last events.
pub(crate) fn of(swarm: &Swarm) -> String {
    let written = Swarm { seed: Seed { written: true, ..swarm.seed }, ..swarm.clone() };
    let Played { outcome, .. } = written.play();
    let mut text = format!("seed {}\n{}\n", swarm.seed.number, swarm.plan());
    text.push_str("broken laws\n");
    for fault in &outcome.faults {
        writeln!(text, "  {fault}").expect("a string takes everything");
    }
    text.push_str("\nlast events\n");
    let skipped = outcome.history.len().saturating_sub(LINES);
    for line in outcome.history.iter().skip(skipped) {
        writeln!(text, "  {line}").expect("a string takes everything");
    }
    writeln!(text, "\nheights {:?}\ndigest  {:?}", outcome.heights, outcome.digest)
        .expect("a string takes everything");
    text
}

/// Makes the world smaller, and writes all about it into `folder`. Returns what to tell people.
pub(crate) fn write(found: &Swarm, fault: &Fault, folder: &Path) -> String {
    let mut progress = Progress::new();
    let mut tried = 0;
    let smallest = shrink(found, fault.law, |_| {
        tried += 1;
        progress.tell(|| format!("making the world smaller: {tried} tried"));
        progress.elapsed() < SHRINK_FOR
    });
    progress.end();
    let text = format!(
        "{} was broken\nall of it:   {}\nsmaller:     {}\n\n{}",
        fault.law,
        command(found),
        command(&smallest),
        of(&smallest)
    );
    let file = folder.join(format!("seed-{}.txt", found.seed.number));
    match fs::create_dir_all(folder).and_then(|()| fs::write(&file, &text)) {
        Ok(()) => format!("{text}\nwritten to {}\n", file.display()),
        Err(why) => format!("{text}\ncannot write {}: {why}\n", file.display()),
    }
}

/// Where reports go if nobody says otherwise.
pub(crate) fn folder() -> PathBuf {
    PathBuf::from("broken-worlds")
}
