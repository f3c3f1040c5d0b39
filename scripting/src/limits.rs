//! Every bound on what a script may use or produce, with its arithmetic. The tests in
//! `tests/limits.rs` hit each of them.

/// Gas of one call. A unit is [`NANOSECONDS_PER_GAS`] of the reference machine, and no operation may take
/// more than 1.5 times its price. So a call that uses all of its gas takes 1.2 milliseconds, and at worst
/// 1.8: `metatopia-abuse worst_call`.
pub const GAS_PER_CALL_MAX: u64 = 12_000;

/// Gas that each call costs before its first step: some 20 microseconds in which its event is put into
/// the inbox, sorted and taken out, and what it changed is merged and hashed.
pub const GAS_PER_CALL_MIN: u64 = 200;

/// Bytes of a script's state for which a call costs a unit more: it is copied, looked at and hashed.
pub const STATE_BYTES_PER_GAS: usize = 32;

/// Values in arrays of a script's state for which a call costs a unit more. Small ones take time beyond their
/// bytes, some 30 nanoseconds each where a call changes the state. Each value that has a name costs a whole
/// unit more: it takes 230.
pub const STATE_ELEMENTS_PER_GAS: usize = 8;

/// Script functions and closures inside one another. Functions take no native stack; a closure that the
/// world's functions call back takes a level of it. Whoever runs or compiles scripts gives the thread 1 MiB
/// at least: compiling the deepest expressions in a dev build takes most.
pub const CALL_DEPTH_MAX: usize = 12;

/// Expressions inside one another, in a handler or function.
pub const EXPRESSION_DEPTH_MAX: usize = 32;

/// Variables of one function alive at one time, and parameters.
pub const VARIABLES_MAX: usize = 64;

/// Constants of one file. The parser looks for each of them among all before it.
pub const CONSTANTS_MAX: usize = 256;

/// Functions of one file.
pub const FUNCTIONS_MAX: usize = 128;

/// Bytes of one string, and of all strings inside one array or map.
pub const STRING_BYTES_MAX: usize = 4_096;

/// Elements of one array, those of arrays inside it included.
pub const ARRAY_LENGTH_MAX: usize = 512;

/// Entries of one map, those of maps inside it included.
pub const MAP_LENGTH_MAX: usize = 128;

/// The persistent state of one script, encoded: a quarter of a leaf, which also holds the script's
/// inbox and timers.
pub const STATE_BYTES_MAX: usize = 16 * 1_024;

/// Arrays and maps inside one another, in a state or a message. Decoding recurses once a level.
pub const VALUE_DEPTH_MAX: u32 = 8;

/// Effects of one call.
pub const EFFECTS_MAX: usize = 32;

/// Metres from a thing's centre to where a script joins it to another one. Physics holds no joint further out.
pub const JOINT_REACH: i32 = 16;

/// Metres of the longest rope, rod and spring that a script makes, and of the longest way along its sliders.
pub const ROPE_LENGTH_MAX: i32 = 64;

/// All effects of one call, encoded.
pub const EFFECT_BYTES_MAX: usize = 4 * 1_024;

/// Bytes of one name: a message's topic, a timer's name.
pub const TOPIC_BYTES_MAX: usize = 32;

/// Bytes of the text an object shows.
pub const SIGN_BYTES_MAX: usize = 256;

/// Objects that `nearby` gives.
pub const NEARBY_MAX: u32 = 16;

/// Largest radius of `nearby`, in metres: two tiles.
pub const NEARBY_RADIUS_MAX: i32 = 64;

/// Farthest that a ray begins or ends from the own object, in metres: two tiles.
pub const RAY_REACH: i32 = 64;

/// A ray that is held against the shape of an object costs as much as so many objects that `nearby` looks at.
pub(crate) const RAY_LOOKS: usize = 4;

/// Each metre of a ray costs as much as so many, because empty ground has to be looked up too: eight metres of it
/// are at most some 17 look-ups of 60 nanoseconds.
pub(crate) const RAY_LOOKS_PER_METRE: usize = 3;

/// Farthest that a script spawns a thing from its own object, in metres.
pub const SPAWN_REACH: i32 = 16;

/// Farthest that a zone reaches from the middle of its object in each direction, in metres.
pub const ZONE_REACH: i32 = 16;

/// Farthest from the middle of a thing that somebody sits on it, in metres: nobody is seated behind a wall.
pub const SEAT_REACH: i32 = 2;

/// Longest timer, in seconds: a day.
pub const TIMER_SECONDS_MAX: i32 = 86_400;

/// Largest component of an impulse that a script may give, in kilogram metres a second.
pub const IMPULSE_MAX: i32 = 1_000;

/// Log lines of one call; later ones are dropped.
pub const LOG_LINES_MAX: usize = 16;

/// Bytes of one log line; the rest is cut off.
pub const LOG_LINE_BYTES_MAX: usize = 256;

/// Bytes of one source file.
pub const FILE_BYTES_MAX: usize = 64 * 1_024;

/// Files of one package.
pub const FILES_MAX: usize = 32;

/// All files of one package together.
pub const PACKAGE_BYTES_MAX: usize = 256 * 1_024;

/// Packages that one package imports.
pub const IMPORTS_MAX: usize = 15;

/// A package with all that it imports, and that those import: so no chain of imports is longer either.
pub const LINKED_PACKAGES_MAX: usize = 16;

/// The entry files of a package and of all that it imports together.
pub const LINKED_BYTES_MAX: usize = 256 * 1_024;

/// Bytes that an import counts at least towards what a package weighs: compiling takes some tenths of a
/// millisecond, however short it is.
pub const IMPORT_BYTES_MIN: usize = 1_024;

/// Bytes of a package's or author's name.
pub const PACKAGE_NAME_BYTES_MAX: usize = 64;

/// Bytes of a path inside a package.
pub const PATH_BYTES_MAX: usize = 128;

/// Authors of one package.
pub const AUTHORS_MAX: usize = 32;

/// Bytes of a licence expression.
pub const LICENCE_BYTES_MAX: usize = 256;

/// Ways to choose from a licence expression: `(A OR B) AND (C OR D)` has four.
pub const LICENCE_ARMS_MAX: usize = 64;

/// Nanoseconds of the reference machine that a unit of gas stands for.
pub const NANOSECONDS_PER_GAS: u64 = 100;

/// Bytes that a value counts, whatever it takes on one machine or another.
pub const VALUE_BYTES: u64 = 16;

/// Bytes that a text counts beside its letters: it has memory of its own.
pub const TEXT_BYTES: u64 = 32;

/// Bytes that an array, map or closure counts beside what is in it.
pub const CONTAINER_BYTES: u64 = 64;

/// All that one call allocates, in bytes as values count. Nothing is given back before the call ends, so
/// that no order of drops can change what fits. The memory behind it is at most about three times as much:
/// a value takes 24 bytes of the machine, and what grows is moved to twice its size.
pub const CALL_BYTES_MAX: u64 = 256 * 1_024;

/// One value with all that is in it, in bytes as values count; a shared part counts as often as it is in
/// it. So whatever walks over a value has a bound.
pub const DATUM_BYTES_MAX: u64 = 64 * 1_024;

/// Arrays, maps and closures inside one another while a call runs. Dropping recurses once a level.
pub const DATUM_DEPTH_MAX: u8 = 16;

/// Values that one function holds at one time: variables, and those of expressions under way. With
/// `CALL_DEPTH_MAX` a call has at most 7,680 registers, which take 180 KiB.
pub const REGISTERS_MAX: usize = 640;

/// A literal array has fewer elements, and a literal map fewer entries.
pub const LITERAL_ELEMENTS_MAX: usize = 512;
