//! Frames of sessions, and what the native build makes of them, a JSON object a line; for
//! `client/wasm/tests/module.test.mjs`, which holds the module against it.
//!
//! ```text
//! cargo run -p metatopia-wasm --example frames > target/words/frames.jsonl
//! ```

use metatopia_protocol::{ServerMessage, Welcome, encode_server};
use metatopia_types::{Height, Sign as _};
use metatopia_wasm::{
    CallError, ClientReplica, Drawn, DrawnBody, HeadingChange, PredictedWalk, Prover, StartPoint,
    TrustedGenesis, keys,
};
use serde_json::{Value, json};

#[path = "../tests/facts/golden.rs"]
#[expect(dead_code, reason = "the tests answer for more than this shows")]
mod golden;
#[path = "../../tests/facts/stand.rs"]
#[expect(dead_code, reason = "the tests spoil more than this shows")]
mod stand;

use stand::{Stand, Watcher, certificate};

/// Turns of the session with views.
const TURNS: u32 = 120;

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn say(line: &Value) {
    println!("{line}");
}

fn main() -> Result<(), CallError> {
    some_keys()?;
    a_session()?;
    a_liar()?;
    a_replica(StartPoint::Genesis, golden::decided(400))?;
    a_replica(StartPoint::Snapshot, golden::decided(300))?;
    a_replica(StartPoint::Genesis, golden::other_roots_from(31, 60))
}

fn some_keys() -> Result<(), CallError> {
    for n in 0..8_u8 {
        let (secret, message) = ([n.wrapping_mul(37); 32], vec![n; usize::from(n) * 40]);
        let key = keys::public_key(&secret)?;
        let signature = keys::sign(&[&secret[..], &message].concat())?;
        let name = "metatopia act v1";
        let digest = keys::digest(&[name.as_bytes(), &message].concat(), name.len())?;
        say(&json!({
            "do": "keys", "secret": hex(&secret), "message": hex(&message), "key": hex(&key),
            "signature": hex(&signature), "name": name, "digest": hex(&digest),
            "hash": hex(&keys::hash(&message)),
        }));
    }
    Ok(())
}

struct Session {
    stand: Stand,
    watcher: Watcher,
    prover: Prover,
}

impl Session {
    fn begin() -> Result<Self, CallError> {
        let mut stand = Stand::new();
        let genesis = Stand::genesis().encode();
        let (sim, viewer) = (stand.sim().to_string(), Stand::visitor().public());
        let (start, own) = (hex(&genesis), hex(&viewer.0));
        say(&json!({ "do": "prover", "sim": sim, "genesis": start, "viewer": own }));
        let prover = Prover::new(TrustedGenesis::new(stand.sim(), &genesis)?, viewer);
        stand.enter();
        let mut session = Self { stand, watcher: Watcher::default(), prover };
        let welcome = Welcome { height: session.stand.height(), turns_per_second: 20 };
        session.tell(&ServerMessage::Welcome(welcome))?;
        Ok(session)
    }

    fn tell(&mut self, message: &ServerMessage) -> Result<(), CallError> {
        let frame = encode_server(message);
        let events = self.prover.frame(&frame)?;
        say(&json!({ "do": "frame", "frame": hex(&frame), "events": events }));
        Ok(())
    }

    fn see(&mut self) -> Result<Height, CallError> {
        let view = self.stand.view(&mut self.watcher, &self.stand.tiles());
        let height = view.height;
        self.tell(&ServerMessage::View(Box::new(view)))?;
        Ok(height)
    }

    fn present(&mut self, present: bool) {
        self.prover.present(present);
        say(&json!({ "do": "present", "present": present }));
    }

    fn prove(&mut self, of: Height) -> Result<(), CallError> {
        let proof = self.stand.proof(of, &self.stand.tiles());
        self.tell(&ServerMessage::ViewProof(Box::new(proof)))
    }

    fn look(&self) -> Result<(), CallError> {
        let copies = self.prover.sight().copies();
        let entries = copies.flat_map(|(.., copy)| copy.entries());
        let body = |(id, moves): (_, metatopia_types::Movement)| DrawnBody {
            id,
            position: moves.position.unwrap_or_default(),
            facing: moves.facing.unwrap_or_default(),
        };
        let bodies = entries.map(|entry| body((entry.id, entry.body.movement()))).collect();
        let drawn = Drawn { height: self.prover.sight().height().0, bodies };
        let texts: Vec<Value> = drawn
            .bodies
            .iter()
            .map(|b| json!({ "id": b.id, "position": b.position, "facing": b.facing }))
            .collect();
        let found = self.prover.shown(&drawn);
        let drawn = json!({ "height": drawn.height, "bodies": texts });
        say(&json!({ "do": "shown", "drawn": drawn, "found": found }));
        let (east, north) = ([1_i64 << 32, 0], [0, 1_i64 << 32]);
        let changes = vec![HeadingChange { after: 12, heading: north }];
        let path = self.prover.predict(&PredictedWalk { heading: east, changes, ticks: 30 })?;
        let changes = json!([{ "after": 12, "heading": north }]);
        let walk = json!({ "heading": east, "changes": changes, "ticks": 30 });
        say(&json!({ "do": "predict", "walk": walk, "path": path }));
        say(&json!({ "do": "digest", "digest": self.prover.digest().to_string() }));
        Ok(())
    }
}

/// A visitor walks, sees every turn, and every fourth is proved.
fn a_session() -> Result<(), CallError> {
    let mut session = Session::begin()?;
    session.present(true);
    for turn in 0..TURNS {
        let of = session.see()?;
        session.stand.turns(1);
        if turn % 4 == 0 {
            session.stand.turns(1);
            session.prove(of)?;
        }
        if turn % 20 == 0 {
            session.see()?;
            session.look()?;
            session.stand.turns(1);
        }
    }
    Ok(())
}

/// A server that hides something, one that hides the visitor's avatar, and one with too few
/// signatures.
fn a_liar() -> Result<(), CallError> {
    let mut session = Session::begin()?;
    let mut view = session.stand.view(&mut session.watcher, &session.stand.tiles());
    let of = view.height;
    view.tiles.iter_mut().for_each(|tile| tile.entries.truncate(1));
    session.tell(&ServerMessage::View(Box::new(view)))?;
    session.stand.turns(2);
    session.prove(of)?;

    let mut session = Session::begin()?;
    session.present(true);
    let mut view = session.stand.view(&mut session.watcher, &session.stand.tiles());
    view.me = None;
    let of = view.height;
    session.tell(&ServerMessage::View(Box::new(view)))?;
    session.stand.turns(2);
    session.prove(of)?;
    session.present(false);
    session.prove(of)?;

    let mut session = Session::begin()?;
    let of = session.see()?;
    session.stand.turns(2);
    let mut proof = session.stand.proof(of, &session.stand.tiles());
    proof.certificate = certificate(&proof.header, &[200, 201]);
    session.tell(&ServerMessage::ViewProof(Box::new(proof)))
}

fn a_replica(begin: StartPoint, turns: Vec<golden::Decided>) -> Result<(), CallError> {
    let genesis = golden::genesis();
    let from = if begin == StartPoint::Snapshot { "snapshot" } else { "genesis" };
    let (sim, bytes) = (genesis.id().to_string(), hex(&genesis.encode()));
    say(&json!({ "do": "replica", "sim": sim, "genesis": bytes, "from": from }));
    let mut node = golden::Node::new(turns);
    node.states.push((Height(250), golden::world_at(250).snapshot()));
    let mut replica = ClientReplica::new(
        TrustedGenesis::new(genesis.id(), &genesis.encode())?,
        genesis.encode(),
        begin,
    )?;
    let mut before = None;
    while let Some(want) = replica.want() {
        if before.replace(want) == Some(want) {
            break;
        }
        let frame = golden::frame(node.answer(&want));
        let followed = replica.frame(&frame)?;
        say(&json!({ "do": "follow", "want": want, "frame": hex(&frame), "followed": followed }));
    }
    let capsule = hex(&keys::hash(&replica.capsule().encode()));
    say(&json!({ "do": "capsule", "hash": capsule }));
    Ok(())
}
