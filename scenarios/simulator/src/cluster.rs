//! Which servers a world runs, and who watches and meddles.

use std::time::Duration;

use metatopia_store::memory::MemoryDisk;
use metatopia_types::{Millis, Now};

use crate::chance::Span;
use crate::class::Class;
use crate::clock::VirtualClock;
use crate::crash::UnsyncedWrites;
use crate::lent::{DiskChange, LentDisk};
use crate::machine::{DurableMark, FileChange, Machine};
use crate::network::Links;

/// The frames of a cluster's servers.
pub type FrameOf<C> = <<C as Cluster>::Server as Machine>::Frame;
/// The names of a cluster's servers.
pub type PeerOf<C> = <<C as Cluster>::Server as Machine>::Peer;
/// What a cluster's servers tell the outside.
pub type ReportOf<C> = <<C as Cluster>::Server as Machine>::Report;
/// What clients ask of a cluster's servers.
pub type RequestOf<C> = <<C as Cluster>::Server as Machine>::Request;

/// What a world plays: how its servers start, who they are, and everything that looks at them.
///
/// Servers sit in seats, numbered from 0. Two seats may have one name: twins.
pub trait Cluster: Sized + std::fmt::Debug {
    /// The machine in each seat.
    type Server: Machine;

    /// The name of the server in `seat`.
    fn peer(&self, seat: usize) -> PeerOf<Self>;

    /// Starts the server in `seat` from what its disk holds.
    ///
    /// # Errors
    /// What the operator would read; the seat stays empty. So it does if the process dies meanwhile,
    /// see [`LentDisk::outlived`].
    fn open(
        &mut self,
        seat: usize,
        now: Now,
        disk: &mut LentDisk,
    ) -> Result<StartedServer<Self::Server>, String>;

    /// A few bytes that tell a frame from others, for traces.
    fn stamp(frame: &FrameOf<Self>) -> [u8; 8];

    /// A frame as people read it, for written traces.
    fn describe(frame: &FrameOf<Self>) -> String {
        format!("{frame:?}")
    }

    /// `frame` leaves `from` for `to`: watch it, and return what really goes out in its place.
    fn leaves(
        &mut self,
        scene: &mut ClusterView<'_, Self>,
        to: usize,
        frame: &FrameOf<Self>,
    ) -> Vec<FrameOf<Self>> {
        let _ = (scene, to);
        vec![frame.clone()]
    }

    /// Watches what the server tells the outside.
    fn told(&mut self, scene: &mut ClusterView<'_, Self>, report: ReportOf<Self>);

    /// Watches a file that the server is about to change.
    fn writes(&mut self, scene: &mut ClusterView<'_, Self>, change: &FileChange) {
        let _ = (scene, change);
    }

    /// Watches what the server has done to its disk while that was lent to it.
    fn wrote(&mut self, scene: &mut ClusterView<'_, Self>, change: &DiskChange) {
        let _ = (scene, change);
    }

    /// The server stopped for good, by its own decision or because it could not start.
    fn halted(&mut self, scene: &mut ClusterView<'_, Self>, reason: &str);

    /// The process in this seat died; `Cluster::open` follows if it starts again.
    fn died(&mut self, scene: &mut ClusterView<'_, Self>) {
        let _ = scene;
    }
}

/// A server that started.
#[derive(Debug)]
pub struct StartedServer<M> {
    /// The server that was started.
    pub server: M,
    /// The end of the log it read, all of which is durable.
    pub durable: DurableMark,
}

/// What whoever watches or meddles may see and order.
#[derive(Debug)]
pub struct ClusterView<'a, C: Cluster> {
    /// The world's time.
    pub at: Duration,
    /// The seat this is about.
    pub seat: usize,
    /// The server there, if it runs.
    pub server: Option<&'a C::Server>,
    /// The disk of the server.
    pub disk: &'a MemoryDisk,
    /// All servers' clocks.
    pub clocks: &'a [VirtualClock],
    /// What shall happen, now or later.
    pub orders: &'a mut Vec<(Duration, ClusterOrder)>,
}

impl<C: Cluster> ClusterView<'_, C> {
    /// Lets `order` happen `delay` from now.
    pub fn order(&mut self, delay: Duration, order: ClusterOrder) {
        self.orders.push((self.at.saturating_add(delay), order));
    }

    /// Returns what the wall clock in `seat` shows.
    #[must_use]
    pub fn wall(&self, seat: usize) -> Millis {
        self.clocks[seat].read(self.at).wall
    }
}

/// Trouble, or the end of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClusterOrder {
    /// The server in this seat starts, if it does not run.
    Start(usize),
    /// The same, after a start that failed for its disk, unless it was stopped meanwhile.
    Retry(usize),
    /// The process in this seat dies and starts again after `down`.
    Crash {
        /// The seat of the server.
        seat: usize,
        /// What becomes of unsynced bytes.
        tail: UnsyncedWrites,
        /// How long it is away.
        down: Duration,
    },
    /// All processes die at once; each starts again after `down`, plus `stagger` times its seat.
    PowerLoss {
        /// What becomes of unsynced bytes.
        tail: UnsyncedWrites,
        /// How long they are away.
        down: Duration,
        /// What each further seat waits in addition.
        stagger: Duration,
    },
    /// The process in this seat dies and does not come back by itself.
    Kill(usize),
    /// Somebody switches the machine in this seat off and on again.
    Reboot(usize),
    /// Nothing from the first seat reaches the second.
    Cut(usize, usize),
    /// These seats and all others do not reach each other.
    Split(Vec<usize>),
    /// The same, counted for this class of faults.
    SplitFor(Class, Vec<usize>),
    /// Links that were cut for this class of faults work again.
    Mend(Class),
    /// Two processes have one name: whoever is in `seat` is from now on connected with the one in
    /// `to`, and with the one in `from` no more.
    Reconnect {
        /// The seat whose connection it is.
        seat: usize,
        /// With whom it was.
        from: usize,
        /// With whom it is.
        to: usize,
    },
    /// All links work again.
    Heal,
    /// What the first seat sends the second arrives only after this time.
    Clog(usize, usize, Duration),
    /// Links behave like this.
    Links(Links),
    /// The process in this seat stands still for a while, and notices nothing.
    Pause(usize, Duration),
    /// From now on jobs of this seat take so long; with none, as long as everywhere.
    Slow(usize, Option<Span>),
    /// From now on there is room for so many bytes on the disk of this seat.
    DiskFull(usize, u64),
    /// One of the next operations of this disk fails: the one with this number, from 0.
    DiskFails(usize, u64),
    /// The disk of this seat works again, and has room.
    DiskMends(usize),
    /// Somebody sets the wall clock of a seat forward by milliseconds (or, negative, back).
    SetClock(usize, i64),
}
