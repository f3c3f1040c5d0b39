//! Queries of bodies near a point and at a point.

use metatopia_math::{Angle, Fx, Stream, Vec2};
use metatopia_physics::{BodySpec, Pose, Region, limits};
use metatopia_types::ObjectId;

use crate::scenes::{at, circle, cm, fixed, moving, put, rect};

fn scattered(seed: u64) -> Region {
    let mut dice = Stream::new(&[9; 32], "physics.queries", &[seed]);
    let mut region = Region::new();
    for id in 0..200 {
        // On a grid of half metres, so that many distances are equal.
        let mut side = || dice.below(41) as i64 * 50 - 1_000;
        put(&mut region, id * 3 % 601, moving(circle(10), at(side(), side())));
    }
    region
}

#[test]
fn nearby_returns_the_nearest_first_and_equal_distances_in_id_order() {
    for seed in 0..20 {
        let region = scattered(seed);
        let (center, radius) = (at(100, -150), cm(450));

        let found = region.nearby(center, radius, 1_000);

        let keys: Vec<_> = found.iter().map(|near| (near.distance, near.id)).collect();
        assert!(keys.windows(2).all(|pair| pair[0] < pair[1]), "seed {seed}: {keys:?}");
        let mut expected: Vec<ObjectId> = region
            .bodies()
            .iter()
            .filter(|body| body.position().saturating_sub(center).length() <= radius)
            .map(|body| body.id())
            .collect();
        let mut ids: Vec<ObjectId> = found.iter().map(|near| near.id).collect();
        ids.sort();
        expected.sort();
        assert_eq!(ids, expected, "seed {seed}");
        assert!(ids.len() > 10);
        assert_eq!(region.nearby(center, radius, 7), found[..7]);
    }
}

#[test]
fn nearby_returns_no_more_bodies_than_its_limit() {
    let mut region = Region::new();
    for id in 0..2 * limits::NEARBY_MAX as u64 {
        put(&mut region, id, fixed(circle(10), at(0, 0)));
    }
    let found = region.nearby(Vec2::ZERO, Fx::ONE, usize::MAX);
    assert_eq!(found.len(), limits::NEARBY_MAX);
    assert_eq!(found.last().map(|near| near.id), Some(ObjectId(limits::NEARBY_MAX as u64 - 1)));
}

#[test]
fn distances_are_exact_to_a_millionth_of_a_metre_across_the_region() {
    let mut region = Region::new();
    put(&mut region, 1, moving(circle(10), at(300, 400)));
    let edge = limits::COORDINATE_MAX;
    put(&mut region, 2, moving(circle(10), Vec2::new(edge, edge)));

    let found = region.nearby(Vec2::ZERO, Fx::MAX, 9);

    assert_eq!(found[0].distance, Fx::from_int(5));
    let diagonal = Vec2::new(edge, edge).length();
    let off = found[1].distance.saturating_sub(diagonal).saturating_abs();
    assert!(off < Fx::from_ratio(1, 1_000_000));
    assert_eq!(region.nearby(Vec2::ZERO, Fx::from_int(5), 9).len(), 1);
    assert_eq!(region.nearby(Vec2::ZERO, cm(499), 9), []);
    assert_eq!(region.nearby(Vec2::ZERO, Fx::MIN, 9), []);
    assert_eq!(region.nearby(Vec2::new(Fx::MIN, Fx::MAX), Fx::ONE, 9), []);
}

#[test]
fn at_returns_the_bodies_that_contain_the_point() {
    let mut region = Region::new();
    put(&mut region, 1, fixed(circle(100), at(0, 0)));
    let slab = fixed(rect(200, 10), at(0, 0));
    let turned = Pose { position: at(0, 0), angle: Angle::EIGHTH };
    put(&mut region, 2, BodySpec { pose: turned, ..slab });
    put(&mut region, 3, BodySpec { sensor: true, ..fixed(rect(500, 500), at(400, 400)) });

    let ids = |point: Vec2| region.at(point).iter().map(|id| id.0).collect::<Vec<_>>();

    assert_eq!(ids(at(0, 0)), [1, 2, 3]);
    assert_eq!(ids(at(100, 0)), [1, 3]);
    assert_eq!(ids(at(-100, 0)), [1, 3]);
    assert_eq!(ids(at(-120, -120)), [2]);
    assert_eq!(ids(at(-72, -71)), [2, 3]);
    assert_eq!(ids(at(-50, 20)), [1, 3]);
    assert_eq!(ids(at(101, -101)), [] as [u64; 0]);
    assert_eq!(ids(Vec2::new(Fx::MAX, Fx::MIN)), [] as [u64; 0]);
}

#[test]
fn queries_find_bodies_of_all_sizes() {
    let sizes = [7, 50, 100, 101, 300, 900, 1_600, 6_000, 25_600];
    let mut dice = Stream::new(&[8; 32], "physics.queries.sizes", &[]);
    let mut region = Region::new();
    for id in 0..900 {
        let size = sizes[dice.below(sizes.len() as u64) as usize];
        let mut side = || dice.below(200_001) as i64 - 100_000;
        let position = at(side(), side());
        let shape = if id % 2 == 0 { circle(size) } else { rect(size, 7) };
        put(&mut region, id, fixed(shape, position));
    }
    for id in 0..300 {
        let mut side = || dice.below(200_001) as i64 - 100_000;
        let moved = Pose { position: at(side(), side()), angle: Angle::EIGHTH };
        region.set_pose(ObjectId(id * 3), moved).expect("it is there");
    }
    for id in 0..50 {
        region.remove(ObjectId(id * 7)).expect("it is there");
    }

    for n in 0..200 {
        let mut side = || dice.below(220_001) as i64 - 110_000;
        let point = at(side(), side());
        let containing = region.bodies().iter().filter(|body| body.contains(point));
        let containing: Vec<ObjectId> = containing.map(|body| body.id()).collect();
        assert_eq!(region.at(point), containing, "point {n}");
        let near = region
            .bodies()
            .iter()
            .filter(|body| body.position().distance(point) <= Fx::from_int(150));
        let found = region.nearby(point, Fx::from_int(150), 256);
        assert_eq!(found.len(), near.count(), "point {n}");
    }
    let reach = |least: i64| region.reaching(cm(least)).map(|body| body.id());
    let far: Vec<ObjectId> = reach(5_000).collect();
    for body in region.bodies() {
        let large = body.shape().reach() >= cm(5_001);
        assert!(!large || far.contains(&body.id()), "{} is left out", body.id());
    }
    assert!(far.len() < 400 && reach(99_999).count() == 0);
}
