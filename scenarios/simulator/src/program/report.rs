//! What is told of a world that broke a law: all it takes to play it again, and why it matters.

use std::fmt::{Display, Write as _};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use metatopia_simulator::{Breach, Level, Seed, SeedRun, shrink};

use super::campaign::CampaignProgress;
use super::span;

/// Lines of the history before the end.
const LINES: usize = 200;

/// No world is made smaller for longer than this.
const SHRINK_FOR: Duration = Duration::from_secs(120);

/// Returns the command that plays the world again.
pub(crate) fn command(level: Level, course: &SeedRun) -> String {
    let mut words = format!(
        "metatopia-simulator replay --seed {} --virtual {}",
        course.seed.number,
        span::written(course.span)
    );
    let mut add = |word: &str, value: &dyn Display| {
        write!(words, " --{word}{value}").expect("a string takes everything");
    };
    if level == Level::Whole {
        add("whole", &"");
    }
    for class in &course.without {
        add("without ", class);
    }
    if !course.from.is_zero() {
        add("from ", &span::written(course.from));
    }
    if let Some(until) = course.until {
        add("until ", &span::written(until));
    }
    words
}

/// Tells the plan of a world, which laws it broke, and its last events.
pub(crate) fn of(level: Level, course: &SeedRun) -> String {
    let seed = Seed { written: true, ..course.seed };
    let tale = level.play(&SeedRun { seed, ..course.clone() });
    let (_, plan) = level.plan(course);
    let mut text = format!("seed {}\n{plan}\nbroken laws\n", course.seed.number);
    for breach in &tale.breaches {
        writeln!(text, "  {}", breach.what).expect("a string takes everything");
    }
    text.push_str("\nlast events\n");
    let skipped = tale.history.len().saturating_sub(LINES);
    for line in tale.history.iter().skip(skipped) {
        writeln!(text, "  {line}").expect("a string takes everything");
    }
    writeln!(text, "\nheights {:?}\ndigest  {:?}", tale.heights, tale.digest)
        .expect("a string takes everything");
    text
}

/// Makes the world smaller, and writes all about it into `folder`. Returns what to tell people.
pub(crate) fn write(level: Level, found: &SeedRun, breach: &Breach, folder: &Path) -> String {
    let mut progress = CampaignProgress::new();
    let mut tried = 0;
    let (classes, _) = level.plan(found);
    let smallest = shrink(found, &classes, |course| {
        tried += 1;
        progress.tell(|| format!("making the world smaller: {tried} tried"));
        let goes_on = progress.elapsed() < SHRINK_FOR;
        goes_on.then(|| level.play(course).breaches.iter().any(|other| other.law == breach.law))
    });
    progress.end();
    let text = format!(
        "{} was broken\nall of it:   {}\nsmaller:     {}\n\n{}",
        breach.law,
        command(level, found),
        command(level, &smallest),
        of(level, &smallest)
    );
    let file = folder.join(format!("seed-{}.txt", found.seed.number));
    match fs::create_dir_all(folder).and_then(|()| fs::write(&file, &text)) {
        Ok(()) => format!("{text}\nwritten to {}\n", file.display()),
        Err(why) => format!("{text}\ncannot write {}: {why}\n", file.display()),
    }
}

/// Returns the folder of reports unless one is given.
pub(crate) fn folder() -> PathBuf {
    PathBuf::from("broken-worlds")
}
