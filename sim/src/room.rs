//! Room: by how much the state may still grow, so that it can always be read back.
//!
//! A turn begins with the room that the state before it leaves of [`WORLD_BYTES_MAX`]: a number that
//! follows from the agreed state alone, so a server that was restored counts as one that never
//! stopped. Whatever anybody can make grow without a bound of its own takes from it in the canonical
//! order: events in inboxes, what scripts remember, timers, deeds of builders. Nothing gives back
//! before the turn is over. What has a bound of its own has its place beside it, up to
//! [`SNAPSHOT_BYTES_MAX`](crate::SNAPSHOT_BYTES_MAX).
//!
//! A timer takes room once, for as much as it can come to: [`TIMER_BYTES_MAX`]. It keeps that until a
//! script has handled its event and has not set it again, so a world that is full stops none. What a
//! timer or its event is shorter than that, others do not find: state and [`promised`] bytes together
//! stay within the bound.
//!
//! [`WORLD_BYTES_MAX`]: crate::limits::WORLD_BYTES_MAX

use metatopia_types::wire;

use crate::{limits::TIMER_BYTES_MAX, state::State};

/// Bytes by which the state may still grow in this turn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Room(u64);

impl Room {
    /// For what had its room before.
    pub(crate) const ENDLESS: Self = Self(u64::MAX);

    /// What a state of so many bytes leaves of the bound.
    pub(crate) const fn beside(bytes: u64, bound: u64) -> Self {
        Self(bound.saturating_sub(bytes))
    }

    /// Is there room for so many bytes?
    pub(crate) const fn has(self, bytes: usize) -> bool {
        bytes as u64 <= self.0
    }

    /// Takes room for so many bytes. If there is less, it takes nothing and says so.
    pub(crate) const fn take(&mut self, bytes: usize) -> bool {
        let fits = self.has(bytes);
        if fits {
            self.0 -= bytes as u64;
        }
        fits
    }
}

/// Bytes that timers, and events of timers that wait, took room for and do not have.
pub(crate) fn promised(state: &State) -> u64 {
    let alarms = state.alarms.iter().filter_map(|(_, id)| state.scripts.get(id));
    let timers = alarms.flat_map(|script| script.timers.iter().map(|timer| wire::length(&timer)));
    let waiting = state.waiting.iter().filter_map(|id| state.scripts.get(id));
    let events = waiting.flat_map(|script| script.inbox.timer_bytes());
    timers.chain(events).map(|bytes| TIMER_BYTES_MAX.saturating_sub(bytes) as u64).sum()
}

#[cfg(test)]
mod tests;
