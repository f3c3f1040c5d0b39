//! Bodies of several shapes.

use metatopia_math::{Angle, Fx, Stream, Vec2};
use metatopia_physics::{
    Body, BodySpec, Compound, CompoundError, CompoundPart, Contact, Filter, InsertError,
    LineSegment, Motion, PartFault, Polygon, PolygonError, Pose, Region, SegmentChain, Shape,
    ShapeCast, ShapeError, Touch,
    limits::{self, COMPOUND_PARTS_MAX},
};
use metatopia_types::{ObjectId, wire};

use crate::scenes::{
    at, body, capsule, circle, cm, compound, fixed, joinery, moving, polygon, put, rect, run, yard,
};

const NOBODY: ObjectId = ObjectId(u64::MAX);

fn part(shape: Shape, x: i64, y: i64) -> CompoundPart {
    CompoundPart::new(shape).at(at(x, y))
}

fn refused(parts: &[CompoundPart]) -> String {
    Compound::new(parts).expect_err("no compound").to_string()
}

#[test]
fn what_is_no_compound_is_refused_by_the_part_and_the_field() {
    let disc = || part(circle(20), 0, 0);
    for count in [0, 1, COMPOUND_PARTS_MAX + 1] {
        let all = vec![disc(); count];
        assert_eq!(Compound::new(&all), Err(CompoundError::Count(count)));
    }
    assert!(Compound::new(&vec![disc(); COMPOUND_PARTS_MAX]).is_ok());
    assert_eq!(refused(&[]), "parts: 0 where a compound has 2..=8");
    let thin = refused(&[disc(), part(rect(30, 5), 0, 0)]);
    assert!(thin.starts_with("parts[1].half.y: a size of 0.05"), "{thin}");
    let far = refused(&[part(circle(20), 25_601, 0), disc()]);
    assert_eq!(far, "parts[0].offset: more than 256 m from the origin on an axis");
    let line = LineSegment::new(at(0, 0), at(100, 0)).expect("a line");
    let nested = compound(&[(circle(20), (0, 0)), (circle(20), (30, 0))]);
    for shape in [Shape::Segment(line), nested] {
        let of = refused(&[disc(), disc(), part(shape, 0, 0)]);
        assert_eq!(of, "parts[2].shape: a part is a circle, a rectangle, a capsule or a polygon");
    }
    // Two small parts far from each other.
    let apart = [part(circle(20), -1_700, 0), part(circle(20), 1_700, 0)];
    let apart = Shape::Compound(Compound::new(&apart).expect("a static body may have it"));
    let mut region = Region::new();
    assert_eq!(region.insert(ObjectId(1), &fixed(apart.clone(), Vec2::ZERO)), Ok(()));
    let error = region.insert(ObjectId(2), &moving(apart, Vec2::ZERO)).expect_err("too large");
    let told = error.to_string();
    assert!(told.starts_with("parts[0].reach: a size of 17.1"), "{told}");
    assert!(told.ends_with("for a dynamic body"), "{told}");
    let InsertError::Shape(ShapeError::Compound(CompoundError::Part { part: n, fault })) = error
    else {
        panic!("{error:?}")
    };
    assert!(n == 0 && matches!(fault, PartFault::Size(size) if size.field == "reach"));
    let huge = [part(circle(20), -25_600, 0), part(circle(20), 25_600, 0)];
    assert!(refused(&huge).starts_with("parts[0].reach"), "{}", refused(&huge));
    assert_eq!(CompoundPart::of_corners(&[Vec2::ZERO]), Err(PolygonError::Corners(1)));
}

#[test]
fn the_centre_of_mass_of_all_parts_is_the_position() {
    let parts = [part(rect(30, 10), 500, 700), part(rect(10, 30), 460, 740)];
    let own = Compound::new(&parts).expect("an L");
    let offsets: Vec<Vec2> = own.parts().map(|part| part.offset).collect();
    let near = |one: Vec2, other| one.distance(other) < Fx::from_ratio(1, 100_000);
    assert!(near(offsets[0], at(20, -20)) && near(offsets[1], at(-20, 20)), "{offsets:?}");
    assert!(near(Vec2::new(Shape::Compound(own).area(), Fx::ZERO), at(24, 0)));
    // Corners of a polygon are moved to its own centre, and that says where it is.
    let corners = [at(0, 0), at(90, 0), at(0, 60)];
    let of_corners = CompoundPart::of_corners(&corners).expect("a triangle");
    assert!(near(of_corners.offset, at(30, 20)));
    assert_eq!(of_corners.shape, Shape::Polygon(Polygon::new(&corners).expect("a triangle")));
    // What overlaps counts twice.
    let twice = compound(&[(rect(10, 10), (0, 0)), (rect(10, 10), (0, 0))]);
    assert!(near(Vec2::new(twice.area(), Fx::ZERO), at(8, 0)));
    let spec = fixed(twice, Vec2::ZERO).with_density(Fx::from_int(100));
    assert!(spec.mass.saturating_sub(Fx::from_int(8)).saturating_abs() < Fx::from_ratio(1, 1_000));
}

/// A ball that flies against the end of a box turns it; against a box of two halves just as much.
#[test]
fn a_box_of_two_halves_moves_as_one_box_does() {
    let whole = rect(60, 20);
    let halves = compound(&[(rect(30, 20), (-30, 0)), (rect(30, 20), (30, 0))]);
    let eighth = Angle::EIGHTH;
    let turned = Shape::Compound(
        Compound::new(&[
            CompoundPart { angle: Angle::QUARTER, ..part(rect(20, 30), -30, 0) },
            CompoundPart { angle: Angle::HALF, ..part(rect(30, 20), 30, 0) },
        ])
        .expect("two halves"),
    );
    let play = |shape: Shape| {
        let mut region = Region::new();
        let spec = BodySpec { mass: Fx::from_int(3), ..moving(shape, Vec2::ZERO) };
        let pose = Pose { position: Vec2::ZERO, angle: eighth };
        put(&mut region, 1, BodySpec { pose, friction: Fx::ZERO, ..spec });
        let aim = at(45, 0).rotate(eighth).saturating_add(at(0, 150));
        put(&mut region, 2, BodySpec { velocity: at(0, -300), ..moving(circle(15), aim) });
        run(&mut region, 60);
        let body = body(&region, 1);
        (body.velocity(), body.spin(), body.position())
    };
    let (velocity, spin, position) = play(whole);
    assert!(spin.saturating_abs() > Fx::HALF, "{spin}");
    for shape in [halves, turned] {
        let (v, s, p) = play(shape);
        assert!(v.distance(velocity) < cm(1) && p.distance(position) < cm(1), "{v} {velocity}");
        assert!(s.saturating_sub(spin).saturating_abs() < cm(2), "{s} {spin}");
    }
}

#[test]
fn a_table_stands_on_its_legs_and_sleeps_and_touches_the_floor_once() {
    let mut region = Region::new().with_gravity(at(0, -1_000)).with_hits(Some(Fx::ONE));
    put(&mut region, 1, fixed(rect(500, 50), at(0, -50)));
    let top = (rect(80, 8), (0, 60));
    let legs = [(rect(8, 30), (-60, 30)), (rect(8, 30), (60, 30))];
    let table = compound(&[&[top], &legs[..]].concat());
    put(&mut region, 2, moving(table, at(0, 120)));
    let (mut touches, mut hits) = (Vec::new(), Vec::new());
    while !region.is_asleep() {
        let events = region.step_events();
        touches.extend(events.touches);
        hits.extend(events.hits);
    }
    let [Touch::Began { a, b, impulse, .. }] = touches[..] else { panic!("{touches:?}") };
    assert_eq!((a, b), (ObjectId(1), ObjectId(2)));
    // A kilogram that fell for half a metre or more: what both legs got is told as one.
    let [hit] = hits[..] else { panic!("{hits:?}") };
    assert!(hit.speed > Fx::from_int(3) && impulse > Fx::from_int(3), "{hit:?} {impulse}");
    assert!(hit.impulse == impulse && hit.point.y.saturating_abs() < cm(2), "{hit:?}");
    let table = body(&region, 2);
    assert!(table.angle().to_radians().saturating_abs() < cm(1));
    // A box goes under it, and a ray too.
    let under = region.ray_cast(at(0, 20), at(40, 20), NOBODY).0;
    assert_eq!(under, None);
    let leg = region.ray_cast(at(0, 20), at(100, 20), NOBODY).0.expect("a leg");
    assert!(leg.id == ObjectId(2) && leg.fraction > cm(51) && leg.fraction < cm(53), "{leg:?}");
}

/// Draws a compound of two to four parts, none of them further than two metres from the first.
fn drawn(dice: &mut Stream) -> Compound {
    let parts: Vec<CompoundPart> = (0..2 + dice.below(3))
        .map(|_| {
            let mut size = || dice.below(60) as i64 + 10;
            let (a, b) = (size(), size());
            let shape = match dice.below(4) {
                0 => circle(a),
                1 => rect(a, b),
                2 => capsule(a, b),
                _ => polygon(&[(-a, -20), (b, -20), (b, 30), (-20, 60)]),
            };
            let mut side = || dice.below(400) as i64 - 200;
            let offset = at(side(), side());
            CompoundPart { shape, offset, angle: Angle::from_bits(dice.next_u64() as u32) }
        })
        .collect();
    Compound::new(&parts).expect("small parts")
}

fn pose(dice: &mut Stream) -> Pose {
    let mut side = || dice.below(800) as i64 - 400;
    let position = at(side(), side());
    Pose { position, angle: Angle::from_bits(dice.next_u64() as u32) }
}

/// Puts each part as a body of its own where a compound in this pose has it.
fn apart(compound: &Compound, pose: Pose) -> Region {
    let mut region = Region::new();
    for (id, part) in (1..).zip(compound.parts()) {
        let position = pose.position.saturating_add(part.offset.rotate(pose.angle));
        let own = Pose { position, angle: pose.angle.wrapping_add(part.angle) };
        put(&mut region, id, BodySpec { pose: own, ..fixed(part.shape, position) });
    }
    region
}

#[test]
fn queries_and_casts_find_a_compound_where_they_find_its_parts() {
    let (mut met, mut missed) = (0, 0);
    let near = |a: Fx, b: Fx| a.saturating_sub(b).saturating_abs() < Fx::from_ratio(1, 1_000);
    for seed in 0..400 {
        let mut dice = Stream::new(&[7; 32], "physics.compounds.queries", &[seed]);
        let (own, place) = (drawn(&mut dice), pose(&mut dice));
        let parts = apart(&own, place);
        let mut region = Region::new();
        let spec = fixed(Shape::Compound(own), place.position);
        put(&mut region, 1, BodySpec { pose: place, ..spec });
        let (from, to) = (pose(&mut dice).position, pose(&mut dice).position);
        let ball = ShapeCast {
            shape: Shape::Compound(drawn(&mut dice)),
            pose: Pose { position: from, ..place },
            way: to.saturating_sub(from),
            skip: NOBODY,
            filter: Filter::ALL,
        };
        let casts = |region: &Region| {
            let ray = region.ray_cast(from, to, NOBODY).0;
            let shape = region.shape_cast(&ball).expect("a shape that may move").0;
            [ray, shape].map(|hit| hit.map(|hit| hit.fraction))
        };
        for (one, other) in casts(&region).into_iter().zip(casts(&parts)) {
            match (one, other) {
                (Some(one), Some(other)) => {
                    assert!(near(one, other), "seed {seed}: {one} {other}");
                    met += 1;
                }
                (None, None) => missed += 1,
                found => panic!("seed {seed}: {found:?}"),
            }
        }
        let any = |region: &Region| {
            let shape = region.overlapping_shape(&ball.shape, ball.pose, Filter::ALL);
            [
                !region.at(from).is_empty(),
                !region.overlapping(from, cm(50)).is_empty(),
                !shape.expect("a shape that may move").is_empty(),
            ]
        };
        assert_eq!(any(&region), any(&parts), "seed {seed}");
    }
    assert!(met > 100 && missed > 100, "{met} {missed}");
}

/// The narrow phase finds contacts in another way than overlaps do.
#[test]
fn a_step_finds_that_compounds_touch_where_their_parts_overlap() {
    let (mut touching, mut apart) = (0, 0);
    for seed in 0..600 {
        let mut dice = Stream::new(&[8; 32], "physics.compounds.touches", &[seed]);
        let (one, other) = (drawn(&mut dice), drawn(&mut dice));
        let (first, second) = (pose(&mut dice), pose(&mut dice));
        let mut region = Region::new();
        let sensor = fixed(Shape::Compound(one), first.position);
        put(&mut region, 1, BodySpec { pose: first, sensor: true, ..sensor });
        let own = Shape::Compound(other);
        let found = region.overlapping_shape(&own, second, Filter::ALL).expect("it may move");
        put(&mut region, 2, BodySpec { pose: second, ..moving(own, second.position) });
        let touches = region.step();
        assert!(touches.len() < 2, "seed {seed}");
        assert_eq!(found.is_empty(), touches.is_empty(), "seed {seed}");
        touching += usize::from(!touches.is_empty());
        apart += usize::from(touches.is_empty());
    }
    assert!(touching > 60 && apart > 60, "{touching} {apart}");
}

#[test]
fn nothing_fast_gets_through_a_thin_part_and_all_gets_through_the_gap() {
    let posts = compound(&[(rect(7, 100), (0, 140)), (rect(7, 100), (0, -140))]);
    let shapes = [circle(10), rect(8, 8), joinery(2), joinery(0)];
    for (motion, mass) in [(Motion::Static, 1), (Motion::Kinematic, 1), (Motion::Dynamic, 16_000)] {
        for shape in shapes.clone() {
            let mut region = Region::new();
            let gate = BodySpec::new(posts.clone(), motion, Vec2::ZERO);
            put(&mut region, 1, BodySpec { mass: Fx::from_int(mass), ..gate });
            for (id, y) in [(2, 130), (3, -150), (4, 0)] {
                let fast =
                    BodySpec { velocity: at(3_200, 0), ..moving(shape.clone(), at(-300, y)) };
                put(&mut region, id, fast);
            }
            let mut furthest = [Fx::MIN; 2];
            for _ in 0..60 {
                region.step();
                for (most, id) in furthest.iter_mut().zip([2, 3]) {
                    *most = (*most).max(body(&region, id).position().x);
                }
            }
            let door = body(&region, 1).position().x;
            assert!(furthest.iter().all(|x| *x < door), "{motion} {shape:?}: {furthest:?}");
            assert!(body(&region, 4).position().x > Fx::from_int(3), "{motion} {shape:?}");
        }
    }
}

#[test]
fn filters_sensors_and_kinds_of_motion_hold_for_the_whole_body() {
    let mut region = Region::new();
    yard(&mut region, 500);
    let (one, other) = (Filter { category: 1, mask: 1 }, Filter { category: 2, mask: 2 });
    let spec = |x| BodySpec { spin: Fx::ONE, filter: one, ..moving(joinery(1), at(x, 0)) };
    put(&mut region, 10, BodySpec { filter: other, ..spec(0) });
    put(&mut region, 11, spec(5));
    let sensor = BodySpec { sensor: true, filter: one, ..fixed(joinery(3), at(0, 0)) };
    put(&mut region, 12, sensor);
    let touches = region.step();
    let pairs: Vec<_> = touches.iter().map(Touch::pair).collect();
    assert_eq!(pairs, [(ObjectId(11), ObjectId(12))], "only the sensor notices one of them");
    // A body may become a compound, and be another one's size, while it lies there.
    region.set_shape(ObjectId(11), circle(20), Fx::ONE).expect("it is there");
    region.set_shape(ObjectId(11), joinery(0), Fx::ONE).expect("it is there");
    region.set_motion(ObjectId(11), Motion::Static).expect("it is there");
    region.set_spin(ObjectId(10), Fx::ZERO).expect("it moves");
    let before = body(&region, 11).clone();
    run(&mut region, 90);
    assert_eq!(body(&region, 11).position(), before.position());
    let touching: Vec<_> = region.contacts().iter().map(|contact| contact.pair()).collect();
    assert_eq!(touching, []);
}

#[test]
fn the_longest_encodings_of_compounds_are_within_their_limits() {
    let octagon = |size: i64| {
        let corner = |n: u32| at(size, size / 2).rotate(Angle::from_bits(n << 29));
        let corners: Vec<Vec2> = (0..8).map(corner).collect();
        Shape::Polygon(Polygon::new(&corners).expect("an octagon"))
    };
    // Long numbers: most of these corners are further than 128 m away on an axis.
    let part = |n: i64| CompoundPart {
        angle: Angle::from_bits(u32::MAX),
        ..part(octagon(18_000), n * 700 - 3_000, 9_000)
    };
    let parts: Vec<CompoundPart> = (0..8).map(part).collect();
    let shape = Shape::Compound(Compound::new(&parts).expect("eight octagons"));
    let rule = metatopia_physics::CombineRule::Maximum;
    let far = limits::COORDINATE_MAX;
    let filter = Filter { category: u32::MAX, mask: u32::MAX - 1 };
    let spec = BodySpec { filter, friction_rule: rule, mass: Fx::MAX, ..fixed(shape, Vec2::ZERO) };
    let pose = Pose { position: Vec2::new(far, far), angle: Angle::from_bits(3 << 29) };
    let mut region = Region::new();
    let id = ObjectId(u64::MAX);
    region.insert(id, &BodySpec { pose, ..spec }).expect("it fits");
    let bytes = wire::encode(region.body(id).expect("it is there"));
    assert!(bytes.len() > 700 && bytes.len() <= limits::COMPOUND_BYTES_MAX, "{}", bytes.len());

    // Eight parts on eight parts: as many pairs of them push as may.
    let comb = (0..8).map(|n| (rect(10, 10), (n * 4, n % 3))).collect::<Vec<_>>();
    let mut region = Region::new();
    for (id, x) in [(u64::MAX - 1, 0), (u64::MAX, 3)] {
        let spec = BodySpec { mass: Fx::from_int(900), ..moving(compound(&comb), at(x, 9)) };
        region.insert(ObjectId(id), &spec).expect("it fits");
    }
    let mut longest = 0;
    for _ in 0..60 {
        region.step();
        let lengths = region.contacts().iter().map(|contact| wire::encode(contact).len());
        longest = longest.max(lengths.max().unwrap_or(0));
    }
    assert!(longest <= limits::COMPOUND_CONTACT_BYTES_MAX, "{longest}");
    assert!(longest > limits::COMPOUND_CONTACT_BYTES_MAX / 2, "{longest}");
}

#[test]
fn of_two_bodies_as_many_pairs_of_parts_push_as_may_and_no_more() {
    // All parts of a body are in one place, and it rests on another such one: 64 pairs are near.
    let heap = compound(&vec![(rect(30, 30), (0, 0)); COMPOUND_PARTS_MAX]);
    let mut region = Region::new().with_gravity(at(0, -1_000));
    put(&mut region, 1, fixed(heap.clone(), at(0, 0)));
    put(&mut region, 2, moving(heap, at(0, 60)));
    run(&mut region, 30);
    let [contact] = region.contacts() else { panic!("{:?}", region.contacts()) };
    // The two ids, the kind of contact with parts, and how many pairs there are.
    let bytes = wire::encode(contact);
    assert_eq!(bytes[..4], [1, 2, 2, limits::PART_PAIRS_MAX as u8]);
    let height = body(&region, 2).position().y.saturating_sub(cm(60)).saturating_abs();
    assert!(height < cm(2), "it rests as one box does: {height}");
}

/// Thousands of bodies that lie on compounds would make a state without a bound.
#[test]
fn as_many_contacts_of_compounds_keep_their_impulses_as_may_and_a_restored_heap_goes_on() {
    // Discs that pass each other lie on as many plates as one of them may touch.
    let plate = compound(&[(rect(100, 50), (-100, 0)), (rect(100, 50), (100, 0))]);
    let mut region = Region::new().with_gravity(at(0, -1_000));
    for id in 1..=u64::from(limits::PARTNERS_MAX) {
        put(&mut region, id, fixed(plate.clone(), Vec2::ZERO));
    }
    let filter = Filter { category: 2, mask: 1 };
    for id in 100..6_000 {
        let place = at(i64::try_from(id % 360).expect("few") - 180, 70);
        put(&mut region, id, BodySpec { filter, ..moving(circle(20), place) });
    }
    for step in 0..2 {
        region.step();
        // What has no impulses is two ids and two options.
        let keeps = |contact: &&Contact| {
            wire::encode(*contact).len() > wire::encode(&contact.pair()).len() + 2
        };
        let (all, kept) = (region.contacts().len(), region.contacts().iter().filter(keeps).count());
        assert!(all > 2 * limits::PART_CONTACTS_MAX, "{all}");
        assert_eq!(kept, limits::PART_CONTACTS_MAX, "step {step}");
    }
    let again = Region::restore(region.bodies().to_vec(), region.contacts().to_vec());
    let mut again = again.expect("a region's own state").with_gravity(region.gravity());
    for step in 0..3 {
        again.step();
        region.step();
        let same = region.contacts() == again.contacts() && region.bodies() == again.bodies();
        assert!(same, "step {step}");
    }
}

/// The corners between the segments of a chain are no more there for a part than for a whole body.
#[test]
fn a_sledge_on_two_runners_slides_over_a_chain_without_a_jolt() {
    let points: Vec<Vec2> = (0..=40).map(|n| at(n * 50 - 1_000, 0)).collect();
    let chain = SegmentChain::new(&points, false).expect("a chain");
    let ground = BodySpec { friction: Fx::ZERO, ..fixed(circle(20), Vec2::ZERO) };
    for speed in [600, -600] {
        let mut region = Region::new().with_gravity(at(0, -1_000));
        for (id, piece) in (100..).zip(chain.bodies(&ground)) {
            put(&mut region, id, piece);
        }
        let runners = [(rect(25, 8), (-30, 8)), (capsule(20, 8), (32, 8))];
        let sledge = compound(&[&runners[..], &[(rect(60, 8), (0, 22))]].concat());
        let start = at(-speed, 16);
        let spec = BodySpec { velocity: at(speed, 0), friction: Fx::ZERO, ..moving(sledge, start) };
        put(&mut region, 1, spec);
        for step in 0..120 {
            region.step();
            let sledge = body(&region, 1);
            let (velocity, spin) = (sledge.velocity(), sledge.spin());
            let lost = velocity.x.saturating_sub(cm(speed)).saturating_abs();
            assert!(lost < Fx::from_ratio(1, 100), "{speed}, step {step}: {velocity}");
            assert!(step < 30 || spin.saturating_abs() < cm(5), "{speed}, step {step}: {spin}");
        }
    }
}

#[test]
fn changed_bytes_of_a_compound_make_a_body_that_can_be_stepped_or_none() {
    let (mut sound, mut refused) = (0, 0);
    for kind in 0..4 {
        let mut region = Region::new();
        put(&mut region, 1, BodySpec { spin: Fx::ONE, ..moving(joinery(kind), Vec2::ZERO) });
        put(&mut region, 2, moving(joinery(kind + 1), at(5, 5)));
        let (bytes, other) = (wire::encode(body(&region, 1)), body(&region, 2).clone());
        for (at, bit) in (0..bytes.len()).flat_map(|at| (0..8).map(move |bit| (at, bit))) {
            let mut changed = bytes.clone();
            changed[at] ^= 1 << bit;
            let Ok(body) = wire::decode::<Body>(&changed, limits::COMPOUND_BYTES_MAX) else {
                refused += 1;
                continue;
            };
            match Region::restore(vec![body, other.clone()], Vec::new()) {
                Ok(mut forged) => {
                    run(&mut forged, 4);
                    let again =
                        Region::restore(forged.bodies().to_vec(), forged.contacts().to_vec());
                    assert!(again.is_ok(), "kind {kind}, bit {bit} of byte {at}");
                    sound += 1;
                }
                Err(_) => refused += 1,
            }
        }
    }
    assert!(sound > 100 && refused > 100, "{sound} {refused}");
}

#[test]
fn a_heap_of_compounds_in_one_place_is_stepped_and_comes_apart() {
    let mut region = Region::new();
    for id in 0..200 {
        put(&mut region, id, moving(joinery(id), Vec2::ZERO));
    }
    run(&mut region, 400);
    let far = region.bodies().iter().map(|body| body.position().length()).max();
    assert!(far.is_some_and(|far| far > Fx::from_int(2)), "{far:?}");
}
