//! The golden log, as it is and with acts that panic.

use std::{collections::BTreeSet, fmt::Write as _, sync::Arc};

use metatopia_scenarios::golden::{self, GoldenError, ROOTS};
use metatopia_sim::{InjectedPanics, Serial, Tools, World};
use metatopia_types::{Ed25519, Outcome, Refusal};

use crate::Report;

/// So many acts of the golden log panic in [`panics`]: enough to be in all kinds of company.
const PANICS: u32 = 12;

/// Replays the golden log of the plaza, and tells the root after each height. Each turn is judged as
/// a server judges it, its signatures included. What holds is how many of the constants
/// [`ROOTS`](metatopia_scenarios::golden::ROOTS) were met.
#[must_use]
pub fn replay() -> Report {
    let mut text = String::new();
    let mut held = 0;
    let end = golden::replay(&Serial, |world| {
        tell(&mut text, world);
        held += u32::from(ROOTS.iter().any(|(height, _)| *height == world.height()));
    });
    Report::new(text, end.map(|_| held))
}

/// Why the log cannot be replayed with panics.
#[derive(Debug, thiserror::Error)]
enum PanicsError {
    #[error(transparent)]
    Golden(#[from] GoldenError),
    #[error("{found} acts crashed, not {expected}")]
    Crashed { found: u32, expected: u32 },
}

/// Replays the golden log while acts here and there panic, and tells the root after each height in
/// which one did, and at the end. What holds is how many acts failed by that, and no others.
#[must_use]
pub fn panics() -> Report {
    let mut text = String::new();
    let outcome = replay_with_panics(&mut text);
    Report::new(text, outcome)
}

fn replay_with_panics(text: &mut String) -> Result<u32, PanicsError> {
    let turns = golden::turns()?;
    let acts: Vec<_> = turns.iter().flat_map(|turn| turn.body.acts()).collect();
    let every = acts.len().div_ceil(PANICS as usize).max(1);
    let panic_in: BTreeSet<_> = acts.iter().step_by(every).map(|act| act.id()).collect();
    let tools = Tools::new(Arc::new(Ed25519));
    let mut world = World::genesis(&golden::genesis(), &tools).map_err(GoldenError::from)?;
    world.inject(InjectedPanics { panic_in });

    let mut found = 0;
    for turn in &turns {
        let before = found;
        for outcome in world.apply(turn, &Serial).outcomes {
            found += u32::from(outcome == Outcome::Refused(Refusal::Crashed));
        }
        if found > before {
            tell(text, &world);
        }
    }
    tell(text, &world);
    let expected = PANICS;
    if found == expected { Ok(found) } else { Err(PanicsError::Crashed { found, expected }) }
}

/// One line about the world as it is.
fn tell(text: &mut String, world: &World) {
    writeln!(text, "{} {}", world.height(), world.root()).expect("a string takes every line");
}
