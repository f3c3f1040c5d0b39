//! Real servers on a bad network: four processes of the program, each in a network namespace of its
//! own, and between them a switch that delays, loses, doubles and cuts as a seed and a story say.
//!
//! * [`Weather`] is what may happen to packets; [`NetworkConditions`] are the weather and the cuts of now.
//! * [`Switch`] carries packets between TUN devices under these conditions.
//! * [`LabSeat`] is a namespace with its end of the switch; [`Lab`] is all of them.
//! * [`LabServers`] is a world of four servers in a lab, and [`LabBorder`] two sims of four side by side;
//!   [`stories`] are what is done to them.
//!
//! It needs Linux, `/dev/net/tun`, and the right to make namespaces: root, or user namespaces. Where
//! these are missing [`TakeRightsError`] says which. Time here is the machine's: the seed decides the fate
//! of the n-th packet of a link, not when it comes, so a run is alike and not the same. What must
//! be the same is tested in the simulated world.
//!
//! ```
//! use metatopia_network::{PacketDice, Weather};
//!
//! // The first packets of a link on which half are lost, twice from the same seed.
//! let rain = Weather { loss_percent: 50, ..Weather::default() };
//! let mut once = PacketDice::new(7, (0, 1));
//! let mut again = PacketDice::new(7, (0, 1));
//! let fates: Vec<_> = (0..100).map(|_| once.of_packet(rain)).collect();
//! assert!((0..100).map(|_| again.of_packet(rain)).eq(fates.iter().cloned()));
//! assert!(fates.iter().any(Vec::is_empty) && fates.iter().any(|copies| copies.len() == 1));
//! ```
#![forbid(unsafe_code)]

mod border;
mod bots;
mod conditions;
mod lab;
mod right;
mod servers;
pub mod stories;
mod switch;
mod weather;

pub use border::{BorderTemplate, LabBorder};
pub use bots::Bots;
pub use conditions::NetworkConditions;
pub use lab::{Lab, LabError, LabSeat};
pub use right::{TakeRightsError, take_rights};
pub use servers::{LabServers, Template};
pub use switch::{Switch, SwitchCounters};
pub use weather::{PacketDice, Weather};

/// Servers of a world here: the fewest of which one may vanish.
pub const SERVERS: usize = 4;

/// Seats for servers: two sims stand side by side, and each server has a network of its own.
pub const SEATS: usize = 2 * SERVERS;

/// A direction between two seats, by their numbers.
pub type SeatLink = (usize, usize);
