//! Materials of what people build: how heavy things are, how far they slide, and that this can be taken back.

use metatopia_math::{Fx, Vec2};
use metatopia_physics::{BodySpec, Motion, limits};
use metatopia_types::{
    Act, Blueprint, BodyShape, Build, BuiltMaterial, ObjectId, Outcome, Outline, Refusal,
};

use crate::{
    building::{block, built, place, refused, site},
    undo_of::{ADA, MODERATOR, PEST, Scene, build, scene, undo},
    yard::{Builder, Yard, public, vec2},
};

/// The body of a thing, as one would found a sim with it.
pub(crate) fn body(yard: &Yard, id: ObjectId) -> BodySpec {
    let specs = yard.world.specs();
    specs.into_iter().find(|(found, _)| *found == id).expect("it is there").1.body
}

/// Returns what a material decides of a body: mass, friction, restitution and damping.
fn made(body: BodySpec) -> (Fx, Fx, Fx, Fx) {
    (body.mass, body.friction, body.restitution, body.linear_damping)
}

/// Returns how far a crate of this material slides by one push.
fn slides(material: BuiltMaterial) -> Fx {
    let mut yard = site(&mut Builder::new());
    let crate_ = place(&mut yard, 1, Blueprint { movable: true, ..block(3, 0) });
    if material != BuiltMaterial::Wood {
        let make = Build::MakeOf { object: crate_, material };
        assert_eq!(built(&mut yard, 1, make), Outcome::Ok);
    }
    let from = yard.position(crate_);
    yard.walk_to(1, from.saturating_sub(Vec2::new(Fx::from_ratio(3, 2), Fx::ZERO)));
    let from = yard.position(crate_);
    assert_eq!(yard.try_act(1, Act::Push { object: crate_ }), Outcome::Ok);
    yard.idle(60);
    yard.check_leaves();
    yard.position(crate_).distance(from)
}

#[test]
fn one_push_tells_materials_apart() {
    use BuiltMaterial as M;
    let [wood, stone, steel, rubber, ice, foam] =
        [M::Wood, M::Stone, M::Steel, M::Rubber, M::Ice, M::Foam].map(slides);
    println!("wood {wood}, stone {stone}, steel {steel}, rubber {rubber}, ice {ice}, foam {foam}");
    assert!(steel < stone && stone < wood, "heavier things slide less");
    assert!(ice > wood.saturating_mul(Fx::from_int(2)), "ice slides far");
    assert!(foam > wood, "what weighs nothing flies");
    assert!(rubber > Fx::ZERO);
}

#[test]
fn the_material_stays_with_another_size_and_in_a_copy_and_is_taken_back_by_undo() {
    let mut yard = site(&mut Builder::new());
    let first = place(&mut yard, 1, Blueprint { movable: true, ..block(3, 0) });
    let of_wood = body(&yard, first);
    let steel = Build::MakeOf { object: first, material: BuiltMaterial::Steel };
    assert_eq!(built(&mut yard, 1, steel), Outcome::Ok);
    let of_steel = body(&yard, first);
    assert_eq!(of_steel.mass, of_wood.mass.saturating_mul(Fx::from_int(8)));
    assert_eq!((of_steel.pose, &of_steel.shape), (of_wood.pose, &of_wood.shape));

    let Outcome::Made(copy) =
        built(&mut yard, 1, Build::Copy { object: first, position: vec2(3, 3) })
    else {
        panic!("it is not copied")
    };
    assert_eq!(made(body(&yard, copy)), made(of_steel));
    // Twice as wide and high, it has four times the mass.
    let half = Vec2::new(Fx::ONE, Fx::ONE);
    let resize = |half| Build::Resize { object: copy, outline: Outline::Box { half } };
    assert_eq!(built(&mut yard, 1, resize(half)), Outcome::Ok);
    let whole = body(&yard, copy).mass;
    let half = Vec2::new(Fx::HALF, Fx::HALF);
    assert_eq!(built(&mut yard, 1, resize(half)), Outcome::Ok);
    assert_eq!(whole, body(&yard, copy).mass.saturating_mul(Fx::from_int(4)));

    for _ in 0..4 {
        assert!(matches!(built(&mut yard, 1, Build::Undo { skip: 0 }), Outcome::Ok));
    }
    assert_eq!(made(body(&yard, first)), made(of_wood));
    yard.check_leaves();
}

#[test]
fn nobody_changes_the_material_of_what_somebody_holds_or_of_what_is_out_of_reach() {
    let mut yard = site(&mut Builder::new());
    let near = place(&mut yard, 1, Blueprint { movable: true, ..block(3, 0) });
    let ice = Build::MakeOf { object: near, material: BuiltMaterial::Ice };
    assert_eq!(built(&mut yard, 1, Build::Take { object: near }), Outcome::Ok);
    assert_eq!(built(&mut yard, 1, ice.clone()), refused(Refusal::Held));
    let put_down = Build::PutDown { object: near, position: vec2(3, 0) };
    assert_eq!(built(&mut yard, 1, put_down), Outcome::Ok);
    assert_eq!(built(&mut yard, 1, ice.clone()), Outcome::Ok);
    assert_eq!(built(&mut yard, 2, ice), refused(Refusal::NotYours));
    let nothing = Build::MakeOf { object: ObjectId(999), material: BuiltMaterial::Ice };
    assert_eq!(built(&mut yard, 1, nothing), refused(Refusal::NoObject));
}

#[test]
fn a_moderator_takes_back_what_a_pest_made_of_ice() {
    let Scene { mut yard, .. } = scene();
    let bench = place(&mut yard, ADA, Blueprint { movable: true, ..block(4, -3) });
    let before = made(body(&yard, bench));
    build(&mut yard, PEST, Build::MakeOf { object: bench, material: BuiltMaterial::Ice });
    assert_ne!(made(body(&yard, bench)), before);
    assert_eq!(undo(&mut yard, MODERATOR, 3_600), Outcome::Ok);
    assert_eq!(made(body(&yard, bench)), before);
    yard.check_leaves();
}

/// Returns what a crate is once these steps were taken, and the one before the last `undone` ones was undone.
fn after(steps: &[fn(ObjectId) -> Build], undone: Option<u8>) -> (BodySpec, BodyShape) {
    let mut builder = Builder::new();
    builder.genesis.parameters.avatar.reach = Fx::from_int(10);
    builder.genesis.parameters.avatar.spawn_radius = Fx::HALF;
    let mut yard = builder.build();
    yard.login(1);
    yard.play();
    let id = place(&mut yard, 1, Blueprint { movable: true, ..block(8, 0) });
    for step in steps {
        assert_eq!(built(&mut yard, 1, step(id)), Outcome::Ok);
    }
    if let Some(skip) = undone {
        assert_eq!(built(&mut yard, 1, Build::Undo { skip }), Outcome::Ok);
    }
    yard.check_leaves();
    let look = yard.world.object(id).expect("it is there").look;
    (body(&yard, id), look.shape)
}

const fn sized(object: ObjectId, half: Fx) -> Build {
    Build::Resize { object, outline: Outline::Box { half: Vec2::new(half, half) } }
}

fn large(object: ObjectId) -> Build {
    sized(object, Fx::from_int(5))
}

fn small(object: ObjectId) -> Build {
    sized(object, Fx::from_ratio(1, 16))
}

fn of(object: ObjectId, material: BuiltMaterial) -> Build {
    Build::MakeOf { object, material }
}

fn steel(object: ObjectId) -> Build {
    of(object, BuiltMaterial::Steel)
}

fn foam(object: ObjectId) -> Build {
    of(object, BuiltMaterial::Foam)
}

/// The undo of a step wrote the mass of then onto the size or the material of now, so a stone of 12 cm weighed
/// three tons, and one of 10 m some grams.
#[test]
fn whoever_undoes_another_step_than_the_last_gets_the_mass_that_goes_with_size_and_material() {
    type Step = fn(ObjectId) -> Build;
    let cases: [(&[Step], Step, Step); 6] = [
        (&[], steel, small),
        (&[], steel, large),
        (&[], small, steel),
        (&[large], foam, small),
        (&[small, foam], large, steel),
        (&[large, steel], foam, small),
    ];
    for (n, (before, first, second)) in cases.into_iter().enumerate() {
        let both = [before, &[first, second]].concat();
        // As if the first step had never been.
        let alone = [before, &[second]].concat();
        assert_eq!(after(&both, Some(1)), after(&alone, None), "case {n}");
        // And the last one alone is taken back to the last bit.
        let one = [before, &[first]].concat();
        assert_eq!(after(&both, Some(0)), after(&one, None), "case {n}");
    }
}

/// A share of the mass of wood was multiplied, also of a mass that physics had clamped.
#[test]
fn a_thing_has_the_mass_of_its_material_whatever_sizes_it_had_before() {
    for make in [steel, foam] {
        let mass = |steps: &[fn(ObjectId) -> Build]| after(steps, None).0.mass;
        assert_eq!(mass(&[make, large, small]), mass(&[small, make]));
        assert_eq!(mass(&[make, small, large]), mass(&[large, make]));
    }
    let [least, most] = [[foam, small], [steel, large]].map(|steps| after(&steps, None).0.mass);
    println!("from {least} to {most} kg");
    assert_eq!((least, most), (limits::MASS_MIN, limits::MASS_MAX), "both are clamped");
}

#[test]
fn the_material_of_a_seat_is_taken_back_under_whoever_sits_there() {
    let mut builder = Builder::new();
    let bench = builder.thing(Motion::Dynamic, (3, 0), &[]);
    let spec = builder.genesis.objects.last_mut().expect("the bench");
    (spec.owner, spec.seat) = (Some(public(1)), Some(Vec2::ZERO));
    let mut yard = site(&mut builder);
    let before = made(body(&yard, bench));
    assert_eq!(built(&mut yard, 1, steel(bench)), Outcome::Ok);
    assert_eq!(yard.try_act(1, Act::Sit { on: Some(bench) }), Outcome::Ok);
    assert_eq!(built(&mut yard, 1, Build::Undo { skip: 0 }), Outcome::Ok);
    assert_eq!(made(body(&yard, bench)), before);
}
