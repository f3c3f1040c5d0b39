//! Undo of what somebody did, who would rather that nobody undid it.

use metatopia_math::Fx;
use metatopia_physics::Motion;
use metatopia_sim::{TraceCount, limits::UNDONE_PER_ACT_MAX};
use metatopia_types::{Build, Outcome, Refusal};

use crate::{
    building::{block, place, refused},
    undo_of::{ADA, MODERATOR, PEST, Scene, build, recorded, scene, scene_with, seen, undo},
    yard::{public, vec2},
};

#[test]
fn what_somebody_made_deleted_and_took_back_is_undone() {
    let Scene { mut yard, .. } = scene();
    let junk = place(&mut yard, PEST, block(9, -3));
    build(&mut yard, PEST, Build::Delete { object: junk });
    assert_eq!(yard.world.traced(&public(PEST), 3_600), TraceCount::default());
    build(&mut yard, PEST, Build::Undo { skip: 0 });
    let made = TraceCount { made: 1, ..TraceCount::default() };
    assert_eq!(yard.world.traced(&public(PEST), 3_600), made);

    assert_eq!(undo(&mut yard, MODERATOR, 3_600), Outcome::Ok);

    assert_eq!((seen(&yard, junk), recorded(&yard)), (None, (1, 0)));
    yard.check_leaves();
}

/// A pest gave each wall to another key of hers, and no undo reached what was not her own any more.
#[test]
fn nobody_saves_what_she_made_from_an_undo_by_a_gift() {
    let Scene { mut yard, .. } = scene();
    let wall = place(&mut yard, PEST, block(9, -3));
    build(&mut yard, PEST, Build::Give { object: wall, to: public(ADA) });

    assert_eq!(undo(&mut yard, MODERATOR, 3_600), Outcome::Ok);

    assert_eq!((seen(&yard, wall), recorded(&yard)), (None, (1, 0)));
    yard.check_leaves();
}

#[test]
fn what_somebody_made_and_deleted_leaves_no_trace_however_often_it_was_taken_back() {
    let Scene { mut yard, .. } = scene();
    let junk = place(&mut yard, PEST, block(9, -3));
    for _ in 0..3 {
        build(&mut yard, PEST, Build::Delete { object: junk });
        assert_eq!(yard.world.traced(&public(PEST), 3_600), TraceCount::default());
        build(&mut yard, PEST, Build::Undo { skip: 0 });
    }
    // To take the placing back is to delete it as well, and nothing takes that back.
    build(&mut yard, PEST, Build::Undo { skip: 0 });

    assert_eq!(seen(&yard, junk), None);
    assert_eq!(undo(&mut yard, MODERATOR, 3_600), refused(Refusal::NothingToUndo));
    yard.check_leaves();
}

#[test]
fn nobody_saves_vandalism_from_an_undo_by_standing_in_its_way_for_a_moment() {
    let Scene { mut yard, wall, .. } = scene();
    let before = seen(&yard, wall);
    build(&mut yard, PEST, Build::Move { object: wall, position: vec2(12, 4) });
    // A friend of hers stands where the wall was.
    yard.walk_to(ADA, vec2(9, 3));

    assert_eq!(undo(&mut yard, MODERATOR, 3_600), Outcome::Ok);
    assert_eq!(recorded(&yard), (0, 1));
    let changed = yard.world.object(wall).and_then(|wall| wall.changed).expect("a change");
    assert_eq!((changed.by, changed.word.as_str()), (public(PEST), "move"), "it hides nobody");
    yard.check_leaves();

    yard.walk_to(ADA, vec2(-3, -3));
    assert_eq!(undo(&mut yard, MODERATOR, 3_600), Outcome::Ok);
    assert_eq!((seen(&yard, wall), recorded(&yard)), (before, (1, 0)));
    assert_eq!(undo(&mut yard, MODERATOR, 3_600), refused(Refusal::NothingToUndo));
    yard.check_leaves();
}

#[test]
fn what_collides_is_passed_over_until_everything_else_was_tried() {
    let mut stack = Vec::new();
    let Scene { mut yard, wall, .. } = scene_with(|builder| {
        builder.genesis.parameters.building.reach = Fx::from_int(60);
        let one = |_| builder.thing(Motion::Static, (9, -6), &[]);
        stack = (0..UNDONE_PER_ACT_MAX).map(one).collect();
    });
    for (n, object) in (0..).zip(stack) {
        build(&mut yard, PEST, Build::Move { object, position: vec2(9 + n % 7, -11 - n / 7) });
    }
    // A friend of hers stands where they all were.
    yard.walk_to(ADA, vec2(9, -6));
    build(&mut yard, PEST, Build::Recolor { object: wall, color: 7 });
    let all = UNDONE_PER_ACT_MAX as u32;

    assert_eq!(undo(&mut yard, MODERATOR, 3_600), Outcome::Ok);
    assert_eq!(recorded(&yard), (0, all));
    assert_eq!(undo(&mut yard, MODERATOR, 3_600), Outcome::Ok);
    assert_eq!(recorded(&yard), (1, all - 1));
    assert_eq!(seen(&yard, wall).map(|wall| wall.look.color), Some(0));
    yard.check_leaves();
}
