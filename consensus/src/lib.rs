//! Agreement on the turns of one sim. (Work under way: the driver follows the types.)
#![forbid(unsafe_code)]

mod agreement;
mod ballot;
mod base;
mod config;
mod core;
mod decision;
mod depot;
mod effect;
mod host;
mod input;
mod join;
mod judge;
pub mod limits;
mod message;
mod outbox;
mod pace;
mod past;
mod peers;
mod record;
#[cfg(test)]
mod tests;
mod timers;

pub use agreement::{Agreement, OpenError};
pub use base::Base;
#[cfg(feature = "controls")]
pub use config::Controls;
pub use config::{Config, Patience};
pub use decision::{Decision, Link};
pub use effect::{Effect, Halt, Position, To};
pub use host::{ActFault, Host, Void, VoidAct};
pub use input::{Applied, Input};
pub use join::{Checkpoint, JoinError, JoinPack, Trust};
pub use message::{Message, Part, Polka, RoundProof, RoundVote, Shows, Want};
pub use record::{Record, Step, Timeout, Verdict};
