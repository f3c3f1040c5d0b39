//! Crash points: exactly after which step of a server its process dies.

use std::time::Duration;

use metatopia_store::memory::{self, MemoryDisk};

use crate::chance::Dice;

/// What becomes of what a server wrote and did not sync when its process dies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnsyncedWrites {
    /// The power goes, and all of it is gone.
    Lost,
    /// The power goes; each file ends somewhere, with holes, and each change of a name happened
    /// or did not.
    Torn,
    /// Only the process dies: all of it can still be read. It is no more durable than before, and a
    /// later power loss may take it.
    Kept,
}

impl UnsyncedWrites {
    pub(crate) fn befall(self, disk: &mut MemoryDisk, dice: &mut Dice) {
        match self {
            Self::Lost => disk.crash(memory::CrashEffect::Lost),
            Self::Torn => disk.crash(memory::CrashEffect::Torn(dice.below(u64::MAX))),
            Self::Kept => {}
        }
    }
}

/// A step of a server, counted from its first start in this world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Point {
    /// Right after the n-th change of a file; nothing that followed in the same step happens.
    Change(u64),
    /// Right after the n-th sync was done.
    Sync(u64),
    /// Right after the n-th frame left for one other server.
    Send(u64),
}

/// A process that dies at a point, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CrashPoint {
    /// Whose.
    pub seat: usize,
    /// When.
    pub point: Point,
    /// What becomes of unsynced bytes.
    pub tail: UnsyncedWrites,
    /// How long it is away.
    pub down: Duration,
}

/// How many steps a server took, over all its lives.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StepCounts {
    /// Changes of files.
    pub changes: u64,
    /// Syncs that were done.
    pub syncs: u64,
    /// Frames that left, one for each receiver.
    pub sends: u64,
}

impl StepCounts {
    /// Every point of a run with these steps, with every kind of tail, and a time away that goes
    /// round `down`.
    #[must_use]
    pub fn crash_points(&self, seat: usize, down: &[Duration]) -> Vec<CrashPoint> {
        let points = (1..=self.changes)
            .map(Point::Change)
            .chain((1..=self.syncs).map(Point::Sync))
            .chain((1..=self.sends).map(Point::Send));
        let mut all = Vec::new();
        for point in points {
            for tail in [UnsyncedWrites::Lost, UnsyncedWrites::Torn, UnsyncedWrites::Kept] {
                // Neighbouring points with one kind of tail get different times away. (A stride
                // that shares a factor with the number of tails would never see some pairs.)
                let down = down[(all.len() + all.len() / 3) % down.len()];
                all.push(CrashPoint { seat, point, tail, down });
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::{StepCounts, UnsyncedWrites};
    use std::collections::BTreeSet;
    use std::time::Duration;

    #[test]
    fn each_kind_of_tail_meets_each_time_away() {
        let down = [0, 3, 120].map(Duration::from_millis);
        let steps = StepCounts { changes: 9, syncs: 9, sends: 9 };

        let points = steps.crash_points(1, &down);

        assert_eq!(points.len(), 27 * 3);
        for tail in [UnsyncedWrites::Lost, UnsyncedWrites::Torn, UnsyncedWrites::Kept] {
            let met: BTreeSet<_> =
                points.iter().filter(|p| p.tail == tail).map(|p| p.down).collect();
            assert_eq!(met.len(), down.len(), "{tail:?}");
        }
    }
}
