//! Questions about what was decided. Everything in an answer can be checked without trust, but for
//! [`Question::Players`], [`Question::Scripts`], [`Question::Governance`], [`Question::Things`],
//! [`Question::Borders`], [`Question::Lots`], [`Question::Joints`], [`Question::Reports`],
//! [`Question::Friends`] and [`Question::Clubs`], which are for people to read. What is in a mailbox is signed by
//! who told it; that nothing is missing is not shown.

use alloc::{boxed::Box, string::String, vec::Vec};

use metatopia_math::Vec2;
use metatopia_types::{
    Act, Certificate, ClubId, Header, Height, LandProof, Lane, Look, LotId, NodeContact, ObjectId,
    PackageId, PublicKey, Receipt, Refusal, Root, ScriptId, Seq, SetChange, StateProof, Tick,
    TilePoint, Turn, ValidatorSet,
};
use serde::{Deserialize, Serialize};

use crate::{
    Applicant, BorderEntry, CharterAnswer, ClubEntry, DispatchAnswer, DispatchQuestion,
    DryRunEntry, FriendsEntry, HandInRefusal, HandedDispatch, IntendedChange, IntendedChangeEntry,
    IntendedOrder, JoinRefusal, JoinRequest, JointEntry, LoginTerms, LotEntry, OrdersAnswer,
    PersonEntry, ProfilesAnswer, ReportEntry, SignedAnnouncement, ThingEntry, TicketEntry,
    ToldMessage,
};

/// What a client may ask.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Question {
    /// The receipt of an act.
    Receipt {
        /// The author of the act.
        author: PublicKey,
        /// The lane of the act.
        lane: Lane,
        /// Its place in the lane.
        seq: Seq,
    },
    /// The whole decided turn of a height.
    Turn {
        /// The height of the turn.
        height: Height,
    },
    /// The outcomes of a turn, with proof.
    Outcomes {
        /// The height of the turn.
        height: Height,
    },
    /// Changes of the validator set after a height, oldest first; at most
    /// [`ValidatorSetLink::PER_ANSWER_MAX`].
    Links {
        /// Ask again from the last one's height for more.
        after: Height,
    },
    /// The source of a package.
    Source {
        /// The package that is asked for.
        package: PackageId,
    },
    /// In which order a script got its events in a turn.
    Order {
        /// The height of the turn.
        height: Height,
        /// The script whose events are asked for.
        script: ScriptId,
    },
    /// The root of the state after a height.
    Root {
        /// After the turn of this height.
        height: Height,
    },
    /// Who is here.
    Players,
    /// Which scripts run on what: at most [`SCRIPTS_PER_ANSWER_MAX`], ascending by id.
    Scripts {
        /// Only those of higher ids; ask again from the last one's for more, while answers are full.
        after: ScriptId,
    },
    /// The sim's genesis, encoded; the digest of its head is the sim's id. Of one that is longer than
    /// [`GENESIS_PART_BYTES`], the first part.
    Genesis,
    /// Decided turns from a height on, for those who replay: as many as there are, as fit into
    /// [`TURNS_ANSWER_BYTES`] but at least one, and at most [`TURNS_PER_ANSWER_MAX`].
    Turns {
        /// The first height that is asked for.
        from: Height,
    },
    /// A snapshot to begin replaying from.
    Snapshot,
    /// A piece of an offered snapshot.
    SnapshotPart {
        /// The offer's height.
        height: Height,
        /// Counted from 0; each but the last has [`SNAPSHOT_PART_BYTES`].
        part: u32,
    },
    /// Where the sim's servers let clients in.
    Servers,
    /// Who decides for the sim, and who would if they stayed away.
    Governance,
    /// What somebody owns.
    Things {
        /// The owner whose things are listed.
        owner: PublicKey,
    },
    /// Leaves of an offered snapshot: as many of them, in this order, as fit into
    /// [`SNAPSHOT_PART_BYTES`], and at least one. Where a leaf is in the manifest, and what it must
    /// hash to, the asker knows from the manifest, with which the snapshot begins.
    Leaves {
        /// The offer's height.
        height: Height,
        /// Places in the manifest, counted from 0; at most [`LEAVES_PER_QUESTION_MAX`].
        leaves: Vec<u32>,
    },
    /// Asks to be let in as a follower, by an invite. The session's key is that of the follower's
    /// node, so nobody can ask in the name of another.
    Join(Box<JoinRequest>),
    /// Followers that stand by for a vote.
    Applicants,
    /// A part of the genesis.
    GenesisPart {
        /// Counted from 0; each but the last has [`GENESIS_PART_BYTES`], and the last has fewer.
        part: u32,
    },
    /// What a login of this key takes.
    LoginTerms {
        /// The key that the question is about.
        key: PublicKey,
    },
    /// The tickets that are open.
    Tickets,
    /// The packages of the sim, with those whose source has left: at most [`PACKAGES_PER_ANSWER_MAX`],
    /// ascending by id.
    Packages {
        /// Only those of higher ids; ask again from the last one's for more, while answers are full.
        after: PackageId,
    },
    /// Who holds a point of the world, of a server of its land office: the shelf about the point, with the
    /// proof, from the newest state whose root is certified.
    Land {
        /// The point whose holder is asked for.
        point: TilePoint,
    },
    /// What the sim says to a neighbour, for a server of that neighbour. It is a standing question: it is
    /// answered once there is news, or after the time that it names.
    Dispatch(DispatchQuestion),
    /// The borders of the sim.
    Borders {
        /// Somebody near one of them, who is told what of her does not go over it.
        of: Option<PublicKey>,
    },
    /// What was ordered about this key.
    Person {
        /// The key that is asked about.
        key: PublicKey,
    },
    /// The keys that have a role, are banned or are muted: at most
    /// [`PEOPLE_PER_ANSWER_MAX`](crate::PEOPLE_PER_ANSWER_MAX), ascending.
    People {
        /// Only greater keys; ask again from the last one for more, while answers are full.
        after: Option<PublicKey>,
    },
    /// What an order would do at this moment.
    DryRun(Box<IntendedOrder>),
    /// What was ordered of late, with the proof, from the newest state whose root is certified.
    Orders {
        /// The leaf with the last order below this number; ask again from the first one's number for more.
        below: u64,
    },
    /// The lots of the sim: at most [`LOTS_PER_ANSWER_MAX`](crate::LOTS_PER_ANSWER_MAX), ascending.
    Lots {
        /// Only greater numbers; ask again from the last one for more, while answers are full.
        after: LotId,
    },
    /// The joints that hold something within [`SIGHT`](crate::SIGHT) of a place, the oldest ones: at most
    /// [`JOINTS_PER_ANSWER_MAX`](crate::JOINTS_PER_ANSWER_MAX).
    Joints {
        /// The place, in metres.
        near: Vec2,
    },
    /// What people told moderators: at most [`REPORTS_PER_ANSWER_MAX`](crate::REPORTS_PER_ANSWER_MAX),
    /// ascending.
    Reports {
        /// Only greater numbers; ask again from the last one for more, while answers are full.
        after: u64,
    },
    /// The sealed words in a mailbox: at most [`MAILBOX_PER_ANSWER_MAX`](crate::MAILBOX_PER_ANSWER_MAX),
    /// ascending.
    Mailbox {
        /// The person whose mailbox it is.
        of: PublicKey,
        /// Only greater numbers.
        after: u64,
    },
    /// The friends of a key, with the recovery under way.
    Friends {
        /// The person whose friends they are.
        of: PublicKey,
    },
    /// What would be the friends of a key after an act at this moment, or the rule that refuses it.
    TryFriends {
        /// Who would act.
        author: PublicKey,
        /// The act: one that names friends, vouches or cancels.
        act: Box<Act>,
    },
    /// What the sim is by now, with the proof, from the newest state whose root is certified.
    Charter,
    /// What an amendment, a change of who votes, or an order about tickets or a border would do at this moment.
    TryChange(Box<IntendedChange>),
    /// Clubs: at most [`CLUBS_PER_ANSWER_MAX`](crate::CLUBS_PER_ANSWER_MAX), ascending.
    Clubs {
        /// The person who is in them or invited to them; `None` for all clubs.
        of: Option<PublicKey>,
        /// Only greater numbers; ask again from the last one for more, while answers are full.
        after: ClubId,
    },
    /// What people say of themselves, with the proof, from the newest state whose root is certified.
    Profiles {
        /// The people: at most [`PROFILES_PER_QUESTION_MAX`](crate::PROFILES_PER_QUESTION_MAX).
        of: Vec<PublicKey>,
    },
    /// The picture of a person. Her profile names it.
    Picture {
        /// The person whose picture it is.
        of: PublicKey,
    },
    /// Hands in what a neighbour says, where the servers of both sims do not reach each other.
    HandIn(HandedDispatch),
}

/// Players in one answer about governance.
pub const CANDIDATES_MAX: usize = 16;

/// Scripts in one answer: 1,024 of some 150 bytes each, and never more than 300, are below 300 KiB.
pub const SCRIPTS_PER_ANSWER_MAX: usize = 1_024;

/// Packages in one answer: 512 of less than 500 bytes are below 250 KiB.
pub const PACKAGES_PER_ANSWER_MAX: usize = 512;

/// Turns in one answer.
pub const TURNS_PER_ANSWER_MAX: usize = 256;

/// Bytes of all turns in one answer, unless the first alone is longer: to put more together would
/// keep a server from all else for milliseconds.
pub const TURNS_ANSWER_BYTES: usize = 128 * 1_024;

/// Bytes of a snapshot in one answer.
pub const SNAPSHOT_PART_BYTES: usize = 256 * 1_024;

/// Bytes of a genesis in one answer.
pub const GENESIS_PART_BYTES: usize = SNAPSHOT_PART_BYTES;

/// Leaves that one question may name. The smallest leaf has some bytes, so more never fit.
pub const LEAVES_PER_QUESTION_MAX: usize = 1_024;

/// What a node answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Answer {
    /// The receipt, with the act.
    Receipt(Box<ReceiptAnswer>),
    /// The turn, with a certificate.
    Turn(Box<(Turn, Certificate)>),
    /// The outcomes leaf of the state after the turn, and the header that commits to that state.
    Outcomes(Box<(StateProof, Header, Certificate)>),
    /// Changes of the validator set.
    Links(Vec<ValidatorSetLink>),
    /// The package, manifest and files, in its canonical encoding: it re-hashes to its id.
    Source(#[serde(with = "metatopia_types::wire::bytes")] Vec<u8>),
    /// One entry per event, in the order of delivery.
    Order(Vec<OrderEntry>),
    /// The root that was asked for.
    Root(Root),
    /// Who is present, ascending by key.
    Players(Vec<PlayerEntry>),
    /// Running scripts, ascending by id; fewer than [`SCRIPTS_PER_ANSWER_MAX`] are the last ones.
    Scripts(Vec<ScriptEntry>),
    /// The genesis, encoded, or its first part.
    Genesis(#[serde(with = "metatopia_types::wire::bytes")] Vec<u8>),
    /// Turns in order, each with a certificate; none if the first is not decided yet.
    Turns(Vec<(Turn, Certificate)>),
    /// The newest snapshot whose root is certified.
    Snapshot(Box<SnapshotOffer>),
    /// A piece of it.
    SnapshotPart(#[serde(with = "metatopia_types::wire::bytes")] Vec<u8>),
    /// The latest word of each server.
    Servers(Vec<SignedAnnouncement>),
    /// Who decides in the sim.
    Governance(Box<GovernanceEntry>),
    /// What the owner has, ascending by object; avatars are not owned.
    Things(Vec<ThingEntry>),
    /// The node does not have it, or not any more.
    Unknown,
    /// The node has too much to do: ask again, or ask another.
    Busy,
    /// Contents of leaves, in the order asked for; fewer than asked for if they are long.
    Leaves(#[serde(with = "metatopia_types::wire::pieces")] Vec<Vec<u8>>),
    /// What became of the wish to follow: where the node takes servers, or why not.
    Join(Result<NodeContact, JoinRefusal>),
    /// Who stands by for a vote, ascending by key.
    Applicants(Vec<Applicant>),
    /// It is about turns that the node has removed, or lost: ask an archive.
    Pruned {
        /// The oldest turn that the node has after them.
        oldest: Height,
    },
    /// A part of the genesis.
    GenesisPart(#[serde(with = "metatopia_types::wire::bytes")] Vec<u8>),
    /// What a login takes.
    LoginTerms(LoginTerms),
    /// There is an answer, and no frame is long enough for it: ask for less.
    TooLong,
    /// The tickets that are open.
    Tickets(Vec<TicketEntry>),
    /// Packages, ascending by id; fewer than [`PACKAGES_PER_ANSWER_MAX`] are the last ones.
    Packages(Vec<PackageEntry>),
    /// The source left the state in the turn of this height: ask an archive.
    SourceLeft(Height),
    /// The shelf about the point.
    Land(Box<LandProof>),
    /// What the sim says to the neighbour now.
    Dispatch(DispatchAnswer),
    /// The borders, ascending by neighbour.
    Borders(Vec<BorderEntry>),
    /// What was ordered about the key.
    Person(Box<PersonEntry>),
    /// Keys about which something was ordered.
    People(Vec<PersonEntry>),
    /// What the order would do.
    DryRun(Box<DryRunEntry>),
    /// What was ordered.
    Orders(Box<OrdersAnswer>),
    /// Lots, ascending by number.
    Lots(Vec<LotEntry>),
    /// Joints near the place.
    Joints(Vec<JointEntry>),
    /// Reports, ascending by number.
    Reports(Vec<ReportEntry>),
    /// Sealed words, ascending by number.
    Mailbox(Vec<ToldMessage>),
    /// The friends that were asked for, or why an act would be refused.
    Friends(Box<Result<FriendsEntry, Refusal>>),
    /// What the sim is.
    Charter(Box<CharterAnswer>),
    /// What the change would do.
    Change(Box<IntendedChangeEntry>),
    /// Clubs, ascending by number.
    Clubs(Vec<ClubEntry>),
    /// What people say of themselves.
    Profiles(Box<ProfilesAnswer>),
    /// The picture, which hashes to what its owner's profile names.
    Picture(#[serde(with = "metatopia_types::wire::bytes")] Vec<u8>),
    /// What was handed in waits for a turn of the server, or why not.
    HandedIn(Result<(), HandInRefusal>),
}

impl Answer {
    /// Returns the name of its kind, as questions are called that it answers.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Receipt(_) => "Receipt",
            Self::Turn(_) => "Turn",
            Self::Outcomes(_) => "Outcomes",
            Self::Links(_) => "Links",
            Self::Source(_) => "Source",
            Self::Order(_) => "Order",
            Self::Root(_) => "Root",
            Self::Players(_) => "Players",
            Self::Scripts(_) => "Scripts",
            Self::Genesis(_) => "Genesis",
            Self::Turns(_) => "Turns",
            Self::Snapshot(_) => "Snapshot",
            Self::SnapshotPart(_) => "SnapshotPart",
            Self::Servers(_) => "Servers",
            Self::Governance(_) => "Governance",
            Self::Things(_) => "Things",
            Self::Unknown => "Unknown",
            Self::Busy => "Busy",
            Self::Leaves(_) => "Leaves",
            Self::Join(_) => "Join",
            Self::Applicants(_) => "Applicants",
            Self::Pruned { .. } => "Pruned",
            Self::GenesisPart(_) => "GenesisPart",
            Self::LoginTerms(_) => "LoginTerms",
            Self::TooLong => "TooLong",
            Self::Tickets(_) => "Tickets",
            Self::Packages(_) => "Packages",
            Self::SourceLeft(_) => "SourceLeft",
            Self::Land(_) => "Land",
            Self::Dispatch(_) => "Dispatch",
            Self::Borders(_) => "Borders",
            Self::Person(_) => "Person",
            Self::People(_) => "People",
            Self::DryRun(_) => "DryRun",
            Self::HandedIn(_) => "HandedIn",
            Self::Orders(_) => "Orders",
            Self::Lots(_) => "Lots",
            Self::Joints(_) => "Joints",
            Self::Reports(_) => "Reports",
            Self::Mailbox(_) => "Mailbox",
            Self::Friends(_) => "Friends",
            Self::Charter(_) => "Charter",
            Self::Change(_) => "Change",
            Self::Clubs(_) => "Clubs",
            Self::Profiles(_) => "Profiles",
            Self::Picture(_) => "Picture",
        }
    }
}

/// A receipt with the act it is for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReceiptAnswer {
    /// The act that was decided.
    pub act: metatopia_types::SignedEnvelope,
    /// The proof of that decision.
    pub receipt: Receipt,
    /// What became of it, if the node still knows.
    pub outcome: Option<metatopia_types::Outcome>,
}

/// A header after which other validators vote, and who they are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ValidatorSetLink {
    /// Its `next_validators` differ from its `validators`.
    pub header: Header,
    /// The certificate by the old set.
    pub certificate: Certificate,
    /// The new set.
    pub next: ValidatorSet,
}

impl ValidatorSetLink {
    /// Links in one answer: 32 of them, each with up to 31 signatures, stay below 256 KiB.
    pub const PER_ANSWER_MAX: usize = 32;
}

/// A player who is present.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlayerEntry {
    /// What others see above the avatar.
    pub name: String,
    /// Who it is.
    pub key: PublicKey,
    /// The player's body in the world.
    pub avatar: ObjectId,
    /// What it looks like.
    pub look: Look,
}

/// A script that runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScriptEntry {
    /// The script that is listed.
    pub script: ScriptId,
    /// On this object.
    pub object: ObjectId,
    /// The object's name.
    pub name: String,
    /// The package that holds its source.
    pub package: PackageId,
    /// The owner of the object, who pays for the script; `None` means the sim itself.
    pub owner: Option<PublicKey>,
    /// Calls that failed so far.
    pub failures: u64,
    /// When a call failed last, and how, in words.
    pub last_failure: Option<(Tick, String)>,
    /// Since when it is suspended, because it failed too often.
    pub suspended: Option<Tick>,
    /// Events, timers and lines that were dropped because a limit was reached.
    pub dropped: u64,
    /// All gas that it has used.
    pub gas_used: u64,
}

/// A package that is in the sim, or was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackageEntry {
    /// The package that is listed.
    pub package: PackageId,
    /// Its name; empty if its source has left.
    pub name: String,
    /// Its version; empty if its source has left.
    pub version: String,
    /// The copyleft licence under which it runs here.
    pub licence: String,
    /// Its authors, of many the first ones.
    pub authors: String,
    /// Who published it; nobody means that it ships with the sim.
    pub publisher: Option<PublicKey>,
    /// The turn that brought it.
    pub height: Height,
    /// The length of what servers hand out.
    pub bytes: u32,
    /// Scripts that run it, or fall back to it.
    pub scripts: u32,
    /// The turn in which its source left the state.
    pub left: Option<Height>,
}

/// Who decides for a sim. Times are governance time: milliseconds since genesis in which the sim
/// ran.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GovernanceEntry {
    /// Permanent admins, ascending.
    pub admins: Vec<PublicKey>,
    /// Who acts for the admins now.
    pub temp_admin: Option<PublicKey>,
    /// Days without a permanent admin's login after which there is a temp admin.
    pub admin_days: u32,
    /// Days in which a player must have logged in to be one.
    pub player_days: u32,
    /// Days on which a player must have been seen to be one.
    pub seen_days: u32,
    /// The governance time now.
    pub time: u64,
    /// When a permanent admin logged in for the last time; genesis counts as a login.
    pub admin_login: u64,
    /// Milliseconds until there is a temp admin if no permanent admin logs in; 0 from then on.
    pub countdown: u64,
    /// Milliseconds until the sim ends, below zero once it has ended; `None` if it never ends.
    pub time_left: Option<i64>,
    /// How many players have ever logged in.
    pub players: u32,
    /// Who would be temp admin now, then who would be next; at most [`CANDIDATES_MAX`].
    pub candidates: Vec<CandidateEntry>,
    /// Servers that were removed for signing two things at once, with the height of the removal,
    /// ascending by key.
    pub exposed: Vec<(PublicKey, Height)>,
    /// Changes of who votes by a temp admin, in the order in which they take effect.
    pub delayed: Vec<DelayedEntry>,
    /// What everybody reads who comes; empty if there is nothing.
    pub motd: String,
    /// How many orders were recorded so far.
    pub orders: u64,
}

/// A change of who votes that a temp admin asked for. It falls if somebody else decides before it
/// takes effect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DelayedEntry {
    /// What is to change.
    pub change: SetChange,
    /// Who asked for it.
    pub by: PublicKey,
    /// Milliseconds of governance time until it takes effect.
    pub left: u64,
}

/// A player who could be temp admin. Times are governance time in milliseconds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CandidateEntry {
    /// The player's name.
    pub name: String,
    /// Who it is.
    pub key: PublicKey,
    /// When the player logged in first.
    pub first_seen: u64,
    /// When the player logged in last.
    pub last_login: u64,
}

/// One event as a script got it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderEntry {
    /// At this tick.
    pub tick: Tick,
    /// From whom: an object, or the sim core (0).
    pub sender: ObjectId,
    /// A short description, such as `chat "hi"`.
    pub event: String,
}

/// A snapshot that can be fetched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SnapshotOffer {
    /// After the turn of this height.
    pub height: Height,
    /// Its length; what it is made of is the world's own business, which checks it against the root.
    pub bytes: u64,
    /// States the root after that turn: its height is `height` + `ROOT_LAG`.
    pub header: Header,
    /// For the header.
    pub certificate: Certificate,
}
