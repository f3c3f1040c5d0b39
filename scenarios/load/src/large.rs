//! Measures a large sim alone: what a turn costs when nothing in it moves, and when a few objects
//! do.

use std::{sync::Arc, time::Instant};

use metatopia_math::{Fx, Vec2};
use metatopia_physics::{BodySpec, Motion, Shape};
use metatopia_sim::{Genesis, ObjectSpec, Parameters, Serial, Tools, World};
use metatopia_types::{Ed25519, Sign as _, SigningKey};

use crate::{
    figure::{Bound, Figure},
    micros,
    thousand::{bare, empty_turn, object, thing, wall, walls},
};

/// The number of objects in a row. Rows are so far apart that no objects touch.
const ROW: u32 = 64;

/// The number of objects that never rest.
const MOVING: u32 = 200;

/// The number of turns in which all others come to rest.
const SETTLE: u32 = 20;

/// The number of turns that are measured.
const TURNS: usize = 200;

/// Measures the median time of one turn on one thread, in microseconds.
#[must_use]
pub fn measure(objects: u32) -> Vec<Figure> {
    let turn = |name, moving| {
        let (one, rest) = (SigningKey::from_seed([1; 32]).public(), objects.saturating_sub(moving));
        let moving = (0..moving.min(objects)).map(thing).chain(walls().map(wall));
        let objects = moving.chain((0..rest).map(crate_at)).collect();
        let mut genesis = bare(one, objects);
        with_room(&mut genesis, 0);
        let tools = Tools::new(Arc::new(Ed25519));
        let mut world = World::genesis(&genesis, &tools).expect("this genesis keeps the rules");
        let mut next = || {
            let turn = empty_turn(&world, one);
            let start = Instant::now();
            world.apply(&turn, &Serial);
            micros(start.elapsed())
        };
        (0..SETTLE).for_each(|_| _ = next());
        let mut times: Vec<u64> = (0..TURNS).map(|_| next()).collect();
        times.sort_unstable();
        Figure::new(name, times[TURNS / 2], "us", Bound::None)
    };
    vec![
        turn("a turn in which all of them rest", 0),
        turn("a turn in which 200 of them move", MOVING),
    ]
}

/// Gives a sim room for its objects and this many more, and for all avatars.
pub fn with_room(genesis: &mut Genesis, more: u32) {
    let things = u32::try_from(genesis.objects.len()).unwrap_or(u32::MAX).saturating_add(more);
    let Parameters { objects_max, avatars_max, .. } = &mut genesis.parameters;
    *objects_max = things.saturating_add(*avatars_max).max(*objects_max);
}

/// Returns an object that lies on the ground, off the plaza.
///
/// # Panics
/// Panics when there are more than 2^30.
#[must_use]
pub fn crate_at(n: u32) -> ObjectSpec {
    let at = |n: u32, from: i32| {
        Fx::from_int(i32::try_from(2 * n).expect("a small grid").saturating_add(from))
    };
    let place = Vec2::new(at(n % ROW, -64), at(n / ROW, 200));
    let half = Vec2::new(Fx::HALF, Fx::HALF);
    object("crate", BodySpec::new(Shape::Rect { half }, Motion::Dynamic, place))
}
