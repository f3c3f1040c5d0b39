//! Capsules and polygons, and what all shapes have in common.

use metatopia_math::{Angle, Fx, Stream, Vec2};
use metatopia_physics::{
    BodySpec, InsertError, Motion, Polygon, PolygonError, Pose, Region, Shape, ShapeError,
    limits::{self, CORNERS_MAX},
};
use metatopia_types::{ObjectId, wire};

use crate::scenes::{at, body, capsule, circle, cm, fixed, moving, polygon, put, rect, run};

/// One of each kind, none larger than a metre.
fn all_shapes() -> [Shape; 6] {
    let triangle = polygon(&[(-40, -30), (40, -30), (0, 40)]);
    let octagon = polygon(&[
        (40, 0),
        (28, 28),
        (0, 40),
        (-28, 28),
        (-40, 0),
        (-28, -28),
        (0, -40),
        (28, -28),
    ]);
    [circle(40), rect(40, 25), capsule(30, 20), capsule(7, 40), triangle, octagon]
}

#[test]
fn corners_that_are_no_polygon_are_refused_by_the_number_of_the_corner() {
    let refused = |corners: &[(i64, i64)]| {
        let corners: Vec<Vec2> = corners.iter().map(|(x, y)| at(*x, *y)).collect();
        Polygon::new(&corners).err()
    };
    let square = [(0, 0), (100, 0), (100, 100), (0, 100)];
    assert_eq!(refused(&square), None);
    assert_eq!(refused(&square[..2]), Some(PolygonError::Corners(2)));
    assert_eq!(refused(&[(0, 0); CORNERS_MAX + 1]), Some(PolygonError::Corners(CORNERS_MAX + 1)));
    assert_eq!(refused(&[]), Some(PolygonError::Corners(0)));
    let clockwise: Vec<_> = square.iter().rev().copied().collect();
    assert_eq!(refused(&clockwise), Some(PolygonError::NotConvex(1)));
    let dent = [(0, 0), (100, 0), (50, 10), (100, 100), (0, 100)];
    assert_eq!(refused(&dent), Some(PolygonError::NotConvex(2)));
    assert_eq!(refused(&[(0, 0), (50, 0), (100, 0), (0, 100)]), Some(PolygonError::NotConvex(1)));
    assert_eq!(refused(&[(0, 0), (0, 0), (100, 0), (0, 100)]), Some(PolygonError::NotConvex(1)));
    // A star of five crosses itself, and turns left at every corner.
    let star = [(0, 100), (-59, -81), (95, 31), (-95, 31), (59, -81)];
    assert!(matches!(refused(&star), Some(PolygonError::NotConvex(_))));
    assert_eq!(refused(&[(0, 0), (400, 0), (400, 10), (0, 10)]), Some(PolygonError::Thin(0)));
    assert_eq!(refused(&[(0, 0), (60_000, 0), (0, 100)]), Some(PolygonError::Far(1)));
    let extreme = [Vec2::new(Fx::MIN, Fx::MIN), Vec2::new(Fx::MAX, Fx::MIN), Vec2::ZERO];
    assert_eq!(Polygon::new(&extreme).err(), Some(PolygonError::Far(1)));
}

#[test]
fn a_polygon_has_its_centre_of_mass_at_the_position() {
    let triangle = [at(300, 500), at(600, 500), at(300, 800)];
    let corners: Vec<Vec2> = Polygon::new(&triangle).expect("it is convex").corners().collect();
    for (corner, expected) in corners.iter().zip([at(-100, -100), at(200, -100), at(-100, 200)]) {
        assert!(corner.distance(expected) < Fx::from_ratio(1, 10_000), "{corner} {expected}");
    }
}

/// What was made and is made again of its own corners stays bit for bit, and only bytes are another polygon.
#[test]
fn polygons_that_were_made_are_centred_and_a_shifted_one_in_bytes_is_not() {
    let mut dice = Stream::new(&[3; 32], "polygons", &[1]);
    let (mut made, mut forged) = (0, 0);
    while made < 300 {
        let mut place = || at(dice.below(900) as i64, dice.below(900) as i64);
        let corners = [place(), place(), place(), place()];
        let count = 3 + made % 2;
        let Ok(polygon) = Polygon::new(&corners[..count]) else { continue };
        made += 1;
        assert!(polygon.is_centred(), "{polygon:?}");
        let own: Vec<Vec2> = polygon.corners().collect();
        assert_eq!(Polygon::new(&own), Ok(polygon));
        let bytes = wire::encode(&polygon);
        for bit in 0..bytes.len() * 8 {
            let mut changed = bytes.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            let Ok(other) = wire::decode::<Polygon>(&changed, changed.len()) else { continue };
            let again = Polygon::new(&other.corners().collect::<Vec<_>>());
            assert_eq!(other.is_centred(), again == Ok(other), "{other:?}");
            forged += usize::from(!other.is_centred());
        }
    }
    assert!(forged > 1_000, "{forged}");
}

#[test]
fn sizes_of_capsules_and_polygons_have_the_limits_of_their_motion() {
    let mut region = Region::new();
    let refused = |region: &mut Region, shape, motion| {
        let error = region.insert(ObjectId(1), &BodySpec::new(shape, motion, Vec2::ZERO)).err();
        matches!(error, Some(InsertError::Shape(ShapeError::Size(_))))
    };
    let zero = Shape::Capsule { half: Fx::ZERO, radius: Fx::ONE };
    assert!(refused(&mut region, zero, Motion::Static));
    let negative = Shape::Capsule { half: Fx::ONE, radius: cm(-1) };
    assert!(refused(&mut region, negative, Motion::Static));
    let large = polygon(&[(-2_000, -2_000), (2_000, -2_000), (0, 2_000)]);
    assert!(refused(&mut region, large.clone(), Motion::Dynamic));
    assert!(!refused(&mut region, large, Motion::Static));
    let smallest = capsule(7, 7);
    put(&mut region, 2, moving(smallest, at(5_000, 0)));
    assert!(body(&region, 2).speed_max() < limits::SPEED_MAX);
}

#[test]
fn every_shape_comes_to_rest_on_every_other_one_and_sleeps() {
    for (n, lower) in all_shapes().into_iter().enumerate() {
        for (m, upper) in all_shapes().into_iter().enumerate() {
            let mut region = Region::new().with_gravity(at(0, -1_000));
            put(&mut region, 1, fixed(rect(1_000, 50), at(0, -50)));
            // A trough, so that nothing rolls away.
            put(&mut region, 2, fixed(rect(50, 300), at(-130, 300)));
            put(&mut region, 3, fixed(rect(50, 300), at(130, 300)));
            put(&mut region, 4, moving(lower.clone(), at(-10, 60)));
            put(&mut region, 5, moving(upper, at(10, 170)));
            for _ in 0..900 {
                region.step();
            }
            for id in [4, 5] {
                let body = body(&region, id);
                let place = body.position();
                assert!(body.is_asleep(), "{m} on {n}: {id} moves {} at {place}", body.velocity());
                let inside = place.x.saturating_abs() < cm(80) && place.y > cm(5);
                assert!(inside, "{m} on {n}: {id} is at {place}");
            }
        }
    }
}

#[test]
fn shapes_that_are_pushed_together_do_not_sink_into_each_other() {
    for (n, left) in all_shapes().into_iter().enumerate() {
        for (m, right) in all_shapes().into_iter().enumerate() {
            for turn in 0..6_i64 {
                let mut region = Region::new();
                let turned = |spec: BodySpec, eighths: i64| BodySpec {
                    pose: Pose {
                        angle: Angle::from_radians(Fx::from_ratio(eighths, 5)),
                        ..spec.pose
                    },
                    ..spec
                };
                put(&mut region, 1, turned(fixed(left.clone(), at(0, 0)), turn));
                let mover = turned(moving(right.clone(), at(200, 7 * turn)), 4 * turn);
                put(&mut region, 2, BodySpec { velocity: at(-300, 0), ..mover });
                for _ in 0..240 {
                    region.apply_impulse(ObjectId(2), at(-5, 0)).expect("it is dynamic");
                    region.step();
                    let (still, mover) = (body(&region, 1), body(&region, 2));
                    let offset = mover.position().saturating_sub(still.position());
                    let own = offset.rotate(still.angle().wrapping_neg());
                    let depth = still.shape().nearest(own).distance(own);
                    // The nearest part of the mover is no nearer than its inscribed circle.
                    let inscribed = inscribed(right.clone());
                    assert!(
                        depth > inscribed.saturating_sub(cm(3)),
                        "{m} into {n}, turn {turn}: {depth} of {inscribed} m left"
                    );
                }
            }
        }
    }
}

/// Returns the radius of the circle that fits into a shape.
fn inscribed(shape: Shape) -> Fx {
    match shape {
        Shape::Circle { radius } | Shape::Capsule { radius, .. } => radius,
        Shape::Rect { half } => half.x.min(half.y),
        Shape::Segment(_) | Shape::Compound(_) => Fx::ZERO,
        Shape::Polygon(polygon) => {
            let corners: Vec<Vec2> = polygon.corners().collect();
            let sides = corners.iter().zip(corners.iter().cycle().skip(1));
            let distance = |(from, to): (&Vec2, &Vec2)| {
                from.cross(*to).saturating_div(to.saturating_sub(*from).length())
            };
            sides.map(distance).min().expect("it has sides")
        }
    }
}

#[test]
fn a_ray_meets_each_shape_where_it_begins() {
    for (n, shape) in all_shapes().into_iter().enumerate() {
        for turn in 0..7_i64 {
            let mut region = Region::new();
            let angle = Angle::from_radians(Fx::from_ratio(turn * 9, 10));
            let spec = moving(shape.clone(), at(100, 200));
            put(&mut region, 1, BodySpec { pose: Pose { angle, ..spec.pose }, ..spec });
            for from in [at(-300, 200), at(100, 700), at(400, 470), at(-150, -100)] {
                let (hit, _) = region.ray_cast(from, at(100, 200), ObjectId(9));
                let fraction = hit.expect("the way ends inside").fraction;
                let way = at(100, 200).saturating_sub(from);
                let point = |fraction: Fx| from.saturating_add(way.scale(fraction));
                let step = Fx::from_ratio(1, 1_000);
                let solid = body(&region, 1);
                let note = format!("shape {n}, turn {turn}, from {from}: {fraction}");
                assert!(solid.contains(point(fraction.saturating_add(step))), "{note}");
                assert!(!solid.contains(point(fraction.saturating_sub(step))), "{note}");
            }
            let (missed, _) = region.ray_cast(at(-300, 280), at(300, 280), ObjectId(9));
            assert_eq!(missed, None, "shape {n}, turn {turn}");
            let (skipped, _) = region.ray_cast(at(-300, 200), at(300, 200), ObjectId(1));
            assert_eq!(skipped, None);
        }
    }
}

#[test]
fn the_box_around_a_shape_holds_it_and_no_more_of_the_ground() {
    for (n, shape) in all_shapes().into_iter().enumerate() {
        for turn in 0..7_i64 {
            let angle = Angle::from_radians(Fx::from_ratio(turn * 9, 10));
            let [low, high] = shape.corners_around(angle);
            // From so far away the nearest point of the shape is one that is furthest out.
            let side = |way: Vec2| {
                let from = way.scale(Fx::from_int(500));
                shape.nearest(from.rotate(angle.wrapping_neg())).rotate(angle)
            };
            let found = [
                (side(Vec2::X.scale(Fx::from_int(-1))).x, low.x),
                (side(Vec2::Y.scale(Fx::from_int(-1))).y, low.y),
                (side(Vec2::X).x, high.x),
                (side(Vec2::Y).y, high.y),
            ];
            for (side, (found, told)) in found.into_iter().enumerate() {
                let off = found.saturating_sub(told).saturating_abs();
                assert!(off < cm(1), "shape {n}, turn {turn}, side {side}: {found}, not {told}");
            }
            let half = shape.half_extents(angle);
            let most =
                Vec2::new(high.x.max(low.x.saturating_neg()), high.y.max(low.y.saturating_neg()));
            assert!(most.x <= half.x && most.y <= half.y, "shape {n}, turn {turn}");
        }
    }
}

#[test]
fn the_nearest_point_and_the_area_agree_with_what_a_shape_contains() {
    for (n, shape) in all_shapes().into_iter().enumerate() {
        let mut region = Region::new();
        put(&mut region, 1, fixed(shape.clone(), Vec2::ZERO));
        let solid = body(&region, 1);
        let mut covered = 0_i64;
        for x in -50..50 {
            for y in -50..50 {
                // Beside the lines on which boundaries run.
                let point = at(x, y).saturating_add(Vec2::new(cm(1), cm(1)).scale(Fx::HALF));
                let inside = solid.contains(point);
                covered += i64::from(inside);
                let off = shape.nearest(point).distance(point);
                let agrees = if inside { off < Fx::from_ratio(1, 10_000) } else { off > Fx::ZERO };
                assert!(agrees, "shape {n} at {point}: inside is {inside}, {off} m");
            }
        }
        let off = Fx::from_ratio(covered, 10_000).saturating_sub(shape.area()).saturating_abs();
        assert!(off < cm(1), "shape {n}: {covered} squares, {} square metres", shape.area());
        let extents = shape.half_extents(Angle::ZERO);
        assert!(extents.length() <= shape.reach().saturating_mul(Fx::from_int(2)));
    }
}

/// Anybody may make such a shape, and ask it; `Shape::nearest` of a rectangle panicked then.
#[test]
fn a_shape_that_no_body_can_have_answers_without_a_panic() {
    let sizes = [Fx::MIN, Fx::ONE.saturating_neg(), Fx::ZERO, Fx::MAX];
    for size in sizes {
        let shapes = [
            Shape::Circle { radius: size },
            Shape::Rect { half: Vec2::new(size, Fx::ONE) },
            Shape::Rect { half: Vec2::new(Fx::ONE, size) },
            Shape::Capsule { half: size, radius: Fx::ONE },
            Shape::Capsule { half: Fx::ONE, radius: size },
        ];
        for shape in shapes {
            for point in [Vec2::ZERO, at(150, -50), Vec2::new(Fx::MAX, Fx::MIN)] {
                let _answer = shape.nearest(point);
            }
            let _answers = (shape.area(), shape.reach(), shape.half_extents(Angle::EIGHTH));
            let _corners = shape.corners_around(Angle::EIGHTH);
            let spec = moving(shape, Vec2::ZERO);
            spec.check().expect_err("no body has such a size");
        }
    }
}

#[test]
fn a_circle_overlaps_the_shapes_that_come_as_near_as_its_radius() {
    let mut region = Region::new();
    for (n, shape) in (0..).zip(all_shapes()) {
        put(&mut region, 10 + n, fixed(shape, at(200 * n as i64, 0)));
    }
    // The triangle's centre of mass is 7 cm below its middle.
    let tops = [40, 25, 20, 40, 47, 40];
    for (n, top) in (0..).zip(tops) {
        let over = at(200 * n, top + 50);
        assert_eq!(region.overlapping(over, cm(51)), [ObjectId(10 + n as u64)], "shape {n}");
        assert_eq!(region.overlapping(over, cm(48)), [], "shape {n}");
        assert_eq!(region.overlapping(at(200 * n, 0), Fx::ZERO), [ObjectId(10 + n as u64)]);
    }
    assert_eq!(region.overlapping(at(500, 0), Fx::MAX).len(), 6);
    // A large radius below zero once made a box that was inside out, at which the grid failed.
    for below in [cm(-1), cm(-1_000), Fx::MIN] {
        assert_eq!(region.overlapping(at(500, 0), below), []);
        assert!(region.around(at(500, 0), below).count() <= 6);
    }
}

#[test]
fn a_ball_rolls_off_a_slope_and_a_crate_with_friction_stays() {
    let slope = BodySpec {
        pose: Pose { position: at(0, 0), angle: Angle::from_radians(cm(-30)) },
        ..fixed(rect(1_000, 50), at(0, 0))
    };
    for (shape, moves) in [(circle(30), true), (rect(30, 30), false)] {
        let mut region = Region::new().with_gravity(at(0, -1_000));
        put(&mut region, 1, slope.clone());
        let start = at(0, 90);
        let angle = Angle::from_radians(cm(-30));
        let spec = BodySpec { friction: Fx::ONE, ..moving(shape, start) };
        put(&mut region, 2, BodySpec { pose: Pose { angle, ..spec.pose }, ..spec });

        run(&mut region, 120);

        let way = body(&region, 2).position().distance(start);
        assert_eq!(way > Fx::ONE, moves, "{way} m");
    }
}
