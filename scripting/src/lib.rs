//! Source packages, their licences, and the execution of scripts.
//!
//! This crate runs one event of one script over a world that does not change, and gives back what
//! the script wants changed. It cannot touch a world itself, reads no clock, draws no entropy,
//! opens no file, and keeps nothing between two calls.
//!
//! * A [`Package`] is source that anybody may read and change: text, a copyleft licence, authors.
//!   Its [`id`](Package::id) is the digest of all of it.
//! * A [`Handler`] turns a [`Call`] (one [`Event`], a [`View`] of the world, the script's [`State`])
//!   into a [`Part`], or a [`ScriptError`] that says where it failed.
//! * [`limits`] names every bound.
#![forbid(unsafe_code)]

extern crate alloc;

mod check;
mod error;
mod event;
mod handler;
pub mod host;
pub mod limits;
mod package;
mod part;
mod scene;
mod stock;
mod value;
mod view;

pub use check::{CompileError, Diagnostic, check};
pub use error::{ErrorKind, Fault, Report, ScriptError};
pub use event::{Event, EventKind};
pub use handler::{Call, Handler};
pub use package::{
    Author, Draft, LANGUAGE, Licence, LicenceError, Manifest, ManifestError, Package, PackageError,
    SourceError, Version,
};
pub use part::{Effect, Own, Part};
pub use scene::Scene;
pub use stock::RhaiHandler;
pub use value::{State, StateError, Value};
pub use view::{ObjectView, View};
