//! Looks at the states of both sims: who and what is where, and what became of each departure.

mod law;
mod steps;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use metatopia_math::Fx;
use metatopia_sim::{Border, World};
use metatopia_types::{
    BorderDeparture, Height, Millis, ObjectId, Parcel, PublicKey, SimId, TravelRefusal, Traveller,
};

use self::law::here;
pub(super) use self::law::is_quiet;
pub(super) use self::steps::BorderStep;
use super::counts::{CHANGE_STEPS, CrossingCounts, NamedCounts, note};
use super::ground::{self, LINE};
use super::{SIMS, beyond};

/// So many turns after an arrival its sender has settled it, if all goes well. What still stands at the line then
/// waits there.
const SETTLES_IN: u64 = 8;

/// Breaches that are remembered.
const BREACHES_MAX: usize = 16;

/// The states of both sims that are the furthest that were seen.
pub(super) type BothStates = [World; 2];

/// What became of a departure, as its receiver said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TripFate {
    UnderWay,
    Taken(Height),
    Refused(TravelRefusal),
}

/// A departure, and what became of it.
#[derive(Debug, Clone)]
struct BorderTrip {
    /// Who or what went, and what she brings.
    travellers: Vec<Traveller>,
    departed: Duration,
    /// The height of the receiver at that moment.
    there: Height,
    fate: TripFate,
    /// The sender has settled it, or it came home.
    is_over: bool,
    /// It was held at the line, and was counted.
    has_waited: bool,
    /// The sender had given the receiver up, so it came home.
    is_severed: bool,
    /// How often the members of both sims had changed when it departed, and then when it was judged.
    changes: [u64; 2],
}

/// See the module.
#[derive(Debug)]
pub(super) struct TripLedger {
    ids: [SimId; 2],
    /// Trips by the sim that they left, and by their numbers.
    trips: BTreeMap<(usize, u64), BorderTrip>,
    /// The height of the receiver at which each border frame was first seen, by the sim that made it and when.
    frames: BTreeMap<(usize, Millis), Height>,
    /// When the newest border frame of each sim was made.
    framed: [Millis; 2],
    /// Who votes in each sim, and how often that changed.
    members: [(Vec<PublicKey>, u64); 2],
    /// The epoch of each side of the border.
    epochs: [u64; 2],
    /// How many things were in the luggage of each sim.
    stowed: [u64; 2],
    /// People whom a neighbour had taken when she was given up: she has an avatar in both sims, until one ends.
    doubled: BTreeSet<Traveller>,
    /// The sim in which each person had an avatar last.
    last: BTreeMap<Traveller, usize>,
    /// People who were banned where they had their avatars, and have none since.
    thrown_out: BTreeSet<Traveller>,
    /// Who and what has to be somewhere.
    known: BTreeSet<Traveller>,
    /// Steps that the states show for the first time, by the sim that was left.
    steps: Vec<(usize, BorderStep)>,
    pub(super) counts: CrossingCounts,
    /// Which laws were broken.
    pub(super) breaches: Vec<String>,
}

impl TripLedger {
    /// Begins with these states. Every thing that can move has to be somewhere from then on.
    pub(super) fn new(states: &BothStates) -> Self {
        let mut ledger = Self {
            ids: SIMS.map(|sim| states[sim].sim()),
            trips: BTreeMap::new(),
            frames: BTreeMap::new(),
            framed: [Millis(0); 2],
            members: SIMS.map(|sim| (members(&states[sim]), 0)),
            epochs: [0; 2],
            stowed: [0; 2],
            doubled: BTreeSet::new(),
            last: BTreeMap::new(),
            thrown_out: BTreeSet::new(),
            known: BTreeSet::new(),
            steps: Vec::new(),
            counts: CrossingCounts::default(),
            breaches: Vec::new(),
        };
        for sim in SIMS {
            ledger.known.extend(here(&states[sim]));
        }
        ledger
    }

    /// Has somebody be somewhere from now on.
    pub(super) fn expect(&mut self, traveller: Traveller) {
        self.known.insert(traveller);
    }

    /// Notes that a law was broken.
    pub(super) fn blame(&mut self, now: Duration, what: &str) {
        if self.breaches.len() < BREACHES_MAX {
            self.breaches.push(format!("{now:.3?}: {what}"));
        }
    }

    fn border<'a>(&self, states: &'a BothStates, sim: usize) -> Option<&'a Border> {
        states[sim].border(&self.ids[beyond(sim)])
    }

    /// Looks at the states, one of which is new. Returns the steps that they show, by the sim that was left.
    pub(super) fn look(&mut self, now: Duration, states: &BothStates) -> Vec<(usize, BorderStep)> {
        for sim in SIMS {
            self.note_members(sim, &states[sim]);
            let stowed = states[sim].all_luggage().count() as u64;
            self.counts.stowed += stowed.saturating_sub(self.stowed[sim]);
            self.stowed[sim] = stowed;
        }
        for sim in SIMS {
            if let Some(border) = self.border(states, sim) {
                self.note_severing(sim, border);
                self.note_departures(now, sim, states, border);
                let made = border.crossing.said.frame.made;
                let there = states[beyond(sim)].height();
                // A frame stays as it is while nothing moves.
                if made > self.framed[sim] {
                    self.framed[sim] = made;
                    self.frames.insert((sim, made), there);
                }
            }
        }
        for sim in SIMS {
            if let Some(border) = self.border(states, sim) {
                self.note_verdicts(sim, &states[sim], border);
                self.note_ghosts(sim, &states[sim], border);
                self.note_waits(sim, &states[sim], border);
                self.note_ends(now, sim, border);
            }
        }
        self.note_bans(states);
        if self.is_cut(states) {
            self.counts.looks += 1;
            self.check(now, states);
        }
        std::mem::take(&mut self.steps)
    }

    /// Says whether no state has heard of a later state of the other sim than the one that is looked at.
    fn is_cut(&self, states: &BothStates) -> bool {
        let heard = |sim| {
            let heard = self.border(states, sim).and_then(|border| border.crossing.heard.as_ref());
            heard.map_or(Height(0), |heard| heard.said.height)
        };
        SIMS.into_iter().all(|sim| heard(sim) <= states[beyond(sim)].height())
    }

    /// Notes that a sim gave the other up: what was under way came home, and stays listed until that is taken up.
    fn note_severing(&mut self, sim: usize, border: &Border) {
        let said = &border.crossing.said;
        if said.epoch > self.epochs[sim] {
            self.counts.severings += said.epoch - self.epochs[sim];
            self.epochs[sim] = said.epoch;
        }
        for number in &said.came_home {
            if let Some(trip) = self.trips.get_mut(&(sim, *number)) {
                trip.is_severed = true;
            }
        }
    }

    /// Counts a change of who votes in a sim.
    fn note_members(&mut self, sim: usize, state: &World) {
        let (known, changes) = &mut self.members[sim];
        let members = members(state);
        if members != *known {
            (*known, *changes) = (members, *changes + 1);
            self.counts.set_changes += 1;
        }
    }

    /// Returns how often the members of each sim have changed.
    fn changes(&self) -> [u64; 2] {
        SIMS.map(|sim| self.members[sim].1)
    }

    fn note_departures(&mut self, now: Duration, sim: usize, states: &BothStates, border: &Border) {
        for departure in &border.crossing.said.departures {
            let (there, changes) = (states[beyond(sim)].height(), self.changes());
            self.trips.entry((sim, departure.number)).or_insert_with(|| {
                self.steps.push((sim, BorderStep::Departure));
                BorderTrip {
                    travellers: brought(&states[sim], self.ids[beyond(sim)], departure),
                    departed: now,
                    there,
                    fate: TripFate::UnderWay,
                    is_over: false,
                    has_waited: false,
                    is_severed: false,
                    changes,
                }
            });
        }
    }

    /// Counts how long the newest border frame took that was heard.
    fn note_ghosts(&mut self, sim: usize, state: &World, border: &Border) {
        let Some(heard) = &border.crossing.heard else { return };
        let (from, made) = (beyond(sim), heard.said.frame.made);
        if let Some(seen) = self.frames.remove(&(from, made))
            && !heard.said.frame.bodies.is_empty()
        {
            self.counts.ghost_turns.push(state.height().0.saturating_sub(seen.0));
        }
        // Earlier ones, which were never heard, are none any more.
        self.frames.retain(|(sim, at), _| *sim != from || *at > made);
    }

    fn note_verdicts(&mut self, sim: usize, state: &World, border: &Border) {
        let changes = self.changes();
        for verdict in &border.crossing.said.verdicts {
            let Some(trip) = self.trips.get_mut(&(beyond(sim), verdict.number)) else { continue };
            if trip.fate != TripFate::UnderWay {
                continue;
            }
            if trip.is_severed && verdict.refused.is_none() {
                // It was taken by a word from before the severing, and is given back.
                trip.fate = TripFate::Taken(state.height());
                self.doubled.extend(people(&trip.travellers));
                continue;
            }
            let amid = [CHANGE_STEPS[1], CHANGE_STEPS[0]];
            note_changes(&mut self.counts.changes_amid, sim, (trip.changes, changes), amid);
            trip.changes = changes;
            if let Some(why) = verdict.refused {
                trip.fate = TripFate::Refused(why);
                note(&mut self.counts.refused, why.word());
                self.steps.push((beyond(sim), BorderStep::Refusal));
                continue;
            }
            trip.fate = TripFate::Taken(state.height());
            let arrived = people(&trip.travellers).map(|person| (person, sim));
            self.last.extend(arrived);
            self.steps.push((beyond(sim), BorderStep::Arrival));
            self.counts.turns.push(state.height().0.saturating_sub(trip.there.0));
            match trip.travellers.first() {
                Some(Traveller::Person(_)) => self.counts.people += 1,
                _ => self.counts.things += 1,
            }
            self.counts.carried += trip.travellers.len().saturating_sub(1) as u64;
        }
    }

    /// Counts what stands at the line for longer than it takes to settle an arrival.
    fn note_waits(&mut self, sim: usize, state: &World, border: &Border) {
        let line = Fx::from_int(LINE).saturating_sub(Fx::ONE);
        for number in border.crossing.pinned.keys() {
            let Some(trip) = self.trips.get_mut(&(beyond(sim), *number)) else { continue };
            let TripFate::Taken(at) = trip.fate else { continue };
            if trip.has_waited || state.height() < at.plus(SETTLES_IN) {
                continue;
            }
            let body = trip.travellers.first().and_then(|first| body_of(state, first));
            let place = body.and_then(|body| state.object(body)).map(|seen| seen.position);
            if place.is_some_and(|place| ground::reached(sim, place) >= line) {
                trip.has_waited = true;
                self.counts.pinned_waits += 1;
            }
        }
    }

    fn note_ends(&mut self, now: Duration, sim: usize, border: &Border) {
        let listed: BTreeSet<u64> =
            border.crossing.said.departures.iter().map(|departure| departure.number).collect();
        let changes = self.changes();
        let trips = self.trips.range_mut((sim, 0)..=(sim, u64::MAX));
        for ((_, number), trip) in trips.filter(|(_, trip)| !trip.is_over) {
            if listed.contains(number) {
                continue;
            }
            trip.is_over = true;
            let amid = [CHANGE_STEPS[2], CHANGE_STEPS[3]];
            note_changes(&mut self.counts.changes_amid, sim, (trip.changes, changes), amid);
            let took = now.saturating_sub(trip.departed);
            self.counts.longest = self.counts.longest.max(took);
            let home = match trip.fate {
                _ if trip.is_severed => {
                    if matches!(trip.fate, TripFate::Taken(_)) {
                        self.counts.given_back += 1;
                        self.doubled.extend(people(&trip.travellers));
                    }
                    "severed"
                }
                TripFate::Taken(_) => {
                    self.steps.push((sim, BorderStep::Settlement));
                    continue;
                }
                TripFate::Refused(TravelRefusal::Late) => "late",
                TripFate::Refused(_) => "refused",
                TripFate::UnderWay => "no verdict",
            };
            note(&mut self.counts.came_home, home);
            self.steps.push((sim, BorderStep::Homecoming));
        }
    }
}

/// Returns the number that somebody or something has in a state.
fn body_of(state: &World, traveller: &Traveller) -> Option<ObjectId> {
    match traveller {
        Traveller::Person(person) => state.avatar(person),
        Traveller::Thing(origin) => {
            let mut seen = state.objects();
            let found = seen.find(|seen| seen.origin == *origin && seen.player.is_none());
            found.map(|seen| seen.id)
        }
    }
}

/// Returns who departs, and then what she brings.
fn brought(state: &World, to: SimId, departure: &BorderDeparture) -> Vec<Traveller> {
    let mut parcels = state.parcels(to);
    let parcel = parcels.find(|bytes| Parcel::digest(bytes) == departure.parcel);
    let parcel = Parcel::decode(parcel.expect("a departure has a parcel")).expect("a parcel");
    let things = parcel.things().map(|thing| Traveller::Thing(thing.origin));
    let besides = things.filter(|thing| *thing != departure.traveller);
    [departure.traveller].into_iter().chain(besides).collect()
}

/// Returns the people among travellers.
fn people(travellers: &[Traveller]) -> impl Iterator<Item = Traveller> + use<'_> {
    travellers.iter().copied().filter(|one| matches!(one, Traveller::Person(_)))
}

/// Returns who votes after the turns of a state.
fn members(state: &World) -> Vec<PublicKey> {
    state.roster().members().keys().copied().collect()
}

/// Counts that members changed between two steps: those of a sim under the first name, of its neighbour under the
/// second.
fn note_changes(
    counts: &mut NamedCounts,
    sim: usize,
    (before, after): ([u64; 2], [u64; 2]),
    names: [&'static str; 2],
) {
    for (of, name) in [sim, beyond(sim)].into_iter().zip(names) {
        if after[of] != before[of] {
            note(counts, name);
        }
    }
}
