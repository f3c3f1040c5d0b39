//! The ledgers of two or three sims in a row, and every order in which they can hear of one another.
//!
//! A turn may hear any word of the neighbour that is later than the last one heard: couriers delay, skip and
//! repeat words. The clocks run apart. A receiver may refuse as it likes. Servers that crash are turns in
//! which nothing happens. The bank breaks one rule after the other around the machine, and each is found.

use std::{
    collections::{BTreeSet, VecDeque},
    hash::{Hash, Hasher},
    sync::Arc,
};

use metatopia_types::{ObjectId, Origin, SimId};

use super::*;

/// A turn takes one step of time, or so long that every deadline passes.
const STEP: u64 = WORD_MS;
const JUMP: u64 = DEPARTURE_MS + STEP;

/// The rule that is broken, if one is. Rules of the ledger are broken in the ledger itself, by the same switches as in
/// whole simulated servers.
type Flaw = Option<CrossingBug>;

/// One sim of the model. The sims lie in a row.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct ModelSim {
    /// The borders: which sim is behind each, and its ledger.
    borders: Vec<(usize, Crossing)>,
    /// The things that are here.
    here: Things,
    height: u64,
    time: u64,
}

/// A set of things, a bit each.
type Things = u8;

/// What a model may do besides hearing and departing.
#[derive(Debug, Clone, Copy)]
struct Bounds<'a> {
    /// How many turns each sim in the row plays.
    turns: &'a [u64],
    /// What departs as one: things are joined to what is in the same set.
    mechanisms: &'a [Things],
    /// The sims that may give up the one behind their first border, once.
    severs: &'a [usize],
}

fn thing(n: u8) -> Traveller {
    Traveller::Thing(Origin { sim: SimId(Digest::ZERO), number: ObjectId(u64::from(n)) })
}

fn bit(traveller: &Traveller) -> Things {
    let Traveller::Thing(origin) = traveller else { panic!("the model has things alone") };
    1 << origin.number.0
}

fn numbers(things: Things) -> impl Iterator<Item = u8> {
    (0..8).filter(move |n| things >> n & 1 == 1)
}

/// Returns what stands for the parcel of these things: its digest names them.
const fn parcel(things: Things) -> Digest {
    Digest([things; 32])
}

const fn of_parcel(departure: &BorderDeparture) -> Things {
    departure.parcel.0[0]
}

impl ModelSim {
    fn new(neighbours: &[usize], here: Things) -> Self {
        let border = |other: &usize| {
            let mut ledger = Crossing::default();
            ledger.said.open = true;
            (*other, ledger)
        };
        Self { borders: neighbours.iter().map(border).collect(), here, height: 0, time: 0 }
    }

    /// Begins the next turn.
    fn turn(&mut self, ms: u64) {
        self.height += 1;
        self.time += ms;
    }

    fn ledger(&self, other: usize) -> &Crossing {
        &self.borders.iter().find(|(sim, _)| *sim == other).expect("a border").1
    }

    /// Returns what is said to a neighbour after the turn.
    fn word(&self, to: usize) -> Arc<Said> {
        let said = self.ledger(to).said.clone();
        Arc::new(Said { height: Height(self.height), time: Millis(self.time), ..said })
    }

    /// Hears a neighbour, and takes what departed there, or refuses all of it.
    fn hear(&mut self, at: usize, word: &Said, refuses: bool, flaw: Flaw) {
        let now = Millis(self.time);
        let (proved_at, header) = (Height(0), HeaderId::BEFORE_FIRST);
        let heard = HeardSaid { said: word.clone(), at: now, proved_at, header };
        let mut here = self.here;
        let events = self.borders[at].1.hear(heard, now, flaw, &mut |departure| {
            if refuses {
                return Judgement::Refused(TravelRefusal::Full);
            }
            here |= of_parcel(departure);
            Judgement::Taken(numbers(of_parcel(departure)).map(thing).collect())
        });
        for event in events {
            match event {
                CrossingEvent::Settled(_) => {}
                CrossingEvent::CameHome(departure, _) => here |= of_parcel(&departure),
                CrossingEvent::GivenBack(traveller) => here &= !bit(&traveller),
            }
        }
        self.here = here;
    }

    /// Sends joined things over a border, if they are all here and none of them came just now. What came over one
    /// border is pinned at all of them.
    fn depart(&mut self, at: usize, things: Things, flaw: Flaw) -> bool {
        let is_pinned = |n: u8| self.borders.iter().any(|(_, ledger)| ledger.is_pinned(&thing(n)));
        let is_held = flaw != Some(CrossingBug::HandedOn) && numbers(things).any(is_pinned);
        if self.here & things != things || is_held {
            return false;
        }
        let main = thing(numbers(things).next().expect("some thing"));
        let gone = self.borders[at].1.depart(main, parcel(things), Millis(self.time)).is_ok();
        if gone && flaw != Some(CrossingBug::CreatedFirst) {
            self.here &= !things;
        }
        gone
    }

    fn sever(&mut self, at: usize) {
        for event in self.borders[at].1.sever() {
            let CrossingEvent::CameHome(departure, _) = event else { continue };
            self.here |= of_parcel(&departure);
        }
    }
}

/// The sims of a row, and every word that one of them may still hear of another: from, to, and the words in order.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Row {
    sims: Vec<ModelSim>,
    words: Vec<(usize, usize, Vec<Arc<Said>>)>,
}

impl Row {
    /// Returns a row in which all have heard of each other once: nothing departs to a neighbour that was never heard.
    fn new(bounds: Bounds<'_>) -> Self {
        let count = bounds.turns.len();
        let all = |n: usize| {
            // Mechanisms begin in the sims in turn.
            let own = bounds.mechanisms.iter().enumerate().filter(|(at, _)| at % count == n);
            let neighbours: Vec<usize> = [n.checked_sub(1), Some(n + 1)]
                .into_iter()
                .flatten()
                .filter(|n| *n < count)
                .collect();
            let mut sim = ModelSim::new(&neighbours, own.fold(0, |all, (_, things)| all | things));
            sim.turn(STEP);
            sim
        };
        let sims: Vec<ModelSim> = (0..count).map(all).collect();
        let words = |from: usize| {
            let to = sims[from].borders.iter().map(|(to, _)| *to);
            let sim = &sims[from];
            to.map(move |to| (from, to, vec![sim.word(to)])).collect::<Vec<_>>()
        };
        let words = (0..count).flat_map(words).collect();
        let mut row = Self { sims, words };
        row.hear_all();
        row
    }

    /// Has each sim hear the last word of each neighbour.
    fn hear_all(&mut self) {
        let words: Vec<(usize, usize, Arc<Said>)> = self
            .sims
            .iter()
            .enumerate()
            .flat_map(|(from, sim)| {
                sim.borders.iter().map(move |(to, _)| (from, *to, sim.word(*to)))
            })
            .collect();
        for (from, to, word) in words {
            let at = self.sims[to].borders.iter().position(|(sim, _)| *sim == from);
            self.sims[to].hear(at.expect("a border"), &word, false, None);
        }
    }

    fn words(&self, from: usize, to: usize) -> &[Arc<Said>] {
        &self.words.iter().find(|(a, b, _)| (*a, *b) == (from, to)).expect("a border").2
    }

    /// Returns in how many places a thing is. A copy that a neighbour still has pinned who was given up, and is about
    /// to be told of that, counts for none.
    fn places(&self, n: u8) -> i32 {
        let mut found = 0;
        for (own, sim) in self.sims.iter().enumerate() {
            found += i32::from(sim.here >> n & 1);
            for (other, ledger) in &sim.borders {
                let there = self.sims[*other].ledger(own);
                for departure in &ledger.said.departures {
                    let verdict = there.said.verdicts.iter().find(|v| v.number == departure.number);
                    let is_away = match verdict {
                        Some(verdict) => verdict.refused.is_some(),
                        None => departure.number >= there.said.in_next,
                    };
                    found += i32::from(is_away && of_parcel(departure) >> n & 1 == 1);
                }
                if there.said.taken_up < ledger.said.epoch {
                    let told = |number: &&u64| {
                        let pinned = there.pinned.get(number);
                        pinned.is_some_and(|all| all.contains(&thing(n)))
                            && self.sims[*other].here >> n & 1 == 1
                    };
                    found -= ledger.said.came_home.iter().filter(told).count() as i32;
                }
            }
        }
        found
    }

    /// Says whether everything is settled once all sims live, and each thing is in one sim, beside what it is joined
    /// to.
    fn settles(&self, bounds: Bounds<'_>) -> bool {
        let mut row = self.clone();
        for _ in 0..6 {
            row.sims.iter_mut().for_each(|sim| sim.turn(STEP));
            row.hear_all();
        }
        let is_quiet = |(_, ledger): &(usize, Crossing)| {
            ledger.said.departures.is_empty() && ledger.pinned.is_empty()
        };
        let is_whole = |things: &Things| {
            let here = row.sims.iter().filter(|sim| sim.here & things == *things).count();
            here == 1 && row.sims.iter().filter(|sim| sim.here & things != 0).count() == 1
        };
        row.sims.iter().all(|sim| sim.borders.iter().all(is_quiet))
            && bounds.mechanisms.iter().all(is_whole)
    }

    /// Returns every state to which one turn of a sim can lead.
    fn turns_of(&self, n: usize, bounds: Bounds<'_>, flaw: Flaw) -> Vec<ModelSim> {
        let mut out = Vec::new();
        for ms in [STEP, JUMP] {
            let mut begun = self.sims[n].clone();
            begun.turn(ms);
            // At each border it may hear nothing, or any word that is later than the last one.
            let mut after = vec![begun.clone()];
            for (at, (from, ledger)) in begun.borders.iter().enumerate() {
                let heard = ledger.heard.as_ref().map_or(Height(0), |heard| heard.said.height);
                let is_new =
                    |word: &&Arc<Said>| word.height > heard || flaw == Some(CrossingBug::OldEpochs);
                let news: Vec<&Arc<Said>> = self.words(*from, n).iter().filter(is_new).collect();
                let mut next = Vec::new();
                for (state, word) in after.iter().flat_map(|s| news.iter().map(move |w| (s, w))) {
                    for refuses in [false, true] {
                        let mut heard = state.clone();
                        heard.hear(at, word, refuses, flaw);
                        next.push(heard);
                    }
                }
                after.extend(next);
            }
            for state in after {
                if bounds.severs.contains(&n) && state.borders[0].1.said.epoch == 0 {
                    let mut severed = state.clone();
                    severed.sever(0);
                    out.push(severed);
                }
                for (at, things) in (0..state.borders.len())
                    .flat_map(|at| bounds.mechanisms.iter().map(move |t| (at, t)))
                {
                    let mut gone = state.clone();
                    if gone.depart(at, *things, flaw) {
                        out.push(gone);
                    }
                }
                out.push(state);
            }
        }
        out
    }

    /// Returns the row after a turn of a sim. Words that will never be heard again make no other state.
    fn with(&self, n: usize, next: ModelSim, flaw: Flaw) -> Self {
        let mut row = self.clone();
        row.sims[n] = next;
        for (from, to, words) in &mut row.words {
            if *from == n {
                words.push(row.sims[n].word(*to));
            }
            let heard = row.sims[*to].ledger(*from).heard.as_ref();
            let heard = heard.map_or(Height(0), |heard| heard.said.height);
            if flaw != Some(CrossingBug::OldEpochs) {
                words.retain(|word| word.height > heard);
            }
        }
        row
    }
}

/// What a search found.
#[derive(Debug)]
enum Found {
    /// So many states, and no fault in any.
    Nothing { states: usize, taken: usize, home: usize, severed: usize, handed_on: usize },
    /// A fault after so many states.
    Fault { states: usize, what: String },
}

/// Hashes what is hashed of a state, in the same way on every platform.
struct StateHasher(blake3::Hasher);

impl Hasher for StateHasher {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&self) -> u64 {
        unreachable!("the whole digest is taken")
    }
}

/// Returns a digest that stands for a state, of which there are too many to keep.
fn digest(row: &Row) -> [u8; 32] {
    let mut hasher = StateHasher(blake3::Hasher::new());
    row.hash(&mut hasher);
    *hasher.0.finalize().as_bytes()
}

/// Looks at every state that can be reached, up to so many.
fn search(bounds: Bounds<'_>, flaw: Flaw, most: usize) -> Found {
    let first = Row::new(bounds);
    let things = bounds.mechanisms.iter().fold(0, |all, things| all | things);
    let (mut seen, mut queue) = (BTreeSet::from([digest(&first)]), VecDeque::from([first]));
    let (mut states, mut taken, mut home, mut severed, mut handed_on) = (0, 0, 0, 0, 0);
    while let Some(row) = queue.pop_front() {
        states += 1;
        let found: Vec<i32> = numbers(things).map(|n| row.places(n)).collect();
        if found.iter().any(|n| *n != 1) {
            return Found::Fault { states, what: format!("a thing is in {found:?} places") };
        }
        if flaw.is_none() && !row.settles(bounds) {
            return Found::Fault { states, what: format!("it does not settle: {row:#?}") };
        }
        let borders = || row.sims.iter().flat_map(|sim| &sim.borders);
        let said = || borders().map(|(_, ledger)| &ledger.said);
        let verdicts = || said().flat_map(|said| &said.verdicts);
        taken += usize::from(verdicts().any(|verdict| verdict.refused.is_none()));
        home += usize::from(verdicts().any(|verdict| verdict.refused.is_some()));
        severed += usize::from(said().any(|said| said.epoch > 0));
        // What begins in the first sim and is in the third one.
        handed_on +=
            usize::from(row.sims.get(2).is_some_and(|sim| sim.here & bounds.mechanisms[0] != 0));
        for n in 0..row.sims.len() {
            if row.sims[n].height > bounds.turns[n] || seen.len() >= most {
                continue;
            }
            for next in row.turns_of(n, bounds, flaw) {
                let then = row.with(n, next, flaw);
                if seen.insert(digest(&then)) {
                    queue.push_back(then);
                }
            }
        }
    }
    Found::Nothing { states, taken, home, severed, handed_on }
}

fn no_fault(bounds: Bounds<'_>) {
    match search(bounds, None, usize::MAX) {
        Found::Nothing { states, taken, home, severed, handed_on } => {
            println!(
                "{bounds:?}: {states} states, {taken} with a taking, {home} with a refusal, {severed} severed, \
                 {handed_on} handed on"
            );
            assert!(states > 1_000 && taken > 0 && home > 0);
            assert_eq!(severed > 0, !bounds.severs.is_empty());
            assert_eq!(handed_on > 0, bounds.turns.len() > 2);
        }
        Found::Fault { states, what } => panic!("{bounds:?}: after {states} states {what}"),
    }
}

#[test]
fn in_every_state_of_one_thing_it_is_in_one_place_and_everything_settles() {
    no_fault(Bounds { turns: &[3, 3], mechanisms: &[1], severs: &[] });
}

#[test]
fn in_every_state_of_two_things_each_is_in_one_place_and_everything_settles() {
    no_fault(Bounds { turns: &[3, 3], mechanisms: &[1, 2], severs: &[] });
}

#[test]
fn in_every_state_two_joined_things_are_in_one_place_together() {
    no_fault(Bounds { turns: &[3, 3], mechanisms: &[3], severs: &[0, 1] });
}

#[test]
fn in_every_state_of_three_sims_in_a_row_a_thing_is_in_one_place_and_everything_settles() {
    no_fault(Bounds { turns: &[2, 3, 2], mechanisms: &[1], severs: &[] });
}

#[test]
fn severing_on_both_sides_and_a_third_sim_double_nothing() {
    no_fault(Bounds { turns: &[2, 2, 2], mechanisms: &[1], severs: &[0, 1] });
}

#[test]
fn each_broken_rule_of_the_bank_is_found() {
    let pair = Bounds { turns: &[4, 4], mechanisms: &[1], severs: &[] };
    let severed = Bounds { severs: &[0, 1], ..pair };
    let row = Bounds { turns: &[4, 4, 4], severs: &[0, 1], ..pair };
    let flaws = [
        (CrossingBug::HomeByOwnClock, pair),
        (CrossingBug::TakenLate, pair),
        (CrossingBug::NumberPassedOver, pair),
        (CrossingBug::VerdictForgotten, pair),
        (CrossingBug::CreatedFirst, pair),
        (CrossingBug::HandedOn, row),
        (CrossingBug::ListPassedOver, severed),
        (CrossingBug::OldEpochs, severed),
    ];
    for (flaw, bounds) in flaws {
        match search(bounds, Some(flaw), 400_000) {
            Found::Fault { states, what } => println!("{flaw:?}: after {states} states {what}"),
            Found::Nothing { states, .. } => panic!("{flaw:?} was not found in {states} states"),
        }
    }
}

#[test]
fn so_many_departures_are_under_way_and_one_more_meets_a_wall() {
    let mut row = Row::new(Bounds { turns: &[1, 1], mechanisms: &[1], severs: &[] });
    let own = &mut row.sims[0];
    let mut depart = || own.borders[0].1.depart(thing(0), parcel(1), Millis(own.time));
    for number in 0..DEPARTURES_MAX as u64 {
        let departure = depart().expect("room for one more");
        assert_eq!((departure.number, departure.until.0), (number, STEP + DEPARTURE_MS));
    }
    assert_eq!(depart(), Err(Wall::Crowded));
}
