//! Faults of an earlier driver of the same core. Each was found by a simulated crash, and would have
//! been a double vote or a dead server.

use std::collections::BTreeSet;

use metatopia_types::{Height, Round, VoteKind};

use super::cluster::Cluster;
use super::keys::key;
use crate::{Agreement, AgreementEffect, AgreementInput, Message, Record};

/// The height that server 1 works at.
fn height(cluster: &Cluster) -> Height {
    cluster.servers[1].agreement().height()
}

fn own_prevote_is_nil(cluster: &Cluster, height: Height) -> bool {
    cluster.servers[1].log.iter().any(|record| {
        let Record::Vote(vote) = record else {
            return false;
        };
        let vote = &vote.message;
        (vote.voter, vote.height, vote.kind) == (key(1), height, VoteKind::Prevote)
            && vote.header.is_none()
    })
}

fn is_precommit(message: &Message) -> bool {
    matches!(message, Message::Vote(vote) if vote.message.kind == VoteKind::Precommit)
}

/// A server prevoted nil because a turn's bytes were late; they came, and were logged. When the log
/// was read again the turn was judged as soon as its proposal came up, and the server found itself
/// prevoting for the turn: it stopped for good, or would have voted twice.
#[test]
fn bytes_that_came_too_late_do_not_change_the_vote_when_the_log_is_read_again() {
    let mut cluster = Cluster::new(4, 3);
    cluster.delay_us = (1_000, 0);
    cluster.start_all();
    cluster.run_to(5, 2_000);
    while cluster.servers[1].agreement().proposer() != Some(key(2)) {
        assert!(cluster.step());
    }

    // Nothing is decided, and server 1 does not get the turn.
    cluster.block =
        |to, message| is_precommit(message) || (to == 1 && matches!(message, Message::Part(_)));
    let stuck = loop {
        assert!(cluster.step());
        let stuck = height(&cluster);
        if own_prevote_is_nil(&cluster, stuck) {
            break stuck;
        }
    };
    cluster.block = |_, message| is_precommit(message);
    let judged =
        |record: &Record| matches!(record, Record::Verdict(v) if v.height == stuck && v.valid);
    while !cluster.servers[1].log.iter().any(judged) {
        assert!(cluster.step());
    }
    assert_eq!(height(&cluster), stuck);
    cluster.crash(1, 1_000);
    cluster.open(1);

    cluster.block = |_, _| false;
    let goal = cluster.servers[0].agreement().height().0 + 5;
    cluster.run_to(goal, 5_000);
}

/// Returns all effects of opening a server on the first `length` records of its log, and of running it alone
/// for a while.
fn reopen(cluster: &mut Cluster, log: &[Record]) -> (Agreement, Vec<AgreementEffect>) {
    let (config, base, now) = (cluster.config(1), cluster.servers[1].base.clone(), cluster.now(1));
    let mut machine = super::cluster::Machine::default();
    let opened = Agreement::open(config, base, log.iter().cloned(), now, &mut machine);
    let mut agreement = opened.unwrap();
    let mut effects = Vec::new();
    let mut later = now;
    for _ in 0..20 {
        effects.extend(std::iter::from_fn(|| agreement.poll()));
        later.monotonic += std::time::Duration::from_millis(10);
        later.wall = later.wall.plus(10);
        agreement.handle(later, &mut machine, AgreementInput::Wake);
    }
    effects.extend(std::iter::from_fn(|| agreement.poll()));
    (agreement, effects)
}

/// A crash lost the record of a decision, but not the votes that led to it, nor the promise for the
/// next height. Reading the votes again closed the height, the next one began at once, and its first
/// question for a turn was answered with a new one.
#[test]
fn a_promise_is_kept_when_reading_the_log_closes_the_height_before() {
    let mut cluster = Cluster::new(4, 5);
    cluster.delay_us = (20_000, 2_000);
    cluster.sync_us = 1_000;
    cluster.start_all();
    cluster.run_to(30, 10_000);
    let log = cluster.servers[1].log.clone();
    let (mut kept, mut closed) = (0, 0);

    for length in 1..=log.len() {
        let promised: Vec<_> = log[..length]
            .iter()
            .filter_map(|record| match record {
                Record::Early(proposal) => Some(proposal.clone()),
                _ => None,
            })
            .collect();
        let decided = log[..length].iter().filter_map(|record| match record {
            Record::Decided(certificate) => Some(certificate.height),
            _ => None,
        });
        let tip = decided.max().unwrap_or_default();
        let (agreement, effects) = reopen(&mut cluster, &log[..length]);
        for promise in promised.iter().filter(|p| p.message.height > tip) {
            let at = promise.message.height;
            let said = effects.iter().filter_map(|effect| match effect {
                AgreementEffect::Send { message: Message::Proposal(p), .. }
                    if p.message.height == at && p.message.round == Round(0) =>
                {
                    Some(p)
                }
                _ => None,
            });
            assert!(said.clone().count() > 0, "{at} is said again, {length}");
            assert!(said.clone().all(|said| said == promise), "{at}, {length}");
            kept += 1;
            closed += usize::from(agreement.height() == at && at == tip.plus(2));
        }
    }

    assert!(kept > 20, "{kept}");
    assert!(closed > 0, "no cut of the log showed the fault");
}

/// Whoever joined from a pack could not hand the set changes in it to the next one.
#[test]
fn a_joiner_can_bring_in_the_next_one() {
    let mut cluster = Cluster::new(4, 9);
    cluster.delay_us = (1_000, 2_000);
    for (at, members) in [(6, 0..5), (12, 1..5)] {
        cluster.sets.insert(Height(at), super::keys::set(members));
    }
    let genesis = cluster.servers[0].base.clone();
    cluster.add(4, genesis);
    cluster.start_all();
    cluster.run_to(20, 10_000);

    cluster.join(5, 0);
    cluster.run_to(30, 10_000);
    let base = cluster.servers[5].base.clone();
    assert_eq!(base.links.len(), 2, "one set change each");
    cluster.join(6, 5);
    cluster.run_to(40, 10_000);

    assert_eq!(cluster.servers[6].base.links, base.links);
}

/// A server with a lost log came back at an old height, timed out there and voted nil: where it had
/// voted otherwise before.
#[test]
fn a_server_that_lost_its_log_is_silent_where_it_may_have_voted() {
    for seed in 0..20 {
        let mut cluster = Cluster::new(4, seed);
        cluster.delay_us = (1_000, 10_000);
        cluster.loss_percent = 3;
        cluster.start_all();
        cluster.run_to(10 + seed, 10_000);
        let spoken = cluster.servers[1].agreement().height();

        cluster.crash(1, 0);
        cluster.servers[1].log.clear();
        cluster.servers[1].durable = 0;
        cluster.servers[1].fresh_key = false;
        cluster.open(1);
        // Everything it says from here on is held against what it said before.
        cluster.run_to(spoken.0 + 8, 20_000);

        assert!(cluster.servers[1].agreement().is_voting(), "seed {seed}");
        let voices: BTreeSet<_> = cluster.servers[1]
            .log
            .iter()
            .filter(|record| matches!(record, Record::Vote(v) if v.message.voter == key(1)))
            .filter_map(Record::height)
            .collect();
        assert!(voices.first().is_some_and(|first| *first > spoken), "seed {seed}");
    }
}

#[test]
fn a_server_that_lost_its_log_and_hears_too_few_stays_silent() {
    let mut cluster = Cluster::new(4, 1);
    cluster.start_all();
    cluster.run_to(10, 10_000);
    cluster.crash(1, 0);
    cluster.servers[1].log.clear();
    cluster.servers[1].durable = 0;
    cluster.servers[1].fresh_key = false;
    cluster.block = |to, message| to == 1 && matches!(message, Message::Tip { .. });
    cluster.open(1);

    cluster.run_for(3_000);

    let server = &cluster.servers[1];
    assert!(server.agreement().height() > Height(50), "it follows");
    assert!(!server.agreement().is_voting());
}
