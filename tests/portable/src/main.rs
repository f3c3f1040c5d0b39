//! Prints the reports of this build: facts on standard output, times on standard error.

use std::{panic, process::ExitCode, time::Instant};

use metatopia_portable::{
    Report, deepest, hostile, letters, panics, replay, scenes, strangers, widest,
};

type Check = fn() -> Report;

fn main() -> ExitCode {
    // Panics that are asked for, and caught, are no news.
    panic::set_hook(Box::new(|_| ()));
    let checks: [(&str, Check); 8] = [
        ("replay", replay),
        ("panics", panics),
        ("deepest", deepest),
        ("widest", widest),
        ("hostile", hostile),
        ("scenes", scenes),
        ("letters", letters),
        ("strangers", strangers),
    ];
    let mut all_held = true;
    for (name, check) in checks {
        let begin = Instant::now();
        let report = check();
        eprintln!("{name} {:.3} s", begin.elapsed().as_secs_f64());
        match report.held {
            Some(held) => println!("{name}: {held} held\n{}", report.text),
            None => println!("{name}: failed\n{}", report.text),
        }
        all_held &= report.held.is_some();
    }
    if all_held { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
