use metatopia_math::{Fx, Vec2};
use metatopia_physics::{BodySpec, Motion, Region, Shape, Tier, TierStep, TierView};
use metatopia_types::ObjectId;
use rapier2d::prelude::Vector;

use super::Newton2;

/// The tier, where a wrong number gets into rapier's world before one of the steps.
#[derive(Clone, Debug)]
struct Poisoned {
    tier: Newton2,
    left: u32,
    poison: fn(&mut rapier2d::prelude::RigidBody),
}

impl Tier for Poisoned {
    fn name(&self) -> &'static str {
        self.tier.name()
    }

    fn bodies_max(&self) -> usize {
        self.tier.bodies_max()
    }

    fn step(&mut self, view: TierView<'_>) -> TierStep {
        self.left = self.left.wrapping_sub(1);
        if let (0, Some(warm)) = (self.left, &mut self.tier.warm) {
            let mut bodies = warm.engine.world.bodies.iter_mut().map(|(_, body)| body);
            (self.poison)(bodies.find(|body| body.user_data == 3).expect("the body"));
        }
        self.tier.step(view)
    }

    fn state(&self) -> Vec<u8> {
        self.tier.state()
    }

    fn forget(&mut self) {
        self.tier.forget();
    }

    fn fork(&self) -> Box<dyn Tier> {
        Box::new(self.clone())
    }
}

fn point(x: i32, y: i32) -> Vec2 {
    Vec2::new(Fx::from_int(x), Fx::from_int(y))
}

/// A stack of three crates on ground, of which the middle one is poisoned before step 30.
fn region(poison: fn(&mut rapier2d::prelude::RigidBody)) -> Region {
    let mut region = Region::new().with_gravity(point(0, -10));
    let floor = Shape::Rect { half: point(20, 1) };
    let crate_ = Shape::Rect { half: Vec2::new(Fx::HALF, Fx::HALF) };
    let spec = BodySpec::new(floor, Motion::Static, point(0, -1));
    region.insert(ObjectId(1), &spec).expect("a floor");
    for n in 0..3 {
        let at = point(0, n).saturating_add(Vec2::new(Fx::ZERO, Fx::HALF));
        let spec = BodySpec::new(crate_.clone(), Motion::Dynamic, at);
        region.insert(ObjectId(2 + n as u64), &spec).expect("a crate");
    }
    let tier = Poisoned { tier: Newton2::new(), left: 30, poison };
    region.with_tier(Box::new(tier)).expect("four bodies")
}

const POISONS: [fn(&mut rapier2d::prelude::RigidBody); 4] = [
    |body| body.set_linvel(Vector::new(f32::NAN, 0.0), true),
    |body| body.set_linvel(Vector::new(0.0, f32::INFINITY), true),
    |body| body.set_angvel(f32::NAN, true),
    |body| body.set_translation(Vector::new(f32::NAN, f32::NAN), true),
];

#[test]
fn a_body_without_a_number_is_frozen_where_it_was_before_anybody_sees_it() {
    for (n, poison) in POISONS.into_iter().enumerate() {
        let mut region = region(poison);
        (0..29).for_each(|_| drop(region.step()));
        let before = region.body(ObjectId(3)).expect("the body").clone();
        assert!(region.frozen().is_empty());
        region.step();
        assert!(region.frozen().contains(&ObjectId(3)), "poison {n}: {:?}", region.frozen());
        let after = region.body(ObjectId(3)).expect("the body stays");
        assert_eq!(after.motion(), Motion::Static, "poison {n}");
        assert_eq!((after.position(), after.velocity()), (before.position(), Vec2::ZERO));
        // Nothing of the wrong number is left: the next step begins from the bodies alone.
        let state = region.tier_state().expect("a state");
        assert!(Newton2::restore(&state).expect("a state").is_cold(), "poison {n}");
        for _ in 0..200 {
            region.step();
            assert!(region.frozen().is_empty(), "poison {n}");
            assert!(region.bodies().iter().all(|body| body.check().is_ok()), "poison {n}");
        }
        assert!(region.is_asleep(), "poison {n}");
    }
}

#[test]
fn a_region_goes_on_from_a_freeze_as_one_that_was_restored_from_it() {
    let mut whole = region(POISONS[0]);
    (0..30).for_each(|_| drop(whole.step()));
    assert!(!whole.frozen().is_empty());
    let tier = Newton2::restore(&whole.tier_state().expect("a state")).expect("a state");
    let mut read_back = Region::restore(whole.bodies().to_vec(), whole.contacts().to_vec())
        .expect("a state")
        .with_gravity(whole.gravity())
        .with_tier(Box::new(tier))
        .expect("four bodies");
    for _ in 0..100 {
        assert_eq!(whole.step(), read_back.step());
        assert_eq!(whole, read_back);
    }
}
