//! Turns that servers should keep and lack: what others hold of them comes back.

use std::collections::BTreeMap;
use std::time::Duration;

use metatopia_oracle::Law;
use metatopia_replica::Unasked;
use metatopia_replica::keeper::History;
use metatopia_store::list_snapshots;
use metatopia_types::Height;

use super::ReplicaStage;
use crate::replica::node::ReplicaServer;
use crate::replica::oracle::TurnLog;

/// Within so long some of what is missing comes back: a peer that was silent, or lacked it as well, is
/// asked again after half a minute, and two batches of a minute of turns each take a few seconds.
const COMES_BACK: Duration = Duration::from_secs(45);

/// How often it is looked what is still missing.
const LOOK: Duration = Duration::from_secs(1);

impl ReplicaStage {
    /// Plays until nobody honest lacks what a server holds that it could ask.
    pub(super) fn fill_gaps(&mut self) {
        let mut lacked = self.lacked();
        let mut limit = self.world.now() + COMES_BACK;
        while !lacked.is_empty() && self.world.now() < limit {
            self.run_for(LOOK);
            let still = self.lacked();
            let count = |all: &BTreeMap<usize, Vec<Height>>| all.values().map(Vec::len).sum();
            let (before, now): (usize, usize) = (count(&lacked), count(&still));
            if now < before {
                limit = self.world.now() + COMES_BACK;
            }
            lacked = still;
        }
        for (seat, heights) in lacked {
            let (first, last) = (heights[0], heights[heights.len() - 1]);
            let missing = self.world.server(seat).and_then(|server| server.status()?.missing);
            let what = format!(
                "{} turns from {first} to {last} did not come back in {COMES_BACK:?}: {missing:?}",
                heights.len()
            );
            self.world.cluster.oracle.blame(Some(seat), Law::Gap, what);
        }
    }

    /// Returns by seat the turns that an honest server lacks on its disk and is to keep, and that another
    /// server holds that it could ask.
    fn lacked(&self) -> BTreeMap<usize, Vec<Height>> {
        let seats = 0..self.world.seats();
        let honest = seats.filter(|seat| self.world.cluster.is_honest(*seat));
        let running = honest.filter_map(|seat| Some((seat, self.world.server(seat)?)));
        let logs: Vec<(&ReplicaServer, TurnLog)> = running
            .filter_map(|(seat, server)| {
                let log = TurnLog::read(&self.setting, seat, self.world.disk(seat)).ok()?;
                Some((server, log))
            })
            .collect();
        let mut lacked = BTreeMap::new();
        for (server, log) in logs.iter().filter(|(server, _)| !self.is_excused(server)) {
            let held: Vec<&TurnLog> = logs
                .iter()
                .filter(|(_, other)| server.may_ask(&self.setting.name(other.seat)))
                .map(|(_, other)| other)
                .collect();
            let end = log.decisions.keys().next_back().copied().unwrap_or_default();
            let heights: Vec<Height> = (self.floor(log.seat).0..end.0)
                .map(Height)
                .filter(|height| !log.decisions.contains_key(height))
                .filter(|height| held.iter().any(|other| other.decisions.contains_key(height)))
                .collect();
            if !heights.is_empty() {
                lacked.insert(log.seat, heights);
            }
        }
        lacked
    }

    /// The first height that a server is to keep.
    fn floor(&self, seat: usize) -> Height {
        let History::Turns(turns) = self.setting.history(seat) else {
            return Height(1);
        };
        let found = list_snapshots(self.world.disk(seat)).unwrap_or_default();
        let older = found.last().and_then(|(height, _)| height.minus(turns));
        older.unwrap_or_default().plus(1)
    }

    /// Returns whether a server is excused, because nobody has to put back what cannot be proved any more.
    /// Where the voters never changed, everything can be proved.
    fn is_excused(&self, server: &ReplicaServer) -> bool {
        let missing = server.status().and_then(|status| status.missing);
        let mut turns = self.world.cluster.oracle.laws.history().turns();
        missing.is_some_and(|missing| missing.unasked == Some(Unasked::Unprovable))
            && turns.any(|turn| turn.header.validators != turn.header.next_validators)
    }
}
