//! Measures this engine beside rapier2d, scene by scene, on one thread:
//! `cargo run --release -p metatopia-physics --features compare --example compare -- --json`.
//!
//! Afterwards it measures bodies that sleep, and how many bytes the state of both engines has.
//!
//! Both engines make their steps in turns, so that a machine that slows down slows both. A figure is the
//! median of the processor time of the last quarter of the steps. Names of scenes select them.
//! It fails if the pyramid has fallen. With `--own` only this engine plays, as for a profile (`.ci/profile`).

use std::process::ExitCode;
use std::time::Duration;

use metatopia_math::{Fx, Vec2};
use metatopia_physics::{BodySpec, Motion, Pose, Region, Shape};
use metatopia_types::ObjectId;
use rapier2d::prelude::{
    ColliderBuilder, PhysicsWorld, RigidBodyBuilder, RigidBodyHandle, Vector as RapierVector,
};
use rustix::time::{ClockId, clock_gettime};

#[path = "compare/states.rs"]
mod states;

/// A scene that both engines play.
struct Contest {
    name: &'static str,
    /// The greatest ratio of our time to the other one that we promise.
    bound: f64,
    steps: usize,
    build: fn() -> Pair,
    /// Whether the bodies are crates that must stand where they began.
    stands: bool,
}

const CONTESTS: [Contest; 4] = [
    Contest { name: "sparse_10000", bound: 0.5, steps: 400, build: sparse, stands: false },
    Contest {
        name: "balls_5000",
        bound: 1.5,
        steps: 600,
        build: || falling(5_000, |_| true),
        stands: false,
    },
    Contest {
        name: "mix_5000",
        bound: 1.5,
        steps: 600,
        build: || falling(5_000, |n| n % 2 == 0),
        stands: false,
    },
    Contest { name: "pyramid_100", bound: 1.75, steps: 500, build: pyramid, stands: true },
];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let json = words.iter().any(|word| word == "--json");
    let named: Vec<&String> = words.iter().filter(|word| !word.starts_with("--")).collect();
    let is_wanted = |name: &str| named.is_empty() || named.iter().any(|wanted| *wanted == name);
    let known: Vec<&str> =
        CONTESTS.iter().map(|contest| contest.name).chain(states::names()).collect();
    if let Some(unknown) = named.iter().find(|name| !known.contains(&name.as_str())) {
        eprintln!("there is no scene {unknown}; there are {}", known.join(", "));
        return ExitCode::from(2);
    }
    let wanted = CONTESTS.iter().filter(|contest| is_wanted(contest.name));
    if words.iter().any(|word| word == "--own") {
        wanted.for_each(play_own);
        return ExitCode::SUCCESS;
    }
    if !json {
        println!(
            "scene           ours ms  rapier ms   ratio   bound   fall of the highest body, m"
        );
    }
    let all_stood = wanted.fold(true, |all_stood, contest| measure(contest, json) && all_stood);
    if !json {
        println!("scene            figure                  ours       rapier  ratio   bound");
    }
    states::measure(is_wanted, json);
    if all_stood { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Plays a scene in this engine alone. What falls must have fallen before a profile counts; what stands, stands.
fn play_own(contest: &Contest) {
    let mut ours = (contest.build)().ours;
    for _ in 0..if contest.stands { 30 } else { contest.steps / 2 } {
        ours.step();
    }
    counted_steps(&mut ours);
}

/// Makes the steps that a profile counts.
#[inline(never)]
fn counted_steps(ours: &mut Region) {
    for _ in 0..20 {
        ours.step();
    }
}

/// Plays a scene in both engines, in turns, and prints a row. Returns whether what must stand still does.
fn measure(contest: &Contest, json: bool) -> bool {
    let Pair { mut ours, mut theirs, .. } = (contest.build)();
    let began = ours.clone();
    let (mut our_times, mut their_times) = (Vec::new(), Vec::new());
    for _ in 0..contest.steps {
        our_times.push(timed(|| drop(ours.step())));
        their_times.push(timed(|| theirs.step()));
    }
    let our_median = median(&our_times).as_secs_f64() * 1_000.0;
    let their_median = median(&their_times).as_secs_f64() * 1_000.0;
    let (name, bound) = (contest.name, contest.bound);
    let ratio = our_median / their_median;
    let stood = contest.stands.then(|| stands(&began, &ours));
    if json {
        let stood = stood.map_or_else(String::new, |stood| format!(",\"stood\":{stood}"));
        println!(
            "{{\"scene\":\"{name}\",\"ours_ms\":{our_median:.3},\"rapier_ms\":{their_median:.3},\
             \"ratio\":{ratio:.3},\"bound\":{bound}{stood}}}"
        );
    } else {
        let fell = highest(&began) - highest(&ours);
        let stood = match stood {
            Some(true) => ", stood",
            Some(false) => ", HAS FALLEN",
            None => "",
        };
        println!(
            "{name:14} {our_median:8.3} {their_median:10.3} {ratio:7.2} {bound:7.2}   {fell:.3}{stood}"
        );
    }
    stood.unwrap_or(true)
}

/// Returns the processor time that this thread spends on `work`.
fn timed(work: impl FnOnce()) -> Duration {
    let now = || {
        let time = clock_gettime(ClockId::ThreadCPUTime);
        Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.try_into().unwrap_or(0))
    };
    let start = now();
    work();
    now() - start
}

/// Returns the median of the last quarter.
fn median(times: &[Duration]) -> Duration {
    let mut last = times[times.len() - times.len() / 4..].to_vec();
    last.sort();
    last[last.len() / 2]
}

/// Returns the height of the highest moving body, in metres.
fn highest(region: &Region) -> f64 {
    let moving = region.bodies().iter().filter(|body| body.motion() == Motion::Dynamic);
    let top = moving.map(|body| body.position().y).max().unwrap_or(Fx::ZERO);
    top.to_bits() as f64 / 4_294_967_296.0
}

/// Returns whether the crates of a pyramid stand, each on the row below it. Contacts are a little soft, so what stands
/// sinks, and the flanks give way by half a crate: each crate keeps 97 % of its height above the ground, less a quarter
/// of a metre, and is turned by less than a tenth of a radian. One that falls off its row is lower by a metre.
fn stands(began: &Region, now: &Region) -> bool {
    let moving = |region: &Region| -> Vec<Pose> {
        let bodies = region.bodies().iter().filter(|body| body.motion() == Motion::Dynamic);
        bodies.map(metatopia_physics::Body::pose).collect()
    };
    moving(began).iter().zip(moving(now)).all(|(before, after)| {
        let kept = before.position.y.saturating_mul(Fx::from_ratio(97, 100));
        let sine = after.angle.sin_cos().0;
        after.position.y > kept.saturating_sub(Fx::from_ratio(1, 4))
            && sine.saturating_abs() < Fx::from_ratio(1, 10)
    })
}

/// The same scene in both engines.
struct Pair {
    ours: Region,
    theirs: PhysicsWorld,
    next: u64,
}

/// A shape of both engines.
#[derive(Clone, Copy)]
enum Form {
    Ball(f64),
    Block(f64, f64),
}

/// The surface of a body: its friction and its restitution.
#[derive(Clone, Copy)]
struct Surface(f64, f64);

const ROUGH: Surface = Surface(0.6, 0.0);
const BOUNCY: Surface = Surface(0.0, 1.0);

impl Pair {
    fn new(gravity: f64) -> Self {
        let mut theirs = PhysicsWorld::new();
        theirs.gravity = RapierVector::new(0.0, gravity as f32);
        let ours = Region::new().with_gravity(vector(0.0, gravity)).with_sleeping(false);
        Self { ours, theirs, next: 0 }
    }

    /// Inserts a wall with this centre and these half widths.
    fn wall(&mut self, at: (f64, f64), half: (f64, f64), surface: Surface) {
        let body = RigidBodyBuilder::fixed();
        self.add(body, Motion::Static, at, (0.0, 0.0), Form::Block(half.0, half.1), surface);
    }

    /// Inserts a body that moves.
    fn mover(&mut self, at: (f64, f64), velocity: (f64, f64), form: Form, surface: Surface) {
        let body = RigidBodyBuilder::dynamic().can_sleep(false);
        self.add(body, Motion::Dynamic, at, velocity, form, surface);
    }

    fn add(
        &mut self,
        body: RigidBodyBuilder,
        motion: Motion,
        (x, y): (f64, f64),
        (vx, vy): (f64, f64),
        form: Form,
        Surface(friction, restitution): Surface,
    ) -> RigidBodyHandle {
        let (shape, collider) = match form {
            Form::Ball(radius) => {
                (Shape::Circle { radius: fx(radius) }, ColliderBuilder::ball(radius as f32))
            }
            Form::Block(w, h) => {
                (Shape::Rect { half: vector(w, h) }, ColliderBuilder::cuboid(w as f32, h as f32))
            }
        };
        let spec = BodySpec {
            velocity: vector(vx, vy),
            friction: fx(friction),
            restitution: fx(restitution),
            ..BodySpec::new(shape, motion, vector(x, y))
        };
        self.ours.insert(ObjectId(self.next), &spec).expect("a scene's bodies fit");
        self.next += 1;
        let body = body
            .translation(RapierVector::new(x as f32, y as f32))
            .linvel(RapierVector::new(vx as f32, vy as f32));
        let collider = collider.friction(friction as f32).restitution(restitution as f32);
        self.theirs.insert(body, collider).0
    }
}

fn fx(value: f64) -> Fx {
    Fx::from_bits((value * 4_294_967_296.0).round() as i64)
}

fn vector(x: f64, y: f64) -> Vec2 {
    Vec2::new(fx(x), fx(y))
}

/// A generator of numbers from 0 to 1 that both engines' scenes begin with.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 40) as f64 / f64::from(1 << 24)
    }

    /// Returns a number from -1/2 to 1/2.
    fn around_zero(&mut self) -> f64 {
        self.next() - 0.5
    }
}

const SEED: u64 = 0x9E37_79B9_7F4A_7C15;

/// Builds 10,000 balls that move over a square kilometre, seen from above, and lose no speed.
fn sparse() -> Pair {
    let (mut pair, mut dice, half) = (Pair::new(0.0), Dice(SEED), 500.0);
    for side in [-half - 5.0, half + 5.0] {
        for part in [-255.0, 255.0] {
            pair.wall((part, side), (255.0, 5.0), BOUNCY);
            pair.wall((side, part), (5.0, 255.0), BOUNCY);
        }
    }
    for n in 0..10_000 {
        let along = |cell: i32| (f64::from(cell) + 0.5) * 10.0 - half;
        let at = |cell: i32, dice: &mut Dice| along(cell) + dice.around_zero() * 0.3;
        let at = (at(n % 100, &mut dice), at(n / 100, &mut dice));
        let velocity = (dice.around_zero() * 10.0, dice.around_zero() * 10.0);
        pair.mover(at, velocity, Form::Ball(0.5), BOUNCY);
    }
    pair
}

/// Builds bodies that fall into a walled arena and come to rest in a pile.
fn falling(count: i32, is_ball: fn(i32) -> bool) -> Pair {
    let (mut pair, mut dice) = (Pair::new(-10.0), Dice(SEED));
    let half = 61.0;
    pair.wall((0.0, -5.0), (half + 10.0, 5.0), ROUGH);
    for side in [-half - 5.0, half + 5.0] {
        pair.wall((side, 240.0), (5.0, 250.0), ROUGH);
    }
    for n in 0..count {
        let (column, row) = (f64::from(n % 100), f64::from(n / 100));
        let x = (column + 0.5) * 1.2 - 60.0 + dice.around_zero() * 0.1;
        let form = if is_ball(n) { Form::Ball(0.5) } else { Form::Block(0.5, 0.5) };
        pair.mover((x, 1.0 + row * 1.2), (0.0, 0.0), form, ROUGH);
    }
    pair
}

/// Builds a pyramid of a hundred rows of crates.
fn pyramid() -> Pair {
    let mut pair = Pair::new(-10.0);
    pair.wall((0.0, -1.0), (200.0, 1.0), ROUGH);
    for row in 0..100 {
        for column in row..100 {
            let x = (f64::from(row) + 1.0) * 0.5 + f64::from(column - row) - 50.0;
            pair.mover((x, f64::from(row) + 0.5), (0.0, 0.0), Form::Block(0.5, 0.5), ROUGH);
        }
    }
    pair
}
