//! The recent past that clients ask about: the place and the outcome of each decided act.

use std::collections::BTreeMap;

use metatopia_sim::{Applied, Received};
use metatopia_types::{
    ActId, Height, Lane, Outcome, PublicKey, Root, Seq, StateProof, Turn, limits, wire,
};

/// Decided acts that are remembered: two minutes of 500 acts a second, about 12 MiB.
pub(crate) const PLACES_MAX: usize = 60_000;

/// Roots that are remembered: an hour of 20 turns a second, 2.9 MiB.
pub(crate) const ROOTS_MAX: usize = 72_000;

/// Turns whose order of events is remembered: a minute, unless their events are too long for that.
pub(crate) const ORDERS_MAX: usize = 1_200;

/// Bytes of all events that are remembered in their order, with their texts. The newest turn stays,
/// however long it is: its events were paid for with gas, so it has some hundred of them.
pub(crate) const ORDER_BYTES_MAX: usize = 8 * 1_024 * 1_024;

/// The place of a decided act, and its outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DecidedAct {
    /// The height of its turn.
    pub height: Height,
    /// The place among the acts of the turn.
    pub index: u32,
    /// The id of the act.
    pub act: ActId,
    /// The outcome; none until the turn is applied.
    pub outcome: Option<Outcome>,
}

/// The events of a turn.
#[derive(Debug, Default)]
struct EventOrder {
    events: Vec<Received>,
    bytes: usize,
}

/// Returns about how much memory an event takes: its own size and that of its encoding.
fn bytes_of(received: &Received) -> usize {
    size_of::<Received>().saturating_add(wire::length(&received.event))
}

type ActKey = (PublicKey, Lane, Seq);

/// Bounded memories of the recent past.
#[derive(Debug, Default)]
pub(crate) struct Archive {
    places: BTreeMap<ActKey, DecidedAct>,
    by_height: BTreeMap<Height, Vec<ActKey>>,
    roots: BTreeMap<Height, Root>,
    outcomes: BTreeMap<Height, StateProof>,
    orders: BTreeMap<Height, EventOrder>,
    /// Bytes of all of them.
    order_bytes: usize,
}

impl Archive {
    /// Remembers the acts of a decided turn.
    pub(crate) fn decided(&mut self, turn: &Turn) {
        let height = turn.header.height;
        for (act, index) in turn.body.acts().iter().zip(0..) {
            let envelope = &act.envelope;
            let key = (envelope.author, envelope.lane, envelope.seq);
            let place = DecidedAct { height, index, act: act.id(), outcome: None };
            self.places.insert(key, place);
            self.by_height.entry(height).or_default().push(key);
        }
        while self.places.len() > PLACES_MAX {
            let Some((_, keys)) = self.by_height.pop_first() else {
                break;
            };
            for key in keys {
                self.places.remove(&key);
            }
        }
    }

    /// Remembers the results of an applied turn.
    pub(crate) fn applied(&mut self, result: &Applied, proof: Option<StateProof>) {
        let (height, root) = (result.height, result.root);
        self.record_outcomes(height, &result.outcomes);
        self.remember(height, &result.order);
        self.roots.insert(height, root);
        if self.roots.len() > ROOTS_MAX {
            self.roots.pop_first();
        }
        if let Some(proof) = proof {
            self.outcomes.insert(height, proof);
            if self.outcomes.len() as u64 > limits::OUTCOME_TURNS {
                self.outcomes.pop_first();
            }
        }
    }

    /// Keeps the order of a turn's events, and forgets that of old turns.
    fn remember(&mut self, height: Height, events: &[Received]) {
        let order =
            EventOrder { bytes: events.iter().map(bytes_of).sum(), events: events.to_vec() };
        self.order_bytes += order.bytes;
        if let Some(again) = self.orders.insert(height, order) {
            self.order_bytes -= again.bytes;
        }
        while self.orders.len() > ORDERS_MAX
            || (self.order_bytes > ORDER_BYTES_MAX && self.orders.len() > 1)
        {
            let Some((_, old)) = self.orders.pop_first() else { break };
            self.order_bytes -= old.bytes;
        }
    }

    /// Records the outcomes of a turn's acts, in their order.
    pub(crate) fn record_outcomes(&mut self, height: Height, outcomes: &[Outcome]) {
        let keys = self.by_height.get(&height).into_iter().flatten();
        for (key, outcome) in keys.zip(outcomes) {
            if let Some(place) = self.places.get_mut(key) {
                place.outcome = Some(*outcome);
            }
        }
    }

    /// Returns the place of an act, if it was decided lately.
    #[must_use]
    pub(crate) fn place(&self, author: PublicKey, lane: Lane, seq: Seq) -> Option<DecidedAct> {
        self.places.get(&(author, lane, seq)).copied()
    }

    /// Returns the events that scripts got in a turn, in the order they got them.
    #[must_use]
    pub(crate) fn order(&self, height: Height) -> Option<&[Received]> {
        self.orders.get(&height).map(|order| order.events.as_slice())
    }

    /// Returns the root after a height.
    #[must_use]
    pub(crate) fn root(&self, height: Height) -> Option<Root> {
        self.roots.get(&height).copied()
    }

    /// Returns the outcomes leaf of a height, proved against the root after that same height.
    #[must_use]
    pub(crate) fn outcomes(&self, height: Height) -> Option<&StateProof> {
        self.outcomes.get(&height)
    }
}

#[cfg(test)]
mod tests {
    use metatopia_scripting::Event;
    use metatopia_sim::Sender;
    use metatopia_types::{
        Act, Digest, Envelope, Header, ObjectId, ScriptId, Signature, SignedEnvelope, SimId, Tick,
        TurnBody, Validator, ValidatorSet, limits::ACTS_PER_TURN_MAX,
    };

    use super::*;

    fn heard(bytes: usize) -> Received {
        Received {
            tick: Tick(1),
            script: ScriptId(1),
            sender: Sender::Core,
            from: ObjectId(0),
            event: Event::Chat { from: ObjectId(0), text: "x".repeat(bytes) },
        }
    }

    #[test]
    fn orders_of_much_talk_are_bounded_by_bytes_and_the_newest_stays() {
        let mut archive = Archive::default();
        let turn: Vec<Received> = (0..400).map(|_| heard(512)).collect();
        for height in 1..=100 {
            archive.remember(Height(height), &turn);
            assert!(archive.order_bytes <= ORDER_BYTES_MAX);
        }
        let kept = archive.orders.len();
        assert!(kept < 100 && archive.order(Height(100)).is_some_and(|order| order.len() == 400));
        assert!(archive.order(Height(100 - kept as u64)).is_none());

        // A turn that is applied once more counts once, and one that is too long alone stays alone.
        let before = archive.order_bytes;
        archive.remember(Height(100), &turn);
        assert_eq!(archive.order_bytes, before);
        archive.remember(Height(101), &[heard(ORDER_BYTES_MAX)]);
        assert_eq!(archive.orders.len(), 1);
        assert!(archive.order(Height(101)).is_some());
    }

    /// Returns the turn of a height with so many acts of one author.
    fn turn(height: u64, acts: usize) -> Turn {
        let act = |seq: u64| {
            let envelope = Envelope {
                sim: SimId(Digest::ZERO),
                author: PublicKey([1; 32]),
                lane: Lane(height),
                seq: Seq(seq),
                last_valid: Height(height),
                act: Act::Heartbeat,
            };
            SignedEnvelope { envelope, signature: Signature::from_bytes([0; 64]) }
        };
        let body = TurnBody::new((0..acts as u64).map(act).collect(), Vec::new());
        let header = Header { height: Height(height), ..Header::unstated() };
        Turn::of(header, body.expect("acts of one turn"))
    }

    #[test]
    fn places_are_remembered_for_so_many_acts_and_forgotten_by_whole_turns() {
        let mut archive = Archive::default();
        let full = PLACES_MAX / ACTS_PER_TURN_MAX;
        for height in 1..=full as u64 {
            archive.decided(&turn(height, ACTS_PER_TURN_MAX));
        }
        let rest = PLACES_MAX - full * ACTS_PER_TURN_MAX;
        archive.decided(&turn(full as u64 + 1, rest));
        assert_eq!(archive.places.len(), PLACES_MAX);

        archive.decided(&turn(full as u64 + 2, 1));

        assert_eq!(archive.places.len(), PLACES_MAX + 1 - ACTS_PER_TURN_MAX);
        let oldest = archive.places.values().map(|place| place.height).min();
        assert_eq!(oldest, Some(Height(2)), "the first turn is forgotten");
    }

    #[test]
    fn roots_are_remembered_for_so_many_turns() {
        let mut archive = Archive::default();
        let members = vec![Validator { key: PublicKey([1; 32]), power: 1 }];
        let mut applied = Applied {
            height: Height(0),
            tick: Tick(0),
            root: Root(Digest::ZERO),
            outcomes: Vec::new(),
            validators: ValidatorSet::new(members, |_| true).expect("a set of one"),
            chat: Vec::new(),
            told: Vec::new(),
            forgotten: Vec::new(),
            forms: Vec::new(),
            sounds: Vec::new(),
            order: Vec::new(),
            failures: Vec::new(),
            log: Vec::new(),
            changed: Vec::new(),
        };
        for height in 1..=ROOTS_MAX as u64 + 1 {
            applied.height = Height(height);
            archive.applied(&applied, None);
        }

        assert_eq!(archive.roots.len(), ROOTS_MAX);
        assert_eq!(archive.roots.keys().next(), Some(&Height(2)), "the first one is forgotten");
    }

    #[test]
    fn orders_of_quiet_turns_are_bounded_by_their_number() {
        let mut archive = Archive::default();
        (1..=ORDERS_MAX as u64 + 5).for_each(|height| archive.remember(Height(height), &[]));
        assert_eq!((archive.orders.len(), archive.order_bytes), (ORDERS_MAX, 0));
    }
}
