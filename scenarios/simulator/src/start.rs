//! How a process starts; and it may die before it runs.

use std::mem;
use std::panic::{self, AssertUnwindSafe};
use std::time::Duration;

use crate::class::Class;
use crate::cluster::{Cluster, ClusterOrder, StartedServer};
use crate::lent::LentDisk;
use crate::life::panicked;
use crate::world::Simulator;

/// When a start that failed because of its disk is tried again.
const RETRY: Duration = Duration::from_millis(200);

/// So many starts in a row may be cut off; the next one comes through.
pub(crate) const CUT_OFF_MAX: u32 = 4;

/// The steps of a start after which it may be cut off: it takes some six if the disk is in order, some
/// thirty if damage is to be put aside. Early ones are the likelier ones.
const STEPS_MAX: u64 = 32;

impl<C: Cluster> Simulator<C> {
    pub(crate) fn open(&mut self, seat: usize) {
        self.clocks[seat].restart(self.now);
        let now = self.clocks[seat].read(self.now);
        self.seats[seat].begin_life();
        let (steps_left, disk) = (self.steps_of_start(seat), mem::take(&mut self.seats[seat].disk));
        let mut lent = LentDisk { disk, steps_left, ..LentDisk::default() };
        let cluster = &mut self.cluster;
        let opened = panic::catch_unwind(AssertUnwindSafe(|| cluster.open(seat, now, &mut lent)));
        self.seats[seat].disk = lent.disk;
        match opened {
            // Whatever becomes of its disk, a start may only fail.
            Err(cause) => self.halt(seat, &panicked(&*cause)),
            Ok(_) if lent.death.is_some() => self.cut_off(seat),
            Ok(Ok(StartedServer { server, durable })) => {
                self.seats[seat].cut_off = 0;
                self.seats[seat].server = Some(server);
                self.seats[seat].synced = durable;
                self.announce(seat, true);
                self.drain(seat);
            }
            Ok(Err(_)) if self.seats[seat].disk_trouble.is_some() => {
                self.note_disk_trouble(seat);
                self.plan(self.now + RETRY, ClusterOrder::Retry(seat));
            }
            Ok(Err(reason)) => self.halt(seat, &reason),
        }
    }

    /// Draws after how many steps this start is cut off, if it is cut off and takes so many.
    fn steps_of_start(&mut self, seat: usize) -> Option<u64> {
        let dies = self.seats[seat].cut_off < CUT_OFF_MAX
            && self.start_dice.happens(self.conditions.dies_at_start_ppm);
        dies.then(|| {
            let most = 1 + self.start_dice.below(STEPS_MAX);
            1 + self.start_dice.below(most)
        })
    }

    /// The process died before it ran. Nobody has noticed that it was there, and nothing rests on what
    /// it found: a whole record behind a torn one may still lie in its log.
    fn cut_off(&mut self, seat: usize) {
        let (tail, down) = self.conditions.death(&mut self.start_dice);
        self.fired.note(Class::CrashAtStart);
        self.crashes += 1;
        self.seats[seat].cut_off += 1;
        self.trace.note(self.now, seat, "dies at its start", &[]);
        self.trace.write(self.now, seat, || {
            format!("dies at its start, tail {tail:?}, back after {down:?}")
        });
        self.note_tail(seat, tail);
        tail.befall(&mut self.seats[seat].disk, &mut self.start_dice);
        // Unless somebody takes its disk away meanwhile.
        self.plan(self.now.saturating_add(down), ClusterOrder::Retry(seat));
    }
}
