//! State sync in the driver: it stores a fetched state, and continues from it.

use metatopia_replica::{
    FetchEvent, Fetching, Replacement, Replica, Unasked, encode_snapshot,
    fetch::Progress,
    keeper::{Order, Restart},
};
use metatopia_store::Snapshot;

use super::{Driver, DriverError, LoopState, order};
use crate::disk_thread;

impl Driver {
    /// Orders the disk to store a fetched state. On a full disk that waits until there is room.
    pub(super) async fn replace(
        &mut self,
        state: &mut LoopState,
        mut replacement: Box<Replacement>,
    ) -> Result<(), DriverError> {
        let Replacement { base, world, note, .. } = replacement.as_mut();
        let (height, root) = (world.height(), world.root());
        let snapshot = Snapshot { height, root, bytes: encode_snapshot(base, world) };
        let note = note.take();
        state.replacement = Some(replacement);
        order(&self.orders, Order::Replace { snapshot, note }).await
    }

    /// Opens a replica with the stored state, as a restart does, in this process. All answers to
    /// the ended replica came before this one, and were dropped with it.
    pub(super) fn replaced(
        &mut self,
        state: &mut LoopState,
        restart: Result<Restart, String>,
    ) -> Result<(), DriverError> {
        let Restart { past, records, unread } = restart.map_err(DriverError::NotReplaced)?;
        let replacement = state.replacement.take();
        let replacement = replacement.expect("the disk stores only a state that it was ordered to");
        let Replacement { reason, from, base, world, .. } = *replacement;
        let height = world.height();
        disk_thread::log_unread(unread.as_ref());
        getrandom::fill(&mut self.config.seed).expect("the operating system has randomness");
        let (config, now) = (self.config.clone(), self.clock.now());
        let replica = Replica::open(config, base, world, past, records, now);
        self.replica = replica.map_err(|error| DriverError::NotReplaced(error.to_string()))?;
        tracing::warn!(why = reason.describe(), %from, %height, "goes on from a state of other servers");
        if let Some(damage) = &mut self.damage {
            damage.push_str(&format!("; the state after height {height} was fetched from others"));
        }
        state.peer_set.configured.clear();
        state.halted = None;
        state.turn_askers_away();
        state.acts.clear();
        self.introduce(state);
        Ok(())
    }
}

/// Logs an event of a fetch.
pub(super) fn log(news: &FetchEvent) {
    match news {
        FetchEvent::Begun { reason, peers } => {
            tracing::warn!(why = reason.describe(), peers, "fetches a state from other servers");
        }
        FetchEvent::Dropped { peer, why } => {
            tracing::warn!(server = %peer, reason = %why, "not asked for more");
        }
        FetchEvent::Unprovable(last) => {
            let why = Unasked::Unprovable.describe();
            tracing::warn!(%last, %why, "turns are missing and are not asked for");
        }
        FetchEvent::Failed(why) => tracing::warn!(%why, "no state was fetched; tries again"),
    }
}

/// Returns a description of how far a fetch is, for the status.
pub(super) fn describe(fetching: &Fetching) -> String {
    let why = fetching.reason.describe();
    let how_far = match &fetching.progress {
        None => "it waits for a server that gives it a state".to_owned(),
        Some(Progress { height: Some(height), bytes, total, .. }) if *total > 0 => {
            let (bytes, total) = (bytes / 1_024, total / 1_024);
            format!("it fetches the state after height {height}: {bytes} of {total} KiB")
        }
        Some(_) => "it asks other servers for a state".to_owned(),
    };
    format!("{how_far}, for it {why}")
}
