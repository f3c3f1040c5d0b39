//! A long history of the plaza with people in it, as nodes answer it, and how long a native replica
//! takes for it; for `client/wasm/tests/measure.mjs`.
//!
//! ```text
//! cargo run --release -p metatopia-wasm --example history -- target/module/history.bin
//! ```

use std::{collections::BTreeMap, collections::BTreeSet, env, error::Error, fs, time::Instant};

use metatopia_math::{Fx, Stream, Vec2};
use metatopia_protocol::{Answer, ServerMessage, TURNS_PER_ANSWER_MAX, encode_server};
use metatopia_scenarios::plaza;
use metatopia_sim::{ENGINE, Serial, Tools, World};
use metatopia_types::*;
use metatopia_wasm::{Begin, Phase, Replica, Trust};

/// Ten minutes.
const TURNS: u64 = 12_000;

/// People who walk, turn around and push.
const PEOPLE: u8 = 8;

/// Turns from one deed of somebody to the next.
const PACE: u64 = 5;

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

/// What the people do in a turn.
fn deeds(world: &World, dice: &mut Stream) -> Vec<SignedEnvelope> {
    let height = world.height().plus(1);
    let mut acts = Vec::new();
    for n in 1..=PEOPLE {
        let key = SigningKey::from_seed([n; 32]);
        if !(height.0 + u64::from(n)).is_multiple_of(PACE) {
            continue;
        }
        let act = if world.avatar(&key.public()).is_none() {
            Act::Login { name: format!("Somebody {n}"), look: Look::default() }
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

fn main() -> Result<(), Box<dyn Error>> {
    let path = env::args().nth(1).ok_or("usage: history FILE")?;
    let members: BTreeMap<_, _> =
        (0..4).map(|n| (server(n).public(), Contact::default())).collect();
    let genesis = plaza::genesis(members, BTreeSet::new());
    let tools = Tools::new(std::sync::Arc::new(Ed25519));
    let mut world = World::genesis(&genesis, &tools)?;
    let mut dice = Stream::new(&[9; 32], "history", &[]);
    let set = world.roster().newest_set().id();
    let mut roots = vec![world.root()];
    let mut previous = HeaderId::default();
    let mut decided = Vec::new();
    let begin = Instant::now();
    for height in (1..=TURNS).map(Height) {
        let body = Body::new(deeds(&world, &mut dice), Vec::new())?;
        let ((acts, act_count), (blobs, blob_count)) = (body.acts_root(), body.blobs_root());
        let stated = height.0.saturating_sub(limits::ROOT_LAG);
        let header = Header {
            sim: world.sim(),
            engine: ENGINE,
            height,
            previous,
            proposer: server(0).public(),
            round: Round(0),
            time: Millis(1_700_000_000_000 + 50 * height.0),
            acts,
            act_count,
            blobs,
            blob_count,
            root: roots[stated as usize],
            validators: set,
            next_validators: set,
        };
        previous = header.id();
        let turn = Turn { header, body };
        world.apply(&turn, &Serial);
        roots.push(world.root());
        let certificate = certificate(&turn.header);
        decided.push((turn, certificate));
    }
    println!("{TURNS} turns made in {:.1} s", begin.elapsed().as_secs_f64());

    let frames: Vec<Vec<u8>> = decided
        .chunks(TURNS_PER_ANSWER_MAX)
        .map(|turns| {
            let answer = Box::new(Answer::Turns(turns.to_vec()));
            encode_server(&ServerMessage::Answer { id: 1, answer })
        })
        .collect();
    let begin = Instant::now();
    let mut replica = Replica::new(
        Trust::new(genesis.id(), &genesis.encode())?,
        genesis.encode(),
        Begin::Genesis,
    )?;
    for frame in &frames {
        replica.frame(frame)?;
    }
    let seconds = begin.elapsed().as_secs_f64();
    let status = replica.status();
    assert_eq!((status.phase, status.height), (Phase::Following, TURNS));

    // Everything in one file: lengths in four bytes, lowest first. The first piece is JSON.
    let facts = serde_json::json!({
        "sim": genesis.id().to_string(), "turns": TURNS, "native_s": seconds, "root": status.root,
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
