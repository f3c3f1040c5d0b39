//! What was decided lately, as clients ask for it: where each act is, and what became of it.

use std::collections::BTreeMap;

use metatopia_protocol::GovernanceEntry;
use metatopia_sim::{Applied, Received};
use metatopia_types::{
    ActId, Height, Lane, Outcome, PublicKey, Root, Seq, StateProof, Turn, limits,
};

/// Acts whose place is remembered: two minutes of 500 acts a second, about 12 MiB.
pub(crate) const PLACES_MAX: usize = 60_000;

/// Roots that are remembered: an hour of 20 turns a second, 2.9 MiB.
pub(crate) const ROOTS_MAX: usize = 72_000;

/// Turns whose order of events is remembered: a minute.
pub(crate) const ORDERS_MAX: usize = 1_200;

/// Where a decided act is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// In the turn of this height.
    pub height: Height,
    /// At this place among its acts.
    pub index: u32,
    /// Its id.
    pub act: ActId,
    /// What became of it; nothing until the turn is applied.
    pub outcome: Option<Outcome>,
}

type PlaceKey = (PublicKey, Lane, Seq);

/// Bounded memories of the recent past.
#[derive(Debug, Default)]
pub(crate) struct Archive {
    places: BTreeMap<PlaceKey, Place>,
    by_height: BTreeMap<Height, Vec<PlaceKey>>,
    roots: BTreeMap<Height, Root>,
    outcomes: BTreeMap<Height, StateProof>,
    orders: BTreeMap<Height, Vec<Received>>,
    /// Who decides, as it was told last.
    governance: Option<(Height, GovernanceEntry)>,
}

impl Archive {
    /// A turn was decided.
    pub(crate) fn decided(&mut self, turn: &Turn) {
        let height = turn.header.height;
        for (act, index) in turn.body.acts().iter().zip(0..) {
            let envelope = &act.envelope;
            let key = (envelope.author, envelope.lane, envelope.seq);
            let place = Place { height, index, act: act.id(), outcome: None };
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

    /// Somebody asks who decides after the turn of this height.
    pub(crate) fn govern(&mut self, height: Height, state: impl FnOnce() -> GovernanceEntry) {
        if self.governance.as_ref().is_none_or(|(known, _)| *known != height) {
            self.governance = Some((height, state()));
        }
    }

    /// Who decides, and after the turn of which height that was so.
    pub(crate) fn governance(&self) -> Option<&(Height, GovernanceEntry)> {
        self.governance.as_ref()
    }

    /// A turn was applied.
    pub(crate) fn applied(&mut self, result: &Applied, proof: Option<StateProof>) {
        let (height, root) = (result.height, result.root);
        self.settle(height, &result.outcomes);
        self.orders.insert(height, result.order.clone());
        if self.orders.len() > ORDERS_MAX {
            self.orders.pop_first();
        }
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

    /// What became of the acts of a turn, in their order.
    pub(crate) fn settle(&mut self, height: Height, outcomes: &[Outcome]) {
        let keys = self.by_height.get(&height).into_iter().flatten();
        for (key, outcome) in keys.zip(outcomes) {
            if let Some(place) = self.places.get_mut(key) {
                place.outcome = Some(*outcome);
            }
        }
    }

    /// Where an act is, if it was decided lately.
    #[must_use]
    pub(crate) fn place(&self, author: PublicKey, lane: Lane, seq: Seq) -> Option<Place> {
        self.places.get(&(author, lane, seq)).copied()
    }

    /// The events that scripts got in a turn, in the order they got them.
    #[must_use]
    pub(crate) fn order(&self, height: Height) -> Option<&[Received]> {
        self.orders.get(&height).map(Vec::as_slice)
    }

    /// The root after a height.
    #[must_use]
    pub(crate) fn root(&self, height: Height) -> Option<Root> {
        self.roots.get(&height).copied()
    }

    /// The outcomes leaf of a height, proved against the root after that same height.
    #[must_use]
    pub(crate) fn outcomes(&self, height: Height) -> Option<&StateProof> {
        self.outcomes.get(&height)
    }
}
