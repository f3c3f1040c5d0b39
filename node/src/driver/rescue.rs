//! A state that is fetched from other servers: told of, and gone on from.

use metatopia_replica::{
    FetchNews, Fetching, Replacement, Replica, Unasked, encode_snapshot,
    fetch::Progress,
    keeper::{Order, Restart},
};
use metatopia_store::Snapshot;

use super::{Driver, DriverError, Memory, order};
use crate::{client_driver::random, storage};

impl Driver {
    /// Has a state stored that was fetched. On a full disk that takes until there is room.
    pub(super) async fn replace(
        &mut self,
        memory: &mut Memory,
        mut replacement: Box<Replacement>,
    ) -> Result<(), DriverError> {
        let Replacement { base, world, note, .. } = replacement.as_mut();
        let (height, root) = (world.height(), world.root());
        let snapshot = Snapshot { height, root, bytes: encode_snapshot(base, world) };
        let note = note.take();
        memory.replacement = Some(replacement);
        order(&self.orders, Order::Replace { snapshot, note }).await
    }

    /// Goes on from it: as a restart does, in this process. Everything that the ended replica waited
    /// for came before, and went with it.
    pub(super) fn replaced(
        &mut self,
        memory: &mut Memory,
        restart: Result<Restart, String>,
    ) -> Result<(), DriverError> {
        let Restart { past, records, unread } = restart.map_err(DriverError::NotReplaced)?;
        let Some(replacement) = memory.replacement.take() else {
            return Ok(());
        };
        let Replacement { need, from, base, world, .. } = *replacement;
        let height = world.height();
        storage::log_unread(unread.as_ref());
        self.config.seed = random();
        let (config, now) = (self.config.clone(), self.clock.now());
        let replica = Replica::open(config, base, world, past, records, now);
        self.replica = replica.map_err(|error| DriverError::NotReplaced(error.to_string()))?;
        tracing::warn!(why = need.told(), %from, %height, "goes on from a state of other servers");
        if let Some(damage) = &mut self.damage {
            damage.push_str(&format!("; the state after height {height} was fetched from others"));
        }
        memory.neighbours.configured.clear();
        memory.halted = None;
        memory.turn_askers_away();
        memory.acts.clear();
        self.introduce(memory);
        Ok(())
    }
}

/// Logs what happens on the way.
pub(super) fn tell(news: &FetchNews) {
    match news {
        FetchNews::Begun { need, peers } => {
            tracing::warn!(why = need.told(), peers, "fetches a state from other servers");
        }
        FetchNews::Dropped { peer, why } => {
            tracing::warn!(server = %peer, reason = %why, "asked for nothing more");
        }
        FetchNews::Unprovable(last) => {
            let why = Unasked::Unprovable.told();
            tracing::warn!(%last, %why, "turns are missing, and not asked for");
        }
        FetchNews::Failed(why) => tracing::warn!(%why, "no state was fetched; tries again"),
    }
}

/// How far it is, for people.
pub(super) fn told(fetching: &Fetching) -> String {
    let why = fetching.need.told();
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
