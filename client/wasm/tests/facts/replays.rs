//! A replica that runs the whole sim.

use metatopia_protocol::{Answer, SNAPSHOT_PART_BYTES, ServerMessage, encode_server};
use metatopia_sim::{Serial, TierName};
use metatopia_types::{Height, ScriptId, limits::ROOT_LAG};
use metatopia_wasm::{
    CallError, ClientPhase, ClientReplica, ClientRequest, StartPoint, TrustedGenesis,
};

use serde_json::json;

use crate::golden::{
    self, Decided, Node, certificate, decided, frame, other_roots_from, replica, world_at,
};

fn turns(turns: &[Decided]) -> Vec<u8> {
    frame(Answer::Turns(turns.to_vec()))
}

fn refused(replica: &mut ClientReplica, frame: &[u8]) -> CallError {
    let before = replica.status();
    let fault = replica.frame(frame).expect_err("no honest node says that");
    assert_eq!(replica.status(), before, "{fault}");
    fault
}

#[test]
fn a_replay_from_genesis_comes_to_the_certified_roots() {
    let node = Node::new(decided(400));
    let mut replica = replica(StartPoint::Genesis);

    let followed = node.lead(&mut replica);

    let status = followed.status;
    assert_eq!((status.phase, status.height), (ClientPhase::Following, 400));
    assert_eq!(status.checked, 400 - ROOT_LAG);
    assert_eq!(status.own_root, status.stated_root);
    assert_eq!(status.root, world_at(400).root().to_string());
}

#[test]
fn a_sim_on_the_advanced_tier_is_proven_and_not_replayed() {
    let mut genesis = golden::genesis();
    genesis.parameters.tier = TierName::Advanced;
    let trust = TrustedGenesis::new(genesis.id(), &genesis.encode());
    let trust = trust.expect("its headers can be checked");

    for begin in [StartPoint::Genesis, StartPoint::Snapshot] {
        let fault = ClientReplica::new(trust.clone(), genesis.encode(), begin);
        assert_eq!(fault.expect_err("no such tier is in the module").code, "tier");
    }
}

#[test]
fn a_replay_from_a_snapshot_comes_to_the_same_state() {
    let mut node = Node::new(decided(300));
    node.states.push((Height(250), world_at(250).snapshot()));
    let mut replica = replica(StartPoint::Snapshot);

    let status = node.lead(&mut replica).status;

    assert_eq!((status.phase, status.height), (ClientPhase::Following, 300));
    assert_eq!(status.root, world_at(300).root().to_string());
    assert_eq!(status.checked, 300 - ROOT_LAG);
}

#[test]
fn where_there_is_no_snapshot_yet_a_replay_begins_with_the_first_turn() {
    let node = Node::new(decided(20));
    let mut replica = replica(StartPoint::Snapshot);
    assert_eq!(node.lead(&mut replica).status.height, 20);
}

#[test]
fn one_turn_at_a_time_is_followed_as_well_as_many() {
    let all = decided(40);
    let mut replica = replica(StartPoint::Genesis);
    for one in &all {
        let followed = replica.frame(&turns(core::slice::from_ref(one))).unwrap();
        assert_eq!(followed.applied, 1);
        assert_eq!(followed.status.height, one.0.header.height.0);
    }
    // Told again, turns are passed over.
    assert_eq!(replica.frame(&turns(&all)).unwrap().applied, 0);
    assert_eq!(replica.want(), Some(ClientRequest::Turns { from: 41 }));
}

#[test]
fn another_certified_root_than_the_own_one_stops_the_replay_and_is_told() {
    let node = Node::new(other_roots_from(31, 60));
    let mut replica = replica(StartPoint::Genesis);

    let status = node.lead(&mut replica).status;

    assert_eq!(status.phase, ClientPhase::Mismatch);
    assert_eq!(status.checked, 31 - ROOT_LAG);
    assert_ne!(status.own_root, status.stated_root);
    assert_eq!(replica.want(), None);
}

#[test]
fn turns_that_too_few_signed_are_refused() {
    let mut all = decided(10);
    let (turn, signed) = &mut all[9];
    *signed = certificate(&turn.header, &[0, 1]);
    let fault = refused(&mut replica(StartPoint::Genesis), &turns(&all));
    assert_eq!(fault.code, "turns");
    assert!(fault.text.contains("voting power"), "{fault}");
}

#[test]
fn turns_that_do_not_follow_each_other_are_refused() {
    let all = decided(10);
    let mut replica = replica(StartPoint::Genesis);
    refused(&mut replica, &turns(&all[1..]));
    refused(&mut replica, &turns(&[all[0].clone(), all[2].clone()]));

    // A turn of the same height that nobody decided, in the middle.
    let mut other = all.clone();
    other[4].0.header.time.0 += 1;
    refused(&mut replica, &turns(&other));

    // A certificate for another turn, at the end.
    let mut other = all;
    other[9].1 = other[8].1.clone();
    refused(&mut replica, &turns(&other));
}

#[test]
fn acts_that_are_not_those_of_the_header_are_refused() {
    let mut all = decided(400);
    let with_acts = |(turn, _): &&Decided| !turn.body.acts().is_empty();
    let at = all.iter().position(|turn| with_acts(&turn)).expect("somebody did something");
    all[at].0.body = metatopia_types::TurnBody::default();
    let mut replica = replica(StartPoint::Genesis);

    let fault = replica.frame(&turns(&all[..at + 1])).unwrap_err();

    assert_eq!(fault.code, "turns");
    assert_eq!(replica.status().height, at as u64);
}

#[test]
fn a_snapshot_of_another_state_than_the_certified_one_is_refused() {
    let mut node = Node::new(decided(60));
    node.states.push((Height(50), world_at(49).snapshot()));
    let mut replica = replica(StartPoint::Snapshot);
    let fault = loop {
        let want = replica.want().unwrap();
        if let Err(fault) = replica.frame(&frame(node.answer(&want))) {
            break fault;
        }
    };
    assert_eq!(fault.code, "snapshot");
    assert_eq!(replica.want(), Some(ClientRequest::Snapshot));
}

#[test]
fn offers_that_cannot_be_believed_are_refused() {
    let mut node = Node::new(decided(60));
    node.states.push((Height(50), world_at(50).snapshot()));
    let Answer::Snapshot(good) = node.answer(&ClientRequest::Snapshot) else { panic!("an offer") };
    let mut replica = replica(StartPoint::Snapshot);
    replica.frame(&frame(Answer::Links(Vec::new()))).unwrap();
    assert_eq!(replica.want(), Some(ClientRequest::Snapshot));

    let mut unsigned = good.clone();
    unsigned.certificate = certificate(&good.header, &[2]);
    let (mut endless, mut empty, mut other) = (good.clone(), good.clone(), good.clone());
    endless.bytes = u64::MAX;
    empty.bytes = 0;
    other.height = Height(49);
    for offer in [unsigned, endless, empty, other] {
        assert_eq!(refused(&mut replica, &frame(Answer::Snapshot(offer))).code, "snapshot");
    }

    replica.frame(&frame(Answer::Snapshot(good))).unwrap();
    let long = Answer::SnapshotPart(vec![0; SNAPSHOT_PART_BYTES + 1]);
    assert_eq!(replica.frame(&frame(long)).unwrap_err().code, "snapshot");
}

#[test]
fn a_snapshot_that_is_gone_while_it_is_fetched_gives_way_to_a_newer_one() {
    let mut node = Node::new(decided(60));
    node.states.push((Height(50), world_at(50).snapshot()));
    let mut replica = replica(StartPoint::Snapshot);
    replica.frame(&frame(Answer::Links(Vec::new()))).unwrap();
    replica.frame(&frame(node.answer(&ClientRequest::Snapshot))).unwrap();
    assert_eq!(replica.want(), Some(ClientRequest::Part { height: 50, part: 0 }));

    replica.frame(&frame(Answer::Unknown)).unwrap();

    assert_eq!(replica.want(), Some(ClientRequest::Snapshot));
}

#[test]
fn what_it_did_not_want_changes_nothing_and_garbage_is_a_fault() {
    let mut replica = replica(StartPoint::Genesis);
    let before = replica.status();
    for message in [
        ServerMessage::Pong { token: 1 },
        ServerMessage::Answer { id: 1, answer: Box::new(Answer::Busy) },
        ServerMessage::Answer { id: 1, answer: Box::new(Answer::Unknown) },
        ServerMessage::Answer { id: 1, answer: Box::new(Answer::SnapshotPart(vec![1])) },
    ] {
        assert_eq!(replica.frame(&encode_server(&message)).unwrap().status, before);
    }
    assert_eq!(replica.frame(&[255; 40]).unwrap_err().code, "frame");
    assert_eq!(replica.status(), before);
}

/// Turns of the golden log before a script is watched.
const BEGIN: usize = 40;

fn watch(replica: &mut ClientReplica, script: serde_json::Value) -> Result<(), CallError> {
    replica.watch(&serde_json::to_vec(&script).expect("JSON"))
}

/// What it logs, and where it fails, the journey of the workshop shows: no script of the golden log does either.
#[test]
fn a_script_that_is_watched_tells_how_often_its_handlers_are_called_and_whether_it_still_runs() {
    let all = decided(usize::MAX);
    let mut told = 0;
    let scripts: Vec<_> = world_at(BEGIN as u64).scripts_after(ScriptId(0)).collect();
    for known in &scripts {
        let mut replica = replica(StartPoint::Genesis);
        replica.frame(&turns(&all[..BEGIN])).unwrap();
        let script = json!({ "object": known.object, "script": known.script });
        watch(&mut replica, script).expect("it runs there");
        assert_eq!(replica.watched().expect("it is watched").gas.len(), 0);
        replica.frame(&turns(&all[BEGIN..])).unwrap();
        let report = replica.watched().expect("it is watched");

        let mut world = world_at(BEGIN as u64);
        let mut calls = 0;
        for (turn, _) in &all[BEGIN..] {
            let order = world.apply(turn, &Serial).order;
            calls += order.iter().filter(|call| call.script == known.script).count() as u64;
        }
        assert_eq!(report.gas.values().map(|gas| gas.calls).sum::<u64>(), calls);
        let still_runs = world.scripts_after(ScriptId(0)).any(|other| other.script == known.script);
        assert_eq!(report.over, !still_runs);
        told += calls;

        watch(&mut replica, serde_json::Value::Null).expect("it is watched no more");
        assert_eq!(replica.watched(), None);
    }
    assert!(told > 20, "{told} calls of {} scripts", scripts.len());
}

#[test]
fn what_cannot_be_watched_is_refused_by_name() {
    let mut replica = replica(StartPoint::Snapshot);
    let nobody = json!({ "object": 1, "script": 999_999 });
    assert_eq!(watch(&mut replica, nobody.clone()).unwrap_err().code, "NoState");
    let mut replica = golden::replica(StartPoint::Genesis);
    assert_eq!(watch(&mut replica, nobody).unwrap_err().code, "NoScript");
    assert_eq!(watch(&mut replica, json!("all")).unwrap_err().code, "input");
}
