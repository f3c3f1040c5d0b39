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
//! Clusters are played at two levels. At that of [`agreement`] a server is agreement with a log and a
//! ledger that stands in for the sim: thousands of such worlds take a minute. At that of [`replica`] it is
//! a whole replica, with scripts, physics, clients and all files. Both levels share one [`ClusterSetting`],
//! the liars, what a [`WatchedCluster`] can be asked, and one swarm: a [`FaultPlan`] is drawn, its storm
//! befalls the world, and the calm after it says in what time the world must go on. A level adds what
//! only it has, always in a field `own`.
//!
//! Two clusters of whole servers are played side by side by [`crossing`], with what crosses their border.
//!
//! What a server is, whom it speaks with, and what a story or an outcome tells of it is not shared: a
//! ledger has no clients, and a replica reads and writes its log by itself.
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
pub mod crossing;
mod damage;
mod fall;
mod lent;
mod life;
mod machine;
mod network;
pub mod overlay;
pub mod replica;
mod seat;
mod setting;
mod signatures;
mod stage;
mod start;
mod storm;
pub mod story;
mod swarm_run;
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
pub use course::{Breach, RunReport, Seed, SeedRun, shrink};
pub use crash::{CrashPoint, Point, StepCounts, UnsyncedWrites};
pub use fall::{WorldPanic, survive};
pub use lent::{DiskChange, LentDisk};
pub use machine::{DurableMark, FileChange, FrameRecipients, Machine, MachineEffect, MachineInput};
pub use network::{Links, Network};
pub use setting::ClusterSetting;
pub use signatures::SignatureKind;
pub use stage::WatchedCluster;
pub use trace::Trace;
pub use villain::ByzantineBehaviour;
pub use weather::{FaultPlan, PlannedFault};
pub use world::Simulator;
