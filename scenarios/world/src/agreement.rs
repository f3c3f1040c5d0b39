//! Agreement as the world plays it: servers, their application, who misbehaves, and who watches.
//!
//! A [`Scenario`] is a story as data. It is played on a [`Stage`], watched by the [`Oracle`], and
//! ends in an [`Outcome`] that says what was law, if anything was, and how to play it again.

mod ambush;
pub mod bugs;
mod filler;
mod flaws;
mod ledger;
mod outcome;
mod scenario;
mod server;
mod servers;
mod setting;
mod signatures;
mod stage;
pub mod stories;
mod swarm;
mod twins;
mod villain;

pub use ambush::Ambush;
pub use ledger::{Ledger, LedgerState};
pub use metatopia_oracle::{Fault, History, Law, Oracle};
pub use outcome::{Outcome, percentile};
pub use scenario::{Scenario, Seed};
pub use server::{Apply, Report, Server, Start, Wake};
pub use servers::{Decided, Servers};
pub use setting::{ENGINE, Flaw, Setting, Unlogged};
pub use signatures::Scheme;
pub use stage::Stage;
pub use swarm::{Moment, Plan, Played, Recovery, Swarm, shrink};
pub use twins::{Schedule, TWIN_NAMES, TWIN_SEATS};
pub use villain::Deed;
pub(crate) use villain::{Ground, Villain};
