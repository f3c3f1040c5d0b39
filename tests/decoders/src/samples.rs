//! Values to begin from: the golden plaza, and what servers and clients say about it.

use std::sync::Arc;

use metatopia_audit::{evidence::EvidenceFile, recover::file};
use metatopia_client::TrustCheckpoint;
use metatopia_consensus::{Base, Decision, JoinPack, Message, Record, Want};
use metatopia_protocol::{
    Answer, Challenge, ClientMessage, Grant, Hello, Invite, Question, ServerMessage, Submission,
    VERSION, encode_client, encode_server,
};
use metatopia_replica::{Followers, PeerMessage, encode_patch, encode_snapshot};
use metatopia_scenarios::{golden, plaza};
use metatopia_sim::{Capsule, Object, Serial, World};
use metatopia_store::{Opening, Store, memory::MemoryDisk};
use metatopia_transport::framing;
use metatopia_types::{
    Act, Certificate, Digest, Envelope, Evidence, Header, HeaderId, Height, Lane, Millis, ObjectId,
    Recovery, Round, Seq, Sign as _, SignedRecovery, SimId, Turn, TurnBody, ValidatorSet, Vote,
    VoteKind, wire,
};

use crate::states::tools;

/// Turns of the golden plaza that the samples go through.
const TURNS: usize = 6;

/// The first turns that have acts.
fn lively() -> Vec<Turn> {
    let turns = golden::turns().expect("the golden log was built in");
    turns.into_iter().filter(|turn| !turn.body.acts().is_empty()).take(TURNS).collect()
}

fn certified(turn: &Turn) -> Certificate {
    let (height, header) = (turn.header.height, turn.id());
    let signatures = (0..3).map(|server| {
        let key = golden::server_key(server);
        let vote = Vote {
            kind: VoteKind::Precommit,
            height,
            round: Round(0),
            header: Some(header),
            voter: key.public(),
        };
        (key.public(), vote.sign(turn.header.sim, &key).signature)
    });
    Certificate { height, round: Round(0), header, signatures: signatures.collect() }
}

/// The world after the first turns, and those turns.
fn begun() -> (World, Vec<Turn>) {
    let world = World::genesis(&golden::genesis(), &tools());
    let mut world = world.expect("the golden genesis");
    let turns = golden::turns().expect("the golden log was built in");
    let turns: Vec<Turn> = turns.into_iter().take(TURNS).collect();
    for turn in &turns {
        world.apply(turn, &Serial);
    }
    (world, turns)
}

fn voters() -> ValidatorSet {
    let world = World::genesis(&golden::genesis(), &tools()).expect("the golden genesis");
    world.validators(Height(1)).expect("a world at genesis knows its first validators").clone()
}

pub(crate) fn turns() -> Vec<Vec<u8>> {
    let mut turns = lively();
    // One with an act that this program does not know: its shell is decoded all the same.
    let key = golden::server_key(1);
    let act = Act::Unknown { number: 300, bytes: vec![1, 2, 3] };
    let (author, lane, seq) = (key.public(), Lane(1), Seq(1));
    let envelope =
        Envelope { sim: sim(), author, lane, seq, last_valid: Height(100), act }.sign(&key);
    let body = TurnBody::new(vec![envelope], Vec::new()).expect("a small body");
    turns.push(Turn::of(turns[0].header.clone(), body));
    turns.iter().map(wire::encode).collect()
}

pub(crate) fn certificates() -> Vec<Vec<u8>> {
    lively().iter().map(|turn| wire::encode(&certified(turn))).collect()
}

fn lie() -> Evidence {
    let (turn, key) = (&lively()[0], golden::server_key(1));
    let (height, voter) = (turn.header.height, key.public());
    let vote = |header| {
        let vote = Vote { kind: VoteKind::Prevote, height, round: Round(2), header, voter };
        vote.sign(turn.header.sim, &key)
    };
    Evidence::votes(vote(None), vote(Some(HeaderId(Digest::ZERO))))
}

pub(crate) fn evidence() -> Vec<Vec<u8>> {
    vec![wire::encode(&lie())]
}

pub(crate) fn evidence_files() -> Vec<Vec<u8>> {
    let genesis = golden::genesis().encode();
    vec![EvidenceFile { genesis, links: Vec::new(), evidence: vec![lie()] }.encode()]
}

pub(crate) fn recoveries() -> Vec<Vec<u8>> {
    let header = lively().swap_remove(0).header;
    let (sim, engine, height) = (header.sim, header.engine, header.height);
    let roots = [header.root; 2];
    let recovery = Recovery { sim, engine, number: 1, height, header: header.id(), roots };
    let mut signed = SignedRecovery::new(recovery);
    (0..3).for_each(|server| signed.sign(&golden::server_key(server)));
    vec![file::encode(&signed)]
}

fn agreement() -> Vec<Message> {
    let turn = lively().swap_remove(0);
    let (height, header) = (turn.header.height, turn.id());
    let certificate = certified(&turn);
    vec![
        Message::Want(Want { height, header, have: 5 }),
        Message::AskTip { nonce: 7 },
        Message::Decision(Decision { certificate, turn: Arc::new(turn) }),
    ]
}

pub(crate) fn messages() -> Vec<Vec<u8>> {
    agreement().iter().map(Message::encode).collect()
}

fn logged() -> Vec<Record> {
    let (world, turns) = begun();
    let mut records = vec![Record::Voice];
    for turn in turns {
        let certificate = certified(&turn);
        records.extend([Record::Turn(Arc::new(turn)), Record::Decided(certificate)]);
    }
    let (height, root) = (world.height(), world.root());
    records.push(Record::Applied { height, root, validators: Some(voters()) });
    records
}

pub(crate) fn records() -> Vec<Vec<u8>> {
    logged().iter().map(Record::encode).collect()
}

fn submission() -> Submission {
    let mut turn = lively().swap_remove(0);
    let act = turn.body.acts().first().expect("a lively turn").clone();
    turn.body = Default::default();
    Submission { act, blobs: Vec::new() }
}

fn challenge() -> Challenge {
    let server = golden::server_key(0).public();
    Challenge { version: VERSION, sim: golden::genesis().id(), server, nonce: [5; 32] }
}

pub(crate) fn client_frames() -> Vec<Vec<u8>> {
    let key = golden::visitor_key(0);
    let said = [
        ClientMessage::Hello(Hello::new(&challenge(), &key)),
        ClientMessage::Submit(Box::new(submission())),
        ClientMessage::Ask { id: 3, question: Question::Turns { from: Height(2) } },
        ClientMessage::Ping { token: 9 },
    ];
    said.iter().map(encode_client).collect()
}

pub(crate) fn server_frames() -> Vec<Vec<u8>> {
    let turn = lively().swap_remove(0);
    let certificate = certified(&turn);
    let answer = Box::new(Answer::Turn(Box::new((turn, certificate))));
    let said = [
        ServerMessage::Challenge(challenge()),
        ServerMessage::Answer { id: 3, answer },
        ServerMessage::Pong { token: 9 },
    ];
    said.iter().map(encode_server).collect()
}

pub(crate) fn peer_frames() -> Vec<Vec<u8>> {
    let mut said: Vec<PeerMessage> = agreement().into_iter().map(PeerMessage::Agreement).collect();
    said.push(PeerMessage::Submission(Box::new(submission())));
    said.push(PeerMessage::Ask { id: 1, question: Box::new(Question::Snapshot) });
    said.iter().map(PeerMessage::encode).collect()
}

pub(crate) fn followers() -> Vec<Vec<u8>> {
    vec![Followers::default().encode()]
}

fn leaves() -> Vec<(metatopia_types::LeafKey, Vec<u8>)> {
    let (world, _) = begun();
    let leaves = world.manifest().leaves.into_iter();
    leaves.filter_map(|leaf| world.leaf(&leaf.key).map(|content| (leaf.key, content))).collect()
}

pub(crate) fn tile_entries() -> Vec<Vec<u8>> {
    let tiles = leaves().into_iter().filter(|(key, _)| key.0.starts_with("tile/"));
    let entries = tiles.filter_map(|(_, content)| {
        let limit = content.len();
        wire::decode::<Vec<(ObjectId, Object, metatopia_sim::Body)>>(&content, limit).ok()
    });
    entries.flatten().take(TURNS).map(|entry| wire::encode(&entry)).collect()
}

pub(crate) fn genesis() -> Vec<Vec<u8>> {
    vec![golden::genesis().encode()]
}

pub(crate) fn states() -> Vec<Vec<u8>> {
    vec![wire::encode(&leaves())]
}

pub(crate) fn snapshots() -> Vec<Vec<u8>> {
    let world = World::genesis(&golden::genesis(), &tools()).expect("the golden genesis");
    let base = Base::genesis(Millis(0), world.root(), &voters());
    vec![encode_snapshot(&base, &world)]
}

/// The manifest alone, and with its leaves behind it.
pub(crate) fn manifests() -> Vec<Vec<u8>> {
    let (world, _) = begun();
    vec![wire::encode(&world.manifest()), world.snapshot()]
}

/// A proof without set changes, as a young sim has it.
pub(crate) fn join_packs() -> Vec<Vec<u8>> {
    let (_, turns) = begun();
    let packs = turns.windows(3).map(|turns| JoinPack {
        links: Vec::new(),
        headers: [0, 1, 2].map(|place: usize| turns[place].header.clone()),
        certificate: certified(&turns[2]),
    });
    packs.map(|pack| pack.encode()).collect()
}

pub(crate) fn patches() -> Vec<Vec<u8>> {
    let decision = |turn| Decision { certificate: certified(&turn), turn: Arc::new(turn) };
    let turns: Vec<Decision> = lively().into_iter().take(3).map(decision).collect();
    vec![encode_patch(&turns).expect("some turns").bytes]
}

pub(crate) fn capsules() -> Vec<Vec<u8>> {
    let genesis = golden::genesis();
    let world = World::genesis(&genesis, &tools()).expect("the golden genesis");
    let (root, snapshot) = (world.root(), world.snapshot());
    let (after, turns) = begun();
    let turns = turns.into_iter().map(|turn| (turn.clone(), certified(&turn))).collect();
    let genesis = genesis.encode();
    let end = Some(after.snapshot());
    vec![Capsule { genesis, root, snapshot, turns, roots: vec![after.root()], end }.encode()]
}

pub(crate) fn packages() -> Vec<Vec<u8>> {
    let packages = plaza::packages();
    packages.iter().map(metatopia_scripting::Package::encode).collect()
}

pub(crate) fn sources() -> Vec<Vec<u8>> {
    let packages = plaza::packages();
    packages.iter().map(|package| package.entry().as_bytes().to_vec()).collect()
}

/// The sim whose logs are tried.
pub(crate) fn sim() -> SimId {
    SimId(Digest::of("metatopia decoders", b"sim"))
}

pub(crate) fn segments() -> Vec<Vec<u8>> {
    let server = golden::server_key(0).public();
    let opening = Opening::new(metatopia_store::Identity { sim: sim(), server });
    let opened = Store::open(MemoryDisk::new(), opening).expect("an empty disk");
    let mut store = opened.store;
    for (record, tag) in records().iter().zip(1..) {
        store.append(1, Some(tag), record).expect("a good disk");
    }
    store.sync().expect("a good disk");
    let disk = store.into_disk();
    let bytes = disk.bytes(metatopia_store::FileName::segment(0)).expect("the log's file");
    vec![bytes.to_vec()]
}

pub(crate) fn framed() -> Vec<Vec<u8>> {
    let mut bytes = Vec::new();
    for frame in client_frames() {
        framing::encode(&frame, &mut bytes);
    }
    vec![bytes]
}

pub(crate) fn invites() -> Vec<Vec<u8>> {
    let turn = lively().swap_remove(0);
    let key = golden::visitor_key(0);
    let invite = Invite {
        certificate: certified(&turn),
        header: turn.header,
        validators: voters(),
        addresses: vec!["http://127.0.0.1:8080".into()],
        grant: Grant::StandBy,
        uses: 2,
        expires: Millis(1_000_000),
        issuer: key.public(),
        nonce: 77,
    };
    vec![invite.sign(&key).text().into_bytes()]
}

pub(crate) fn checkpoints() -> Vec<Vec<u8>> {
    let Header { sim, height, validators, time, .. } = lively().swap_remove(0).header;
    let checkpoint = TrustCheckpoint { sim, height, validators, time };
    vec![checkpoint.to_string().into_bytes()]
}

pub(crate) fn commands() -> Vec<Vec<u8>> {
    ["go north", "say hello there", "push crate", "look", "build box 1 2"]
        .map(|line| line.as_bytes().to_vec())
        .into()
}

pub(crate) fn numbers() -> Vec<Vec<u8>> {
    ["0", "-1.5", "3.0625", "524287"].map(|text| text.as_bytes().to_vec()).into()
}

pub(crate) fn configs() -> Vec<Vec<u8>> {
    vec![b"data_dir = \"data\"\ngenesis = \"genesis.bin\"\nlog = \"info\"\n".to_vec()]
}

pub(crate) fn places() -> Vec<Vec<u8>> {
    vec![include_bytes!("../../../scenarios/templates/plaza.toml").to_vec()]
}

pub(crate) fn stories() -> Vec<Vec<u8>> {
    let storm = include_str!("../../../scenarios/stories/storm.toml");
    let rude = include_str!("../../../scenarios/stories/hostile-client.toml");
    [storm, rude].map(|story| story.as_bytes().to_vec()).into()
}
