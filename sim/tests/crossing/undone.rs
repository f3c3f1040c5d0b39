//! What a moderator brought back, or what was given back over a border: nothing is in two sims by an undo.

use metatopia_math::{Fx, Vec2};
use metatopia_sim::ObjectSpec;
use metatopia_types::{
    Act, BorderOrder, Build, GovernOrder, ObjectId, Origin, Outcome, PublicKey, Refusal,
};

use crate::{
    rolling::{ball, first, geneses, package, rolling, thing, way},
    town::{ADMIN, Place, places_of_thing, public, step, tell, town_of},
};

/// What rolls east, also if it began anew.
const RUNNER: &str = "\
fn on_start() { timer(\"run\", 0.1); }
fn on_timer(name) { self_.velocity = vec2(8, 0); timer(\"run\", 0.3); }
";

/// A ball of Ada's, by its number in the west.
const BALL: ObjectId = ObjectId(1);

fn outcome(town: &mut [Place], n: usize, author: PublicKey, act: Act) -> Outcome {
    let act = town[n].act(author, 1, act);
    step(town, 50);
    town[n].outcome(&act)
}

/// Has the admin of a sim undo what a key did.
fn undo_of(town: &mut [Place], n: usize, key: PublicKey) -> Outcome {
    outcome(town, n, public(ADMIN), Act::Govern(GovernOrder::Undo { key, seconds: 3_600 }))
}

#[test]
fn what_a_moderator_restored_is_restored_by_nobody_else_while_it_is_under_way_or_elsewhere() {
    let ada = public(1);
    let mut founded = geneses(2, 4, 0);
    let runner = package("runner", RUNNER);
    let spec = ball(Vec2::new(Fx::from_int(24), Fx::from_int(4)), &[runner.id()], &way(0));
    founded[0].objects.push(ObjectSpec { owner: Some(ada), ..spec });
    founded.iter_mut().for_each(|genesis| {
        genesis.packages.insert(runner.id(), runner.encode());
    });
    let mut town = town_of(founded);
    town[0].login(ada);
    step(&mut town, 50);
    let origin = Origin { sim: town[0].id(), number: BALL };
    let undo = || Act::Build(Build::Undo { skip: 1 });
    assert_eq!(outcome(&mut town, 0, ada, Act::Build(Build::Delete { object: BALL })), Outcome::Ok);
    assert_eq!(undo_of(&mut town, 0, ada), Outcome::Ok);
    assert_eq!(places_of_thing(&town, origin), 1, "it is back");

    let travels = Build::LetTravel { object: BALL, travels: true };
    assert_eq!(outcome(&mut town, 0, ada, Act::Build(travels)), Outcome::Ok);
    let (mut away, mut east) = (false, false);
    for _ in 0..200 {
        let is_here = thing(&town[0], origin).is_some();
        east = thing(&town[1], origin).is_some();
        if !is_here {
            let refusal = Outcome::Refused(Refusal::NothingToUndo);
            assert_eq!(outcome(&mut town, 0, ada, undo()), refusal);
            away |= !east;
        } else {
            step(&mut town, 50);
        }
        assert_eq!(places_of_thing(&town, origin), 1);
        if east {
            break;
        }
    }
    assert!(away && east, "it goes over: {away}, {east}");
    for _ in 0..8 {
        step(&mut town, 50);
        assert_eq!(places_of_thing(&town, origin), 1);
    }
    town.iter().for_each(|place| assert_eq!(place.world.root(), place.world.rehash()));
}

#[test]
fn what_was_given_back_to_its_sender_is_restored_by_no_moderator_of_who_had_it() {
    let mut town = rolling(geneses(2, 4, 1));
    let (origin, mover, admin) = (first(&town), public(3), public(ADMIN));
    // Whose it is.
    let owner = public(7);
    town[1].login(mover);
    town[1].login(owner);
    while thing(&town[0], origin).is_some() {
        step(&mut town, 50);
    }
    town[0].idle(2);
    tell(&mut town, 0, 1);
    town[1].play(50);
    let object = thing(&town[1], origin).expect("it was taken").id;
    // Its new owner, who is no admin, deletes it in the east.
    for (author, build) in
        [(owner, Build::Give { object, to: mover }), (mover, Build::Delete { object })]
    {
        let act = town[1].act(author, 1, Act::Build(build));
        town[1].play(50);
        assert_eq!(town[1].outcome(&act), Outcome::Ok);
    }
    assert_eq!(town[1].world.traced(&mover, 3_600).deleted, 1);
    // The west hears nothing for a day, and gives the east up: the thing is home again.
    let neighbour = town[1].id();
    town[0].play(86_400_001);
    let act = town[0].order(&BorderOrder::Sever { neighbour });
    town[0].play(50);
    assert_eq!(town[0].outcome(&act), Outcome::Ok);
    assert!(thing(&town[0], origin).is_some());
    town[0].idle(2);
    tell(&mut town, 0, 1);
    town[1].play(50);

    let undo = GovernOrder::Undo { key: mover, seconds: 3_600 };
    let act = town[1].act(admin, 1, Act::Govern(undo));
    town[1].play(50);

    assert_eq!(town[1].outcome(&act), Outcome::Refused(Refusal::NothingToUndo));
    assert_eq!(places_of_thing(&town, origin), 1);
    town.iter().for_each(|place| assert_eq!(place.world.root(), place.world.rehash()));
}
