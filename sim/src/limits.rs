//! Bounds that only the world's state needs, with their arithmetic. Those that other crates must
//! agree on are in [`metatopia_types::limits`], those of scripts in
//! [`metatopia_scripting::limits`].

use metatopia_math::Fx;
use metatopia_scripting::limits::TOPIC_BYTES_MAX;

/// Lanes remembered at once. 64 Ki windows of about 90 B are 6 MiB in memory and on disk.
pub const LANES_MAX: usize = 1 << 16;

/// Lanes of one author remembered at once: a session a few seconds for a whole minute.
pub const LANES_PER_AUTHOR_MAX: usize = 16;

/// Players ever seen. 64 Ki players of about 200 B are 13 MiB.
pub const PLAYERS_MAX: usize = 1 << 16;

/// Permanent admins.
pub const ADMINS_MAX: usize = 64;

/// Removed liars that are remembered, so that old evidence does not strike twice.
pub const EXPOSED_MAX: usize = 256;

/// Scripts on one object.
pub const SCRIPTS_PER_OBJECT_MAX: usize = 8;

/// Events waiting in one inbox.
pub const INBOX_EVENTS_MAX: usize = 256;

/// Events of one sender waiting in one inbox: a flood leaves room for everybody else.
pub const INBOX_EVENTS_PER_SENDER_MAX: usize = 32;

/// Encoded events waiting in one inbox. With the state (16 KiB) and timers a script stays below a
/// leaf of 64 KiB.
pub const INBOX_BYTES_MAX: u32 = 32 * 1_024;

/// Encoded events of one sender waiting in one inbox: two of the largest messages.
pub const INBOX_BYTES_PER_SENDER_MAX: u32 = 10 * 1_024;

/// Timers of one script.
pub const TIMERS_MAX: usize = 16;

/// Lines that one script may say in [`VOICE_TICKS`].
pub const VOICE_LINES_MAX: u32 = 5;

/// The time over which a script's lines are counted: one second.
pub const VOICE_TICKS: u64 = 60;

/// Lines in the chat index: 256 of at most 100 B are 25 KiB, one leaf.
pub const CHAT_LINES_MAX: usize = 256;

/// Roots of earlier turns that a standby may name to show that it follows.
pub const ROOTS_MAX: usize = metatopia_types::limits::OUTCOME_TURNS as usize;

/// Gas after which no further call of one script begins in the same tick. With the hard limit of a
/// call (20,000) a script uses at most 25,000 a tick.
pub const GAS_PER_SCRIPT_TICK: u64 = 5_000;

/// Ticks between two pushes of one player.
pub const PUSH_TICKS_MIN: u64 = 15;

/// Avatars that appear in one turn: 64 searches for a free place among 16,384 bodies take some
/// milliseconds.
pub const ARRIVALS_PER_TURN_MAX: usize = 64;

/// Deeds that a builder can take back. Sixteen of the largest, deleted things of less than a
/// kilobyte, are a quarter of a leaf.
pub const DEEDS_MAX: usize = 16;

/// Deeds of builders in one turn: 128 bodies that are put into a list of 16,384 take some
/// milliseconds.
pub const BUILDS_PER_TURN_MAX: u32 = 128;

/// Deeds of one builder in one turn: 160 a second leave room for fifteen others who do as many.
pub const BUILDS_PER_AUTHOR_MAX: u32 = 8;

/// Named lands of one sim: 64 of less than 150 B stay below a sixth of the leaf of parameters.
pub const LANDS_MAX: usize = 64;

/// Kilograms of a square metre of what builders make: a crate of 0.9 m weighs 24.
pub const DENSITY: Fx = Fx::from_int(30);

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

/// Bytes of one piece of a package in the state.
pub const PACKAGE_PIECE_BYTES: usize = 32 * 1_024;

/// Packages of one sim.
pub const PACKAGES_MAX: usize = 1_024;

/// Bytes of an encoded genesis.
pub const GENESIS_BYTES_MAX: usize = 16 * 1_024 * 1_024;

/// Bytes of a world's state as a snapshot has it; whatever anybody can make grow without a bound of
/// its own finds no room beyond it. 64 MiB are 1,300 scripts with full inboxes and states. The rest of
/// a state has bounds of its own, 125 MiB together: see
/// [`SNAPSHOT_BYTES_MAX`](crate::SNAPSHOT_BYTES_MAX).
pub const WORLD_BYTES_MAX: u64 = 64 * 1_024 * 1_024;

/// Bytes that one deed of a builder can add to a state: a thing of 700, eight scripts of 250 each that
/// are told that they begin, and what takes it back, 400.
pub const DEED_BYTES_MAX: usize = 4 * 1_024;

/// Bytes for which a timer takes room when it is set, whatever its name: it has eleven beside that,
/// and its event nineteen while it waits.
pub const TIMER_BYTES_MAX: usize = TOPIC_BYTES_MAX + 19;

/// Bytes of a genesis text: a licence, a kind of object.
pub const TEXT_BYTES_MAX: usize = 256;
