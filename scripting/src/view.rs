//! The world as a script may see it.

use alloc::vec::Vec;

use metatopia_math::{Angle, Fx, Vec2};
use metatopia_types::{
    AssetLicence, Digest, ObjectId, Origin, Permission, PublicKey, Tick, limits::TICKS_PER_SECOND,
};

/// The world at the start of a tick, the same for every script and unchanging while they run.
///
/// Whoever owns the world implements it. Every answer must be a pure function of the agreed state.
pub trait WorldView: Send + Sync {
    /// One object, or nothing if there is none of this id.
    fn object(&self, id: ObjectId) -> Option<ObjectView<'_>>;

    /// Returns where an object's centre is, as [`WorldView::object`] says. Scripts read this of all that is near
    /// them, and the rest of a view takes longer to put together than the reading.
    fn position(&self, id: ObjectId) -> Option<Vec2> {
        self.object(id).map(|object| object.pos)
    }

    /// Returns how fast an object moves, as [`WorldView::object`] says.
    fn velocity(&self, id: ObjectId) -> Option<Vec2> {
        self.object(id).map(|object| object.velocity)
    }

    /// Returns how fast an object turns, as [`WorldView::object`] says.
    fn spin(&self, id: ObjectId) -> Option<Fx> {
        self.object(id).map(|object| object.spin)
    }

    /// Returns at most `max` objects whose centre is within `radius` metres of `center`, nearest first,
    /// objects at the same distance by id.
    fn nearby(&self, center: Vec2, radius: Fx, max: u32) -> Nearby;

    /// Returns at most `max` things called `name` of the owner of `object`, oldest first, without `object`
    /// itself. An implementation may look at the oldest things only, as long as it is the same ones
    /// everywhere.
    fn named(&self, object: ObjectId, name: &str, max: u32) -> Nearby;

    /// The first object that the straight way between two points meets, apart from `skip`.
    fn along_ray(&self, from: Vec2, to: Vec2, skip: ObjectId) -> AlongRay;

    /// Returns whether the person whose avatar `who` is lets a thing do something. A view that knows no
    /// permissions allows nothing.
    fn allows(&self, _thing: ObjectId, _who: ObjectId, _permission: Permission) -> bool {
        false
    }

    /// Says whether the person whose avatar `who` is belongs to a club. A thing belongs to none, and where there
    /// are no clubs nobody does.
    fn is_member(&self, _who: ObjectId, _club: NamedClub<'_>) -> bool {
        false
    }

    /// Says whether a thing is in luggage, or under way to another sim, from which it may come back. Where nothing
    /// leaves, none is.
    fn is_away(&self, _id: ObjectId) -> bool {
        false
    }

    /// Says whether a feature flag of the sim is on. Where nobody agrees on flags, none is.
    fn is_flag_on(&self, _name: &str) -> bool {
        false
    }

    /// The tick that is being computed.
    fn tick(&self) -> Tick;

    /// R_h, the seed of the turn that this tick belongs to.
    fn seed(&self) -> Digest;

    /// Simulated seconds since genesis: it stands still while the world is off. Rounded down to
    /// the grid of [`Fx`], and stays at the largest one after 68 years.
    fn time(&self) -> Fx {
        let Tick(tick) = self.tick();
        let seconds = i32::try_from(tick / TICKS_PER_SECOND).unwrap_or(i32::MAX);
        let rest = ((tick % TICKS_PER_SECOND) << 32) / TICKS_PER_SECOND;
        Fx::from_bits((i64::from(seconds) << 32) | i64::try_from(rest).expect("below 2^32"))
    }
}

/// A club as a script names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamedClub<'a> {
    /// A club by the name that it has now.
    Name(&'a str),
    /// A club by its number, which no other club ever has.
    Number(i64),
}

/// What a look around finds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Nearby {
    /// The objects: nearest first of those around, oldest first of those with a name.
    pub objects: Vec<ObjectId>,
    /// How many were looked at for that: whoever looks around pays for them.
    pub looked: usize,
}

/// What a look along a straight way finds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AlongRay {
    /// The first object, and the part of the way up to it: from 0, where the way begins inside of it, to 1.
    pub first: Option<(ObjectId, Fx)>,
    /// How many objects were looked at for that: whoever looks pays for them.
    pub looked: usize,
}

/// One object at the start of a tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectView<'a> {
    /// The sim of its birth, and its number there.
    pub origin: Origin,
    /// Its name: a player's, or the one that the world's maker gave.
    pub name: &'a str,
    /// What it is: `"avatar"` for a player, else the kind that the world's maker gave.
    pub kind: &'a str,
    /// Its centre, in metres.
    pub pos: Vec2,
    /// The angle that it faces.
    pub angle: Angle,
    /// Metres a second.
    pub velocity: Vec2,
    /// Radians a second, counter-clockwise.
    pub spin: Fx,
    /// The color as 0xRRGGBB.
    pub color: u32,
    /// The text it shows, often empty.
    pub text: &'a str,
    /// Whether it is a sensor, which pushes nothing.
    pub sensor: bool,
    /// What everybody may do with it.
    pub licence: AssetLicence,
    /// The person whose avatar it is.
    pub player: Option<PublicKey>,
    /// The owner of the thing; an avatar has none.
    pub owner: Option<PublicKey>,
    /// The object whose script spawned it; that one may be gone.
    pub spawner: Option<ObjectId>,
}
