//! What the world can drive: a server without clocks, sockets or files.

use std::fmt::Debug;
use std::time::Duration;

use metatopia_store::{FileName, SyncRequest, Write};
use metatopia_types::{Digest, Now};

use crate::lent::LentDisk;

/// How much of a server's log must be durable: a count that grows with every append of one life, in
/// the unit of the machine (records or bytes).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct DurableMark(pub u64);

/// A server as the world sees it. Answers to `handle` are drained with `poll`.
pub trait Machine: Sized + Debug {
    /// How servers name each other.
    type Peer: Copy + Ord + Debug;
    /// What they say to each other.
    type Frame: Clone + Debug;
    /// What they want to be woken for.
    type Timer: Clone + Debug;
    /// Work that takes time outside, such as applying a turn; it comes back when it is done.
    type Job: Debug;
    /// What clients ask.
    type Request: Debug;
    /// What clients and operators are told.
    type Report: Debug;

    /// Takes an input.
    fn handle(&mut self, now: Now, input: MachineInput<Self>);

    /// Returns the next thing that the server wants done, or `None` if there is nothing more.
    fn poll(&mut self) -> Option<MachineEffect<Self>>;

    /// Does what it wants done to its disk, up to what has to wait for the medium: see
    /// [`MachineEffect::Work`].
    fn begin_work(&mut self, disk: &mut LentDisk) {
        let _ = disk;
    }

    /// Does the rest of it.
    fn end_work(&mut self, now: Now, disk: &mut LentDisk) {
        let _ = (now, disk);
    }

    /// A digest of everything the server knows, for traces.
    fn digest(&self) -> Digest;
}

/// What happens to a server.
#[derive(Debug)]
pub enum MachineInput<M: Machine> {
    /// A frame arrived.
    Frame {
        /// Who sent it, as the transport knows.
        from: M::Peer,
        /// The frame that arrived.
        frame: M::Frame,
    },
    /// A timer is due. Timers of an earlier life of the process never come.
    Timer(M::Timer),
    /// Everything appended up to `mark` survives a power loss.
    Synced {
        /// Up to where.
        mark: DurableMark,
        /// What was asked of the disk.
        request: SyncRequest,
    },
    /// A job is done.
    Done(M::Job),
    /// A connection to a peer stands.
    PeerUp(M::Peer),
    /// The connection to a peer is gone.
    PeerDown(M::Peer),
    /// A client asks something.
    Request(M::Request),
}

/// What a server wants done.
#[derive(Debug)]
pub enum MachineEffect<M: Machine> {
    /// Send a frame, once the log is durable up to `after`.
    Send {
        /// The peers that get it.
        to: FrameRecipients<M::Peer>,
        /// The frame to send.
        frame: M::Frame,
        /// What must be durable first.
        after: DurableMark,
    },
    /// Tell the outside something, once the log is durable up to `after`.
    Tell {
        /// What is reported.
        report: M::Report,
        /// What must be durable first.
        after: DurableMark,
    },
    /// Wake the server when its monotonic clock shows `at`.
    SetTimer {
        /// What the timer is for.
        id: M::Timer,
        /// When the timer ends.
        at: Duration,
    },
    /// Change a file. A record is durable only after the next sync.
    Change(FileChange),
    /// Make this much of the log durable; `Input::Synced` with `mark` follows. While one sync
    /// runs, the last of those that wait stands for all of them.
    Sync {
        /// The part of a file that is asked for.
        request: SyncRequest,
        /// What is durable then.
        mark: DurableMark,
    },
    /// Lend the server its disk, for [`Machine::begin_work`] now and, after the time of a sync, for
    /// [`Machine::end_work`]. If it is at work already, do so once more afterwards. For servers
    /// that know what to do with a disk; others say it with `Change` and `Sync`.
    Work,
    /// Do this outside, and bring it back as `Input::Done`.
    Begin(M::Job),
    /// The server cannot go on; it is gone for good.
    Halt(String),
}

/// Whom a frame is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameRecipients<P> {
    /// Every other server.
    All,
    /// The servers with this name.
    One(P),
}

/// A change of a server's files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileChange {
    /// A record at the end of the log.
    Append(Write),
    /// A whole file, durably there all at once or not at all.
    Create {
        /// The file to write.
        file: FileName,
        /// All of it.
        bytes: Vec<u8>,
    },
    /// A file goes away.
    Remove(FileName),
}
