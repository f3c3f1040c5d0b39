//! How a crossing begins: borders open, things may travel, and people come.

use std::time::Duration;

use metatopia_types::Traveller;

use super::{BorderWalker, CrossingRun, SIMS, both};
use crate::chance::Span;
use crate::crossing::beyond;
use crate::replica::{Person, PersonProfile};

/// Whoever is driven from outside does nothing of their own accord.
pub(super) const DRIVEN: PersonProfile = PersonProfile {
    pace: Span::ms(500, 500),
    until: Duration::ZERO,
    proves: false,
    watches: false,
};

impl CrossingRun {
    /// Opens the border on both sides, lets everything travel, and waits until all walkers are there.
    pub(super) fn set_up(&mut self) -> Result<(), String> {
        let admin = self.plan.walker(0);
        for stage in &mut self.stages {
            let person = Person::new(stage.setting(), 0, 0, DRIVEN);
            stage.invite(Duration::ZERO, person);
        }
        self.wait("admins are there", |states| {
            both(states, |_, state| state.avatar(&admin).is_some())
        })?;
        for sim in SIMS {
            self.order_border(sim, &self.opening(sim));
        }
        self.wait("borders are open", |states| {
            both(states, |_, state| {
                let borders = state.borders();
                borders.first().is_some_and(|border| border.wall.is_none())
            })
        })?;
        self.let_travel(true);
        self.wait("all things that can be pushed may travel", |states| {
            both(states, |_, state| {
                let things = state.objects().filter(|seen| seen.player.is_none());
                things.filter(|seen| seen.movable).all(|seen| seen.travels)
            })
        })?;
        self.invite_walkers();
        let walkers: Vec<_> = self.walkers.iter().map(|walker| walker.key).collect();
        self.wait("walkers are there", |states| {
            let is_there = |key| states.iter().any(|state| state.avatar(key).is_some());
            walkers.iter().all(is_there)
        })?;
        walkers.into_iter().for_each(|key| self.ledger.expect(Traveller::Person(key)));
        Ok(())
    }

    /// Invites the walkers. Each has a session in both sims, and logs in to one.
    fn invite_walkers(&mut self) {
        for number in 1..=self.plan.walkers {
            let home = usize::from(number % 2 == 1);
            let persons = SIMS.map(|sim| {
                let stage = &mut self.stages[sim];
                let node = number as usize % self.plan.servers;
                let person = Person::new(stage.setting(), number, node, DRIVEN);
                let person = if sim == home { person } else { person.walking_in() };
                stage.invite(self.now, person)
            });
            let walker = BorderWalker::new(self.plan.walker(number), number, persons, beyond(home));
            self.walkers.push(walker);
        }
    }
}
