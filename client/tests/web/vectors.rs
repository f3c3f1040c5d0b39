//! Messages of every kind with their bytes, for whoever writes the protocol down a second time.

use metatopia_math::{Angle, Fx, Vec2};
use metatopia_physics::{BodySpec, Motion, Region};
use metatopia_protocol::*;
use metatopia_scripting::{Draft, Package, PackageAuthor};
use metatopia_sim::{Genesis, Object, Parameters, Shape};
use metatopia_types::*;
use serde::Serialize;
use serde_json::{Value, json};

mod state;

use self::state::{crate_body, entries, entry_bytes, parts, wall_body};

/// Arrays of this many small numbers are written as hexadecimal text.
const HEX_FROM: usize = 16;

/// The file's text.
pub(crate) fn file() -> String {
    let rows: Vec<String> = all().iter().map(ToString::to_string).collect();
    format!("[\n{}\n]\n", rows.join(",\n"))
}

/// Kind, bytes and meaning of each.
fn all() -> Vec<Value> {
    let client = client_messages().into_iter().map(|m| vector("client", &m));
    let server = server_messages().into_iter().map(|m| vector("server", &m));
    client.chain(server).chain(entries()).chain(parts()).collect()
}

fn vector<T: Serialize>(kind: &str, value: &T) -> Value {
    let json = serde_json::to_value(value).expect("our types have JSON forms");
    json!({ "kind": kind, "hex": hex(&wire::encode(value)), "value": plain(json) })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Integers that other languages round become text, and so do long rows of bytes.
fn plain(value: Value) -> Value {
    let exact = (1_i128 << 53) - 1;
    match value {
        Value::Number(number) => match number.to_string().parse::<i128>() {
            Ok(whole) if whole.abs() > exact => Value::String(whole.to_string()),
            _ => Value::Number(number),
        },
        Value::Array(values) => {
            let byte = |value: &Value| value.as_u64().and_then(|n| u8::try_from(n).ok());
            let bytes: Option<Vec<u8>> = values.iter().map(byte).collect();
            match bytes.filter(|bytes| bytes.len() >= HEX_FROM) {
                Some(bytes) => Value::String(hex(&bytes)),
                None => Value::Array(values.into_iter().map(plain).collect()),
            }
        }
        Value::Object(fields) => {
            Value::Object(fields.into_iter().map(|(name, value)| (name, plain(value))).collect())
        }
        other => other,
    }
}

fn key(n: u8) -> SigningKey {
    SigningKey::from_seed([n; 32])
}

fn sim() -> SimId {
    SimId(Digest::of("web vectors", b"sim"))
}

fn digest(n: u8) -> Digest {
    Digest::of("web vectors", &[n])
}

fn header() -> Header {
    Header {
        sim: sim(),
        engine: 1,
        height: Height(70_000),
        previous: HeaderId(digest(1)),
        proposer: key(1).public(),
        round: Round(3),
        time: Millis(1_790_000_000_000),
        acts: digest(2),
        act_count: 2,
        blobs: digest(3),
        blob_count: 1,
        root: Root(digest(4)),
        validators: set().id(),
        next_validators: set().id(),
        reserved: Digest::ZERO,
    }
}

fn set() -> ValidatorSet {
    let members = (1..=4).map(|n| Validator { key: key(n).public(), power: 1 }).collect();
    ValidatorSet::new(members, |_| true).expect("four members")
}

fn certificate() -> Certificate {
    let mut certificate = Certificate {
        height: header().height,
        round: Round(3),
        header: header().id(),
        signatures: Vec::new(),
    };
    for n in 1..=3 {
        let vote = certificate.vote(key(n).public());
        let signature = vote.sign(sim(), &key(n)).signature;
        certificate.signatures.push((key(n).public(), signature));
    }
    certificate
}

fn place() -> merkle::Proof {
    merkle::Proof { index: 5, count: 300, path: vec![digest(5), digest(6)] }
}

fn vote(header: Option<HeaderId>) -> Signed<Vote> {
    let (height, round, voter) = (Height(300), Round(2), key(1).public());
    Vote { kind: VoteKind::Precommit, height, round, header, voter }.sign(sim(), &key(1))
}

fn proposal(valid_round: Option<Round>) -> Signed<Proposal> {
    let (height, round, proposer) = (Height(300), Round(2), key(1).public());
    let header = HeaderId(digest(1));
    Proposal { height, round, header, valid_round, proposer }.sign(sim(), &key(1))
}

fn words() -> Blob {
    Blob("gr\u{fc}\u{df} dich \u{1f44b}".as_bytes().to_vec())
}

const LOOK: Look = Look { color: 0x00ff_8040, shape: BodyShape::Star };

fn acts() -> Vec<Act> {
    let contact = NodeContact { peer_id: "12D3".into(), address: "/ip4/127.0.0.1/tcp/1".into() };
    let shapes = [BodyShape::Round, BodyShape::Square, BodyShape::Arrow, BodyShape::Star];
    let emotes = [Emote::Wave, Emote::Nod, Emote::Dance, Emote::Bow, Emote::Laugh];
    let mut acts = vec![
        Act::login("\u{e5}da".into(), LOOK),
        Act::Leave,
        Act::Heartbeat,
        Act::Walk { heading: Vec2::new(Fx::from_bits(-1 << 31), Fx::ONE) },
        Act::Walk { heading: Vec2::new(Fx::from_bits(i64::MIN), Fx::from_bits(i64::MAX)) },
        Act::Touch { object: ObjectId(300) },
        Act::Push { object: ObjectId((1 << 53) - 1) },
        Act::Say { channel: 255, body: words().id() },
        Act::SetChange(SetChange::Add { key: key(5).public(), contact }),
        Act::SetChange(SetChange::Remove { key: key(5).public() }),
        Act::Ready { height: Height(299), proof: digest(9) },
        Act::Report(Evidence::votes(vote(None), vote(Some(HeaderId(digest(1)))))),
        Act::Report(Evidence::proposals(proposal(None), proposal(Some(Round(1))))),
        first_login(Pass::Work(Work { height: Height(300), nonce: 1 << 40 })),
        first_login(Pass::Ticket(TicketPass::new(&key(8), SimId(digest(1)), &key(7).public()))),
        Act::Ticket(TicketOrder::Issue { ticket: key(8).public(), uses: 1_000, days: 30 }),
        Act::Ticket(TicketOrder::Withdraw { ticket: key(8).public() }),
        Act::Amend { name: "hearing".to_owned(), value: "25".to_owned() },
        Act::Unknown { number: 300, bytes: vec![7; 300] },
    ];
    acts.extend(shapes.map(|shape| Act::SetLook(Look { color: 0, shape })));
    acts.extend(emotes.map(Act::Emote));
    acts.extend(builds().into_iter().map(Act::Build));
    acts
}

fn first_login(pass: Pass) -> Act {
    Act::Login { name: "new".into(), look: LOOK, bot: false, pass: Some(pass) }
}

fn builds() -> Vec<Build> {
    let object = ObjectId(300);
    let position = Vec2::new(Fx::from_ratio(5, 2), Fx::from_bits(i64::MIN));
    let half = Vec2::new(Fx::ONE, Fx::HALF);
    let (disc, rect) = (Outline::Disc { radius: Fx::HALF }, Outline::Box { half });
    let place = |outline, movable, licence| {
        let (kind, name, text) = ("box".into(), "b\u{f8}x".into(), "fragile".into());
        let (color, angle) = (0x00c8_964b, Angle::EIGHTH);
        Build::Place(Blueprint {
            kind,
            name,
            text,
            color,
            outline,
            movable,
            position,
            angle,
            licence,
        })
    };
    let mut builds: Vec<Build> =
        AssetLicence::ALL.iter().map(|licence| place(rect, true, *licence)).collect();
    builds.extend([
        place(disc, false, AssetLicence::Cc0),
        Build::Move { object, position },
        Build::Rotate { object, angle: Angle::from_bits(u32::MAX) },
        Build::Resize { object, outline: rect },
        Build::Resize { object, outline: disc },
        Build::Recolor { object, color: 0x0000_ff00 },
        Build::Rename { object, name: "bench".into() },
        Build::Write { object, text: "sit".into() },
        Build::Copy { object, position },
        Build::Delete { object },
        Build::Give { object, to: key(6).public() },
        Build::Attach { object, package: PackageId(digest(5)) },
        Build::Detach { object, script: ScriptId(9) },
        Build::Undo { skip: 1 },
    ]);
    builds
}

fn signed(act: Act) -> SignedEnvelope {
    Envelope {
        sim: sim(),
        author: key(7).public(),
        lane: Lane(u64::MAX),
        seq: Seq(129),
        last_valid: Height(16_384),
        act,
    }
    .sign(&key(7))
}

fn challenge() -> Challenge {
    Challenge { version: VERSION, sim: sim(), server: key(1).public(), nonce: [8; 32] }
}

fn questions() -> Vec<Question> {
    let height = Height(127);
    vec![
        Question::Receipt { author: key(7).public(), lane: Lane(1 << 63), seq: Seq(128) },
        Question::Turn { height },
        Question::Outcomes { height },
        Question::Links { after: Height(0) },
        Question::Source { package: PackageId(digest(7)) },
        Question::Order { height, script: ScriptId(4) },
        Question::Root { height },
        Question::Players,
        Question::Scripts { after: ScriptId(4) },
        Question::Genesis,
        Question::Turns { from: height },
        Question::Snapshot,
        Question::SnapshotPart { height, part: u32::MAX },
        Question::Servers,
        Question::Governance,
        Question::Things { owner: key(7).public() },
        Question::LoginTerms { key: key(7).public() },
        Question::Tickets,
        Question::Leaves { height, leaves: vec![0, u32::MAX] },
        Question::Join(Box::new(JoinRequest { invite: invite(), applicant: Some(applicant()) })),
        Question::Applicants,
        Question::GenesisPart { part: 128 },
    ]
}

fn applicant() -> Applicant {
    let contact = NodeContact { peer_id: "12D3".into(), address: "/ip4/127.0.0.1/tcp/1".into() };
    Applicant { key: key(5).public(), contact }
}

fn invite() -> SignedInvite {
    Invite {
        header: header(),
        certificate: certificate(),
        validators: set(),
        addresses: vec!["http://127.0.0.1:8080/".into()],
        grant: Grant::StandBy,
        uses: 300,
        expires: Millis(1_790_000_000_000),
        issuer: key(7).public(),
        nonce: u64::MAX,
    }
    .sign(&key(7))
}

fn client_messages() -> Vec<ClientMessage> {
    let watching = Watching {
        bytes_per_second: 40_000,
        turns_apart: u16::MAX,
        proofs: true,
        at: Some(Vec2::new(Fx::HALF, Fx::from_int(-3))),
        have: vec![(TileName { x: i32::MIN, y: i32::MAX }, Height(9))],
    };
    let mut messages = vec![
        ClientMessage::Hello(Hello::new(&challenge(), &key(7))),
        ClientMessage::Ping { token: u64::MAX },
        ClientMessage::View(None),
        ClientMessage::View(Some(watching)),
        ClientMessage::Seen { number: 77 },
    ];
    for act in acts() {
        let blobs = if matches!(act, Act::Say { .. }) { vec![words()] } else { Vec::new() };
        messages.push(ClientMessage::Submit(Box::new(Submission { act: signed(act), blobs })));
    }
    messages.extend(
        (0..).zip(questions()).map(|(id, question)| ClientMessage::Ask { id: id * 100, question }),
    );
    messages
}

fn refusals() -> Vec<SubmitRefusal> {
    let (last_valid, height) = (Height(1), Height(2));
    vec![
        SubmitRefusal::OtherSim(sim()),
        SubmitRefusal::TooLong(1_025),
        SubmitRefusal::Expired { last_valid, height },
        SubmitRefusal::TooFarAhead { last_valid, height },
        SubmitRefusal::Replayed(3),
        SubmitRefusal::BadSignature,
        SubmitRefusal::BadBlob,
        SubmitRefusal::QuotaExceeded,
        SubmitRefusal::TooManyLanes,
        SubmitRefusal::Full,
        SubmitRefusal::NeedsWork,
        SubmitRefusal::NeedsTicket,
        SubmitRefusal::NobodyNew,
        SubmitRefusal::NeedsLogin,
        SubmitRefusal::UnknownAct(300),
    ]
}

fn goodbyes() -> Vec<Goodbye> {
    vec![
        Goodbye::Version(1),
        Goodbye::BadFrame,
        Goodbye::BadSignature,
        Goodbye::NoHello,
        Goodbye::Full,
        Goodbye::TooSlow,
        Goodbye::OtherSession,
        Goodbye::Stopping,
    ]
}

fn outcomes() -> Vec<Outcome> {
    let refused = [
        Refusal::NotLoggedIn,
        Refusal::OtherSession,
        Refusal::NotAdmin,
        Refusal::BadText,
        Refusal::NoObject,
        Refusal::OutOfReach,
        Refusal::Immovable,
        Refusal::NoBlob,
        Refusal::NoChannel,
        Refusal::Full,
        Refusal::OutOfRange,
        Refusal::TooOften,
        Refusal::BadSetChange,
        Refusal::WrongProof,
        Refusal::BadEvidence,
        Refusal::Crashed,
        Refusal::NotYours,
        Refusal::Person,
        Refusal::ClosedLand,
        Refusal::Occupied,
        Refusal::KeptClear,
        Refusal::BadSize,
        Refusal::TooManyObjects,
        Refusal::TooManyScripts,
        Refusal::TooMuchText,
        Refusal::NoPlayer,
        Refusal::NoRoomForGifts,
        Refusal::NoPackage,
        Refusal::NoScript,
        Refusal::NotFree,
        Refusal::NothingToUndo,
        Refusal::GiftStays,
        Refusal::NoSeat,
        Refusal::ChangesWait,
        Refusal::NoTicket,
        Refusal::TooManyTickets,
        Refusal::TooManyMovable,
        Refusal::NotPermanent,
        Refusal::NoParameter,
    ];
    [Outcome::Ok, Outcome::Made(ObjectId(300))]
        .into_iter()
        .chain(refused.map(Outcome::Refused))
        .collect()
}

#[expect(clippy::too_many_lines, reason = "a list")]
fn answers() -> Vec<Answer> {
    let act = signed(Act::Heartbeat);
    let receipt = receipt();
    let body = TurnBody::new(vec![act.clone()], Vec::new()).expect("one act");
    let turn = Turn { header: header(), body };
    let entry = ScriptEntry {
        script: ScriptId(4),
        object: ObjectId(9),
        name: "door".into(),
        package: PackageId(digest(7)),
        owner: Some(key(7).public()),
        failures: 3,
        last_failure: Some((Tick(12), "too much gas".into())),
        dropped: 1,
        gas_used: 20_000,
    };
    let thing = ThingEntry {
        object: ObjectId(9),
        name: "door".into(),
        kind: "door".into(),
        position: Vec2::new(Fx::HALF, Fx::from_int(-3)),
        text_bytes: 256,
        scripts: vec![(ScriptId(4), PackageId(digest(7)))],
    };
    let event = OrderEntry { tick: Tick(12), sender: ObjectId(0), event: "chat \"hi\"".into() };
    let proof =
        StateProof { key: LeafKey("outcomes/9".into()), content: vec![1, 2, 3], place: place() };
    let offer = SnapshotOffer {
        height: Height(600),
        bytes: 300_000,
        header: header(),
        certificate: certificate(),
    };
    let player =
        PlayerEntry { name: "ada".into(), key: key(7).public(), avatar: ObjectId(7), look: LOOK };
    let link = ValidatorSetLink { header: header(), certificate: certificate(), next: set() };
    let outcome = Some(Outcome::Ok);
    vec![
        Answer::Receipt(Box::new(ReceiptAnswer { act, receipt, outcome })),
        Answer::Turn(Box::new((turn.clone(), certificate()))),
        Answer::Outcomes(Box::new((proof, header(), certificate()))),
        Answer::Links(vec![link]),
        Answer::Source((0..=255).collect()),
        Answer::Order(vec![event]),
        Answer::Root(Root(digest(4))),
        Answer::Players(vec![player]),
        Answer::Scripts(vec![entry]),
        Answer::Genesis(vec![9; 20]),
        Answer::Turns(vec![(turn, certificate())]),
        Answer::Snapshot(Box::new(offer)),
        Answer::SnapshotPart(vec![0; 200]),
        Answer::Servers(vec![announcement()]),
        Answer::Governance(Box::new(governance())),
        Answer::Things(vec![thing]),
        Answer::Unknown,
        Answer::Busy,
        Answer::Leaves(vec![vec![5; 20], (0..=40).collect()]),
        Answer::Join(Ok(applicant().contact)),
        Answer::Join(Err(JoinRefusal::Used(300))),
        Answer::Join(Err(JoinRefusal::OtherSim(sim()))),
        Answer::Join(Err(JoinRefusal::Full)),
        Answer::Applicants(vec![applicant()]),
        Answer::Pruned { oldest: Height(4_000) },
        Answer::GenesisPart(vec![3; 130]),
        Answer::LoginTerms(LoginTerms::Free),
        Answer::LoginTerms(LoginTerms::Ticket),
        Answer::LoginTerms(LoginTerms::Closed),
        Answer::LoginTerms(LoginTerms::Work {
            height: Height(300),
            header: HeaderId(Digest([4; 32])),
            tries: 6_000_000,
        }),
        Answer::TooLong,
        Answer::Tickets(vec![TicketEntry {
            ticket: key(8).public(),
            by: key(7).public(),
            left: 1_000,
            lasts: 172_800_000,
        }]),
    ]
}

fn governance() -> GovernanceEntry {
    let (key, name) = (key(7).public(), "ada".into());
    GovernanceEntry {
        admins: vec![key],
        temp_admin: Some(key),
        admin_days: 30,
        player_days: 7,
        seen_days: 3,
        time: 90_000,
        admin_login: 1,
        countdown: 0,
        players: 2,
        candidates: vec![CandidateEntry { name, key, first_seen: 2, last_login: 3 }],
        exposed: vec![(key, Height(4))],
        delayed: vec![
            DelayedEntry { change: SetChange::Remove { key }, by: key, left: 172_800_000 },
            DelayedEntry {
                change: SetChange::Reserve { key, contact: NodeContact::default() },
                by: key,
                left: 0,
            },
        ],
    }
}

fn receipt() -> Receipt {
    Receipt { header: header(), certificate: certificate(), place: place() }
}

fn announcement() -> SignedAnnouncement {
    EndpointAnnouncement {
        sim: sim(),
        server: key(1).public(),
        http: "http://127.0.0.1:8080".into(),
        quic: "127.0.0.1:9000".into(),
        certificates: vec![[1; 32], [2; 32]],
        issued: Millis(1_790_000_000_000),
    }
    .sign(&key(1))
}

fn movements() -> Vec<Movement> {
    (0_u8..32)
        .map(|mask| {
            let has = |bit: u8| mask >> bit & 1 == 1;
            Movement {
                position: has(0).then_some([1 << 20, -3]),
                facing: has(1).then_some([1 << 30, 0]),
                velocity: has(2).then_some([i32::MIN, i32::MAX]),
                spin: has(3).then_some(-1),
                slow_steps: has(4).then_some(30),
            }
        })
        .collect()
}

fn view() -> View {
    let tile = TileName { x: -1, y: 2 };
    let moved: Vec<(ObjectId, Movement)> = (1..).map(ObjectId).zip(movements()).collect();
    let update = TileUpdate {
        tile,
        since: Some(Height(99)),
        entries: vec![entry_bytes(&crate_body())],
        moved: moved.clone(),
        gone: vec![ObjectId(1)],
        more: true,
    };
    let whole = TileUpdate { since: None, moved: Vec::new(), gone: Vec::new(), ..update.clone() };
    View {
        number: 3,
        height: Height(100),
        tick: Tick(300),
        me: Some(ObjectId(7)),
        tiles: vec![update, whole],
        left: vec![TileName { x: 0, y: 0 }],
        near: moved,
        far: vec![entry_bytes(&wall_body())],
        gestures: vec![(ObjectId(7), Emote::Bow)],
    }
}

fn server_messages() -> Vec<ServerMessage> {
    let act = ActId(digest(1));
    let line = ChatMessage {
        height: Height(5),
        channel: 1,
        speaker: ObjectId(7),
        name: "ada".into(),
        text: "gr\u{fc}\u{df} dich".into(),
    };
    let (tile, prefix) = (TileName { x: -1, y: 2 }, vec![0, 15]);
    let leaf = TileLeaf { tile, prefix, place: 5, hash: digest(5) };
    let key = LeafKey("tile/-1,20".into());
    let beside = NeighbourLeaf { key, content: digest(6), place: 300 };
    let siblings = vec![digest(7), digest(8)];
    let proof = ViewProof {
        of: Height(69_998),
        header: header(),
        certificate: certificate(),
        leaves: vec![leaf],
        beside: vec![beside],
        places: merkle::JointProof { count: 301, siblings },
    };
    let mut messages = vec![
        ServerMessage::Challenge(challenge()),
        ServerMessage::Welcome(Welcome { height: Height(5), turns_per_second: 20 }),
        ServerMessage::Receipt { act, receipt: Box::new(receipt()) },
        ServerMessage::Heard(line),
        ServerMessage::Pong { token: 1 << 63 },
        ServerMessage::View(Box::new(view())),
        ServerMessage::ViewProof(Box::new(proof)),
    ];
    messages.extend(goodbyes().into_iter().map(ServerMessage::Goodbye));
    messages.extend(refusals().into_iter().map(|why| ServerMessage::Refused { act, why }));
    let height = Height(300);
    messages.extend(outcomes().into_iter().map(|outcome| ServerMessage::Outcome {
        act,
        height,
        outcome,
    }));
    messages.extend((0..).zip(answers()).map(|(id, answer)| {
        let answer = Box::new(answer);
        ServerMessage::Answer { id, answer }
    }));
    messages
}
