//! Servers that are slow, gone, wrong or lying, and sets that change.

use std::collections::BTreeSet;
use std::time::Duration;

use metatopia_types::{
    Digest, Evidence, HeaderId, Height, Proposal, PublicKey, Recovery, Root, Round, Signed,
    SignedRecovery, Vote, VoteKind,
};

use super::cluster::{Cluster, TURN};
use super::keys::{Key, StandIn, key, set, sim};
use crate::{AgreementEffect, AgreementInput, AppliedTurn, Base, Halt, Message, Record, Void};

fn tip(cluster: &Cluster, at: usize) -> Height {
    cluster.servers[at].agreement().tip().map_or(Height(0), |tip| tip.height())
}

#[test]
fn sets_change_completely_while_the_world_goes_on() {
    for seed in 0..5 {
        let mut cluster = Cluster::new(4, seed);
        cluster.delay_us = (1_000, 25_000);
        cluster.loss_percent = 3;
        cluster.sync_us = 2_000;
        let genesis = cluster.servers[0].base.clone();
        for n in 4..8 {
            cluster.add(n, genesis.clone());
        }
        let plan = [0..5, 1..5, 1..6, 2..6, 2..7, 3..7, 3..8, 4..8];
        for (step, members) in (1..).zip(plan) {
            cluster.sets.insert(Height(step * 5), set(members));
        }
        cluster.start_all();

        cluster.run_to(60, 60_000);

        let last = cluster.servers[4].agreement().tip().unwrap().clone();
        assert!(last.certificate.signatures.iter().all(|(who, _)| *who >= key(4)));
        let voted = |at: usize| {
            let votes = cluster.servers[at].log.iter().filter_map(|record| match record {
                Record::Vote(vote) if vote.message.voter == key(at as u8) => {
                    Some(vote.message.height)
                }
                _ => None,
            });
            votes.collect::<BTreeSet<_>>()
        };
        assert!(voted(0).last().unwrap() < &Height(10), "seed {seed}");
        assert!(voted(7).first().unwrap() >= &Height(35), "seed {seed}");
    }
}

/// Of five servers one is away and one leaves, and its last precommit, without which there is no
/// quorum, reaches nobody: it alone has decided, said nothing more, and the others stood still.
#[test]
fn who_leaves_with_the_last_decision_gives_it_to_who_still_votes_there() {
    let mut cluster = Cluster::new(5, 1);
    cluster.delay_us = (1_000, 3_000);
    cluster.cut.insert(4);
    let leaves = Height(12);
    cluster.sets.insert(leaves, set([0, 2, 3, 4]));
    cluster.block = |_, message| {
        matches!(message, Message::Vote(vote) if vote.message.voter == key(1)
            && vote.message.kind == VoteKind::Precommit
            && vote.message.height == Height(11))
    };
    cluster.start_all();

    cluster.run_for(4_000);

    let tips: Vec<Height> = (0..4).map(|at| tip(&cluster, at)).collect();
    assert!(tips.iter().all(|tip| *tip > leaves), "{tips:?}");
}

#[test]
fn a_follower_follows_and_says_nothing() {
    let mut cluster = Cluster::new(4, 1);
    let genesis = cluster.servers[0].base.clone();
    cluster.add(9, genesis);
    cluster.start_all();

    cluster.run_to(20, 5_000);

    let signs = |record: &Record| matches!(record, Record::Vote(_) | Record::Proposal(_));
    assert!(!cluster.servers[4].log.iter().any(signs));
    assert!(!cluster.servers[4].agreement().is_voting());
}

#[test]
fn a_server_that_was_cut_off_catches_up_from_memory_and_from_logs() {
    let mut cluster = Cluster::new(4, 2);
    cluster.delay_us = (1_000, 3_000);
    cluster.start_all();
    cluster.run_to(5, 5_000);
    cluster.cut.insert(3);
    cluster.run_for(10_000);
    let behind = tip(&cluster, 3);
    // The others forget what they have in memory.
    for at in 0..3 {
        cluster.servers[at].rebase();
        cluster.crash(at, 1_000);
        cluster.open(at);
    }
    cluster.run_for(200);

    cluster.cut.clear();
    let goal = tip(&cluster, 0).plus(20);
    cluster.run_to(goal.0, 5_000);

    assert!(behind < Height(7) && goal > Height(150), "{behind} {goal}");
    assert!(cluster.loads > 5, "{}", cluster.loads);
}

#[test]
fn a_dead_proposer_costs_less_when_its_connection_is_known_to_be_gone() {
    let longest = |known: bool| {
        let mut cluster = Cluster::new(4, 2);
        cluster.delay_us = (1_000, 0);
        cluster.start_all();
        cluster.run_to(10, 5_000);
        cluster.crash(3, 0);
        for at in (0..3).filter(|_| known) {
            cluster.input(at, AgreementInput::PeerDown(key(3)));
        }
        cluster.run_to(30, 10_000);
        let left: Vec<u64> = (12..=30).map(|h| cluster.left[&Height(h)]).collect();
        left.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap()
    };

    let (unknown, known) = (longest(false), longest(true));

    assert!((150_000..170_000).contains(&unknown), "{unknown}");
    assert!(known < 60_000, "{known}");
}

#[test]
fn slow_state_machines_slow_the_turns_and_nothing_else() {
    let mut cluster = Cluster::new(4, 2);
    cluster.delay_us = (1_000, 0);
    for server in &mut cluster.servers {
        server.apply_us = 120_000;
    }
    cluster.start_all();

    cluster.run_to(40, 60_000);

    let gap = (cluster.left[&Height(40)] - cluster.left[&Height(20)]) / 20;
    assert!(gap < 2 * TURN * 1_000, "two turns are applied while one is agreed on: {gap}");
    // A header states the root of two turns before it: no more can be waiting.
    let server = &cluster.servers[0];
    let applied = server.log.iter().filter(|r| matches!(r, Record::Applied { .. })).count();
    assert!(server.told.len() - applied <= 2);
}

#[test]
fn one_slow_state_machine_holds_up_nobody_else() {
    let mut cluster = Cluster::new(4, 2);
    cluster.delay_us = (1_000, 0);
    cluster.servers[1].apply_us = 45_000;
    cluster.start_all();

    cluster.run_to(60, 60_000);

    let gap = (cluster.left[&Height(60)] - cluster.left[&Height(20)]) / 40;
    assert!(gap < 51_000, "{gap}");
}

#[test]
fn a_turn_that_is_decided_and_void_here_stops_this_server() {
    let mut cluster = Cluster::new(4, 2);
    cluster.delay_us = (1_000, 0);
    cluster.servers[2].machine.void.insert(Height(12));
    cluster.start_all();
    let stopped = |cluster: &Cluster| cluster.servers[2].halted.is_some();
    while !stopped(&cluster) && cluster.now_us < 10_000_000 {
        cluster.step();
    }

    let Some(Halt::Diverged { height, why, .. }) = &cluster.servers[2].halted else {
        panic!("{:?}", cluster.servers[2].halted);
    };
    assert_eq!(*height, Height(12));
    assert!(matches!(why, Void::Act(_)), "{why}");
    assert_eq!(cluster.servers[2].agreement().deadline(), None);
    let tip = tip(&cluster, 0);
    cluster.crash(2, 0);
    cluster.run_to(tip.0 + 10, 5_000);
}

#[test]
fn applying_again_with_another_result_stops_the_server() {
    let mut cluster = Cluster::new(4, 2);
    cluster.start_all();
    cluster.run_to(10, 5_000);
    cluster.crash(1, 1_000);
    let (config, now) = (cluster.config(1), cluster.now(1));
    let server = &mut cluster.servers[1];
    let (base, log) = (server.base.clone(), server.log.clone());
    let mut machine = super::cluster::Machine::default();
    let opened = crate::Agreement::open(config, base, log, now, &mut machine);
    let mut agreement = opened.unwrap();

    let root = Root(Digest::of("another", b"state"));
    let validators = set(0..4);
    let height = Height(1);
    let applied = AppliedTurn { height, root, validators };
    agreement.handle(now, &mut machine, AgreementInput::Applied(applied));

    let halts: Vec<_> = std::iter::from_fn(|| agreement.poll())
        .filter_map(|effect| match effect {
            AgreementEffect::Halt(halt) => Some(halt),
            _ => None,
        })
        .collect();
    assert!(matches!(halts[..], [Halt::Unrepeatable { now, .. }] if now == root), "{halts:?}");
}

/// Opens the log of server 1 as it is, and says what it halts for when turn 1 gives this root.
fn opened_again(
    cluster: &Cluster,
    log: Vec<Record>,
    root: Root,
) -> (crate::Agreement, Option<Halt>) {
    let (config, now) = (cluster.config(1), cluster.now(1));
    let mut machine = super::cluster::Machine::default();
    let base = cluster.servers[1].base.clone();
    let opened = crate::Agreement::open(config, base, log, now, &mut machine);
    let mut agreement = opened.unwrap();
    let applied = AppliedTurn { height: Height(1), root, validators: set(0..4) };
    agreement.handle(now, &mut machine, AgreementInput::Applied(applied));
    let halt = std::iter::from_fn(|| agreement.poll()).find_map(|effect| match effect {
        AgreementEffect::Halt(halt) => Some(halt),
        _ => None,
    });
    (agreement, halt)
}

/// A state was noted wrongly, found out, and noted again. Read back, the first note counted, and the
/// server halted at every start.
#[test]
fn notes_that_were_wrong_are_void_once_the_server_has_healed() {
    let mut cluster = Cluster::new(4, 2);
    cluster.start_all();
    cluster.run_to(10, 5_000);
    cluster.crash(1, 1_000);
    let wrong = Root(Digest::of("another", b"state"));
    let mut log = cluster.servers[1].log.clone();
    let right = log.iter().find_map(|record| match record {
        Record::Applied { height: Height(1), root, .. } => Some(*root),
        _ => None,
    });
    let right = right.expect("turn 1 was applied");
    let notes: Vec<Record> =
        log.iter().filter(|record| matches!(record, Record::Applied { .. })).cloned().collect();
    for record in &mut log {
        if let Record::Applied { root, .. } = record {
            *root = wrong;
        }
    }
    let (mut agreement, halt) = opened_again(&cluster, log.clone(), right);
    assert!(matches!(halt, Some(Halt::Unrepeatable { .. })), "{halt:?}");

    // Healed at once: it goes on, and its notes are void.
    let mut machine = super::cluster::Machine::default();
    let states = [AppliedTurn { height: Height(1), root: right, validators: set(0..4) }];
    agreement.heal(cluster.now(1), &mut machine, &states, false);
    let said: Vec<Record> = std::iter::from_fn(|| agreement.poll())
        .filter_map(|effect| match effect {
            AgreementEffect::Append { record, .. } => Some(record),
            _ => None,
        })
        .collect();
    assert_eq!(said[..2], [Record::Healed { from: Height(1) }, notes[0].clone()]);
    assert!(agreement.deadline().is_some());

    // And after a restart as well; so it is if operators recovered it.
    let recovery = Recovery {
        sim: sim(),
        engine: 1,
        number: 1,
        height: Height(1),
        header: HeaderId(Digest::ZERO),
        roots: [Root(Digest::ZERO), right],
    };
    let signed = Box::new(SignedRecovery::new(recovery));
    for record in [Record::Healed { from: Height(1) }, Record::Recovered(signed)] {
        let mut log = log.clone();
        log.push(record);
        log.extend(notes.clone());
        let (agreement, halt) = opened_again(&cluster, log, right);
        assert_eq!(halt, None);
        assert!(agreement.deadline().is_some());
    }
}

/// A server noted a wrong state and died before it had healed. Started again, it got the turn that
/// states the right one before its own were computed that far: it halted because of that turn, with
/// nothing wrong to be found in the states that it had, and nothing healed it.
#[test]
fn a_wrong_note_is_found_out_before_a_decision_that_does_not_fit_it_is_taken() {
    let mut cluster = Cluster::new(4, 2);
    cluster.start_all();
    cluster.run_to(10, 5_000);
    cluster.crash(1, 1_000);
    let (last, wrong_at) = (Height(6), Height(5));
    let mut log = cluster.servers[1].log.clone();
    let decided = |record: &Record| matches!(record, Record::Decided(of) if of.height == last);
    log.truncate(log.iter().position(decided).expect("it was decided") + 1);
    let (mut right, wrong) = (Vec::new(), Root(Digest::of("another", b"state")));
    for record in &mut log {
        if let Record::Applied { height, root, .. } = record {
            right.push(AppliedTurn { height: *height, root: *root, validators: set(0..4) });
            *root = if *height == wrong_at { wrong } else { *root };
        }
    }
    assert_eq!(right.last().map(|applied| applied.height), Some(wrong_at));
    let (config, now) = (cluster.config(1), cluster.now(1));
    let mut machine = super::cluster::Machine::default();
    let base = cluster.servers[1].base.clone();
    let mut agreement = crate::Agreement::open(config, base, log, now, &mut machine).unwrap();
    let next = cluster.servers[0].agreement().decision(last.plus(1)).expect("it went on");
    let message = Message::Decision((**next).clone());

    agreement.handle(now, &mut machine, AgreementInput::Frame { from: key(0), message });
    for applied in &right {
        agreement.handle(now, &mut machine, AgreementInput::Applied(applied.clone()));
    }

    let halts = std::iter::from_fn(|| agreement.poll()).filter_map(|effect| match effect {
        AgreementEffect::Halt(halt) => Some(halt),
        _ => None,
    });
    let halts: Vec<Halt> = halts.collect();
    let found =
        |halt: &Halt| matches!(halt, Halt::Unrepeatable { height, .. } if *height == wrong_at);
    assert!(halts.len() == 1 && halts.iter().all(found), "{halts:?}");
    // The turn was not forgotten: it is decided as soon as the state is right.
    agreement.heal(now, &mut machine, &right[right.len() - 1..], false);
    assert_eq!(agreement.tip().map(|tip| tip.height()), Some(last.plus(1)));
}

/// Nothing is decided then, so nobody has to sign which state they go on from: each start computes the
/// first one anew, and what was voted for before binds nobody to another.
#[test]
fn servers_that_parted_before_the_first_turn_go_on_once_they_begin_with_one_state() {
    for seed in 0..8 {
        let mut cluster = Cluster::new(4, seed);
        cluster.delay_us = (1_000, 5_000);
        let right = cluster.servers[0].base.clone();
        let wrong = Root(Digest::of("another", b"state"));
        for at in [2, 3] {
            cluster.servers[at].base = Base { roots: [wrong; 2], ..right.clone() };
        }
        cluster.start_all();
        cluster.run_for(10_000);
        let voted =
            |at: usize| !cluster.servers[at].log.is_empty() && cluster.servers[at].told.is_empty();
        assert!((0..4).all(voted), "seed {seed}: two against two decide nothing");

        for at in 0..4 {
            cluster.crash(at, 1_000);
            cluster.servers[at].base = right.clone();
        }
        cluster.start_all();
        cluster.run_to(10, 10_000);
        assert_eq!(cluster.faults, [""; 0], "seed {seed}");
    }
}

#[test]
fn a_silent_server_signs_nothing_and_follows() {
    let mut cluster = Cluster::new(4, 2);
    cluster.start_all();
    cluster.run_to(10, 5_000);
    cluster.crash(1, 1_000);
    let log = cluster.servers[1].log.clone();
    let wrong = Root(Digest::of("another", b"state"));
    let (mut agreement, halt) = opened_again(&cluster, log, wrong);
    assert!(halt.is_some());
    let mut machine = super::cluster::Machine::default();
    let states = [AppliedTurn { height: Height(1), root: wrong, validators: set(0..4) }];
    agreement.heal(cluster.now(1), &mut machine, &states, true);
    assert!(!agreement.is_voting());
    assert!(agreement.deadline().is_some(), "it goes on looking around");
}

fn vote(voter: u8, kind: VoteKind, height: Height, header: Option<HeaderId>) -> Message {
    let vote = Vote { kind, height, round: Round(0), header, voter: key(voter) };
    Message::Vote(vote.sign(sim(), &Key(key(voter))))
}

fn proposal(proposer: u8, height: Height, header: HeaderId) -> Signed<Proposal> {
    let proposal =
        Proposal { height, round: Round(0), header, valid_round: None, proposer: key(proposer) };
    proposal.sign(sim(), &Key(key(proposer)))
}

fn some_header(n: u8) -> HeaderId {
    HeaderId(Digest::of("a header", &[n]))
}

/// Returns the evidence that server 0 got hold of, each with the server that it accuses.
fn evidence(cluster: &Cluster) -> Vec<(PublicKey, Evidence)> {
    let found = cluster.servers[0].evidence.iter();
    found.map(|e| (e.verify(sim(), &StandIn).unwrap(), e.clone())).collect()
}

#[test]
fn two_votes_in_one_round_become_evidence() {
    let mut cluster = Cluster::new(4, 2);
    cluster.start_all();
    cluster.run_to(5, 5_000);
    cluster.crash(3, 0);
    let height = cluster.servers[0].agreement().height();
    for header in [None, Some(some_header(1))] {
        let message = vote(3, VoteKind::Prevote, height, header);
        let from = key(3);
        cluster.input(0, AgreementInput::Frame { from, message });
    }

    cluster.run_to(height.0, 5_000);

    let found = evidence(&cluster);
    assert!(matches!(found[..], [(liar, Evidence::Votes(..))] if liar == key(3)), "{found:?}");
}

#[test]
fn two_proposals_in_one_round_become_evidence() {
    let mut cluster = Cluster::new(4, 2);
    cluster.start_all();
    cluster.run_to(5, 5_000);
    while cluster.servers[0].agreement().proposer() != Some(key(3)) {
        assert!(cluster.step());
    }
    cluster.crash(3, 0);
    let height = cluster.servers[0].agreement().height();
    for n in [1, 2] {
        let message = Message::Proposal(proposal(3, height, some_header(n)));
        let from = key(3);
        cluster.input(0, AgreementInput::Frame { from, message });
    }

    cluster.run_to(height.0, 5_000);

    let found = evidence(&cluster);
    let liar = key(3);
    assert!(matches!(found[..], [(who, Evidence::Proposals(..))] if who == liar), "{found:?}");
}

#[test]
fn a_forged_vote_counts_for_nothing() {
    let mut cluster = Cluster::new(4, 2);
    cluster.start_all();
    cluster.run_to(5, 5_000);
    let height = cluster.servers[0].agreement().height();
    let Message::Vote(mut forged) = vote(3, VoteKind::Prevote, height, None) else {
        unreachable!();
    };
    forged.message.header = Some(some_header(7));
    let (from, message) = (key(3), Message::Vote(forged));
    cluster.input(0, AgreementInput::Frame { from, message });

    let mentioned = cluster.servers[0].log.iter().any(|record| {
        matches!(record, Record::Vote(vote) if vote.message.header == Some(some_header(7)))
    });
    assert!(!mentioned);
}

#[test]
fn a_promise_on_a_turn_that_was_not_decided_costs_a_round_and_no_double_proposal() {
    let mut cluster = Cluster::new(4, 4);
    cluster.delay_us = (20_000, 0);
    cluster.start_all();
    cluster.run_to(10, 10_000);
    let mut lost = 0;
    // Precommits get lost now and then, so that heights take several rounds.
    for _ in 0..40 {
        cluster.block = |_, message| matches!(message, Message::Vote(v) if v.message.kind == VoteKind::Precommit);
        cluster.run_for(60);
        cluster.block = |_, _| false;
        cluster.run_for(300);
        lost += 1;
    }

    let goal = tip(&cluster, 0).plus(10);
    cluster.run_to(goal.0, 10_000);

    assert_eq!(lost, 40);
    assert_eq!(cluster.faults, [""; 0]);
}

#[test]
fn a_height_that_cannot_be_decided_goes_on_when_servers_come_back() {
    let mut cluster = Cluster::new(4, 4);
    cluster.delay_us = (1_000, 4_000);
    cluster.start_all();
    cluster.run_to(10, 10_000);
    cluster.cut.extend([2, 3]);
    cluster.run_for(20_000);
    let stuck = tip(&cluster, 0);
    let records = cluster.servers[0].log.len();
    assert!(records < 3_000, "{records} records of a height that stands still");

    cluster.cut.clear();
    cluster.run_to(stuck.0 + 10, 20_000);
}

#[test]
fn a_height_of_many_rounds_has_empty_turns_and_bounded_patience() {
    let mut cluster = Cluster::new(4, 4);
    cluster.delay_us = (1_000, 0);
    cluster.start_all();
    cluster.run_to(5, 10_000);
    cluster.block = |_, message| matches!(message, Message::Proposal(_));
    cluster.run_for(200);
    let stuck = cluster.servers[0].agreement().height();
    let round = |cluster: &Cluster| cluster.servers[0].agreement().round().unwrap();
    let mut began = Vec::new();
    while round(&cluster) < Round(72) {
        assert!(cluster.step());
        if began.len() <= round(&cluster).0 as usize {
            began.push(cluster.now_us);
        }
    }

    assert_eq!(cluster.servers[0].agreement().height(), stuck);
    let bodies = cluster.servers.iter().flat_map(|server| &server.machine.bodies);
    assert_eq!(bodies.filter(|(height, _)| *height == stuck).count(), 8);
    let length = |round: usize| began[round + 1] - began[round];
    assert!(length(63) > length(40), "{began:?}");
    assert!(length(70).abs_diff(length(65)) < 5_000, "{began:?}");
    assert!(length(70) < 3_500_000, "{began:?}");

    cluster.block = |_, _| false;
    cluster.run_to(stuck.0 + 10, 30_000);
}

/// Its clock calls every turn too early; that a quorum prevoted for it counts more.
#[test]
fn a_clock_far_behind_delays_the_votes_of_its_server_and_nothing_else() {
    let mut cluster = Cluster::new(4, 4);
    cluster.delay_us = (1_000, 0);
    cluster.servers[2].skew = -3_000;
    cluster.start_all();

    cluster.run_to(20, 10_000);

    let verdicts = |height: u64| {
        let verdicts = cluster.servers[2].log.iter().filter_map(move |record| match record {
            Record::Verdict(v) if v.height == Height(height) => Some(v.valid),
            _ => None,
        });
        verdicts.collect::<Vec<_>>()
    };
    let late = (1..=20).filter(|height| verdicts(*height) == [false, true]);
    assert!(late.count() >= 10);
    let why = cluster.servers[2].agreement().last_void();
    assert!(matches!(why, Some(Void::Early { .. })), "{why:?}");
}

#[test]
fn time_that_passed_without_turns_is_not_simulated_later() {
    let mut cluster = Cluster::new(4, 4);
    cluster.delay_us = (1_000, 0);
    cluster.start_all();
    cluster.run_to(10, 10_000);
    cluster.cut.extend([2, 3]);
    cluster.run_for(5_000);
    cluster.cut.clear();
    let resumed = tip(&cluster, 0);
    cluster.run_for(5_000);

    let turns = tip(&cluster, 0).0 - resumed.0;

    assert!(turns <= 5_000 / TURN, "{turns}");
    assert!(turns > 50, "{turns}");
}

#[test]
fn a_patient_server_wakes_up_only_when_something_is_due() {
    let mut cluster = Cluster::new(4, 4);
    cluster.start_all();
    let server = &mut cluster.servers[0];
    let agreement = server.agreement.as_mut().unwrap();
    let due = agreement.deadline().unwrap();
    let before = agreement.digest();

    let early = metatopia_types::Now {
        monotonic: due - Duration::from_millis(1),
        wall: super::cluster::START,
    };
    agreement.handle(early, &mut server.machine, AgreementInput::Wake);

    assert!(agreement.poll().is_none());
    assert_eq!(agreement.digest(), before);
}
