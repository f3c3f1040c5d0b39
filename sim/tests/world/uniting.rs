//! Things of several parts that builders and scripts make: by a blueprint, and of things that stand there.

use metatopia_math::{Angle, Fx, Vec2};
use metatopia_physics::{Compound, Motion};
use metatopia_sim::{
    Shape,
    limits::{BUILDS_PER_AUTHOR_MAX, OWNER_COMPOUNDS_MAX, SIM_COMPOUNDS_MAX},
};
use metatopia_types::{
    Act, AssetLicence, Blueprint, Build, GovernOrder, ObjectId, Outcome, Outline, OutlineCorners,
    OutlinePart, OutlineParts, Refusal, SignedEnvelope,
};

use crate::{
    building::{block, built, place, refused, site},
    compounds::hammer,
    materials::body,
    spawning::{called, own_tree, touch},
    yard::{Builder, Yard, public, vec2},
};

/// A ten-thousandth of a metre: positions of parts are rounded twice.
const ROUNDED: Fx = Fx::from_ratio(1, 10_000);

fn bar(x: i64, y: i64) -> Outline {
    Outline::Box { half: Vec2::new(Fx::from_ratio(x, 10), Fx::from_ratio(y, 10)) }
}

fn part(outline: Outline, offset: (i32, i32), angle: Angle) -> OutlinePart {
    OutlinePart { outline, offset: vec2(offset.0, offset.1), angle }
}

fn of(parts: Vec<OutlinePart>) -> OutlineParts {
    OutlineParts::new(parts).expect("eight parts at most")
}

/// A table seen from its side: a board, with a leg under each end.
fn table() -> Blueprint {
    let legs = [-1, 1].map(|side| part(bar(1, 5), (side, -1), Angle::ZERO));
    Blueprint { outline: bar(12, 1), parts: of(legs.to_vec()), ..block(3, 4) }
}

fn compound(yard: &Yard, id: ObjectId) -> Compound {
    match yard.world.object(id).expect("it is there").shape {
        Shape::Compound(compound) => compound,
        other => panic!("of one part: {other:?}"),
    }
}

/// Returns where each part of a thing is, and which way it faces.
fn places(yard: &Yard, id: ObjectId) -> Vec<(Vec2, Angle)> {
    let seen = yard.world.object(id).expect("it is there");
    let place = |part: metatopia_physics::CompoundPart| {
        let at = part.offset.rotate(seen.angle).saturating_add(seen.position);
        (at, part.angle.wrapping_add(seen.angle))
    };
    compound(yard, id).parts().map(place).collect()
}

/// Returns the thing that several of player 1 become.
fn united(yard: &mut Yard, objects: Vec<ObjectId>) -> ObjectId {
    match built(yard, 1, Build::Unite { objects }) {
        Outcome::Made(object) => object,
        other => panic!("{other}"),
    }
}

fn is_near(found: &[(Vec2, Angle)], wanted: &[(Vec2, Angle)]) -> bool {
    let near = |((at, facing), (wanted, angle)): (&(Vec2, Angle), &(Vec2, Angle))| {
        at.distance(*wanted) < ROUNDED && facing == angle
    };
    found.len() == wanted.len() && found.iter().zip(wanted).all(near)
}

#[test]
fn a_blueprint_of_several_parts_stands_where_its_first_part_is_put() {
    let mut yard = site(&mut Builder::new());
    let id = place(&mut yard, 1, table());
    let straight = [vec2(3, 4), vec2(2, 3), vec2(4, 3)].map(|at| (at, Angle::ZERO));
    assert!(is_near(&places(&yard, id), &straight), "{:?}", places(&yard, id));
    // Its centre of mass is lower than its board.
    assert!(yard.position(id).y < Fx::from_ratio(37, 10), "{}", yard.position(id));
    let angle = Angle::QUARTER;
    let turned = place(&mut yard, 1, Blueprint { angle, position: vec2(-4, 4), ..table() });
    let wanted = [vec2(-4, 4), vec2(-3, 3), vec2(-3, 5)].map(|at| (at, angle));
    assert!(is_near(&places(&yard, turned), &wanted), "{:?}", places(&yard, turned));
    assert_eq!(built(&mut yard, 1, Build::Undo { skip: 0 }), Outcome::Ok);
    assert!(yard.world.object(turned).is_none());
    yard.check_leaves();
}

#[test]
fn parts_that_are_no_thing_are_refused_by_name() {
    let mut yard = site(&mut Builder::new());
    let corners = |corners: &[(i32, i32)]| {
        let corners: Vec<Vec2> = corners.iter().map(|(x, y)| vec2(*x, *y)).collect();
        Outline::Polygon(OutlineCorners::new(&corners).expect("three to eight"))
    };
    let inward = corners(&[(0, 0), (4, 0), (1, 1), (0, 4)]);
    let with = |part| Build::Place(Blueprint { parts: of(vec![part]), ..table() });
    for (part, why) in [
        (part(inward, (0, 0), Angle::ZERO), Refusal::BadCorners),
        (part(Outline::Disc { radius: Fx::ZERO }, (0, 0), Angle::ZERO), Refusal::BadSize),
        (part(Outline::Disc { radius: Fx::MIN }, (0, 0), Angle::ZERO), Refusal::BadSize),
        (part(bar(1, 1), (9, 0), Angle::ZERO), Refusal::BadSize),
        (part(bar(1, 1), (100_000, 0), Angle::ZERO), Refusal::BadSize),
    ] {
        assert_eq!(built(&mut yard, 1, with(part)), refused(why), "{part:?}");
    }
    let Outcome::Made(_) = built(&mut yard, 1, with(part(bar(1, 1), (1, 0), Angle::EIGHTH))) else {
        panic!("that is a thing")
    };
}

#[test]
fn things_become_one_where_they_stand_and_an_undo_takes_them_apart() {
    let mut yard = site(&mut Builder::new());
    let free = |x, y| Blueprint { movable: true, licence: AssetLicence::Cc0, ..block(x, y) };
    let angle = Angle::from_turns(Fx::from_ratio(1, 7));
    let first = place(&mut yard, 1, Blueprint { name: "cart".to_owned(), angle, ..free(3, 3) });
    let wheel = Outline::Disc { radius: Fx::from_ratio(3, 10) };
    let second = place(&mut yard, 1, Blueprint { outline: wheel, ..free(4, 2) });
    let licence = AssetLicence::CcBySa;
    let third = place(&mut yard, 1, Blueprint { licence, ..table() });
    let mut wanted: Vec<(Vec2, Angle)> = [first, second]
        .map(|id| yard.world.object(id).map(|seen| (seen.position, seen.angle)).expect("there"))
        .to_vec();
    wanted.extend(places(&yard, third));
    let mass = |yard: &Yard, id| body(yard, id).mass;
    let before: Vec<Fx> = [first, second, third].map(|id| mass(&yard, id)).to_vec();

    let cart = united(&mut yard, vec![first, second, third]);
    let seen = yard.world.object(cart).expect("it is there");
    assert_eq!((seen.name.as_str(), body(&yard, cart).motion), ("cart", Motion::Dynamic));
    assert_eq!((seen.owner, seen.author), (Some(public(1)), Some(public(1))));
    assert_eq!(seen.licence, licence);
    assert!(is_near(&places(&yard, cart), &wanted), "{:?} {wanted:?}", places(&yard, cart));
    // All of them were of wood, and so is it.
    let sum = before.iter().copied().fold(Fx::ZERO, Fx::saturating_add);
    let apart = mass(&yard, cart).saturating_sub(sum).saturating_abs();
    assert!(apart < Fx::from_ratio(1, 100), "{} {sum}", mass(&yard, cart));
    for id in [first, second, third] {
        assert!(yard.world.object(id).is_none(), "{id}");
    }
    yard.idle(60);
    assert!(is_near(&places(&yard, cart), &wanted), "nothing pushed it");
    yard.check_leaves();

    assert_eq!(built(&mut yard, 1, Build::Undo { skip: 0 }), Outcome::Ok);
    assert!(yard.world.object(cart).is_none());
    for id in [first, second, third] {
        assert!(yard.world.object(id).is_some(), "{id}");
    }
    yard.idle(60);
    for (id, (at, _)) in [first, second].into_iter().zip(&wanted) {
        assert!(yard.position(id).distance(*at) < ROUNDED, "{id} was pushed");
    }
    yard.check_leaves();
}

/// The whole went by the first undo, and a part that had no place then never came back.
#[test]
fn what_was_united_comes_apart_as_a_whole_or_not_at_all() {
    let mut builder = Builder::new();
    builder.genesis.parameters.building.objects_per_player = 3;
    builder.genesis.parameters.building.movable_per_player = 3;
    let mut yard = site(&mut builder);
    let movable = |x, y| Blueprint { movable: true, ..block(x, y) };
    let pair = [(3, 2), (3, 4)].map(|(x, y)| place(&mut yard, 1, movable(x, y)));
    let whole = united(&mut yard, pair.to_vec());
    let is_whole = |yard: &Yard| {
        let part = pair.iter().any(|id| yard.world.object(*id).is_some());
        yard.world.object(whole).is_some() && !part
    };
    let undo = |skip| Build::Undo { skip };
    // Somebody stands where one of them was.
    let position = vec2(0, 5);
    assert_eq!(built(&mut yard, 1, Build::Move { object: whole, position }), Outcome::Ok);
    let at = yard.position(yard.avatar(1));
    yard.walk_to(1, vec2(3, 4));
    assert_eq!(built(&mut yard, 1, undo(1)), refused(Refusal::Occupied));
    assert!(is_whole(&yard));
    yard.walk_to(1, at);
    // Their owner has as much as she may.
    let more = [-2, -4].map(|x| place(&mut yard, 1, block(x, 4)));
    assert_eq!(built(&mut yard, 1, undo(3)), refused(Refusal::TooManyObjects));
    assert!(is_whole(&yard));
    for object in more {
        assert_eq!(built(&mut yard, 1, Build::Delete { object }), Outcome::Ok);
    }
    // The whole is a gift.
    assert_eq!(built(&mut yard, 1, Build::Give { object: whole, to: public(100) }), Outcome::Ok);
    assert_eq!(built(&mut yard, 1, undo(6)), refused(Refusal::NotYours));
    assert_eq!(built(&mut yard, 100, Build::Give { object: whole, to: public(1) }), Outcome::Ok);
    assert!(is_whole(&yard));
    assert_eq!(built(&mut yard, 1, undo(6)), Outcome::Ok);
    assert!(yard.world.object(whole).is_none());
    for (id, at) in pair.into_iter().zip([vec2(3, 2), vec2(3, 4)]) {
        assert_eq!(yard.position(id), at);
    }
    assert_eq!(built(&mut yard, 1, undo(0)), Outcome::Ok, "the step before is the second block");
    assert!(yard.world.object(pair[1]).is_none());
    yard.check_leaves();
}

/// What an admin united and gave away came back to her by an undo, and the gift was gone.
#[test]
fn an_admin_takes_nothing_apart_that_she_gave_away() {
    let mut yard = site(&mut Builder::new());
    let pair = [(2, 2), (2, 4)].map(|(x, y)| place(&mut yard, 100, block(x, y)));
    let Outcome::Made(whole) = built(&mut yard, 100, Build::Unite { objects: pair.to_vec() })
    else {
        panic!("they are hers")
    };
    assert_eq!(built(&mut yard, 100, Build::Give { object: whole, to: public(1) }), Outcome::Ok);
    assert_eq!(built(&mut yard, 100, Build::Undo { skip: 1 }), refused(Refusal::GiftStays));
    assert_eq!(yard.world.object(whole).and_then(|thing| thing.owner), Some(public(1)));
}

#[test]
fn what_cannot_be_one_is_refused_by_name_and_stays() {
    let mut builder = Builder::new();
    builder.genesis.parameters.building.movable_per_player = 64;
    let mut yard = site(&mut builder);
    let crate_ = |x, y| Blueprint { movable: true, ..block(x, y) };
    let own = place(&mut yard, 1, crate_(3, 3));
    let other = place(&mut yard, 1, crate_(3, 5));
    let far = place(&mut yard, 1, block(-6, 3));
    let hers = place(&mut yard, 2, crate_(1, 5));
    let given = |yard: &mut Yard, licence| {
        let thing = place(yard, 2, Blueprint { licence, ..crate_(-1, 5) });
        assert_eq!(built(yard, 2, Build::Give { object: thing, to: public(1) }), Outcome::Ok);
        thing
    };
    let gift = given(&mut yard, AssetLicence::CcBy);
    let free = given(&mut yard, AssetLicence::Cc0);
    let mut many = |count: usize| -> Vec<ObjectId> {
        (0..count)
            .map(|n| place(&mut yard, 1, crate_(1 + n as i32 % 5, -3 - n as i32 / 5)))
            .collect()
    };
    let nine = many(9);
    let held = place(&mut yard, 1, crate_(0, 3));
    assert_eq!(built(&mut yard, 1, Build::Take { object: held }), Outcome::Ok);
    let unknown: Vec<ObjectId> = (1_000..1_400).map(ObjectId).collect();
    let things = |yard: &Yard| yard.world.objects().map(|seen| seen.id).collect::<Vec<ObjectId>>();
    let before = things(&yard);
    for (objects, why) in [
        (vec![], Refusal::BadParts),
        (vec![own], Refusal::BadParts),
        (vec![own, other, own], Refusal::BadParts),
        (nine.clone(), Refusal::BadParts),
        (unknown, Refusal::BadParts),
        (vec![own, ObjectId(1_000)], Refusal::NoObject),
        (vec![own, hers], Refusal::OwnersDiffer),
        (vec![own, yard.avatar(1)], Refusal::Person),
        (vec![own, gift], Refusal::OtherAuthor),
        (vec![own, held], Refusal::Held),
        (vec![own, far], Refusal::BadSize),
    ] {
        let unite = Build::Unite { objects: objects.clone() };
        assert_eq!(built(&mut yard, 1, unite), refused(why), "{objects:?}");
    }
    assert_eq!(things(&yard), before);
    // An admin unites no things of others, and nobody one that is frozen.
    let both = Build::Unite { objects: vec![own, other] };
    assert_eq!(built(&mut yard, 100, both.clone()), refused(Refusal::OwnersDiffer));
    let freeze = |object| Act::Govern(GovernOrder::Freeze { object });
    assert_eq!(yard.try_act(100, freeze(other)), Outcome::Ok);
    assert_eq!(built(&mut yard, 1, both), refused(Refusal::Frozen));
    let own_of_admin = [(1, 3), (-1, 3)].map(|(x, y)| place(&mut yard, 100, crate_(x, y)));
    assert_eq!(yard.try_act(100, freeze(own_of_admin[0])), Outcome::Ok);
    let theirs = Build::Unite { objects: own_of_admin.to_vec() };
    assert_eq!(built(&mut yard, 100, theirs), refused(Refusal::Frozen));
    // The licence of this gift asks that nobody be named.
    united(&mut yard, vec![own, free]);
    // Two of several parts have more than eight together.
    let four = united(&mut yard, nine[..4].to_vec());
    let five = united(&mut yard, nine[4..].to_vec());
    let all = Build::Unite { objects: vec![four, five] };
    assert_eq!(built(&mut yard, 1, all), refused(Refusal::BadParts));
    yard.check_leaves();
}

#[test]
fn things_become_one_where_the_builder_reaches_them_and_may_build() {
    let mut yard = site(&mut Builder::new());
    let crate_ = |x, y| Blueprint { movable: true, outline: bar(3, 3), ..block(x, y) };
    let pair = [(3, 2), (3, 4)].map(|(x, y)| place(&mut yard, 1, crate_(x, y)));
    let unite = Build::Unite { objects: pair.to_vec() };
    let stands = yard.position(yard.avatar(1));
    yard.walk_to(1, vec2(-22, 2));
    assert_eq!(built(&mut yard, 1, unite.clone()), refused(Refusal::OutOfReach));
    yard.walk_to(1, stands);
    let open = |open: &str| Act::Amend { name: "building.open_ground".into(), value: open.into() };
    assert_eq!(yard.try_act(100, open("false")), Outcome::Ok);
    assert_eq!(built(&mut yard, 1, unite.clone()), refused(Refusal::ClosedLand));
    assert_eq!(yard.try_act(100, open("true")), Outcome::Ok);
    assert!(matches!(built(&mut yard, 1, unite), Outcome::Made(_)));
    yard.check_leaves();
}

/// A tree with pears of two parts: a touch asks for ten.
const PEARS: &str = "fn on_touch(other) { for n in 0..10 { spawn(#{ name: \"pear\", radius: 0.2,
    parts: [#{ radius: 0.15, pos: vec2(0, 0.2) }], pos: self_.pos + vec2(n, 3) }); } }";

/// Scripts and blueprints could have filled the sim where copies could not.
#[test]
fn things_of_several_parts_count_however_they_are_made() {
    let mut builder = Builder::new();
    let (mut yard, tree) = own_tree(&mut builder, PEARS);
    let parts = of(vec![part(bar(1, 1), (0, 0), Angle::ZERO)]);
    let small = Blueprint { outline: bar(3, 3), parts, ..block(0, 0) };
    for n in 0..OWNER_COMPOUNDS_MAX as i32 / 2 {
        place(&mut yard, 1, Blueprint { position: vec2(1 + n, -3), ..small.clone() });
    }
    touch(&mut yard, 1, tree);
    assert_eq!(called(&yard, "pear").len(), OWNER_COMPOUNDS_MAX / 2);
    let more = Build::Place(Blueprint { position: vec2(3, -4), ..small });
    assert_eq!(built(&mut yard, 1, more), refused(Refusal::TooManyCompounds));
    let pair = [-3, -5].map(|x| place(&mut yard, 1, block(x, -3)));
    let unite = Build::Unite { objects: pair.to_vec() };
    assert_eq!(built(&mut yard, 1, unite), refused(Refusal::TooManyCompounds));
    // One that is of several parts already counts no more when it gets another one.
    let pear = called(&yard, "pear")[0].id;
    let position = vec2(2, 4);
    let beside = place(&mut yard, 1, Blueprint { outline: bar(2, 2), position, ..block(0, 0) });
    united(&mut yard, vec![pear, beside]);
    yard.check_leaves();
}

#[test]
fn who_owns_as_much_as_she_may_unites_things_all_the_same() {
    let mut builder = Builder::new();
    builder.genesis.parameters.building.objects_per_player = 3;
    builder.genesis.parameters.building.movable_per_player = 3;
    let mut yard = site(&mut builder);
    let crates = [1, 2, 3].map(|x| place(&mut yard, 1, Blueprint { movable: true, ..block(x, 4) }));
    let more = Build::Place(block(-2, 4));
    assert_eq!(built(&mut yard, 1, more.clone()), refused(Refusal::TooManyObjects));
    united(&mut yard, crates[..2].to_vec());
    assert!(matches!(built(&mut yard, 1, more), Outcome::Made(_)));
    yard.check_leaves();
}

#[test]
fn uniting_is_one_step_of_the_pace_of_building() {
    let mut yard = site(&mut Builder::new());
    let pairs: Vec<Vec<ObjectId>> = (0..BUILDS_PER_AUTHOR_MAX as i32 - 1)
        .map(|n| {
            [3, 4]
                .map(|y| place(&mut yard, 1, Blueprint { outline: bar(2, 2), ..block(n - 3, y) }))
                .to_vec()
        })
        .collect();
    let unites = pairs.into_iter().map(|objects| Act::Build(Build::Unite { objects }));
    let acts: Vec<SignedEnvelope> = unites.map(|act| yard.act(1, act)).collect();
    yard.play();
    for act in &acts {
        assert!(matches!(yard.outcome(act), Outcome::Made(_)), "{}", yard.outcome(act));
    }
}

#[test]
fn scripts_of_the_sims_own_things_make_no_more_things_of_several_parts_than_a_sim_has() {
    let mut builder = Builder::new();
    let package = builder.package("tree", PEARS);
    let tree = builder.thing(Motion::Static, (2, 0), &[package]);
    for n in 0..SIM_COMPOUNDS_MAX as i32 - 4 {
        builder.thing(Motion::Static, (40 + 2 * (n % 8), 2 * (n / 8)), &[]);
        builder.genesis.objects.last_mut().expect("it was just made").body.shape = hammer();
    }
    let mut yard = site(&mut builder);
    touch(&mut yard, 1, tree);
    let pears = called(&yard, "pear");
    assert_eq!(pears.len(), 4);
    let [(low, _), (high, _)] = places(&yard, pears[0].id)[..] else { panic!("two parts") };
    assert!(low.distance(vec2(2, 3)) < ROUNDED, "{low}");
    assert!(high.distance(Vec2::new(Fx::from_int(2), Fx::from_ratio(32, 10))) < ROUNDED, "{high}");
    yard.check_leaves();
}
