//! Bounds that only the world's state needs, with their arithmetic. Those that other crates must
//! agree on are in [`metatopia_types::limits`], those of scripts in
//! [`metatopia_scripting::limits`].

mod borders;
mod people;

use metatopia_math::Fx;
use metatopia_scripting::limits::TOPIC_BYTES_MAX;

pub use self::borders::{
    AHEAD_MS_MAX, BORDER_BAND_METRES, BORDER_BYTES, BORDER_COMPOUNDS_MAX, BORDER_THINGS,
    DEPARTURE_MS, FRAME_MS, GHOST_METRES, GHOST_TICKS, HEARD_SIGNATURES_PER_TURN_MAX,
    MECHANISM_REACH_METRES, NEAR_BORDER_METRES, NEAR_PORTAL_METRES, PASS_MS, PORTAL_EDGE_METRES,
    PORTALS_APART_METRES, PULSE_MS, SILENCE_MS, THINGS_FROM_SERVERS, TURNED_BACK_MAX,
    TURNED_BACK_MS, WORD_MS,
};
pub use self::people::{
    CLUB_INVITE_MS, CLUB_INVITES_MAX, CLUB_MEMBERS_MAX, CLUBS_MAX, CLUBS_OF_NEWCOMERS_MAX,
    CLUBS_PER_PERSON_MAX, FORGOTTEN_DAY_MS, FORGOTTEN_KEPT, FORGOTTEN_OWN_KEPT,
    FORGOTTEN_OWN_PER_DAY, HISTORY_DAYS_MAX, INVITES_TO_PERSON_BY_NEWCOMERS_MAX,
    INVITES_TO_PERSON_MAX, PICTURES_KIB_MAX, PICTURES_OF_NEWCOMERS_KIB_MAX, PROFILE_MS,
    PROFILES_MAX, PROFILES_OF_NEWCOMERS_MAX,
};
pub use metatopia_types::limits::HANDS_MAX;

/// Lanes remembered at once. 64 Ki windows of about 120 B are 8 MiB in memory and on disk.
pub const LANES_MAX: usize = 1 << 16;

/// Lanes of one author remembered at once: a session a few seconds for a whole minute.
pub const LANES_PER_AUTHOR_MAX: usize = 16;

/// Players who are remembered. 128 Ki players of about 240 B are 30 MiB.
pub const PLAYERS_MAX: usize = 1 << 17;

/// Players up to whom nobody is forgotten. The last quarter of the places is for people who were seen
/// on enough days: while anybody else can be forgotten, newcomers take no more than that one's place.
pub const PLAYERS_ROOMY: usize = PLAYERS_MAX - PLAYERS_MAX / 4;

/// Ticks without an act other than a heartbeat after which a seat may be taken: one minute.
pub const SEAT_TICKS: u64 = 60 * metatopia_types::limits::TICKS_PER_SECOND;

/// Sessions without an avatar at one time, as many as plaza has seats. Each is looked at in every
/// tick; there are at most 128 stewards among them, who are never logged out for it.
pub const SEATLESS_MAX: usize = 1_024;

/// Changes of who votes by a temp admin that wait: each of at most 400 B, together a tenth of a leaf.
pub const DELAYED_MAX: usize = 16;

/// Milliseconds of governance time that they wait: 48 hours, in which a permanent admin may come.
pub const DELAY_MS: u64 = 48 * 3_600 * 1_000;

/// Servers removed for signing two things that are remembered, so that old evidence does not strike twice.
pub const EXPOSED_MAX: usize = 256;

/// Scripts on one object.
pub const SCRIPTS_PER_OBJECT_MAX: usize = 8;

/// Events waiting in one inbox.
pub const INBOX_EVENTS_MAX: usize = 256;

/// Events of one sender waiting in one inbox: a flood leaves room for everybody else.
pub const INBOX_EVENTS_PER_SENDER_MAX: usize = 32;

/// Encoded events waiting in one inbox. With the lengths that are kept of them (768 B), the state (16 KiB) and that
/// before an upgrade (as much), zones (2 of 288 B) and timers (700 B) a script stays below a leaf of 64 KiB.
pub const INBOX_BYTES_MAX: u32 = 29 * 1_024;

/// Encoded events of one sender waiting in one inbox: two of the largest messages.
pub const INBOX_BYTES_PER_SENDER_MAX: u32 = 10 * 1_024;

/// Timers of one script.
pub const TIMERS_MAX: usize = 16;

/// Zones that are looked at in one tick.
pub const ZONES_PER_TICK: usize = 128;

/// People and things that all zones of a tick look at; the next tick goes on with the other zones. Each takes some
/// 20 nanoseconds: together a sixth of a millisecond.
pub const ZONE_LOOKS_PER_TICK: usize = 8_192;

/// People and things that one zone tells of at a time; others are told of once one of them has left.
pub const ZONE_MEMBERS_MAX: usize = 32;

/// Things among them: two keys could fill a zone with theirs, and no person would be told of.
pub const ZONE_THINGS_MAX: usize = 8;

/// Bytes that a new zone takes of the budget: its outline, and the number of each of its members.
pub const ZONE_BYTES: usize = 32 + 8 * ZONE_MEMBERS_MAX;

/// Offers of one script that wait for an answer.
pub const OFFERS_MAX: usize = 4;

/// Simulated seconds that an offer stands.
pub const OFFER_SECONDS: u64 = 60;

/// Permissions that one player gives things at once.
pub const PERMITS_MAX: usize = 4;

/// Bytes that a permission takes of the budget: the number of the thing, and its kind.
pub const PERMIT_BYTES: usize = 11;

/// Lines that one script may say in [`VOICE_TICKS`]. Whispers, sounds and forms count with them.
pub const VOICE_LINES_MAX: u32 = 5;

/// How many times as far a shout of a script is heard as what people and things say nearby.
pub const SHOUT_REACH: i32 = 4;

/// Whispers, sounds or forms that count together as one line, which everybody near must read.
pub const VOICE_SIGNS_PER_LINE: u32 = 2;

/// The time over which they are counted: one second.
pub const VOICE_TICKS: u64 = 60;

/// Lines in the chat index: 256 of at most 100 B are 25 KiB, one leaf.
pub const CHAT_LINES_MAX: usize = 256;

/// Heights at which standbys show that the state is there are multiples of this: one a second.
pub const PROOF_HEIGHTS: u64 = 20;

/// Such heights that a proof may name: those of the last 60 turns.
pub const PROOFS_KEPT: usize = 3;

/// Leaves that one proof draws: who lacks a hundredth of the state fails with every second one.
pub const PROOF_LEAVES: usize = 64;

/// Bytes of each of them that count, so that 16 standbys cost 4 MiB of hashing a second.
pub const PROOF_LEAF_BYTES: usize = 4 * 1_024;

/// Gas after which no further call of one script begins in the same tick. With the hard limit of a
/// call (12,000) a script uses at most 14,000 a tick.
pub const GAS_PER_SCRIPT_TICK: u64 = 2_000;

/// Ticks between two pushes of one player.
pub const PUSH_TICKS_MIN: u64 = 15;

/// Avatars that appear in one turn: 64 searches for a free place among 16,384 bodies take some
/// milliseconds.
pub const ARRIVALS_PER_TURN_MAX: usize = 64;

/// Avatars that go home in one turn, each of another player: the same searches, and a count of their own, so
/// that nobody keeps newcomers out by going home.
pub const HOMECOMERS_PER_TURN_MAX: usize = 64;

/// Orders to send a thing home from a lot in one turn, those that find no way included: each may look at 96 places
/// among 1,024 lots, which takes up to half a millisecond.
pub const SENDINGS_PER_TURN_MAX: usize = 16;

/// Such orders of one holder in one turn.
pub const SENDINGS_PER_AUTHOR_MAX: usize = 2;

/// Acts about luggage in one turn, refused ones included: each may encode or decode a thing of 48 KiB, so all together
/// do that with 1.5 MiB.
pub const LUGGAGE_PER_TURN_MAX: usize = 32;

/// Such acts of one author in one turn.
pub const LUGGAGE_PER_AUTHOR_MAX: usize = 4;

/// Keys that are given up in one turn: each rotation looks at what all builders can undo.
pub const ROTATIONS_PER_TURN_MAX: usize = 16;

/// Building steps that a builder can undo.
pub const UNDO_ENTRIES_MAX: usize = 16;

/// Bytes of the building steps of one builder, which fit into a leaf. Sixteen of the largest, deleted things with all
/// their joints, do so unless they are of several parts: then the oldest ones are forgotten.
pub const HISTORY_BYTES_MAX: usize = 60 * 1_024;

/// Building steps in one turn: 128 bodies that are put into a list of 16,384 take some
/// milliseconds.
pub const BUILDS_PER_TURN_MAX: u32 = 128;

/// Building steps of one builder in one turn: 160 a second leave room for fifteen others who do as many.
pub const BUILDS_PER_AUTHOR_MAX: u32 = 8;

/// Things of several parts in one sim, those on the way to a neighbour among them: their bodies take at most 64 KiB.
/// Physics bounds what their contacts take.
pub const SIM_COMPOUNDS_MAX: usize = 64;

/// Things of several parts of one owner, guests left out: they count against the share of their border.
pub const OWNER_COMPOUNDS_MAX: usize = 8;

/// Joints of one sim: they take less than 200 KiB of a snapshot.
pub const SIM_JOINTS_MAX: usize = 1_024;

/// Joints between the things of one owner that scripts and builders make: seven others find room beside one
/// who takes all of them.
pub const OWNER_JOINTS_MAX: usize = 128;

/// Bodies of a sim on the advanced tier: its state is hashed in each turn.
pub const ADVANCED_BODIES_MAX: usize = 2_000;

/// Bytes of what the advanced tier keeps, four times those of a pile of 2,000 bodies. If there are more, it
/// forgets them, and the next tick begins from the bodies. They find room in a snapshot because so
/// few bodies leave it.
pub const TIER_BYTES_MAX: usize = 8 * 1_024 * 1_024;

/// Joints that hold one object.
pub const OBJECT_JOINTS_MAX: usize = 16;

/// Named lands of one sim: 64 of less than 150 B stay below a sixth of the leaf of parameters.
pub const LANDS_MAX: usize = 64;

/// Rooms of a floor plan: 64 of at most 250 B are a quarter of the leaf of parameters.
pub const SECTORS_MAX: usize = 64;

/// Corners of one room.
pub const SECTOR_CORNERS_MAX: usize = 8;

/// Openings of a floor plan: 128 of at most 44 B are less than a tenth of the leaf of parameters.
pub const SECTOR_OPENINGS_MAX: usize = 128;

/// Bytes of what a sim says that there is to see.
pub const DESCRIPTION_BYTES_MAX: usize = 1_024;

/// Tags of a sim.
pub const TAGS_MAX: usize = 8;

/// Bytes of one tag.
pub const TAG_BYTES_MAX: usize = 24;

/// Bytes of the picture of a sim. It is part of the genesis, which every client fetches before it enters.
pub const PICTURE_BYTES_MAX: usize = 64 * 1_024;

/// Kilograms of a square metre of what builders make: a crate of 0.9 m weighs 24.
pub const DENSITY: Fx = Fx::from_int(30);

/// Calls of a script that fail within [`FAILURE_TURNS`] before it is suspended.
pub const FAILURES_MAX: usize = 3;

/// Turns within which failures of a script count together.
pub const FAILURE_TURNS: u64 = 100;

/// Objects that are looked at for things with a name: the oldest ones of their owner, or of the sim if they
/// are the sim's own, which may be thousands.
pub const NAMED_LOOKED_MAX: usize = 1_024;

/// Things that the scripts of one object have spawned.
pub const SPAWNED_PER_OBJECT_MAX: usize = 64;

/// Things that go in a tick because their spawner is gone: some forty microseconds.
pub const ORPHANS_PER_TICK: usize = 4;

/// Scripts that hear one line: the nearest ones, of those as near the ones of the lowest numbers.
pub const HEARERS_MAX: usize = 32;

/// Events that the words of one turn may become: 16 lines that as many scripts hear as can. Each of
/// them has a leaf written and hashed. Later lines of the turn are heard by people only.
pub const DELIVERIES_PER_TURN_MAX: usize = 512;

/// Events that the words of one speaker may become in a turn: 40 lines a second that as many scripts
/// hear as can. Seven who say all they may leave room for an eighth.
pub const DELIVERIES_PER_AUTHOR_MAX: usize = 64;

/// Things near a speaker that are looked at as one event counts.
pub const LOOKS_PER_DELIVERY: usize = 64;

/// Scripts that hear speech up to which each of them is looked at, wherever it is.
pub const LISTENERS_FEW: usize = 128;

/// Milliseconds that one turn adds to governance time at most: a world that was off does not age.
pub const GOVERNANCE_STEP_MS_MAX: u64 = 60_000;

/// Packages of one sim.
pub const PACKAGES_MAX: usize = 4_096;

/// Bytes of all packages that people published.
pub const PUBLISHED_BYTES_MAX: u64 = 32 * 1_024 * 1_024;

/// Bytes of all packages that ship with a sim, each with the sources that it imports: all are compiled
/// when a server starts.
pub const SHIPPED_BYTES_MAX: usize = 32 * 1_024 * 1_024;

/// Bytes of the packages that one player published.
pub const PACKAGE_BYTES_PER_PUBLISHER_MAX: u64 = 256 * 1_024;

/// Bytes of source that one turn compiles, see `metatopia-abuse worst_compile`.
pub const PUBLISHED_BYTES_PER_TURN_MAX: u64 = 64 * 1_024;

/// Packages that one turn compiles: each costs some tenths of a millisecond, however short it is.
pub const PUBLISHES_PER_TURN_MAX: usize = 16;

/// Bytes that one author publishes in a minute of turns, [`PUBLISHING_HEIGHTS`].
pub const PUBLISHED_BYTES_PER_AUTHOR_MAX: u64 = 256 * 1_024;

/// The turns over which an author's bytes are counted, and after which a piece leaves that nobody put together: a
/// minute.
pub const PUBLISHING_HEIGHTS: u64 = 1_200;

/// Pieces of packages that one author has at one time: those of a package of 256 KiB.
pub const PIECES_PER_AUTHOR_MAX: usize = 8;

/// Pieces of packages that a sim has at one time, those of eight of the longest packages: 2 MiB.
pub const PIECES_MAX: usize = 64;

/// Gas that an author pays for each byte that the sim compiles: 64 KiB cost 196,608, the gas of 20 ms.
pub const PUBLISHING_GAS_PER_BYTE: u64 = 3;

/// Bytes of the names of a package's authors that stay when its source has left.
pub const AUTHORS_KEPT_BYTES: usize = 80;

/// Packages that the sim has a record of, with those that left: 16 Ki of at most 480 B are 7.5 MiB.
pub const PUBLICATIONS_MAX: usize = 1 << 14;

/// Milliseconds of governance time after which a package that no script runs leaves: a week.
pub const PACKAGE_UNUSED_MS_MAX: u64 = 7 * 86_400 * 1_000;

/// Packages that leave in one turn because they were unused for too long.
pub const PACKAGES_LEAVING_PER_TURN_MAX: usize = 8;

/// Bytes of an encoded genesis.
pub const GENESIS_BYTES_MAX: usize = 16 * 1_024 * 1_024;

/// Bytes of a world's state as a snapshot has it. Whatever anybody can make grow without a bound of its
/// own takes from a budget up to this number (`byte_budget.rs`). 64 MiB are 1,300 scripts with full
/// inboxes and states. The rest of a state has bounds of its own, 243 MiB together: see
/// [`SNAPSHOT_BYTES_MAX`](crate::SNAPSHOT_BYTES_MAX).
pub const WORLD_BYTES_MAX: u64 = 64 * 1_024 * 1_024;

/// Bytes that one building step can add to a state: a thing of 800, eight scripts of 250 each with a start
/// event that waits, and what undoes the step, 400.
pub const BUILD_BYTES_MAX: usize = 4 * 1_024;

/// Bytes that a timer reserves when it is set, whatever its name: it has eleven beside the name, and its
/// event nineteen while it waits.
pub const TIMER_BYTES_MAX: usize = TOPIC_BYTES_MAX + 19;

/// Bytes of a genesis text: a licence, a kind of object.
pub const TEXT_BYTES_MAX: usize = 256;

/// First logins of an hour of governance time after which the next ones cost twice as much.
pub const FIRST_LOGINS_PER_STEP: u32 = 64;

/// Doublings of the price of a first login: sixteen times that at rest is some ten seconds of a
/// processor, and no more than a person waits for.
pub const DEARER_MAX: u8 = 4;

/// First logins in one turn where a sim asks for work: 80 a second. A graphics card does the work of
/// a thousand processors, so the price alone would let some hundreds a second in.
pub const FIRST_LOGINS_PER_TURN_MAX: usize = 4;

/// Tickets of one sim that are open, or ended a moment ago: 256 of at most 90 B are a third of a leaf.
pub const TICKETS_MAX: usize = 256;

/// Tickets of one admin that are open.
pub const TICKETS_PER_ADMIN_MAX: usize = 32;

/// Players first in line to be temp admin who count as stewards.
pub const FIRST_IN_LINE: usize = 16;

/// Stewards: 64 admins and the temp admin, 16 in line for it, 31 servers, 16 standbys.
pub const STEWARDS_MAX: usize = 128;

/// Lanes that authors who are no stewards may open in one turn. All of a minute are a half more than
/// there may be, so this keeps one turn from taking what is left, and nobody who behaves meets it.
pub const FRESH_LANES_PER_TURN_MAX: usize = 128;

/// Lanes up to which strangers open further ones.
pub const STRANGER_LANES_MAX: usize = LANES_MAX / 2;

/// Lanes up to which players do who are no regulars: the last quarter is for those.
pub const PLAYER_LANES_MAX: usize = LANES_MAX - LANES_MAX / 4;

/// Lanes up to which regulars do: the last sixteenth, 4,096 lanes, is for stewards.
pub const REGULAR_LANES_MAX: usize = LANES_MAX - LANES_MAX / 16;

/// Lanes from which on an author who is no steward has fewer: see
/// [`LANES_PER_AUTHOR_CROWDED_MAX`].
pub const LANES_CROWDED: usize = LANES_MAX / 4;

/// Lanes of one author where many are open: that of a page, and that of the page before it. To fill
/// the places of players an attacker then needs some 20,000 keys that each showed work.
pub const LANES_PER_AUTHOR_CROWDED_MAX: usize = 2;

/// Squares that a charter may let a land office grant in a week. So many sponsors are remembered: 32 KiB
/// of a leaf, and the squares beside theirs.
pub const LAND_PER_WEEK_MAX: u64 = 1_024;

/// Milliseconds of governance time between two changes of a grant's beacons: a day. Each beacon may enter a
/// land office by invitation, so holders let in four keys a day and square, and no more.
pub const BEACONS_CHANGE_MS_MIN: u64 = 24 * 3_600_000;

/// Grants that fall back in one turn: of 65,536 that end at once, the last does so within four minutes.
pub const LAND_LAPSES_PER_TURN: usize = 16;

/// Keys that may begin or end to hold land in three turns by orders. The state knows these turns' keys in
/// one leaf, 33 bytes each, beside 44 KiB of a week's words: so there is room for 650 keys. Grants that lapse
/// change up to 240 more of them, keys that are rotated 96, and the last order 10.
pub const LAND_KEYS_CHANGED_MAX: usize = 240;

/// Acts of one turn of which something is checked that others signed: evidence, private words that a report
/// shows, orders for a land office; or for which all reports are searched, as words to be forgotten are. Two
/// signatures, or a signature and four keys, take some 100 microseconds.
pub const CHECKED_PER_TURN_MAX: usize = 64;

/// Such acts of one author.
pub const CHECKED_PER_AUTHOR_MAX: usize = 16;

/// Signatures of certificates that one turn checks for renewals: of some 50 microseconds each, together
/// less than half of what a turn may take.
pub const LAND_SIGNATURES_PER_TURN_MAX: usize = 128;

/// Bytes that a claim can add to a state: a grant of 240, a sim with 31 validators of 1,150, and 93 shelves
/// of 90 where a block must be cut down to the least square.
pub const LAND_BYTES_MAX: usize = 12 * 1_024;

/// How far ahead of the office's time a header may be that a sim shows, in milliseconds: a minute.
pub const SHOWN_AHEAD_MS_MAX: u64 = 60_000;

/// Keys that have a role. Of at most 400 B each beside their areas, they are 1.6 MiB in leaves of 64 KiB.
pub const ROLES_MAX: usize = 4_096;

/// Areas of all keys for which rights were given. Of at most 160 B each, they are 80 KiB.
pub const RIGHTS_AREAS_MAX: usize = 512;

/// Such areas of one key. Every act that a right for an area may let looks at all of them.
pub const RIGHTS_AREAS_PER_KEY_MAX: usize = 8;

/// Keys that are banned at one time. Of at most 280 B each, they are 1.1 MiB.
pub const BANS_MAX: usize = 4_096;

/// Keys that are muted at one time, as long as bans.
pub const MUTES_MAX: usize = 4_096;

/// Things that are frozen at one time: of at most 130 B each, half a MiB.
pub const FROZEN_MAX: usize = 4_096;

/// Keys that were given up and are remembered; of more, the oldest is a stranger's again. Of at most 80 B
/// each, they are 0.3 MiB.
pub const ROTATED_MAX: usize = 4_096;

/// How long a key that took the place of another one stays, in milliseconds of governance time: a day. Each
/// rotation gives a key a player's lanes, and those of the key before are remembered for a while.
pub const ROTATED_AGAIN_MS: u64 = 86_400_000;

/// Orders that the state remembers; the turns of an archive have the older ones. Of at most 800 B each, they
/// are 0.8 MiB.
pub const ORDERS_KEPT: u64 = 1_024;

/// Reports that are open at one time, with those that were decided and are remembered 512 of at most 900 B:
/// 0.5 MiB.
pub const REPORTS_OPEN_MAX: usize = 256;

/// Open reports of newcomers: keys that cost nothing fill no more than half of the queue.
pub const REPORTS_OF_NEWCOMERS_MAX: usize = 128;

/// Open reports of one person.
pub const REPORTS_PER_PERSON_MAX: usize = 4;

/// Moderators who hear of one new report: whoever is left out finds it in the queue.
pub const MODERATORS_TOLD_MAX: usize = 8;

/// New reports of a turn of which moderators hear. For each, all roles are looked through: 4,096 at most, in
/// some 0.2 ms.
pub const REPORTS_TOLD_PER_TURN_MAX: usize = 2;

/// Reports that the state remembers after they were decided, so that their reporters hear of it.
pub const REPORTS_DECIDED_KEPT: usize = 256;

/// Sealed words that one mailbox keeps: a leaf of them has at most 28 KiB.
pub const MAILBOX_MAX: usize = 32;

/// Sealed words of one author in one mailbox; of more, the author's oldest go.
pub const MAILBOX_PER_AUTHOR_MAX: usize = 4;

/// Sealed words of newcomers in one mailbox: keys that cost nothing fill no more than half of it.
pub const MAILBOX_OF_NEWCOMERS_MAX: usize = 16;

/// Sealed words that all mailboxes of a sim keep: of at most 960 B each, they are 1.9 MiB.
pub const MAIL_MAX: usize = 2_048;

/// Sealed words of newcomers in all mailboxes: keys that cost nothing fill no more than half of the room.
pub const MAIL_OF_NEWCOMERS_MAX: usize = 1_024;

/// Sealed words of one author in all mailboxes: to push out those of others who were seen often enough, it takes
/// 128 keys that were.
pub const MAIL_PER_AUTHOR_MAX: usize = 16;

/// How long a mailbox keeps words, in milliseconds of governance time: a week.
pub const MAILBOX_MS: u64 = 7 * 86_400_000;

/// Sealed words that newcomers tell one person in one turn, and as many that others tell her: a crowd of
/// strangers does not end her session, whose queue has a bound.
pub const TOLD_PER_TURN_MAX: usize = 4;

/// Things of which the state remembers what they were before somebody changed, made or deleted them; of
/// more, the first trace goes of the key that has the most. Of at most 2,300 B each, they are 9 MiB.
pub const TRACES_MAX: usize = 4_096;

/// How long that is remembered, in milliseconds of governance time: a day.
pub const TRACE_MS: u64 = 86_400_000;

/// Things that one act of a moderator makes what they were: a quarter of what a turn may build.
pub const UNDONE_PER_ACT_MAX: usize = 32;

/// Roles, bans and mutes that end by time in one turn, and traces that are forgotten. Later ones have no
/// effect any more, and wait.
pub const ENDINGS_PER_TURN_MAX: usize = 64;

/// Places on its owner's land that are tried for a thing that goes there.
pub const HOME_TRIES: i32 = 8;

/// Lots of one sim: of at most 700 B each, they are 0.7 MiB.
pub const LOTS_MAX: usize = 1_024;

/// Players whom the holder of one lot lets build there.
pub const LOT_FRIENDS_MAX: usize = 16;

/// The shortest side of a lot, in metres. The widest thing stands on at most some 144 lots.
pub const LOT_SIDE_MIN: u16 = 4;

/// The longest side of a lot, in metres.
pub const LOT_SIDE_MAX: u16 = 64;

/// Things that nobody renewed and that fall away in one turn.
pub const FALLS_PER_TURN: usize = 16;

/// Packages of a sim that run as ports to Rust. Each waking of a script looks for its package among them, and
/// every server must have them all. An act carries some five of them, and adds them to those that are there.
pub const PORTS_MAX: usize = 16;

/// Turns from an act that names a port to the first turn in which it runs: a server that lacks it learns that
/// before, as it learns of changes of who votes.
pub const PORT_NOTICE: u64 = metatopia_types::limits::SET_LAG;

/// Feature flags of a sim, each of at most 43 B in the charter: that stays within a leaf with all else.
pub const FLAGS_MAX: usize = 32;

/// Bytes of the name of a feature flag.
pub const FLAG_NAME_BYTES_MAX: usize = 32;

/// Friends whom one person names for a lost key. In the types, an act names as many.
pub const FRIENDS_MAX: usize = 8;

/// Keys of which the sim keeps friends: of at most 1.5 kB each, with a list that waits, the words of friends and
/// their quiet times, they are 6 MiB.
pub const FRIENDS_KEPT_MAX: usize = 4_096;

/// The same, when a newcomer would be one more: keys that cost nothing fill no more than half of the room.
pub const FRIENDS_OF_NEWCOMERS_MAX: usize = 2_048;

/// How long the owner of a key may cancel a recovery, and how long friends are named before they count, in
/// milliseconds of governance time: 72 hours.
pub const RECOVERY_MS: u64 = 72 * 3_600 * 1_000;

/// How long a recovery stays open for which too few friends vouch, in milliseconds of governance time: a week.
pub const VOUCHES_MS: u64 = 7 * 86_400 * 1_000;

/// How long a friend may not vouch again whose word the owner cancelled, in milliseconds of governance time: 30
/// days. So eight friends who nag are heard of eight times a month, and an honest one is not silenced by them.
pub const QUIET_MS: u64 = 30 * 86_400 * 1_000;

/// Recoveries at one time for which enough friends vouched: each waits for its end, and moves a key. One that waits
/// for friends takes no place of others, or free keys would take all.
pub const RECOVERIES_OPEN_MAX: usize = 256;

/// Such recoveries of the keys of newcomers: keys that cost nothing fill no more than half of the room.
pub const RECOVERIES_OF_NEWCOMERS_MAX: usize = 128;

/// Lists that begin to count in one turn, and recoveries that end: each may move all that a key has.
pub const RECOVERIES_PER_TURN_MAX: usize = 4;
