//! Sitting on things: scripts make seats, people take them, and everything that ends it tells the script.

use metatopia_math::{Angle, Fx, Vec2};
use metatopia_physics::Motion;
use metatopia_scripting::Value;
use metatopia_sim::Serial;
use metatopia_types::{Act, Build, GovernOrder, ObjectId, Outcome, Refusal, ScriptId};

use crate::{
    building::{built, refused, site},
    byte_budget::script,
    yard::{Backwards, Builder, Shuffled, Yard, vec2},
};

/// A bench whose script makes it a seat, ends that when it hears so, and notes who sits and who stood up.
const BENCH: &str = r#"
fn on_start() { seat(vec2(0.5, 0)); }
fn on_chat(from, text) { if text == "away" { unseat(); } if text == "turn" { self_.angle = PI / 2; } }
fn on_sit(who) { state.sat = (state.sat ?? 0) + 1; state.who = who.name; }
fn on_stand(who) { state.stood = (state.stood ?? 0) + 1; state.there = exists(who); }
"#;

const BENCH_ID: ObjectId = ObjectId(1);

/// A bench, a wall that is no seat, and the players 1 and 2 and the admin 100 near both.
fn park() -> Yard {
    let mut builder = Builder::new();
    let package = builder.package("bench", BENCH);
    builder.thing(Motion::Kinematic, (3, 0), &[package]);
    builder.thing(Motion::Static, (-3, 0), &[]);
    let mut yard = site(&mut builder);
    yard.idle(2);
    yard
}

#[test]
fn a_thing_may_be_a_seat_from_the_beginning_without_a_script() {
    let mut builder = Builder::new();
    builder.thing(Motion::Static, (3, 0), &[]);
    builder.genesis.objects[0].seat = Some(vec2(0, 1));
    let mut yard = site(&mut builder);
    yard.idle(2);
    let listed = |yard: &Yard| yard.world.specs()[0].1.seat;
    assert_eq!(listed(&yard), Some(vec2(0, 1)));
    assert_eq!(yard.try_act(1, sit(Some(BENCH_ID))), Outcome::Ok);
    assert!(near(place(&yard, 1), vec2(3, 1)), "{}", place(&yard, 1));
    // Who sits there is no part of the seat.
    assert_eq!(listed(&yard), Some(vec2(0, 1)));

    // A bench that was deleted came back as none.
    assert_eq!(yard.try_act(100, Act::Build(Build::Delete { object: BENCH_ID })), Outcome::Ok);
    assert_eq!(yard.try_act(100, Act::Build(Build::Undo { skip: 0 })), Outcome::Ok);
    assert_eq!(listed(&yard), Some(vec2(0, 1)));
    assert_eq!(yard.try_act(1, sit(Some(BENCH_ID))), Outcome::Ok);
    yard.check_leaves();
}

/// Weight pressed who stood up into the bench: she could neither walk nor rise, and only `home` freed her.
#[test]
fn under_gravity_who_stands_up_is_on_top_of_the_thing_and_walks_away() {
    let stories =
        [(vec2(0, -10), vec2(1, 0)), (vec2(-10, 0), vec2(0, 1)), (vec2(0, 10), vec2(1, 0))];
    for (down, ahead) in stories {
        let mut builder = Builder::new();
        builder.genesis.parameters.gravity = down;
        builder.thing(Motion::Static, (3, 0), &[]);
        builder.genesis.objects[0].seat = Some(Vec2::ZERO);
        let mut yard = site(&mut builder);
        assert_eq!(yard.try_act(1, sit(Some(BENCH_ID))), Outcome::Ok);
        yard.idle(20);
        assert!(near(place(&yard, 1), vec2(3, 0)), "{}", place(&yard, 1));

        assert_eq!(yard.try_act(1, sit(None)), Outcome::Ok);
        yard.idle(1);
        let up = down.scale(Fx::from_ratio(-1, 10));
        let height = place(&yard, 1).saturating_sub(vec2(3, 0)).dot(up);
        assert!(height > Fx::from_ratio(3, 4), "{down}: {height} above the middle of the bench");
        assert_eq!(yard.try_act(1, Act::Walk { heading: ahead }), Outcome::Ok);
        yard.idle(30);
        let walked = place(&yard, 1).saturating_sub(vec2(3, 0)).dot(ahead);
        assert!(walked > Fx::ONE, "{down}: walked {walked}");
        yard.check_leaves();
    }
}

#[test]
fn under_gravity_who_sat_beside_the_thing_stands_up_where_she_is() {
    let mut builder = Builder::new();
    builder.genesis.parameters.gravity = vec2(0, -10);
    builder.thing(Motion::Static, (3, 0), &[]);
    builder.genesis.objects[0].seat = Some(vec2(1, 0));
    let mut yard = site(&mut builder);
    assert_eq!(yard.try_act(1, sit(Some(BENCH_ID))), Outcome::Ok);
    yard.idle(2);
    assert_eq!(yard.try_act(1, sit(None)), Outcome::Ok);
    let place = place(&yard, 1);
    assert!(place.x >= vec2(4, 0).x && place.y <= Fx::ZERO, "{place}");
}

fn sit(on: Option<ObjectId>) -> Act {
    Act::Sit { on }
}

fn place(yard: &Yard, n: u8) -> Vec2 {
    yard.world.place(yard.avatar(n)).expect("an avatar")
}

fn near(a: Vec2, b: Vec2) -> bool {
    a.distance(b) < Fx::from_ratio(1, 20)
}

fn noted(yard: &Yard, name: &str) -> Value {
    script(&yard.world, 1).state.0.get(name).cloned().unwrap_or(Value::Unit)
}

#[test]
fn who_sits_is_carried_along_and_walks_away() {
    let mut yard = park();
    assert_eq!(yard.try_act(1, sit(Some(BENCH_ID))), Outcome::Ok);
    yard.idle(2);
    let seat = Vec2::new(Fx::from_ratio(7, 2), Fx::ZERO);
    assert!(near(place(&yard, 1), seat), "{}", place(&yard, 1));
    assert_eq!(
        (noted(&yard, "sat"), noted(&yard, "who")),
        (Value::Int(1), Value::Text("player 1".into()))
    );
    yard.check_leaves();

    yard.say(1, 0, "turn");
    yard.idle(20);
    let turned = vec2(3, 0).saturating_add(Vec2::new(Fx::ZERO, Fx::HALF));
    assert!(near(place(&yard, 1), turned), "{}", place(&yard, 1));
    // Standing still is no walk.
    yard.try_act(1, Act::Walk { heading: Vec2::ZERO });
    assert_eq!(noted(&yard, "stood"), Value::Unit);
    let around = yard.world.scene(turned, Fx::HALF, 9);
    assert!(around.iter().any(|seen| seen.id == yard.avatar(1)), "she is seen where she sits");

    assert_eq!(yard.try_act(1, Act::Walk { heading: vec2(0, 1) }), Outcome::Ok);
    yard.idle(20);
    assert_eq!((noted(&yard, "stood"), noted(&yard, "there")), (Value::Int(1), Value::Bool(true)));
    assert!(place(&yard, 1).y > Fx::ONE, "{}", place(&yard, 1));
    yard.check_leaves();
}

#[test]
fn what_is_no_seat_or_is_taken_or_far_is_refused_and_one_stands_up_once() {
    let mut yard = park();
    assert_eq!(yard.try_act(1, sit(Some(ObjectId(2)))), refused(Refusal::NothingToSitOn));
    assert_eq!(yard.try_act(1, sit(Some(yard.avatar(2)))), refused(Refusal::Person));
    assert_eq!(yard.try_act(1, sit(Some(ObjectId(99)))), refused(Refusal::NoObject));
    assert_eq!(yard.try_act(1, sit(None)), refused(Refusal::AlreadySo));
    assert_eq!(yard.try_act(1, sit(Some(BENCH_ID))), Outcome::Ok);
    assert_eq!(yard.try_act(1, sit(Some(BENCH_ID))), refused(Refusal::AlreadySo));
    assert_eq!(yard.try_act(2, sit(Some(BENCH_ID))), refused(Refusal::SeatTaken));
    assert_eq!(yard.try_act(1, sit(None)), Outcome::Ok);
    assert_eq!(yard.try_act(2, sit(Some(BENCH_ID))), Outcome::Ok);
    yard.idle(1);
    assert_eq!((noted(&yard, "sat"), noted(&yard, "stood")), (Value::Int(2), Value::Int(1)));
    let far = Build::Move { object: BENCH_ID, position: vec2(15, 0) };
    assert_eq!(yard.try_act(2, sit(None)), Outcome::Ok);
    assert_eq!(built(&mut yard, 100, far), Outcome::Ok);
    assert_eq!(yard.try_act(1, sit(Some(BENCH_ID))), refused(Refusal::OutOfReach));
    yard.check_leaves();
}

#[test]
fn leaving_going_home_a_ban_and_the_end_of_the_seat_have_one_stand_up() {
    type End = fn(&mut Yard) -> Outcome;
    let ban = |yard: &mut Yard| {
        let key = crate::yard::public(1);
        let order = GovernOrder::Ban { key, seconds: None, reason: "spam".to_owned() };
        yard.try_act(100, Act::Govern(order))
    };
    let away = |yard: &mut Yard| {
        yard.say(2, 1, "away");
        yard.idle(1);
        Outcome::Ok
    };
    let detach =
        |yard: &mut Yard| built(yard, 100, Build::Detach { object: BENCH_ID, script: ScriptId(1) });
    let delete = |yard: &mut Yard| built(yard, 100, Build::Delete { object: BENCH_ID });
    let ends: [(&str, End, bool); 6] = [
        ("leave", |yard| yard.try_act(1, Act::Leave), true),
        ("home", |yard| yard.try_act(1, Act::GoHome), true),
        ("ban", ban, true),
        ("unseat", away, false),
        ("detach", detach, false),
        ("delete", delete, false),
    ];
    for (name, end, is_told) in ends {
        let mut yard = park();
        assert_eq!(yard.try_act(1, sit(Some(BENCH_ID))), Outcome::Ok, "{name}");
        yard.idle(2);
        assert_eq!(end(&mut yard), Outcome::Ok, "{name}");
        yard.idle(3);
        if is_told {
            assert_eq!(noted(&yard, "stood"), Value::Int(1), "{name}");
        }
        assert!(yard.world.joints().is_empty(), "{name}");
        if !matches!(name, "leave" | "ban") {
            assert_eq!(yard.try_act(1, sit(None)), refused(Refusal::AlreadySo), "{name}");
        }
        let again = yard.try_act(2, sit(Some(BENCH_ID)));
        assert_eq!(again.is_done(), is_told, "{name}: {again}");
        yard.check_leaves();
    }
}

#[test]
fn no_builder_frees_or_copies_who_sits() {
    let mut yard = park();
    assert_eq!(yard.try_act(1, sit(Some(BENCH_ID))), Outcome::Ok);
    let unjoin = Build::Unjoin { object: BENCH_ID, from: None };
    assert_eq!(built(&mut yard, 100, unjoin), refused(Refusal::NotJoined));
    assert_eq!(yard.world.joints_near(vec2(3, 0), Fx::from_int(9)).count(), 0);
    assert_eq!(built(&mut yard, 100, Build::Delete { object: BENCH_ID }), Outcome::Ok);
    assert_eq!(yard.try_act(1, Act::GoHome), Outcome::Ok);
    assert_eq!(built(&mut yard, 100, Build::Undo { skip: 0 }), Outcome::Ok);
    yard.idle(2);
    assert_eq!(yard.try_act(1, sit(None)), refused(Refusal::AlreadySo));
    assert_eq!(yard.try_act(1, sit(Some(BENCH_ID))), Outcome::Ok, "its script began anew");
}

#[test]
fn two_servers_with_scripts_in_another_order_agree_on_who_sits() {
    let roots = |exec: &dyn metatopia_sim::ForkJoin| {
        let mut yard = park();
        for act in [sit(Some(BENCH_ID)), Act::Walk { heading: vec2(0, 1) }, sit(Some(BENCH_ID))] {
            yard.act(1, act.clone());
            yard.act(2, act);
            (0..3).for_each(|_| drop(yard.play_with(exec)));
        }
        yard.say(2, 0, "turn");
        (0..9).for_each(|_| drop(yard.play_with(exec)));
        let angle = yard.world.object(BENCH_ID).expect("it is there").angle;
        assert_ne!(angle, Angle::ZERO);
        yard.world.root()
    };
    let root = roots(&Serial);
    assert_eq!(roots(&Backwards), root);
    assert_eq!(roots(&Shuffled(7)), root);
}

#[test]
fn a_stool_is_in_hand_or_under_somebody_and_never_both() {
    let mut builder = Builder::new();
    let package = builder.package("bench", BENCH);
    builder.thing(Motion::Dynamic, (3, 0), &[package]);
    let mut yard = site(&mut builder);
    yard.idle(2);
    let take = Build::Take { object: BENCH_ID };

    assert_eq!(yard.try_act(1, sit(Some(BENCH_ID))), Outcome::Ok);
    assert_eq!(built(&mut yard, 100, take.clone()), refused(Refusal::Joined));
    assert_eq!(yard.try_act(1, sit(None)), Outcome::Ok);
    assert_eq!(built(&mut yard, 100, take), Outcome::Ok);
    assert_eq!(yard.try_act(1, sit(Some(BENCH_ID))), refused(Refusal::Held));
    yard.check_leaves();
}
