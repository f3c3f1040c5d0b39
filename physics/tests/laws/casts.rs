//! Shape casts and overlaps of shapes.

use metatopia_math::{Angle, Fx, Stream, Vec2};
use metatopia_physics::{
    BodySpec, Filter, Motion, Polygon, Pose, Region, Shape, ShapeCast, limits::RAY_LENGTH_MAX,
};
use metatopia_types::ObjectId;

use crate::scenes::{at, capsule, circle, cm, fixed, put, rect};

const NOBODY: ObjectId = ObjectId(u64::MAX);

/// Draws a shape of one of the four kinds.
fn drawn(dice: &mut Stream) -> Shape {
    let kind = dice.below(4);
    let mut size = || dice.below(150) as i64 + 20;
    match kind {
        0 => circle(size()),
        1 => rect(size(), size()),
        2 => capsule(size(), size()),
        _ => {
            let (a, b, c) = (size(), size(), size());
            let corners = [at(-a, -b), at(c, -a), at(b + 20, c), at(-c, b)];
            Polygon::new(&corners).map_or(circle(a), Shape::Polygon)
        }
    }
}

fn pose(dice: &mut Stream, half: u64) -> Pose {
    let mut side = || dice.below(2 * half) as i64 - half as i64;
    let position = at(side(), side());
    Pose { position, angle: Angle::from_bits(dice.next_u64() as u32) }
}

fn cast(shape: Shape, pose: Pose, way: Vec2) -> ShapeCast {
    ShapeCast { shape, pose, way, skip: NOBODY, filter: Filter::ALL }
}

/// Returns whether a step finds that a shape and a body touch: by the narrow phase, which finds contacts
/// in another way than casts do.
fn touch_in_a_step(one: Shape, first: Pose, other: Shape, second: Pose) -> bool {
    let mut region = Region::new();
    let sensor = |shape, pose: Pose, motion| BodySpec {
        pose,
        sensor: motion == Motion::Static,
        ..BodySpec::new(shape, motion, pose.position)
    };
    put(&mut region, 1, sensor(other, second, Motion::Static));
    put(&mut region, 2, sensor(one, first, Motion::Dynamic));
    !region.step().is_empty()
}

/// Returns the shape, moved on by a little towards or away from another position.
fn nudged(pose: Pose, towards: Vec2, by: i64) -> Pose {
    let way = towards.saturating_sub(pose.position).normalize().unwrap_or(at(100, 0));
    Pose { position: pose.position.saturating_add(way.scale(cm(by))), ..pose }
}

#[test]
fn a_shape_overlaps_what_a_step_finds_that_it_touches() {
    let (mut over, mut apart) = (0, 0);
    for seed in 0..2_000 {
        let mut dice = Stream::new(&[5; 32], "physics.casts.overlaps", &[seed]);
        let (one, other) = (drawn(&mut dice), drawn(&mut dice));
        let (first, second) = (pose(&mut dice, 150), pose(&mut dice, 150));
        let mut region = Region::new();
        put(&mut region, 1, BodySpec { pose: second, ..fixed(other.clone(), second.position) });
        let found = region.overlapping_shape(&one, first, Filter::ALL).expect("a shape");
        let touches = |by| {
            let first = nudged(first, second.position, by);
            touch_in_a_step(one.clone(), first, other.clone(), second)
        };
        // Where a centimetre decides, both may be right.
        match (touches(-1), touches(1)) {
            (true, true) => {
                assert_eq!(found, [ObjectId(1)], "seed {seed}: {one:?} {other:?}");
                over += 1;
            }
            (false, false) => {
                assert_eq!(found, [], "seed {seed}: {one:?} {other:?}");
                apart += 1;
            }
            _ => {}
        }
    }
    assert!(over > 400 && apart > 400, "{over} overlap and {apart} do not");
}

#[test]
fn a_cast_shape_overlaps_nothing_before_it_meets_a_body_and_the_body_where_it_does() {
    let (mut met, mut free) = (0, 0);
    for seed in 0..600 {
        let mut dice = Stream::new(&[6; 32], "physics.casts", &[seed]);
        let mut region = Region::new();
        for id in 0..8 {
            let (shape, pose) = (drawn(&mut dice), pose(&mut dice, 1_000));
            put(&mut region, id, BodySpec { pose, ..fixed(shape, pose.position) });
        }
        let shape = drawn(&mut dice);
        let (from, to) = (pose(&mut dice, 1_200), pose(&mut dice, 1_200));
        let way = to.position.saturating_sub(from.position);
        let (hit, looked) = region.shape_cast(&cast(shape.clone(), from, way)).expect("a shape");
        let along =
            |part: Fx| Pose { position: from.position.saturating_add(way.scale(part)), ..from };
        let over = |part: Fx| region.overlapping_shape(&shape, along(part), Filter::ALL);
        let end = hit.map_or(Fx::ONE, |hit| hit.fraction);
        let before = (0..200).map(|n| Fx::from_ratio(n, 200)).take_while(|part| *part < end);
        for part in before {
            assert_eq!(over(part), Ok(vec![]), "seed {seed} at {part} before {end}");
        }
        let Some(hit) = hit else {
            free += 1;
            continue;
        };
        assert!(looked > 0);
        // A millimetre further, where rounding does not decide.
        let more = Fx::from_ratio(1, 1_000).saturating_div(way.length());
        let there = over(hit.fraction.saturating_add(more)).expect("a shape");
        assert!(there.contains(&hit.id), "seed {seed}: {hit:?} of {there:?}");
        met += 1;
    }
    assert!(met > 100 && free > 100, "{met} met something, {free} nothing");
}

#[test]
fn a_cast_names_the_first_body_skips_one_and_passes_through_sensors_and_filters() {
    let mut region = Region::new();
    put(&mut region, 1, BodySpec { sensor: true, ..fixed(circle(50), at(200, 0)) });
    put(&mut region, 2, fixed(circle(50), at(400, 0)));
    let filter = Filter { category: 2, mask: 2 };
    put(&mut region, 3, BodySpec { filter, ..fixed(circle(50), at(600, 0)) });
    put(&mut region, 4, fixed(rect(50, 50), at(800, 0)));
    let way = at(1_000, 0);
    let ball = cast(circle(50), Pose::default(), way);
    let hit = |cast: ShapeCast| region.shape_cast(&cast).expect("a shape").0;

    let first = hit(ball.clone()).expect("a body is there");
    assert_eq!(first.id, ObjectId(2));
    assert!(first.fraction.saturating_sub(cm(30)).saturating_abs() < Fx::from_ratio(1, 100_000));
    assert_eq!(
        hit(ShapeCast { skip: ObjectId(2), ..ball.clone() }).map(|hit| hit.id),
        Some(ObjectId(3))
    );
    let other = Filter { category: 1, mask: 1 };
    let next = ShapeCast { skip: ObjectId(2), filter: other, ..ball.clone() };
    assert_eq!(hit(next).map(|hit| hit.id), Some(ObjectId(4)));
    // From the start of the way it is over the body already.
    let inside = Pose { position: at(400, 20), ..Pose::default() };
    let over = hit(ShapeCast { pose: inside, ..ball }).expect("it is there");
    assert_eq!((over.id, over.fraction), (ObjectId(2), Fx::ZERO));
}

#[test]
fn a_shape_that_no_body_can_have_is_refused_and_a_way_too_long_meets_nothing() {
    let mut region = Region::new();
    let far = Fx::from_int(RAY_LENGTH_MAX + 3);
    put(&mut region, 1, fixed(circle(100), Vec2::new(far, Fx::ZERO)));
    let way = Vec2::new(Fx::from_int(400), Fx::ZERO);
    assert_eq!(
        region.shape_cast(&cast(circle(100), Pose::default(), way)).map(|hit| hit.0),
        Ok(None)
    );
    let near = Pose { position: at(400, 0), ..Pose::default() };
    let hit = region.shape_cast(&cast(circle(100), near, way)).expect("a shape").0;
    assert_eq!(hit.map(|hit| hit.id), Some(ObjectId(1)));

    assert!(region.shape_cast(&cast(circle(1), Pose::default(), way)).is_err());
    assert!(region.overlapping_shape(&rect(5_000, 50), Pose::default(), Filter::ALL).is_err());
}
