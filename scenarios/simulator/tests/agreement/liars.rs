//! Servers that lie, and twins that make one lie.

use metatopia_simulator::Class;
use metatopia_simulator::agreement::stories::{lies, story};
use metatopia_simulator::{ByzantineBehaviour, SignatureKind};

/// Worlds of each kind of liar.
const SEEDS: u64 = 30;

#[test]
fn no_single_liar_forks_or_stops_a_world() {
    assert_eq!(lies().len(), ByzantineBehaviour::ALL.len());
    for lie in lies() {
        lie.check(SEEDS);
    }
}

#[test]
fn turns_of_which_a_liar_keeps_some_parts_back_are_had_from_others() {
    for seed in 0..SEEDS {
        let outcome = (story("withholds some parts").play)(seed.into());

        outcome.assert_sound();
        assert!(outcome.fired.times(Class::Withholder) > 0, "seed {seed}: {:?}", outcome.fired);
        assert!(outcome.acts >= 50, "seed {seed}: {} acts", outcome.acts);
    }
}

#[test]
fn a_server_that_proposes_two_turns_is_convicted() {
    let tally = story("two turns").check(SEEDS);

    assert!(tally.evidence >= SEEDS, "{} pieces of evidence", tally.evidence);
}

#[test]
fn a_server_that_votes_twice_is_convicted() {
    let mut convicted = 0;
    for seed in 0..SEEDS {
        let outcome = (story("two votes").play)(seed.into());
        outcome.assert_sound();
        let liar = outcome.scenario.scheme.keys(4)[3].public();
        assert!(outcome.evidence.keys().all(|accused| *accused == liar), "seed {seed}");
        convicted += u64::from(!outcome.evidence.is_empty());
    }
    assert!(convicted >= SEEDS / 2, "convicted in {convicted} of {SEEDS} worlds");
}

#[test]
fn two_liars_among_seven_do_no_harm_in_a_storm() {
    story("seven and two liars").check(30);
}

#[test]
fn voting_power_counts_and_not_the_number_of_servers() {
    story("unequal power").check(24);
}

#[test]
fn two_hundred_schedules_of_twins_never_fork_a_world() {
    // The program's `twins` plays 2,000 for every change, beside the tests.
    let tally = story("twins").check(200);

    assert_eq!(tally.runs, 200);
    assert!(tally.evidence >= 20, "twins vote twice: {} pieces of evidence", tally.evidence);
}

#[test]
fn a_share_of_the_worlds_has_real_signatures() {
    let schemes = (0..100).map(|seed| (story("calm").play)(seed.into()).scenario.scheme);

    assert_eq!(schemes.filter(|scheme| *scheme == SignatureKind::Ed25519).count(), 5);
}
