//! How often members speak, and how much they prefer to keep. None of this bounds what others can do;
//! that is in `limits`.

use std::time::Duration;

/// The cycle of a member: how often it speaks after a change. At rest it speaks four times less.
pub const CYCLE: Duration = Duration::from_secs(2);

/// Voronoi neighbours that a view is filled up to: the mean cell of a plane has six.
pub const VIEW_SOFT: usize = 10;

/// Cycles for which a gone site stays gone, unless it speaks itself.
pub const TOMBSTONE_CYCLES: u32 = 15;

/// Cycles after a change of the view in which a site exchanges more.
pub const HOT_CYCLES: u32 = 2;

/// Cycles after a change of the view in which a site exchanges with a neighbour in each, and probes its
/// cell: once with all of a usual view.
pub const WARM_CYCLES: u32 = 10;

/// Exchanges of a cycle right after a change of the view.
pub const BURST: u32 = 3;

/// Cycles between two exchanges with neighbours at rest.
pub const REST_EXCHANGE_CYCLES: u32 = 4;

/// Cycles between two exchanges with random members at rest.
pub const REST_SAMPLE_CYCLES: u32 = 2;

/// Cycles between two probes at rest.
pub const REST_PROBE_CYCLES: u32 = 16;

/// Others that a member asks for evidence in its first cycles, one in each.
pub const FIRST_PULLS: usize = 3;

/// Cycles between two such questions at rest.
pub const REST_PULL_CYCLES: u32 = 64;

/// Cycles after which the host, or a sender, is asked again for a newer map of a block that records doubt.
pub const DOUBT_CYCLES: u32 = 3;

/// Times that a newcomer seeks its own place, to learn who is around it.
pub const ARRIVALS: u32 = 4;

/// Times that it does so in a cycle.
pub const ARRIVALS_PER_CYCLE: u32 = 4;

/// Times that a member may greet those of whom it just learned, in a cycle.
pub const GREETINGS_PER_CYCLE: u32 = 16;

/// Neighbours that a member speaks with at once when the one between them is gone.
pub const MENDERS: usize = 3;

/// Cycles after which a site that is not connected must be heard again before others are told of it.
pub const FRESH_CYCLES: u32 = 8;

/// Shelves around the own square that stay when nobody needs them: those of its nearest squares.
pub const SHELVES_NEAR: usize = 64;

/// Squares around the own one whose shelves a member asks for when nobody needs them, if these are not more.
pub const SQUARES_NEAR: usize = 64;

/// Cycles between two of these questions at rest, and one while the view changes.
pub const NEAR_SHELF_CYCLES: u32 = 4;

/// Cycles until it asks again where nobody had such a shelf, or looks whether one is missing.
pub const NEAR_AGAIN_CYCLES: u32 = 16;

/// Shelves that stay because lookups were about them lately.
pub const SHELVES_LATELY: usize = 64;

/// Tips in one exchange between random members: half of them, since few are of use there.
pub const SAMPLED_TIPS: usize = 5;

/// How far clocks of two honest sites may differ, in milliseconds: five minutes.
pub const CLOCK_SKEW_MS: u64 = 300_000;

/// Ways of one lookup that are open at once, and share no site.
pub const WAYS: usize = 2;
