//! The ledgers of two sims, and every order in which they can hear of one another.
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

/// One sim of the model.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct ModelSim {
    ledger: Crossing,
    /// The things that are here, and those that were handed on to a third sim.
    here: u8,
    beyond: u8,
    height: u64,
    time: u64,
}

fn thing(n: u8) -> Traveller {
    Traveller::Thing(Origin { sim: SimId(Digest::ZERO), number: ObjectId(u64::from(n)) })
}

fn bit(traveller: &Traveller) -> u8 {
    let Traveller::Thing(origin) = traveller else { panic!("the model has things alone") };
    1 << origin.number.0
}

impl ModelSim {
    fn new(here: u8) -> Self {
        let mut ledger = Crossing::default();
        ledger.said.open = true;
        Self { ledger, here, beyond: 0, height: 0, time: 0 }
    }

    /// Begins the next turn.
    fn turn(&mut self, ms: u64) {
        self.height += 1;
        self.time += ms;
    }

    /// What is said after the turn.
    fn word(&self) -> Arc<Said> {
        let said = self.ledger.said.clone();
        Arc::new(Said { height: Height(self.height), time: Millis(self.time), ..said })
    }

    fn hear(&mut self, word: &Said, refuses: bool, flaw: Flaw) {
        let now = Millis(self.time);
        let (proved_at, header) = (Height(0), HeaderId::BEFORE_FIRST);
        let heard = HeardSaid { said: word.clone(), at: now, proved_at, header };
        let mut here = self.here;
        let events = self.ledger.hear(heard, now, flaw, &mut |departure| {
            if refuses {
                return Judgement::Refused(TravelRefusal::Full);
            }
            here |= bit(&departure.traveller);
            Judgement::Taken(vec![departure.traveller])
        });
        for event in events {
            match event {
                CrossingEvent::Settled(_) => {}
                CrossingEvent::CameHome(departure, _) => here |= bit(&departure.traveller),
                CrossingEvent::GivenBack(traveller) => here &= !bit(&traveller),
            }
        }
        self.here = here;
    }

    fn depart(&mut self, n: u8, flaw: Flaw) -> bool {
        let traveller = thing(n);
        let is_free = self.here & bit(&traveller) != 0 && !self.ledger.is_pinned(&traveller);
        let gone =
            is_free && self.ledger.depart(traveller, Digest::ZERO, Millis(self.time)).is_ok();
        if gone && flaw != Some(CrossingBug::CreatedFirst) {
            self.here &= !bit(&traveller);
        }
        gone
    }

    fn hand_on(&mut self, n: u8, flaw: Flaw) -> bool {
        let traveller = thing(n);
        let is_pinned = self.ledger.is_pinned(&traveller) && flaw != Some(CrossingBug::HandedOn);
        let goes = self.here & bit(&traveller) != 0 && !is_pinned;
        if goes {
            self.here &= !bit(&traveller);
            self.beyond |= bit(&traveller);
        }
        goes
    }

    fn sever(&mut self) {
        for event in self.ledger.sever() {
            let CrossingEvent::CameHome(departure, _) = event else { continue };
            self.here |= bit(&departure.traveller);
        }
    }
}

/// Two sims, and every word that the other one may still hear of each.
type Pair = [(ModelSim, Vec<Arc<Said>>); 2];

/// What a run may do besides hearing and departing.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    things: u8,
    turns: u64,
    /// Both sims may give the other one up, and the second may hand things on to a third.
    severs: bool,
}

/// Returns in how many places each thing is. A copy that a severed neighbour still has pinned, and is about to
/// be told of, counts for none.
fn places(pair: &Pair, things: u8) -> Vec<i32> {
    let count = |n: u8| {
        let mut found = 0;
        for (own, other) in [(0, 1), (1, 0)] {
            let (own, other) = (&pair[own].0, &pair[other].0);
            let (said, there) = (&own.ledger.said, &other.ledger.said);
            found += i32::from(own.here >> n & 1) + i32::from(own.beyond >> n & 1);
            let here = |traveller: &Traveller| *traveller == thing(n);
            for departure in said.departures.iter().filter(|listed| here(&listed.traveller)) {
                let verdict = there.verdicts.iter().find(|v| v.number == departure.number);
                let is_away = match verdict {
                    Some(verdict) => verdict.refused.is_some(),
                    None => departure.number >= there.in_next,
                };
                found += i32::from(is_away);
            }
            if there.taken_up < said.epoch {
                let told = |number: &&u64| {
                    other.ledger.pinned.get(number).is_some_and(|all| all.iter().any(here))
                        && other.here & bit(&thing(n)) != 0
                };
                found -= said.came_home.iter().filter(told).count() as i32;
            }
        }
        found
    };
    (0..things).map(count).collect()
}

/// Says whether everything is settled once both sims live, and each thing is in one sim.
fn settles(pair: &Pair, things: u8) -> bool {
    let [(mut a, _), (mut b, _)] = pair.clone();
    for _ in 0..6 {
        a.turn(STEP);
        b.turn(STEP);
        a.hear(&b.word(), false, None);
        b.hear(&a.word(), false, None);
    }
    let all = |n: u8| [a.here, b.here, a.beyond, b.beyond].map(|set| set >> n & 1);
    a.ledger.said.departures.is_empty()
        && b.ledger.said.departures.is_empty()
        && a.ledger.pinned.is_empty()
        && b.ledger.pinned.is_empty()
        && (0..things).all(|n| all(n).iter().sum::<u8>() == 1)
}

/// Returns every state to which one turn of a sim can lead.
fn turns(
    own: &ModelSim,
    words: &[Arc<Said>],
    bounds: Bounds,
    second: bool,
    flaw: Flaw,
) -> Vec<ModelSim> {
    let mut out = Vec::new();
    for ms in [STEP, JUMP] {
        let mut begun = own.clone();
        begun.turn(ms);
        let heard = begun.ledger.heard.as_ref().map_or(Height(0), |heard| heard.said.height);
        let is_new =
            |word: &&Arc<Said>| word.height > heard || flaw == Some(CrossingBug::OldEpochs);
        let mut after = vec![begun.clone()];
        for word in words.iter().filter(is_new) {
            for refuses in [false, true] {
                let mut next = begun.clone();
                next.hear(word, refuses, flaw);
                after.push(next);
            }
        }
        for state in after {
            if bounds.severs && state.ledger.said.epoch == 0 {
                let mut severed = state.clone();
                severed.sever();
                out.push(severed);
            }
            for n in 0..bounds.things {
                let mut gone = state.clone();
                if gone.depart(n, flaw) {
                    out.push(gone);
                }
                let mut beyond = state.clone();
                if bounds.severs && second && beyond.hand_on(n, flaw) {
                    out.push(beyond);
                }
            }
            out.push(state);
        }
    }
    out
}

/// What a search found.
#[derive(Debug)]
enum Found {
    /// So many states, and no fault in any.
    Nothing { states: usize, taken: usize, home: usize, severed: usize },
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
fn digest(pair: &Pair) -> [u8; 32] {
    let mut hasher = StateHasher(blake3::Hasher::new());
    pair.hash(&mut hasher);
    *hasher.0.finalize().as_bytes()
}

/// Looks at every state that can be reached, up to so many.
fn search(bounds: Bounds, flaw: Flaw, most: usize) -> Found {
    // Both have heard of the other once: nothing departs to a neighbour that was never heard.
    let fresh =
        |n: u8| ModelSim::new((0..bounds.things).filter(|t| t % 2 == n).map(|t| 1 << t).sum());
    let (mut a, mut b) = (fresh(0), fresh(1));
    a.turn(STEP);
    b.turn(STEP);
    let (of_a, of_b) = (a.word(), b.word());
    a.hear(&of_b, false, None);
    b.hear(&of_a, false, None);
    let first: Pair = [(a, vec![of_a]), (b, vec![of_b])];
    let last = 1 + bounds.turns;
    let (mut seen, mut queue) = (BTreeSet::from([digest(&first)]), VecDeque::from([first]));
    let (mut states, mut taken, mut home, mut severed) = (0, 0, 0, 0);
    while let Some(pair) = queue.pop_front() {
        states += 1;
        let found = places(&pair, bounds.things);
        if found.iter().any(|n| *n != 1) {
            return Found::Fault { states, what: format!("a thing is in {found:?} places") };
        }
        if flaw.is_none() && !settles(&pair, bounds.things) {
            return Found::Fault { states, what: format!("it does not settle: {pair:#?}") };
        }
        let said = [&pair[0].0.ledger.said, &pair[1].0.ledger.said];
        let verdicts = || said.iter().flat_map(|said| &said.verdicts);
        taken += usize::from(verdicts().any(|verdict| verdict.refused.is_none()));
        home += usize::from(verdicts().any(|verdict| verdict.refused.is_some()));
        severed += usize::from(said.iter().any(|said| said.epoch > 0));
        for n in [0, 1] {
            let (own, other) = (&pair[n], &pair[1 - n]);
            if own.0.height >= last || seen.len() >= most {
                continue;
            }
            for next in turns(&own.0, &other.1, bounds, n == 1, flaw) {
                let mut words = own.1.clone();
                words.push(next.word());
                let mut then = pair.clone();
                then[n] = (next, words);
                // Words that will never be heard again make no other state.
                for (mine, theirs) in [(0, 1), (1, 0)] {
                    let heard = then[mine].0.ledger.heard.as_ref();
                    let heard = heard.map_or(Height(0), |heard| heard.said.height);
                    if flaw != Some(CrossingBug::OldEpochs) {
                        then[theirs].1.retain(|word| word.height > heard);
                    }
                }
                if seen.insert(digest(&then)) {
                    queue.push_back(then);
                }
            }
        }
    }
    Found::Nothing { states, taken, home, severed }
}

fn no_fault(bounds: Bounds) {
    match search(bounds, None, usize::MAX) {
        Found::Nothing { states, taken, home, severed } => {
            println!(
                "{bounds:?}: {states} states, {taken} with a taking, {home} with a refusal, {severed} severed"
            );
            assert!(states > 1_000 && taken > 0 && home > 0);
            assert_eq!(severed > 0, bounds.severs);
        }
        Found::Fault { states, what } => panic!("{bounds:?}: after {states} states {what}"),
    }
}

#[test]
fn in_every_state_of_one_thing_it_is_in_one_place_and_everything_settles() {
    no_fault(Bounds { things: 1, turns: 3, severs: false });
}

#[test]
fn in_every_state_of_two_things_each_is_in_one_place_and_everything_settles() {
    no_fault(Bounds { things: 2, turns: 3, severs: false });
}

#[test]
fn severing_on_both_sides_and_a_third_sim_double_nothing() {
    no_fault(Bounds { things: 1, turns: 3, severs: true });
}

#[test]
fn each_broken_rule_of_the_bank_is_found() {
    let flaws = [
        (CrossingBug::HomeByOwnClock, false),
        (CrossingBug::TakenLate, false),
        (CrossingBug::NumberPassedOver, false),
        (CrossingBug::VerdictForgotten, false),
        (CrossingBug::CreatedFirst, false),
        (CrossingBug::HandedOn, true),
        (CrossingBug::ListPassedOver, true),
        (CrossingBug::OldEpochs, true),
    ];
    for (flaw, severs) in flaws {
        let bounds = Bounds { things: 1, turns: 4, severs };
        match search(bounds, Some(flaw), 400_000) {
            Found::Fault { states, what } => println!("{flaw:?}: after {states} states {what}"),
            Found::Nothing { states, .. } => panic!("{flaw:?} was not found in {states} states"),
        }
    }
}

#[test]
fn so_many_departures_are_under_way_and_one_more_meets_a_wall() {
    let mut own = ModelSim::new(0);
    let mut other = ModelSim::new(0);
    own.turn(STEP);
    other.turn(STEP);
    own.hear(&other.word(), false, None);
    let mut depart = || own.ledger.depart(thing(0), Digest::ZERO, Millis(own.time));
    for number in 0..DEPARTURES_MAX as u64 {
        let departure = depart().expect("room for one more");
        assert_eq!((departure.number, departure.until.0), (number, STEP + DEPARTURE_MS));
    }
    assert_eq!(depart(), Err(Wall::Crowded));
}
