//! The sim alone in a large world: what a turn costs when nothing in it moves, and when little does.

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

/// Objects in a row; rows are so far apart that nothing touches.
const ROW: u32 = 64;

/// Of the objects, those that never rest.
const MOVING: u32 = 200;

/// Turns in which all that shall rest comes to rest.
const SETTLE: u32 = 20;

/// Turns that are measured.
const TURNS: usize = 200;

/// Measures the microseconds of one turn on one thread, the median.
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

/// Gives a world room for its objects and so many more, and for all avatars.
pub fn with_room(genesis: &mut Genesis, more: u32) {
    let things = u32::try_from(genesis.objects.len()).unwrap_or(u32::MAX).saturating_add(more);
    let Parameters { objects_max, avatars_max, .. } = &mut genesis.parameters;
    *objects_max = things.saturating_add(*avatars_max).max(*objects_max);
}

/// Returns something that lies on the ground, off the plaza.
///
/// # Panics
/// When there are more than 2^30.
#[must_use]
pub fn crate_at(n: u32) -> ObjectSpec {
    let at = |n: u32, from: i32| {
        Fx::from_int(i32::try_from(2 * n).expect("a small grid").saturating_add(from))
    };
    let place = Vec2::new(at(n % ROW, -64), at(n / ROW, 200));
    let half = Vec2::new(Fx::HALF, Fx::HALF);
    object("crate", BodySpec::new(Shape::Rect { half }, Motion::Dynamic, place))
}
