//! Source packages, their licences, and the execution of scripts.
//!
//! This crate runs one event of one script over a world that does not change, and gives back what
//! the script wants changed. It cannot touch a world itself, reads no clock, draws no entropy,
//! opens no file, and keeps nothing between two calls.
//!
//! * A [`Package`] is source that anybody may read and change: text, a copyleft licence, authors.
//!   Its [`id`](Package::id) is the digest of all of it.
//! * A [`Handler`] turns a [`Call`] (one [`Event`], a [`WorldView`] of the world, the script's
//!   [`ScriptState`]) into a [`ScriptOutput`], or a [`ScriptError`] that says where it failed.
//!   [`ScriptHandler`] executes source; a port to Rust implements the same trait over a [`ScriptContext`].
//! * [`host`] describes what scripts can call; [`limits`] names every bound; [`check`] says what is
//!   wrong with a source.
//!
//! The language has the syntax of rhai, with ordinary literals like `1.5` as fixed-point numbers. It has no
//! evaluation of text, no clock and no files. Rhai's parser reads a source; nothing of rhai runs it. The
//! module `lang` compiles what the parser gives to a [`ScriptProgram`], code for registers that can be
//! written down and read again (`ir`), and the module `exec` runs it. Closures keep copies of the variables
//! that they name. `map`, `filter`, `reduce`, `sort` and others call them; all work is paid for before it is
//! done, and memory counts the same on every machine. `tests/oracle` holds it to what stock rhai says of
//! random programs, and lists where it differs on purpose.
//!
//! ```
//! use std::sync::Arc;
//!
//! use metatopia_scripting::{
//!     Call, Draft, Event, Handler, ObjectView, ObjectWrites, Package, PackageAuthor, ScriptEffect,
//!     ScriptHandler, ScriptState, Value, WorldView, limits::GAS_PER_CALL_MAX,
//! };
//! use metatopia_types::{Digest, ObjectId, Origin, ScriptId, SimId, Tick};
//! # use metatopia_math::{Angle, Fx, Vec2};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let source = r#"
//!     fn on_touch(other) {
//!         state.rings = (state.rings ?? 0) + 1;
//!         say(`Ding, ${other.name}! That was ring ${state.rings}.`);
//!         timer("fade", 1.5);
//!     }
//! "#;
//! let bell = Package::build(Draft {
//!     name: "bell".into(),
//!     version: "1.0.0".into(),
//!     api: 1,
//!     entry: "bell.rhai".into(),
//!     files: [("bell.rhai".into(), source.into())].into(),
//!     licence: "AGPL-3.0-or-later".into(),
//!     authors: vec![PackageAuthor { name: "Ada".into(), key: None }],
//!     ..Draft::default()
//! })?;
//! let handler = ScriptHandler::new(&bell)?;
//!
//! /// A world where everything is called Bob.
//! struct Bobs;
//! impl WorldView for Bobs {
//!     fn object(&self, id: ObjectId) -> Option<ObjectView<'_>> {
//!         # let (pos, velocity, angle, spin) = (Vec2::ZERO, Vec2::ZERO, Angle::ZERO, Fx::ZERO);
//!         # let (kind, color, text) = ("avatar", 0, "");
//!         let origin = Origin { sim: SimId(Digest([7; 32])), number: id };
//!         # let (licence, player, owner, spawner) = (metatopia_types::AssetLicence::Cc0, None, None, None);
//!         let name = "Bob";
//!         Some(ObjectView {
//!             // ..
//!             # origin, kind, pos, velocity, angle, spin, color, text, sensor: false, licence, player, owner, spawner,
//!             name,
//!         })
//!     }
//!     // ..
//!     # fn nearby(&self, _: Vec2, _: Fx, _: u32) -> metatopia_scripting::Nearby { Default::default() }
//!     # fn named(&self, _: ObjectId, _: &str, _: u32) -> metatopia_scripting::Nearby { Default::default() }
//!     # fn along_ray(&self, _: Vec2, _: Vec2, _: ObjectId) -> metatopia_scripting::AlongRay { Default::default() }
//!     # fn tick(&self) -> Tick { Tick(0) }
//!     # fn seed(&self) -> Digest { Digest::ZERO }
//! }
//!
//! let view: Arc<dyn WorldView> = Arc::new(Bobs);
//! let part = handler.call(&Call {
//!     view: &view,
//!     script: ScriptId(1),
//!     object: ObjectId(1),
//!     index: 0,
//!     event: &Event::Touch { other: ObjectId(2), at: Vec2::ZERO, impulse: Fx::ONE },
//!     state: &Arc::new(ScriptState::default()),
//!     own: &ObjectWrites::default(),
//!     gas: GAS_PER_CALL_MAX,
//! })?;
//!
//! assert_eq!(part.state.expect("it counted").0["rings"], Value::Int(1));
//! assert_eq!(part.effects, [
//!     ScriptEffect::Say { text: "Ding, Bob! That was ring 1.".into() },
//!     ScriptEffect::Timer { name: "fade".into(), ticks: 90 },
//! ]);
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

extern crate alloc;

mod check;
mod error;
mod event;
mod exec;
mod handler;
pub mod host;
mod ir;
mod lang;
pub mod limits;
mod package;
mod part;
mod port;
mod ports;
mod scene;
mod suggest;
mod value;
mod view;

pub use check::{CompileError, Diagnostic, check, check_syntax};
pub use error::{ErrorKind, FailureReport, HostFault, ScriptError};
pub use event::{Event, EventKind};
pub use exec::{ProgramError, ScriptExecutor, ScriptHandler};
pub use handler::{Call, Executor, Handler, default_executor};
pub use ir::{IR_FORMAT, ScriptProgram};
pub use package::{
    APIS, Draft, ImportError, ImportRule, ImportTree, Licence, LicenceError, LinkedPackage,
    ManifestError, PACKAGE_FILE, Package, PackageAuthor, PackageError, PackageManifest,
    SourceError, Version, read_source,
};
pub use part::{ObjectWrites, ScriptEffect, ScriptOutput, SurfaceRule, ThingJoint, ThingMaterial};
#[cfg(feature = "compare")]
pub use port::tick_port;
pub use port::{Port, PortError, port_digest, write_port};
pub use ports::ports;
pub use scene::ScriptContext;
pub use suggest::closest;
pub use value::{ScriptState, StateError, Value, ValueError};
pub use view::{AlongRay, NamedClub, Nearby, ObjectView, WorldView};
