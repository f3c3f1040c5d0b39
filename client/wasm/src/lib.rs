//! The module that a browser runs: the servers' own code, for whoever does not want to trust them.
//!
//! Built for wasm32 it imports nothing: it has no clock, no randomness, no network and no page. It
//! is called by a C interface of bytes, which `client/web/prove/module.js` wraps; natively it is a
//! library, so that its tests need no browser.
//!
//! * [`keys`] signs, checks and hashes by the same rules as the servers.
//! * [`key_desk`] reads and writes keys as text, seals and opens them, and gives them up for others.
//! * [`ClientCore`] is a whole client of one sim: it speaks with servers, holds what they show against
//!   roots that more than two thirds of the voting power signed, signs what the person does, and says
//!   where the own avatar will be. The page brings frames and clocks, and draws.
//! * [`foresee`] steps the own avatar ahead by the servers' own physics.
//! * [`ClientReplica`] applies every turn itself, and compares its roots with the certified ones; what it
//!   disagrees with goes into a [`Capsule`] that anybody can replay.
//! * [`block_list`] reads and changes the list of whom a person does not want to read, and [`buddy_list`] that of
//!   whom she likes to find.
//! * [`text_changes`] tells what changed between two versions of a source.
//! * [`ScriptTrial`] runs a draft of a script on a copy of a replica's state, before anybody else sees it.
//!
//! What comes in is a peer's: every fault of it is a [`CallError`], and nothing has changed then. A
//! panic is an error of this crate; in a module that was built to abort, it ends the instance.
//!
//! ```
//! use metatopia_wasm::keys;
//!
//! let secret = [7; 32];
//! let key = keys::public_key(&secret)?;
//! let signature = keys::sign(&[&secret[..], b"hello"].concat())?;
//! let told = [&key[..], &signature, b"hello"].concat();
//! assert_eq!(keys::verify(&told)?, [1]);
//! # Ok::<(), metatopia_wasm::CallError>(())
//! ```
#![deny(unsafe_code)]

pub mod abi;
mod blocks;
mod changes;
mod core;
mod draft;
mod fault;
mod key_desk;
pub mod keys;
mod predict;
mod replica;
mod trial;
mod trust;
mod world_map;

pub use self::core::{CORE_CHECKPOINT_AGAIN, ClientCore};
pub use blocks::{block_list, buddy_list};
pub use changes::text_changes;
pub use fault::CallError;
pub use key_desk::key_desk;
pub use metatopia_sim::{Capsule, CapsuleError, ReplayVerdict};
pub use predict::{
    HeadingChange, NEAR_MAX, Path, PredictedStep, PredictedWalk, TICKS_MAX, foresee,
};
pub use replica::{ClientPhase, ClientReplica, ClientRequest, ClientStatus, Followed, StartPoint};
pub use trial::{
    HandlerGas, ScriptTrial, TRIAL_BYTES_MAX, TRIAL_LINES_MAX, TRIAL_TURNS_MAX, TrialEvent,
    TrialLine, TrialReport,
};
pub use trust::TrustedGenesis;
pub use world_map::{MAP_PROOFS_MAX, prove_map};
