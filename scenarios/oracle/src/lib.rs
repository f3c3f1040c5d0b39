//! Watches simulated servers and says which [`Law`] one of them broke.
//!
//! An [`Oracle`] knows the rules from the design, not from the code: it counts voting power,
//! follows the membership, keeps the locks and compares histories by itself, and calls none of
//! production's checks. It sees what any onlooker of a world sees: frames that leave a server,
//! bytes that go to its disk and which of them no crash can take, receipts, and roots.
//!
//! What it shares with production are shapes, and nothing that decides: `Message`, `Record` and
//! `Decision` of agreement with their encodings, the nouns of `metatopia-types` with the digests
//! that name things, and signatures. A test of the workspace's layers holds it to that list.
//!
//! It is told through five doors, all of one server in a seat: [`Oracle::saw_message`],
//! [`Oracle::saw_write`], [`Oracle::saw_receipt`] or [`Oracle::saw_decision`], and, when its process
//! comes and goes, [`Oracle::saw_start`] and [`Oracle::saw_death`]. [`Oracle::close`] looks at what
//! the disks hold in the end.
//!
//! ```
//! use std::sync::Arc;
//! use metatopia_consensus::Message;
//! use metatopia_oracle::{LogDisk, Founding, Law, Oracle};
//! use metatopia_types::{
//!     Digest, Ed25519, Height, Millis, Root, Round, Sign, SigningKey, SimId, Vote, VoteKind,
//! };
//!
//! /// A disk on which nothing was written.
//! struct Blank;
//! impl LogDisk for Blank {
//!     fn bytes(&self, _: u64) -> &[u8] {
//!         &[]
//!     }
//!     fn durable(&self, _: u64) -> &[u8] {
//!         &[]
//!     }
//! }
//!
//! let key = SigningKey::from_seed([7; 32]);
//! let founding = Founding {
//!     sim: SimId(Digest::of("an example", b"plaza")),
//!     verifier: Arc::new(Ed25519),
//!     names: vec![key.public()],
//!     powers: vec![1],
//!     admin: Some(key.public()),
//!     root: Root(Digest::ZERO),
//!     time: Millis(0),
//!     turn_length: 50,
//! };
//! let (sim, voter) = (founding.sim, key.public());
//! let mut oracle = Oracle::new(founding, &[]);
//! let (kind, height, round) = (VoteKind::Prevote, Height(1), Round(0));
//! let vote = Vote { kind, height, round, header: None, voter };
//!
//! oracle.saw_message(0, &Message::Vote(vote.sign(sim, &key)), &Blank);
//!
//! let [fault] = oracle.faults() else { panic!("one law is broken") };
//! assert_eq!((fault.law, fault.seat), (Law::NotDurable, Some(0)));
//! ```
#![forbid(unsafe_code)]

mod checks;
mod clocks;
mod disk;
mod electorate;
mod founding;
mod history;
mod journal;
mod law;
mod locks;
mod oracle;
#[cfg(test)]
mod samples;
mod words;

pub use disk::{Append, LogDisk};
pub use founding::Founding;
pub use history::TurnHistory;
pub use law::{Law, Violation};
pub use oracle::{Forbidden, Logs, Oracle};
