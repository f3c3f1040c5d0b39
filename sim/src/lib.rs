//! The world state machine: turns, inboxes, leaves, roots, snapshots.
#![forbid(unsafe_code)]

mod acts;
mod applied;
mod chat;
mod difference;
mod fork_join;
pub mod gas;
mod genesis;
mod governance;
mod inbox;
mod judge;
mod leaves;
pub mod limits;
mod merge;
mod object;
mod parameters;
mod players;
mod programs;
mod reach;
mod run;
mod scene;
mod script;
mod shelf;
mod snapshot;
mod state;
mod tick;
mod tracked;
mod view;
mod windows;
mod world;

#[doc(hidden)]
pub use acts::Faults;
pub use applied::{Applied, Failure, LogLine, Received, describe};
pub use chat::{ChatEntry, ChatIndex, ChatLine, EVERYWHERE, NEARBY};
pub use difference::{Contents, Difference, difference, first_leaf, show};
pub use fork_join::{ForkJoin, Serial};
pub use genesis::{Genesis, GenesisError, ObjectSpec, ScriptSpec};
pub use governance::Governance;
pub use inbox::{Delivery, Inbox, Sender, group_key};
pub use judge::{TurnFault, judge_act, judge_turn};
pub use object::{AVATAR, Object, Tile};
pub use parameters::{AvatarParameters, GasParameters, Parameters, ParametersError};
pub use players::{Player, Session, is_line, is_name};
pub(crate) use programs::compile;
pub use scene::{GESTURE_TICKS, Running, Seen};
pub use script::{Script, Voice};
pub use snapshot::{LeafEntry, Manifest, RestoreError};
pub use state::{Charter, Clock};
pub use windows::{ActFault, Admission, LaneKey, LaneWindows, Window};
pub use world::{Tools, World};

/// The exact rules of this crate and of all below it. A world runs by one engine; a server with
/// another one must not apply its turns.
pub const ENGINE: u32 = 1;
