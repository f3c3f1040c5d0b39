//! What a server does about its disk: the part of a node's driver that deals with its keeper.

use std::mem;
use std::time::Duration;

use metatopia_replica::keeper::{Done, Health, Order, Restart};
use metatopia_replica::{Input as Event, Replacement, Replica, encode_snapshot};
use metatopia_store::Snapshot;
use metatopia_types::{Now, PublicKey, Round};

use super::{ReplicaReport, ReplicaServer, ReplicaTimer};
use crate::machine::MachineEffect;
use crate::replica::shared::ALONE_TURNS;

/// Between two looks whether a full disk has room again, as a node's pulse.
const PULSE: Duration = Duration::from_secs(1);

/// Until somebody notices that a disk has failed, and starts the server anew.
const NOTICED: Duration = Duration::from_secs(1);

impl ReplicaServer {
    /// Keeps a state that was fetched, to go on with it by another replica, as the node does.
    pub(super) fn replace(&mut self, replacement: Replacement) {
        let Replacement { base, mut world, note, .. } = replacement;
        self.setting.break_rules(self.seat, Round::default(), &mut world);
        let (height, root) = (world.height(), world.root());
        let snapshot = Snapshot { height, root, bytes: encode_snapshot(&base, &world) };
        self.orders.push(Order::Replace { snapshot, note });
        self.replacement = Some((base, Box::new(world)));
    }

    /// The state that was fetched is on the disk, or is not.
    fn replaced(&mut self, now: Now, restart: Result<Restart, String>) {
        let Some((base, world)) = self.replacement.take() else {
            return;
        };
        let height = base.height;
        let mut config = self.setting.config(self.seat, now.wall);
        config.repairs.clone_from(&self.heals);
        let opened = restart.and_then(|Restart { past, records, .. }| {
            let opened = Replica::open(config, base, *world, past, records, now);
            opened.map_err(|error| error.to_string())
        });
        match opened {
            Ok(replica) => {
                self.replica = self.setting.broken_replica(self.seat, replica);
                self.note_members();
            }
            Err(why) => return self.tell(ReplicaReport::Ended(why)),
        }
        (self.astray, self.alone) = (false, ALONE_TURNS);
        self.welcome_again(now);
        if self.health != Health::Sound {
            self.replica_gets(now, Event::Muted(true));
        }
        let peers: Vec<PublicKey> = self.lanes.connected().collect();
        peers.into_iter().for_each(|peer| self.replica_gets(now, Event::PeerUp(peer)));
        self.tell(ReplicaReport::Replaced(height));
        for input in mem::take(&mut self.waiting) {
            self.take_in(now, input);
        }
    }

    /// Takes in what the disk did.
    pub(super) fn done(&mut self, now: Now, done: Done) {
        match done {
            // What the ended replica asked for concerns the next one not.
            Done::Synced(_) | Done::Loaded { .. } if self.replacement.is_some() => {}
            Done::Synced(position) => self.replica_gets(now, Event::Synced(position)),
            Done::Loaded { reader, decisions, oldest, next } => {
                let count = decisions.len();
                self.tell(ReplicaReport::Loaded { reader, count });
                self.replica_gets(now, Event::Loaded { reader, decisions, oldest, next });
            }
            Done::Health(health) => {
                self.health.clone_from(&health);
                self.replica_gets(now, Event::Muted(health != Health::Sound));
                self.wait_for_disk(now);
                self.tell(ReplicaReport::Disk(health));
            }
            // What the next one lacks is told after it is opened.
            Done::Gaps(_) if self.replacement.is_some() => {}
            Done::Gaps(gaps) => self.replica_gets(now, Event::Gaps(gaps)),
            Done::Replaced(restart) => self.replaced(now, restart),
            Done::News(news) => self.tell(ReplicaReport::News(news)),
        }
    }

    /// Sets a timer for a disk that does not take the log. A full disk is asked now and then whether there is
    /// room. One that failed is not used any more, until somebody notices and starts the server anew.
    pub(super) fn wait_for_disk(&mut self, now: Now) {
        let (id, wait) = match self.health {
            Health::Sound => return,
            Health::Full | Health::Swamped => (ReplicaTimer::Pulse, PULSE),
            Health::Failed(_) => (ReplicaTimer::Noticed, NOTICED),
        };
        let at = now.monotonic.saturating_add(wait);
        self.effects.push_back(MachineEffect::SetTimer { id, at });
    }
}
