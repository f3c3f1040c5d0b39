//! Crashes that wait for a step of a crossing: right after a departure, an arrival or its end, at either side.

use std::time::Duration;

use super::CrossingRun;
use crate::chance::{Dice, Span};
use crate::cluster::ClusterOrder;
use crate::crash::UnsyncedWrites;
use crate::crossing::beyond;
use crate::crossing::counts::note;
use crate::crossing::ledger::BorderStep;

/// A crash waits so long for its step at most. Then another one is waited for.
const PATIENCE: Duration = Duration::from_secs(3);

/// The time between two such crashes.
const PAUSE: Span = Span::ms(300, 2_500);

/// How long after a step was seen a crash comes: before the next turn, or a little later.
const AFTER: Span = Span::ms(0, 80);

/// How long whoever dies is away.
const DOWN: Span = Span::ms(50, 2_000);

/// One in so many of these crashes is a power loss of the whole sim.
const WHOLE_EVERY: u64 = 3;

/// Waits for a step.
#[derive(Debug)]
pub(super) struct StepAmbush {
    dice: Dice,
    step: BorderStep,
    at_sender: bool,
    /// When it begins to wait.
    from: Duration,
}

impl StepAmbush {
    /// Returns one that waits for a step which is drawn.
    pub(super) fn new(seed: u64) -> Self {
        let dice = Dice::new(seed, "crossing ambush");
        let mut ambush =
            Self { dice, step: BorderStep::Departure, at_sender: true, from: Duration::ZERO };
        ambush.draw(Duration::ZERO);
        ambush
    }

    fn draw(&mut self, from: Duration) {
        self.step = self.dice.pick(&BorderStep::ALL);
        self.at_sender = self.dice.below(2) == 0;
        self.from = from;
    }
}

impl CrossingRun {
    /// Lets a sim, or the server of it that is the furthest, die after the step that is waited for.
    pub(super) fn spring(&mut self, steps: &[(usize, BorderStep)]) {
        let Some(mut ambush) = self.ambush.take() else { return };
        if self.now > ambush.from + PATIENCE {
            ambush.draw(self.now);
        }
        let found = steps.iter().find(|(_, step)| *step == ambush.step);
        if let Some((sender, step)) = found.filter(|_| self.now >= ambush.from) {
            let sim = if ambush.at_sender { *sender } else { beyond(*sender) };
            note(&mut self.ledger.counts.ambushes, step.name(ambush.at_sender));
            let dice = &mut ambush.dice;
            let tails = [UnsyncedWrites::Kept, UnsyncedWrites::Lost, UnsyncedWrites::Torn];
            let (tail, down) = (dice.pick(&tails), dice.within(DOWN));
            let at = self.now + dice.within(AFTER);
            let world = &mut self.stages[sim].world;
            let order = if dice.below(WHOLE_EVERY) == 0 {
                ClusterOrder::PowerLoss { tail, down, stagger: dice.within(Span::ms(0, 300)) }
            } else {
                let heights = world.heights();
                let furthest = (0..world.seats()).max_by_key(|seat| heights[*seat]);
                let seat = furthest.expect("a sim has servers");
                ClusterOrder::Crash { seat, tail, down }
            };
            world.plan(at, order);
            let next = self.now + dice.within(PAUSE);
            ambush.draw(next);
        }
        self.ambush = Some(ambush);
    }
}
