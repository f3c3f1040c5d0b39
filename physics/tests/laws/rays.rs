//! Ray casts: the first body on a straight way.

use metatopia_math::{Angle, Fx, Stream, Vec2};
use metatopia_physics::{Pose, Region, limits::RAY_LENGTH_MAX};
use metatopia_types::ObjectId;

use crate::scenes::{at, circle, cm, fixed, moving, put, rect};

const NOBODY: ObjectId = ObjectId(u64::MAX);

/// Returns discs and turned rectangles all over twenty metres, each `more` centimetres larger on all sides.
fn scattered(seed: u64, more: i64) -> Region {
    let mut dice = Stream::new(&[9; 32], "physics.rays", &[seed]);
    let mut region = Region::new();
    for id in 0..40 {
        let mut side = || dice.below(4_000) as i64 - 2_000;
        let position = at(side(), side());
        let mut size = || dice.below(100) as i64 + 20 + more;
        let shape = if id % 2 == 0 { circle(size()) } else { rect(size(), size()) };
        let angle = Angle::from_bits(dice.next_u64() as u32);
        let spec = fixed(shape, position);
        put(
            &mut region,
            id,
            metatopia_physics::BodySpec { pose: Pose { position, angle }, ..spec },
        );
    }
    region
}

/// Walks along the way in steps of 2 cm: nothing that is a centimetre smaller is met before the ray says so, and
/// what it names is there, if it were a centimetre larger.
#[test]
fn a_ray_meets_what_somebody_meets_who_walks_along_it() {
    const STEPS: i64 = 2_000;
    let (mut met, mut free) = (0, 0);
    for seed in 0..150 {
        let mut dice = Stream::new(&[8; 32], "physics.rays.ways", &[seed]);
        let mut end = || at(dice.below(4_000) as i64 - 2_000, dice.below(4_000) as i64 - 2_000);
        let (from, to) = (end(), end());
        let point = |part: Fx| from.saturating_add(to.saturating_sub(from).scale(part));

        let (hit, looked) = scattered(seed, 0).ray_cast(from, to, NOBODY);

        let (smaller, larger) = (scattered(seed, -1), scattered(seed, 1));
        let end = hit.map_or(Fx::ONE, |hit| hit.fraction);
        let mut before =
            (0..STEPS).map(|n| Fx::from_ratio(n, STEPS)).take_while(|part| *part < end);
        assert_eq!(before.find(|part| !smaller.at(point(*part)).is_empty()), None, "seed {seed}");
        if let Some(hit) = hit {
            met += 1;
            assert!(larger.at(point(hit.fraction)).contains(&hit.id), "seed {seed}: {hit:?}");
            assert!(looked > 0, "seed {seed}");
        } else {
            free += 1;
        }
    }
    assert!(met > 50 && free > 5, "{met} met something, {free} did not");
}

#[test]
fn a_ray_passes_sensors_and_the_body_that_it_is_to_skip() {
    let mut region = Region::new();
    put(&mut region, 1, moving(circle(50), at(0, 0)));
    let mut sensor = fixed(rect(50, 50), at(300, 0));
    sensor.sensor = true;
    put(&mut region, 2, sensor);
    put(&mut region, 3, fixed(rect(50, 50), at(600, 0)));

    let (hit, _) = region.ray_cast(at(0, 0), at(1_000, 0), ObjectId(1));

    let hit = hit.expect("the third body is on the way");
    assert_eq!((hit.id, hit.fraction), (ObjectId(3), Fx::from_ratio(550, 1_000)));
}

#[test]
fn a_ray_that_begins_inside_meets_at_once_and_of_two_at_one_point_the_lesser_id() {
    let mut region = Region::new();
    put(&mut region, 7, fixed(circle(50), at(0, 0)));
    put(&mut region, 5, fixed(rect(50, 50), at(0, 0)));
    let (hit, looked) = region.ray_cast(at(10, 0), at(10, 0), NOBODY);
    let hit = hit.expect("it begins in both");
    assert_eq!((hit.id, hit.fraction, looked), (ObjectId(5), Fx::ZERO, 2));
}

#[test]
fn nothing_is_met_farther_away_than_the_limit_and_no_number_is_too_large() {
    let mut region = Region::new();
    let limit = i64::from(RAY_LENGTH_MAX) * 100;
    put(&mut region, 1, fixed(circle(50), at(limit - 100, 0)));
    put(&mut region, 2, fixed(circle(50), at(limit + 100, 300)));
    let far = |y: i64| region.ray_cast(at(0, y), at(2 * limit, y), NOBODY).0;
    assert_eq!(far(0).map(|hit| hit.id), Some(ObjectId(1)));
    assert_eq!(far(300), None);
    for extreme in [Fx::MIN, Fx::MAX] {
        let (hit, looked) = region.ray_cast(Vec2::new(extreme, cm(3)), Vec2::ZERO, NOBODY);
        assert!(hit.is_none() && looked <= 2 * 16, "{hit:?} {looked}");
    }
}
