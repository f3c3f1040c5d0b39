//! A client of a sim, sans-IO: its session with a node, what it sees, and what it believes.
//!
//! This crate opens no connection and reads no clock; a carrier brings frames and takes frames. It
//! does not simulate: it shows what a node says, and believes only what [`LightClient`] checked.
//!
//! * [`Session`] signs acts, keeps them until their receipt came, sends them again when a
//!   connection broke, and asks questions.
//! * [`LightClient`] follows the validator set from genesis and checks receipts and outcomes.
//! * [`text`] turns typed lines into acts, and scenes into sentences.
//!
//! ```
//! use metatopia_client::text::{Command, parse};
//!
//! assert_eq!(parse("say good morning"), Ok(Command::Say("good morning".into())));
//! assert_eq!(parse("go north"), Ok(Command::Go("north".into())));
//! ```
#![forbid(unsafe_code)]

extern crate alloc;

mod light;
mod session;
pub mod text;

pub use light::{Distrust, LightClient};
pub use session::{Event, Output, PENDING_MAX, Session, SubmitError};
