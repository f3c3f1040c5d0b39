//! What happens to an agreement.

use metatopia_types::{Height, PublicKey, Root, ValidatorSet};

use crate::{Decision, Message, RecordPosition};

/// One thing that happened.
#[derive(Clone, Debug)]
pub enum AgreementInput {
    /// A message came in over an authenticated connection.
    Frame {
        /// The server whose connection it came by.
        from: PublicKey,
        /// What it says.
        message: Message,
    },
    /// The time of [`Agreement::deadline`](crate::Agreement::deadline) has come. Too early or twice
    /// does no harm.
    Wake,
    /// While true, the log cannot grow: from the next height on nothing is signed, and what others
    /// decide is not held back. It is over once all that was appended is durable.
    Muted(bool),
    /// The log is durable up to here.
    Synced(RecordPosition),
    /// The state machine is done with a decided turn. They come in the order of their heights.
    Applied(AppliedTurn),
    /// A connection to this server is there.
    PeerUp(PublicKey),
    /// The connection to this server is gone. Speeds up what would otherwise be a timeout.
    PeerDown(PublicKey),
    /// Decisions that were read from the log: the answer to [`Effect::Load`](crate::Effect::Load).
    Loaded {
        /// Who asked for them.
        to: PublicKey,
        /// In ascending order, without a gap; fewer or none if the log does not hold them.
        decisions: Vec<Decision>,
    },
}

/// What a decided turn did to the state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppliedTurn {
    /// The turn's height.
    pub height: Height,
    /// The root of the state after it.
    pub root: Root,
    /// Who votes [`SET_LAG`](metatopia_types::limits::SET_LAG) heights later.
    pub validators: ValidatorSet,
}
