//! Names belong to players: who first takes one keeps it.

use metatopia_types::{Act, Look, Outcome, Refusal};

use crate::{
    snapshots::restored,
    yard::{Builder, Yard, public},
};

fn login(name: &str) -> Act {
    Act::login(name.to_owned(), Look::default())
}

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
