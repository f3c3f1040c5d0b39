//! 64 keys attach what they may, and every script works to its limit.
//!
//! Played in this process against the sim: a plaza that is full of the keys' things, with 16 scripts of
//! each key. What a recipe of scripts costs is the processor time of one thread for a whole turn: its
//! acts, its three ticks and its root. The turns are played three times, one whole play after the other,
//! which do the very same. Of each turn the shortest time counts, for others use the machine too, and
//! what slows it down lasts longer than a turn. Of all turns after the first ones the longest counts.
//! What one unit of gas costs is told beside it.
//!
//! The worst recipes are played once more in a world where one script of each thing keeps a heap of
//! things awake that can be pushed, as many as the rules allow.

mod crowd;
mod recipes;

use std::time::Duration;

use metatopia_sim::{Applied, Serial, Stage, Watch, World};

use self::{
    crowd::Occupants,
    recipes::{Recipe, idle, recipes},
};
use super::{Play, TURN_MS_MAX, processor, worst_call, yardstick::Yardstick};
use crate::finding::Finding;

const NAME: &str = "scripts";

/// Sources from the bench of calls that are tried: those that cost most for a unit of gas.
const DEAREST: usize = 8;

/// Turns that are played first: scripts begin, inboxes fill, and what the first turn paid from savings
/// is gone.
const WARM_UP: u64 = 80;
const WARM_UP_SHORT: u64 = 30;

/// Turns that are measured of each recipe, and of the worst ones.
const LOOKED_AT: u64 = 10;
const TURNS: u64 = 300;
const TURNS_SHORT: u64 = 40;

/// So many of the worst recipes are measured at length.
const WORST: usize = 4;

/// Plays of the same turns.
const PLAYS: usize = 3;

/// What a recipe came to.
struct TimedRecipe {
    recipe: Recipe,
    /// The longest turn.
    worst: Duration,
    /// The time of all turns.
    all: Duration,
    /// Gas that scripts used in them.
    gas: u64,
    /// Where the time of the longest turn went.
    stages: StageTimes,
}

impl TimedRecipe {
    /// Nanoseconds of a unit of gas, without what the world costs whose scripts are idle.
    fn price(&self, idle: Duration) -> u128 {
        self.all.saturating_sub(idle).as_nanos() / u128::from(self.gas.max(1))
    }
}

pub(super) fn play(play: &Play) -> Result<Vec<Finding>, String> {
    let (warm_up, turns) = if play.short { (WARM_UP_SHORT, TURNS_SHORT) } else { (WARM_UP, TURNS) };
    let yardstick = Yardstick::at_start();
    let control = measure(idle(), warm_up, turns)?;
    let mut measured = Vec::new();
    for recipe in recipes(worst_call::dearest(play, DEAREST)?) {
        let one = measure(recipe, warm_up, LOOKED_AT)?;
        tell(&one, control.all * u32::try_from(LOOKED_AT).unwrap_or(1) / turns as u32);
        measured.push(one);
    }
    measured.sort_by_key(|one| std::cmp::Reverse(one.worst));
    measured.truncate(WORST);
    let worst = measured.into_iter().map(|one| one.recipe);
    let mut at_length = Vec::new();
    for recipe in worst.flat_map(|recipe| [recipe.beside_a_heap(), Some(recipe)]).flatten() {
        let one = measure(recipe, warm_up, turns)?;
        tell(&one, control.all);
        at_length.push(one);
    }
    let (heap, fixed): (Vec<_>, Vec<_>) = at_length.into_iter().partition(|one| one.recipe.movable);
    let slowness = yardstick.at_end();
    Ok(vec![judge(fixed, slowness, &control)?, judge(heap, slowness, &control)?])
}

/// Judges the longest turn of some recipes.
fn judge(
    recipes: Vec<TimedRecipe>,
    slowness: f64,
    control: &TimedRecipe,
) -> Result<Finding, String> {
    let worst = recipes.into_iter().max_by_key(|one| one.worst).ok_or("there are no recipes")?;
    let note = format!(
        "longest of all turns, each the shortest of {PLAYS}: {}; a unit of gas costs {} ns",
        worst.recipe.name,
        worst.price(control.all),
    );
    let finding = Finding::at_most_ms(NAME, milliseconds(worst.worst), TURN_MS_MAX, slowness);
    Ok(finding.beside(milliseconds(control.worst)).noted(note))
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}

fn tell(one: &TimedRecipe, idle: Duration) {
    eprintln!(
        "  {:7.3} ms, {:3} ns a unit, {:?}: {}",
        milliseconds(one.worst),
        one.price(idle),
        one.stages,
        one.recipe.name
    );
}

/// Plays a recipe for so many turns after so many.
fn measure(recipe: Recipe, warm_up: u64, turns: u64) -> Result<TimedRecipe, String> {
    let mut crowd = Occupants::assemble(&recipe)?;
    for _ in 0..warm_up {
        let turn = crowd.turn();
        crowd.apply(&turn, &mut StageTimes::default());
    }
    let begin = crowd.world().clone();
    let gas = |world: &World| world.scripts().map(|script| script.gas_used).sum::<u64>();
    // The first turn gives each world a state of its own.
    let (mut played, mut before) = (Vec::new(), 0);
    for n in 0..=turns {
        if n == 1 {
            before = gas(crowd.world());
        }
        let turn = crowd.turn();
        let mut stages = StageTimes::default();
        crowd.apply(&turn, &mut stages);
        played.push((turn, crowd.world().root(), stages));
    }
    for _ in 1..PLAYS {
        let mut world = begin.clone();
        for (turn, root, best) in &mut played {
            let mut stages = StageTimes::default();
            let applied: Applied = stages.time(|stages| world.apply_watched(turn, &Serial, stages));
            assert_eq!(applied.root, *root, "worlds that did the same");
            if stages.all() < best.all() {
                *best = stages;
            }
        }
    }
    let gas = gas(crowd.world()).saturating_sub(before);
    let all = played.iter().skip(1).map(|(_, _, best)| best.all()).sum();
    let longest = played.into_iter().skip(1).max_by_key(|(_, _, best)| best.all());
    let (_, _, stages) = longest.ok_or("no turn was measured")?;
    Ok(TimedRecipe { recipe, worst: stages.all(), all, gas, stages })
}

/// Processor time of the stages of a turn.
#[derive(Clone, Default)]
struct StageTimes {
    spent: [Duration; Stage::ALL.len()],
    now: Option<(Stage, Duration)>,
}

impl StageTimes {
    /// Times a turn.
    fn time<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let done = work(self);
        self.end(processor::time());
        done
    }

    fn end(&mut self, at: Duration) {
        if let Some((stage, since)) = self.now.take() {
            self.spent[stage as usize] += at.saturating_sub(since);
        }
    }

    fn all(&self) -> Duration {
        self.spent.iter().sum()
    }
}

impl Watch for StageTimes {
    fn enter(&mut self, stage: Stage) {
        let at = processor::time();
        self.end(at);
        self.now = Some((stage, at));
    }
}

impl std::fmt::Debug for StageTimes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (stage, spent) in Stage::ALL.iter().zip(self.spent) {
            let space = if *stage == Stage::Acts { "" } else { " " };
            write!(f, "{space}{} {:.1}", stage.name(), milliseconds(spent))?;
        }
        Ok(())
    }
}
