//! Crash points: exactly after which step of a server its process dies.

use std::time::Duration;

use crate::disk::Tail;

/// A step of a server, counted from its first start in this world.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Point {
    /// Right after the n-th write; nothing that followed in the same step happens.
    Write(u64),
    /// Right after the n-th sync was done.
    Sync(u64),
    /// Right after the n-th frame left for one other server.
    Send(u64),
}

/// A process that dies at a point, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct CrashPoint {
    /// Whose.
    pub seat: usize,
    /// When.
    pub point: Point,
    /// What becomes of unsynced bytes.
    pub tail: Tail,
    /// How long it is away.
    pub down: Duration,
}

/// How many steps a server took, over all its lives.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Steps {
    /// Writes to the disk.
    pub writes: u64,
    /// Syncs that were done.
    pub syncs: u64,
    /// Frames that left, one for each receiver.
    pub sends: u64,
}

impl Steps {
    /// Every point of a run with these steps, with every kind of tail, and a time away that goes
    /// round `down`.
    #[must_use]
    pub fn crash_points(&self, seat: usize, down: &[Duration]) -> Vec<CrashPoint> {
        let points = (1..=self.writes)
            .map(Point::Write)
            .chain((1..=self.syncs).map(Point::Sync))
            .chain((1..=self.sends).map(Point::Send));
        let mut all = Vec::new();
        for point in points {
            for tail in [Tail::Lost, Tail::Torn, Tail::Kept] {
                // Neighbouring points with one kind of tail get different times away. (A stride
                // that shares a factor with the number of tails would never see some pairs.)
                let down = down[(all.len() + all.len() / 3) % down.len()];
                all.push(CrashPoint {
                    seat,
                    point,
                    tail,
                    down,
                });
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::Steps;
    use crate::disk::Tail;
    use std::collections::BTreeSet;
    use std::time::Duration;

    #[test]
    fn each_kind_of_tail_meets_each_time_away() {
        let down = [0, 3, 120].map(Duration::from_millis);
        let steps = Steps {
            writes: 9,
            syncs: 9,
            sends: 9,
        };

        let points = steps.crash_points(1, &down);

        assert_eq!(points.len(), 27 * 3);
        for tail in [Tail::Lost, Tail::Torn, Tail::Kept] {
            let met: BTreeSet<_> = points
                .iter()
                .filter(|p| p.tail == tail)
                .map(|p| p.down)
                .collect();
            assert_eq!(met.len(), down.len(), "{tail:?}");
        }
    }
}
