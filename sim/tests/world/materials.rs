//! Materials of what people build: how heavy things are, how far they slide, and that this can be taken back.

use metatopia_math::{Fx, Vec2};
use metatopia_physics::BodySpec;
use metatopia_types::{Act, Blueprint, Build, BuiltMaterial, ObjectId, Outcome, Outline, Refusal};

use crate::{
    building::{block, built, place, refused, site},
    undo_of::{ADA, MODERATOR, PEST, Scene, build, scene, undo},
    yard::{Builder, Yard, vec2},
};

/// The body of a thing, as one would found a sim with it.
fn body(yard: &Yard, id: ObjectId) -> BodySpec {
    let specs = yard.world.specs();
    specs.into_iter().find(|(found, _)| *found == id).expect("it is there").1.body
}

/// What a material decides of a body.
fn made(body: BodySpec) -> (Fx, Fx, Fx, Fx) {
    (body.mass, body.friction, body.restitution, body.linear_damping)
}

/// How far a crate of this material slides by one push.
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
    assert_eq!((of_steel.pose, of_steel.shape), (of_wood.pose, of_wood.shape));

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
