//! The law of the ledger: everybody and everything is in one place, and in the end nobody is stuck.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use metatopia_sim::{Wall, World};
use metatopia_types::{BorderDeparture, Traveller};

use super::{BothStates, TripLedger, brought};
use crate::crossing::{SIMS, beyond};

impl TripLedger {
    /// Checks that everybody and everything is in one place: here in one sim, or departed and not taken.
    pub(super) fn check(&mut self, now: Duration, states: &BothStates) {
        let mut places: BTreeMap<Traveller, usize> = BTreeMap::new();
        let given_up = SIMS.map(|sim| self.given_up(states, sim));
        for sim in SIMS {
            let under_way = self.under_way(states, sim);
            let here = here(&states[sim]).into_iter().filter(|one| !given_up[sim].contains(one));
            for traveller in here.chain(under_way) {
                *places.entry(traveller).or_default() += 1;
            }
        }
        let known = self.known.clone();
        for traveller in known {
            let found = places.get(&traveller).copied().unwrap_or(0);
            if found == 1 && !given_up.iter().any(|these| these.contains(&traveller)) {
                // One of her avatars has ended.
                self.doubled.remove(&traveller);
            }
            let is_out = found == 0 && self.thrown_out.contains(&traveller);
            if found != 1 && !is_out && !(found == 2 && self.doubled.contains(&traveller)) {
                let heights = SIMS.map(|sim| states[sim].height().0);
                let what = format!("{traveller:?} is in {found} places after turns {heights:?}");
                self.blame(now, &what);
                self.known.remove(&traveller);
            }
        }
    }

    /// Notes who is banned where she has her avatar, or had it last: she is thrown out, and nowhere until she logs in
    /// again. Whom a sim gives back came home to the other one, and has no avatar there if it banned her.
    pub(super) fn note_bans(&mut self, states: &BothStates) {
        let given_up = SIMS.map(|sim| self.given_up(states, sim));
        for traveller in &self.known {
            let Traveller::Person(key) = traveller else { continue };
            for sim in SIMS {
                if given_up[sim].contains(traveller) {
                    self.last.insert(*traveller, beyond(sim));
                }
            }
            let is_in = |sim: usize| {
                states[sim].avatar(key).is_some() && !given_up[sim].contains(traveller)
            };
            for sim in SIMS.into_iter().filter(|sim| is_in(*sim)) {
                self.last.insert(*traveller, sim);
                self.thrown_out.remove(traveller);
            }
            let last = self.last.get(traveller);
            if last.is_some_and(|sim| states[*sim].ban(key).is_some()) {
                self.thrown_out.insert(*traveller);
            }
        }
    }

    /// Says whether nobody is thrown out.
    pub(in crate::crossing) fn is_everybody_in(&self) -> bool {
        self.thrown_out.is_empty()
    }

    /// Says whether somebody or something has departed and has not been judged.
    pub(in crate::crossing) fn is_under_way(&self, traveller: &Traveller) -> bool {
        let mut trips = self.trips.values().filter(|trip| !trip.is_over);
        trips.any(|trip| trip.travellers.contains(traveller))
    }

    /// Returns what is still here and came home to the neighbour when this sim was given up: it is given back with
    /// the next word of the neighbour, and does not leave before.
    fn given_up(&self, states: &BothStates, sim: usize) -> BTreeSet<Traveller> {
        let borders = self.border(states, sim).zip(self.border(states, beyond(sim)));
        let Some((here, there)) = borders else { return BTreeSet::new() };
        if there.crossing.said.epoch <= here.crossing.said.taken_up {
            return BTreeSet::new();
        }
        let numbers = there.crossing.said.came_home.iter();
        let pinned = numbers.filter_map(|number| here.crossing.pinned.get(number));
        pinned.flatten().copied().collect()
    }

    /// Returns who and what departed from a sim and was not taken.
    fn under_way(&self, states: &BothStates, sim: usize) -> Vec<Traveller> {
        let Some(border) = self.border(states, sim) else { return Vec::new() };
        let there = self.border(states, beyond(sim)).map(|border| &border.crossing.said);
        let is_away = |departure: &&BorderDeparture| {
            let Some(there) = there else { return true };
            let verdict = there.verdicts.iter().find(|verdict| verdict.number == departure.number);
            verdict.map_or(departure.number >= there.in_next, |verdict| verdict.refused.is_some())
        };
        let away = border.crossing.said.departures.iter().filter(is_away);
        away.flat_map(|departure| brought(&states[sim], self.ids[beyond(sim)], departure)).collect()
    }

    /// Checks that all is over: everybody and everything is here in one sim, and nothing is pending.
    pub(in crate::crossing) fn check_end(&mut self, now: Duration, states: &BothStates) {
        let mut places: BTreeMap<Traveller, usize> = BTreeMap::new();
        for sim in SIMS {
            for traveller in here(&states[sim]) {
                *places.entry(traveller).or_default() += 1;
            }
        }
        for traveller in self.known.clone() {
            let found = places.get(&traveller).copied().unwrap_or(0);
            if found != 1 && !(found == 2 && self.doubled.contains(&traveller)) {
                self.blame(now, &format!("in the end {traveller:?} is in {found} sims"));
            }
        }
        if !is_quiet(states) {
            let borders = SIMS.map(|sim| states[sim].borders());
            self.blame(
                now,
                &format!("in the end somebody is stuck, or a border is closed: {borders:?}"),
            );
        }
    }
}

/// Says whether nothing is under way over the border, nothing pinned, and the border open. An order of an admin that
/// waited for its servers may give the neighbour up after the end of the faults, and the neighbour has to hear of it.
pub(in crate::crossing) fn is_quiet(states: &BothStates) -> bool {
    let mut borders = states.iter().flat_map(World::borders);
    borders.all(|border| {
        let is_open = matches!(border.wall, None | Some(Wall::Silent));
        is_open && (border.under_way, border.pinned) == (0, 0)
    })
}

/// Returns who has an avatar in a state, and the things there, also those in luggage.
pub(super) fn here(state: &World) -> Vec<Traveller> {
    let seen = state.objects();
    let traveller = seen.map(|seen| match seen.player {
        Some((person, _)) => Traveller::Person(person),
        None => Traveller::Thing(seen.origin),
    });
    let stowed = state.all_luggage().map(|thing| Traveller::Thing(thing.origin));
    traveller.chain(stowed).collect()
}
