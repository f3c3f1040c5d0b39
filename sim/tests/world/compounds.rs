//! Things of several parts: how many there may be, and what builders do with them.

use metatopia_math::{Angle, Fx, Stream, Vec2};
use metatopia_physics::{Compound, CompoundPart, Motion};
use metatopia_sim::{
    Serial, Shape,
    limits::{OWNER_COMPOUNDS_MAX, SIM_COMPOUNDS_MAX},
};
use metatopia_types::{Act, AssetLicence, Build, ObjectId, Outcome, Outline, Refusal};

use crate::{
    building::{built, refused, site},
    snapshots::restored,
    yard::{Builder, Yard, public, vec2},
};

/// A hammer: a handle of a metre, and a head across its end.
pub(crate) fn hammer() -> Shape {
    let bar = |x: i64, y: i64| {
        CompoundPart::new(Shape::Rect {
            half: Vec2::new(Fx::from_ratio(x, 10), Fx::from_ratio(y, 10)),
        })
    };
    let head = bar(1, 4).at(Vec2::new(Fx::from_ratio(6, 10), Fx::ZERO));
    Shape::Compound(Compound::new(&[bar(5, 1), head]).expect("a hammer"))
}

/// A yard with a free hammer in front of the players, and so many that stand elsewhere.
fn workshop(others: usize) -> (Yard, ObjectId) {
    let mut builder = Builder::new();
    for n in 0..=others {
        let at = if n == 0 { (3, 0) } else { (40 + 2 * (n as i32 % 8), 2 * (n as i32 / 8)) };
        builder.thing(Motion::Dynamic, at, &[]);
        let object = builder.genesis.objects.last_mut().expect("it was just made");
        (object.body.shape, object.licence) = (hammer(), AssetLicence::Cc0);
    }
    builder.genesis.parameters.building.movable_per_player = 64;
    (site(&mut builder), ObjectId(1))
}

fn shape(yard: &Yard, id: ObjectId) -> Shape {
    yard.world.object(id).expect("it is there").shape
}

fn copied(yard: &mut Yard, object: ObjectId, at: (i32, i32)) -> Outcome {
    built(yard, 1, Build::Copy { object, position: vec2(at.0, at.1) })
}

#[test]
fn a_hammer_is_copied_moved_turned_taken_in_hand_deleted_and_taken_back_and_keeps_its_size() {
    let (mut yard, first) = workshop(0);
    let Outcome::Made(object) = copied(&mut yard, first, (3, 3)) else { panic!("no copy") };
    let angle = Angle::from_turns(Fx::from_ratio(1, 3));
    for build in [
        Build::Move { object, position: vec2(2, 3) },
        Build::Rotate { object, angle },
        Build::Recolor { object, color: 0x00ff_0000 },
        Build::Take { object },
        Build::PutDown { object, position: vec2(3, -2) },
        Build::Delete { object },
        Build::Undo { skip: 0 },
    ] {
        assert_eq!(built(&mut yard, 1, build.clone()), Outcome::Ok, "{build:?}");
        yard.check_leaves();
    }
    assert_eq!(shape(&yard, object), hammer());
    let outline = Outline::Disc { radius: Fx::HALF };
    let resize = Build::Resize { object, outline };
    assert_eq!(built(&mut yard, 1, resize), refused(Refusal::OfParts));
    assert_eq!(shape(&yard, object), hammer());
    // It is pushed as any other thing.
    let from = yard.position(first);
    yard.walk_to(1, from.saturating_sub(vec2(2, 0)));
    assert_eq!(yard.try_act(1, Act::Push { object: first }), Outcome::Ok);
    yard.idle(40);
    assert!(yard.position(first).distance(from) > Fx::from_ratio(1, 4));
    yard.check_leaves();
}

#[test]
fn what_is_of_several_parts_has_the_sizes_that_builders_may_make() {
    let (mut yard, first) = workshop(0);
    let max = |size: &str| Act::Amend { name: "building.size_max".into(), value: size.into() };
    assert_eq!(yard.try_act(100, max("1")), Outcome::Ok);
    assert_eq!(copied(&mut yard, first, (3, 3)), refused(Refusal::BadSize));
    assert_eq!(yard.try_act(100, max("2")), Outcome::Ok);
    assert!(matches!(copied(&mut yard, first, (3, 3)), Outcome::Made(_)));
}

/// Anybody could have filled the sim's room for them by herself.
#[test]
fn a_player_owns_eight_things_of_several_parts_and_is_given_half_of_that() {
    let (mut yard, first) = workshop(0);
    let place = |n: usize| (1 + 2 * (n as i32 % 4), if n < 4 { 3 } else { -3 - n as i32 / 8 });
    let mut made = Vec::new();
    for n in 0..OWNER_COMPOUNDS_MAX {
        let outcome = copied(&mut yard, first, place(n));
        let Outcome::Made(object) = outcome else { panic!("{n}: {outcome:?}") };
        made.push(object);
    }
    let more = place(OWNER_COMPOUNDS_MAX);
    assert_eq!(copied(&mut yard, first, more), refused(Refusal::TooManyCompounds));
    let given = |yard: &mut Yard, object| built(yard, 1, Build::Give { object, to: public(2) });
    for object in made.drain(..OWNER_COMPOUNDS_MAX / 2) {
        assert_eq!(given(&mut yard, object), Outcome::Ok);
    }
    assert_eq!(given(&mut yard, made[0]), refused(Refusal::NoRoomForGifts));
    // What she gave away counts no more, and what she deletes neither.
    assert!(matches!(copied(&mut yard, first, more), Outcome::Made(_)));
    let Outcome::Made(_) = copied(&mut yard, first, (1, 5)) else { panic!("room for another") };
    for n in 0..2 {
        assert!(matches!(copied(&mut yard, first, (3 + 2 * n, 5)), Outcome::Made(_)), "{n}");
    }
    assert_eq!(built(&mut yard, 1, Build::Delete { object: made[0] }), Outcome::Ok);
    assert!(matches!(copied(&mut yard, first, place(0)), Outcome::Made(_)));
    // The copy is passed over, and her place for what was deleted is taken.
    let undo = Build::Undo { skip: 1 };
    assert_eq!(built(&mut yard, 1, undo), refused(Refusal::TooManyCompounds));
    yard.check_leaves();
}

#[test]
fn a_sim_has_as_many_things_of_several_parts_as_may_be() {
    let (mut yard, first) = workshop(SIM_COMPOUNDS_MAX - 2);
    let Outcome::Made(last) = copied(&mut yard, first, (3, 3)) else { panic!("room for one") };
    assert_eq!(copied(&mut yard, first, (3, -3)), refused(Refusal::TooManyCompounds));
    assert_eq!(built(&mut yard, 1, Build::Delete { object: last }), Outcome::Ok);
    assert!(matches!(copied(&mut yard, first, (3, -3)), Outcome::Made(_)));
    // The copy is passed over, and the place of what was deleted is taken.
    let undo = Build::Undo { skip: 1 };
    assert_eq!(built(&mut yard, 1, undo), refused(Refusal::TooManyCompounds));
    yard.check_leaves();
}

/// Returns a compound of parts that the dice choose.
fn drawn(dice: &mut Stream) -> Shape {
    let mut number =
        |low: i64, high: u64| Fx::from_ratio(low.saturating_add(dice.below(high) as i64), 100);
    let mut part = |kind: i64| {
        let (x, y) = (number(10, 60), number(10, 60));
        let shape = match kind {
            0 => Shape::Circle { radius: x },
            1 => Shape::Rect { half: Vec2::new(x, y) },
            _ => Shape::Capsule { half: x, radius: y },
        };
        let offset = Vec2::new(number(-150, 300), number(-150, 300));
        let angle = Angle::from_turns(number(0, 100));
        CompoundPart { shape, offset, angle }
    };
    let parts: Vec<CompoundPart> = (0..8).map(|n| part(n % 3)).collect();
    Shape::Compound(Compound::new(&parts).expect("eight parts"))
}

#[test]
fn random_compounds_that_fall_on_each_other_are_the_same_in_a_sim_that_is_restored() {
    let mut dice = Stream::new(&[7; 32], "compounds", &[1]);
    let mut builder = Builder::new();
    for n in 0..24 {
        builder.thing(Motion::Dynamic, (10 + n % 6, n / 6), &[]);
        let object = builder.genesis.objects.last_mut().expect("it was just made");
        object.body.shape = drawn(&mut dice);
    }
    let mut yard = builder.build();
    for _ in 0..6 {
        yard.idle(7);
        yard.check_leaves();
    }
    let mut again = restored(&yard.world, &builder.tools());
    for turn in 0..20 {
        yard.play();
        again.apply(yard.log.last().expect("it was just played"), &Serial);
        assert_eq!(again.root(), yard.world.root(), "turn {turn}");
    }
}
