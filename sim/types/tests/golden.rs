//! One golden digest and size per wire type. A change here is a change of the wire: it breaks every
//! node and log out there, and belongs in the change log.

use std::collections::BTreeMap;

use metatopia_math::{Angle, Fx, Vec2};
use metatopia_types::*;

fn key(n: u8) -> SigningKey {
    SigningKey::from_seed([n; 32])
}

fn sim() -> SimId {
    SimId(Digest::of("golden", b"sim"))
}

fn act(n: u8, act: Act) -> SignedEnvelope {
    let author = key(n).public();
    let (lane, seq) = (Lane(u64::from(n) << 40), Seq(u64::from(n)));
    Envelope { sim: sim(), author, lane, seq, last_valid: Height(1_200), act }.sign(&key(n))
}

fn vote(n: u8, header: Option<HeaderId>) -> Signed<Vote> {
    let (height, round) = (Height(300), Round(2));
    let voter = key(n).public();
    Vote { kind: VoteKind::Precommit, height, round, header, voter }.sign(sim(), &key(n))
}

fn proposal(n: u8, id: HeaderId) -> Signed<Proposal> {
    let valid_round = Some(Round(1));
    let proposer = key(n).public();
    Proposal { height: Height(300), round: Round(2), header: id, valid_round, proposer }
        .sign(sim(), &key(n))
}

fn set() -> ValidatorSet {
    let members = (1..=4).map(|n| Validator { key: key(n).public(), power: 1 }).collect();
    ValidatorSet::new(members, |_| true).expect("four members")
}

fn acts() -> Vec<Act> {
    let words = Blob(b"hello".to_vec());
    let look = Look::plain(0x00ff_8040, BodyShape::Star);
    let contact = NodeContact { peer_id: "12D3".into(), address: "/ip4/127.0.0.1/tcp/1".into() };
    let id = HeaderId(Digest::of("golden", b"header"));
    vec![
        Act::login("ada".into(), look),
        Act::Leave,
        Act::Heartbeat,
        Act::Walk { heading: Vec2 { x: Fx::from_bits(-1 << 31), y: Fx::ONE } },
        Act::Touch { object: ObjectId(300) },
        Act::Push { object: ObjectId(7) },
        Act::Say { channel: 1, body: words.id() },
        Act::Emote(Emote::Bow),
        Act::SetLook(look),
        Act::SetChange(SetChange::Add { key: key(5).public(), contact }),
        Act::SetChange(SetChange::Remove { key: key(5).public() }),
        Act::Ready { height: Height(299), proof: Digest([9; 32]) },
        Act::Report(Evidence::votes(vote(1, None), vote(1, Some(id)))),
        Act::Report(Evidence::proposals(proposal(1, id), proposal(1, HeaderId(Digest::ZERO)))),
    ]
    .into_iter()
    .chain(builds().into_iter().map(Act::Build))
    .chain([
        Act::SetChange(SetChange::Reserve {
            key: key(5).public(),
            contact: NodeContact::default(),
        }),
        Act::Login {
            name: "bot".into(),
            look,
            bot: true,
            pass: Some(Pass::Work(Work { height: Height(280), nonce: 1 << 40 })),
        },
        Act::Login {
            name: "guest".into(),
            look,
            bot: false,
            pass: Some(Pass::Ticket(TicketPass::new(&key(6), sim(), &key(7).public()))),
        },
        Act::Ticket(TicketOrder::Issue { ticket: key(6).public(), uses: 1_000, days: 30 }),
        Act::Ticket(TicketOrder::Withdraw { ticket: key(6).public() }),
        Act::Amend { name: "hearing".to_owned(), value: "25".to_owned() },
    ])
    .collect()
}

/// Each kind of a builder's act; the first with the longest words there can be.
fn builds() -> Vec<Build> {
    let object = ObjectId(300);
    let position = Vec2::new(Fx::from_ratio(5, 2), Fx::MIN);
    let half = Vec2::new(Fx::ONE, Fx::HALF);
    let blueprint = Blueprint {
        kind: "k".repeat(limits::NAME_BYTES_MAX),
        name: "n".repeat(limits::NAME_BYTES_MAX),
        text: "t".repeat(256),
        color: 0x00c8_964b,
        outline: Outline::Box { half: Vec2::new(Fx::MAX, Fx::MIN) },
        movable: true,
        position: Vec2::new(Fx::MIN, Fx::MAX),
        angle: Angle::from_bits(u32::MAX),
        licence: AssetLicence::Reserved,
        parts: OutlineParts::default(),
    };
    let disc = Outline::Disc { radius: Fx::HALF };
    let small = Blueprint {
        kind: "disc".into(),
        name: "disc".into(),
        text: String::new(),
        outline: disc,
        movable: false,
        position,
        angle: Angle::QUARTER,
        licence: AssetLicence::CcBySa,
        parts: OutlineParts::default(),
        ..blueprint
    };
    let package = PackageId(Digest([5; 32]));
    let part = OutlinePart { outline: disc, offset: half, angle: Angle::QUARTER };
    let parts = OutlineParts::new(vec![part; limits::MORE_PARTS_MAX]).expect("eight in all");
    let of_parts = Blueprint { parts, ..small.clone() };
    vec![
        Build::Place(blueprint),
        Build::Place(small),
        Build::Move { object, position },
        Build::Rotate { object, angle: Angle::EIGHTH },
        Build::Resize { object, outline: Outline::Box { half } },
        Build::Resize { object, outline: disc },
        Build::Recolor { object, color: 0x0000_ff00 },
        Build::Rename { object, name: "bench".into() },
        Build::Copy { object, position },
        Build::Delete { object },
        Build::Give { object, to: key(6).public() },
        Build::Attach { object, package },
        Build::Detach { object, script: ScriptId(9) },
        Build::Resume { object, script: ScriptId(9) },
        Build::Undo { skip: 1 },
        Build::Write { object, text: "t".repeat(256) },
        Build::Place(of_parts),
        Build::Unite { objects: vec![object, ObjectId(7)] },
    ]
}

fn turn() -> Turn {
    let signed = acts().into_iter().zip(1..).map(|(a, n)| act(n, a)).collect();
    let body = TurnBody::new(signed, vec![Blob(b"hello".to_vec())]).expect("within limits");
    let ((acts, act_count), (blobs, blob_count)) = (body.acts_root(), body.blobs_root());
    let header = Header {
        sim: sim(),
        engine: 1,
        height: Height(300),
        previous: HeaderId(Digest([1; 32])),
        proposer: key(1).public(),
        round: Round(2),
        time: Millis(1_790_000_000_000),
        acts,
        act_count,
        blobs,
        blob_count,
        root: Root(Digest([2; 32])),
        validators: set().id(),
        next_validators: set().id(),
        reserved: Digest::ZERO,
    };
    Turn { header, body }
}

fn certificate() -> Certificate {
    let id = turn().id();
    let signatures = (1..=3).map(|n| (key(n).public(), vote(n, Some(id)).signature)).collect();
    Certificate { height: Height(300), round: Round(2), header: id, signatures }
}

fn receipt() -> Receipt {
    let place = merkle::Proof::of(&turn().body.act_leaves(), 3).expect("there are more acts");
    Receipt { header: turn().header, certificate: certificate(), place }
}

fn roster() -> Roster {
    let member = Member { power: 1, contact: NodeContact::default() };
    let members: BTreeMap<_, _> = (1..=4).map(|n| (key(n).public(), member.clone())).collect();
    Roster::genesis(members).expect("four members")
}

fn recovery() -> SignedRecovery {
    let mut signed = SignedRecovery::new(Recovery {
        sim: sim(),
        engine: 2,
        number: 1,
        height: Height(300),
        header: turn().id(),
        roots: [Root(Digest([7; 32])), Root(Digest([8; 32]))],
    });
    (1..=3).for_each(|n| signed.sign(&key(n)));
    signed
}

fn state_proof() -> StateProof {
    let (key, content) = (LeafKey("clock".into()), vec![1, 2, 3]);
    let place = merkle::Proof { index: 1, count: 3, path: vec![Digest([3; 32]); 2] };
    StateProof { key, content, place }
}

/// (name, bytes, first half of the digest) of everything that goes over a wire or into a log.
fn measured() -> Vec<(String, usize, String)> {
    let mut rows = Vec::new();
    let mut row = |name: &str, bytes: Vec<u8>| {
        let digest = blake3::hash(&bytes).to_hex();
        rows.push((name.to_owned(), bytes.len(), digest[..16].to_owned()));
    };
    for (n, a) in acts().into_iter().enumerate() {
        row(&format!("act {n}"), wire::encode(&a));
    }
    row("signed envelope", wire::encode(&act(1, Act::Heartbeat)));
    row("act id", act(1, Act::Heartbeat).id().bytes().to_vec());
    row("header", wire::encode(&turn().header));
    row("header id", turn().id().bytes().to_vec());
    row("turn", wire::encode(&turn()));
    row("vote", wire::encode(&vote(1, None)));
    row("vote sign bytes", vote(1, None).message.sign_bytes(sim()).to_vec());
    row("proposal", wire::encode(&proposal(1, turn().id())));
    row("proposal sign bytes", proposal(1, turn().id()).message.sign_bytes(sim()).to_vec());
    row("validator set", wire::encode(&set()));
    row("validators id", set().id().bytes().to_vec());
    row("certificate", wire::encode(&certificate()));
    row("receipt", wire::encode(&receipt()));
    row("roster", wire::encode(&roster()));
    row("state proof", wire::encode(&state_proof()));
    row("signed recovery", wire::encode(&recovery()));
    row("recovery sign bytes", recovery().recovery.sign_bytes().to_vec());
    row("outcome", wire::encode(&Outcome::Refused(Refusal::Crashed)));
    row("outcome of making", wire::encode(&Outcome::Made(ObjectId(300))));
    row("empty merkle root", merkle::root(&[]).0.to_vec());
    rows
}

#[test]
fn every_wire_type_has_its_golden_size_and_digest() {
    let golden = include_str!("golden.txt");
    let now: String = measured()
        .iter()
        .map(|(name, bytes, digest)| format!("{digest} {bytes:>5} {name}\n"))
        .collect();
    assert_eq!(now, golden, "the wire changed; new table:\n{now}");
}

#[test]
fn every_act_fits_into_an_envelope() {
    for a in acts() {
        let bytes = wire::encode(&act(1, a.clone())).len();
        assert!(bytes <= limits::ENVELOPE_BYTES_MAX, "{a:?} takes {bytes} bytes");
    }
}

#[test]
fn what_is_encoded_decodes_to_itself() {
    let turn = turn();
    assert_eq!(wire::decode(&wire::encode(&turn), limits::TURN_BYTES_MAX), Ok(turn));
    assert_eq!(wire::decode(&wire::encode(&receipt()), 4_096), Ok(receipt()));
    assert_eq!(wire::decode(&wire::encode(&roster()), 4_096), Ok(roster()));
}
