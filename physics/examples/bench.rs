//! How many steps a second one thread makes:
//! `cargo run --release -p metatopia-physics --example bench`.

use std::hint::black_box;
use std::time::Duration;
#[expect(clippy::disallowed_types, reason = "a bench reads the clock; the crate does not")]
use std::time::Instant;

use metatopia_math::{Fx, Stream, Vec2};
use metatopia_physics::{BodySpec, Motion, Region, Shape};
use metatopia_types::{ObjectId, wire};

/// Steps that are measured, after as many for settling.
const STEPS: u32 = 600;

fn main() {
    println!("one thread, median of {STEPS} steps, the region's step alone");
    println!("scene                            bodies  us/step  steps/s  contacts  B/body");
    for (shapes, name) in [(Shapes::Circles, "circles"), (Shapes::Boxes, "boxes")] {
        measure(&format!("1,000 {name}, sparse (256 m)"), ground(1_000, 128, shapes));
        measure(&format!("1,000 {name}, dense (64 m)"), ground(1_000, 32, shapes));
        measure(&format!("1,000 {name}, packed (40 m)"), ground(1_000, 20, shapes));
    }
    measure("4,000 circles, sparse (500 m)", ground(4_000, 250, Shapes::Circles));
    measure("4,000 circles, dense (128 m)", ground(4_000, 64, Shapes::Circles));
    let mut heap = Region::new();
    for id in 0..1_000 {
        let round = Shape::Circle { radius: Fx::HALF };
        let pressed = BodySpec::new(round, Motion::Dynamic, Vec2::ZERO);
        heap.insert(ObjectId(id), &pressed).expect("there is room");
    }
    time("1,000 circles out of one place", heap);
    let mut asleep = ground(1_000, 32, Shapes::Boxes);
    for id in 10..1_010 {
        asleep.set_velocity(ObjectId(id), Vec2::ZERO).expect("it moves");
        asleep.set_spin(ObjectId(id), Fx::ZERO).expect("it moves");
    }
    while !asleep.is_still() {
        asleep.step();
    }
    measure("1,000 boxes at rest", asleep.clone());
    let mut walker = BodySpec::new(
        Shape::Circle { radius: Fx::HALF },
        Motion::Kinematic,
        Vec2::new(Fx::from_int(100), Fx::ZERO),
    );
    walker.spin = Fx::ONE;
    asleep.insert(ObjectId(9_999), &walker).expect("there is room");
    measure("1,000 boxes at rest, one awake", asleep);
}

#[derive(Clone, Copy)]
enum Shapes {
    Circles,
    Boxes,
}

/// `count` moving bodies, a metre wide, in a walled square; they bounce without loss.
fn ground(count: u64, half: i32, shapes: Shapes) -> Region {
    let mut region = Region::new();
    let wall = |x: i32, y: i32| {
        let long = half + 1;
        let size = if y == 0 { (1, long) } else { (long, 1) };
        let half = Vec2::new(Fx::from_int(size.0), Fx::from_int(size.1));
        let place = Vec2::new(Fx::from_int(x), Fx::from_int(y));
        BodySpec::new(Shape::Rect { half }, Motion::Static, place)
    };
    let out = half + 1;
    for (id, (x, y)) in (1..).zip([(out, 0), (-out, 0), (0, out), (0, -out)]) {
        region.insert(ObjectId(id), &wall(x, y)).expect("a wall fits");
    }
    let mut dice = Stream::new(&[1; 32], "physics.bench", &[count]);
    let columns = count.isqrt() + 1;
    let pitch = Fx::from_ratio(2 * i64::from(half), columns as i64);
    for place in 0..count {
        let along = |index: u64| {
            let cells = Fx::from_ratio(2 * index as i64 + 1 - columns as i64, 2);
            cells.saturating_mul(pitch)
        };
        let position = Vec2::new(along(place % columns), along(place / columns));
        let shape = match shapes {
            Shapes::Circles => Shape::Circle { radius: Fx::HALF },
            Shapes::Boxes => Shape::Rect { half: Vec2::new(Fx::HALF, Fx::HALF) },
        };
        let mut speed = || Fx::from_ratio(dice.below(1_001) as i64 - 500, 100);
        let spec = BodySpec {
            velocity: Vec2::new(speed(), speed()),
            spin: speed(),
            restitution: Fx::ONE,
            friction: Fx::ZERO,
            ..BodySpec::new(shape, Motion::Dynamic, position)
        };
        region.insert(ObjectId(10 + place), &spec).expect("it fits");
    }
    region
}

fn measure(name: &str, mut region: Region) {
    for _ in 0..STEPS {
        region.step();
    }
    time(name, region);
}

fn time(name: &str, mut region: Region) {
    let mut times: Vec<Duration> = (0..STEPS)
        .map(|_| {
            let start = now();
            black_box(region.step());
            start.elapsed()
        })
        .collect();
    times.sort();
    let nanos = times[times.len() / 2].as_nanos().max(1);
    let bytes: usize = region.bodies().iter().map(|body| wire::encode(body).len()).sum();
    println!(
        "{name:32} {:6}  {:5}.{}  {:7}  {:8}  {:6}",
        region.bodies().len(),
        nanos / 1_000,
        nanos % 1_000 / 100,
        1_000_000_000 / nanos,
        region.contacts().len(),
        bytes / region.bodies().len().max(1),
    );
}

#[expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "a bench reads the clock; the crate does not"
)]
fn now() -> Instant {
    Instant::now()
}
