//! Rules: which turns may be decided, who may decide for the sim, and how much of everything there
//! may be.
//!
//! This room decides and counts. It reads the state, keeps its own part of it, and changes no other
//! part. It executes no act and runs no script.

mod admission;
mod authority;
mod bans;
mod borders;
mod byte_budget;
mod census;
mod clubs;
mod controls;
mod crossing;
mod first_logins;
mod forgotten;
mod friends;
mod governance;
mod judge;
mod land_keys;
mod land_register;
pub mod limits;
mod lots;
mod luggage;
mod mailbox;
mod names;
mod people;
mod profiles;
mod readiness;
mod reports;
mod roles;
mod rotations;
mod standing;
mod tickets;
mod traces;
mod windows;

pub use admission::{ActFault, Judging, TurnAdmission};
pub use authority::{ActGround, ActTarget, Denied, Right, Warrant};
pub use bans::Sanction;
pub use borders::{Border, BorderSummary, TurnedBack};
pub use clubs::{Club, ClubInvite};
#[cfg(feature = "controls")]
pub use controls::{Controls, CrossingBug};
pub use crossing::{Crossing, HeardSaid, Wall};
pub use first_logins::{Anchor, Basis, FirstLogins};
pub use forgotten::ForgottenWords;
pub use friends::{FriendList, KeyFriends, OpenRecovery};
pub use governance::{DelayedChange, Governance};
pub use judge::{TurnFault, judge_act, judge_turn};
pub use land_keys::LandKeyChanges;
pub use land_register::{GrantedSim, LandWeek};
pub use luggage::LuggageThing;
pub use mailbox::{KeptWords, ToldWords};
pub use names::{check_name, skeleton_of};
pub use people::{FrozenThing, GivenRight, Motd, OrderedDeed, RecordedOrder, Role};
pub use profiles::KeptProfile;
pub use reports::{FiledReport, GivenRuling};
pub use rotations::RotatedKey;
pub use standing::{Register, Standing, Standings};
pub use tickets::{IssuedTicket, Tickets};
pub use traces::{ThingTrace, TraceCount};
pub use windows::{LaneKey, LaneWindows, Window};

pub(crate) use borders::{AwayThing, BelievedDispatch, Borders, neighbour_of};
pub(crate) use byte_budget::{ByteBudget, reserved_bytes};
pub(crate) use census::Census;
#[cfg(not(feature = "controls"))]
pub(crate) use controls::{Controls, CrossingBug};
pub(crate) use crossing::{CrossingEvent, Judgement};
pub(crate) use governance::DAY_MS;
pub(crate) use land_register::{LandRegister, lies_on};
pub(crate) use lots::Lots;
pub(crate) use luggage::{Luggage, luggage_parcel};
pub(crate) use names::NameHolders;
pub(crate) use people::{People, build_word};
pub(crate) use profiles::KeepRank;
pub(crate) use readiness::Readiness;
