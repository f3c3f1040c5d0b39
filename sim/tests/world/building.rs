//! Building: what each act does, and what refuses it.

use metatopia_math::{Angle, Fx, Vec2};
use metatopia_physics::{BodySpec, Motion};
use metatopia_scripting::{Event, EventKind, ScriptOutput};
use metatopia_sim::{
    Area, Land, ObjectSpec, Shape, WorldObject,
    limits::{BUILDS_PER_AUTHOR_MAX, SCRIPTS_PER_OBJECT_MAX},
};
use metatopia_types::{
    Act, AssetLicence, Blueprint, BodyShape, Build, Digest, Look, ObjectId, Origin, Outcome,
    Outline, OutlineParts, PackageId, Refusal, ScriptId, Title,
};

use crate::yard::{Builder, Yard, public, vec2};

/// A box of one metre that stays where it is put.
pub(crate) fn block(x: i32, y: i32) -> Blueprint {
    Blueprint {
        kind: "box".to_owned(),
        name: "block".to_owned(),
        text: String::new(),
        color: 0x00c8_964b,
        outline: Outline::Box { half: Vec2::new(Fx::HALF, Fx::HALF) },
        movable: false,
        position: vec2(x, y),
        angle: Angle::ZERO,
        licence: AssetLicence::CcBySa,
        parts: OutlineParts::default(),
    }
}

/// A yard in which the players 1 and 2 stand at the origin and near it, and the admin 100.
pub(crate) fn site(builder: &mut Builder) -> Yard {
    builder.genesis.parameters.avatar.spawn_radius = Fx::HALF;
    builder.genesis.parameters.avatar.reach = Fx::from_int(5);
    let mut yard = builder.build();
    for player in [1, 2, 100] {
        yard.login(player);
        yard.play();
    }
    yard
}

pub(crate) fn built(yard: &mut Yard, n: u8, build: Build) -> Outcome {
    yard.try_act(n, Act::Build(build))
}

pub(crate) fn place(yard: &mut Yard, n: u8, blueprint: Blueprint) -> ObjectId {
    match built(yard, n, Build::Place(blueprint)) {
        Outcome::Made(object) => object,
        other => panic!("{other}"),
    }
}

pub(crate) fn refused(why: Refusal) -> Outcome {
    Outcome::Refused(why)
}

fn seen(yard: &Yard, id: ObjectId) -> WorldObject {
    yard.world.object(id).expect("it is there")
}

#[test]
fn what_is_placed_is_there_and_belongs_to_its_maker() {
    let mut yard = site(&mut Builder::new());
    let blueprint = Blueprint { text: "mine".to_owned(), angle: Angle::EIGHTH, ..block(3, 4) };

    let id = place(&mut yard, 1, blueprint);

    let thing = seen(&yard, id);
    assert_eq!((thing.name.as_str(), thing.kind.as_str()), ("block", "box"));
    assert_eq!((thing.text.as_str(), thing.movable), ("mine", false));
    assert_eq!((thing.position, thing.angle), (vec2(3, 4), Angle::EIGHTH));
    assert_eq!(thing.look, Look::plain(0x00c8_964b, BodyShape::Square));
    assert_eq!(thing.shape, Shape::Rect { half: Vec2::new(Fx::HALF, Fx::HALF) });
    assert_eq!((thing.owner, thing.author), (Some(public(1)), Some(public(1))));
    assert_eq!((thing.licence, thing.parent), (AssetLicence::CcBySa, None));
    assert_eq!(thing.origin, Origin { sim: yard.world.sim(), number: id });
    assert!(!thing.travels, "nothing leaves before somebody says that it may");
    assert_eq!(yard.world.root(), yard.world.rehash());
}

#[test]
fn a_movable_thing_has_the_mass_of_its_size_and_can_be_pushed() {
    let mut yard = site(&mut Builder::new());
    let ball =
        Blueprint { outline: Outline::Disc { radius: Fx::ONE }, movable: true, ..block(2, 0) };
    let id = place(&mut yard, 1, ball);
    assert_eq!(yard.try_act(1, Act::Push { object: id }), Outcome::Ok);
    // 90 kg m/s on 94 kg, less what damping takes in three ticks of a sixtieth.
    let speed = seen(&yard, id).velocity.length();
    assert!(speed > Fx::from_ratio(75, 100) && speed < Fx::ONE, "{speed}");
}

#[test]
fn every_change_shows() {
    let mut yard = site(&mut Builder::new());
    let id = place(&mut yard, 1, block(3, 4));
    let outline = Outline::Disc { radius: Fx::ONE };
    for build in [
        Build::Move { object: id, position: vec2(-3, 2) },
        Build::Rotate { object: id, angle: Angle::QUARTER },
        Build::Resize { object: id, outline },
        Build::Recolor { object: id, color: 0x0000_ff00 },
        Build::Rename { object: id, name: "fountain".to_owned() },
        Build::Write { object: id, text: "clear water".to_owned() },
    ] {
        assert_eq!(built(&mut yard, 1, build), Outcome::Ok);
    }

    let thing = seen(&yard, id);
    assert_eq!((thing.position, thing.angle), (vec2(-3, 2), Angle::QUARTER));
    assert_eq!(thing.shape, Shape::Circle { radius: Fx::ONE });
    assert_eq!(thing.look, Look::plain(0x0000_ff00, BodyShape::Round));
    assert_eq!((thing.name.as_str(), thing.text.as_str()), ("fountain", "clear water"));
    assert_eq!(built(&mut yard, 1, Build::Delete { object: id }), Outcome::Ok);
    assert_eq!(yard.world.object(id), None);
    assert_eq!(yard.world.root(), yard.world.rehash());
}

#[test]
fn only_owners_and_admins_change_a_thing() {
    let mut builder = Builder::new();
    let own = builder.thing(Motion::Static, (0, 6), &[]);
    let package = builder.package("bell", "fn on_touch(other) {}\n");
    let mut yard = site(&mut builder);
    let id = place(&mut yard, 1, block(3, 4));
    let all = |object: ObjectId| {
        [
            Build::Move { object, position: vec2(5, 5) },
            Build::Rotate { object, angle: Angle::EIGHTH },
            Build::Resize { object, outline: Outline::Disc { radius: Fx::ONE } },
            Build::Recolor { object, color: 1 },
            Build::Rename { object, name: "x".to_owned() },
            Build::Write { object, text: "x".to_owned() },
            Build::Give { object, to: public(2) },
            Build::Attach { object, package },
            Build::Detach { object, script: ScriptId(1) },
            Build::Delete { object },
        ]
    };
    let avatar = yard.avatar(1);
    for (object, why) in [
        (id, Refusal::NotYours),
        (own, Refusal::NotYours),
        (avatar, Refusal::Person),
        (ObjectId(u64::MAX), Refusal::NoObject),
    ] {
        for build in all(object) {
            let outcome = built(&mut yard, 2, build.clone());
            assert_eq!(outcome, refused(why), "{build:?}");
        }
    }
    assert_eq!(built(&mut yard, 100, Build::Recolor { object: id, color: 7 }), Outcome::Ok);
    assert_eq!(built(&mut yard, 100, Build::Delete { object: own }), Outcome::Ok);
    let people = Build::Delete { object: avatar };
    assert_eq!(built(&mut yard, 100, people), refused(Refusal::Person));
}

#[test]
fn blueprints_that_break_a_rule_are_refused() {
    let mut yard = site(&mut Builder::new());
    let good = || block(3, 4);
    let rect = |x, y| Outline::Box { half: Vec2::new(x, y) };
    let disc = |radius| Outline::Disc { radius };
    let far = Vec2::new(Fx::MAX, Fx::MIN);
    let half_size_max = Fx::from_int(5);
    for (blueprint, why) in [
        (Blueprint { kind: String::new(), ..good() }, Refusal::BadText),
        (Blueprint { kind: "avatar".to_owned(), ..good() }, Refusal::BadText),
        (Blueprint { name: "two\nlines".to_owned(), ..good() }, Refusal::BadText),
        (Blueprint { text: "\u{202e}".to_owned(), ..good() }, Refusal::BadText),
        (Blueprint { text: "x".repeat(257), ..good() }, Refusal::BadText),
        (Blueprint { color: 1 << 24, ..good() }, Refusal::OutOfRange),
        (Blueprint { outline: disc(Fx::ZERO), ..good() }, Refusal::BadSize),
        (Blueprint { outline: disc(Fx::MIN), ..good() }, Refusal::BadSize),
        (Blueprint { outline: disc(Fx::MAX), ..good() }, Refusal::BadSize),
        (Blueprint { outline: rect(Fx::ONE, Fx::MIN), ..good() }, Refusal::BadSize),
        (Blueprint { outline: rect(Fx::MAX, Fx::ONE), ..good() }, Refusal::BadSize),
        (
            Blueprint { outline: rect(half_size_max.saturating_add(Fx::ULP), Fx::ONE), ..good() },
            Refusal::BadSize,
        ),
        (Blueprint { position: far, ..good() }, Refusal::OutOfRange),
        (Blueprint { position: vec2(1_000, 0), ..good() }, Refusal::OutOfReach),
        (Blueprint { position: vec2(22, 0), ..good() }, Refusal::OutOfReach),
        (Blueprint { position: yard.position(yard.avatar(2)), ..good() }, Refusal::KeptClear),
        (
            Blueprint { position: yard.position(yard.avatar(2)), movable: true, ..good() },
            Refusal::Occupied,
        ),
    ] {
        let outcome = built(&mut yard, 1, Build::Place(blueprint.clone()));
        assert_eq!(outcome, refused(why), "{blueprint:?}");
    }
    let largest = Blueprint { outline: rect(half_size_max, Fx::ONE), ..block(8, 6) };
    place(&mut yard, 1, largest);
}

#[test]
fn numbers_of_any_size_are_refused_and_harm_nobody() {
    let mut yard = site(&mut Builder::new());
    let id = place(&mut yard, 1, block(3, 4));
    let numbers = [Fx::MIN, Fx::MAX, Fx::ULP, Fx::ZERO, Fx::from_int(-1), Fx::from_int(2_000)];
    for x in numbers {
        for y in numbers {
            let position = Vec2::new(x, y);
            for build in [
                Build::Move { object: id, position },
                Build::Resize { object: id, outline: Outline::Box { half: position } },
                Build::Resize { object: id, outline: Outline::Disc { radius: x } },
                Build::Copy { object: id, position },
                Build::Place(Blueprint { position, ..block(0, 0) }),
            ] {
                let outcome = built(&mut yard, 1, build.clone());
                assert!(!outcome.is_done(), "{build:?}");
            }
        }
    }
    assert_eq!(seen(&yard, id).position, vec2(3, 4));
    assert_eq!(yard.world.root(), yard.world.rehash());
}

#[test]
fn building_reaches_so_far_and_deleting_anywhere() {
    let mut yard = site(&mut Builder::new());
    let near = place(&mut yard, 1, block(19, 0));
    yard.walk_to(1, vec2(-4, 0));
    for build in [
        Build::Recolor { object: near, color: 1 },
        Build::Copy { object: near, position: vec2(0, 3) },
        Build::Move { object: near, position: vec2(0, 3) },
    ] {
        assert_eq!(built(&mut yard, 1, build), refused(Refusal::OutOfReach));
    }
    assert_eq!(built(&mut yard, 1, Build::Delete { object: near }), Outcome::Ok);
}

#[test]
fn land_decides_who_builds_where() {
    let mut builder = Builder::new();
    let land = |title, x: i32| Land {
        name: "land".to_owned(),
        area: Area { low: vec2(x, 2), high: vec2(x + 5, 7) },
        title,
    };
    builder.genesis.parameters.building.open_ground = false;
    builder.genesis.lands =
        vec![land(Title::Open, -5), land(Title::Sim, 0), land(Title::Player(public(1)), 5)];
    let mut yard = site(&mut builder);
    let try_at = |yard: &mut Yard, n: u8, x: i32| built(yard, n, Build::Place(block(x, 4)));

    let open = [try_at(&mut yard, 1, -3), try_at(&mut yard, 2, -2)];
    assert!(open.iter().all(Outcome::is_done), "{open:?}");
    assert_eq!(try_at(&mut yard, 1, 2), refused(Refusal::ClosedLand));
    assert!(try_at(&mut yard, 100, 2).is_done());
    let Outcome::Made(own) = try_at(&mut yard, 1, 7) else { panic!("it is her land") };
    assert_eq!(try_at(&mut yard, 2, 7), refused(Refusal::ClosedLand));
    assert_eq!(try_at(&mut yard, 1, 15), refused(Refusal::ClosedLand));
    // Nor by a part of it, nor by moving, turning or growing over a border.
    assert_eq!(try_at(&mut yard, 1, 5), refused(Refusal::ClosedLand));
    let over = Build::Move { object: own, position: vec2(5, 4) };
    assert_eq!(built(&mut yard, 1, over), refused(Refusal::ClosedLand));
    let wide = Outline::Box { half: Vec2::new(Fx::from_int(2), Fx::HALF) };
    assert_eq!(
        built(&mut yard, 1, Build::Resize { object: own, outline: wide }),
        Outcome::Ok,
        "it reaches from 5 to 9"
    );
    let wider = Outline::Box { half: Vec2::new(Fx::from_ratio(5, 2), Fx::HALF) };
    let resize = Build::Resize { object: own, outline: wider };
    assert_eq!(built(&mut yard, 1, resize), refused(Refusal::ClosedLand));
}

#[test]
fn nobody_is_built_in() {
    let mut yard = site(&mut Builder::new());
    // Out of each other's way.
    for (player, to) in [(1, vec2(-4, 0)), (100, vec2(4, 0)), (2, vec2(0, 6))] {
        yard.walk_to(player, to);
    }
    let there = yard.position(yard.avatar(2));
    let id = place(&mut yard, 1, Blueprint { movable: true, ..block(3, 4) });
    let long = Blueprint {
        outline: Outline::Box { half: Vec2::new(Fx::from_int(3), Fx::from_ratio(1, 4)) },
        position: there.saturating_add(vec2(1, 1)),
        angle: Angle::QUARTER,
        ..block(0, 0)
    };
    let beside = place(&mut yard, 1, long);

    let onto = Build::Move { object: id, position: there };
    assert_eq!(built(&mut yard, 1, onto), refused(Refusal::Occupied));
    let copy = Build::Copy { object: id, position: there };
    assert_eq!(built(&mut yard, 1, copy), refused(Refusal::Occupied));
    let turn = Build::Rotate { object: beside, angle: Angle::EIGHTH.wrapping_neg() };
    assert_eq!(built(&mut yard, 1, turn), Outcome::Ok, "that clears the place");
    let turn = Build::Rotate { object: beside, angle: Angle::EIGHTH };
    assert_eq!(built(&mut yard, 1, turn), refused(Refusal::Occupied));
    let big = Outline::Disc { radius: Fx::from_int(5) };
    let grow = Build::Resize { object: id, outline: big };
    assert_eq!(built(&mut yard, 1, grow), refused(Refusal::Occupied));
}

#[test]
fn what_stays_is_not_put_where_people_arrive() {
    let mut builder = Builder::new();
    builder.genesis.parameters.avatar.spawn_radius = Fx::from_int(3);
    builder.genesis.parameters.avatar.spawn = vec2(10, 0);
    let mut yard = builder.build();
    yard.login(1);
    yard.play();
    yard.act(1, Act::Walk { heading: vec2(0, -1) });
    yard.idle(40);
    let crate_ = Blueprint { movable: true, ..block(10, 0) };

    let wall = built(&mut yard, 1, Build::Place(block(10, 0)));
    assert_eq!(wall, refused(Refusal::KeptClear));
    let beside = place(&mut yard, 1, block(15, 0));
    let over = Build::Move { object: beside, position: vec2(13, 0) };
    assert_eq!(built(&mut yard, 1, over), refused(Refusal::KeptClear));
    place(&mut yard, 1, crate_);
}

#[test]
fn a_player_has_so_many_things_texts_and_scripts() {
    let mut builder = Builder::new();
    let package = builder.package("bell", "fn on_touch(other) {}\n");
    let rules = &mut builder.genesis.parameters.building;
    (rules.objects_per_player, rules.scripts_per_player, rules.text_bytes_per_player) = (3, 2, 10);
    let mut yard = site(&mut builder);
    let text = |text: &str, x| Blueprint { text: text.to_owned(), ..block(x, 4) };

    let one = place(&mut yard, 1, text("12345", -3));
    let two = place(&mut yard, 1, text("67890", 0));
    let more = Build::Place(text("!", 3));
    assert_eq!(built(&mut yard, 1, more), refused(Refusal::TooMuchText));
    let write = Build::Write { object: one, text: "123456".to_owned() };
    assert_eq!(built(&mut yard, 1, write), refused(Refusal::TooMuchText));
    let less = Build::Write { object: one, text: "1234".to_owned() };
    assert_eq!(built(&mut yard, 1, less), Outcome::Ok);

    for object in [one, two] {
        assert_eq!(built(&mut yard, 1, Build::Attach { object, package }), Outcome::Ok);
    }
    let third = Build::Attach { object: one, package };
    assert_eq!(built(&mut yard, 1, third), refused(Refusal::TooManyScripts));
    let copy = Build::Copy { object: one, position: vec2(3, 4) };
    assert_eq!(built(&mut yard, 1, copy), refused(Refusal::TooManyScripts));

    place(&mut yard, 1, text("", 3));
    let fourth = Build::Place(text("", 6));
    assert_eq!(built(&mut yard, 1, fourth.clone()), refused(Refusal::TooManyObjects));
    assert!(built(&mut yard, 2, fourth.clone()).is_done(), "others have shares of their own");
    assert_eq!(built(&mut yard, 1, Build::Delete { object: one }), Outcome::Ok);
    assert!(built(&mut yard, 1, fourth).is_done());
}

#[test]
fn the_world_keeps_room_for_avatars() {
    let mut builder = Builder::new();
    builder.genesis.parameters.objects_max = 8;
    builder.genesis.parameters.avatars_max = 5;
    let mut yard = site(&mut builder);
    for n in 0..3 {
        place(&mut yard, 1, block(2 * n, 4));
    }

    assert_eq!(built(&mut yard, 1, Build::Place(block(8, 4))), refused(Refusal::Full));
    yard.login(3);
    yard.play();
    assert!(yard.world.avatar(&public(3)).is_some());
}

#[test]
fn one_builder_does_so_much_in_a_turn() {
    let mut yard = site(&mut Builder::new());
    let per_turn = BUILDS_PER_AUTHOR_MAX as i32;
    let acts: Vec<_> = (0..=per_turn)
        .map(|n| yard.act(1, Act::Build(Build::Place(block(2 * (n % 3), 4 + 2 * (n / 3))))))
        .collect();
    yard.play();

    let done = acts.iter().filter(|act| yard.outcome(act).is_done()).count();
    assert_eq!(done, per_turn as usize);
    assert_eq!(yard.outcome(&acts[per_turn as usize]), refused(Refusal::TooOften));
}

#[test]
fn copies_are_of_ones_own_or_of_what_is_free() {
    let mut builder = Builder::new();
    let package = builder.package("bell", "fn on_touch(other) {}\n");
    let free = builder.thing(Motion::Dynamic, (4, 4), &[package]);
    let large = {
        let wall = Shape::Rect { half: Vec2::new(Fx::from_int(20), Fx::HALF) };
        builder.genesis.objects.push(ObjectSpec {
            body: BodySpec::new(wall, Motion::Static, vec2(0, 10)),
            scripts: Vec::new(),
            ..builder.genesis.objects[0].clone()
        });
        ObjectId(2)
    };
    let mut yard = site(&mut builder);
    let kept = place(&mut yard, 1, Blueprint { licence: AssetLicence::Reserved, ..block(-4, 4) });

    let foreign = Build::Copy { object: kept, position: vec2(-4, 6) };
    assert_eq!(built(&mut yard, 2, foreign.clone()), refused(Refusal::NotFree));
    assert_eq!(built(&mut yard, 100, foreign.clone()), refused(Refusal::NotFree));
    let Outcome::Made(own) = built(&mut yard, 1, foreign) else { panic!("it is her own") };
    assert_eq!(seen(&yard, own).licence, AssetLicence::Reserved);
    let wall = Build::Copy { object: large, position: vec2(0, 14) };
    assert_eq!(built(&mut yard, 1, wall), refused(Refusal::BadSize));
    let person = Build::Copy { object: yard.avatar(1), position: vec2(0, 5) };
    assert_eq!(built(&mut yard, 2, person), refused(Refusal::Person));

    let copy = Build::Copy { object: free, position: vec2(7, 4) };
    let Outcome::Made(copy) = built(&mut yard, 2, copy) else { panic!("it is free") };
    let (source, copy) = (seen(&yard, free), seen(&yard, copy));
    assert_eq!((copy.owner, copy.author), (Some(public(2)), source.author));
    let original = Origin { sim: yard.world.sim(), number: free };
    assert_eq!((copy.parent, copy.licence), (Some(original), source.licence));
    assert_eq!((copy.name, copy.shape, copy.look), (source.name, source.shape, source.look));
    assert_eq!(copy.position, vec2(7, 4));
    assert_eq!((copy.scripts[0].1, copy.scripts.len()), (package, 1));
    assert_ne!(copy.scripts[0].0, source.scripts[0].0);
}

#[test]
fn a_gift_is_the_receivers_and_fills_half_of_a_share_at_most() {
    let mut builder = Builder::new();
    builder.genesis.parameters.building.objects_per_player = 4;
    let mut yard = site(&mut builder);
    let things: Vec<ObjectId> = (0..3).map(|n| place(&mut yard, 1, block(3 * n, 4))).collect();
    let give = |object, n| Build::Give { object, to: public(n) };

    assert_eq!(built(&mut yard, 1, give(things[0], 9)), refused(Refusal::NoPlayer));
    assert_eq!(built(&mut yard, 1, give(things[0], 1)), Outcome::Ok, "as it was");
    assert_eq!(built(&mut yard, 1, give(things[0], 2)), Outcome::Ok);
    assert_eq!(built(&mut yard, 1, give(things[1], 2)), Outcome::Ok);
    assert_eq!(built(&mut yard, 1, give(things[2], 2)), refused(Refusal::NoRoomForGifts));

    let recolor = Build::Recolor { object: things[0], color: 1 };
    assert_eq!(built(&mut yard, 1, recolor.clone()), refused(Refusal::NotYours));
    assert_eq!(built(&mut yard, 2, recolor), Outcome::Ok);
    assert_eq!(yard.world.things(&public(1)).count(), 1);
    assert_eq!(yard.world.things(&public(2)).count(), 2);
    assert_eq!(seen(&yard, things[0]).author, Some(public(1)));
    // Whoever is away can be given something, too.
    yard.act(2, Act::Leave);
    yard.play();
    assert_eq!(built(&mut yard, 1, give(things[2], 100)), Outcome::Ok);
    assert_eq!(yard.world.root(), yard.world.rehash());
}

/// A package that says on its object what it hears, and costs its owner something.
fn talkative(builder: &mut Builder) -> PackageId {
    builder.port("talkative", &[EventKind::Start, EventKind::Touch], |call| {
        let mut part = ScriptOutput { gas: 100, ..ScriptOutput::default() };
        part.own.text = Some(match call.event {
            Event::Start => "started".to_owned(),
            _ => "touched".to_owned(),
        });
        Ok(part)
    })
}

#[test]
fn an_attached_script_starts_hears_and_costs_its_owner() {
    let mut builder = Builder::new();
    let package = talkative(&mut builder);
    let mut yard = site(&mut builder);
    let id = place(&mut yard, 1, block(1, 2));

    assert_eq!(built(&mut yard, 1, Build::Attach { object: id, package }), Outcome::Ok);
    assert_eq!(seen(&yard, id).text, "started");
    assert_eq!(yard.try_act(1, Act::Touch { object: id }), Outcome::Ok);
    assert_eq!(seen(&yard, id).text, "touched");
    let script = seen(&yard, id).scripts[0].0;
    let running = yard.world.scripts().find(|running| running.script == script);
    // Bodies that are put beside one another may touch as well.
    assert!(running.expect("it runs").gas_used >= 200);

    let missing = Build::Attach { object: id, package: PackageId(Digest([1; 32])) };
    assert_eq!(built(&mut yard, 1, missing), refused(Refusal::NoPackage));
    let other = Build::Detach { object: id, script: ScriptId(99) };
    assert_eq!(built(&mut yard, 1, other), refused(Refusal::NoScript));
    assert_eq!(built(&mut yard, 1, Build::Detach { object: id, script }), Outcome::Ok);
    assert_eq!(seen(&yard, id).scripts, []);
    assert_eq!(yard.world.scripts().count(), 0);
    yard.act(1, Act::Build(Build::Write { object: id, text: String::new() }));
    assert_eq!(yard.try_act(1, Act::Touch { object: id }), Outcome::Ok);
    assert_eq!(seen(&yard, id).text, "", "nobody hears it any more");
    assert_eq!(yard.world.root(), yard.world.rehash());
}

#[test]
fn one_thing_carries_so_many_scripts() {
    let mut builder = Builder::new();
    let package = builder.package("bell", "fn on_touch(other) {}\n");
    let mut yard = site(&mut builder);
    let id = place(&mut yard, 1, block(3, 4));
    for _ in 0..SCRIPTS_PER_OBJECT_MAX {
        assert_eq!(built(&mut yard, 1, Build::Attach { object: id, package }), Outcome::Ok);
    }

    let more = Build::Attach { object: id, package };

    assert_eq!(built(&mut yard, 1, more), refused(Refusal::TooManyScripts));
}

#[test]
fn with_a_thing_go_its_scripts_timers_and_letters() {
    let mut builder = Builder::new();
    let package = builder.package(
        "busy",
        "fn on_start() { timer(\"a\", 5.0); }\nfn on_timer(name) {}\nfn on_touch(other) {}\n",
    );
    let mut yard = site(&mut builder);
    let id = place(&mut yard, 1, block(1, 2));
    for _ in 0..3 {
        assert_eq!(built(&mut yard, 1, Build::Attach { object: id, package }), Outcome::Ok);
    }
    assert_eq!(yard.world.scripts().count(), 3);
    let leaves = |yard: &Yard, start: &str| {
        let all = yard.world.manifest().leaves;
        all.iter().filter(|leaf| leaf.key.0.starts_with(start)).count()
    };
    assert_eq!(leaves(&yard, "script/"), 3);

    // In the turn in which it goes, somebody touches it: before or after, nothing is left of it.
    yard.act(2, Act::Touch { object: id });
    assert_eq!(built(&mut yard, 1, Build::Delete { object: id }), Outcome::Ok);

    assert_eq!(yard.world.scripts().count(), 0);
    assert_eq!(leaves(&yard, "script/"), 0);
    yard.idle(120);
    // People who stand close touch each other still.
    assert_eq!(yard.world.touching(id), []);
    assert_eq!(yard.world.root(), yard.world.rehash());
}

#[test]
fn two_who_move_one_thing_in_one_turn_are_heard_in_an_order_that_nobody_chose() {
    let (mut first, mut second) = (0, 0);
    for n in 0..24 {
        let mut builder = Builder::new();
        builder.genesis.name = format!("yard {n}");
        let mut yard = site(&mut builder);
        let id = place(&mut yard, 1, block(3, 4));
        let (own, admin) = (vec2(5, 5), vec2(-5, 5));
        let acts = [
            yard.act(1, Act::Build(Build::Move { object: id, position: own })),
            yard.act(100, Act::Build(Build::Move { object: id, position: admin })),
            // Whoever gives it away stops the other, if the other comes later.
            yard.act(1, Act::Build(Build::Give { object: id, to: public(2) })),
        ];
        yard.play();

        assert!(acts.iter().all(|act| yard.outcome(act).is_done()));
        match yard.position(id) {
            place if place == own => first += 1,
            place if place == admin => second += 1,
            other => panic!("it is at {other}"),
        }
    }
    assert!(first > 3 && second > 3, "{first} and {second}");
}

#[test]
fn who_is_not_here_builds_nothing() {
    let mut yard = site(&mut Builder::new());
    let id = place(&mut yard, 1, block(3, 4));
    let outcome = built(&mut yard, 9, Build::Place(block(5, 5)));
    assert_eq!(outcome, refused(Refusal::NotLoggedIn));
    yard.act(1, Act::Leave);
    yard.play();
    let delete = Build::Delete { object: id };
    assert_eq!(built(&mut yard, 1, delete), refused(Refusal::NotLoggedIn));
    assert!(yard.world.object(id).is_some(), "what was built stays");
}
