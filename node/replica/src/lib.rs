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
//! use metatopia_consensus::RecordPosition;
//! use metatopia_replica::Outbox;
//!
//! let mut outbox = Outbox::default();
//! assert_eq!(outbox.pass(RecordPosition(1), "a vote"), None);
//! assert_eq!(outbox.synced(RecordPosition(1)), ["a vote"]);
//! ```
#![forbid(unsafe_code)]

mod acts;
mod answers;
mod archive;
mod backfill;
mod controls;
mod effect;
mod endpoints;
mod facts;
pub mod fetch;
mod followers;
mod join_retry;
pub mod keeper;
mod ledger;
pub mod mempool;
mod message;
mod outbox;
mod publish;
mod rate;
mod repair;
mod replica;
mod sessions;
mod snapshot_offers;
mod start;
mod state_sync;
mod status;
mod turns;
pub mod views;

pub use backfill::{FILL_BYTES_MAX, FILL_TURNS_MAX, Missing, Unasked};
#[cfg(feature = "controls")]
pub use controls::Controls;
pub use effect::{ActStage, Asker, Effect, Input, Reader};
pub use endpoints::{ANNOUNCEMENT_PAUSE, EndpointChange, Endpoints, OwnEndpoint};
pub use followers::{
    FOLLOWER_FRAMES_PER_SECOND, FOLLOWERS_MAX, Follower, Followers, GAVE_WAY_MAX,
    INVITES_KNOWN_MAX, INVITES_PER_ISSUER,
};
pub use join_retry::{JOIN_RETRY_PAUSES, JoinRetry, JoinTarget};
pub use message::{PEER_FRAME_BYTES_MAX, PeerMessage};
pub use outbox::Outbox;
pub use repair::{Condition, HOUR, RECENT_BYTES_MAX, REPAIRS_MAX, RepairReport};
pub use replica::{
    Config, PEER_QUESTIONS_MAX, QUESTIONS_MAX, RECALL_HEIGHTS, Replica, SNAPSHOT_TURNS, STALL,
};
pub use sessions::{
    ACTS_BURST, ACTS_PER_TURN, ANSWER_BYTES_BURST, ANSWER_BYTES_PER_TURN, CLIENTS_MAX, ClientId,
    Delivery, Demand, FORGERY_ACTS, FRAMES_PER_TURN_MAX, RECEIPTS_AGAIN_BURST,
    RECEIPTS_AGAIN_PER_TURN, SESSIONS_PER_KEY_MAX, SessionEffect, Sessions, busy,
};
pub use snapshot_offers::OFFERS_MAX;
pub use start::{
    LOADED_BYTES_MAX, RECORDS_BACK_HEIGHTS, RecordsError, SNAPSHOT_BYTES_MAX, SnapshotError,
    base_of, decisions, decode_snapshot, encode_snapshot, find_decisions, payloads_after,
    recall_from, records_after,
};
pub use state_sync::{BEHIND_TURNS, FETCH_PAUSE, FetchEvent, Fetching, Replacement, SyncReason};
pub use status::{Status, WaitingCounts};
pub use turns::{GAPS_MAX, Gap, Gaps, KeptTurns, Turns, decode_patch, encode_patch};
