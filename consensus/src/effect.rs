//! What an agreement wants done.

use std::sync::Arc;

use metatopia_types::{Evidence, HeaderId, Height, PublicKey, Root};

use crate::{Decision, Message, Record, Void};

/// A place in the log: how many records were appended since the agreement was opened. What was in
/// the log before is at or before place 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordPosition(pub u64);

impl RecordPosition {
    /// The position before everything, which is durable already.
    pub const START: Self = Self(0);
}

/// Who gets a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Recipients {
    /// Every server of the sim that is connected, followers too.
    All,
    /// To one server only.
    One(PublicKey),
}

/// One thing to do. Effects are carried out in the order they are polled, except that one with
/// `after` must be held back until [`Input::Synced`](crate::Input::Synced) has reported that place.
#[derive(Clone, Debug)]
pub enum AgreementEffect {
    /// Send a message. It may get lost.
    Send {
        /// The servers that get it.
        to: Recipients,
        /// The message to send.
        message: Message,
        /// Not before the log is durable up to here.
        after: RecordPosition,
    },
    /// Append a record to the log.
    Append {
        /// The record to append.
        record: Record,
        /// The place that the log has reached with it: one more than the last.
        at: RecordPosition,
    },
    /// Make the log durable up to this place, and say so with
    /// [`Input::Synced`](crate::Input::Synced). One sync may answer several of these.
    Sync(RecordPosition),
    /// A turn is decided: apply it. After a restart this also comes for turns that were decided
    /// before, from the base on.
    ///
    /// It may be applied at once; but nobody outside may learn of it before the log is durable up to
    /// `after`, because our own precommit may be part of the quorum.
    Decided {
        /// The turn and its proof.
        decision: Arc<Decision>,
        /// Not told before the log is durable up to here. [`RecordPosition::START`] if it may be told at
        /// once, and with it all that was decided before.
        after: RecordPosition,
    },
    /// Read decided turns that are no longer in memory, and hand them over with
    /// [`Input::Loaded`](crate::Input::Loaded).
    Load {
        /// The server that asked.
        to: PublicKey,
        /// The first height.
        from: Height,
        /// At most this many.
        count: u32,
    },
    /// A server signed two things that no honest server signs.
    Evidence(Evidence),
    /// Agreement has stopped for good: this server must not vote any more.
    Halt(Halt),
}

/// Why agreement stopped.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Halt {
    /// A quorum decided a turn that is void here: our state differs from that of the others. A
    /// certified snapshot heals it.
    #[error("height {height}: {header} is decided, but {why}")]
    Diverged {
        /// The height of the turn.
        height: Height,
        /// The id of the decided turn.
        header: HeaderId,
        /// What is wrong with it here.
        why: Void,
    },
    /// Applying the same turns again gave another state.
    #[error("the root after height {height} was {logged}, and is {now}")]
    Unrepeatable {
        /// The height of the turn.
        height: Height,
        /// The root in the log.
        logged: Root,
        /// The root of now.
        now: Root,
    },
    /// Reading the log again led to another vote than the one in it. Going on could be a double vote.
    #[error("height {height}: {what}")]
    Replay {
        /// The height that was read.
        height: Height,
        /// What the core of agreement says.
        what: String,
    },
}
