//! One scene on both tiers: what people see is the same, within what two engines may differ.

use metatopia_math::{Fx, Vec2};
use metatopia_physics::{
    BodySpec, Filter, JointId, JointKind, JointSpec, Motion, Region, SegmentChain, Touch,
};
use metatopia_types::ObjectId;

use crate::newton2;
use crate::scenes::{at, body, capsule, circle, cm, fixed, moving, polygon, put, rect, run};

/// Returns one scene on the first tier and on the second one.
pub(crate) fn both(scene: fn() -> Region) -> [Region; 2] {
    [scene(), newton2(scene())]
}

/// Asserts that two lengths differ by at most so many millimetres.
pub(crate) fn assert_near(one: Fx, other: Fx, millimetres: i64, what: &str) {
    let error = one.saturating_sub(other).saturating_abs();
    assert!(error <= Fx::from_ratio(millimetres, 1_000), "{what}: {one} and {other}");
}

/// Asserts that a body is at one place on both tiers.
pub(crate) fn assert_same_place(regions: &[Region; 2], id: u64, millimetres: i64) {
    let [one, other] = regions.each_ref().map(|region| body(region, id).position());
    assert_near(one.x, other.x, millimetres, &format!("x of {id}"));
    assert_near(one.y, other.y, millimetres, &format!("y of {id}"));
}

/// Ground under gravity.
fn ground() -> Region {
    let mut region = Region::new().with_gravity(at(0, -1_000));
    put(&mut region, 1, fixed(rect(5_000, 100), at(0, -100)));
    region
}

#[test]
fn a_ball_comes_to_rest_at_the_same_place() {
    let mut regions = both(|| {
        let mut region = ground();
        let ball = BodySpec { restitution: cm(0), ..moving(circle(50), at(120, 400)) };
        put(&mut region, 2, ball);
        region
    });
    regions.iter_mut().for_each(|region| run(region, 300));
    assert!(regions.iter().all(Region::is_asleep));
    assert_same_place(&regions, 2, 5);
}

#[test]
fn every_shape_comes_to_rest_at_the_same_height() {
    let mut regions = both(|| {
        let mut region = ground();
        put(&mut region, 2, moving(rect(60, 30), at(0, 300)));
        put(&mut region, 3, moving(capsule(40, 20), at(400, 300)));
        put(&mut region, 4, moving(polygon(&[(-50, 0), (50, 0), (0, 60)]), at(800, 300)));
        put(&mut region, 5, moving(circle(30), at(1_200, 300)));
        region
    });
    regions.iter_mut().for_each(|region| run(region, 300));
    for id in 2..=5 {
        // What falls flat is thrown aside a little by the corner that lands first.
        let [one, other] = regions.each_ref().map(|region| body(region, id).position());
        assert_near(one.x, other.x, 100, &format!("x of {id}"));
        assert_near(one.y, other.y, 6, &format!("y of {id}"));
    }
}

#[test]
fn a_chain_holds_what_lies_on_it_and_over_its_joints() {
    let mut regions = both(|| {
        let mut region = Region::new().with_gravity(at(0, -1_000));
        let points: Vec<Vec2> = (0..=16).map(|n| at(n * 100 - 800, 0)).collect();
        let chain = SegmentChain::new(&points, false).expect("it is a chain");
        for (id, segment) in (10..).zip(chain.bodies(&fixed(circle(50), at(0, 0)))) {
            put(&mut region, id, segment);
        }
        put(&mut region, 2, moving(rect(60, 30), at(0, 100)));
        put(&mut region, 3, moving(capsule(40, 20), at(250, 100)));
        put(&mut region, 4, moving(circle(30), at(-300, 100)));
        region
    });
    regions.iter_mut().for_each(|region| run(region, 300));
    for id in 2..=4 {
        let [one, other] = regions.each_ref().map(|region| body(region, id).position());
        assert_near(one.x, other.x, 100, &format!("x of {id}"));
        assert_near(one.y, other.y, 6, &format!("y of {id}"));
    }
    assert!(regions.iter().all(Region::is_asleep));
    // The second tier says what it holds in whole numbers, and all of it is there after a restart.
    assert_eq!(crate::restored(&regions[1]), regions[1]);
}

#[test]
fn a_stack_of_ten_crates_stands() {
    let mut regions = both(|| {
        let mut region = ground();
        for row in 0..10 {
            put(&mut region, 10 + row as u64, moving(rect(50, 50), at(0, 50 + row * 100)));
        }
        region
    });
    regions.iter_mut().for_each(|region| run(region, 900));
    for row in 0..10 {
        for region in &regions {
            let position = body(region, 10 + row as u64).position();
            assert_near(position.x, Fx::ZERO, 20, "x of a crate");
            // In the first tier each crate sinks by up to a centimetre.
            assert_near(position.y, cm(50 + row * 100), 10 + 10 * row, "y of a crate");
        }
    }
}

#[test]
fn a_crate_slides_as_far_as_its_friction_lets_it() {
    let mut regions = both(|| {
        let mut region = ground();
        let crate_ = BodySpec { velocity: at(500, 0), ..moving(rect(60, 20), at(0, 20)) };
        put(&mut region, 2, crate_);
        region
    });
    regions.iter_mut().for_each(|region| run(region, 200));
    // v^2 / 2 / friction / gravity = 25 / 2 / 0.5 / 10 m.
    for region in &regions {
        // Six in a hundred to either side: the tiers take friction at other moments of a step.
        assert_near(body(region, 2).position().x, cm(250), 150, "the way of the crate");
    }
}

#[test]
fn damping_is_the_same_friction_of_the_ground() {
    let mut regions = both(|| {
        let mut region = Region::new();
        let puck = BodySpec {
            velocity: at(800, 300),
            spin: cm(400),
            linear_damping: Fx::from_int(2),
            angular_damping: Fx::from_int(3),
            ..moving(circle(20), at(0, 0))
        };
        put(&mut region, 2, puck);
        region
    });
    regions.iter_mut().for_each(|region| run(region, 60));
    // Rapier damps at the end of a step, the first tier in each substep: a step's way, 14 cm, at most.
    assert_same_place(&regions, 2, 140);
    let [one, other] = regions.each_ref().map(|region| body(region, 2).spin());
    assert_near(one, other, 20, "spin");
}

#[test]
fn balls_that_meet_exchange_their_velocities() {
    let mut regions = both(|| {
        let mut region = Region::new();
        let ball = |x, speed| BodySpec {
            restitution: Fx::ONE,
            friction: Fx::ZERO,
            velocity: at(speed, 0),
            ..moving(circle(30), at(x, 0))
        };
        put(&mut region, 2, ball(-200, 300));
        put(&mut region, 3, ball(0, 0));
        region
    });
    regions.iter_mut().for_each(|region| run(region, 120));
    for region in &regions {
        assert_near(body(region, 2).velocity().x, Fx::ZERO, 60, "the one that came");
        assert_near(body(region, 3).velocity().x, Fx::from_int(3), 60, "the one that was met");
    }
}

#[test]
fn a_kinematic_blade_pushes_a_crate_to_the_same_place() {
    let mut regions = both(|| {
        let mut region = Region::new();
        let blade = BodySpec {
            velocity: at(100, 0),
            ..BodySpec::new(rect(10, 100), Motion::Kinematic, at(-100, 0))
        };
        put(&mut region, 2, blade);
        let crate_ = BodySpec {
            linear_damping: Fx::from_int(5),
            angular_damping: Fx::from_int(5),
            ..moving(rect(30, 30), at(0, 0))
        };
        put(&mut region, 3, crate_);
        region
    });
    regions.iter_mut().for_each(|region| run(region, 180));
    assert_same_place(&regions, 2, 1);
    assert_same_place(&regions, 3, 10);
    for region in &regions {
        // The blade pushes, and nothing pushes it.
        assert_near(body(region, 2).position().x, cm(200), 2, "the blade");
    }
}

#[test]
fn contacts_do_not_turn_who_walks_upright_and_a_spin_does() {
    let mut regions = both(|| {
        let mut region = ground();
        let walker = BodySpec { fixed_rotation: true, ..moving(rect(20, 60), at(0, 60)) };
        put(&mut region, 2, BodySpec { velocity: at(200, 0), ..walker });
        put(&mut region, 3, moving(rect(30, 30), at(90, 30)));
        let wheel = BodySpec { spin: cm(100), ..moving(circle(20), at(-1_000, 100)) };
        put(&mut region, 4, BodySpec { fixed_rotation: true, ..wheel });
        region
    });
    let start = body(&regions[0], 2).angle();
    regions.iter_mut().for_each(|region| run(region, 50));
    for region in &regions {
        assert_eq!(body(region, 2).angle(), start);
        assert_eq!(body(region, 4).spin(), Fx::ONE);
    }
}

/// The kind of an event and its bodies, and the step that it came in.
type Told = (bool, ObjectId, ObjectId, usize);

fn told(region: &mut Region, steps: usize) -> Vec<Told> {
    let mut all = Vec::new();
    for step in 0..steps {
        all.extend(region.step().iter().map(|touch| {
            let (a, b) = touch.pair();
            (matches!(touch, Touch::Began { .. }), a, b, step)
        }));
    }
    all
}

/// Asserts that both tiers told the same, in the same order, with so many steps between at most.
fn assert_alike(regions: &mut [Region; 2], steps: usize, late: usize) -> Vec<Told> {
    let [ours, theirs] = regions.each_mut().map(|region| told(region, steps));
    let kinds =
        |all: &[Told]| all.iter().map(|(began, a, b, _)| (*began, *a, *b)).collect::<Vec<_>>();
    assert_eq!(kinds(&ours), kinds(&theirs), "{ours:?}\n{theirs:?}");
    for (one, other) in ours.iter().zip(&theirs) {
        assert!(one.3.abs_diff(other.3) <= late, "{one:?} and {other:?}");
    }
    ours
}

#[test]
fn touches_begin_and_end_in_the_same_order() {
    let mut regions = both(|| {
        let mut region = ground();
        // A ball falls through a gate, onto a shelf, and rolls off it onto the ground.
        let gate = BodySpec { sensor: true, ..fixed(rect(100, 20), at(0, 400)) };
        put(&mut region, 2, gate);
        put(&mut region, 3, fixed(rect(150, 10), at(0, 190)));
        let ball = BodySpec {
            velocity: at(100, 0),
            linear_damping: cm(1),
            ..moving(circle(30), at(-90, 500))
        };
        put(&mut region, 4, ball);
        region
    });
    let ours = assert_alike(&mut regions, 400, 6);
    // The gate, the shelf, off the shelf, the ground.
    assert!(ours.len() >= 5, "{ours:?}");
}

#[test]
fn a_sensor_notices_what_moves_and_no_walls_and_no_sensors() {
    let mut regions = both(|| {
        let mut region = Region::new();
        let gate = |x| BodySpec { sensor: true, ..fixed(rect(50, 50), at(x, 0)) };
        put(&mut region, 1, gate(0));
        put(&mut region, 2, gate(30));
        put(&mut region, 3, fixed(rect(20, 20), at(0, 0)));
        let cart = BodySpec::new(rect(20, 20), Motion::Kinematic, at(-200, 0));
        put(&mut region, 4, BodySpec { velocity: at(200, 0), ..cart });
        region
    });
    let ours = assert_alike(&mut regions, 240, 2);
    assert_eq!(ours.len(), 4, "the cart comes into two gates and goes out of them: {ours:?}");
}

#[test]
fn bodies_and_sensors_concern_only_what_their_filters_meet() {
    let filter = |category, mask| Filter { category, mask };
    for change in [false, true] {
        let mut regions = both(|| {
            let mut region = Region::new();
            let (wall, gate) = (fixed(rect(20, 200), at(200, 0)), fixed(rect(10, 200), at(100, 0)));
            put(&mut region, 1, BodySpec { filter: Filter { category: 1, mask: !2 }, ..wall });
            put(
                &mut region,
                2,
                BodySpec { filter: Filter { category: 1, mask: 2 }, sensor: true, ..gate },
            );
            let ball = |y| BodySpec { velocity: at(300, 0), ..moving(circle(20), at(0, y)) };
            put(&mut region, 3, BodySpec { filter: Filter { category: 4, mask: 1 }, ..ball(50) });
            put(&mut region, 4, BodySpec { filter: Filter { category: 2, mask: 1 }, ..ball(-50) });
            region
        });
        if change {
            for region in &mut regions {
                region.step();
                region.set_filter(ObjectId(4), filter(4, 1)).expect("the ball");
            }
        }
        let ours = assert_alike(&mut regions, 120, 2);
        for region in &regions {
            let (stopped, other) = (body(region, 3).position().x, body(region, 4).position().x);
            assert!(stopped < cm(161), "{stopped}");
            assert_eq!(other < cm(161), change, "{other}");
        }
        let noticed = ours.iter().filter(|(_, a, ..)| *a == ObjectId(2)).count();
        assert_eq!(noticed, if change { 0 } else { 2 }, "{ours:?}");
    }
}

#[test]
fn a_shelf_that_becomes_a_sensor_lets_a_crate_fall_and_a_joint_that_holds_it_stays() {
    let mut regions = both(|| {
        let mut region = ground();
        put(&mut region, 2, fixed(rect(100, 20), at(0, 180)));
        put(&mut region, 3, moving(rect(30, 30), at(0, 230)));
        // It hangs from the shelf, beside the crate.
        put(&mut region, 4, moving(circle(10), at(60, 100)));
        let rope = JointKind::Distance { min: Fx::ZERO, max: cm(100), spring: None };
        let rope = JointSpec::new(Some(ObjectId(2)), ObjectId(4), rope);
        region.insert_joint(JointId(1), &rope).expect("two bodies");
        region
    });
    for region in &mut regions {
        run(region, 60);
        assert!(body(region, 3).position().y > cm(225), "it lies on the shelf");
        region.set_sensor(ObjectId(2), true).expect("the shelf");
        run(region, 120);
        assert!(body(region, 3).position().y < cm(35), "it fell through");
        let hangs = body(region, 4).position().distance(at(0, 180));
        assert!(hangs < cm(104), "the rope holds it: {hangs}");
        region.set_sensor(ObjectId(2), false).expect("the shelf");
        put(region, 5, moving(rect(30, 30), at(0, 250)));
        run(region, 120);
        assert!(body(region, 5).position().y > cm(225), "it lies on the shelf");
    }
}

#[test]
fn a_removed_body_ends_its_touches() {
    let mut regions = both(|| {
        let mut region = ground();
        put(&mut region, 2, moving(rect(30, 30), at(0, 30)));
        region
    });
    for region in &mut regions {
        run(region, 100);
        region.remove(ObjectId(2)).expect("the crate");
        let ended = Touch::Ended { a: ObjectId(1), b: ObjectId(2) };
        assert_eq!(region.step(), [ended]);
        assert_eq!(region.step(), []);
    }
}

#[test]
fn the_impulse_of_a_touch_is_about_what_stops_the_body() {
    let mut regions = both(|| {
        let mut region = Region::new();
        put(&mut region, 1, fixed(rect(20, 200), at(100, 0)));
        let ball = BodySpec {
            velocity: at(400, 0),
            mass: Fx::from_int(3),
            ..moving(circle(30), at(-100, 0))
        };
        put(&mut region, 2, ball);
        region
    });
    for region in &mut regions {
        let mut began = Vec::new();
        for _ in 0..60 {
            began.extend(region.step());
        }
        let Some(Touch::Began { impulse, point, .. }) = began.first() else {
            panic!("no touch: {began:?}");
        };
        assert_near(*impulse, Fx::from_int(12), 600, "3 kg times 4 m/s");
        assert_near(point.x, cm(80), 40, "the side of the wall");
    }
}

#[test]
fn queries_find_the_same_bodies() {
    let mut regions = both(|| {
        let mut region = ground();
        for n in 0..6 {
            put(&mut region, 10 + n as u64, moving(rect(20, 20), at(n * 100, 60)));
        }
        region
    });
    regions.iter_mut().for_each(|region| run(region, 200));
    let answers = regions.each_ref().map(|region| {
        let near = region.nearby(at(250, 20), Fx::from_int(2), 10);
        let met = region.ray_cast(at(-300, 20), at(900, 20), ObjectId(10)).0;
        (
            near.iter().map(|found| found.id).collect::<Vec<_>>(),
            region.at(at(300, 15)),
            met.map(|hit| hit.id),
        )
    });
    assert_eq!(answers[0], answers[1]);
    assert_eq!(answers[0].2, Some(ObjectId(11)));
}

#[test]
fn momentum_is_kept_where_nothing_takes_it() {
    let mut regions = both(|| {
        let mut region = Region::new().with_sleeping(false);
        for n in 0..20 {
            let ball = BodySpec {
                velocity: at(n * 37 % 200 - 100, n * 91 % 200 - 100),
                mass: Fx::from_int(1 + n as i32 % 3),
                restitution: Fx::ONE,
                friction: Fx::ZERO,
                ..moving(circle(30), at(n % 5 * 80, n / 5 * 80))
            };
            put(&mut region, 10 + n as u64, ball);
        }
        region
    });
    let momentum = |region: &Region| {
        let parts = region.bodies().iter().map(|body| body.velocity().scale(body.mass()));
        parts.fold(Vec2::ZERO, Vec2::saturating_add)
    };
    for region in &mut regions {
        let before = momentum(region);
        run(region, 300);
        let after = momentum(region);
        assert_near(before.x, after.x, 10, "momentum along x");
        assert_near(before.y, after.y, 10, "momentum along y");
    }
}
