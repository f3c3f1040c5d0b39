//! Acts: what each act of an author may do, and what it does.
//!
//! An act is decided over a state that does not change, and its changes are made only if it is not
//! refused: so an act that fails half-way, or panics, has changed nothing. This room reads all of the
//! state and changes it only through [`changes`]. It runs no script and hashes nothing.

mod amend;
mod border;
mod build;
mod building;
mod changes;
mod chat;
mod clubs;
mod context;
mod executor;
mod forget;
mod friends;
mod govern;
mod hands;
mod history;
mod interaction;
mod joints;
mod land;
mod lot;
mod luggage;
mod materials;
mod offers;
mod outline;
mod placement;
mod private;
mod profile;
mod publish;
mod quota;
mod report;
mod request;
mod seats;
mod servers;
mod session;
mod sitting;
mod spawning;
mod speech;
#[cfg(test)]
mod tests;
mod tickets;
mod titles;
mod traces;
mod undo;
mod undo_of;
mod unite;

pub use chat::{CLUB, ChatEntry, ChatIndex, EVERYWHERE, NEARBY, SHOUTED, SpokenLine, WHISPERED};
pub use executor::InjectedPanics;
pub use history::{BuildHistory, DeletedObject, Inverse, UndoEntry, UnitedPart};

pub(crate) use changes::{ActEffects, RaisedEvent};
pub(crate) use executor::ActExecutor;
pub(crate) use quota::QuotaUse;
#[cfg(test)]
pub(crate) use tests::{test_genesis, test_header};
