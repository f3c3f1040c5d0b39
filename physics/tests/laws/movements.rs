//! A copy of a body that follows its movements equals the body.

use std::collections::BTreeMap;

use metatopia_physics::{Body, BodySpec, Motion, Region};
use metatopia_types::{Movement, ObjectId, wire};
use proptest::prelude::*;

use crate::scenes::{SCENES, at, body, circle, fixed, moving, put};

/// Updates copies of a region's bodies: by movements where bodies only moved, else as a whole.
fn follow(copies: &mut BTreeMap<ObjectId, Body>, region: &Region) {
    copies.retain(|id, _| region.body(*id).is_some());
    for body in region.bodies() {
        let followed = copies.get_mut(&body.id()).and_then(|copy| {
            let movement = body.movement_since(copy)?;
            let older = copy.clone();
            copy.follow(&movement).expect("a region's own movement is in range");
            let entry = |body: &Body| wire::encode(&("what comes before", body));
            assert_eq!(copy.encode_after(&older, &entry(&older)), entry(copy));
            Some(())
        });
        if followed.is_none() {
            copies.insert(body.id(), body.clone());
        }
    }
}

fn encoded<'a>(bodies: impl IntoIterator<Item = &'a Body>) -> Vec<Vec<u8>> {
    bodies.into_iter().map(wire::encode).collect()
}

#[test]
fn copies_that_follow_several_steps_at_once_have_the_same_encoding() {
    for scene in &SCENES {
        for stride in [1, 3, 7] {
            let (mut region, mut copies) = ((scene.build)(), BTreeMap::new());
            for step in 0..200 {
                scene.step(&mut region, step);
                if step % stride == 0 {
                    follow(&mut copies, &region);
                    let (copied, real) = (encoded(copies.values()), encoded(region.bodies()));
                    assert_eq!(copied, real, "{} step {step} stride {stride}", scene.name);
                }
            }
        }
    }
}

#[test]
fn a_movement_holds_only_the_parts_that_changed() {
    let mut region = Region::new();
    put(&mut region, 1, BodySpec { velocity: at(100, 0), ..moving(circle(30), at(0, 0)) });
    let before = body(&region, 1).clone();
    assert_eq!(before.movement_since(&before), Some(Movement::default()));

    region.step();
    let movement = body(&region, 1).movement_since(&before).expect("it only moved");
    assert!(movement.position.is_some());
    assert_eq!(Movement { position: None, ..movement }, Movement::default());

    region.set_motion(ObjectId(1), Motion::Kinematic).expect("it is there");
    assert_eq!(
        body(&region, 1).movement_since(&before),
        None,
        "the kind of motion changed as well"
    );
}

#[test]
fn a_movement_out_of_range_is_refused_and_changes_nothing() {
    let mut region = Region::new();
    put(&mut region, 1, moving(circle(30), at(0, 0)));
    put(&mut region, 2, fixed(circle(30), at(500, 0)));
    let none = Movement::default();
    let wrong = [
        (1, "position", Movement { position: Some([i32::MIN, 0]), ..none }),
        (1, "facing", Movement { facing: Some([0, 0]), ..none }),
        (1, "velocity", Movement { velocity: Some([i32::MAX, i32::MAX]), ..none }),
        (1, "spin", Movement { spin: Some(i32::MIN), ..none }),
        (1, "count of slow steps", Movement { slow_steps: Some(255), ..none }),
        (2, "velocity", Movement { velocity: Some([1, 0]), ..none }),
    ];
    for (id, field, movement) in wrong {
        let (mut copy, before) = (body(&region, id).clone(), body(&region, id));
        let refusal = copy.follow(&movement).expect_err("no step makes this");
        assert_eq!((refusal.id, refusal.field), (ObjectId(id), field));
        assert_eq!(&copy, before);
    }
}

proptest! {
    #[test]
    fn no_movement_makes_a_body_that_a_region_refuses(
        position in any::<Option<[i32; 2]>>(),
        facing in any::<Option<[i32; 2]>>(),
        velocity in any::<Option<[i32; 2]>>(),
        spin in any::<Option<i32>>(),
        slow_steps in any::<Option<u8>>(),
    ) {
        let mut region = Region::new();
        put(&mut region, 1, moving(circle(30), at(0, 0)));
        let mut copy = body(&region, 1).clone();
        let movement = Movement { position, facing, velocity, spin, slow_steps };
        let followed = copy.follow(&movement).is_ok();
        prop_assert!(followed || &copy == body(&region, 1));
        prop_assert!(Region::restore(vec![copy], Vec::new()).is_ok());
    }
}
