//! A region from a snapshot goes on exactly as the one that the snapshot was taken from, and damaged bytes
//! are told by name.

use metatopia_math::Fx;
use metatopia_physics::{
    Body, Bounds, Contact, Joint, NEWTON1, OutOfBounds, Region, RegionSnapshotError,
    RestoreRegionError,
};
use metatopia_types::{Digest, ObjectId, wire};
use proptest::prelude::*;

use crate::scenes::{SCENES, at, circle, moving, put};

#[test]
fn a_region_from_a_snapshot_goes_on_with_the_same_bits_for_500_steps_of_each_scene() {
    for scene in &SCENES {
        let mut region = (scene.build)();
        for step in 0..150 {
            scene.step(&mut region, step);
        }
        let bytes = region.snapshot();
        let mut restored = Region::from_snapshot(&bytes).expect("a region's own snapshot");
        assert_eq!(restored.snapshot(), bytes, "{}", scene.name);
        for step in 150..650 {
            let events = scene.step_events(&mut region, step);
            assert_eq!(scene.step_events(&mut restored, step), events, "{} {step}", scene.name);
            assert_eq!(restored.digest(), region.digest(), "{} step {step}", scene.name);
        }
    }
}

#[test]
fn a_snapshot_has_the_parameters_that_whoever_restores_a_region_had_to_set_again() {
    let bounds = Bounds::new(at(-1_000, -2_000), at(3_000, 4_000)).expect("there is ground");
    let mut region = Region::new()
        .with_bounds(bounds)
        .expect("it is empty")
        .with_gravity(at(30, -970))
        .with_sleeping(false)
        .with_hits(Some(Fx::from_int(3)));
    put(&mut region, 1, moving(circle(30), at(100, 0)));
    put(&mut region, 2, moving(circle(30), at(120, 0)));
    region.step();
    region.remove(ObjectId(2)).expect("it is there");
    let mut restored = Region::from_snapshot(&region.snapshot()).expect("its own snapshot");
    assert_eq!(restored, region);
    assert_eq!((restored.bounds(), restored.gravity()), (region.bounds(), region.gravity()));
    assert_eq!(restored.hits(), region.hits());
    let events = region.step_events();
    assert_eq!(events.touches.len(), 1, "the touch of the body that was removed ends");
    assert_eq!(restored.step_events(), events);
}

#[test]
fn regions_that_go_on_alike_have_one_digest_and_others_have_another() {
    let (mut one, other) = (Region::new(), Region::new().with_gravity(at(0, -1)));
    assert_eq!(one.digest(), Region::new().digest());
    assert_ne!(one.digest(), other.digest());
    put(&mut one, 1, moving(circle(30), at(0, 0)));
    assert_ne!(one.digest(), Region::new().digest());
}

/// The parameters as they are encoded: two corners, gravity, sleep, least speed of a hit.
type ForgedParameters = ([[i32; 2]; 3], bool, Option<i32>);

const USUAL: ForgedParameters = ([[-1 << 30, -1 << 30], [1 << 30, 1 << 30], [0, 0]], true, None);

/// Writes a snapshot of anything, with the digest that belongs to it.
fn forged(tier: &str, parameters: ForgedParameters, bodies: &[Body], state: &[u8]) -> Vec<u8> {
    let none: (&[Contact], &[Joint]) = (&[], &[]);
    let content = wire::encode(&(tier, parameters, bodies, none));
    let length = (content.len() as u32).to_le_bytes();
    sealed([b"region\x01", length.as_slice(), &content, state].concat())
}

fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    let digest = Digest::of("metatopia-physics snapshot", &bytes);
    bytes.extend(digest.0);
    bytes
}

fn refused(bytes: &[u8]) -> RegionSnapshotError {
    Region::from_snapshot(bytes).expect_err("no snapshot")
}

#[test]
fn bytes_that_are_no_snapshot_are_refused_by_name() {
    assert_eq!(forged(NEWTON1, USUAL, &[], &[]), Region::new().snapshot());
    assert_eq!(refused(b""), RegionSnapshotError::Foreign);
    assert_eq!(refused(b"region"), RegionSnapshotError::Foreign);
    assert_eq!(refused(b"a letter from a friend"), RegionSnapshotError::Foreign);
    let mut bytes = Region::new().snapshot();
    assert_eq!(refused(&bytes[..bytes.len() - 1]), RegionSnapshotError::Damaged);
    bytes[6] = 2;
    assert_eq!(refused(&bytes), RegionSnapshotError::Format(2));
    assert_eq!(
        refused(&bytes).to_string(),
        "a snapshot of format 2, and this program reads format 1"
    );
    assert_eq!(refused(&sealed(b"region\x01".to_vec())), RegionSnapshotError::Malformed);
    let short = sealed(b"region\x01\x09\0\0\0bodies".to_vec());
    assert_eq!(refused(&short), RegionSnapshotError::Malformed);
    assert_eq!(refused(&forged(NEWTON1, USUAL, &[], &[7])), RegionSnapshotError::Malformed);
}

#[test]
fn a_snapshot_of_another_tier_is_refused_with_both_names() {
    let error = refused(&forged("newton3, version 9", USUAL, &[], &[]));
    let (tier, known) = ("newton3, version 9".to_owned(), NEWTON1.to_owned());
    assert_eq!(error, RegionSnapshotError::Tier { tier, known });
    let text = error.to_string();
    assert!(text.contains("newton3, version 9") && text.contains("newton1, version 1"), "{text}");
}

#[test]
fn parameters_and_bodies_that_no_region_has_are_refused_by_name() {
    let ([low, high, none], sleeping, hits) = USUAL;
    for (parameters, field) in [
        (([high, low, none], sleeping, hits), "bounds"),
        (([low, [i32::MAX; 2], none], sleeping, hits), "bounds"),
        (([low, high, [i32::MIN; 2]], sleeping, hits), "gravity"),
        (([low, high, none], sleeping, Some(0)), "least speed of a hit"),
    ] {
        let error = refused(&forged(NEWTON1, parameters, &[], &[]));
        assert_eq!(error, RegionSnapshotError::Parameter(field));
    }
    let mut region = Region::new();
    put(&mut region, 1, moving(circle(30), at(500, 0)));
    put(&mut region, 2, moving(circle(30), at(0, 0)));
    let mut bodies = region.bodies().to_vec();
    let small = ([[-1 << 20, -1 << 20], [1 << 20, 1 << 20], none], sleeping, hits);
    let outside = RegionSnapshotError::Outside(OutOfBounds(ObjectId(1)));
    assert_eq!(refused(&forged(NEWTON1, small, &bodies, &[])), outside);
    bodies.swap(0, 1);
    let unordered = RestoreRegionError::BodyOrder(ObjectId(1));
    let error = refused(&forged(NEWTON1, USUAL, &bodies, &[]));
    assert_eq!(error, RegionSnapshotError::State(unordered));
}

/// A snapshot with bodies, contacts and joints.
fn busy() -> Vec<u8> {
    let mut region = (SCENES[6].build)();
    for step in 0..90 {
        SCENES[6].step(&mut region, step);
    }
    region.snapshot()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn a_flipped_bit_or_a_missing_end_is_told(at in any::<prop::sample::Index>(), bit in 0..8_u8) {
        let whole = busy();
        let mut flipped = whole.clone();
        let at = at.index(whole.len());
        flipped[at] ^= 1 << bit;
        prop_assert!(Region::from_snapshot(&flipped).is_err());
        prop_assert!(Region::from_snapshot(&whole[..at]).is_err());
    }

    #[test]
    fn forged_bytes_are_refused_or_make_a_region_that_steps(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let whole = busy();
        let mut content = whole[..whole.len() - 32].to_vec();
        for (at, byte) in changes {
            let at = at.index(content.len());
            content[at] = byte;
        }
        if let Ok(mut region) = Region::from_snapshot(&sealed(content)) {
            for _ in 0..10 {
                region.step();
            }
            prop_assert!(region.bodies().iter().all(|body| body.check().is_ok()));
        }
    }
}
