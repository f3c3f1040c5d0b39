//! A client of a sim, sans-IO: its session with a node, what it sees, and what it believes.
//!
//! This crate opens no connection and reads no clock; a carrier brings frames and takes frames. It
//! does not simulate: it shows what a node says, and believes only what [`LightClient`] checked.
//!
//! * [`Session`] signs acts, keeps them until their receipt came, sends them again when a
//!   connection broke, asks questions, and takes views in.
//! * [`Sight`] holds copies of the tiles in sight, and draws a [`Scene`] from them.
//! * [`LightClient`] follows the validator set from genesis and checks receipts, outcomes and what
//!   was in sight. A [`TrustCheckpoint`] lets it begin from what somebody knew later than genesis.
//! * [`SnapshotDownload`] fetches the whole state, and checks it.
//! * [`Correspondence`] seals what one person tells another, and opens what others told.
//! * [`keys`] reads and writes keys as text, sealed by a passphrase or not.
//! * [`BlockList`] names those whose words a person does not want to read.
//! * [`BuddyList`] names those whom a person likes to find, and [`OwnProfile`] is what she says of herself.
//! * [`mentions`] says whether words name a person.
//! * [`NeighbourGround`] says where the ground of a neighbour lies, and how far it is.
//! * [`publishing_steps`] brings a package into a sim.
//! * [`text`] turns typed lines into acts, and scenes into sentences; [`build`] those of builders.
//!
//! ```
//! use metatopia_client::text::{TextCommand, parse};
//!
//! assert_eq!(parse("say good morning"), Ok(TextCommand::Say("good morning".into())));
//! assert_eq!(parse("go north"), Ok(TextCommand::Go("north".into())));
//! ```
#![forbid(unsafe_code)]

extern crate alloc;

mod blocks;
mod border;
mod buddies;
pub mod build;
mod charter;
mod checkpoint;
mod correspondence;
mod download;
pub mod keys;
mod light;
mod mention;
mod named_keys;
mod office;
mod orders;
mod own_profile;
mod profiles;
mod prove;
mod publishing;
mod session;
mod sight;
pub mod text;

pub use blocks::{BLOCKED_MAX, BlockList, BlockListError};
pub use border::{
    BORDERS_FAR_AGAIN, HOUSE_RULES_AGAIN, NEAR_BORDER, NeighbourGround, PORTAL_SIGHT, edge_gap,
    held_back, is_into_portal, is_past_edge, square_of, world_of,
};
pub use buddies::{BUDDIES_MAX, BuddyList, BuddyListError};
pub use checkpoint::{CHECKPOINT_TEXT_MAX, CheckpointError, TrustCheckpoint};
pub use correspondence::{
    Correspondence, OPENED_KEPT, OpenWordsError, PrivateWords, SHARED_KEYS_MAX, SealWordsError,
};
pub use download::{DownloadError, SnapshotDownload};
pub use light::{Distrust, LightClient, SETS_MAX};
pub use mention::mentions;
pub use named_keys::ListSignatureError;
pub use office::{LandOffice, LandOfficeError, OFFICE_LINKS_MAX, ProvedMap};
pub use orders::ProvenOrders;
pub use own_profile::{
    OwnProfile, PICTURE_SIDE_MAX, PROFILE_TEXT_MAX, PictureError, ProfileChange,
    ProfileChangeError, ProfileTextError, check_picture, check_picture_of,
};
pub use profiles::ProvenProfiles;
pub use prove::{LATE_TURNS, ProvenSight, UnprovenSight};
pub use publishing::{PublishingStep, publishing_steps};
pub use session::{
    ENTRANCES_MAX, HEADER_FRESH, Output, PENDING_MAX, PINGS_MAX, QUESTIONS_MAX, Session,
    SessionEvent, SubmitError, TRUSTING_PERIOD, UNCHECKED_MAX,
};
pub use sight::{
    Disproof, ENTRIES_BYTES_MAX, ENTRIES_MAX, KEPT_MAX, OVERLAY_MAX, ProvenTiles, Scene,
    SceneObject, ScenePlayer, Sight, SightError, TILES_MAX,
};
