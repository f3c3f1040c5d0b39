//! Agreement on the turns of one sim: which one is next, and proof of it.
//!
//! This crate performs no I/O, reads no clock and draws no random numbers. It orders turns; it does
//! not know what they do. It does not keep a log, it says what to write; it does not connect to
//! anybody, it says what to send.
//!
//! * An [`Agreement`] is one server's part in one sim. It takes an [`AgreementInput`] and gives [`AgreementEffect`]s.
//! * A [`Host`] is the state machine: it judges acts, and collects them for our own turns.
//! * A [`Record`] is what an agreement writes into the log, and reads after a restart.
//! * A [`Base`] is where it starts from; a [`JoinPack`] makes one for somebody who was not there.
//!
//! The protocol is Tendermint, by the core of malachite; no other module than `core` knows of it.
//! What is ours is all around it: turns in parts, judging, the order of log and messages, early
//! proposals, pace, catching up, and silence where it is due.
//!
//! # What holds
//! * **Nothing that binds us leaves before it is durable.** [`AgreementEffect::Send`] and
//!   [`AgreementEffect::Decided`] name the place in the log that must be synced first. One sync covers a step;
//!   a turn takes three (proposal or prevote, precommit, decision).
//! * **What a server said once it says again after any crash**, and nothing else: the log is read
//!   back into the core, and only the log speaks to it meanwhile.
//! * **A vote for a turn is a word for its bytes**: they are in the log of every server that voted.
//! * **All that a height rests on is fixed [`ROOT_LAG`](metatopia_types::limits::ROOT_LAG) turns
//!   before it**: root, voters, leaders. So applying a turn may take its time, and a server that
//!   does not keep up votes nil instead of holding up the others.
//!
//! # Pace and latency
//! A turn leaves when the proposer's clock reaches the next multiple of the turn length, at most one
//! in a turn length (`turn_time.rs` has the rule). Its acts are collected in that
//! moment. Travel of d and a sync of s then give the decision after 3 d + 4 s. The next proposer does
//! not wait for it: it proposes as soon as it has precommitted, which is 2 d + 2 s after the turn
//! left. So with turns of 50 ms, 24 ms of travel still make 20 turns a second. An act that enters
//! anywhere is decided after d + 25 ms + 3 d + 4 s in the middle: 35 ms among neighbours (0.5 and
//! 2 ms), 109 ms with 20 ms of travel (and 1 ms).
//!
//! A proposer that lies about its clock can let its own turns leave early, and so shorten time for
//! all by its share of the turns; honest clocks bound how far the stated time can run ahead.
//!
//! # Example
//! One server is a quorum of its own. It needs a log (a list, here) and somebody to wake it.
//!
//! ```
//! use std::{sync::Arc, time::Duration};
//! use metatopia_consensus::{
//!     Agreement, AgreementConfig, AgreementEffect, AgreementInput, AppliedTurn, Base, Host, VoidAct,
//! };
//! use metatopia_types::{
//!     TurnBody, Digest, Ed25519, Height, Millis, Now, Root, Sign, SigningKey, SimId, Turn, Validator,
//!     ValidatorSet,
//! };
//!
//! /// A world in which nothing happens.
//! struct Idle;
//! impl Host for Idle {
//!     fn decided(&mut self, _: &Turn) {}
//!     fn judge(&self, _: &Turn) -> Result<(), VoidAct> {
//!         Ok(())
//!     }
//!     fn body(&mut self, _: Height, _: Option<&Turn>) -> TurnBody {
//!         TurnBody::default()
//!     }
//! }
//!
//! let signer = Arc::new(SigningKey::from_seed([7; 32]));
//! let alone = Validator { key: signer.public(), power: 1 };
//! let set = ValidatorSet::new(vec![alone], |_| true)?;
//! let sim = SimId(Digest::of("an example", b"idle"));
//! let config = AgreementConfig::new(sim, 1, 50, signer, Arc::new(Ed25519), true);
//! let base = Base::genesis(Millis(1_000), Root(Digest::ZERO), &set);
//!
//! let mut now = Now { monotonic: Duration::ZERO, wall: Millis(1_000) };
//! let mut agreement = Agreement::open(config, base, Vec::new(), now, &mut Idle)?;
//! let (mut log, mut told) = (Vec::new(), Vec::new());
//! while told.len() < 2 {
//!     while let Some(effect) = agreement.poll() {
//!         match effect {
//!             AgreementEffect::Append { record, .. } => log.push(record.encode()),
//!             AgreementEffect::Sync(place) => agreement.handle(now, &mut Idle, AgreementInput::Synced(place)),
//!             AgreementEffect::Decided { decision, .. } => {
//!                 let (height, root) = (decision.height(), Root(Digest::ZERO));
//!                 let applied = AppliedTurn { height, root, validators: set.clone() };
//!                 agreement.handle(now, &mut Idle, AgreementInput::Applied(applied));
//!                 told.push(decision.turn.header.time);
//!             }
//!             _ => {}
//!         }
//!     }
//!     let due = agreement.deadline().expect("it looks around now and then");
//!     now.wall = now.wall.plus((due - now.monotonic).as_millis() as u64);
//!     now.monotonic = due;
//!     agreement.handle(now, &mut Idle, AgreementInput::Wake);
//! }
//! assert_eq!(told, [Millis(1_050), Millis(1_100)]);
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod agreement;
mod base;
mod chain_history;
mod config;
mod core;
mod decision;
mod effect;
mod height_state;
mod host;
mod input;
mod join;
mod judge;
mod lean_turn;
pub mod limits;
mod message;
mod outbox;
mod patience;
mod peers;
mod record;
#[cfg(test)]
mod tests;
mod timers;
mod turn_store;
mod turn_time;

pub use agreement::{Agreement, OpenAgreementError, ResourceCount};
pub use base::Base;
pub use config::AgreementConfig;
#[cfg(feature = "controls")]
pub use config::AgreementControls;
pub use decision::Decision;
pub use effect::{AgreementEffect, Halt, Recipients, RecordPosition};
pub use host::{ActCheckError, Host, Void, VoidAct};
pub use input::{AgreementInput, AppliedTurn};
pub use join::{Checkpoint, JoinPack, JoinPackError, members_at};
pub use message::{Message, Part, Polka, RoundProof, RoundVote, Shows, Want};
pub use metatopia_types::Link;
pub use patience::Patience;
pub use record::{Record, Step, Timeout, TurnVerdict};
