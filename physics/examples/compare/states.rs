//! What bodies cost that rest, and what it takes to write a whole state and to read it.

use metatopia_math::{Fx, Vec2};
use metatopia_physics::{BodySpec, Motion, Region, Shape};
use metatopia_types::ObjectId;
use rapier2d::prelude::PhysicsWorld;

use super::scenes::{Plan, falling, sparse};
use super::{median, timed, world};

/// The bodies of these scenes.
const BODIES: i32 = 10_000;

/// The most that a step of sleeping bodies may take, in milliseconds.
const ASLEEP_MS: f64 = 0.05;

/// The most that our snapshot may have of the other one's bytes.
const BYTES_RATIO: f64 = 0.2;

/// The most that it may take to make a region of a snapshot, in milliseconds.
const RESTORE_MS: f64 = 5.0;

/// A scene whose state is written, after so many steps.
type Written = (&'static str, usize, fn() -> Plan);

const WRITTEN: [Written; 2] =
    [("sparse_10000", 60, sparse), ("mix_10000", 400, || falling(BODIES, |n| n % 2 == 0))];

/// Returns the names of the scenes that this measures.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    ["asleep_10000", "one_awake_10000"].into_iter().chain(WRITTEN.map(|(name, ..)| name))
}

/// Measures the scenes that are wanted, and prints a row for each figure.
pub(crate) fn measure(is_wanted: impl Fn(&str) -> bool, json: bool) {
    if is_wanted("asleep_10000") || is_wanted("one_awake_10000") {
        let mut region = asleep();
        row("asleep_10000", "step_ms", steps(&mut region), None, ASLEEP_MS, json);
        let mut walker = BodySpec::new(
            Shape::Circle { radius: Fx::HALF },
            Motion::Kinematic,
            Vec2::new(Fx::from_int(-400), Fx::from_int(-400)),
        );
        walker.spin = Fx::ONE;
        region.insert(ObjectId(99_999), &walker).expect("there is room");
        row("one_awake_10000", "step_ms", steps(&mut region), None, ASLEEP_MS, json);
    }
    for (name, count, build) in WRITTEN {
        if is_wanted(name) {
            let plan = build();
            let (mut ours, mut theirs) = (plan.region(), world(&plan));
            for _ in 0..count {
                ours.step();
                theirs.step();
            }
            written(name, &ours, &theirs, json);
        }
    }
}

/// Builds bodies that rest on the ground, seen from above, a little apart.
fn asleep() -> Region {
    let mut region = Region::new();
    for n in 0..BODIES {
        let (x, y) = (n % 100 * 3 - 150, n / 100 * 3 - 150);
        let at = Vec2::new(Fx::from_int(x), Fx::from_int(y));
        let shape = Shape::Rect { half: Vec2::new(Fx::HALF, Fx::HALF) };
        let id = ObjectId(n.unsigned_abs().into());
        region.insert(id, &BodySpec::new(shape, Motion::Dynamic, at)).expect("it fits");
    }
    while !region.is_asleep() {
        region.step();
    }
    region
}

/// Returns the milliseconds of a step.
fn steps(region: &mut Region) -> f64 {
    let times: Vec<_> = (0..1_000).map(|_| timed(|| drop(region.step()))).collect();
    median(&times).as_secs_f64() * 1_000.0
}

/// Writes and reads the state of both engines.
fn written(name: &str, ours: &Region, theirs: &PhysicsWorld, json: bool) {
    let bytes = ours.snapshot();
    let their_bytes = postcard::to_allocvec(theirs).expect("rapier's world is written");
    let (our_length, their_length) = (bytes.len() as f64, their_bytes.len() as f64);
    row(name, "snapshot_bytes", our_length, Some(their_length), BYTES_RATIO, json);
    let (mut write, mut read, mut their_read) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..40 {
        write.push(timed(|| assert_eq!(ours.snapshot().len(), bytes.len())));
        read.push(timed(|| {
            let region = Region::from_snapshot(&bytes).expect("our own snapshot");
            assert_eq!(region.bodies().len(), ours.bodies().len());
            // To free it is no part of reading it.
            Box::leak(Box::new(region));
        }));
        their_read.push(timed(|| {
            let world: PhysicsWorld = postcard::from_bytes(&their_bytes).expect("its own bytes");
            Box::leak(Box::new(world));
        }));
    }
    let ms = |times: &[_]| median(times).as_secs_f64() * 1_000.0;
    row(name, "restore_ms", ms(&read), Some(ms(&their_read)), RESTORE_MS, json);
    row(name, "write_ms", ms(&write), None, RESTORE_MS, json);
}

/// Prints a figure. With a ratio of bytes the bound is that of the ratio, else that of our own figure.
fn row(scene: &str, what: &str, ours: f64, theirs: Option<f64>, bound: f64, json: bool) {
    let ratio = theirs.map(|theirs| ours / theirs);
    let found = if what == "snapshot_bytes" { ratio.unwrap_or(ours) } else { ours };
    let ok = found <= bound;
    if json {
        let theirs = theirs.map_or_else(String::new, |theirs| {
            format!("\"rapier\":{theirs:.3},\"ratio\":{:.3},", ours / theirs)
        });
        println!(
            "{{\"scene\":\"{scene}\",\"figure\":\"{what}\",\"ours\":{ours:.4},{theirs}\
             \"bound\":{bound},\"ok\":{ok}}}"
        );
    } else {
        let theirs = theirs.map_or_else(|| "-".to_owned(), |theirs| format!("{theirs:.3}"));
        let ratio = ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.2}"));
        let verdict = if ok { "" } else { "   NOT MET" };
        println!("{scene:16} {what:15} {ours:12.4} {theirs:>12} {ratio:>6} {bound:7.2}{verdict}");
    }
}
