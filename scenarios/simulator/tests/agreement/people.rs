//! Servers that join, leave, follow and forget.

use std::time::Duration;

use metatopia_consensus::JoinPackError;
use metatopia_simulator::agreement::stories::{grow_and_shrink, join_refusals, story};
use metatopia_types::LinkError;

#[test]
fn four_servers_become_seven_and_five_while_some_crash() {
    let tally = story("growing and shrinking").check(10);

    assert!(tally.crashes >= 100, "{} crashes", tally.crashes);
}

#[test]
fn whoever_is_elected_votes_and_whoever_left_does_not() {
    let crowd = grow_and_shrink(3.into());

    assert_eq!(crowd.sizes, [4, 5, 6, 7, 6, 5]);
    let oracle = &crowd.stage.world.cluster.oracle;
    let last = |seat| oracle.voted_since(seat, Duration::ZERO).last().copied().unwrap();
    let top = (0..7).map(last).max().unwrap();
    for (seat, votes) in
        [(0, false), (1, false), (2, true), (3, true), (4, true), (5, true), (6, true)]
    {
        assert_eq!(last(seat).plus(4) > top, votes, "server {seat}: {:?} of {top:?}", last(seat));
    }
    crowd.finish().assert_sound();
}

#[test]
fn a_world_outlives_all_its_founders() {
    story("changing everybody").check(8);
}

#[test]
fn a_server_with_a_lost_log_contradicts_nothing_it_said() {
    story("a lost log").check(60);
}

#[test]
fn a_follower_follows_and_never_votes() {
    story("a follower").check(10);
}

#[test]
fn every_forged_proof_for_a_joiner_is_refused() {
    let refused = join_refusals(1.into());

    let why = |name: &str| refused.iter().find(|(n, _)| *n == name).unwrap().1;
    let link = |name| match why(name) {
        JoinPackError::Link(why) => why,
        other => panic!("{name}: {other}"),
    };
    assert_eq!(refused.len(), 12);
    assert!(matches!(link("no links"), LinkError::Missing(_)));
    assert!(matches!(link("a link is missing"), LinkError::Missing(_)));
    assert!(matches!(link("links out of order"), LinkError::Order(_) | LinkError::Missing(_)));
    assert!(matches!(link("a link brings other members"), LinkError::OtherMembers(_)));
    assert!(matches!(link("a link's header is changed"), LinkError::OtherHeader(_)));
    assert!(matches!(link("below a quorum"), LinkError::Certificate { .. }));
    assert!(matches!(link("one signer again and again"), LinkError::Certificate { .. }));
    assert!(matches!(link("another round"), LinkError::Certificate { .. }));
    assert!(matches!(link("another root"), LinkError::OtherHeader(_)));
    assert!(matches!(why("a header between is changed"), JoinPackError::Chain(_)));
    assert!(matches!(why("a header from another place"), JoinPackError::Chain(_)));
    assert!(matches!(link("another sim"), LinkError::OtherSim(_)));
}
