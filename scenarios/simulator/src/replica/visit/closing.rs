//! How a story ends: everybody learns what became of their acts, and every log is read and played
//! again.

use std::collections::BTreeMap;
use std::time::Duration;

use metatopia_oracle::Law;
use metatopia_protocol::Goodbye;
use metatopia_replica::keeper::newest_state;
use metatopia_types::{Digest, Height, limits::ROOT_LAG};

use super::{ReplicaStage, TURNS_AFTER};
use crate::replica::account::{Account, check_person};
use crate::replica::newcomer::Newcomer;
use crate::replica::oracle::{DecidedTurns, TurnLog};

impl ReplicaStage {
    /// Ends the visit: nobody does anything new, and all faults stop. Plays until everybody knows what became
    /// of their acts, every server has caught up, and what logs lack came back. Then every log is read,
    /// compared and played again.
    #[must_use]
    pub fn finish(mut self, patience: Duration) -> Account {
        let now = self.world.now();
        for person in &mut self.people {
            person.manner.until = person.manner.until.min(now);
        }
        self.world.heal();
        let limit = now + patience;
        let settled = self.run_till(limit, |stage| {
            let mut people = stage.people.iter();
            people.all(|person| person.ended.is_some() || person.is_settled())
                && stage.newcomers.iter().all(Newcomer::is_in)
        });
        let target = self.world.top() + TURNS_AFTER;
        let caught_up = settled && self.run_till(limit, |stage| stage.all_applied(target));
        if !caught_up {
            let heights = self.world.heights();
            let (law, what) =
                if settled { (Law::Behind, "caught up") } else { (Law::LateAct, "settled") };
            let fault = format!("not {what} after {patience:?}: heights {heights:?}");
            self.world.cluster.oracle.blame(None, law, fault);
        }
        if self.world.is_sound() {
            self.fill_gaps();
            self.pass_flips(patience);
        }
        self.account()
    }

    /// Plays on if a bit flipped in one of the last turns: its server can know that its state is wrong
    /// only from a decided header that states the right root.
    fn pass_flips(&mut self, patience: Duration) {
        let limit = self.world.now() + patience;
        if !self.run_till(limit, Self::is_past_flips) {
            let fault =
                format!("not past the last flip after {patience:?}: {:?}", self.world.heights());
            self.world.cluster.oracle.blame(None, Law::Behind, fault);
        }
    }

    /// Returns whether every server has applied so many turns after each flip that it knows which state was
    /// right.
    fn is_past_flips(&self) -> bool {
        let top = self.world.top();
        let heights = self.setting.own.flips.iter().map(|flip| flip.height.0);
        heights.filter(|flip| *flip <= top).all(|flip| self.all_applied(flip + ROOT_LAG + 1))
    }

    /// Ends here and now, whatever is under way: for a world that is not to go on.
    #[must_use]
    pub fn leave(mut self) -> Account {
        for person in &mut self.people {
            person.ended.get_or_insert(Goodbye::Stopping);
        }
        self.account()
    }

    /// Reads every log, compares them, and plays the longest one again.
    #[must_use]
    pub fn account(self) -> Account {
        let heights = self.world.heights();
        let (mut logs, mut states) = (Vec::new(), Vec::new());
        let mut world = self.world;
        let mut seats: Vec<usize> = (0..world.seats()).collect();
        seats.retain(|seat| world.is_wanted(*seat) && world.cluster.is_honest(*seat));
        for seat in seats {
            // Even if the power failed everywhere at this very moment.
            let disk = world.salvaged(seat);
            match TurnLog::read(&self.setting, seat, &disk) {
                Ok(log) => {
                    let fetched = |to: &Height| {
                        let mut states = world.cluster.replaced.iter();
                        states.any(|(_, by, height)| (*by, height) == (seat, to))
                    };
                    let harmed = world.cluster.harmed.contains(&seat);
                    if let Some(to) = log.jumps.iter().find(|to| !harmed && !fetched(to)) {
                        let what = format!("the log leaves out turns up to {to}");
                        world.cluster.oracle.blame(Some(seat), Law::Lost, what);
                    }
                    logs.push(log);
                }
                Err(error) => world.cluster.oracle.blame(Some(seat), Law::Lost, error),
            }
            states.extend(newest_state(&disk, &self.setting.tools()).0);
        }
        let DecidedTurns { turns, places } =
            world.cluster.oracle.close(world.now(), &self.setting, &logs, states);
        // Where nobody keeps all of the past, servers may have forgotten what not all of them hold.
        let founders = logs.iter().filter(|log| log.seat < self.setting.founders);
        let held = |height| founders.clone().all(|log| log.decisions.contains_key(&height));
        let forgotten = |height| self.setting.forgets() && !held(height);
        for person in &self.people {
            for (law, what) in check_person(person, &places, &forgotten) {
                world.cluster.oracle.blame(None, law, what);
            }
        }
        let mut bytes = world.digest().0.to_vec();
        bytes.extend_from_slice(self.frames.finalize().as_bytes());
        let times = turns.values().map(|turn| turn.header.time).collect();
        let mut built: BTreeMap<usize, Vec<Height>> = BTreeMap::new();
        for (height, turn) in &turns {
            let builder = turn.header.proposer;
            let seat = (0..world.seats()).find(|seat| self.setting.name(*seat) == builder);
            built.entry(seat.unwrap_or(usize::MAX)).or_default().push(*height);
        }
        let first = |height| world.cluster.oracle.first_at(height);
        let decided = turns.iter().filter_map(|(height, turn)| {
            first(*height).map(|at| (height.0, (at, turn.header.round.0)))
        });
        let mut fired = world.fired();
        fired.add(&world.cluster.fired);
        Account {
            decided: decided.collect(),
            heights,
            fired,
            took: world.now(),
            events: world.trace().events(),
            history: world.trace().lines().map(str::to_owned).collect(),
            faults: world.cluster.oracle.faults().to_vec(),
            people: self.people,
            turns: turns.len(),
            times,
            built,
            acts: places.len(),
            crashes: world.crashes(),
            servers: world.cluster,
            digest: Digest::of("metatopia simulated visit v1", &bytes),
        }
    }
}
