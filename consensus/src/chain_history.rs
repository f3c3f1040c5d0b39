//! What is decided, what is applied, and what both fix for the heights to come.

use std::collections::BTreeMap;
use std::sync::Arc;

use metatopia_types::{
    HeaderId, Height, Millis, Root, ValidatorSet, limits::ROOT_LAG, limits::SET_LAG, wire,
};

use crate::limits::{BASES_KEPT, DECISION_BYTES_KEPT, DECISIONS_KEPT, LINKS_MAX};
use crate::{AppliedTurn, Base, Decision, JoinPack, Link};

/// Roots and sets are kept for this many heights below the last applied one.
const STATES_KEPT: u64 = BASES_KEPT + SET_LAG;

/// The decided turns, as far as they matter here.
#[derive(Debug)]
pub(crate) struct ChainHistory {
    base: Base,
    tip: Tip,
    /// The last height whose state is known, from the host or from the log.
    applied: Height,
    roots: BTreeMap<Height, Root>,
    sets: BTreeMap<Height, Arc<ValidatorSet>>,
    decisions: BTreeMap<Height, (Arc<Decision>, usize)>,
    bytes: usize,
    links: Vec<Link>,
}

/// The last decided turn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tip {
    pub height: Height,
    pub header: HeaderId,
    pub time: Millis,
}

impl ChainHistory {
    pub(crate) fn new(base: Base) -> Self {
        let sets = (1..).zip(&base.sets);
        let sets = sets.map(|(ahead, set)| (base.height.plus(ahead), Arc::new(set.clone())));
        let mut roots = BTreeMap::from([(base.height, base.roots[1])]);
        if let Some(before) = base.height.minus(1) {
            roots.insert(before, base.roots[0]);
        }
        Self {
            tip: Tip { height: base.height, header: base.header, time: base.time },
            applied: base.height,
            roots,
            sets: sets.collect(),
            decisions: BTreeMap::new(),
            bytes: 0,
            links: base.links.clone(),
            base,
        }
    }

    pub(crate) const fn tip(&self) -> Tip {
        self.tip
    }

    pub(crate) const fn applied(&self) -> Height {
        self.applied
    }

    /// Returns who votes at a height, if that is known already, or still.
    pub(crate) fn set(&self, height: Height) -> Option<&Arc<ValidatorSet>> {
        self.sets.get(&height)
    }

    /// Returns the height and the root of the state whose root the header of `height` states.
    pub(crate) fn root_for(&self, height: Height) -> Option<(Height, Root)> {
        let at = height.minus(ROOT_LAG).unwrap_or_default();
        self.roots.get(&at).map(|root| (at, *root))
    }

    pub(crate) fn decision(&self, height: Height) -> Option<&Arc<Decision>> {
        self.decisions.get(&height).map(|(decision, _)| decision)
    }

    /// Returns how many decided turns are kept, and their bytes.
    pub(crate) fn kept(&self) -> (usize, usize) {
        (self.decisions.len(), self.bytes)
    }

    /// Adds the decision of the next height.
    ///
    /// # Panics
    /// If it is of another height.
    pub(crate) fn decide(&mut self, decision: Arc<Decision>) {
        let header = &decision.turn.header;
        let height = header.height;
        assert_eq!(height, self.tip.height.plus(1), "turns are decided in order");
        self.tip = Tip { height, header: decision.id(), time: header.time };
        if header.validators != header.next_validators
            && let Some(next) = self.sets.get(&height.plus(1))
        {
            self.links.push(Link {
                header: header.clone(),
                certificate: decision.certificate.clone(),
                next: next.members().to_vec(),
            });
            // The oldest is only needed by who trusts nothing but genesis.
            let surplus = self.links.len().saturating_sub(LINKS_MAX);
            self.links.drain(..surplus);
        }
        let bytes = wire::length(decision.turn.as_ref());
        self.bytes = self.bytes.saturating_add(bytes);
        self.decisions.insert(height, (decision, bytes));
        self.forget_decisions();
    }

    /// Keeps what a join pack of a base that can be taken needs, and more while there is room.
    fn forget_decisions(&mut self) {
        let tip = self.tip.height.0;
        while let Some(oldest) = self.decisions.first_entry() {
            let age = tip.saturating_sub(oldest.key().0);
            let many = age >= DECISIONS_KEPT;
            let much = self.bytes > DECISION_BYTES_KEPT && age > BASES_KEPT;
            if !many && !much {
                break;
            }
            let (_, bytes) = oldest.remove();
            self.bytes = self.bytes.saturating_sub(bytes);
        }
    }

    /// Adds what the next height did to the state.
    ///
    /// # Panics
    /// If it is of another height, or of one that is not decided.
    pub(crate) fn apply(&mut self, applied: &AppliedTurn) {
        assert_eq!(applied.height, self.applied.plus(1), "turns are applied in order");
        assert!(applied.height <= self.tip.height, "only decided turns are applied");
        self.applied = applied.height;
        self.roots.insert(applied.height, applied.root);
        let set = Arc::new(applied.validators.clone());
        self.sets.insert(applied.height.plus(SET_LAG), set);
        if let Some(oldest) = applied.height.minus(STATES_KEPT) {
            self.roots = self.roots.split_off(&oldest);
            self.sets = self.sets.split_off(&oldest);
        }
    }

    /// Forgets the states from this height on, because they are wrong. The base's state stays.
    pub(crate) fn forget_states(&mut self, from: Height) {
        let from = from.max(self.base.height.plus(1));
        self.applied = self.applied.min(Height(from.0.saturating_sub(1)));
        drop(self.roots.split_off(&from));
        drop(self.sets.split_off(&from.plus(SET_LAG)));
    }

    /// Returns the newest validator set that is known.
    pub(crate) fn newest_set(&self) -> &Arc<ValidatorSet> {
        let newest = self.sets.last_key_value();
        newest.map(|(_, set)| set).expect("a base brings sets")
    }

    /// Returns what an agreement must know that starts after `height`.
    pub(crate) fn base(&self, height: Height, voice: bool) -> Option<Base> {
        if height == self.base.height {
            return Some(Base { voice, ..self.base.clone() });
        }
        let turn = &self.decision(height)?.turn;
        let set = |ahead| self.set(height.plus(ahead)).map(|set| set.as_ref().clone());
        let root = |height| self.roots.get(&height).copied();
        let links = self.links.iter();
        Some(Base {
            height,
            header: turn.id(),
            time: turn.header.time,
            roots: [root(height.minus(1)?)?, root(height)?],
            sets: [set(1)?, set(2)?, set(3)?],
            links: links.filter(|l| l.header.height <= height).cloned().collect(),
            voice,
        })
    }

    pub(crate) fn links(&self) -> &[Link] {
        &self.links
    }

    /// Returns the proof of the root after `height`.
    pub(crate) fn join_pack(&self, height: Height) -> Option<JoinPack> {
        let header = |ahead| Some(self.decision(height.plus(ahead))?.turn.header.clone());
        let last = self.decision(height.plus(ROOT_LAG))?;
        let links = self.links.iter();
        Some(JoinPack {
            links: links.filter(|link| link.header.height < last.height()).cloned().collect(),
            headers: [header(0)?, header(1)?, header(2)?],
            certificate: last.certificate.clone(),
        })
    }
}
