//! The limits of a region. Input is rounded and clamped to them, or refused, so that the arithmetic
//! of the solver cannot overflow.

use metatopia_math::Fx;
use metatopia_types::{ObjectId, limits::OBJECT_NUMBERS_END};

/// Steps in a second of simulated time.
pub const STEPS_PER_SECOND: u32 = 60;

/// Substeps of a step: contacts are found and solved 240 times a second.
pub const SUBSTEPS: u32 = 4;

/// Bodies of one region.
pub const BODIES_MAX: usize = 16_384;

/// Bodies with this id and higher ones are ghosts: copies of what stands in another region, beside this one.
///
/// They may stand outside of the bounds, no query and no joint meets them, and no sensor notices them.
/// Everything else they do as other bodies. Whoever puts one in makes it kinematic, so that nothing pushes it.
pub const GHOSTS_FROM: ObjectId = ObjectId(OBJECT_NUMBERS_END);

/// Pairs of one moving body with walls, as many with moving bodies of its size or larger, and as
/// many with sensors and ghosts: ghosts take no place from the walls that a body stands behind.
///
/// Bodies that do not overlap have room for fewer. Pairs beyond the limit are left out, the same
/// ones on every machine, and their bodies pass through each other. So a heap of bodies in one
/// place has contacts in proportion to its bodies, and no other body loses a contact by it. To find
/// them, bodies that have room left are compared with all others in the heap: all pairs at worst.
pub const PARTNERS_MAX: u8 = 32;

/// Pairs that one step looks at.
pub const PAIRS_MAX: usize = 3 * PARTNERS_MAX as usize * BODIES_MAX;

/// Largest coordinate of a body's position, in metres from the region's origin, either sign.
/// A body that gets there stops there.
pub const COORDINATE_MAX: Fx = Fx::from_int(1_024);

/// Smallest radius or half width, and least distance from a polygon's centre to a side, in metres.
pub const SIZE_MIN: Fx = Fx::from_ratio(1, 16);

/// Largest radius or half width of a kinematic or dynamic body, in metres.
pub const MOVING_SIZE_MAX: Fx = Fx::from_int(16);

/// Largest radius or half width of a static body, in metres.
pub const STATIC_SIZE_MAX: Fx = Fx::from_int(256);

/// Corners of a polygon.
pub const CORNERS_MAX: usize = 8;

/// Parts of a compound.
pub const COMPOUND_PARTS_MAX: usize = 8;

/// Pairs of parts of two bodies that push each other at once; those that are the deepest.
pub const PART_PAIRS_MAX: usize = 16;

/// Points of a chain.
pub const CHAIN_POINTS_MAX: usize = 64;

/// Smallest mass, in kilograms.
pub const MASS_MIN: Fx = Fx::from_ratio(1, 16);

/// Largest mass, in kilograms.
pub const MASS_MAX: Fx = Fx::from_int(16_384);

/// Greatest speed, in metres a second. A body smaller than 13 cm is slower still: in a substep no
/// body moves further than its own radius (or its lesser half width), so none tunnels through a
/// wall. The smallest, of [`SIZE_MIN`], has 15 m/s.
pub const SPEED_MAX: Fx = Fx::from_int(32);

/// Greatest spin, in radians a second. The outermost point of a large body still obeys
/// [`SPEED_MAX`].
pub const SPIN_MAX: Fx = Fx::from_int(32);

/// Greatest gravity, in metres a second squared.
pub const GRAVITY_MAX: Fx = Fx::from_int(64);

/// Greatest coefficient of friction.
pub const FRICTION_MAX: Fx = Fx::from_int(2);

/// Greatest damping, in shares of the velocity a second.
pub const DAMPING_MAX: Fx = Fx::from_int(60);

/// Greatest impulse of one command, in newton seconds per axis.
pub const IMPULSE_MAX: Fx = Fx::from_int(1 << 20);

/// Bodies closer than this, in metres, still count as touching once they have touched.
pub const TOUCH_MARGIN: Fx = Fx::from_ratio(1, 64);

/// Penetration that the solver leaves alone, in metres, so that resting contacts stay contacts.
pub const LINEAR_SLOP: Fx = Fx::from_ratio(1, 256);

/// A body slower than this, in metres a second, falls asleep after [`SLEEP_STEPS`].
pub const SLEEP_SPEED: Fx = Fx::from_ratio(1, 64);

/// A body that turns slower than this, in radians a second, falls asleep after [`SLEEP_STEPS`].
pub const SLEEP_SPIN: Fx = Fx::from_ratio(1, 32);

/// Steps (half a second) that a body must be slow before its velocity becomes exactly zero.
pub const SLEEP_STEPS: u8 = 30;

/// Slower approaches than this, in metres a second, do not bounce.
pub const RESTITUTION_SPEED_MIN: Fx = Fx::from_ratio(1, 2);

/// Slowest hit that is reported, in metres a second.
pub const HIT_SPEED_MIN: Fx = Fx::from_ratio(1, 4);

/// Bodies that one query names.
pub const NEARBY_MAX: usize = 256;

/// How far a ray meets bodies, in metres.
pub const RAY_LENGTH_MAX: i32 = 128;

/// Longest encoding of a body that is no compound (postcard), which bounds the leaves of bodies.
pub const BODY_BYTES_MAX: usize = 176;

/// Longest encoding of a contact that is of no compound (postcard), which bounds the leaves of contacts.
pub const CONTACT_BYTES_MAX: usize = 48;

/// Longest encoding of a body that is a compound (postcard).
pub const COMPOUND_BYTES_MAX: usize = 1_024;

/// Longest encoding of a contact of a compound (postcard).
pub const COMPOUND_CONTACT_BYTES_MAX: usize = 432;

/// Contacts of compounds that keep impulses from step to step, the first ones by their bodies: one for each body
/// that there may be, 7 MiB. The others begin each step anew, so that no heap outgrows a state.
pub const PART_CONTACTS_MAX: usize = BODIES_MAX;

/// Joints of one region.
pub const JOINTS_MAX: usize = 16_384;

/// How far a joint's anchor may be from the position of its body, in metres. A slider that is further
/// from the position of a moving body has no longer a lever than this.
pub const JOINT_REACH_MAX: Fx = Fx::from_int(16);

/// Greatest length of a distance joint, and greatest way of a slider, in metres.
pub const JOINT_LENGTH_MAX: Fx = Fx::from_int(1_024);

/// Greatest angle that limits a hinge, in radians, either sign. An angle has no more than half a turn, so
/// that a limit near it would be jumped over.
pub const JOINT_ANGLE_MAX: Fx = Fx::from_int(3);

/// Greatest force of a motor or a target, and the greatest that a joint breaks at, in newtons (or, of a
/// torque, in newton metres).
pub const JOINT_FORCE_MAX: Fx = Fx::from_int(1 << 30);

/// Greatest frequency of a spring, in hertz: a quarter of the rate of the substeps.
pub const SPRING_FREQUENCY_MAX: Fx = Fx::from_int(60);

/// Greatest damping ratio of a spring.
pub const SPRING_DAMPING_MAX: Fx = Fx::from_int(16);

/// Longest encoding of a joint (postcard), which bounds the leaves of joints.
pub const JOINT_BYTES_MAX: usize = 176;
