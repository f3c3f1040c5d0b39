//! The checks that anybody can make of what servers keep, and the repairs that operators make of it.
//!
//! * [`verify`] checks a server's log against its certificates, and applies its turns again.
//! * [`replay`] follows a log or a capsule and sums up what each stage of a tick led to.
//! * [`region`] plays a recording of a physics region again.
//! * [`bisect`] finds where two histories part; [`capsule`] explains what a server or tab kept then.
//! * [`crossings`] holds the logs of two sims against each other: what went over their border.
//! * [`evidence`] finds servers that signed two things at once.
//! * [`recover`] says from which state a stalled sim goes on; [`succeed`] founds a sim that carries on
//!   one whose servers are gone. Both take the state from [`kept_state`].
//!
//! This crate works offline and sans-IO: it reads a data directory through the store's
//! [`ReadDisk`](metatopia_store::ReadDisk), and gets genesis, first state and threads handed in. It cannot
//! open a path, ask another server, start a thread or print. It decides nothing for a running server.
//! The command line opens the files, prints the results and turns errors into exit codes.
//!
//! ```
//! use metatopia_audit::{SimStart, tools, verify::verify_log};
//! use metatopia_scenarios::plaza;
//! use metatopia_sim::{Serial, World};
//! use metatopia_store::{Identity, Opening, Store, memory::MemoryDisk};
//! use metatopia_types::{NodeContact, Sign as _, SigningKey};
//!
//! let server = SigningKey::from_seed([1; 32]).public();
//! let genesis = plaza::genesis([(server, NodeContact::default())].into(), [].into());
//! let first_state = Ok(World::genesis(&genesis, &tools())?);
//! let identity = Identity { sim: genesis.id(), server };
//! let disk = Store::open(MemoryDisk::new(), Opening::new(identity))?.store.into_disk();
//!
//! let start = SimStart { genesis, first_state };
//! let checked = verify_log(&disk, identity, &start, &Serial, &mut ())?;
//!
//! assert_eq!((checked.fault, checked.records), (None, 0));
//! assert_eq!(checked.world.map(|world| world.height().0), Some(0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

pub mod bisect;
pub mod capsule;
pub mod crossings;
pub mod evidence;
#[cfg(any(test, feature = "fixture"))]
pub mod fixture;
pub mod kept_state;
mod read_log;
pub mod recover;
pub mod region;
pub mod replay;
mod sim_start;
pub mod succeed;
mod turn_observer;
pub mod verify;

pub use sim_start::{SimStart, tools};
pub use turn_observer::TurnObserver;
