//! Traces: what things were before somebody changed, made or deleted them, so that a moderator can undo it.

use std::collections::BTreeSet;

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
    /// The thing before the first of these acts; none if that one made it.
    pub before: Option<Box<DeletedObject>>,
    /// Whether the last of these acts deleted it.
    pub deleted: bool,
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
    /// Index: the traces of each key.
    by: BTreeSet<(PublicKey, ObjectId)>,
    /// Index: the oldest ones first.
    order: BTreeSet<(u64, ObjectId)>,
}

impl Traces {
    /// Builds the indexes.
    pub(crate) fn index(&mut self) {
        self.by = self.all.iter().map(|(id, trace)| (trace.by, *id)).collect();
        self.order = self.all.iter().map(|(id, trace)| (trace.time, *id)).collect();
    }

    /// Sets the trace of a thing, and forgets the oldest one if there are too many.
    pub(crate) fn put(&mut self, id: ObjectId, trace: ThingTrace) {
        self.forget(id);
        self.by.insert((trace.by, id));
        self.order.insert((trace.time, id));
        self.all.insert(id, trace);
        if self.all.len() > TRACES_MAX
            && let Some((_, oldest)) = self.order.first().copied()
        {
            self.forget(oldest);
        }
    }

    /// Forgets the trace of a thing, and returns it.
    pub(crate) fn forget(&mut self, id: ObjectId) -> Option<ThingTrace> {
        let trace = self.all.remove(&id)?;
        self.by.remove(&(trace.by, id));
        self.order.remove(&(trace.time, id));
        Some(trace)
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

    /// Returns the things of a key's traces that began at this governance time or later.
    pub(crate) fn since<'a>(
        &'a self,
        by: &PublicKey,
        time: u64,
    ) -> impl Iterator<Item = (ObjectId, &'a ThingTrace)> {
        let all = (*by, ObjectId(0))..=(*by, ObjectId(u64::MAX));
        let own = self.by.range(all).filter_map(|(_, id)| Some((*id, self.all.get(id)?)));
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
        self.all.iter().any(|(id, trace)| {
            let before = trace.before.as_ref().filter(|_| trace.deleted);
            before.is_some_and(|before| before.object.origin(sim, *id) == origin)
        })
    }

    /// Makes one key's traces those of another, and the things in them.
    pub(crate) fn change_key(&mut self, old: &PublicKey, new: PublicKey) {
        let owned = |trace: &ThingTrace| {
            trace.before.as_ref().is_some_and(|before| before.object.owner == Some(*old))
        };
        let named = self.all.iter().filter(|(_, trace)| trace.by == *old || owned(trace));
        let ids: Vec<ObjectId> = named.map(|(id, _)| *id).collect();
        for id in ids {
            let Some(trace) = self.all.get_mut(&id) else { continue };
            if trace.by == *old {
                trace.by = new;
            }
            if let Some(before) = &mut trace.before
                && before.object.owner == Some(*old)
            {
                before.object.owner = Some(new);
            }
        }
        self.index();
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
