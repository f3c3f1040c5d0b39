//! Undo of what somebody did: by a moderator, from the traces that the state keeps.

use metatopia_math::Angle;
use metatopia_physics::Motion;
use metatopia_scripting::{EventKind, ScriptOutput};
use metatopia_sim::{OrderedDeed, TraceCount, WorldObject, limits::UNDONE_PER_ACT_MAX};
use metatopia_types::{
    Act, AssetLicence, Blueprint, Build, GovernOrder, ObjectId, Outcome, Pass, Refusal, RoleRight,
    Rotation,
};

use crate::{
    building::{block, place},
    yard::{Builder, Yard, key, public, vec2},
};

const ADMIN: u8 = 100;
pub(crate) const ADA: u8 = 1;
pub(crate) const PEST: u8 = 2;
pub(crate) const MODERATOR: u8 = 3;

/// A yard with two things of Ada, a lamp with a script and a wall. The pest may build with things of others.
pub(crate) struct Scene {
    pub(crate) yard: Yard,
    pub(crate) lamp: ObjectId,
    pub(crate) wall: ObjectId,
}

pub(crate) fn scene() -> Scene {
    scene_with(|_| {})
}

/// The scene with more things of Ada, which `more` puts there.
pub(crate) fn scene_with(more: impl FnOnce(&mut Builder)) -> Scene {
    let mut builder = Builder::new();
    let script = builder.port("glow", &[EventKind::Start], |_| Ok(ScriptOutput::default()));
    let lamp = builder.thing(Motion::Static, (9, 0), &[script]);
    let wall = builder.thing(Motion::Static, (9, 3), &[]);
    builder.genesis.parameters.building.open_ground = true;
    more(&mut builder);
    for object in &mut builder.genesis.objects {
        object.owner = Some(public(ADA));
    }
    let mut yard = builder.build();
    for n in [ADMIN, ADA, PEST, MODERATOR] {
        yard.login(n);
    }
    yard.play();
    for (n, rights) in [(PEST, &["build", "script"][..]), (MODERATOR, &["moderate"])] {
        let rights = rights.iter().map(|word| RoleRight::of(word).expect("a right")).collect();
        let grant = GovernOrder::Grant { key: public(n), rights, seconds: None };
        assert_eq!(yard.try_act(ADMIN, Act::Govern(grant)), Outcome::Ok);
    }
    yard.walk_to(PEST, vec2(7, 1));
    yard.walk_to(ADA, vec2(6, -3));
    Scene { yard, lamp, wall }
}

pub(crate) fn build(yard: &mut Yard, n: u8, step: Build) {
    assert_eq!(yard.try_act(n, Act::Build(step.clone())), Outcome::Ok, "{step:?}");
}

pub(crate) fn undo(yard: &mut Yard, n: u8, seconds: u32) -> Outcome {
    yard.try_act(n, Act::Govern(GovernOrder::Undo { key: public(PEST), seconds }))
}

/// Returns a thing but for who changed it last.
pub(crate) fn seen(yard: &Yard, id: ObjectId) -> Option<WorldObject> {
    yard.world.object(id).map(|seen| WorldObject { changed: None, ..seen })
}

/// Returns how many things the last undo undid, and how many collided.
pub(crate) fn recorded(yard: &Yard) -> (u32, u32) {
    let (_, order) = yard.world.orders().last().expect("an order");
    let OrderedDeed::Undo { key, undone, collided } = &order.deed else { panic!("{order:?}") };
    assert_eq!(*key, public(PEST));
    (*undone, *collided)
}

#[test]
fn what_a_pest_made_goes_and_what_a_pest_changed_or_deleted_is_what_it_was() {
    let Scene { mut yard, lamp, wall } = scene();
    let (lamp_before, wall_before) = (seen(&yard, lamp), seen(&yard, wall));
    let script = lamp_before.as_ref().expect("the lamp").scripts[0].0;
    for step in [
        Build::Rename { object: lamp, name: "junk".to_owned() },
        Build::Recolor { object: lamp, color: 7 },
        Build::Write { object: lamp, text: "pest was here".to_owned() },
        Build::Rotate { object: lamp, angle: Angle::from_bits(77) },
        Build::Move { object: lamp, position: vec2(11, 1) },
        Build::LetTravel { object: lamp, travels: true },
        Build::Detach { object: lamp, script },
        Build::Give { object: lamp, to: public(PEST) },
        Build::Recolor { object: wall, color: 9 },
        Build::Delete { object: wall },
    ] {
        build(&mut yard, PEST, step);
    }
    let made = place(&mut yard, PEST, block(9, -3));
    let gone = place(&mut yard, PEST, block(12, -3));
    build(&mut yard, PEST, Build::Delete { object: gone });
    let counted = TraceCount { made: 1, changed: 1, deleted: 1 };
    assert_eq!(yard.world.traced(&public(PEST), 3_600), counted);

    assert_eq!(undo(&mut yard, MODERATOR, 3_600), Outcome::Ok);

    assert_eq!((seen(&yard, lamp), seen(&yard, wall)), (lamp_before, wall_before));
    assert_eq!((seen(&yard, made), seen(&yard, gone)), (None, None));
    assert_eq!(recorded(&yard), (3, 0));
    let changed = yard.world.object(lamp).and_then(|lamp| lamp.changed).expect("a change");
    assert_eq!((changed.by, changed.word.as_str()), (public(MODERATOR), "undo"));
    assert_eq!(undo(&mut yard, MODERATOR, 3_600), Outcome::Refused(Refusal::NothingToUndo));
    yard.check_leaves();
}

#[test]
fn what_others_changed_since_stays_and_what_a_rule_forbids_collides() {
    let Scene { mut yard, lamp, wall } = scene();
    build(&mut yard, PEST, Build::Rename { object: lamp, name: "junk".to_owned() });
    build(&mut yard, ADA, Build::Recolor { object: lamp, color: 5 });
    build(&mut yard, PEST, Build::Move { object: wall, position: vec2(12, 4) });
    // Ada stands where the wall was.
    yard.walk_to(ADA, vec2(9, 3));
    let before = [lamp, wall].map(|id| seen(&yard, id));

    assert_eq!(undo(&mut yard, MODERATOR, 3_600), Outcome::Ok);

    assert_eq!([lamp, wall].map(|id| seen(&yard, id)), before);
    assert_eq!(recorded(&yard), (0, 1), "the lamp is Ada's change by now");
    yard.check_leaves();
}

#[test]
fn only_what_began_in_the_time_that_is_given_is_undone() {
    let Scene { mut yard, lamp, wall } = scene();
    build(&mut yard, PEST, Build::Recolor { object: lamp, color: 7 });
    yard.idle(100);
    build(&mut yard, PEST, Build::Recolor { object: lamp, color: 8 });
    build(&mut yard, PEST, Build::Recolor { object: wall, color: 8 });
    assert_eq!(undo(&mut yard, MODERATOR, 0), Outcome::Refused(Refusal::OutOfRange));
    assert_eq!(undo(&mut yard, MODERATOR, 2), Outcome::Ok);
    let color = |yard: &Yard, id| yard.world.object(id).expect("there").look.color;
    assert_eq!((color(&yard, lamp), color(&yard, wall)), (8, 0));
    assert_eq!(undo(&mut yard, MODERATOR, 60), Outcome::Ok);
    assert_eq!(color(&yard, lamp), 0, "as before the first of her changes");
}

#[test]
fn nobody_undoes_what_somebody_did_who_has_as_much_to_say() {
    let Scene { mut yard, lamp, .. } = scene();
    build(&mut yard, PEST, Build::Recolor { object: lamp, color: 7 });
    assert_eq!(undo(&mut yard, ADA, 60), Outcome::Refused(Refusal::NoRight));
    let rights = [RoleRight::Moderate].into();
    let grant = GovernOrder::Grant { key: public(PEST), rights, seconds: None };
    assert_eq!(yard.try_act(ADMIN, Act::Govern(grant)), Outcome::Ok);
    assert_eq!(undo(&mut yard, MODERATOR, 60), Outcome::Refused(Refusal::Outranked));
    assert_eq!(undo(&mut yard, ADMIN, 60), Outcome::Ok);
}

#[test]
fn one_act_undoes_so_many_things_and_the_next_ones_the_rest() {
    let Scene { mut yard, .. } = scene();
    yard.walk_to(PEST, vec2(12, -9));
    let count = UNDONE_PER_ACT_MAX as i32 + 3;
    for n in 0..count {
        place(&mut yard, PEST, block(9 + n % 7, -11 - n / 7));
    }
    assert_eq!(yard.world.traced(&public(PEST), 3_600).made, count as u32);
    // A turn has room for four of these acts.
    let acts: Vec<_> = (0..5)
        .map(|_| {
            let order = GovernOrder::Undo { key: public(PEST), seconds: 3_600 };
            yard.act(MODERATOR, Act::Govern(order))
        })
        .collect();
    yard.play();
    let nothing = Outcome::Refused(Refusal::NothingToUndo);
    let outcomes: Vec<Outcome> = acts.iter().map(|act| yard.outcome(act)).collect();
    assert_eq!(outcomes, [Outcome::Ok, Outcome::Ok, nothing, nothing, nothing]);
    assert_eq!(recorded(&yard), (3, 0));
    assert_eq!(yard.world.things(&public(PEST)).count(), 0);
    yard.check_leaves();
}

#[test]
fn a_rotated_key_keeps_its_traces_and_what_it_owned_comes_back_to_the_new_one() {
    const NEW: u8 = 9;
    let Scene { mut yard, wall, .. } = scene();
    build(&mut yard, PEST, Build::Delete { object: wall });
    let pass = Some(Pass::Rotation(Rotation::new(&key(ADA), &key(NEW), 1)));
    let (name, look, bot) = ("player 1".to_owned(), metatopia_types::Look::default(), false);
    assert_eq!(yard.try_act(NEW, Act::Login { name, look, bot, pass }), Outcome::Ok);
    assert_eq!(undo(&mut yard, MODERATOR, 60), Outcome::Ok);
    let back = yard.world.object(wall).expect("it is back");
    assert_eq!(back.owner, Some(public(NEW)));
    yard.check_leaves();
}

#[test]
fn nobody_keeps_a_thing_from_an_undo_by_holding_it() {
    let Scene { mut yard, .. } = scene();
    let movable = |x, y| Blueprint { movable: true, ..block(x, y) };
    let spam = place(&mut yard, PEST, movable(8, 2));
    build(&mut yard, PEST, Build::Take { object: spam });
    let lantern = place(&mut yard, ADA, movable(4, -3));
    build(&mut yard, ADA, Build::Take { object: lantern });
    build(&mut yard, PEST, Build::Delete { object: lantern });

    assert_eq!(undo(&mut yard, MODERATOR, 3_600), Outcome::Ok);

    let gone_home = yard.world.object(spam);
    assert!(gone_home.is_none_or(|thing| thing.held.is_none()), "it is in nobody's hands");
    let back = yard.world.object(lantern).expect("it is restored");
    assert_eq!((back.held, back.movable, back.owner), (None, true, Some(public(ADA))));
    yard.check_leaves();
}

/// A key that was stolen could have deleted what its owner had, beyond a moderator's undo.
#[test]
fn what_somebody_united_comes_apart_by_a_moderators_undo() {
    let mut pair = [ObjectId(0); 2];
    let Scene { mut yard, .. } = scene_with(|builder| {
        // Behind where she goes, so that they are in nobody's way.
        pair = [(7, 5), (8, 6)].map(|at| builder.thing(Motion::Static, at, &[]));
        for object in builder.genesis.objects.iter_mut().rev().take(2) {
            object.licence = AssetLicence::Cc0;
        }
    });
    for object in pair {
        build(&mut yard, ADA, Build::Give { object, to: public(PEST) });
    }
    let before = pair.map(|id| seen(&yard, id));
    let unite = Act::Build(Build::Unite { objects: pair.to_vec() });
    let Outcome::Made(whole) = yard.try_act(PEST, unite) else { panic!("they are hers") };
    assert_eq!(undo(&mut yard, MODERATOR, 60), Outcome::Ok);
    assert_eq!(seen(&yard, whole), None);
    assert_eq!(pair.map(|id| seen(&yard, id)), before);
    yard.check_leaves();
}

/// Things that somebody made, united and took apart again stood there without a trace of her.
#[test]
fn what_somebody_made_united_and_took_apart_is_still_undone() {
    let Scene { mut yard, .. } = scene();
    let pair = [(5, 1), (6, 2)].map(|(x, y)| place(&mut yard, PEST, block(x, y)));
    let unite = Act::Build(Build::Unite { objects: pair.to_vec() });
    let Outcome::Made(whole) = yard.try_act(PEST, unite) else { panic!("they are hers") };
    build(&mut yard, PEST, Build::Undo { skip: 0 });
    assert!(pair.iter().all(|id| seen(&yard, *id).is_some()));
    assert_eq!(undo(&mut yard, MODERATOR, 60), Outcome::Ok);
    for id in pair.into_iter().chain([whole]) {
        assert_eq!(seen(&yard, id), None, "{id}");
    }
    yard.check_leaves();
}
