//! Measures how many steps a second one thread makes:
//! `cargo run --release -p metatopia-physics --example bench`.

use std::hint::black_box;
use std::time::Duration;
#[expect(clippy::disallowed_types, reason = "a bench reads the clock; the crate does not")]
use std::time::Instant;

use metatopia_math::{Fx, Stream, Vec2};
use metatopia_physics::{BodySpec, Compound, CompoundPart, Motion, Region, Shape};
use metatopia_types::{ObjectId, wire};

/// The number of steps that are measured, after as many for settling.
const STEPS: u32 = 600;

fn main() {
    println!("one thread, the median of {STEPS} steps (of ten for the largest heap)");
    println!("scene                            bodies  us/step  steps/s  contacts  B/body");
    let kinds =
        [(Shapes::Circles, "circles"), (Shapes::Boxes, "boxes"), (Shapes::Crosses, "crosses")];
    for (shapes, name) in kinds {
        measure(&format!("1,000 {name}, sparse (256 m)"), ground(1_000, 128, shapes));
        measure(&format!("1,000 {name}, dense (64 m)"), ground(1_000, 32, shapes));
        measure(&format!("1,000 {name}, packed (40 m)"), ground(1_000, 20, shapes));
    }
    measure("10,000 circles, sparse (500 m)", ground(10_000, 250, Shapes::Circles));
    measure("10,000 circles, dense (200 m)", ground(10_000, 100, Shapes::Circles));
    time("1,000 circles in one position", heap(1_000, Shapes::Circles), STEPS);
    time("1,000 crosses in one position", heap(1_000, Shapes::Crosses), STEPS);
    time("10,000 circles in one position", heap(10_000, Shapes::Circles), STEPS / 60);
    time("10,000 crosses in one position", heap(10_000, Shapes::Crosses), STEPS / 60);
    let small = asleep(ground(1_000, 32, Shapes::Boxes));
    measure("1,000 boxes asleep", small.clone());
    one_awake("1,000 boxes, one awake", small);
    let large = asleep(ground(10_000, 160, Shapes::Boxes));
    measure("10,000 boxes asleep", large.clone());
    one_awake("10,000 boxes, one awake", large.clone());
    some_awake("10,000 boxes, 200 awake", large);
    let packed = asleep(ground(10_000, 54, Shapes::Boxes));
    one_awake("10,000 packed boxes, one awake", packed);
}

/// Builds bodies that all are in one position.
fn heap(count: u64, shapes: Shapes) -> Region {
    let mut heap = Region::new();
    for id in 0..count {
        let spec = BodySpec::new(shape(shapes), Motion::Dynamic, Vec2::ZERO);
        heap.insert(ObjectId(id), &spec).expect("there is room");
    }
    heap
}

/// Stops all bodies and steps the region until they sleep.
fn asleep(mut ground: Region) -> Region {
    let ids: Vec<ObjectId> = ground.bodies().iter().skip(4).map(|body| body.id()).collect();
    for id in ids {
        ground.set_velocity(id, Vec2::ZERO).expect("it moves");
        ground.set_spin(id, Fx::ZERO).expect("it moves");
    }
    while !ground.is_asleep() {
        ground.step();
    }
    ground
}

/// Measures a region in which every fiftieth body turns.
fn some_awake(name: &str, mut asleep: Region) {
    for id in (0..10_000).step_by(50) {
        asleep.set_spin(ObjectId(10 + id), Fx::from_ratio(1, 8)).expect("it moves");
    }
    time(name, asleep, STEPS);
}

/// Measures a region with one more body, which turns.
fn one_awake(name: &str, mut asleep: Region) {
    let mut walker = BodySpec::new(
        Shape::Circle { radius: Fx::HALF },
        Motion::Kinematic,
        Vec2::new(Fx::from_int(100), Fx::ZERO),
    );
    walker.spin = Fx::ONE;
    asleep.insert(ObjectId(99_999), &walker).expect("there is room");
    measure(name, asleep);
}

#[derive(Clone, Copy)]
enum Shapes {
    Circles,
    Boxes,
    /// Compounds of two boxes.
    Crosses,
}

/// Returns a shape that is a metre wide.
fn shape(shapes: Shapes) -> Shape {
    let rect = |x, y| Shape::Rect { half: Vec2::new(x, y) };
    match shapes {
        Shapes::Circles => Shape::Circle { radius: Fx::HALF },
        Shapes::Boxes => rect(Fx::HALF, Fx::HALF),
        Shapes::Crosses => {
            let thin = Fx::from_ratio(1, 8);
            let bars = [rect(Fx::HALF, thin), rect(thin, Fx::HALF)].map(CompoundPart::new);
            Shape::Compound(Compound::new(&bars).expect("two bars"))
        }
    }
}

/// Builds `count` moving bodies, a metre wide, in a walled square. They bounce without loss.
fn ground(count: u64, half: i32, shapes: Shapes) -> Region {
    let mut region = Region::new();
    let wall = |x: i32, y: i32| {
        let long = half + 1;
        let size = if y == 0 { (1, long) } else { (long, 1) };
        let half = Vec2::new(Fx::from_int(size.0), Fx::from_int(size.1));
        let position = Vec2::new(Fx::from_int(x), Fx::from_int(y));
        BodySpec::new(Shape::Rect { half }, Motion::Static, position)
    };
    let out = half + 1;
    for (id, (x, y)) in (1..).zip([(out, 0), (-out, 0), (0, out), (0, -out)]) {
        region.insert(ObjectId(id), &wall(x, y)).expect("a wall fits");
    }
    let mut dice = Stream::new(&[1; 32], "physics.bench", &[count]);
    let columns = count.isqrt() + 1;
    let pitch = Fx::from_ratio(2 * i64::from(half), columns as i64);
    for index in 0..count {
        let along = |cell: u64| {
            let cells = Fx::from_ratio(2 * cell as i64 + 1 - columns as i64, 2);
            cells.saturating_mul(pitch)
        };
        let position = Vec2::new(along(index % columns), along(index / columns));
        let mut speed = || Fx::from_ratio(dice.below(1_001) as i64 - 500, 100);
        let spec = BodySpec {
            velocity: Vec2::new(speed(), speed()),
            spin: speed(),
            restitution: Fx::ONE,
            friction: Fx::ZERO,
            ..BodySpec::new(shape(shapes), Motion::Dynamic, position)
        };
        region.insert(ObjectId(10 + index), &spec).expect("it fits");
    }
    region
}

/// Lets a region settle and measures it.
fn measure(name: &str, mut region: Region) {
    for _ in 0..STEPS {
        region.step();
    }
    time(name, region, STEPS);
}

/// Measures a region as it is, and prints one line.
fn time(name: &str, mut region: Region, steps: u32) {
    let mut times: Vec<Duration> = (0..steps)
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
