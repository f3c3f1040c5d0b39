//! Sims that end.

use metatopia_sim::World;
use metatopia_types::{Act, Look, Outcome, Refusal};

use crate::yard::{Builder, Yard};

const ADMIN: u8 = 100;

/// Returns a sim that lives for a minute, of turns of a second.
fn short_lived() -> Yard {
    let mut builder = Builder::new();
    builder.genesis.parameters.ttl_seconds = 60;
    let mut yard = builder.build();
    yard.turn_ms = 1_000;
    yard
}

fn login(n: u8) -> Act {
    Act::login(format!("player {n}"), Look::default())
}

#[test]
fn nobody_does_anything_in_a_sim_that_has_ended() {
    let mut yard = short_lived();
    yard.login(ADMIN);
    yard.login(1);
    while yard.world.time_left().expect("it ends") > 2_000 {
        yard.idle(1);
    }
    assert_eq!(yard.try_act(1, Act::Heartbeat), Outcome::Ok, "the last turn before the end");

    let ended = Outcome::Refused(Refusal::SimEnded);
    let longer = Act::Amend { name: "ttl_seconds".to_owned(), value: "120".to_owned() };
    for (author, act) in
        [(1, Act::Heartbeat), (2, login(2)), (ADMIN, login(ADMIN)), (ADMIN, longer)]
    {
        assert_eq!(yard.try_act(author, act.clone()), ended, "{act:?} by {author}");
    }
    assert!(yard.world.time_left().expect("it ends") <= 0);
    assert_eq!(yard.world.root(), yard.world.rehash());
}

#[test]
fn an_admin_gives_a_sim_more_time_while_it_lives() {
    let mut yard = short_lived();
    yard.login(ADMIN);
    let set = |value: &str| Act::Amend { name: "ttl_seconds".to_owned(), value: value.to_owned() };
    yard.act(ADMIN, set("120"));
    yard.idle(100);
    assert_eq!(yard.try_act(ADMIN, login(ADMIN)), Outcome::Ok);
    yard.act(ADMIN, set("0"));
    yard.idle(100);
    assert_eq!(yard.world.time_left(), None, "it never ends");
    assert_eq!(yard.try_act(ADMIN, login(ADMIN)), Outcome::Ok);
}

#[test]
fn the_successor_of_a_sim_that_has_ended_lives_as_long_again() {
    let mut yard = short_lived();
    yard.idle(100);
    assert!(yard.world.time_left().expect("it ends") < 0);

    let genesis = crate::succession::successor(&yard.world);
    let tools = Builder::new().tools();
    let again = World::succeed(&genesis, &yard.world, &tools).expect("a successor");

    assert_eq!(again.time_left(), Some(60_000));

    // Whoever founds it may say otherwise: the parent may have been ended early.
    for (ttl_seconds, left) in [(0, None), (7_200, Some(7_200_000))] {
        let mut genesis = genesis.clone();
        genesis.parameters.ttl_seconds = ttl_seconds;
        let again = World::succeed(&genesis, &yard.world, &tools).expect("a successor");
        assert_eq!(again.time_left(), left);
    }
}
