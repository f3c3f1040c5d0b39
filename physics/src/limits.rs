//! Every bound of a region. Whatever comes in is rounded and moved into these, or refused; the
//! kernels' arithmetic cannot overflow because of them.

use metatopia_math::Fx;

/// Steps in a second of simulated time.
pub const STEPS_PER_SECOND: u32 = 60;

/// Substeps of a step: contacts are found and solved 240 times a second.
pub const SUBSTEPS: u32 = 4;

/// Bodies of one region.
pub const BODIES_MAX: usize = 16_384;

/// Pairs that one moving body is looked at in because of walls, as many because of moving bodies of
/// its size or larger, and as many because of sensors.
///
/// Bodies that do not overlap have room for fewer. Beyond it pairs are left out, the same ones on
/// every machine, and those two bodies pass through each other: a heap that is put into one place
/// costs a time in proportion to its bodies, and nobody else a contact.
pub const PARTNERS_MAX: u8 = 32;

/// Pairs that one step looks at.
pub const PAIRS_MAX: usize = 3 * PARTNERS_MAX as usize * BODIES_MAX;

/// Largest coordinate of a body's position, in metres from the region's origin, either sign.
/// A body that gets there stops there.
pub const COORDINATE_MAX: Fx = Fx::from_int(1_024);

/// Smallest radius or half width, in metres.
pub const SIZE_MIN: Fx = Fx::from_ratio(1, 16);

/// Largest radius or half width of a kinematic or dynamic body, in metres.
pub const MOVING_SIZE_MAX: Fx = Fx::from_int(16);

/// Largest radius or half width of a static body, in metres.
pub const STATIC_SIZE_MAX: Fx = Fx::from_int(256);

/// Smallest mass, in kilograms.
pub const MASS_MIN: Fx = Fx::from_ratio(1, 16);

/// Largest mass, in kilograms.
pub const MASS_MAX: Fx = Fx::from_int(16_384);

/// Greatest speed, in metres a second. A body smaller than 13 cm is slower still: in a substep
/// nothing moves further than its own radius (or its lesser half width), so it cannot pass a wall.
pub const SPEED_MAX: Fx = Fx::from_int(32);

/// Greatest spin, in radians a second. The outermost point of a large body still obeys
/// [`SPEED_MAX`].
pub const SPIN_MAX: Fx = Fx::from_int(32);

/// Greatest coefficient of friction.
pub const FRICTION_MAX: Fx = Fx::from_int(2);

/// Greatest damping, in shares of the velocity a second.
pub const DAMPING_MAX: Fx = Fx::from_int(60);

/// Greatest impulse of one command, in newton seconds per axis.
pub const IMPULSE_MAX: Fx = Fx::from_int(1 << 20);

/// Bodies closer than this, in metres, still count as touching once they have touched.
pub const TOUCH_MARGIN: Fx = Fx::from_ratio(1, 64);

/// Overlap that the solver leaves alone, in metres, so that resting contacts stay contacts.
pub const OVERLAP_ALLOWED: Fx = Fx::from_ratio(1, 256);

/// A body slower than this, in metres a second, comes to rest after [`REST_STEPS`].
pub const REST_SPEED: Fx = Fx::from_ratio(1, 64);

/// A body that turns slower than this, in radians a second, comes to rest after [`REST_STEPS`].
pub const REST_SPIN: Fx = Fx::from_ratio(1, 32);

/// Steps (half a second) that a body must be slow before its velocity becomes exactly zero.
pub const REST_STEPS: u8 = 30;

/// Slower approaches than this, in metres a second, do not bounce.
pub const BOUNCE_SPEED_MIN: Fx = Fx::from_ratio(1, 2);

/// Bodies that one query names.
pub const NEARBY_MAX: usize = 256;

/// Longest encoding of a body (postcard), for whoever groups bodies into leaves.
pub const BODY_BYTES_MAX: usize = 96;

/// Longest encoding of a contact (postcard), for whoever groups contacts into leaves.
pub const CONTACT_BYTES_MAX: usize = 48;
