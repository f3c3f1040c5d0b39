//! Traces: what things were before somebody changed, made or deleted them, so that a moderator can undo it.

use std::collections::{BTreeMap, BTreeSet};

use metatopia_types::{Height, ObjectId, Origin, PublicKey, SimId};
use serde::{Deserialize, Serialize};

use crate::{
    acts::DeletedObject,
    limits::{ENDINGS_PER_TURN_MAX, TRACE_MS, TRACES_MAX},
    state::World,
    tree::Tracked,
};

/// What one key did to a thing, by acts one after the other. An act of another key begins another trace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThingTrace {
    /// Who did it.
    pub by: PublicKey,
    /// The turn of the first of these acts.
    pub height: Height,
    /// The governance time then.
    pub time: u64,
    /// The thing before the first of these acts; none if that one made it. Of a thing that was
    /// fetched from luggage, what it was then.
    pub before: Option<Box<DeletedObject>>,
    /// Whether the first of these acts fetched it from luggage.
    pub fetched: bool,
    /// Whether the last of these acts deleted it.
    pub deleted: bool,
    /// The turn in which an undo last left the thing as it was, because a rule was against it; 0 if none did.
    pub tried: Height,
}

impl ThingTrace {
    /// Says whether an undo of it would restore the thing of this origin in `sim`; `id` is that of its thing.
    fn restores(&self, sim: SimId, id: ObjectId, origin: Origin) -> bool {
        let before = self.before.as_ref().filter(|_| self.deleted);
        before.is_some_and(|before| before.object.origin(sim, id) == origin)
    }
}

/// What one key did to things since some time, in numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TraceCount {
    /// Things that the key made.
    pub made: u32,
    /// Things that the key changed.
    pub changed: u32,
    /// Things that the key deleted.
    pub deleted: u32,
}

impl TraceCount {
    /// Returns the number of things.
    #[must_use]
    pub const fn all(&self) -> u32 {
        self.made.saturating_add(self.changed).saturating_add(self.deleted)
    }
}

/// The traces of a sim, by thing.
#[derive(Debug, Clone, Default)]
pub(crate) struct Traces {
    pub(crate) all: Tracked<ObjectId, ThingTrace>,
    /// Index: the traces of each key. First those that no undo tried in vain, the oldest first; then the one
    /// that was tried the longest ago.
    by: BTreeSet<(PublicKey, Height, u64, ObjectId)>,
    /// Index: the oldest ones first.
    order: BTreeSet<(u64, ObjectId)>,
    /// Index: how many traces each key has.
    counts: BTreeMap<PublicKey, usize>,
    /// Index: the keys by how many traces they have.
    shares: BTreeSet<(usize, PublicKey)>,
}

impl Traces {
    /// Builds the indexes.
    pub(crate) fn index(&mut self) {
        let place =
            |(id, trace): (&ObjectId, &ThingTrace)| (trace.by, trace.tried, trace.time, *id);
        self.by = self.all.iter().map(place).collect();
        self.order = self.all.iter().map(|(id, trace)| (trace.time, *id)).collect();
        self.counts = BTreeMap::new();
        for (_, trace) in self.all.iter() {
            *self.counts.entry(trace.by).or_default() += 1;
        }
        self.shares = self.counts.iter().map(|(key, count)| (*count, *key)).collect();
    }

    /// Sets the trace of a thing. If there are too many, the first trace goes of the key that has the most, so
    /// that nobody pushes out the traces of others with many of their own.
    pub(crate) fn put(&mut self, id: ObjectId, trace: ThingTrace) {
        self.forget(id);
        self.by.insert((trace.by, trace.tried, trace.time, id));
        self.order.insert((trace.time, id));
        self.recount(trace.by, |count| count + 1);
        self.all.insert(id, trace);
        if self.all.len() > TRACES_MAX
            && let Some(first) = self.first_to_go()
        {
            self.forget(first);
        }
    }

    /// Returns the thing whose trace goes when there are too many.
    fn first_to_go(&self) -> Option<ObjectId> {
        let (_, most) = self.shares.last()?;
        self.of(most).next()
    }

    /// Forgets the trace of a thing, and returns it.
    pub(crate) fn forget(&mut self, id: ObjectId) -> Option<ThingTrace> {
        let trace = self.all.remove(&id)?;
        self.by.remove(&(trace.by, trace.tried, trace.time, id));
        self.order.remove(&(trace.time, id));
        self.recount(trace.by, |count| count - 1);
        Some(trace)
    }

    /// Changes how many traces a key has.
    fn recount(&mut self, key: PublicKey, change: impl Fn(usize) -> usize) {
        let before = self.counts.remove(&key).unwrap_or_default();
        self.shares.remove(&(before, key));
        let after = change(before);
        if after > 0 {
            self.counts.insert(key, after);
            self.shares.insert((after, key));
        }
    }

    /// Returns the things of a key's traces, in the order in which they are tried.
    fn of(&self, by: &PublicKey) -> impl Iterator<Item = ObjectId> {
        let last = (*by, Height(u64::MAX), u64::MAX, ObjectId(u64::MAX));
        self.by.range((*by, Height(0), 0, ObjectId(0))..=last).map(|(.., id)| *id)
    }

    /// Forgets the traces by which the thing of this origin could be restored in `sim`.
    pub(crate) fn forget_restoring(&mut self, sim: SimId, origin: Origin) {
        let of_origin = self.all.iter().filter(|(id, trace)| trace.restores(sim, **id, origin));
        let ids: Vec<ObjectId> = of_origin.map(|(id, _)| *id).collect();
        ids.into_iter().for_each(|id| drop(self.forget(id)));
    }

    /// Forgets the traces that are too old, some of them in each turn.
    pub(crate) fn pass(&mut self, time: u64) {
        for _ in 0..ENDINGS_PER_TURN_MAX {
            let is_old = |began: u64| began.saturating_add(TRACE_MS) <= time;
            match self.order.first().copied() {
                Some((began, id)) if is_old(began) => drop(self.forget(id)),
                _ => return,
            }
        }
    }

    /// Returns the things of a key's traces that began at this governance time or later, in the order in which
    /// they are tried.
    pub(crate) fn since<'a>(
        &'a self,
        by: &PublicKey,
        time: u64,
    ) -> impl Iterator<Item = (ObjectId, &'a ThingTrace)> {
        let own = self.of(by).filter_map(|id| Some((id, self.all.get(&id)?)));
        own.filter(move |(_, trace)| trace.time >= time)
    }

    /// Returns what a key did to things since a time, in numbers.
    pub(crate) fn count(&self, by: &PublicKey, time: u64) -> TraceCount {
        let mut count = TraceCount::default();
        for (_, trace) in self.since(by, time) {
            let kind = match (&trace.before, trace.deleted) {
                (None, _) => &mut count.made,
                (Some(_), false) => &mut count.changed,
                (Some(_), true) => &mut count.deleted,
            };
            *kind = kind.saturating_add(1);
        }
        count
    }

    /// Says whether it can restore the thing of this origin in `sim`.
    pub(crate) fn restores(&self, sim: SimId, origin: Origin) -> bool {
        self.all.iter().any(|(id, trace)| trace.restores(sim, *id, origin))
    }

    /// Makes one key's traces those of another, and the things in them.
    pub(crate) fn change_key(&mut self, old: &PublicKey, new: PublicKey) {
        let own: Vec<ObjectId> = self.of(old).collect();
        for id in own {
            let Some(trace) = self.forget(id) else { continue };
            self.put(id, ThingTrace { by: new, ..trace });
        }
        let owned = |trace: &ThingTrace| {
            trace.before.as_ref().is_some_and(|before| before.object.owner == Some(*old))
        };
        let things = self.all.iter().filter(|(_, trace)| owned(trace));
        let things: Vec<ObjectId> = things.map(|(id, _)| *id).collect();
        for id in things {
            // No index is by the owner.
            let trace = self.all.get_mut(&id).expect("a trace that was just seen");
            if let Some(before) = &mut trace.before {
                before.object.owner = Some(new);
            }
        }
    }
}

impl World {
    /// Returns what was done to a thing of late, with what it was before.
    #[must_use]
    pub fn trace(&self, id: ObjectId) -> Option<&ThingTrace> {
        self.state.people.traces.all.get(&id)
    }

    /// Returns what a key did to things in the last seconds of governance time, in numbers.
    #[must_use]
    pub fn traced(&self, by: &PublicKey, seconds: u32) -> TraceCount {
        self.state.people.traces.count(by, self.state.governance.seconds_ago(seconds))
    }
}

#[cfg(test)]
mod tests;
