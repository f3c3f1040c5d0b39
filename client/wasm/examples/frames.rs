//! Frames of sessions, and what the native build makes of them, a JSON object a line; for
//! `client/wasm/tests/module.test.mjs`, which holds the module against it.
//!
//! ```text
//! cargo run -p metatopia-wasm --example frames > target/words/frames.jsonl
//! ```

use metatopia_protocol::{Challenge, ServerMessage, VERSION, Welcome, encode_server};
use metatopia_types::{Height, Sign as _};
use metatopia_wasm::{
    CallError, ClientCore, ClientReplica, ScriptTrial, StartPoint, TrustedGenesis, keys,
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
        say(&json!({
            "do": "keys", "secret": hex(&secret), "message": hex(&message), "key": hex(&key),
            "signature": hex(&signature), "hash": hex(&keys::hash(&message)),
        }));
    }
    Ok(())
}

/// The clocks of the session, in milliseconds.
const TURN_MS: f64 = 50.0;
const WALL: f64 = 1_700_000_000_000.0;

struct Session {
    stand: Stand,
    watcher: Watcher,
    core: ClientCore,
    now: f64,
}

impl Session {
    fn begin() -> Result<Self, CallError> {
        let mut stand = Stand::new();
        let genesis = Stand::genesis().encode();
        let setup = json!({
            "secret": "01".repeat(32), "sim": stand.sim().to_string(), "lane": "7",
            "random": "02".repeat(32),
            "ticket": null, "at": null, "checkpoint": null,
        });
        say(&json!({ "do": "core", "setup": setup, "genesis": hex(&genesis) }));
        let core = ClientCore::new(setup.to_string().as_bytes(), &genesis)?;
        stand.enter();
        let mut session = Self { stand, watcher: Watcher::default(), core, now: 0.0 };
        say(&json!({ "do": "connected", "now": session.now, "wall": WALL }));
        session.core.connected(session.now, WALL);
        session.came();
        let (server, sim) = (stand::key(200).public(), session.stand.sim());
        let challenge = Challenge { version: VERSION, sim, server, nonce: [3; 32] };
        session.tell(&ServerMessage::Challenge(challenge));
        let welcome = Welcome { height: session.stand.height(), turns_per_second: 20 };
        session.tell(&ServerMessage::Welcome(welcome));
        Ok(session)
    }

    /// Prints what came of the last call: frames for the server, and events for the page.
    fn came(&mut self) {
        let frames: Vec<String> =
            std::iter::from_fn(|| self.core.outgoing()).map(|frame| hex(&frame)).collect();
        // As they are: numbers that are read and written again may differ in their last bit.
        let events = String::from_utf8(self.core.events()).expect("our own JSON");
        println!("{{\"do\":\"came\",\"frames\":{},\"events\":{events}}}", json!(frames));
    }

    fn tell(&mut self, message: &ServerMessage) {
        let frame = encode_server(message);
        let (now, wall) = (self.now, WALL + self.now);
        say(&json!({ "do": "frame", "frame": hex(&frame), "now": now, "wall": wall }));
        self.core.frame(now, wall, &frame);
        self.came();
    }

    fn command(&mut self, command: &Value) -> Result<(), CallError> {
        let (now, wall) = (self.now, WALL + self.now);
        say(&json!({ "do": "command", "command": command, "now": now, "wall": wall }));
        self.core.command(now, wall, command.to_string().as_bytes())?;
        self.came();
        Ok(())
    }

    fn see(&mut self) -> Height {
        let view = self.stand.view(&mut self.watcher, &self.stand.tiles());
        let height = view.height;
        self.now += TURN_MS;
        self.tell(&ServerMessage::View(Box::new(view)));
        height
    }

    fn prove(&mut self, of: Height) {
        let proof = self.stand.proof(of, &self.stand.tiles());
        self.tell(&ServerMessage::ViewProof(Box::new(proof)));
    }
}

/// A visitor walks, sees every turn, and every fourth is proved.
fn a_session() -> Result<(), CallError> {
    let mut session = Session::begin()?;
    let look = json!({ "color": 1, "shape": "star" });
    session.command(&json!({ "id": 1, "do": "login", "name": "Ada", "look": look }))?;
    for turn in 0..TURNS {
        let of = session.see();
        session.stand.turns(1);
        if turn % 4 == 0 {
            session.stand.turns(1);
            session.prove(of);
        }
        if turn % 20 == 0 {
            let (x, y) = (f64::from(turn % 3) - 1.0, 0.5);
            session.command(&json!({ "id": turn + 2, "do": "walk", "x": x, "y": y }))?;
        }
    }
    Ok(())
}

/// A server that hides something, one whose views do not fit, and one with too few signatures.
fn a_liar() -> Result<(), CallError> {
    let mut session = Session::begin()?;
    let mut view = session.stand.view(&mut session.watcher, &session.stand.tiles());
    let of = view.height;
    view.tiles.iter_mut().for_each(|tile| tile.entries.truncate(1));
    session.tell(&ServerMessage::View(Box::new(view)));
    session.stand.turns(2);
    session.prove(of);

    let mut session = Session::begin()?;
    let mut view = session.stand.view(&mut session.watcher, &session.stand.tiles());
    view.number += 1;
    session.tell(&ServerMessage::View(Box::new(view)));

    let mut session = Session::begin()?;
    let of = session.see();
    session.stand.turns(2);
    let mut proof = session.stand.proof(of, &session.stand.tiles());
    proof.certificate = certificate(&proof.header, &[200, 201]);
    session.tell(&ServerMessage::ViewProof(Box::new(proof)));
    Ok(())
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
    a_try(&replica)?;
    Ok(())
}

/// A script that is tried on the state of a replica, by somebody who owns a thing there.
fn a_try(replica: &ClientReplica) -> Result<(), CallError> {
    let world = replica.world().expect("it follows");
    let Some((object, owner)) = world.objects().find_map(|thing| Some((thing.id, thing.owner?)))
    else {
        return Ok(());
    };
    let source = "fn on_start() { log(\"it begins\"); }\n\
                  fn on_tick(dt) { self_.angle += 0.01; if now() % 7 == 0 { [][1] } }\n\
                  fn on_touch(other) { say(other.name); sound(\"bell\"); }\n";
    let task = json!({
        "do": "begin", "author": owner.to_string(), "object": object.0, "script": null,
        "draft": {
            "name": "tried", "version": "1.0.0", "entry": "tried.rhai",
            "files": { "tried.rhai": source }, "licence": "AGPL-3.0-or-later",
        },
    });
    say(&json!({ "do": "try", "task": task }));
    let mut trial = ScriptTrial::new(world, task.to_string().as_bytes())?;
    for deed in [Value::Null, json!({ "do": "touch" }), json!({ "do": "say", "text": "hello" })] {
        if !deed.is_null() {
            trial.act_as_author(deed.to_string().as_bytes())?;
        }
        let report = trial.run(20);
        say(&json!({ "do": "tried", "deed": deed, "report": report }));
    }
    Ok(())
}
