//! The seeded simulated world: whole clusters of servers in one process.
//!
//! A [`Simulator`] has a virtual clock, a seeded network, and for every server a disk that forgets what
//! was not synced and two clocks that may be wrong. It crashes processes at exact points, cuts
//! links, lets time jump, and plays one seed as one history: the same seed twice gives the same
//! [`Trace`].
//!
//! It drives anything of the shape [`Machine`]; a [`Cluster`] says which servers there are, watches
//! what they send and tell, and may send something else in their name. It cannot test sockets, real
//! disks or real time: that is for tests with real processes.
//!
//! ```
//! use std::time::Duration;
//! use metatopia_simulator::agreement::Scenario;
//! use metatopia_simulator::{Conditions, Links, ClusterOrder, UnsyncedWrites};
//!
//! let mut scenario = Scenario::new("an example", 7.into());
//! scenario.conditions.links = Links { loss_ppm: 50_000, ..Links::steady(20) };
//! let (tail, down) = (UnsyncedWrites::Torn, Duration::from_millis(80));
//! scenario.orders = vec![(Duration::from_millis(300), ClusterOrder::Crash { seat: 2, tail, down })];
//!
//! let outcome = scenario.play(10, Duration::from_secs(20));
//!
//! outcome.assert_sound();
//! assert_eq!(outcome.crashes, 1);
//! assert_eq!(outcome.digest, scenario.play(10, Duration::from_secs(20)).digest);
//! ```
#![forbid(unsafe_code)]

mod agenda;
pub mod agreement;
mod calm;
mod chance;
mod class;
mod clock;
mod cluster;
mod conditions;
mod course;
mod crash;
mod damage;
mod fall;
mod lent;
mod life;
mod machine;
mod network;
pub mod replica;
mod seat;
mod signatures;
mod start;
mod storm;
pub mod story;
mod trace;
mod villain;
mod watched;
mod weather;
mod world;

pub use agenda::Agenda;
pub use calm::FaultRecovery;
pub use chance::{CERTAIN_PPM, Dice, Span};
pub use class::{Class, Fired, Level};
pub use clock::{DAWN, VirtualClock};
pub use cluster::{
    Cluster, ClusterOrder, ClusterView, FrameOf, PeerOf, ReportOf, RequestOf, StartedServer,
};
pub use conditions::Conditions;
pub use course::{Breach, RunReport, SeedRun, shrink};
pub use crash::{CrashPoint, Point, StepCounts, UnsyncedWrites};
pub use fall::{WorldPanic, survive};
pub use lent::{DiskChange, LentDisk};
pub use machine::{DurableMark, FileChange, FrameRecipients, Machine, MachineEffect, MachineInput};
pub use network::{Links, Network};
pub use trace::Trace;
pub use weather::PlannedFault;
pub use world::Simulator;
