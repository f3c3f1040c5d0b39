//! Who may do what: every kind of act by an admin, a temp admin, an owner and somebody else.

use metatopia_math::{Angle, Fx};
use metatopia_physics::Motion;
use metatopia_sim::{AMENDABLE, ActTarget, Denied, Right};
use metatopia_types::{
    Act, Build, Look, NodeContact, ObjectId, Outcome, Outline, Refusal, SetChange, TicketOrder,
};

use crate::yard::{Builder, Yard, public, vec2};

const ADMIN: u8 = 100;
const OWNER: u8 = 1;
const OTHER: u8 = 2;

/// Returns a yard in which everybody is logged in, with a thing of the owner near all of them.
fn yard() -> (Yard, ObjectId) {
    let mut builder = Builder::new();
    let thing = builder.thing(Motion::Dynamic, (2, 2), &[]);
    builder.genesis.objects[0].owner = Some(public(OWNER));
    // Nobody appears where the thing is turned.
    builder.genesis.parameters.avatar.spawn_radius = Fx::ONE;
    let mut yard = builder.build();
    for n in [ADMIN, OWNER, OTHER] {
        yard.login(n);
    }
    yard.play();
    (yard, thing)
}

/// Returns one act for each thing that only its owner or an admin may do.
fn owners_acts(thing: ObjectId) -> Vec<Build> {
    vec![
        Build::Recolor { object: thing, color: 7 },
        Build::Rename { object: thing, name: "mine".to_owned() },
        Build::Write { object: thing, text: "mine".to_owned() },
        Build::Rotate { object: thing, angle: Angle::from_radians(Fx::ONE) },
        Build::Resize { object: thing, outline: Outline::Disc { radius: Fx::ONE } },
        Build::Move { object: thing, position: vec2(6, 6) },
        Build::Give { object: thing, to: public(OTHER) },
        Build::Delete { object: thing },
    ]
}

fn login(n: u8) -> Act {
    Act::login(format!("player {n}"), Look::default())
}

fn amend(name: &str, value: &str) -> Act {
    Act::Amend { name: name.to_owned(), value: value.to_owned() }
}

#[test]
fn a_thing_is_changed_by_its_owner_and_admins_and_by_nobody_else() {
    for n in 0..owners_acts(ObjectId(1)).len() {
        for author in [ADMIN, OWNER, OTHER] {
            let (mut yard, thing) = yard();
            let act = owners_acts(thing).swap_remove(n);
            let outcome = yard.try_act(author, Act::Build(act.clone()));
            let denied = Outcome::Refused(Refusal::NotYours);
            assert_eq!(outcome == denied, author == OTHER, "{act:?} by {author}: {outcome}");
            assert!(author == OTHER || outcome.is_done(), "{act:?} by {author}: {outcome}");
        }
    }
}

#[test]
fn what_belongs_to_the_sim_is_for_admins_alone() {
    let contact = NodeContact::default();
    let acts = [
        (Act::SetChange(SetChange::Add { key: public(205), contact }), Right::Servers),
        (Act::Ticket(TicketOrder::Issue { ticket: public(9), uses: 1, days: 1 }), Right::Admit),
        (amend("building.reach", "25"), Right::Charter),
    ];
    for (act, right) in acts {
        for (author, may) in [(ADMIN, true), (OWNER, false), (OTHER, false)] {
            let (mut yard, _) = yard();
            let told = yard.world.may(&public(author), right, &ActTarget::SIM);
            assert_eq!(told, if may { Ok(()) } else { Err(Denied::NotAdmin) });
            let outcome = yard.try_act(author, act.clone());
            let expected = if may { Outcome::Ok } else { Outcome::Refused(Refusal::NotAdmin) };
            assert_eq!(outcome, expected, "{act:?} by {author}");
        }
    }
}

#[test]
fn a_right_is_asked_for_before_anything_else() {
    let (mut yard, thing) = yard();
    // None of them is logged in, and the text is wrong too.
    let text = "two\nlines".to_owned();
    let outcome = yard.try_act(9, Act::Build(Build::Write { object: thing, text }));
    assert_eq!(outcome, Outcome::Refused(Refusal::NotYours));
    let outcome = yard.try_act(9, amend("nothing", ""));
    assert_eq!(outcome, Outcome::Refused(Refusal::NotAdmin));
}

#[test]
fn an_amended_value_counts_for_what_comes_after_it_and_is_in_the_state() {
    let (mut yard, _) = yard();
    let before = yard.world.root();
    assert_eq!(yard.try_act(ADMIN, amend("objects_max", "4")), Outcome::Ok);
    assert_eq!(yard.world.parameters().objects_max, 4);
    assert_ne!(yard.world.root(), before);
    assert_eq!(yard.world.root(), yard.world.rehash());

    // One thing and three people: nobody else has room.
    assert_eq!(yard.try_act(9, login(9)), Outcome::Refused(Refusal::Full));
    assert_eq!(yard.try_act(ADMIN, amend("objects_max", "5")), Outcome::Ok);
    assert_eq!(yard.try_act(9, login(9)), Outcome::Ok);

    for (name, value, refusal) in [
        ("ticks_per_turn", "4", Refusal::NoParameter),
        ("ground", "4", Refusal::NoParameter),
        ("objects_max", "0", Refusal::OutOfRange),
        ("objects_max", "five", Refusal::OutOfRange),
        ("name", "", Refusal::OutOfRange),
    ] {
        let outcome = yard.try_act(ADMIN, amend(name, value));
        assert_eq!(outcome, Outcome::Refused(refusal), "{name} {value}");
    }
    for name in AMENDABLE {
        let value = yard.world.charter().value(name).expect("every name has a value");
        assert_eq!(yard.try_act(ADMIN, amend(name, &value)), Outcome::Ok, "{name} {value}");
    }
}

#[test]
fn a_temp_admin_does_what_admins_do_but_changes_no_value() {
    let mut builder = Builder::new();
    let thing = builder.thing(Motion::Dynamic, (2, 2), &[]);
    builder.genesis.parameters.admin_days = 2;
    builder.genesis.parameters.player_days = 2;
    builder.genesis.parameters.seen_days = 2;
    let mut yard = builder.build();
    // A minute of governance time at most for a turn, however long it took.
    yard.turn_ms = 3_600_000;
    for _ in 0..2 {
        yard.login(OWNER);
        yard.idle(1_440);
    }
    yard.login(OWNER);
    yard.idle(2);
    assert_eq!(yard.world.governance().temp_admin, Some(public(OWNER)));
    let heir = OWNER;

    assert_eq!(yard.try_act(heir, Act::Build(Build::Delete { object: thing })), Outcome::Ok);
    let outcome = yard.try_act(heir, amend("admin_days", "36500"));
    assert_eq!(outcome, Outcome::Refused(Refusal::NotPermanent));
    let told = yard.world.may(&public(heir), Right::Charter, &ActTarget::SIM);
    assert_eq!(told, Err(Denied::NotPermanent));
}
