//! Names belong to players: who first takes one keeps it.

use metatopia_physics::Motion;
use metatopia_types::{
    Act, BodyError, Build, ClubOrder, Envelope, GovernOrder, GroundArea, Lane, Look, LotOrder,
    ObjectId, Outcome, Refusal, Seq, Title, TurnBody, limits::ENVELOPE_BYTES_MAX, wire,
};

use crate::{
    snapshots::restored,
    yard::{Builder, Yard, key, public},
};

fn login(name: &str) -> Act {
    Act::login(name.to_owned(), Look::default())
}

const ADMIN: u8 = 100;

const TAKEN: Outcome = Outcome::Refused(Refusal::NameTaken);

#[test]
fn who_first_takes_a_name_keeps_it_while_away_and_after_a_restart() {
    let builder = Builder::new();
    let mut yard = builder.build();
    assert_eq!(yard.try_act(1, login("Ada Alan")), Outcome::Ok);
    let alike = ["Ada Alan", "ADA ALAN", "AdaAlan", "Ada A1an", "\u{410}d\u{430} Alan"];
    for name in alike {
        assert_eq!(yard.try_act(2, login(name)), TAKEN, "{name}");
    }
    assert_eq!(yard.world.player(&public(2)), None);

    assert_eq!(yard.try_act(1, Act::Leave), Outcome::Ok);
    assert_eq!(yard.try_act(2, login("Ada Alan")), TAKEN);
    yard.world = restored(&yard.world, &builder.tools());
    for name in alike {
        assert_eq!(yard.try_act(2, login(name)), TAKEN, "{name}");
    }
    assert_eq!(yard.try_act(2, login("Eva")), Outcome::Ok);
    assert_eq!(yard.try_act(1, login("Ada Alan")), Outcome::Ok);
}

#[test]
fn a_new_name_frees_the_one_before_and_is_nobody_elses() {
    let mut yard = Builder::new().build();
    assert_eq!(yard.try_act(1, login("Ada")), Outcome::Ok);
    assert_eq!(yard.try_act(2, login("Bob")), Outcome::Ok);
    assert_eq!(yard.try_act(1, login("bob")), TAKEN);
    let name = |yard: &Yard, n| yard.world.player(&public(n)).map(|player| player.name.clone());
    assert_eq!(name(&yard, 1), Some("Ada".to_owned()), "a name that is refused changes nothing");

    // Another way to write her own name is hers.
    assert_eq!(yard.try_act(1, login("ADA")), Outcome::Ok);
    assert_eq!(yard.try_act(1, login("Eva")), Outcome::Ok);
    assert_eq!(yard.try_act(2, login("Ada")), Outcome::Ok);
    assert_eq!(yard.try_act(1, login("Bob")), Outcome::Ok);
    assert_eq!(yard.try_act(2, login("Eva")), Outcome::Ok);
}

#[test]
fn of_two_who_take_a_name_in_one_turn_one_gets_it() {
    let mut yard = Builder::new().build();
    let acts = [1, 2, 3].map(|n| yard.act(n, login("Ada")));
    yard.play();
    let mut outcomes = acts.map(|act| yard.outcome(&act));
    outcomes.sort_by_key(|outcome| *outcome != Outcome::Ok);
    assert_eq!(outcomes, [Outcome::Ok, TAKEN, TAKEN]);
}

#[test]
fn names_with_signs_that_hide_are_refused() {
    let mut yard = Builder::new().build();
    for name in ["A\u{200b}da", "Ada\u{2064}", "\u{ff21}da", "Ada~3b6a27bcceb6a42d"] {
        let refused = Outcome::Refused(Refusal::UnfitName);
        assert_eq!(yard.try_act(1, login(name)), refused, "{}", name.escape_unicode());
    }
    // The longest name that an envelope has room for is refused by its length.
    let long = login(&"x".repeat(600));
    assert_eq!(yard.try_act(1, long), Outcome::Refused(Refusal::BadText));
    assert_eq!(yard.world.player_count(), 0);
}

/// Returns an act of each kind by which somebody names something.
fn namings(name: &str, object: ObjectId) -> [Act; 7] {
    let ground = GroundArea { x: 8, y: 8, width: 4, depth: 4 };
    let name = name.to_owned();
    let land = GovernOrder::SetLand { name: name.clone(), area: ground, title: Title::Open };
    [
        login(&name),
        Act::Build(Build::Rename { object, name: name.clone() }),
        Act::Club(ClubOrder::Found { name: name.clone() }),
        Act::Lot(LotOrder::Claim { ground, name: name.clone() }),
        Act::Amend { name: "name".to_owned(), value: name.clone() },
        Act::Amend { name, value: "3".to_owned() },
        Act::Govern(land),
    ]
}

#[test]
fn a_name_of_64_kib_is_in_no_turn_and_the_longest_one_that_is_is_refused() {
    let mut builder = Builder::new();
    let thing = builder.thing(Motion::Static, (2, 2), &[]);
    let mut yard = builder.build();
    assert_eq!(yard.try_act(ADMIN, login("Ada")), Outcome::Ok);

    for act in namings(&"x".repeat(64 * 1_024), thing) {
        let (sim, author, number) = (yard.world.sim(), public(ADMIN), act.number());
        let (lane, seq, last_valid) = (Lane(1), Seq(90), yard.world.height().plus(9));
        let signed = Envelope { sim, author, lane, seq, last_valid, act }.sign(&key(ADMIN));
        let (id, bytes) = (signed.id(), wire::length(&signed));
        let body = TurnBody::new(vec![signed], Vec::new());
        assert_eq!(body, Err(BodyError::LongAct { id, bytes }), "act {number}");
    }

    let long = "x".repeat(ENVELOPE_BYTES_MAX - 256);
    for act in namings(&long, thing) {
        let number = act.number();
        let outcome = yard.try_act(ADMIN, act);
        assert!(matches!(outcome, Outcome::Refused(_)), "act {number}: {outcome}");
    }
    let player = yard.world.player(&public(ADMIN)).expect("she is here");
    assert_eq!((player.name.as_str(), yard.world.player_count()), ("Ada", 1));
    assert_ne!(yard.world.object(thing).expect("it stays").name, long);
    yard.check_leaves();

    // With a few letters each of them is done, but for the value that nothing has.
    let short = namings("harbour", thing).map(|act| yard.try_act(ADMIN, act));
    let refused = short.iter().filter(|outcome| !outcome.is_done());
    assert_eq!(refused.collect::<Vec<_>>(), [&Outcome::Refused(Refusal::NoParameter)], "{short:?}");
}
