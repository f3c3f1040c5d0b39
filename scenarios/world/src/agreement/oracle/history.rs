//! The one history: which turns were told to be decided, and what every log must hold in the end.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use metatopia_consensus::Decision;
use metatopia_types::{ActId, HeaderId, Height, Millis, Root, Turn};

/// See the module.
#[derive(Debug)]
pub struct History {
    turns: BTreeMap<Height, Arc<Turn>>,
    ids: BTreeMap<Height, HeaderId>,
    roots: BTreeMap<Height, Root>,
    /// What each seat told.
    told: Vec<BTreeMap<Height, HeaderId>>,
}

impl History {
    pub(crate) fn new(seats: usize) -> Self {
        Self {
            turns: BTreeMap::new(),
            ids: BTreeMap::new(),
            roots: BTreeMap::new(),
            told: vec![BTreeMap::new(); seats],
        }
    }

    /// A turn that was told to be decided.
    #[must_use]
    pub fn turn(&self, height: Height) -> Option<&Arc<Turn>> {
        self.turns.get(&height)
    }

    /// All turns that were told, ascending.
    pub fn turns(&self) -> impl Iterator<Item = &Arc<Turn>> {
        self.turns.values()
    }

    /// The roots that servers computed.
    #[must_use]
    pub const fn roots(&self) -> &BTreeMap<Height, Root> {
        &self.roots
    }

    pub(crate) fn agrees_on_root(&mut self, height: Height, root: Root) -> bool {
        *self.roots.entry(height).or_insert(root) == root
    }

    /// Notes that a seat told of a turn; whether that is news.
    pub(crate) fn note_told(&mut self, seat: usize, height: Height, id: HeaderId) -> bool {
        self.told[seat].insert(height, id) != Some(id)
    }

    pub(crate) fn forget_told(&mut self, seat: usize) {
        self.told[seat].clear();
    }

    /// The turn that others have at this height, if it is another.
    pub(crate) fn disagrees(&mut self, height: Height, id: HeaderId) -> Option<HeaderId> {
        let first = *self.ids.entry(height).or_insert(id);
        (first != id).then_some(first)
    }

    /// Adds a turn; whether it is new.
    pub(crate) fn extend(&mut self, turn: &Arc<Turn>) -> bool {
        self.turns
            .insert(turn.header.height, Arc::clone(turn))
            .is_none()
    }

    fn before(&self, height: Height) -> Option<&Arc<Turn>> {
        self.turns.get(&height.minus(1)?)
    }

    /// What is wrong with how a turn follows the one before it.
    pub(crate) fn breaks(&self, height: Height) -> Option<String> {
        let turn = self.turns.get(&height)?;
        let before = self.ids.get(&height.minus(1)?).copied().unwrap_or_default();
        let known = height == Height(1) || self.ids.contains_key(&height.minus(1)?);
        if known && turn.header.previous != before {
            return Some(format!(
                "follows {:?}, not {before:?}",
                turn.header.previous
            ));
        }
        let stated = self.roots.get(&height.minus(2)?)?;
        (turn.header.root != *stated).then(|| "states another root than servers had".to_owned())
    }

    /// What is wrong with a turn's time, if clocks showed at most `latest` less their tolerance.
    pub(crate) fn time_is_wrong(
        &self,
        height: Height,
        turn_length: u64,
        latest: Millis,
    ) -> Option<String> {
        let time = self.turns.get(&height)?.header.time;
        let before = self.before(height).map(|turn| turn.header.time);
        if before.is_some_and(|before| time <= before) {
            return Some(format!("{time:?} is not after {before:?}"));
        }
        // A slot, or the smallest step: there is nothing else to choose.
        let smallest = before.map(|before| before.plus(1));
        if !time.0.is_multiple_of(turn_length) && Some(time) != smallest {
            return Some(format!("{time:?} is no multiple of {turn_length} ms"));
        }
        let ahead = time > latest.max(smallest.unwrap_or_default());
        ahead.then(|| format!("{time:?} is ahead of every clock"))
    }

    /// What a log lacks, or has twice, of what the outside was told by anybody honest.
    pub(crate) fn missing(
        &self,
        seat: usize,
        decisions: &BTreeMap<Height, Arc<Decision>>,
    ) -> Vec<String> {
        let has = |height: &Height| decisions.get(height).map(|decision| decision.id());
        let first = decisions.keys().next().copied().unwrap_or(Height(1));
        let mut missing = vec![];
        for (height, id) in self.told[seat]
            .iter()
            .filter(|(height, _)| **height >= first)
        {
            if has(height) != Some(*id) {
                missing.push(format!("the log lacks {id:?} at {height}, which it told"));
            }
        }
        let mut seen: BTreeSet<ActId> = BTreeSet::new();
        for act in decisions
            .values()
            .flat_map(|decision| decision.turn.body.acts())
        {
            if !seen.insert(act.id()) {
                missing.push(format!("act {:?} is there twice", act.id()));
            }
        }
        // What others told of is here, too, as far as this log goes.
        let Some(last) = decisions.keys().next_back() else {
            return missing;
        };
        for (height, turn) in self.turns.range(first..=*last) {
            if has(height) != Some(turn.id()) {
                missing.push(format!(
                    "the log has not the turn at {height} that was told"
                ));
            }
            for act in turn
                .body
                .acts()
                .iter()
                .filter(|act| !seen.contains(&act.id()))
            {
                missing.push(format!("act {:?} is not there", act.id()));
            }
        }
        missing
    }
}
