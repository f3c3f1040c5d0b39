//! Whole servers as the world plays them, with people who visit.
//!
//! A [`ReplicaServer`] is a real [`Replica`](metatopia_replica::Replica) with its world, its log and
//! snapshots on a seeded disk, and the bounded lines to its clients. A [`Person`] is a real
//! [`Session`](metatopia_client::Session) with real frames that walks, pushes and talks, and goes to
//! another server when one dies; a [`Stranger`] sends whatever frames it likes. A [`ReplicaStage`] plays
//! them together; a [`ReplicaPlan`] is what the swarm plays there. The [`ReplicaOracle`] sees what servers applied,
//! stored and told, and in the end reads every log and plays it again.

mod account;
mod bad_invite;
mod crowd;
mod fair;
mod files;
mod gateway;
mod lanes;
mod newcomer;
mod node;
mod nodes;
mod oracle;
pub mod partings;
mod person;
mod place_setting;
mod requests;
mod shared;
mod siege;
mod stranger;
mod visit;

pub use account::Account;
pub use bad_invite::BadInvite;
pub use crowd::{Crowd, Steward, log_in_everywhere};
pub use fair::{FairPlan, ReplicaPlan, play};
pub use files::SEGMENT_BYTES;
pub use gateway::{HELD_BYTES_MAX, Hangup, WINDOW_BYTES};
pub use lanes::{PeerStream, StreamFrame};
pub use newcomer::{Newcomer, invite};
pub use node::{ReplicaJob, ReplicaServer, ReplicaTimer, ServerStart};
pub use nodes::{DecodedFrame, Mail, ReplicaServers, Tamper};
pub use oracle::{ReplicaOracle, TurnLog, TurnResult};
pub use person::{ActStatus, Person, PersonAct, PersonProfile};
pub(crate) use place_setting::contact;
pub use place_setting::{ControlsFn, Flip, PlaceSetting, ReplicaSetting, Rogue, Trap};
pub use requests::{ReplicaReport, Request};
pub use siege::{Besieged, Siege};
pub use stranger::Stranger;
pub use visit::ReplicaStage;
