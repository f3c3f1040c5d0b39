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

mod config;
mod context;
mod controls;
mod durable;
mod effect;
mod execution;
mod frontend;
mod ingress;
mod lockstep;
mod members;
mod message;
mod publish;
mod replica;
mod status;
mod sync;

pub use config::{
    Config, PEER_QUESTIONS_MAX, QUESTIONS_MAX, RECALL_HEIGHTS, SNAPSHOT_TURNS, STALL,
};
#[cfg(feature = "controls")]
pub use controls::Controls;
pub use durable::{
    keeper,
    outbox::Outbox,
    records::{
        LOADED_BYTES_MAX, RECORDS_BACK_HEIGHTS, RecordsError, SNAPSHOT_BYTES_MAX, SnapshotError,
        base_of, decisions, decode_snapshot, encode_snapshot, find_decisions, payloads_after,
        recall_from, records_after,
    },
    turns::{GAPS_MAX, Gap, Gaps, KeptTurns, Turns, decode_patch, encode_patch},
};
pub use effect::{ActStage, Asker, BorderWatch, Effect, Input, Reader};
pub use execution::snapshot_offers::OFFERS_MAX;
pub use ingress::{
    dispatches::HAND_INS_PER_TURN_MAX,
    mempool,
    rate_limits::{
        ACTS_BURST, ACTS_PER_TURN, ANSWER_BYTES_BURST, ANSWER_BYTES_PER_TURN, FORGERY_ACTS,
        RECEIPTS_AGAIN_BURST, RECEIPTS_AGAIN_PER_TURN,
    },
    sessions::{
        CLIENTS_MAX, Demand, FRAMES_PER_TURN_MAX, SESSIONS_PER_KEY_MAX, SessionEffect, Sessions,
        busy,
    },
};
pub use members::{
    endpoints::{ANNOUNCEMENT_PAUSE, EndpointChange, Endpoints, OwnEndpoint},
    followers::{
        FOLLOWER_FRAMES_PER_SECOND, FOLLOWERS_MAX, Follower, Followers, GAVE_WAY_MAX,
        INVITES_KNOWN_MAX, INVITES_PER_ISSUER,
    },
    join_retry::{JOIN_RETRY_PAUSES, JoinRetry, JoinTarget},
};
pub use message::{PEER_FRAME_BYTES_MAX, PeerMessage};
pub use metatopia_protocol::{ClientId, Delivery};
pub use publish::{
    standing::{STANDING_MAX, STANDING_PER_ASKER_MAX},
    views,
};
pub use replica::Replica;
pub use status::{Status, WaitingCounts};
pub use sync::{
    backfill::{FILL_BYTES_MAX, FILL_TURNS_MAX, Missing, Unasked},
    fetch,
    repair::{Condition, HOUR, RECENT_BYTES_MAX, REPAIRS_MAX, RepairReport},
    state_sync::{BEHIND_TURNS, FETCH_PAUSE, FetchEvent, Fetching, Replacement, SyncReason},
};
