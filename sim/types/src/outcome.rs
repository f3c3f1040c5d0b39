//! Outcomes: what became of an act that is in a decided turn.

use serde::{Deserialize, Serialize};

/// The result of applying one act; the same on every server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// It is done.
    Ok,
    /// A rule refused it; nothing changed.
    Refused(Refusal),
}

/// The rule that refused an act.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, thiserror::Error,
)]
pub enum Refusal {
    /// The author has no session: log in first.
    #[error("the author is not logged in")]
    NotLoggedIn,
    /// Another session of the same key took over.
    #[error("another session of this key took over")]
    OtherSession,
    /// Only an admin may do this.
    #[error("only an admin may do this")]
    NotAdmin,
    /// A name, look or text breaks its rules.
    #[error("a name, look or text breaks its rules")]
    BadText,
    /// There is no such object.
    #[error("there is no such object")]
    NoObject,
    /// The object is too far away.
    #[error("the object is out of reach")]
    OutOfReach,
    /// The object does not move.
    #[error("the object cannot be moved")]
    Immovable,
    /// The blob that the act names is not in the turn.
    #[error("the words are not in the turn")]
    NoBlob,
    /// There is no such channel.
    #[error("there is no such channel")]
    NoChannel,
    /// The world has no room for another player or object.
    #[error("the world is full")]
    Full,
    /// A number is outside its range.
    #[error("a number is out of range")]
    OutOfRange,
    /// The author did this too often.
    #[error("too often")]
    TooOften,
    /// The change of the validator set is against its rules.
    #[error("the validator set does not allow it")]
    BadSetChange,
    /// The root that a standby named is not the one after that height.
    #[error("that is not the root after that height")]
    WrongRoot,
    /// The evidence proves nothing, or is old.
    #[error("the evidence proves nothing")]
    BadEvidence,
    /// Applying it panicked: a bug of the engine, the same on every server.
    #[error("applying it failed inside the engine")]
    Crashed,
}

impl core::fmt::Display for Outcome {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Ok => f.write_str("ok"),
            Self::Refused(why) => write!(f, "refused: {why}"),
        }
    }
}
