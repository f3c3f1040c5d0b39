//! A leader that proposes one turn for several rounds at once.

use metatopia_types::{Height, Millis, Proposal, PublicKey, Round, Turn};

use super::cluster::Cluster;
use super::keys::{Key, key, set, sim};
use crate::turn_store::parts;
use crate::{AgreementInput, Message, Record};

/// The server that lies. It leads each fourth round of a height.
const LIAR: u8 = 3;

/// The height that it leads first.
fn led() -> Height {
    let leads = |height: &Height| set(0..4).proposer(*height, Round(0)) == key(LIAR);
    (20..24).map(Height).find(leads).expect("each of four leads one of four heights")
}

/// A cluster at that height, with the turn that the liar would propose there. It is gone, and nobody has
/// the turn.
fn led_by_liar() -> (Cluster, Turn) {
    let mut cluster = Cluster::new(4, 2);
    cluster.delay_us = (1_000, 0);
    let genesis = cluster.servers[0].base.clone();
    cluster.add(9, genesis);
    cluster.block = |_, message| match message {
        Message::Proposal(proposal) => proposal.message.height == led(),
        Message::Part(part) => part.height == led(),
        _ => false,
    };
    cluster.start_all();
    let own = |cluster: &Cluster| {
        cluster.servers[usize::from(LIAR)].log.iter().find_map(|record| match record {
            Record::Turn(turn) if turn.header.height == led() => Some(Turn::clone(turn)),
            _ => None,
        })
    };
    let is_there =
        |cluster: &Cluster| (0..3).all(|at| cluster.servers[at].agreement().height() == led());
    while !is_there(&cluster) || own(&cluster).is_none() {
        assert!(cluster.step());
    }
    let turn = own(&cluster).expect("it was there a moment ago");
    cluster.crash(usize::from(LIAR), 0);
    cluster.block = |_, _| false;
    (cluster, turn)
}

/// Tells the honest servers of these proposals of the liar for one turn, each by its round and the round in
/// which the turn was valid by its word.
fn tell(cluster: &mut Cluster, turn: &Turn, proposals: [(u32, Option<u32>); 2]) {
    let (height, header, proposer) = (turn.header.height, turn.id(), key(LIAR));
    let proposals = proposals.map(|(round, valid_round)| {
        let (round, valid_round) = (Round(round), valid_round.map(Round));
        let proposal = Proposal { height, round, header, valid_round, proposer };
        Message::Proposal(proposal.sign(sim(), &Key(proposer)))
    });
    let all: Vec<Message> = parts(turn).into_iter().map(Message::Part).chain(proposals).collect();
    for at in 0..usize::from(LIAR) {
        for message in all.clone() {
            let from: PublicKey = key(LIAR);
            cluster.input(at, AgreementInput::Frame { from, message });
        }
    }
}

/// Returns what was decided at a height.
fn decided(cluster: &Cluster, height: Height) -> (Turn, Round) {
    let decision = cluster.servers[0].agreement().decision(height).expect("it went on");
    (Turn::clone(&decision.turn), decision.certificate.round)
}

#[track_caller]
fn goes_on(cluster: &mut Cluster, from: Height) {
    cluster.run_to(from.0 + 5, 10_000);
    let halted = cluster.servers.iter().filter_map(|server| server.halted.as_ref());
    assert_eq!(halted.count(), 0);
    assert_eq!(cluster.faults, [""; 0]);
}

/// A turn that was valid in an earlier round is not held against the clock. That it was is for a quorum to say,
/// and not for the one who proposes it again.
#[test]
fn no_leader_has_a_turn_of_its_own_time_decided_by_saying_that_it_was_valid_before() {
    let (mut cluster, mut turn) = led_by_liar();
    let height = turn.header.height;
    turn.header.time = Millis(u64::MAX / 2);

    tell(&mut cluster, &turn, [(4, Some(0)), (0, None)]);

    goes_on(&mut cluster, height);
    assert_ne!(decided(&cluster, height).0.id(), turn.id());
}

/// Whoever caught up by the certificate called such a turn void, and stopped for good.
#[test]
fn no_turn_of_a_later_round_is_decided_in_an_earlier_one() {
    let (mut cluster, mut turn) = led_by_liar();
    let height = turn.header.height;
    turn.header.round = Round(4);

    tell(&mut cluster, &turn, [(4, None), (0, None)]);

    goes_on(&mut cluster, height);
    let (decided, round) = decided(&cluster, height);
    assert!(decided.header.round <= round, "{:?} in {round:?}", decided.header.round);
}
