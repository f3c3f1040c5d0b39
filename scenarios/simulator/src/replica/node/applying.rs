//! What a server does about turns that are to be applied: it calculates them, and may go wrong there.

use std::sync::Arc;

use metatopia_consensus::Decision;
use metatopia_replica::Input as Event;
use metatopia_sim::{Applied, World, flipped};
use metatopia_types::{Height, Now, Turn};

use super::{ReplicaReport, ReplicaServer};
use crate::replica::place_setting::Flip;
use crate::replica::shared::ALONE_TURNS;

impl ReplicaServer {
    pub(super) fn applied_turn(&mut self, now: Now, mut world: Box<World>, decision: &Decision) {
        self.setting.break_rules(self.seat, decision.certificate.round, &mut world);
        let mut result = Box::new(self.apply(&mut world, &decision.turn));
        if let Some(broken) = self.flip(&world, result.height) {
            *world = broken;
            result.root = world.root();
        }
        if self.setting.restores(self.seat, result.height) {
            // It goes on from what a snapshot of it says, while the others just go on.
            match World::from_snapshot(&world.snapshot(), result.root, world.tools()) {
                Ok(restored) => (*world, self.alone) = (restored, ALONE_TURNS),
                Err(why) => self.tell(ReplicaReport::Unrestored(result.height, why.to_string())),
            }
        }
        let lasts = self.setting.own.flips.iter().any(|flip| {
            (flip.seat, flip.lasting) == (self.seat, true) && flip.height <= result.height
        });
        self.tell(match (self.astray, self.replica.is_healing()) {
            (_, true) if !lasts => ReplicaReport::Again(result.clone()),
            (false, false) => ReplicaReport::Applied(result.clone()),
            _ => ReplicaReport::Strayed(result.height),
        });
        self.members = (result.height, world.roster().members().keys().copied().collect());
        self.replica_gets(now, Event::Applied { world, result });
    }

    /// Applies a turn by itself or, if it has done so for long enough, together with the others.
    fn apply(&mut self, world: &mut World, turn: &Arc<Turn>) -> Applied {
        if self.alone == 0 {
            return self.setting.apply_shared(world, turn);
        }
        self.alone -= 1;
        self.setting.apply(world, turn)
    }

    /// The world with a bit flipped, if one flips now.
    fn flip(&mut self, world: &World, height: Height) -> Option<World> {
        let here = |flip: &&Flip| (flip.seat, flip.height) == (self.seat, height);
        let flip = self.setting.own.flips.iter().find(here).filter(|_| self.first_life)?;
        if !self.flipped.insert(height) && !flip.lasting {
            return None;
        }
        self.astray = true;
        let tile = world.manifest().leaves.into_iter().find(|leaf| leaf.key.0.starts_with("tile/"));
        let tile = tile.expect("a plaza has tiles").key;
        Some(flipped(world, &tile, &self.setting.tools()).expect("a body has bits that may flip"))
    }
}
