//! A node's place in the overlay of its world: the machine of [`metatopia_raynet`] with clocks, sockets
//! and files.
//!
//! [`start`] opens the overlay's own swarm and runs an [`Overlay`](metatopia_raynet::Overlay) in a task.
//! Whoever asks does it by an [`OverlayMember`]: who owns a point, what the map says, who is known. What
//! the machine cannot do by itself is done here:
//!
//! | what | where |
//! | --- | --- |
//! | the loop, its clocks and timers | [`member`] |
//! | proofs of the map, checked by the validators of the land office | [`office`] |
//! | shelves of the map, fetched from the land office | [`shelves`] |
//! | which of them are fetched again because they are old | `old_shelves` |
//! | keys and what is kept of the land office | [`folder`] |
//! | a sim's server as a member | [`place`] |
//! | what is said by HTTP | [`answers`] |
//! | renewals of the grant | [`renewal`] |
//! | whether others reach this node | [`reach`] |
//! | the record of the own site, signed by a beacon | [`speaker`] |
//! | addresses of sites, for the overlay and for clients | [`address`] |
//! | the last good contacts, on the disk | [`contacts`] |
//! | the last map, on the disk | [`map_file`] |
//! | members that were found, as contacts | `finds` |
//! | what a node tells of its world | [`learned`] |
//! | invites to a world, as text | [`world_invite`] |
//! | the head of the successor of the land office | [`successor`] |
//! | a server's member, in the world that the sim's state names | [`following`] |
//!
//! The overlay is on no hot path: nothing that servers agree on depends on it.

pub mod address;
pub mod answers;
pub mod contacts;
mod finds;
pub mod folder;
pub mod following;
pub mod learned;
pub mod map_file;
pub mod member;
pub mod office;
mod old_shelves;
pub mod place;
pub mod reach;
pub mod renewal;
pub mod shelves;
pub mod speaker;
pub mod successor;
pub mod trial;
pub mod world_invite;

pub use folder::OverlayFolder;
pub use following::CurrentPlace;
pub use member::{MapView, MemberSetup, OverlayMember, start};
pub use office::OfficeSets;
#[cfg(test)]
pub(crate) use office::{land_proof_of_tests, office_of_tests};
pub use place::{WorldPlace, WorldPlaceSetup};

#[cfg(test)]
mod tests;
