use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use metatopia_consensus::Decision;
use metatopia_sim::{Applied, ENGINE, Received, Sender};
use metatopia_store::memory::MemoryDisk;
use metatopia_types::{
    Certificate, Digest, Header, HeaderId, Height, Millis, Outcome, Root, Round, ScriptId, Turn,
    TurnBody, ValidatorsId,
};

use super::{Law, ReplicaOracle, TurnLog};
use crate::cluster::ClusterOrder;
use crate::conditions::Conditions;
use crate::replica::{ReplicaSetting, ReplicaStage, Stranger};
use crate::signatures::SignatureKind;

fn setting() -> ReplicaSetting {
    ReplicaSetting::plaza(SignatureKind::StandIn, 1)
}

/// The first turn of a sim, without acts.
fn turn(setting: &ReplicaSetting) -> Turn {
    let body = TurnBody::default();
    let ((acts, act_count), (blobs, blob_count)) = (body.acts_root(), body.blobs_root());
    let header = Header {
        sim: setting.sim,
        engine: ENGINE,
        height: Height(1),
        previous: HeaderId::BEFORE_FIRST,
        proposer: setting.name(0),
        round: Round(0),
        time: Millis(50),
        acts,
        act_count,
        blobs,
        blob_count,
        root: setting.beginning().root(),
        validators: ValidatorsId(Digest::ZERO),
        next_validators: ValidatorsId(Digest::ZERO),
        reserved: Digest::ZERO,
    };
    Turn { header, body }
}

fn applied(setting: &ReplicaSetting) -> Applied {
    let mut world = setting.beginning();
    setting.apply(&mut world, &turn(setting))
}

fn broken(oracle: &ReplicaOracle) -> Vec<Law> {
    oracle.faults().iter().map(|fault| fault.law).collect()
}

/// The laws that are broken when one server comes to something else than another.
fn differ(change: impl Fn(&mut Applied)) -> Vec<Law> {
    let setting = setting();
    let (first, mut second) = (applied(&setting), applied(&setting));
    change(&mut second);
    let mut oracle = ReplicaOracle::new(&setting, &[]);
    oracle.saw_applied(Duration::ZERO, 0, &first);
    oracle.saw_applied(Duration::ZERO, 1, &second);
    oracle.saw_applied_again(2, &second);
    broken(&oracle)
}

/// One event, as if this sender had raised it.
fn received(applied: &Applied, sender: Sender) -> Received {
    Received { sender, ..applied.order[0].clone() }
}

#[test]
fn servers_that_come_to_something_else_break_the_law_of_what_differs() {
    assert_eq!(differ(|_| ()), []);
    assert_eq!(differ(|applied| applied.root = Root(Digest([1; 32]))), [Law::Root; 2]);
    assert_eq!(differ(|applied| applied.outcomes.push(Outcome::Ok)), [Law::Outcome; 2]);
    let later = |applied: &mut Applied| applied.order.rotate_left(1);
    assert_eq!(differ(later), [Law::Order; 2]);
}

#[test]
fn a_server_that_skips_a_turn_breaks_the_chain() {
    let setting = setting();
    let mut oracle = ReplicaOracle::new(&setting, &[]);
    let mut later = applied(&setting);
    oracle.saw_applied(Duration::ZERO, 0, &later);

    later.height = Height(3);
    oracle.saw_applied(Duration::ZERO, 0, &later);

    assert_eq!(broken(&oracle), [Law::Chain]);
}

#[test]
fn events_of_one_sender_come_together() {
    let setting = setting();
    let (core, other) = (Sender::Core, Sender::Script(ScriptId(2)));
    for (senders, laws) in
        [(vec![core, core, other, other], vec![]), (vec![core, other, core], vec![Law::Order])]
    {
        let mut oracle = ReplicaOracle::new(&setting, &[]);
        let mut applied = applied(&setting);
        applied.order = senders.iter().map(|sender| received(&applied, *sender)).collect();

        oracle.saw_applied(Duration::ZERO, 0, &applied);

        assert_eq!(broken(&oracle), laws);
    }
}

#[test]
fn what_waits_is_held_against_its_bound() {
    let mut oracle = ReplicaOracle::new(&setting(), &[]);

    oracle.check_counts(2, &[("questions", 4, 4), ("clients", 5, 4)]);

    assert_eq!(broken(&oracle), [Law::Bounds]);
    assert_eq!(oracle.faults()[0].what, "5 clients, at most 4");
}

#[test]
fn frames_for_servers_are_frames() {
    let mut oracle = ReplicaOracle::new(&setting(), &[]);

    oracle.saw_frame(0, &Rc::from([255; 9]), &MemoryDisk::new());

    assert_eq!(broken(&oracle), [Law::Proof]);
}

/// The decision of a turn of this height, without a signature.
fn decided(setting: &ReplicaSetting, height: u64) -> Arc<Decision> {
    let mut turn = turn(setting);
    turn.header.height = Height(height);
    let (height, header, round) = (Height(height), turn.id(), Round(0));
    let certificate = Certificate { height, header, round, signatures: Vec::new() };
    Arc::new(Decision { certificate, turn: Arc::new(turn) })
}

#[test]
fn what_was_told_is_looked_for_in_a_log_behind_its_last_gap_that_is_open() {
    let setting = setting();
    let end = |later: &[u64], jumps: &[u64]| {
        let jumps = jumps.iter().copied().map(Height).collect();
        let heights = [1, 2].iter().chain(later);
        let decisions = heights.map(|height| (Height(*height), decided(&setting, *height)));
        let log = TurnLog { seat: 0, decisions: decisions.collect(), jumps };
        log.end().into_keys().map(|height| height.0).collect::<Vec<u64>>()
    };

    assert_eq!(end(&[], &[]), [1, 2]);
    assert_eq!(end(&[6, 7], &[5]), [6, 7]);
    assert_eq!(end(&[6, 9], &[5, 8]), [9]);
    assert_eq!(end(&[3, 4, 5, 6], &[5]), [1, 2, 3, 4, 5, 6], "all of it was put back");
    // Two were put back before a log whose beginning was given up.
    assert_eq!(end(&[6, 7], &[]), [6, 7]);
}

#[test]
fn a_log_whose_turns_nobody_certified_cannot_be_replayed() {
    let setting = setting();
    let decision = decided(&setting, 1);
    let mut oracle = ReplicaOracle::new(&setting, &[]);

    let decisions = [(Height(1), decision)].into();
    let log = TurnLog { seat: 0, decisions, jumps: Vec::new() };
    let past = oracle.close(Duration::ZERO, &setting, &[log], Vec::new());

    assert_eq!(broken(&oracle), [Law::Replay]);
    assert!(past.places.is_empty());
}

/// While two were apart from two no turn was applied, and nobody looked at what clients did to them.
#[test]
fn what_servers_hold_is_looked_at_while_turns_stand_still() {
    let mut stage = ReplicaStage::new(setting(), Conditions::calm(20));
    stage.world.plan(Duration::from_secs(1), ClusterOrder::Split(vec![0, 1]));
    stage.run_until(Duration::from_secs(2));
    let height = stage.world.top();
    stage.world.cluster.oracle.sessions_max = 3;
    let strangers: Vec<usize> = (0..4).map(|_| stage.meet(0, Stranger::default())).collect();
    stage.run_for(Duration::from_millis(500));
    for (number, stranger) in (1..).zip(strangers) {
        let key = stage.setting().player(number);
        stage.introduce(stranger, &*key);
    }

    stage.run_until(Duration::from_secs(3));

    assert_eq!(stage.world.top(), height, "a turn was applied");
    let fault = stage.world.cluster.oracle.faults().first().expect("four are too many");
    assert_eq!((fault.seat, fault.law), (Some(0), Law::Bounds), "{fault}");
    assert_eq!(fault.what, "4 sessions, at most 3");
}
