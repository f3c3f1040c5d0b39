//! Segments and chains: thin ground that bodies rest on, slide over and cannot pass.

use metatopia_math::{Angle, Fx, Vec2};
use metatopia_physics::{
    BodySpec, ChainError, Filter, LineSegment, Motion, Pose, Region, SegmentChain, SegmentError,
    Shape, ShapeCast, ShapeError, limits,
};
use metatopia_types::{ObjectId, wire};

use crate::scenes::{at, body, capsule, circle, cm, fixed, moving, polygon, put, rect, run};

/// The id of what moves.
const MOVER: u64 = 1_000;

const NOBODY: ObjectId = ObjectId(u64::MAX);

fn falling() -> Region {
    Region::new().with_gravity(at(0, -1_000))
}

fn like(friction: i64) -> BodySpec {
    BodySpec { friction: cm(friction), ..fixed(circle(50), Vec2::ZERO) }
}

/// Inserts a chain through points in centimetres, with ids from 1.
fn lay(region: &mut Region, points: &[(i64, i64)], closed: bool, friction: i64) {
    let points: Vec<Vec2> = points.iter().map(|(x, y)| at(*x, *y)).collect();
    let chain = SegmentChain::new(&points, closed).expect("it is a chain");
    for (id, spec) in (1..).zip(chain.bodies(&like(friction))) {
        put(region, id, spec);
    }
}

/// Returns the points of a flat chain of 32 segments of a metre.
fn flat() -> Vec<(i64, i64)> {
    (0..=32).map(|n| (n * 100 - 1_600, 0)).collect()
}

fn segment(from: Vec2, to: Vec2) -> Shape {
    Shape::Segment(LineSegment::new(from, to).expect("it is a segment"))
}

fn far(a: Fx, b: Fx) -> Fx {
    a.saturating_sub(b).saturating_abs()
}

#[test]
fn what_slides_along_a_flat_chain_moves_as_on_one_long_box() {
    let hexagon = polygon(&[(50, 0), (25, 43), (-25, 43), (-50, 0), (-25, -43), (25, -43)]);
    let sliders = [(rect(50, 50), 50), (rect(20, 60), 60), (capsule(50, 30), 30), (hexagon, 43)];
    for (n, (shape, height)) in sliders.into_iter().enumerate() {
        for (friction, backwards) in [(0, false), (5, false), (0, true), (5, true)] {
            let (mut chain, mut floor) = (falling(), falling());
            let mut points = flat();
            if backwards {
                points.reverse();
            }
            lay(&mut chain, &points, false, friction);
            let long = BodySpec { friction: cm(friction), ..fixed(rect(1_600, 100), at(0, -100)) };
            put(&mut floor, 1, long);
            let slider = BodySpec {
                velocity: at(600, 0),
                friction: cm(friction),
                ..moving(shape.clone(), at(-1_400, height))
            };
            for region in [&mut chain, &mut floor] {
                put(region, MOVER, slider.clone());
            }
            // New points of contact begin without an impulse. That is no push along the chain; but with
            // friction, which takes two metres a second here, it costs up to 2 % of that.
            let slower = if friction == 0 { Fx::from_ratio(1, 1_000) } else { cm(4) };
            for step in 0..240 {
                run(&mut chain, 1);
                run(&mut floor, 1);
                let (ours, theirs) = (body(&chain, MOVER), body(&floor, MOVER));
                let case = format!("slider {n}, friction {friction}, {backwards}, step {step}");
                let (v, w) = (ours.velocity(), theirs.velocity());
                assert!(far(v.x, w.x) < slower, "{case}: {} m/s, not {}", v.x, w.x);
                assert!(far(v.y, w.y) < cm(3), "{case}: {} m/s up, not {}", v.y, w.y);
                let (p, q) = (ours.position(), theirs.position());
                assert!(far(p.y, q.y) < limits::LINEAR_SLOP, "{case}: {}, not {}", p.y, q.y);
                assert!(ours.spin().saturating_abs() < cm(6), "{case}: spin {}", ours.spin());
            }
            assert!(body(&chain, MOVER).position().x > cm(0), "it went over a dozen joints");
        }
    }
}

#[test]
fn a_ball_that_rolls_along_a_flat_chain_does_not_hop() {
    let mut region = falling();
    lay(&mut region, &flat(), false, 50);
    let ball = BodySpec {
        velocity: at(500, 0),
        spin: Fx::from_int(-10),
        ..moving(circle(50), at(-1_400, 50))
    };
    put(&mut region, MOVER, ball);
    run(&mut region, 10);
    let rest = body(&region, MOVER).position().y;
    for step in 0..230 {
        run(&mut region, 1);
        let ball = body(&region, MOVER);
        assert!(far(ball.position().y, rest) < limits::LINEAR_SLOP, "step {step}");
        assert!(far(ball.velocity().x, cm(500)) < cm(2), "step {step}: {}", ball.velocity().x);
    }
    assert!(body(&region, MOVER).position().x > cm(500));
}

#[test]
fn the_ground_of_a_segment_holds_from_both_sides() {
    for (shape, size) in [(circle(30), 30), (rect(30, 30), 30), (capsule(30, 30), 30)] {
        for side in [1, -1] {
            let mut region = Region::new().with_gravity(at(0, -1_000 * side));
            put(&mut region, 1, fixed(segment(at(-500, 0), at(500, 0)), Vec2::ZERO));
            let dropped = BodySpec {
                velocity: at(0, -3_000 * side),
                ..moving(shape.clone(), at(20, 300 * side))
            };
            put(&mut region, MOVER, dropped);
            run(&mut region, 240);
            let height = body(&region, MOVER).position().y.saturating_abs();
            assert!(far(height, cm(size)) < cm(1), "{shape:?} on side {side}: {height}");
            assert!(region.is_asleep(), "{shape:?} on side {side}");
        }
    }
}

#[test]
fn nothing_leaves_a_closed_chain_and_nothing_comes_in() {
    // A room with bends to both sides, in both directions around.
    let mut room = vec![
        (-600, -400),
        (-200, -500),
        (0, -300),
        (200, -500),
        (600, -400),
        (700, 0),
        (500, 500),
        (200, 300),
        (0, 500),
        (-400, 600),
        (-700, 200),
    ];
    for _ in 0..2 {
        room.reverse();
        let mut region = falling();
        lay(&mut region, &room, true, 50);
        let shapes =
            [circle(30), rect(30, 20), capsule(30, 20), polygon(&[(30, -20), (0, 40), (-30, -20)])];
        for n in 0..24_i64 {
            let place = at(n % 6 * 100 - 250, n / 6 * 70 - 150);
            let shape = shapes[n as usize % shapes.len()].clone();
            let speed = at(n * 97 % 1_600 - 800, n * 53 % 1_200 - 600);
            put(
                &mut region,
                MOVER + n as u64,
                BodySpec { velocity: speed, ..moving(shape.clone(), place) },
            );
            let above = at(n % 12 * 110 - 600, 800 + n / 12 * 100);
            put(&mut region, MOVER + 100 + n as u64, moving(shape, above));
        }
        let corners: Vec<Vec2> = room.iter().map(|(x, y)| at(*x, *y)).collect();
        let is_inside = |point: Vec2| {
            let edges = corners.iter().zip(corners.iter().cycle().skip(1));
            let crossed = edges.filter(|(a, b)| {
                let up = (a.y > point.y) != (b.y > point.y);
                let left = b.saturating_sub(**a).cross(point.saturating_sub(**a)) > Fx::ZERO;
                up && left == (b.y > a.y)
            });
            crossed.count() % 2 == 1
        };
        for step in 0..600 {
            run(&mut region, 1);
            for n in 0..24 {
                let inside = body(&region, MOVER + n).position();
                assert!(is_inside(inside), "step {step}: {n} left, to {inside}");
                let outside = body(&region, MOVER + 100 + n).position();
                assert!(!is_inside(outside), "step {step}: {n} came in, to {outside}");
            }
        }
    }
}

#[test]
fn a_box_goes_over_a_crest_and_stops_at_a_wall_of_one_chain() {
    let mut region = falling();
    lay(&mut region, &[(-1_000, 0), (0, 0), (600, -100), (1_000, -100), (1_000, 300)], false, 0);
    let slider =
        BodySpec { velocity: at(400, 0), friction: Fx::ZERO, ..moving(rect(40, 30), at(-500, 30)) };
    put(&mut region, MOVER, slider);
    let mut fastest = Fx::ZERO;
    for _ in 0..600 {
        run(&mut region, 1);
        fastest = fastest.max(body(&region, MOVER).velocity().x);
    }
    let end = body(&region, MOVER).position();
    assert!(fastest > cm(450), "it gained speed on the slope: {fastest}");
    assert!(end.x < cm(962) && end.x > cm(0) && far(end.y, cm(-70)) < cm(30), "{end}");
}

#[test]
fn rays_and_shapes_find_no_gap_between_the_segments_of_a_chain() {
    let mut region = Region::new();
    let points: Vec<(i64, i64)> = (0..=32).map(|n| (n * 37 - 600, n * n % 23)).collect();
    lay(&mut region, &points, false, 50);
    for x in -600..=584 {
        let (above, below) = (at(x, 300), at(x, -300));
        for (from, to) in [(above, below), (below, above)] {
            let (hit, _) = region.ray_cast(from, to, NOBODY);
            let hit = hit.unwrap_or_else(|| panic!("a gap at {x}"));
            let y = from.y.saturating_add(to.y.saturating_sub(from.y).saturating_mul(hit.fraction));
            assert!(y >= cm(-1) && y <= cm(23), "{x}: {y}");
            let cast = ShapeCast {
                shape: circle(20),
                pose: Pose { position: from, angle: Angle::ZERO },
                way: to.saturating_sub(from),
                skip: NOBODY,
                filter: Filter::ALL,
            };
            let (first, _) = region.shape_cast(&cast).expect("a disc is cast");
            assert!(first.is_some_and(|first| first.fraction < hit.fraction), "{x}");
        }
    }
    let touched = region.overlapping(at(-600, 0), cm(10));
    assert_eq!(touched, vec![ObjectId(1)], "what is within ten centimetres of an end");
    assert_eq!(region.at(at(-600, 0)), vec![ObjectId(1)], "an end is a point of it");
    assert_eq!(region.at(at(-600, 5)), vec![], "there is nothing inside of a line");
}

#[test]
fn a_region_with_chains_goes_on_from_its_snapshot() {
    let mut region = falling();
    lay(&mut region, &[(-500, 200), (-300, 0), (0, -20), (300, 0), (500, 200)], false, 50);
    for n in 0..8 {
        put(&mut region, MOVER + n, moving(rect(20, 20), at(n as i64 * 45 - 160, 100)));
        put(&mut region, MOVER + 10 + n, moving(circle(20), at(n as i64 * 45 - 150, 200)));
    }
    for step in 0..300 {
        let bytes = region.snapshot();
        let mut again = Region::from_snapshot(&bytes).expect("it is a snapshot");
        assert_eq!(again.step_events(), region.step_events(), "step {step}");
        assert_eq!(again, region, "step {step}");
        region = again;
    }
    let longest = region.bodies().iter().map(|body| wire::encode(body).len()).max();
    assert!(longest.is_some_and(|longest| longest <= limits::BODY_BYTES_MAX));
}

#[test]
fn what_is_no_segment_is_refused_by_its_field() {
    let refused = |from, to| LineSegment::new(from, to).map(|_| ());
    assert_eq!(refused(at(0, 0), at(0, 0)), Err(SegmentError::Short { field: "to" }));
    assert_eq!(refused(at(5, 5), at(10, 5)), Err(SegmentError::Short { field: "to" }));
    assert_eq!(refused(at(0, 0), at(51_300, 0)), Err(SegmentError::Far { field: "to" }));
    let long = LineSegment::new(at(0, 0), at(50_000, 50_000)).map(|_| ());
    assert_eq!(long, Err(SegmentError::Far { field: "from" }));
    assert_eq!(
        refused(Vec2::new(Fx::MIN, Fx::MAX), at(0, 0)),
        Err(SegmentError::Far { field: "to" })
    );

    let line = segment(at(0, 0), at(100, 0));
    let mut region = Region::new();
    for motion in [Motion::Kinematic, Motion::Dynamic] {
        let found = region.insert(ObjectId(1), &BodySpec::new(line.clone(), motion, Vec2::ZERO));
        let said = found.expect_err("a line does not move").to_string();
        assert!(said.starts_with("motion: "), "{said}");
    }
    put(&mut region, 1, fixed(line.clone(), Vec2::ZERO));
    let said = region.set_motion(ObjectId(1), Motion::Dynamic).expect_err("it stays").to_string();
    assert!(said.starts_with("motion: "), "{said}");
    put(&mut region, 2, moving(circle(20), at(500, 0)));
    assert!(
        region.set_shape(ObjectId(2), line.clone(), Fx::ONE).is_err(),
        "a ball that moves becomes no line"
    );
    let cast = ShapeCast {
        shape: line,
        pose: Pose::default(),
        way: at(100, 0),
        skip: NOBODY,
        filter: Filter::ALL,
    };
    let moves = ShapeError::Segment(SegmentError::Moves(Motion::Dynamic));
    assert_eq!(region.shape_cast(&cast).map(|_| ()), Err(moves));
}

#[test]
fn what_is_no_chain_is_refused_by_its_point() {
    let refused = |points: &[(i64, i64)], closed| {
        let points: Vec<Vec2> = points.iter().map(|(x, y)| at(*x, *y)).collect();
        SegmentChain::new(&points, closed).map(|_| ())
    };
    assert_eq!(refused(&[(0, 0)], false), Err(ChainError::Points { found: 1, least: 2 }));
    assert_eq!(refused(&[(0, 0), (100, 0)], true), Err(ChainError::Points { found: 2, least: 3 }));
    let many: Vec<(i64, i64)> = (0..65).map(|n| (n * 100, 0)).collect();
    assert_eq!(refused(&many, false), Err(ChainError::Points { found: 65, least: 2 }));
    assert_eq!(refused(&many[..limits::CHAIN_POINTS_MAX], false), Ok(()));
    assert_eq!(refused(&[(0, 0), (100, 0), (100, 0)], false), Err(ChainError::Short(1)));
    assert_eq!(refused(&[(0, 0), (100, 0), (2, 0)], true), Err(ChainError::Short(2)));
    assert_eq!(refused(&[(0, 0), (102_500, 0)], false), Err(ChainError::Outside(1)));
    assert_eq!(
        refused(&[(-102_400, -102_400), (102_400, 102_400)], false),
        Err(ChainError::Long(0))
    );
    let wild = SegmentChain::new(&[Vec2::new(Fx::MIN, Fx::MAX), Vec2::ZERO], false).map(|_| ());
    assert_eq!(wild, Err(ChainError::Outside(0)));
}
