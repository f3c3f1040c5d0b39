//! One server of one sim, sans-IO.
//!
//! A [`Replica`] composes agreement, the simulated world, the log, the mempool and the sessions of
//! clients into one machine: [`Replica::handle`] takes what happened, [`Replica::poll`] gives what
//! to do, [`Replica::deadline`] says when to wake it. It opens no socket or file, reads no clock,
//! and starts no thread; the driver does, and the simulated world plays the driver in tests.
//!
//! Nothing leaves before the records that it relies on are durable, and no client hears of a turn
//! that a crash could still undo.
//!
//! ```
//! use metatopia_consensus::Position;
//! use metatopia_replica::Outbox;
//!
//! let mut outbox = Outbox::default();
//! assert_eq!(outbox.pass(Position(1), "a vote"), None);
//! assert_eq!(outbox.synced(Position(1)), ["a vote"]);
//! ```
#![forbid(unsafe_code)]

mod acts;
mod answers;
mod archive;
mod backfill;
mod controls;
mod effect;
mod entrances;
mod facts;
pub mod fetch;
mod guests;
pub mod keeper;
mod knocking;
mod ledger;
pub mod mempool;
mod mending;
mod message;
mod offers;
mod outbox;
mod rate;
mod replica;
mod rescue;
mod sessions;
mod start;
mod status;
mod telling;
mod turns;
pub mod views;

pub use backfill::{FILL_BYTES_MAX, FILL_TURNS_MAX, Missing, Unasked};
#[cfg(feature = "controls")]
pub use controls::Controls;
pub use effect::{Asker, Effect, Input, Reader, Stage};
pub use entrances::{Announcement, Entrances, Heard, PAUSE};
pub use guests::{
    GAVE_WAY_MAX, GUEST_FRAMES_PER_SECOND, GUESTS_MAX, Guest, Guests, INVITES_KNOWN_MAX,
    INVITES_PER_ISSUER,
};
pub use knocking::{KNOCK_PAUSES, Knock, Knocking};
pub use mending::{Condition, HEALS_MAX, HOUR, RECENT_BYTES_MAX, Report};
pub use message::{PEER_FRAME_BYTES_MAX, PeerMessage};
pub use offers::OFFERS_MAX;
pub use outbox::Outbox;
pub use replica::{
    Config, PEER_QUESTIONS_MAX, QUESTIONS_MAX, RECALL_HEIGHTS, Replica, SNAPSHOT_TURNS, STALL,
};
pub use rescue::{BEHIND_TURNS, FETCH_PAUSE, FetchNews, Fetching, Need, Replacement};
pub use sessions::{
    ACTS_BURST, ACTS_PER_TURN, ANSWER_BYTES_BURST, ANSWER_BYTES_PER_TURN, CLIENTS_MAX, ClientId,
    Delivery, Demand, FORGERY_ACTS, FRAMES_PER_TURN_MAX, RECEIPTS_AGAIN_BURST,
    RECEIPTS_AGAIN_PER_TURN, SESSIONS_PER_KEY_MAX, SessionEffect, Sessions, busy,
};
pub use start::{
    LOADED_BYTES_MAX, RECORDS_BACK_HEIGHTS, RecordsError, SNAPSHOT_BYTES_MAX, SnapshotError,
    base_of, decisions, decode_snapshot, encode_snapshot, find_decisions, payloads_after,
    recall_from, records_after,
};
pub use status::{Status, Waiting};
pub use turns::{GAPS_MAX, Gap, Gaps, Kept, Turns, decode_patch, encode_patch};
