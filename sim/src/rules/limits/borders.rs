//! Limits of borders: how long words and passes count, what is near a line, and what may come over it.

/// Signatures of certificates that one turn checks for dispatches, of some 50 microseconds each: 16 borders
/// with thinned certificates of 31 servers take 336.
pub const HEARD_SIGNATURES_PER_TURN_MAX: usize = 512;

/// How long a neighbour may take what departed, in milliseconds of its own turns: twenty times what a
/// crossing takes, so that a neighbour that changes its proposer still takes it.
pub const DEPARTURE_MS: u64 = 10_000;

/// Without word of the neighbour for so many milliseconds a border is a wall, so that little gets stuck on the
/// way to a sim that dies.
pub const WORD_MS: u64 = 2_000;

/// A word of a neighbour that tells nothing but the time counts only so many milliseconds after the last one.
pub const PULSE_MS: u64 = 900;

/// An admin may give up a neighbour that was silent for so long, in milliseconds: a day.
pub const SILENCE_MS: u64 = 86_400_000;

/// The time for which it is known why somebody came home from a border, in milliseconds: her client asks
/// every two seconds.
pub const TURNED_BACK_MS: u64 = 10_000;

/// People at one border of whom that is known at a time: as many as there are departures under way.
pub const TURNED_BACK_MAX: usize = 32;

/// How long a pass counts, in milliseconds of turns of the sim that gives it.
pub const PASS_MS: u64 = 10_000;

/// The distance from a border at which people are named to the neighbour, in metres: the way of twelve
/// seconds.
pub const NEAR_BORDER_METRES: i32 = 48;

/// The distance from a portal at which people are named to the neighbour, in metres: the way of four seconds.
/// What lies behind a portal is not in sight, so nothing needs to be fetched long before.
pub const NEAR_PORTAL_METRES: i32 = 16;

/// The distance of the middle of a portal from every edge of the ground, in metres: whoever comes out stands
/// on the ground.
pub const PORTAL_EDGE_METRES: i32 = 4;

/// The distance between the middles of two portals, in metres: who comes out of one has room beside the
/// other.
pub const PORTALS_APART_METRES: i32 = 6;

/// The distance behind an open border up to which a sim's own bodies still move, in metres.
pub const BORDER_BAND_METRES: i32 = 2;

/// How far from the main thing of a mechanism the rest of it may be, to go over a border with it: no neighbour puts
/// things far from the line by saying that they are joined to one at the line.
pub const MECHANISM_REACH_METRES: i32 = 24;

/// The distance from a line within which the neighbour has a ghost of a body, and by which a ghost reaches
/// over the line, in metres.
pub const GHOST_METRES: i32 = 4;

/// A sim makes a border frame no sooner than so many milliseconds after the last one: five a second.
pub const FRAME_MS: u64 = 200;

/// Ticks for which a ghost goes on as its frame said: half a second. Then it stands still.
pub const GHOST_TICKS: u64 = 30;

/// Most things that came over one border and count against nobody's quotas, unless the charter says another
/// number.
pub const BORDER_THINGS: u32 = 64;

/// Most bytes of the parcels in which they came, unless the charter says another number.
pub const BORDER_BYTES: u32 = 256 * 1_024;

/// Things of several parts that count against the share of one border: a neighbour that lies fills a quarter of the
/// room, unless people who come from there bring theirs.
pub const BORDER_COMPOUNDS_MAX: usize = 16;

/// Fewest servers of a sim from which things come, unless the charter says another number: fewer agree on
/// whatever one of them says.
pub const THINGS_FROM_SERVERS: u32 = 4;

/// The longest way by which an arrival is set ahead, in milliseconds of its velocity.
pub const AHEAD_MS_MAX: u64 = 500;
