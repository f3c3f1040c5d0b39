use metatopia_math::{Fx, Stream, Vec2};
use metatopia_types::ObjectId;

use super::{
    PairKey, PairKind, SweepEntry, SweepMemory, classified, entry, find_pairs, refill, sweep_all,
    sweep_strips, sweeps_along_x,
};
use crate::body::Body;
use crate::limits::{COORDINATE_MAX, PARTNERS_MAX};
use crate::mass_props::MassProps;
use crate::sweep_body::{Aabb, SweepBodies, SweepBody};
use crate::{BodySpec, Motion, Shape};

fn at(x: i64, y: i64) -> Vec2 {
    Vec2::new(Fx::from_ratio(x, 100), Fx::from_ratio(y, 100))
}

fn bodies_of(specs: &[BodySpec]) -> Vec<Body> {
    let body = |(id, spec)| Body::new(ObjectId(id), spec).expect("a test's bodies fit");
    (0..).zip(specs).map(body).collect()
}

fn prepared(bodies: &[Body]) -> SweepBodies {
    let mut prepared = SweepBodies::default();
    prepared.fill(bodies, &MassProps::of_all(bodies));
    prepared
}

/// Returns the entries of a sweep along the axis on which the bodies are spread further.
fn entries_of(boxes: &[Aabb]) -> Vec<SweepEntry> {
    let along_x = sweeps_along_x(boxes.iter().map(Aabb::centre));
    (0..).zip(boxes).map(|(index, aabb)| entry(index, aabb, along_x)).collect()
}

/// Returns the pairs of a sweep that compares each body with all that begin before it ends.
fn plainly_swept(entries: &[SweepEntry], bodies: &[SweepBody]) -> Vec<PairKey> {
    let mut sorted = entries.to_vec();
    sorted.sort_by_key(|entry| (entry.low, entry.index));
    let (mut found, mut partners) = (Vec::new(), vec![[0; PairKind::COUNT]; bodies.len()]);
    for (position, first) in sorted.iter().enumerate() {
        let later = sorted[position + 1..].iter().take_while(|second| second.low <= first.high);
        for second in later.filter(|second| !first.is_apart_across(second)) {
            let Some((key, owner, kind)) = classified(first, second, bodies) else { continue };
            let count = &mut partners[owner as usize][kind as usize];
            if *count < PARTNERS_MAX {
                *count += 1;
                found.push(key);
            }
        }
    }
    found.sort_unstable();
    found
}

/// Returns the pairs of a sweep of strips, if it tells them, and of a sweep of all bodies as one.
fn swept(specs: &[BodySpec]) -> (Option<Vec<u64>>, Vec<u64>) {
    let all_bodies = bodies_of(specs);
    let prepared = prepared(&all_bodies);
    let SweepBodies { bodies, boxes, .. } = &prepared;
    let (mut memory, mut strips, mut all) = (SweepMemory::default(), Vec::new(), Vec::new());
    memory.unsorted = entries_of(boxes);
    let told = sweep_strips(&mut memory, bodies, &mut strips);
    sweep_all(&mut memory, bodies, &mut all);
    strips.sort_unstable();
    all.sort_unstable();
    let mut found = Vec::new();
    find_pairs(&prepared, &all_bodies, &mut SweepMemory::default(), &mut found);
    assert_eq!(found, all);
    assert_eq!(plainly_swept(&memory.unsorted, bodies), all);
    (told.map(|()| strips), all)
}

#[test]
fn strips_find_the_pairs_that_a_sweep_of_all_bodies_finds() {
    let (mut told, mut pairs) = (0, 0);
    for seed in 0..200 {
        let mut dice = Stream::new(&[4; 32], "physics.strips", &[seed]);
        let half = [300, 2_000, 20_000, 102_400][seed as usize % 4];
        let count = dice.below(400) + 2;
        let specs: Vec<BodySpec> = (0..count)
            .map(|n| {
                let mut side = || dice.below(2 * half) as i64 - half as i64;
                let position = at(side(), side());
                let large = n % 40 == 7;
                let size = if large { side().abs() % 6_000 } else { side().abs() % 90 } + 10;
                let shape = if n % 3 == 0 {
                    Shape::Rect { half: at(size, size / 2 + 8) }
                } else {
                    Shape::Circle { radius: Fx::from_ratio(size, 100) }
                };
                let motion = if large || n % 5 == 0 { Motion::Static } else { Motion::Dynamic };
                let mut spec = BodySpec::new(shape, motion, position);
                if motion == Motion::Dynamic {
                    spec.velocity = at(side() % 3_000, side() % 3_000);
                }
                spec
            })
            .collect();
        let (strips, all) = swept(&specs);
        pairs += all.len();
        if let Some(strips) = strips {
            told += 1;
            assert_eq!(strips, all, "seed {seed}");
        }
    }
    assert!(told > 100 && pairs > 10_000, "{told} were told, of {pairs} pairs");
}

/// Returns how many pairs of boxes a sweep of all bodies as one compares.
fn compared(specs: &[BodySpec]) -> usize {
    let SweepBodies { bodies, boxes, .. } = prepared(&bodies_of(specs));
    let mut memory = SweepMemory::default();
    let entries = (0..).zip(&boxes).map(|(index, aabb)| entry(index, aabb, true));
    refill(&mut memory.unsorted, entries);
    sweep_all(&mut memory, &bodies, &mut Vec::new())
}

/// A heap once compared each body with all others for as long as it lasted, full or not, although the limits
/// said that its time is in proportion to its bodies.
#[test]
fn bodies_of_a_heap_that_are_full_are_not_compared_with_each_other() {
    let ball = |n: i64, size, motion| {
        let shape = Shape::Circle { radius: Fx::from_ratio(size, 100) };
        BodySpec::new(shape, motion, at(n * 7 % 31, n * 11 % 29))
    };
    let balls = |count: i64, motion| -> Vec<BodySpec> {
        (0..count).map(|n| ball(n, 100, motion)).collect()
    };
    let heap = vec![ball(0, 100, Motion::Dynamic); 3_000];
    assert!(compared(&heap) <= 33 * heap.len(), "{}", compared(&heap));
    let scattered = balls(3_000, Motion::Dynamic);
    assert!(compared(&scattered) <= 330 * scattered.len(), "{}", compared(&scattered));
    let walls = balls(3_000, Motion::Static);
    assert_eq!(compared(&walls), 0, "walls do not concern each other");
    let sensors: Vec<BodySpec> =
        walls.iter().map(|wall| BodySpec { sensor: true, ..wall.clone() }).collect();
    assert_eq!(compared(&sensors), 0, "neither do sensors");
}

#[test]
fn a_heap_of_all_kinds_of_bodies_has_the_pairs_of_a_plain_sweep() {
    for seed in 0..60 {
        let mut dice = Stream::new(&[4; 32], "physics.heaps", &[seed]);
        let count = dice.below(300) + 30;
        let spread = [1, 40, 300][seed as usize % 3];
        let specs: Vec<BodySpec> = (0..count)
            .map(|_| {
                let mut side = || dice.below(spread) as i64;
                let position = at(side(), side());
                let radius = Fx::from_ratio(10 + dice.below(90) as i64, 100);
                let motion =
                    [Motion::Dynamic, Motion::Dynamic, Motion::Static][dice.below(3) as usize];
                let sensor = dice.below(6) == 0;
                BodySpec { sensor, ..BodySpec::new(Shape::Circle { radius }, motion, position) }
            })
            .collect();
        assert!(!swept(&specs).1.is_empty(), "seed {seed}");
    }
}

#[test]
fn a_heap_and_large_bodies_are_swept_as_one() {
    let ball =
        |position| BodySpec::new(Shape::Circle { radius: Fx::HALF }, Motion::Dynamic, position);
    let heap = vec![ball(Vec2::ZERO); 60];
    assert_eq!(swept(&heap).0, None, "a body has more partners than it may have");
    let tower = Shape::Rect { half: at(10, 25_600) };
    let towers: Vec<BodySpec> =
        (0..30).map(|n| BodySpec::new(tower.clone(), Motion::Static, at(n * 50, 0))).collect();
    assert_eq!(swept(&towers).0, None, "they lie in too many strips");
}

#[test]
fn bodies_at_the_edges_of_the_region_are_in_a_strip() {
    let edge = COORDINATE_MAX;
    let low = edge.saturating_neg();
    // Long along the axis of the sweep, on which they are spread further.
    let wall = Shape::Rect { half: Vec2::new(Fx::ONE, Fx::from_int(256)) };
    let places = [(edge, edge), (low, low), (edge, low), (low, edge), (Fx::ZERO, edge)];
    let mut specs = Vec::new();
    for (x, y) in places {
        let (shape, place) = (Shape::Circle { radius: Fx::ONE }, Vec2::new(x, y));
        specs.push(BodySpec::new(wall.clone(), Motion::Static, place));
        specs.push(BodySpec::new(shape, Motion::Dynamic, place));
    }
    let (strips, all) = swept(&specs);
    assert_eq!(strips, Some(all.clone()));
    assert_eq!(all.len(), places.len());
}

/// Moves bodies about as steps, hits and edits do.
fn shake(specs: &mut Vec<BodySpec>, dice: &mut Stream, half: u64) {
    for spec in &mut *specs {
        let mut side = |most: u64| dice.below(2 * most + 1) as i64 - most as i64;
        let (hit, [x, y]) = (side(40), [side(3_000), side(3_000)]);
        if spec.motion == Motion::Dynamic {
            let per_step = |speed: Fx| Fx::from_bits(speed.to_bits() / 60);
            let way = Vec2::new(per_step(spec.velocity.x), per_step(spec.velocity.y));
            spec.pose.position = spec.pose.position.saturating_add(way);
            if hit == 0 {
                spec.velocity = at(x, y);
            }
        }
    }
    match dice.below(30) {
        0 if specs.len() > 2 => drop(specs.remove(dice.below(specs.len() as u64) as usize)),
        1 => {
            let mut more = specs[0].clone();
            more.pose.position = at(dice.below(half) as i64, dice.below(half) as i64);
            specs.insert(0, more);
        }
        2 => {
            let one = dice.below(specs.len() as u64) as usize;
            specs[one].sensor = !specs[one].sensor;
        }
        3 => {
            let one = dice.below(specs.len() as u64) as usize;
            specs[one].motion = Motion::Static;
        }
        _ => {}
    }
}

#[test]
fn pairs_that_are_kept_are_those_of_a_plain_sweep_in_each_step() {
    let (mut kept, mut steps, mut renewed) = (0, 0, 0);
    for seed in 0..60 {
        let mut dice = Stream::new(&[4; 32], "physics.kept", &[seed]);
        let half = [30, 600, 2_000, 20_000][seed as usize % 4];
        let mut specs: Vec<BodySpec> = (0..dice.below(120) + 20)
            .map(|n| {
                let mut side = |most: u64| dice.below(2 * most) as i64 - most as i64;
                let shape = Shape::Circle { radius: Fx::from_ratio(side(20) + 40, 100) };
                let motion = if n % 6 == 0 { Motion::Static } else { Motion::Dynamic };
                let mut spec = BodySpec::new(shape, motion, at(side(half), side(half)));
                if motion == Motion::Dynamic {
                    spec.velocity = at(side(300), side(300));
                }
                spec
            })
            .collect();
        let (mut memory, mut found) = (SweepMemory::default(), Vec::new());
        for step in 0..60 {
            let all = bodies_of(&specs);
            let swept = prepared(&all);
            let served = memory.kept.served();
            find_pairs(&swept, &all, &mut memory, &mut found);
            kept += u32::from(memory.kept.served() > served);
            renewed += u32::from(served > 0 && memory.kept.served() == 1);
            steps += 1;
            let plainly = plainly_swept(&entries_of(&swept.boxes), &swept.bodies);
            assert_eq!(found, plainly, "seed {seed}, step {step}");
            shake(&mut specs, &mut dice, half);
        }
    }
    assert!(kept > steps / 4 && renewed > 200, "{kept} of {steps} kept, {renewed} renewed");
}
