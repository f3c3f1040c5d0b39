//! Capsules, with which anybody can see who is right.

use std::{collections::BTreeMap, sync::Arc};

use metatopia_scenarios::golden::server_key;
use metatopia_sim::{ENGINE, Genesis, Serial, Tools, World};
use metatopia_types::{
    Act, Blob, Ed25519, Envelope, Header, HeaderId, Height, Lane, Millis, NodeContact, Root, Seq,
    Sign as _, Turn, TurnBody,
    limits::{BLOBS_BYTES_MAX, ROOT_LAG},
    wire,
};
use metatopia_wasm::{
    Capsule, CapsuleError, ClientReplica, ReplayVerdict, StartPoint, TrustedGenesis,
};

use crate::golden::{Decided, Node, certificate, decided, other_roots_from, replica};

/// Turns after which a newer state takes the old one's place, as `replica/tail.rs` has it.
const TAIL_TURNS: u64 = 600;

/// Encoded bytes of turns after which it does as well.
const TAIL_BYTES: usize = 16 * 1_024 * 1_024;

fn tools() -> Tools {
    Tools::new(Arc::new(Ed25519))
}

#[test]
fn a_mismatch_is_found_again_by_whoever_replays_the_capsule() {
    let mut replica = replica(StartPoint::Genesis);
    let status = Node::new(other_roots_from(31, 60)).lead(&mut replica).status;

    let capsule = Capsule::decode(&replica.capsule().encode()).unwrap();

    let ReplayVerdict::Differs { of, own, stated } = capsule.replay(&tools()).unwrap() else {
        panic!("the roots differ")
    };
    assert_eq!(of, Height(31 - ROOT_LAG));
    assert_eq!(Some(own.to_string()), status.own_root);
    assert_eq!(Some(stated.to_string()), status.stated_root);
}

#[test]
fn a_capsule_of_an_honest_sim_replays_to_the_same_roots() {
    let mut replica = replica(StartPoint::Genesis);
    Node::new(decided(50)).lead(&mut replica);
    let verdict = replica.capsule().replay(&tools()).unwrap();
    assert_eq!(verdict, ReplayVerdict::Same { compared: Some(Height(50 - ROOT_LAG)) });
}

#[test]
fn what_is_no_capsule_is_refused() {
    let mut replica = replica(StartPoint::Genesis);
    Node::new(decided(5)).lead(&mut replica);
    let good = replica.capsule();

    assert!(matches!(Capsule::decode(b"x"), Err(CapsuleError::Decode(_))));
    let mut other = good.clone();
    other.root.0.0[0] ^= 1;
    assert!(matches!(other.replay(&tools()), Err(CapsuleError::State(_))));
    let mut other = good.clone();
    other.genesis.clear();
    assert!(matches!(other.replay(&tools()), Err(CapsuleError::Genesis(_))));
    let mut other = good;
    other.turns.remove(0);
    assert!(matches!(other.replay(&tools()), Err(CapsuleError::Turns { .. })));
}

/// An empty sim with one server, and somebody who follows it.
struct Quiet {
    world: World,
    last: HeaderId,
    roots: Vec<Root>,
    turns: Vec<Decided>,
    replica: ClientReplica,
}

impl Quiet {
    fn new() -> Self {
        let genesis = Genesis {
            name: "quiet".to_owned(),
            validators: BTreeMap::from([(server_key(0).public(), NodeContact::default())]),
            licence: "AGPL-3.0-or-later".to_owned(),
            asset_licence: "CC-BY-SA-4.0".to_owned(),
            ..Genesis::empty()
        };
        let trust = TrustedGenesis::new(genesis.id(), &genesis.encode()).expect("its own id");
        let replica = ClientReplica::new(trust, genesis.encode(), StartPoint::Genesis)
            .expect("a replica of a sound genesis");
        let world = World::genesis(&genesis, &tools()).expect("a sound genesis");
        let roots = vec![world.root()];
        Self { world, last: HeaderId::BEFORE_FIRST, roots, turns: Vec::new(), replica }
    }

    /// The next turn. All of the same body have as many bytes.
    fn turn(&self, body: TurnBody) -> Turn {
        let height = self.world.height().plus(1);
        let set = |height: Height| self.world.validators(height).expect("a set that is known").id();
        let stated = height.minus(ROOT_LAG).unwrap_or_default();
        let header = Header {
            sim: self.world.sim(),
            engine: ENGINE,
            height,
            previous: self.last,
            proposer: server_key(0).public(),
            time: Millis(1_700_000_000_000 + 50 * height.0),
            root: self.roots[stated.0 as usize],
            validators: set(height),
            next_validators: set(height.plus(1)),
            ..Header::unstated()
        };
        Turn::of(header, body)
    }

    /// Decides so many turns of this body.
    fn decide(&mut self, count: u64, body: &TurnBody) {
        for _ in 0..count {
            let turn = self.turn(body.clone());
            self.world.apply(&turn, &Serial);
            self.last = turn.id();
            self.roots.push(self.world.root());
            let signed = certificate(&turn.header, &[0]);
            self.turns.push((turn, signed));
        }
    }

    /// A body with which the next turn has so many bytes.
    fn body(&self, bytes: usize) -> TurnBody {
        let of = |less: usize| {
            let quarter = BLOBS_BYTES_MAX / 4 - 100;
            let lengths = (0..).zip([quarter, quarter, quarter, quarter - less]);
            let blobs: Vec<Blob> = lengths.map(|(n, length)| Blob(vec![n; length])).collect();
            let say = |(seq, blob): (u64, &Blob)| {
                let act = Act::Say { channel: 1, body: blob.id() };
                let (sim, author) = (self.world.sim(), server_key(0).public());
                let (lane, seq, last_valid) = (Lane(1), Seq(seq), Height(100));
                Envelope { sim, author, lane, seq, last_valid, act }.sign(&server_key(0))
            };
            let acts = (1..).zip(&blobs).map(say).collect();
            TurnBody::new(acts, blobs).expect("no more than a turn may have")
        };
        let longest = wire::encode(&self.turn(of(0))).len();
        let body = of(longest - bytes);
        assert_eq!(wire::encode(&self.turn(body.clone())).len(), bytes);
        body
    }

    /// The root with which a capsule of the replica begins, and the height of its first turn.
    fn begins(&mut self) -> (Root, u64) {
        Node::new(self.turns.clone()).lead(&mut self.replica);
        let capsule = self.replica.capsule();
        (capsule.root, capsule.turns[0].0.header.height.0)
    }
}

#[test]
fn after_so_many_turns_a_capsule_begins_with_a_newer_state_once_that_was_compared() {
    let (mut quiet, empty) = (Quiet::new(), TurnBody::default());
    let first = (quiet.roots[0], 1);
    quiet.decide(TAIL_TURNS + ROOT_LAG - 1, &empty);
    assert_eq!(quiet.begins(), first, "no header states the newer state's root as yet");
    quiet.decide(1, &empty);
    assert_eq!(quiet.begins(), (quiet.roots[TAIL_TURNS as usize], TAIL_TURNS + 1));
    let verdict = quiet.replica.capsule().replay(&tools()).unwrap();
    assert_eq!(verdict, ReplayVerdict::Same { compared: Some(Height(TAIL_TURNS)) });
}

#[test]
fn after_so_many_bytes_of_turns_a_capsule_begins_with_a_newer_state_as_well() {
    let count = 64;
    for (less, begins) in [(0, count + 1), (1, 1)] {
        let (mut quiet, empty) = (Quiet::new(), TurnBody::default());
        let long = quiet.body(TAIL_BYTES / count as usize);
        let last = quiet.body(TAIL_BYTES / count as usize - less);
        quiet.decide(count - 1, &long);
        quiet.decide(1, &last);
        quiet.decide(ROOT_LAG, &empty);
        assert_eq!(quiet.begins(), (quiet.roots[begins as usize - 1], begins), "{less} bytes less");
    }
}
