use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use metatopia_consensus::{Decision, Message, Record};
use metatopia_types::{
    Certificate, Digest, Evidence, HeaderId, Height, Millis, Root, Round, Sign as _, Turn, Vote,
    VoteKind,
};

use super::{Forbidden, Law, Oracle};
use crate::disk::{Append, LogDisk};
use crate::samples::{SIM, founding, key, turn};

/// A disk on which nothing is durable.
struct Blank;

impl LogDisk for Blank {
    fn bytes(&self, _: u64) -> &[u8] {
        &[]
    }

    fn durable(&self, _: u64) -> &[u8] {
        &[]
    }
}

fn write(oracle: &mut Oracle, seat: usize, record: &Record) {
    let payload = record.encode();
    let (segment, from, bytes) = (0, 0, &payload[..]);
    oracle.saw_write(seat, &Append { segment, from, bytes, payload: Some(&payload) });
}

fn broken(oracle: &Oracle) -> Vec<Law> {
    oracle.faults().iter().map(|fault| fault.law).collect()
}

#[test]
fn evidence_that_proves_nothing_is_slander_and_good_evidence_is_not() {
    let mut oracle = Oracle::new(founding(), &[3]);
    let vote = |round, header| {
        let (kind, height, voter) = (VoteKind::Prevote, Height(7), key(3).public());
        let vote = Vote { kind, height, round: Round(round), header, voter };
        vote.sign(SIM, &key(3))
    };
    let nil = vote(0, None);

    oracle.saw_evidence(0, &Evidence::votes(nil.clone(), vote(0, Some(HeaderId(Digest::ZERO)))));
    oracle.saw_accusation(0, key(3).public());
    assert!(oracle.faults().is_empty());
    oracle.saw_evidence(1, &Evidence::votes(nil.clone(), vote(1, Some(HeaderId(Digest::ZERO)))));
    oracle.saw_evidence(1, &Evidence::votes(nil.clone(), nil));
    oracle.saw_accusation(2, key(1).public());

    assert_eq!(broken(&oracle), [Law::Slander; 3]);
    assert_eq!(oracle.evidence()[&key(3).public()], 4);
}

/// A server writes down that a turn is decided, with the signatures of some seats.
fn decide(oracle: &mut Oracle, seat: usize, turn: &Turn, signers: &[u8]) {
    let (height, header, round) = (turn.header.height, turn.id(), Round(0));
    let signature = |seat: &u8| {
        let (kind, voter) = (VoteKind::Precommit, key(*seat).public());
        let vote = Vote { kind, height, round, header: Some(header), voter };
        (voter, vote.sign(SIM, &key(*seat)).signature)
    };
    let signatures = signers.iter().map(signature).collect();
    write(oracle, seat, &Record::Turn(Arc::new(turn.clone())));
    write(oracle, seat, &Record::Decided(Certificate { height, header, round, signatures }));
}

#[test]
fn what_is_decided_is_what_the_logs_of_honest_servers_hold() {
    let mut oracle = Oracle::new(founding(), &[3]);
    assert_eq!(oracle.last_decided(), Height(0));
    let first = turn(1, 50, HeaderId::BEFORE_FIRST);
    let second = turn(2, 100, first.id());

    decide(&mut oracle, 0, &first, &[0, 1, 2]);
    decide(&mut oracle, 3, &second, &[0, 1, 2]);
    assert_eq!(oracle.last_decided(), Height(1), "a liar's log says nothing");
    decide(&mut oracle, 1, &second, &[0, 1, 2]);
    assert_eq!(oracle.last_decided(), Height(2));

    oracle.saw_death(1, &Blank);
    oracle.saw_start(1, &Blank);
    assert_eq!(oracle.last_decided(), Height(1), "it was lost with the power");
}

#[test]
fn what_is_decided_in_a_log_is_looked_at_whoever_is_told_of_it() {
    let watched = |signers: &[u8], second: &Turn| {
        let mut oracle = Oracle::new(founding(), &[]);
        oracle.watch_clocks(Duration::ZERO, |_| Millis(100));
        decide(&mut oracle, 0, &turn(1, 50, HeaderId::BEFORE_FIRST), signers);
        decide(&mut oracle, 1, second, &[0, 1, 2]);
        broken(&oracle)
    };
    let first = turn(1, 50, HeaderId::BEFORE_FIRST);

    assert_eq!(watched(&[0, 1, 2], &first), []);
    assert_eq!(watched(&[0, 1], &first), [Law::Certificate]);
    assert_eq!(watched(&[0, 0, 1], &first), [Law::Certificate], "each vote counts once");
    let other = turn(1, 100, HeaderId::BEFORE_FIRST);
    assert_eq!(watched(&[0, 1, 2], &other), [Law::Agreement]);
    assert_eq!(watched(&[0, 1, 2], &turn(2, 120, first.id())), [Law::Time]);
    assert_eq!(watched(&[0, 1, 2], &turn(2, 700, first.id())), [Law::Time], "no clock is there");
}

/// A disk with an empty log, and a turn that was put back beside it.
struct PutBack(Height, HeaderId);

impl LogDisk for PutBack {
    fn bytes(&self, _: u64) -> &[u8] {
        &[]
    }

    fn durable(&self, _: u64) -> &[u8] {
        &[]
    }

    fn put_back(&self, height: Height) -> Option<HeaderId> {
        (height == self.0).then_some(self.1)
    }
}

/// A server that had joined by a fetched state told another one of turns that it had been given
/// back since: the oracle knew the log alone.
#[test]
fn turns_that_lie_beside_the_log_may_be_told_and_no_others() {
    let (first, other) =
        (turn(1, 50, HeaderId::BEFORE_FIRST), turn(1, 100, HeaderId::BEFORE_FIRST));
    let told = |disk: &dyn LogDisk, let_go: bool| {
        let mut oracle = Oracle::new(founding(), &[]);
        if let_go {
            oracle.saw_let_go(0, 1..=3);
        }
        oracle.saw_receipt(0, &first.header, disk);
        broken(&oracle)
    };

    assert_eq!(told(&PutBack(Height(1), first.id()), false), []);
    assert_eq!(told(&PutBack(Height(1), other.id()), false), [Law::NotDurable]);
    assert_eq!(told(&PutBack(Height(2), first.id()), false), [Law::NotDurable]);
    assert_eq!(told(&Blank, false), [Law::NotDurable]);
    assert_eq!(told(&Blank, true), [], "it was read before it was given up");
}

#[test]
fn a_receipt_of_a_turn_that_may_be_lost_breaks_a_law_once() {
    let mut oracle = Oracle::new(founding(), &[]);
    let turn = turn(1, 50, HeaderId::BEFORE_FIRST);
    oracle.watch_clocks(Duration::ZERO, |_| Millis(100));
    decide(&mut oracle, 0, &turn, &[0, 1, 2]);

    oracle.saw_receipt(0, &turn.header, &Blank);
    oracle.saw_receipt(0, &turn.header, &Blank);

    assert_eq!(broken(&oracle), [Law::NotDurable]);
    oracle.close(Duration::ZERO, &BTreeMap::from([(0, BTreeMap::new())]));
    assert_eq!(broken(&oracle)[1..], [Law::Lost], "and the log does not hold it in the end");
}

#[test]
fn roots_of_a_server_that_healed_do_not_count_and_later_ones_do() {
    let parted = |healed: Option<Height>| {
        let mut oracle = Oracle::new(founding(), &[]);
        let wrong = Root(Digest([1; 32]));
        for (seat, height) in (0..4).flat_map(|seat| (1..4).map(move |height| (seat, height))) {
            let root = if seat == 2 && height >= 2 { wrong } else { Root(Digest::ZERO) };
            let height = Height(height);
            write(&mut oracle, seat, &Record::Applied { height, root, validators: None });
        }
        if let Some(from) = healed {
            write(&mut oracle, 2, &Record::Healed { from });
        }
        oracle.close(Duration::ZERO, &BTreeMap::new());
        oracle.faults().iter().map(|fault| (fault.law, fault.seat)).collect::<Vec<_>>()
    };

    assert_eq!(parted(None), [(Law::Root, Some(2)); 2]);
    assert_eq!(parted(Some(Height(2))), []);
    assert_eq!(parted(Some(Height(3))), [(Law::Root, Some(2))]);
}

#[test]
fn a_log_may_begin_late_if_it_held_what_came_before_or_its_server_took_a_state() {
    let first = turn(1, 50, HeaderId::BEFORE_FIRST);
    let second = turn(2, 100, first.id());
    let decision = |turn: &Turn| {
        let (height, header) = (turn.header.height, turn.id());
        let certificate = Certificate { height, header, round: Round(0), signatures: vec![] };
        (height, Arc::new(Decision { certificate, turn: Arc::new(turn.clone()) }))
    };
    let closed = |written: &[&Turn], taken: u64| {
        let mut oracle = Oracle::new(founding(), &[]);
        oracle.watch_clocks(Duration::ZERO, |_| Millis(100));
        decide(&mut oracle, 1, &first, &[0, 1, 2]);
        for turn in written {
            decide(&mut oracle, 0, turn, &[0, 1, 2]);
            oracle.saw_given_up(0, 0, Height(9));
        }
        oracle.saw_state_taken(0, Height(taken));
        let log = BTreeMap::from([decision(&second)]);
        oracle.close(Duration::ZERO, &BTreeMap::from([(0, log)]));
        broken(&oracle)
    };

    assert_eq!(closed(&[&first, &second], 0), []);
    assert_eq!(closed(&[&second], 1), []);
    assert_eq!(closed(&[&second], 0), [Law::Lost], "nobody knows what became of the first turn");
}

/// A clock that had been an hour ahead once allowed its server everything up to that hour, for good.
#[test]
fn a_clock_that_was_wrong_and_is_right_again_allows_nothing_any_more() {
    const HOUR: u64 = 3_600_000;
    let faults = |jumps_at: u64, jumpers: &[usize], decided_by: &[u8]| {
        let mut oracle = Oracle::new(founding(), &[3]);
        let mut previous = HeaderId::BEFORE_FIRST;
        for height in 1..=12 {
            let wall = |seat: usize| {
                let ahead = height == jumps_at && jumpers.contains(&seat);
                Millis(height * 50 + if ahead { HOUR } else { 0 })
            };
            oracle.watch_clocks(Duration::ZERO, wall);
            let late = height == 12;
            let turn = turn(height, height * 50 + if late { HOUR / 2 } else { 0 }, previous);
            previous = turn.id();
            if late {
                let (why, ahead) = ("half an hour ahead", Some(turn.header.time));
                oracle.forbid(turn.id(), Forbidden { why, ahead });
                let (kind, height, header) = (VoteKind::Prevote, Height(12), Some(turn.id()));
                let voter = key(0).public();
                let vote = Vote { kind, height, round: Round(0), header, voter };
                oracle.saw_message(0, &Message::Vote(vote.sign(SIM, &key(0))), &Blank);
            }
            if !late || !decided_by.is_empty() {
                decide(&mut oracle, 0, &turn, &[0, 1, 2]);
            }
        }
        // Nothing is durable on this disk.
        let mut laws = broken(&oracle);
        laws.retain(|law| !matches!(law, Law::NotDurable | Law::UnseenTurn));
        laws
    };
    let everybody = &[0, 1, 2];

    assert_eq!(faults(2, &[0], &[]), [Law::VoidTurn], "ten turns ago");
    assert_eq!(faults(12, &[0], &[]), [], "it cannot know better");
    assert_eq!(faults(12, &[1], &[]), [Law::VoidTurn], "one clock and a liar are no quorum");
    assert_eq!(faults(12, &[1, 2], &[]), [], "a quorum says that it was fresh");
    assert_eq!(faults(12, &[0, 1], everybody), []);
    assert_eq!(faults(12, &[0], everybody), [Law::Time]);
    assert_eq!(faults(2, &[0, 1], everybody), [Law::VoidTurn, Law::Time]);
    assert_eq!(faults(10, &[0, 1], everybody), [Law::VoidTurn, Law::Time]);
    assert_eq!(faults(11, &[0, 1], everybody), [], "it may have been judged then");
}
