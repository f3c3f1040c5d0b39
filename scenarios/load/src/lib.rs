//! Load for a sim: bots that act by the hundred, and figures of what a sim and its servers can do.
//!
//! [`bots`] plays many players with keys over real sessions, and reads every turn again to see
//! whether an act with a receipt was lost. [`onlooker`] stands among them and weighs what it is
//! sent. [`logins`] lets newcomers in. [`crossing`] lets bots walk over a border. [`thousand`] and
//! [`large`] measure a sim alone, without sockets. A [`figure`] is shown with its promised bound, and with
//! the [`machine`] that it was measured on. This crate starts no server and attacks none: benches that start and kill
//! servers are commands of the program, and attacks are in `tests/abuse`.
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
pub mod crossing;
pub mod figure;
pub mod large;
pub mod logins;
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

/// Says why a load did not end as it should, or what it found.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The node cannot be reached.
    #[error(transparent)]
    Endpoint(#[from] NodeEndpointError),
    /// A session failed.
    #[error(transparent)]
    Drive(#[from] DriveError),
    /// A turn could not be proved.
    #[error(transparent)]
    Proof(#[from] ProofError),
    /// A bot found no login that the sim would accept.
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
    /// The node did not accept a bot's login.
    #[error("the login of bot {bot} was not taken: {why}")]
    LoginNotTaken {
        /// The number of the bot.
        bot: u32,
        /// The reason for it.
        why: SubmitRefusal,
    },
    /// Some players were not in the sim in time.
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
        /// The failure of reading them.
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
    /// The server sent an onlooker nothing for too long.
    #[error("the server is silent")]
    Silent,
    /// An onlooker's connection broke.
    #[error(transparent)]
    Carrier(#[from] CarrierError),
    /// The server sent an onlooker bytes that are no frame of the protocol.
    #[error(transparent)]
    Frame(#[from] DecodeError),
    /// The server ended an onlooker's session.
    #[error("{0}")]
    Goodbye(Goodbye),
}

/// Returns the whole microseconds of a time.
#[must_use]
pub fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
