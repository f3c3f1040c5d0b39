//! Finding a place for what is built, so that the first try works.

use alloc::{collections::BTreeSet, vec::Vec};

use metatopia_math::{Angle, Fx, Vec2};
use metatopia_sim::{Area, Land, Lot, Parameters, may_build};
use metatopia_types::{ClubId, PublicKey};

/// What a builder knows of the ground around.
#[derive(Debug)]
pub struct Ground<'a> {
    /// The agreed numbers.
    pub parameters: &'a Parameters,
    /// The named lands.
    pub lands: &'a [Land],
    /// The lots, which lie on top of them.
    pub lots: &'a [Lot],
    /// The key that builds.
    pub builder: PublicKey,
    /// The clubs in which the builder is.
    pub clubs: BTreeSet<ClubId>,
    /// Where the builder stands, in metres.
    pub here: Vec2,
    /// Which way the builder looks.
    pub facing: Angle,
    /// What is around: centre, half width and height, facing.
    pub things: Vec<(Vec2, Vec2, Angle)>,
}

/// Rings around the builder that are tried, a metre apart.
const RINGS: i32 = 8;

/// The nearest place where a thing of this half width and height may be built and touches nothing,
/// ahead of the builder if possible; nothing if a look around finds none.
#[must_use]
pub fn spot(ground: &Ground<'_>, half: Vec2, movable: bool) -> Option<Vec2> {
    let radius = ground.parameters.avatar.radius;
    let first = half.x.max(half.y).saturating_add(radius).saturating_add(Fx::HALF);
    // Ahead, a little to both sides, and so on around.
    let turns = [0, 1, 7, 2, 6, 3, 5, 4].map(|eighths: u32| Angle::from_bits(eighths << 29));
    let rings = (0..RINGS).map(|n| first.saturating_add(Fx::from_int(n)));
    let places = rings.flat_map(|far| {
        turns.iter().map(move |turn| {
            let way = ground.facing.wrapping_add(*turn).direction();
            ground.here.saturating_add(way.scale(far))
        })
    });
    let tenths = |value: Fx| Fx::from_ratio(value.saturating_mul(Fx::from_int(10)).round_int(), 10);
    let mut places = places.map(|place| Vec2::new(tenths(place.x), tenths(place.y)));
    places.find(|place| fits(ground, *place, half, movable))
}

fn fits(ground: &Ground<'_>, place: Vec2, half: Vec2, movable: bool) -> bool {
    let area = around(place, half);
    let (parameters, avatar) = (ground.parameters, &ground.parameters.avatar);
    let near = place.distance(ground.here) <= parameters.building.reach;
    let open = parameters.building.open_ground;
    let spawn = avatar.spawn_radius.saturating_add(avatar.radius);
    let arrivals = around(avatar.spawn, Vec2::new(spawn, spawn));
    let builder = (&ground.builder, &ground.clubs);
    near && may_build(ground.lands, ground.lots, open, builder, &area)
        && (movable || !area.overlaps(&arrivals))
        && ground.things.iter().all(|(center, half, angle)| {
            let (sine, cosine) = angle.sin_cos();
            let (sine, cosine) = (sine.saturating_abs(), cosine.saturating_abs());
            let sum =
                |a: Fx, b: Fx| half.x.saturating_mul(a).saturating_add(half.y.saturating_mul(b));
            let half = Vec2::new(sum(cosine, sine), sum(sine, cosine));
            !area.overlaps(&around(*center, half))
        })
}

fn around(center: Vec2, half: Vec2) -> Area {
    Area { low: center.saturating_sub(half), high: center.saturating_add(half) }
}
