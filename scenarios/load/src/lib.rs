//! Load for a sim: bots that act by the hundred, and figures of what a sim and its servers can carry.
//!
//! [`bots`] plays many signed players over real sessions, and reads every turn again to see whether an act
//! with a receipt was lost. [`onlooker`] stands among them and weighs what is shown. [`thousand`] and
//! [`large`] measure a sim alone, without sockets. A [`figure`] is told beside what was promised of it, and
//! beside the [`machine`] that it is from. Nothing here starts a server or attacks one: benches that start
//! and kill servers are commands of the program, and what attacks is in `tests/abuse`.
//!
//! ```
//! use metatopia_load::figure::{Bound, Figure};
//!
//! let wait = Figure::new("act to receipt p99", 350, "ms", Bound::AtMost(300));
//! assert!(!wait.holds() && !wait.fails());
//! assert_eq!(wait.verdict(), "past its bound");
//! ```
#![forbid(unsafe_code)]

pub mod bots;
pub mod figure;
pub mod large;
pub mod machine;
pub mod onlooker;
pub mod process;
pub mod thousand;

use std::time::Duration;

use metatopia_client_driver::{
    DriveError, FirstLoginError, NodeEndpointError, NodeUrl, ProofError,
};
use metatopia_protocol::{Goodbye, SubmitRefusal};
use metatopia_transport::carrier::CarrierError;
use metatopia_types::{Height, Refusal, wire::DecodeError};

/// Why a load was not carried to its end, or what it found.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// There is no way into the node.
    #[error(transparent)]
    Endpoint(#[from] NodeEndpointError),
    /// A session failed.
    #[error(transparent)]
    Drive(#[from] DriveError),
    /// A turn was not proved.
    #[error(transparent)]
    Proof(#[from] ProofError),
    /// A bot found no login that the sim would take.
    #[error(transparent)]
    FirstLogin(#[from] FirstLoginError),
    /// The sim refused a bot's login.
    #[error("the login of bot {bot} was refused: {why}")]
    LoginRefused {
        /// The number of the bot.
        bot: u32,
        /// The reason for it.
        why: Refusal,
    },
    /// The node did not take a bot's login.
    #[error("the login of bot {bot} was not taken: {why}")]
    LoginNotTaken {
        /// The number of the bot.
        bot: u32,
        /// The reason for it.
        why: SubmitRefusal,
    },
    /// Some players were still not in the world.
    #[error("not all players came in within {0:?}")]
    Late(Duration),
    /// The task of a player ended before its player did.
    #[error("a player: {0}")]
    Player(tokio::task::JoinError),
    /// A server did not hand out its turns.
    #[error("the turns of {node} were not read: {error}")]
    Unread {
        /// The URL of the server.
        node: NodeUrl,
        /// What went wrong.
        error: Box<Self>,
    },
    /// Two servers hold different turns of one height.
    #[error("{node} holds another turn {height} than the servers before")]
    OtherTurn {
        /// The URL of the server.
        node: NodeUrl,
        /// The height of the turn.
        height: Height,
    },
    /// Acts have a receipt and are missing.
    #[error("{0} acts have a receipt and are in no turn of some server")]
    Lost(u64),
    /// Acts have neither a receipt nor a refusal.
    #[error("{0} acts were not answered in time")]
    Unanswered(u64),
    /// An onlooker was sent nothing for too long.
    #[error("the server is silent")]
    Silent,
    /// An onlooker's connection broke.
    #[error(transparent)]
    Carrier(#[from] CarrierError),
    /// An onlooker was sent what is no frame of the protocol.
    #[error(transparent)]
    Frame(#[from] DecodeError),
    /// An onlooker was sent away.
    #[error("{0}")]
    Goodbye(Goodbye),
}

/// Returns the whole microseconds of a time.
#[must_use]
pub fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
