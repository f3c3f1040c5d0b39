//! State: everything that a sim knows after a turn, how it begins, goes from turn to turn, is stored
//! and is followed elsewhere.
//!
//! This room puts the others together: a world is a state, its programs and its leaves, and applying
//! a turn goes through all rooms. No other room applies turns or stores states.

mod agreed_ports;
mod amendment;
mod applied;
mod apply;
mod arrivals;
#[cfg(feature = "controls")]
mod bit_flip;
mod border_turn;
mod capsule;
mod carried;
mod chat_parameters;
mod course;
mod feature_flags;
mod founding;
mod frames;
mod frozen;
mod genesis;
mod ghosts;
mod hands;
mod indexes;
mod introduction;
mod luggage;
mod mechanism;
mod object;
mod parameters;
mod pieces;
mod players;
mod presence;
mod publications;
mod sending_home;
mod sim_state;
mod snapshot;
mod thing_arrivals;
mod tick;
mod tools;
mod travel;
mod watch;
mod world;

pub use agreed_ports::{AgreedPort, AgreedPorts, AgreedPortsError, MissingPort, PortsTextError};
pub use amendment::{AMENDABLE, AmendError};
pub use applied::{Applied, ChangedObject, LogLine, Received, ScriptFailure, describe};
#[cfg(feature = "controls")]
pub use bit_flip::flipped;
pub use capsule::{CAPSULE_BYTES_MAX, Capsule, CapsuleError, ReplayVerdict, differ, differ_from};
pub use carried::BorderAnswer;
pub use chat_parameters::ChatParameters;
pub use course::{COURSE_ROOTS_KEPT, Course, Unsound};
pub use feature_flags::{FeatureFlags, FeatureFlagsError, FlagsTextError};
pub use frozen::Frozen;
pub use genesis::{
    Genesis, GenesisError, ObjectSpec, ObjectSpecError, Parent, ScriptSpec, rules_name,
};
pub use introduction::{Introduction, IntroductionError, picture_digest, picture_kind};
pub use metatopia_types::is_line;
pub use object::{AVATAR, Held, Object, ThingChange, ThingSeat};
pub use parameters::{
    AvatarParameters, BuildingParameters, FirstLogin, GasParameters, LandClaims, LotParameters,
    Parameters, ParametersError, Publishers, TierName, heading_of,
};
pub(crate) use pieces::{PackagePiece, PieceKey};
pub use players::{Player, PlayerSession, Since, is_name};
pub use presence::Presence;
pub use publications::Publication;
pub use sim_state::{Charter, SimClock};
pub use snapshot::{LeafEntry, Manifest, SNAPSHOT_BYTES_MAX, StateRestoreError};
pub use tools::{MissingTier, Tools};
pub use watch::{Stage, Watch};
pub use world::World;

pub(crate) use ghosts::{GhostLeaf, Ghosts};
pub(crate) use luggage::{FetchedThing, PackedThing};
pub(crate) use object::object_key;
pub(crate) use sending_home::SentHome;
pub(crate) use sim_state::{Owner, State};
pub(crate) use tick::ScriptRuntime;
