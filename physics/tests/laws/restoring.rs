//! A restored region goes on exactly as the original does.

use metatopia_physics::{Body, Contact, Joint, Region, RestoreRegionError, Shape, limits};
use metatopia_types::{ObjectId, wire};

use crate::scenes::{SCENES, Scene, at, circle, moving, put};

/// Restores a region from the encodings of its bodies and contacts, as another machine does.
fn restored_from_bytes(region: &Region) -> Region {
    let bodies = region.bodies().iter().map(|body| {
        let bytes = wire::encode(body);
        wire::decode::<Body>(&bytes, limits::COMPOUND_BYTES_MAX).expect("a body fits its limit")
    });
    let contacts = region.contacts().iter().map(|contact| {
        let bytes = wire::encode(contact);
        wire::decode::<Contact>(&bytes, limits::COMPOUND_CONTACT_BYTES_MAX).expect("a contact fits")
    });
    let joints = region.joints().iter().map(|joint| {
        let bytes = wire::encode(joint);
        wire::decode::<Joint>(&bytes, limits::JOINT_BYTES_MAX).expect("a joint fits")
    });
    let restored = Region::restore(bodies.collect(), contacts.collect());
    let restored = restored.expect("a region's own state is valid");
    let restored = restored.with_joints(joints.collect()).expect("its joints are, too");
    restored.with_gravity(region.gravity()).with_hits(region.hits())
}

#[test]
fn a_region_restored_before_every_step_equals_the_original() {
    for scene in &SCENES {
        let mut region = (scene.build)();
        let mut restored = (scene.build)();
        for step in 0..400 {
            restored = restored_from_bytes(&restored);
            let events = scene.step_events(&mut region, step);
            let again = scene.step_events(&mut restored, step);
            assert_eq!(events, again, "{} step {step}", scene.name);
            assert_eq!(region, restored, "{} step {step}", scene.name);
        }
    }
}

/// The busiest scenes go on for 2,000 steps: one region as it is, one restored before every step, and one
/// restored once. All three get the commands of the scene.
fn goes_on_from_each_of_two_thousand_snapshots(scene: &Scene) -> Region {
    let (mut region, mut restored) = ((scene.build)(), (scene.build)());
    let mut once = restored_from_bytes(&region);
    for step in 0..2_000 {
        restored = restored_from_bytes(&restored);
        if step == 700 {
            once = restored_from_bytes(&region);
        }
        let events = scene.step_events(&mut region, step);
        for other in [&mut restored, &mut once] {
            assert_eq!(scene.step_events(other, step), events, "step {step}");
            assert_eq!(*other, region, "step {step}");
        }
    }
    region
}

#[test]
fn a_pile_with_edits_goes_on_from_each_of_two_thousand_snapshots() {
    goes_on_from_each_of_two_thousand_snapshots(&SCENES[5]);
}

#[test]
fn joints_with_edits_go_on_from_each_of_two_thousand_snapshots() {
    for scene in &SCENES[6..8] {
        let region = goes_on_from_each_of_two_thousand_snapshots(scene);
        assert!(region.joints().len() > 1, "{}: {} are left", scene.name, region.joints().len());
    }
}

#[test]
fn compounds_with_edits_go_on_from_each_of_two_thousand_snapshots() {
    let region = goes_on_from_each_of_two_thousand_snapshots(&SCENES[8]);
    let compounds = region.bodies().iter().map(Body::shape);
    let compounds = compounds.filter(|shape| matches!(shape, Shape::Compound(_))).count();
    assert!(compounds > 4, "{compounds} are left");
}

#[test]
fn a_region_restored_without_the_impulses_of_joints_diverges() {
    // The control of the law above.
    let scene = &SCENES[6];
    let (mut region, mut forgetful) = ((scene.build)(), (scene.build)());
    for step in 0..60 {
        scene.step(&mut region, step);
        scene.step(&mut forgetful, step);
    }
    let bodies = forgetful.bodies().to_vec();
    forgetful = Region::restore(bodies, forgetful.contacts().to_vec()).expect("it is valid");
    for joint in region.joints() {
        forgetful.insert_joint(joint.id(), joint.spec()).expect("it was there");
    }
    forgetful = forgetful.with_gravity(region.gravity());
    region.step();
    forgetful.step();
    assert_ne!(region.bodies(), forgetful.bodies());
}

#[test]
fn a_region_restored_without_contacts_diverges() {
    // The control of the law above: without contacts the two must differ.
    let scene = &SCENES[1];
    let (mut region, mut forgetful) = ((scene.build)(), (scene.build)());
    let mut differs = false;
    for step in 0..300 {
        forgetful = Region::restore(forgetful.bodies().to_vec(), Vec::new()).expect("it is valid");
        scene.step(&mut region, step);
        scene.step(&mut forgetful, step);
        differs |= region.bodies() != forgetful.bodies();
    }
    assert!(differs);
}

#[test]
fn a_sleeping_region_stays_the_same_when_it_is_restored() {
    let mut region = Region::new();
    for id in 1..=5_i64 {
        put(&mut region, id as u64, moving(circle(25), at(id * 50, 0)));
    }
    while !region.is_asleep() {
        region.step();
    }
    let mut restored = restored_from_bytes(&region);
    assert!(!restored.is_asleep(), "only a step finds out that all bodies sleep");

    assert_eq!(restored.step(), []);
    assert_eq!(restored, region);
    assert!(restored.is_asleep());
}

#[test]
fn the_longest_encodings_are_within_their_limits() {
    let mut longest = (0, 0);
    for scene in &SCENES[..8] {
        let mut region = (scene.build)();
        for step in 0..200 {
            scene.step(&mut region, step);
            let bodies = region.bodies().iter().map(|body| wire::encode(body).len());
            let contacts = region.contacts().iter().map(|contact| wire::encode(contact).len());
            longest.0 = longest.0.max(bodies.max().unwrap_or(0));
            longest.1 = longest.1.max(contacts.max().unwrap_or(0));
        }
    }
    // Ids have one byte here and up to ten elsewhere. A body has one id, a contact two.
    assert!(longest.0 + 9 <= limits::BODY_BYTES_MAX, "{longest:?}");
    assert!(longest.1 + 18 <= limits::CONTACT_BYTES_MAX, "{longest:?}");
}

fn three_touching() -> (Vec<Body>, Vec<Contact>) {
    let mut region = Region::new();
    put(&mut region, 1, moving(circle(25), at(0, 0)));
    put(&mut region, 2, moving(circle(25), at(40, 0)));
    put(&mut region, 3, moving(circle(25), at(0, 40)));
    region.step();
    (region.bodies().to_vec(), region.contacts().to_vec())
}

#[test]
fn bodies_and_contacts_out_of_order_are_not_restored() {
    let (mut bodies, contacts) = three_touching();
    bodies.swap(0, 1);
    let refused = Region::restore(bodies.clone(), contacts.clone());
    assert_eq!(refused, Err(RestoreRegionError::BodyOrder(ObjectId(1))));
    bodies.swap(0, 1);

    let mut swapped = contacts.clone();
    swapped.swap(0, 1);
    let refused = Region::restore(bodies.clone(), swapped);
    assert_eq!(refused, Err(RestoreRegionError::ContactOrder(ObjectId(1), ObjectId(2))));

    bodies.push(bodies[2].clone());
    let refused = Region::restore(bodies, contacts);
    assert_eq!(refused, Err(RestoreRegionError::BodyOrder(ObjectId(3))));
}

#[test]
fn a_state_of_too_many_bodies_or_contacts_is_not_restored() {
    let (bodies, contacts) = three_touching();
    let many = vec![bodies[0].clone(); limits::BODIES_MAX + 1];
    let refused = Region::restore(many, Vec::new());
    assert_eq!(refused, Err(RestoreRegionError::Bodies(limits::BODIES_MAX + 1)));

    let many = vec![contacts[0].clone(); limits::PAIRS_MAX + 1];
    let refused = Region::restore(bodies, many);
    assert_eq!(refused, Err(RestoreRegionError::Contacts(limits::PAIRS_MAX + 1)));
}
