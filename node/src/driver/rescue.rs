//! A state that is fetched from other servers: told of, and gone on from.

use metatopia_replica::{
    FetchNews, Fetching, Replacement, Replica, Unasked, encode_snapshot,
    fetch::Progress,
    keeper::{Done, Health, Order, Restart},
};
use metatopia_store::Snapshot;

use super::{Driver, DriverError, Memory, order};
use crate::{client_driver::random, storage};

impl Driver {
    /// Goes on from a state that was fetched: as a restart does, in this process.
    pub(super) async fn replace(
        &mut self,
        memory: &mut Memory,
        replacement: Replacement,
    ) -> Result<(), DriverError> {
        let Replacement { need, from, base, world, note } = replacement;
        let (height, root) = (world.height(), world.root());
        let snapshot = Snapshot { height, root, bytes: encode_snapshot(&base, &world) };
        order(&self.orders, Order::Replace { snapshot, note }).await?;
        // Everything that the ended replica waited for comes before the answer, and goes with it.
        let Restart { past, records, unread } = loop {
            match self.stored.recv().await.ok_or(DriverError::Thread("storage"))? {
                Done::Replaced(Ok(restart)) => break restart,
                Done::Replaced(Err(why)) => return Err(DriverError::NotReplaced(why)),
                Done::Health(health) => {
                    memory.disk = (health != Health::Sound).then_some(health);
                }
                // What is missing with that state comes after the answer.
                Done::Synced(_) | Done::Loaded { .. } | Done::Gaps(_) | Done::News(_) => {}
            }
        };
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
        memory.replies.clear();
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
