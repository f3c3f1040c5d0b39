//! A long history of the plaza with people in it, as nodes answer it, and how long a native replica
//! takes for it; for `client/wasm/tests/measure.mjs`.
//!
//! ```text
//! cargo run --release -p metatopia-wasm --example history -- target/words/history.bin 50
//! ```

use std::{collections::BTreeMap, collections::BTreeSet, env, error::Error, fs, time::Instant};

use metatopia_math::{Fx, Stream, Vec2};
use metatopia_protocol::{Answer, ServerMessage, TURNS_PER_ANSWER_MAX, encode_server};
use metatopia_scenarios::plaza;
use metatopia_sim::{ENGINE, Serial, Tools, World};
use metatopia_types::*;
use metatopia_wasm::{ClientPhase, ClientReplica, StartPoint, TrustedGenesis};

/// The turns of ten minutes.
const TURNS: u64 = 12_000;

/// Turns from one deed of somebody to the next: ten a second.
const PACE: u64 = 2;

fn server(n: u8) -> SigningKey {
    SigningKey::from_seed([200 + n; 32])
}

fn certificate(header: &Header) -> Certificate {
    let (height, round, id) = (header.height, Round(0), header.id());
    let mut signatures: Vec<_> = (0..3)
        .map(|n| {
            let (key, voter) = (server(n), server(n).public());
            let vote = Vote { kind: VoteKind::Precommit, height, round, header: Some(id), voter };
            (voter, vote.sign(header.sim, &key).signature)
        })
        .collect();
    signatures.sort_by_key(|(key, _)| *key);
    Certificate { height, round, header: id, signatures }
}

/// Returns the acts of the people in a turn: they log in, and then walk another way.
fn deeds(world: &World, people: u8, dice: &mut Stream) -> Vec<SignedEnvelope> {
    let height = world.height().plus(1);
    let mut acts = Vec::new();
    for n in 1..=people {
        let key = SigningKey::from_seed([n; 32]);
        if !(height.0 + u64::from(n)).is_multiple_of(PACE) {
            continue;
        }
        let act = if world.avatar(&key.public()).is_none() {
            Act::login(format!("Somebody {n}"), Look::default())
        } else {
            let mut part = || Fx::from_bits((dice.next_u64() >> 31) as i64 - (1 << 32));
            Act::Walk { heading: Vec2::new(part(), part()) }
        };
        let (sim, author, lane, seq) = (world.sim(), key.public(), Lane(1), Seq(height.0));
        let last_valid = height.plus(10);
        acts.push(Envelope { sim, author, lane, seq, last_valid, act }.sign(&key));
    }
    acts
}

/// Seconds that this process has run on a processor; by the clock, where nobody counts that.
fn spent(since: Instant) -> f64 {
    let counted = fs::read_to_string("/proc/self/schedstat").ok();
    let nanoseconds = counted.and_then(|text| text.split(' ').next()?.parse::<u64>().ok());
    nanoseconds.map_or_else(|| since.elapsed().as_secs_f64(), |count| count as f64 / 1e9)
}

/// The answers in which a node hands these turns out.
fn frames(decided: Vec<(Turn, Certificate)>) -> Vec<Vec<u8>> {
    let (mut answers, mut left) = (vec![Vec::new()], limits::TURN_BYTES_MAX);
    for entry in decided {
        let bytes = wire::encode(&entry).len();
        let full = answers.last().is_some_and(|turns| turns.len() == TURNS_PER_ANSWER_MAX);
        if full || bytes > left {
            answers.push(Vec::new());
            left = limits::TURN_BYTES_MAX;
        }
        left = left.saturating_sub(bytes);
        answers.last_mut().expect("there is one from the start").push(entry);
    }
    let frame = |turns| {
        let answer = Box::new(Answer::Turns(turns));
        encode_server(&ServerMessage::Answer { id: 1, answer })
    };
    answers.into_iter().map(frame).collect()
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let (path, people) =
        arguments.next().zip(arguments.next()).ok_or("usage: history FILE PEOPLE")?;
    let people: u8 = people.parse()?;
    let members: BTreeMap<_, _> =
        (0..4).map(|n| (server(n).public(), NodeContact::default())).collect();
    let genesis = plaza::genesis(members, BTreeSet::new());
    let tools = Tools::new(std::sync::Arc::new(Ed25519));
    let mut world = World::genesis(&genesis, &tools)?;
    let mut dice = Stream::new(&[9; 32], "history", &[]);
    let set = world.roster().newest_set().id();
    let mut roots = vec![world.root()];
    let mut previous = HeaderId::BEFORE_FIRST;
    let mut decided = Vec::new();
    let start = Instant::now();
    for height in (1..=TURNS).map(Height) {
        let body = TurnBody::new(deeds(&world, people, &mut dice), Vec::new())?;
        let stated = height.0.saturating_sub(limits::ROOT_LAG);
        let header = Header {
            sim: world.sim(),
            engine: ENGINE,
            height,
            previous,
            proposer: server(0).public(),
            time: Millis(1_700_000_000_000 + 50 * height.0),
            root: roots[stated as usize],
            validators: set,
            next_validators: set,
            ..Header::unstated()
        };
        let turn = Turn::of(header, body);
        previous = turn.id();
        world.apply(&turn, &Serial);
        roots.push(world.root());
        let certificate = certificate(&turn.header);
        decided.push((turn, certificate));
    }
    println!("{TURNS} turns with {people} people made in {:.1} s", spent(start));

    assert_eq!(world.present().count(), usize::from(people), "they all came, and stayed");
    let frames = frames(decided);
    let before = spent(start);
    let mut replica = ClientReplica::new(
        TrustedGenesis::new(genesis.id(), &genesis.encode())?,
        genesis.encode(),
        StartPoint::Genesis,
    )?;
    for frame in &frames {
        replica.frame(frame)?;
    }
    let seconds = spent(start) - before;
    let status = replica.status();
    assert_eq!((status.phase, status.height), (ClientPhase::Following, TURNS));

    // Everything in one file: lengths in four bytes, lowest first. The first piece is JSON.
    let facts = serde_json::json!({
        "sim": genesis.id().to_string(), "turns": TURNS, "people": people, "native_s": seconds, "root": status.root,
    });
    let mut file = Vec::new();
    for piece in [facts.to_string().into_bytes(), genesis.encode()].iter().chain(&frames) {
        file.extend((piece.len() as u32).to_le_bytes());
        file.extend(piece);
    }
    fs::write(path, file)?;
    println!("{TURNS} turns replayed natively in {seconds:.1} s");
    Ok(())
}
