//! Plays scenes on both tiers, and prints what came of them, how long steps took and how large a state is:
//! `cargo run --release -p metatopia-physics-rapier --example tiers`.
//!
//! The third row of a scene is the second tier where it forgets what rapier cached before every step. So
//! one sees what the state is for.

use std::time::{Duration, Instant};

use metatopia_math::{Fx, Vec2};
use metatopia_physics::{BodySpec, Motion, Region, Shape, Touch};
use metatopia_physics_rapier::{Newton2, limits::BODIES_MAX};
use metatopia_types::ObjectId;

/// A scene by its name, how many steps of it are played, and how it is built.
type NamedScene = (&'static str, usize, fn() -> Region);

const SCENES: [NamedScene; 4] =
    [("ball", 300, ball), ("stack", 900, stack), ("slide", 200, slide), ("pile", 400, pile)];

/// What moves the bodies.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Choice {
    Newton1,
    Newton2,
    Forgetful,
}

fn main() {
    println!(
        "scene  tier       highest, m   way, m  began  ended  ms/step  state, B  write ms  read ms"
    );
    for (name, steps, build) in SCENES {
        for choice in [Choice::Newton1, Choice::Newton2, Choice::Forgetful] {
            play(name, steps, build(), choice);
        }
    }
}

/// Plays a scene and prints its row.
fn play(name: &str, steps: usize, region: Region, choice: Choice) {
    let cold = |region: Region| region.with_tier(Box::new(Newton2::new())).expect("few bodies");
    let mut region = if choice == Choice::Newton1 { region } else { cold(region) };
    let (mut times, mut began, mut ended) = (Vec::new(), 0, 0);
    for _ in 0..steps {
        if choice == Choice::Forgetful {
            region = cold(region);
        }
        let start = Instant::now();
        let touches = region.step();
        times.push(start.elapsed());
        let begins = touches.iter().filter(|touch| matches!(touch, Touch::Began { .. })).count();
        began += begins;
        ended += touches.len() - begins;
    }
    times.sort_unstable();
    let start = Instant::now();
    let state = region.tier_state().unwrap_or_default();
    let written = start.elapsed();
    let start = Instant::now();
    let read_back = region.tier().map(|_| Newton2::restore(&state));
    let read = start.elapsed();
    assert!(read_back.is_none_or(|tier| tier.is_ok()), "the state can be read back");
    let dynamic = region.bodies().iter().filter(|body| body.motion() == Motion::Dynamic);
    let (x, y): (Vec<f64>, Vec<f64>) =
        dynamic.map(|body| (metres(body.position().x), metres(body.position().y))).unzip();
    println!(
        "{name:6} {tier:9} {highest:11.4} {way:8.4} {began:6} {ended:6} {median:8.3} {bytes:9} \
         {written:9.2} {read:8.2}",
        tier = match choice {
            Choice::Newton1 => "newton1",
            Choice::Newton2 => "newton2",
            Choice::Forgetful => "forgetful",
        },
        highest = y.iter().copied().fold(f64::MIN, f64::max),
        way = x.iter().copied().fold(f64::MIN, f64::max),
        median = milliseconds(times[times.len() / 2]),
        bytes = state.len(),
        written = milliseconds(written),
        read = milliseconds(read),
    );
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}

fn metres(value: Fx) -> f64 {
    value.to_bits() as f64 / 4_294_967_296.0
}

/// Returns a position or velocity in hundredths.
fn at(x: i64, y: i64) -> Vec2 {
    Vec2::new(Fx::from_ratio(x, 100), Fx::from_ratio(y, 100))
}

fn put(region: &mut Region, id: u64, spec: BodySpec) {
    region.insert(ObjectId(id), &spec).expect("a scene's bodies fit");
}

/// Ground under gravity.
fn ground() -> Region {
    let mut region = Region::new().with_gravity(at(0, -1_000));
    let floor = Shape::Rect { half: at(10_000, 100) };
    put(&mut region, 1, BodySpec::new(floor, Motion::Static, at(0, -100)));
    region
}

/// A ball that falls, and rolls.
fn ball() -> Region {
    let mut region = ground();
    let round = Shape::Circle { radius: Fx::HALF };
    let spec = BodySpec::new(round, Motion::Dynamic, at(0, 400));
    put(&mut region, 2, BodySpec { velocity: at(100, 0), angular_damping: Fx::ONE, ..spec });
    region
}

fn square() -> Shape {
    Shape::Rect { half: Vec2::new(Fx::HALF, Fx::HALF) }
}

/// A stack of ten crates.
fn stack() -> Region {
    let mut region = ground();
    for row in 0..10 {
        let spec = BodySpec::new(square(), Motion::Dynamic, at(0, 50 + row * 100));
        put(&mut region, 2 + row as u64, spec);
    }
    region
}

/// A crate that slides until friction stops it.
fn slide() -> Region {
    let mut region = ground();
    let spec = BodySpec::new(square(), Motion::Dynamic, at(0, 50));
    put(&mut region, 2, BodySpec { velocity: at(500, 0), ..spec });
    region
}

/// Returns a region of as many balls and crates as the second tier moves, which fall between two walls.
fn pile() -> Region {
    let mut region = ground();
    for (id, x) in [(2, -3_100), (3, 3_100)] {
        let wall = Shape::Rect { half: at(100, 10_000) };
        put(&mut region, id, BodySpec::new(wall, Motion::Static, at(x, 10_000)));
    }
    for n in 0..BODIES_MAX as i64 - 3 {
        let place = at(n % 50 * 118 - 2_890 + n * 7 % 11, 60 + n / 50 * 120);
        let shape = if n % 2 == 0 { square() } else { Shape::Circle { radius: Fx::HALF } };
        put(&mut region, 10 + n as u64, BodySpec::new(shape, Motion::Dynamic, place));
    }
    region
}
