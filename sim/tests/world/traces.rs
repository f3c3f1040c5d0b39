//! Traces: each thing says who changed it last, by which act, and when.

use metatopia_math::{Angle, Vec2};
use metatopia_physics::Motion;
use metatopia_sim::{ThingChange, World};
use metatopia_types::{Act, Build, GovernOrder, Millis, ObjectId, Outcome, Refusal};

use crate::yard::{Builder, T0, Yard, public, vec2};

const ADMIN: u8 = 100;
const ADA: u8 = 1;
const BOB: u8 = 2;

/// A yard with a thing of Ada, who stands beside it with Bob.
fn yard() -> (Builder, Yard, ObjectId) {
    let mut builder = Builder::new();
    let thing = builder.thing(Motion::Static, (9, 0), &[]);
    builder.genesis.objects[0].owner = Some(public(ADA));
    let mut yard = builder.build();
    for n in [ADMIN, ADA, BOB] {
        yard.login(n);
    }
    yard.play();
    yard.walk_to(ADA, vec2(7, 0));
    (builder, yard, thing)
}

fn changed(yard: &Yard, thing: ObjectId) -> Option<ThingChange> {
    yard.world.object(thing).expect("the thing is there").changed
}

#[track_caller]
fn expect(yard: &Yard, thing: ObjectId, by: u8, word: &str) {
    let height = yard.world.height();
    let time = Millis(T0 + yard.turn_ms * height.0);
    let change = ThingChange { by: public(by), word: word.to_owned(), height, time };
    assert_eq!(changed(yard, thing), Some(change));
}

fn build(yard: &mut Yard, n: u8, build: Build) -> Outcome {
    yard.try_act(n, Act::Build(build))
}

#[test]
fn each_step_of_building_leaves_who_did_it_and_a_refused_one_leaves_nothing() {
    let (_, mut yard, thing) = yard();
    assert_eq!(changed(&yard, thing), None, "it came with the sim");
    let color = Build::Recolor { object: thing, color: 7 };
    assert_eq!(build(&mut yard, BOB, color.clone()), Outcome::Refused(Refusal::NotYours));
    assert_eq!(changed(&yard, thing), None);
    let steps = [
        (
            Build::Rotate { object: thing, angle: Angle::from_turns(metatopia_math::Fx::HALF) },
            "rotate",
        ),
        (color, "recolor"),
        (Build::Rename { object: thing, name: "lantern".to_owned() }, "rename"),
        (Build::Write { object: thing, text: "hello".to_owned() }, "write"),
        (Build::LetTravel { object: thing, travels: true }, "let travel"),
        (Build::Move { object: thing, position: vec2(9, 1) }, "move"),
        (Build::Undo { skip: 0 }, "undo"),
    ];
    for (step, word) in steps {
        assert_eq!(build(&mut yard, ADA, step), Outcome::Ok, "{word}");
        expect(&yard, thing, ADA, word);
    }
    // A walk, a push and words of others change nothing that it keeps.
    let before = changed(&yard, thing);
    yard.try_act(BOB, Act::Walk { heading: Vec2::ZERO });
    assert_eq!(changed(&yard, thing), before);
    assert_eq!(yard.world.root(), yard.world.rehash());
}

#[test]
fn a_copy_is_its_makers_step_and_the_copied_thing_stays_as_it_was() {
    let (_, mut yard, thing) = yard();
    let copy = Build::Copy { object: thing, position: vec2(9, 3) };
    let Outcome::Made(made) = build(&mut yard, ADA, copy) else { panic!("no copy was made") };
    expect(&yard, made, ADA, "copy");
    assert_eq!(changed(&yard, thing), None);
    assert_eq!(build(&mut yard, ADA, Build::Give { object: made, to: public(BOB) }), Outcome::Ok);
    expect(&yard, made, ADA, "give");
}

#[test]
fn freezing_hides_nobody_and_a_snapshot_keeps_who_it_was() {
    let (builder, mut yard, thing) = yard();
    assert_eq!(build(&mut yard, ADA, Build::Recolor { object: thing, color: 7 }), Outcome::Ok);
    let before = changed(&yard, thing);
    for order in [GovernOrder::Freeze { object: thing }, GovernOrder::Thaw { object: thing }] {
        assert_eq!(yard.try_act(ADMIN, Act::Govern(order)), Outcome::Ok);
        assert_eq!(changed(&yard, thing), before);
    }
    let (snapshot, root) = (yard.world.snapshot(), yard.world.root());
    let again = World::from_snapshot(&snapshot, root, &builder.tools()).expect("its own snapshot");
    assert_eq!(again.object(thing).expect("the thing").changed, before);
}
