//! Measures this engine beside rapier2d, scene by scene, on one thread:
//! `cargo run --release -p metatopia-physics --features compare --example compare -- --json`.
//!
//! Afterwards it measures bodies that sleep, and how many bytes the state of both engines has.
//!
//! Both engines make their steps in turns, so that a machine that slows down slows both. A figure is the
//! median of the processor time of the last quarter of the steps. Names of scenes select them.
//! It fails if the pyramid has fallen. With `--own` only this engine plays, as for a profile (`.ci/profile`).

#![expect(
    clippy::disallowed_types,
    reason = "rapier computes in floats, and figures are ratios of times"
)]

use std::process::ExitCode;
use std::time::Duration;

use metatopia_math::Fx;
use metatopia_physics::{Motion, Pose, Region};
use rapier2d::prelude::{ColliderBuilder, PhysicsWorld, RigidBodyBuilder, Vector as RapierVector};
use rustix::time::{ClockId, clock_gettime};

#[path = "compare/scenes.rs"]
mod scenes;
#[path = "compare/states.rs"]
mod states;

use scenes::{CONTESTS, Contest, Form, Plan, Surface};

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
    // One that fell ends no measurement of the others.
    let fallen = wanted.filter(|contest| !measure(contest, json)).count();
    if !json {
        println!("scene            figure                  ours       rapier  ratio   bound");
    }
    states::measure(is_wanted, json);
    if fallen == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Plays a scene in this engine alone. What falls must have fallen before a profile counts; what stands, stands.
fn play_own(contest: &Contest) {
    let mut ours = (contest.plan)().region();
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
    let plan = (contest.plan)();
    let (mut ours, mut theirs) = (plan.region(), world(&plan));
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

/// Builds a scene in rapier.
fn world(plan: &Plan) -> PhysicsWorld {
    let vector = |(x, y): (f64, f64)| RapierVector::new(x as f32, y as f32);
    let mut world = PhysicsWorld::new();
    world.gravity = vector((0.0, plan.gravity));
    for planned in &plan.bodies {
        let body = if planned.moves {
            RigidBodyBuilder::dynamic().can_sleep(false)
        } else {
            RigidBodyBuilder::fixed()
        };
        let collider = match planned.form {
            Form::Ball(radius) => ColliderBuilder::ball(radius as f32),
            Form::Block(w, h) => ColliderBuilder::cuboid(w as f32, h as f32),
        };
        let Surface(friction, restitution) = planned.surface;
        let body = body.translation(vector(planned.at)).linvel(vector(planned.velocity));
        let collider = collider.friction(friction as f32).restitution(restitution as f32);
        world.insert(body, collider);
    }
    world
}
