//! The world state machine of a sim: it turns decided turns into states, and states into roots.
//!
//! This crate knows no socket, file, clock or thread, and no float. It decides nothing about
//! *which* turns are agreed on; it says what they do. Two worlds that applied the same turns are
//! equal bit by bit, whatever machine they are on and whoever ran their scripts.
//!
//! * A [`World`] begins with a [`Genesis`], or [carries on](World::succeed) a sim whose servers are
//!   gone, and [applies](World::apply) turn after turn. That always
//!   succeeds: an act, a call of a script or a step of physics that fails, even by a panic, has
//!   changed nothing, and is the same failed outcome on every server.
//! * [`judge_turn`] and [`LaneWindows`] say which turns may be decided at all: a pure function of
//!   the turns before, without executing any.
//! * The state is cut into leaves of at most 64 KiB; the root is a Merkle root over them. A
//!   [`Manifest`] with its leaves is a snapshot, and restoring it is as good as never having
//!   stopped. [`difference`] names the first field in which two states differ. What would make the
//!   state too long to be restored finds no room ([`limits::WORLD_BYTES_MAX`]).
//! * A [`Course`] follows decided turns and compares what they state; a [`Capsule`] holds a state and
//!   the turns after it, for others to look for where two servers part.
//! * Whoever can run work in parallel hands in a [`ForkJoin`]; [`Serial`] is always right.
//!
//! # The rooms
//!
//! `state` holds everything that a sim knows and puts the other rooms together. `rules` says which turns
//! may be decided and how much of everything there may be, `acts` decides each act, `scripts` runs what
//! is in the things, `space` is the ground and what is shown of it, and `tree` cuts the state into leaves
//! and hashes them.
//!
//! # One turn
//!
//! The header's digest is mixed into the seed of the world's order: `R_h = blake3(R_{h-1} || header
//! digest)`. Acts are given to the sim core, receiver 0, grouped by author; groups are sorted by
//! [`group_key`], each author's acts stay in order. Then the turn's ticks run. In each, avatars are
//! steered, the bodies move for a tick, what happened is put into the inboxes of the scripts that
//! handle it, each of these runs alone over the same unchanging state, and what they did is merged
//! in the order of their ids. What a script sends arrives one tick later.
//!
//! # What it does not do yet
//!
//! There is one ground with circles and rectangles on it. No act forgets chat. Packages import nothing.
//! Scripts hear players, not each other: for that they send.
//!
//! # Example
//!
//! A world with one box and one visitor:
//!
//! ```
//! use std::{collections::{BTreeMap, BTreeSet}, sync::Arc};
//!
//! use metatopia_math::{Fx, Vec2};
//! use metatopia_physics::{BodySpec, Motion, Shape};
//! use metatopia_sim::{ENGINE, Genesis, ObjectSpec, Parameters, RULES, Serial, Tools, World};
//! use metatopia_types::{
//!     Act, AssetLicence, TurnBody, NodeContact, Ed25519, Envelope, Header, Height, Lane, Look, Millis,
//!     Outcome, Seq, Sign, SigningKey, Turn,
//! };
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let (server, ada) = (SigningKey::from_seed([1; 32]), SigningKey::from_seed([2; 32]));
//! let square = Shape::Rect { half: Vec2::new(Fx::HALF, Fx::HALF) };
//! let genesis = Genesis {
//!     name: "yard".to_owned(),
//!     admins: BTreeSet::from([ada.public()]),
//!     validators: BTreeMap::from([(server.public(), NodeContact::default())]),
//!     objects: vec![ObjectSpec {
//!         kind: "crate".to_owned(),
//!         name: "box".to_owned(),
//!         owner: None,
//!         look: Look::default(),
//!         text: String::new(),
//!         body: BodySpec::new(square, Motion::Dynamic, Vec2::new(Fx::from_int(9), Fx::ZERO)),
//!         scripts: Vec::new(),
//!         licence: AssetLicence::Cc0,
//!         spawner: None,
//!         seat: None,
//!     }],
//!     licence: "AGPL-3.0-or-later".to_owned(),
//!     asset_licence: "CC-BY-SA-4.0".to_owned(),
//!     ..Genesis::empty()
//! };
//! let mut world = World::genesis(&genesis, &Tools::new(Arc::new(Ed25519)))?;
//!
//! let act = Act::login("Ada".to_owned(), Look::default());
//! let (lane, seq, last_valid) = (Lane(1), Seq(1), Height(100));
//! let envelope = Envelope { sim: world.sim(), author: ada.public(), lane, seq, last_valid, act };
//! let body = TurnBody::new(vec![envelope.sign(&ada)], Vec::new())?;
//! let set = world.roster().newest_set().id();
//! let header = Header {
//!     sim: world.sim(),
//!     engine: ENGINE,
//!     height: Height(1),
//!     proposer: server.public(),
//!     time: Millis(1_700_000_000_000),
//!     root: world.root(),
//!     validators: set,
//!     next_validators: set,
//!     ..Header::unstated()
//! };
//! let applied = world.apply(&Turn::of(header, body), &Serial);
//!
//! assert_eq!(applied.outcomes, [Outcome::Ok]);
//! let avatar = world.avatar(&ada.public()).and_then(|id| world.object(id));
//! assert_eq!(avatar.map(|seen| seen.name), Some("Ada".to_owned()));
//! assert_eq!(applied.root, world.rehash());
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

mod acts;
mod rules;
mod scripts;
mod space;
mod state;
mod tree;

#[doc(hidden)]
pub use acts::InjectedPanics;
pub use acts::{
    BuildHistory, CLUB, ChatEntry, ChatIndex, DeletedObject, EVERYWHERE, Inverse, NEARBY, SHOUTED,
    SpokenLine, UndoEntry, UnitedPart, WHISPERED,
};
pub use metatopia_physics::{
    Body, JointKind, JointSpec, Motion, Polygon, PolygonError, Shape, limits::SPRING_FREQUENCY_MAX,
};
pub use rules::{
    ActFault, ActGround, ActTarget, Anchor, Basis, Border, BorderSummary, Club, ClubInvite,
    Crossing, DelayedChange, Denied, FiledReport, FirstLogins, ForgottenWords, FriendList,
    FrozenThing, GivenRight, GivenRuling, Governance, GrantedSim, HeardSaid, IssuedTicket, Judging,
    KeptProfile, KeptWords, KeyFriends, LandKeyChanges, LandWeek, LaneKey, LaneWindows,
    LuggageThing, Motd, OpenRecovery, OrderedDeed, RecordedOrder, Register, Right, Role,
    RotatedKey, Sanction, Standing, Standings, ThingTrace, Tickets, ToldWords, TraceCount,
    TurnAdmission, TurnFault, TurnedBack, Wall, Warrant, Window, check_name, judge_act, judge_turn,
    limits, skeleton_of,
};
#[cfg(feature = "controls")]
pub use rules::{Controls, CrossingBug};
pub use scripts::{
    Fallback, ForkJoin, Inbox, MadeSound, Permit, QueuedEvent, Script, Sender, Serial, ShownForm,
    SpeechRate, StandingOffer, Zone, gas, group_key,
};
pub use space::{
    AdjacentLeaf, Area, CopiedLeaf, CopyError, FloorPlan, FloorPlanError, FloorPlanFault,
    FloorPlanPart, GESTURE_TICKS, GroundAt, KnownLeaves, Land, Lot, PlacedLeaf, PlacedTiles,
    RestoreBodiesError, RunningScript, Sector, SectorOpening, SectorSound, ShownTiles,
    TILE_BYTES_MAX, TILE_ENTRIES_MAX, TILE_ENTRY_BYTES_MAX, TILE_METRES, Tile, TileCopy, TileEntry,
    WorldObject, may_build, tile_key,
};
#[cfg(feature = "controls")]
pub use state::flipped;
pub use state::{
    AMENDABLE, AVATAR, AgreedPort, AgreedPorts, AgreedPortsError, AmendError, Applied,
    AvatarParameters, BorderAnswer, BuildingParameters, CAPSULE_BYTES_MAX, COURSE_ROOTS_KEPT,
    Capsule, CapsuleError, ChangedObject, Charter, ChatParameters, Course, FeatureFlags,
    FeatureFlagsError, FirstLogin, FlagsTextError, Frozen, GasParameters, Genesis, GenesisError,
    Held, Introduction, IntroductionError, LandClaims, LeafEntry, LogLine, LotParameters, Manifest,
    MissingPort, MissingTier, Object, ObjectSpec, ObjectSpecError, Parameters, ParametersError,
    Parent, Player, PlayerSession, PortsTextError, Presence, Publication, Publishers, Received,
    ReplayVerdict, SNAPSHOT_BYTES_MAX, ScriptFailure, ScriptSpec, SimClock, Since, Stage,
    StateRestoreError, ThingChange, ThingSeat, TierName, Tools, Unsound, Watch, World, describe,
    differ, differ_from, heading_of, is_line, is_name, picture_digest, picture_kind, rules_name,
};
pub use tree::{
    EngineLeaf, LeafContents, LineDifference, MapShelves, ProvableLeaves, StateDifference,
    difference, first_leaf, first_line, is_of_body_or_script, show,
};

/// The exact rules of this crate and of all below it. A world runs by one engine; a server with
/// another one must not apply its turns.
pub const ENGINE: u32 = 30;

/// What names the exact rules of [`ENGINE`] on every platform: the digest of the module by which its
/// turns are replayed. Zero while the engine is unreleased, so that no other rules can be meant.
pub const RULES: metatopia_types::Digest = metatopia_types::Digest::ZERO;
