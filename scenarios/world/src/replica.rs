//! Whole servers as the world plays them, with people who visit.
//!
//! A [`Server`] is a real [`Replica`](metatopia_replica::Replica) with its world, its log and
//! snapshots on a seeded disk, and the bounded lines to its clients. A [`Person`] is a real
//! [`Session`](metatopia_client::Session) with real frames that walks, pushes and talks, and goes to
//! another server when one dies; a [`Stranger`] sends whatever frames it likes. A [`Stage`] plays
//! them together; a [`Plan`] is what the swarm plays there. The [`Oracle`] sees what servers applied,
//! stored and told, and in the end reads every log and plays it again.

mod account;
mod bad_invite;
mod files;
mod gateway;
mod lanes;
mod newcomer;
mod oracle;
mod person;
mod report;
mod server;
mod servers;
mod setting;
mod shared;
mod stage;
pub mod stories;
mod stranger;
mod swarm;

pub use account::Account;
pub use bad_invite::BadInvite;
pub use files::SEGMENT_BYTES;
pub use gateway::{HELD_BYTES_MAX, Hangup, WINDOW_BYTES};
pub use lanes::{Frame, Stream};
pub use newcomer::{Newcomer, invite};
pub use oracle::{Log, Oracle, Step};
pub use person::{Deed, Fate, Manner, Person};
pub use report::{Report, Request};
pub use server::{Job, Server, Start, Wake};
pub use servers::{Letter, Mail, Servers, Tamper};
pub(crate) use setting::contact;
pub use setting::{Broken, Flip, Setting, Trap};
pub use stage::Stage;
pub use stranger::Stranger;
pub use swarm::{Plan, play};
