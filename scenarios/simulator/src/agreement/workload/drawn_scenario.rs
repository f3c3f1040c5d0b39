//! What a seed stands for: which faults there are, how strong, and when.

use std::fmt;
use std::time::Duration;

use super::Swarm;
use crate::agreement::Scenario;
use crate::chance::Dice;
use crate::class::{Class, Level};
use crate::villain::ByzantineBehaviour;
use crate::weather::{FaultPlan, FaultPlanDraft, PlannedFault};

/// Seats for servers that join.
const JOINERS: usize = 2;

/// What a seed stands for where agreement is played; its scenario has no other orders than the plan's.
pub type AgreementPlan = FaultPlan<Scenario>;

impl AgreementPlan {
    pub(super) fn draw(swarm: &Swarm) -> Self {
        let seed = swarm.course.seed;
        let mut dice = Dice::new(seed.number, "swarm");
        let founders = dice.pick(&[4, 4, 4, 4, 5, 7]);
        let mut scenario = Scenario::new("swarm", seed);
        scenario.founders = founders;
        scenario.turn_length = dice.pick(&[50, 50, 50, 100]);
        scenario.snapshot_every = dice.pick(&[Some(20), Some(50), Some(200)]);
        scenario.acts = (0, Duration::ZERO);
        scenario.controls = swarm.controls;
        scenario.log_controls = swarm.log_controls;
        let mut draft = FaultPlanDraft::new(Level::Agreement, &swarm.course, founders);
        scenario.seats = draft.people(&mut scenario);
        let conditions = draft.conditions();
        scenario.conditions = conditions.clone();
        draft.draw();
        draft.plan(&swarm.course, conditions, scenario)
    }
}

impl FaultPlanDraft {
    /// Returns whether a withholder keeps back only some parts. Where turns are long, half of the withholders
    /// do.
    fn keeps_some_parts_back(&self) -> bool {
        self.dice(Class::LostPart).is_some_and(|mut dice| dice.below(2) == 0)
    }

    /// Plans who lies, who joins and who leaves. Returns how many seats there are.
    fn people(&mut self, scenario: &mut Scenario) -> usize {
        let (founders, liars) = (self.founders, self.liars());
        let mut seats = founders;
        if let Some(mut dice) = self.dice(Class::Joiner) {
            seats = founders + JOINERS;
            for seat in founders..seats {
                let at = self.until * (1 + dice.index(3) as u32) / 5;
                self.moments.push((at, PlannedFault::Join(seat)));
            }
        }
        let honest = founders - liars.len();
        if self.changes(JOINERS, 0..honest.max(1)) {
            seats = founders + JOINERS;
        }
        for (seat, class, mut dice) in liars {
            if class == Class::Twin {
                scenario.copies.push((seats, seat));
                continue;
            }
            let deed = dice.pick(&ByzantineBehaviour::of(class));
            let some = class == Class::Withholder && self.keeps_some_parts_back();
            let deed = if some { ByzantineBehaviour::WithholdSomeParts } else { deed };
            scenario.liars.push((seat, deed));
            scenario.no_demotion |= dice.below(3) == 0;
        }
        seats + scenario.copies.len()
    }
}

impl fmt::Display for AgreementPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scenario = &self.own;
        writeln!(f, "servers      {}, in {} seats", scenario.founders, scenario.seats)?;
        writeln!(f, "turn length  {} ms", scenario.turn_length)?;
        writeln!(f, "snapshots    every {} turns", scenario.snapshot_every.unwrap_or(0))?;
        writeln!(f, "signatures   {:?}", scenario.scheme)?;
        writeln!(f, "liars        {:?}", scenario.liars)?;
        writeln!(f, "twins        {:?}", scenario.copies)?;
        writeln!(f, "rotation     {}", if scenario.no_demotion { "of all" } else { "by rule" })?;
        self.write(f)
    }
}
