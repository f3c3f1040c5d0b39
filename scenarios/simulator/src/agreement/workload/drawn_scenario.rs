//! What a seed stands for: which faults there are, how strong, and when.

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use super::Swarm;
use crate::agreement::{ByzantineBehaviour, Scenario};
use crate::chance::{Dice, Span};
use crate::class::{Class, Level};
use crate::storm::Storm;
use crate::weather::{FaultPlanDraft, PlannedFault, write_all};

/// Seats for servers that join.
const JOINERS: usize = 2;

/// See the module.
#[derive(Debug, Clone)]
pub struct AgreementPlan {
    /// Classes of faults that may happen.
    pub classes: BTreeSet<Class>,
    /// Servers, liars and conditions, and all trouble whose victims are drawn.
    pub scenario: Scenario,
    /// The other trouble, by time.
    pub moments: Vec<(Duration, PlannedFault)>,
    /// Faults begin here.
    pub from: Duration,
    /// Faults stop here.
    pub calm_from: Duration,
    /// The run ends here.
    pub end: Duration,
}

impl AgreementPlan {
    pub(super) fn draw(swarm: &Swarm) -> Self {
        let seed = swarm.seed;
        let mut dice = Dice::new(seed.number, "swarm");
        let founders = dice.pick(&[4, 4, 4, 4, 5, 7]);
        let mut scenario = Scenario::new("swarm", seed);
        scenario.founders = founders;
        scenario.turn_length = dice.pick(&[50, 50, 50, 100]);
        scenario.snapshot_every = dice.pick(&[Some(20), Some(50), Some(200)]);
        scenario.acts = (0, Duration::ZERO);
        scenario.controls = swarm.controls;
        scenario.log_controls = swarm.log_controls;
        let until = Swarm::new(seed, swarm.span).calm_from();
        let level = Level::Agreement;
        let mut draft = FaultPlanDraft::new(level, seed.number, founders, until, &swarm.without);
        scenario.seats = draft.people(&mut scenario);
        scenario.conditions = draft.conditions();
        draft.draw();
        let (from, calm_from, end) = (swarm.from, swarm.calm_from(), swarm.span);
        draft.narrow(from, calm_from);
        let FaultPlanDraft { on: classes, orders, moments, .. } = draft;
        scenario.orders = orders;
        Self { classes, scenario, moments, from, calm_from, end }
    }

    /// All its trouble.
    pub(super) fn storm(&self) -> Storm {
        let (conditions, moments) = (self.scenario.conditions.clone(), self.moments.clone());
        Storm { conditions, moments, from: self.from, until: self.calm_from }
    }
}

impl FaultPlanDraft {
    /// Where turns are long, half of those who withhold keep back some parts.
    fn keeps_some_parts_back(&self) -> bool {
        self.dice(Class::LostPart).is_some_and(|mut dice| dice.below(2) == 0)
    }

    /// Who lies, who joins and who leaves. Returns how many seats there are.
    fn people(&mut self, scenario: &mut Scenario) -> usize {
        let mut seats = self.founders;
        if self.on.contains(&Class::Joiner) || self.on.contains(&Class::SetChange) {
            seats += JOINERS;
        }
        // The last founders lie: nobody else depends on where they sit.
        let mut liar = self.founders;
        for class in Class::LIARS {
            let Some(mut dice) = self.dice(*class) else { continue };
            liar -= 1;
            if *class == Class::Twin {
                scenario.copies.push((seats, liar));
                continue;
            }
            let deeds: Vec<ByzantineBehaviour> = ByzantineBehaviour::ALL
                .iter()
                .copied()
                .filter(|deed| deed.class() == *class)
                .collect();
            let deed = dice.pick(&deeds);
            let some = *class == Class::Withholder && self.keeps_some_parts_back();
            let deed = if some { ByzantineBehaviour::WithholdSomeParts } else { deed };
            scenario.liars.push((liar, deed));
            scenario.no_demotion |= dice.below(3) == 0;
        }
        let founders = self.founders;
        if let Some(mut dice) = self.dice(Class::Joiner) {
            for seat in founders..founders + JOINERS {
                let at = self.until * (1 + dice.index(3) as u32) / 5;
                self.moments.push((at, PlannedFault::Join(seat)));
            }
        }
        if let Some(mut dice) = self.dice(Class::SetChange) {
            let mut at = dice.within(Span::ms(1_000, 10_000));
            for seat in founders..founders + JOINERS {
                self.moments.push((at, PlannedFault::Promote(seat)));
                at += dice.within(Span::ms(2_000, 12_000));
                self.moments.push((at, PlannedFault::Remove(dice.index(liar.max(1)))));
                at += dice.within(Span::ms(2_000, 12_000));
            }
            self.moments.retain(|(at, _)| *at < self.until);
        }
        seats + scenario.copies.len()
    }
}

impl fmt::Display for AgreementPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { classes, scenario, moments, from, calm_from, end } = self;
        let names: Vec<&str> = classes.iter().map(|class| class.name()).collect();
        writeln!(f, "servers      {}, in {} seats", scenario.founders, scenario.seats)?;
        writeln!(f, "turn length  {} ms", scenario.turn_length)?;
        writeln!(f, "snapshots    every {} turns", scenario.snapshot_every.unwrap_or(0))?;
        writeln!(f, "signatures   {:?}", scenario.scheme)?;
        writeln!(f, "liars        {:?}", scenario.liars)?;
        writeln!(f, "twins        {:?}", scenario.copies)?;
        writeln!(f, "rotation     {}", if scenario.no_demotion { "of all" } else { "by rule" })?;
        writeln!(
            f,
            "faults       from {from:.1?} to {calm_from:.1?}, the world ends at {end:.1?}"
        )?;
        writeln!(f, "classes      {}", names.join(" "))?;
        writeln!(f, "conditions   {:?}", scenario.conditions)?;
        write_all(f, &scenario.orders, moments)
    }
}
