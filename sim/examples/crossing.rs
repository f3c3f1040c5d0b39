//! Measures what a crossing costs the servers of both sims: `cargo run --release -p metatopia-sim --example
//! crossing`, with `-- --json` one object a line. Exit code 1 when a figure is past its bound.
//!
//! Balls roll back and forth by their scripts between two sims of four servers, and the same balls roll against
//! the line, because they may not travel. Both sims hear each other in each turn, so what remains between the
//! two is the crossing: the departure, its parcel, the arrival, and what is heard of it besides. The time is
//! that of all work of a turn but for its agreement. A dispatch is heard in each turn of both.
#![expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "a measurement reads the clock, and decides nothing"
)]

use std::{
    process::ExitCode,
    time::{Duration, Instant},
};

use metatopia_math::{Fx, Vec2};
use metatopia_scripting::{ScriptState, Value};
use metatopia_sim::Genesis;

#[expect(dead_code, reason = "the tests of crossings use all of it")]
#[path = "../tests/crossing/rolling.rs"]
mod rolling;
#[expect(dead_code, reason = "the tests of crossings use all of it")]
#[path = "../tests/crossing/town.rs"]
mod town;

use crate::{
    rolling::{QUIET, ball, geneses, let_travel, package, roller, way},
    town::{Place, step, tell, town_of},
};

/// Turns that are measured of each kind.
const TURNS: u32 = 4_000;

/// The longest text that a variable of a script holds is a little longer.
const TEXT: usize = 4_000;

/// Microseconds of work of one crossing that are promised, for each of the two servers.
const BOUND: f64 = 500.0;

/// What was measured of one kind of ball.
struct Measured {
    /// The largest parcel that was under way.
    parcel: usize,
    crossings: u64,
    time: Duration,
}

/// Returns two sims, the first of which has so many balls with so many scripts, each of which remembers so many
/// letters.
fn founded(scripts: usize, letters: usize, balls: i32) -> Vec<Genesis> {
    let mut all = geneses(2, 4, 0);
    let others: Vec<_> = (1..scripts).map(|n| package(&format!("quiet-{n}"), QUIET)).collect();
    for genesis in &mut all {
        genesis.packages.extend(others.iter().map(|other| (other.id(), other.encode())));
    }
    let packages: Vec<_> =
        [roller().id()].into_iter().chain(others.iter().map(|other| other.id())).collect();
    let ScriptState(mut state) = way(1);
    let texts = (0..letters.div_ceil(TEXT)).map(|n| (n, TEXT.min(letters - n * TEXT)));
    state.extend(texts.map(|(n, bytes)| (format!("text{n}"), Value::Text("x".repeat(bytes)))));
    let state = ScriptState(state);
    for n in 0..balls {
        let place = Vec2::new(Fx::from_int(29), Fx::from_int(3 * n - 12));
        all[0].objects.push(ball(place, &packages, &state));
    }
    all
}

/// Returns how many departures both sims have judged.
fn judged(town: &[Place]) -> u64 {
    let pairs = [(0, 1), (1, 0)];
    let said = |(own, other): (usize, usize)| {
        let border = town[own].world.border(&town[other].id()).expect("a border");
        border.crossing.said.in_next
    };
    pairs.map(said).into_iter().sum()
}

fn measure(scripts: usize, letters: usize, balls: i32, travels: bool) -> Measured {
    let mut town = town_of(founded(scripts, letters, balls));
    let_travel(&mut town, travels);
    (0..10).for_each(|_| step(&mut town, 50));
    let before = judged(&town);
    let (mut time, mut parcel) = (Duration::ZERO, 0);
    for _ in 0..TURNS {
        for (own, other) in [(0, 1), (1, 0)] {
            tell(&mut town, other, own);
            let began = Instant::now();
            town[own].play(50);
            time += began.elapsed();
            let there = town[other].id();
            parcel = town[own].world.parcels(there).map(<[u8]>::len).fold(parcel, usize::max);
        }
    }
    Measured { parcel, crossings: judged(&town) - before, time }
}

fn main() -> ExitCode {
    let mut is_slow = false;
    let is_json = std::env::args().any(|argument| argument == "--json");
    for (scripts, letters, balls) in [(1, 700, 8), (3, 15_900, 1)] {
        let still = measure(scripts, letters, balls, false);
        let rolling = measure(scripts, letters, balls, true);
        assert!(still.crossings == 0 && rolling.crossings > 100, "the ball rolls as it may");
        let both = rolling.time.as_secs_f64() - still.time.as_secs_f64();
        let each = both * 1e6 / rolling.crossings as f64 / 2.0;
        is_slow |= each > BOUND;
        let turn = still.time.as_secs_f64() * 1e6 / f64::from(2 * TURNS);
        let Measured { parcel, crossings, .. } = rolling;
        if is_json {
            println!(
                "{{\"parcel_bytes\":{parcel},\"crossings\":{crossings},\"us_of_each_server\":{each:.0},\
                 \"us_at_most\":{BOUND},\"us_of_a_turn\":{turn:.0}}}"
            );
        } else {
            println!(
                "{parcel:>6} B a parcel: {each:.0} us of each server for one of {crossings} crossings, at \
                 most {BOUND}; a turn without one takes {turn:.0} us"
            );
        }
    }
    if is_slow { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
