//! Scripts: what wakes them, what they see, what they pay, and how the results of their runs are
//! merged.
//!
//! A script runs alone over a state that does not change. What all scripts of a tick did enters the
//! state in one place, `merge`. This room decides no act and hashes no leaf.

mod checked_port;
mod fork_join;
pub mod gas;
mod hearing;
mod inbox;
mod joining;
mod merge;
mod offers;
mod programs;
mod script;
mod script_run;
mod shown;
mod sitting;
mod view;
mod zone;

pub use fork_join::{ForkJoin, Serial};
pub use inbox::{Inbox, QueuedEvent, Sender, group_key};
pub use offers::{Permit, StandingOffer};
pub use script::{Fallback, Script, SpeechRate};
pub use shown::{MadeSound, ShownForm};
pub use zone::Zone;

pub(crate) use checked_port::CheckedPort;
pub(crate) use gas::{GasIncome, GasPool};
pub(crate) use hearing::Hearers;
pub(crate) use inbox::canonical_order;
pub(crate) use joining::JoiningError;
pub(crate) use merge::merge;
pub(crate) use programs::Programs;
pub(crate) use script::ScriptChange;
pub(crate) use script_run::{ScriptRun, run_scripts};
pub(crate) use shown::ShownToPeople;
pub(crate) use zone::watch_zones;
