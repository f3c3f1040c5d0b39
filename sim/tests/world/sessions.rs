//! Coming, staying and going.

use metatopia_sim::limits::ARRIVALS_PER_TURN_MAX;
use metatopia_types::{Act, BodyShape, Look, Outcome, Refusal};

use crate::yard::{Builder, public};

fn login(name: &str, color: u32) -> Act {
    Act::login(name.to_owned(), Look::plain(color, BodyShape::Round))
}

#[test]
fn the_first_login_makes_a_player_with_an_avatar_near_the_spawn_point() {
    let mut yard = Builder::new().build();

    assert_eq!(yard.try_act(1, login("Ada", 0x00ff_0000)), Outcome::Ok);

    let seen = yard.world.object(yard.avatar(1)).expect("the avatar");
    assert_eq!(
        (seen.name.as_str(), seen.kind.as_str(), seen.look.color),
        ("Ada", "avatar", 0xff_0000)
    );
    assert!(seen.position.length().floor_int() <= 5);
    assert!(!seen.movable);
}

#[test]
fn nobody_acts_before_a_login() {
    let mut yard = Builder::new().build();

    for act in [Act::Heartbeat, Act::Leave, Act::Walk { heading: metatopia_math::Vec2::X }] {
        assert_eq!(yard.try_act(1, act), Outcome::Refused(Refusal::NotLoggedIn));
    }
}

#[test]
fn a_login_in_another_lane_takes_over_the_avatar() {
    let mut yard = Builder::new().build();
    yard.login(1);
    yard.play();
    let avatar = yard.avatar(1);

    yard.act_in(1, 2, login("Ada", 1));
    yard.play();

    assert_eq!(yard.avatar(1), avatar);
    assert_eq!(yard.world.object(avatar).map(|seen| seen.name), Some("Ada".to_owned()));
    assert_eq!(yard.try_act(1, Act::Heartbeat), Outcome::Refused(Refusal::OtherSession));
}

#[test]
fn names_and_looks_that_break_their_rules_are_refused() {
    let mut yard = Builder::new().build();

    assert_eq!(yard.try_act(1, login("", 0)), Outcome::Refused(Refusal::BadText));
    assert_eq!(yard.try_act(1, login("a\u{7}b", 0)), Outcome::Refused(Refusal::BadText));
    assert_eq!(yard.try_act(1, login("Ada", 1 << 24)), Outcome::Refused(Refusal::OutOfRange));
    assert_eq!(yard.world.player_count(), 0);
}

#[test]
fn who_leaves_is_gone_and_comes_back_as_the_same_player() {
    let mut yard = Builder::new().build();
    yard.login(1);
    yard.play();
    let first = yard.avatar(1);
    let seen = yard.world.player(&public(1)).expect("a player").first_seen;

    assert_eq!(yard.try_act(1, Act::Leave), Outcome::Ok);
    assert_eq!(yard.world.avatar(&public(1)), None);
    assert_eq!(yard.world.object(first), None);
    yard.login(1);
    yard.play();

    assert_ne!(yard.avatar(1), first);
    assert_eq!(yard.world.player(&public(1)).map(|player| player.first_seen), Some(seen));
    assert_eq!(yard.world.player_count(), 1);
}

#[test]
fn an_avatar_without_a_sign_of_life_stands_still_and_leaves_after_the_grace_time() {
    let mut builder = Builder::new();
    builder.genesis.parameters.lease_ticks = 30;
    builder.genesis.parameters.grace_ticks = 60;
    let mut yard = builder.build();
    yard.login(1);
    yard.act(1, Act::Walk { heading: metatopia_math::Vec2::X });
    yard.play();
    let avatar = yard.avatar(1);

    // 30 ticks are ten turns; a heartbeat in the middle renews them.
    yard.idle(5);
    yard.act(1, Act::Heartbeat);
    yard.idle(8);
    assert!(yard.world.object(avatar).expect("here").velocity.length().floor_int() >= 3);
    yard.idle(8);
    let still = yard.world.object(avatar).expect("still here");
    assert_eq!(still.velocity, metatopia_math::Vec2::ZERO);
    yard.idle(20);

    assert_eq!(yard.world.avatar(&public(1)), None);
    assert_eq!(yard.world.object(avatar), None);
    assert_eq!(yard.try_act(1, Act::Heartbeat), Outcome::Refused(Refusal::NotLoggedIn));
}

#[test]
fn a_crowd_that_comes_at_once_is_let_in_a_few_at_a_time() {
    let mut yard = Builder::new().build();
    let acts: Vec<_> = (0..=ARRIVALS_PER_TURN_MAX as u8).map(|n| yard.login(n)).collect();
    yard.play();

    let refused: Vec<_> = acts
        .iter()
        .map(|act| yard.outcome(act))
        .filter(|outcome| *outcome != Outcome::Ok)
        .collect();
    assert_eq!(refused, [Outcome::Refused(Refusal::TooOften)]);
}
