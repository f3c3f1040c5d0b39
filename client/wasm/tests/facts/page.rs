//! A core, and both ends of its line: the page, and a server that is honest unless a test spoils it.

use metatopia_protocol::*;
use metatopia_sim::Genesis;
use metatopia_types::*;
use metatopia_wasm::ClientCore;
use serde_json::{Value, json};

use crate::stand::{Stand, Watcher, certificate, key};

const SERVERS: [u8; 4] = [200, 201, 202, 203];

pub(crate) struct Page {
    pub(crate) stand: Stand,
    pub(crate) watcher: Watcher,
    pub(crate) core: ClientCore,
    pub(crate) now: f64,
    pub(crate) wall: f64,
    last: u64,
}

/// Returns what the page says when it begins, with these changes.
pub(crate) fn setup(sim: SimId, changes: Value) -> Vec<u8> {
    let mut setup = json!({
        "secret": "01".repeat(32), "sim": sim.to_string(), "lane": "9007199254740993",
        "random": "02".repeat(32),
        "ticket": null, "at": null, "checkpoint": null,
    });
    for (name, value) in changes.as_object().expect("an object") {
        setup[name] = value.clone();
    }
    serde_json::to_vec(&setup).expect("JSON")
}

impl Page {
    /// A page that is let in and has seen nothing yet. The visitor is in the world, from elsewhere.
    pub(crate) fn new() -> Self {
        let mut page = Self::unconnected(json!({}));
        page.connect();
        page
    }

    pub(crate) fn unconnected(changes: Value) -> Self {
        Self::of(&Stand::genesis(), changes)
    }

    /// A page of a sim of this genesis that is not connected.
    pub(crate) fn of(genesis: &Genesis, changes: Value) -> Self {
        let mut stand = Stand::of(genesis);
        stand.enter();
        let setup = setup(stand.sim(), changes);
        let core = ClientCore::new(&setup, &genesis.encode()).expect("a setup");
        let (now, wall) = (1_000.0, 1_700_000_000_000.0);
        Self { stand, watcher: Watcher::default(), core, now, wall, last: 0 }
    }

    /// Connects the page: it is let in and shown the newest header.
    pub(crate) fn connect(&mut self) {
        self.greet();
        let asked = self.said().into_iter().find_map(|said| match said {
            ClientMessage::Ask { id, question: Question::Turn { .. } } => Some(id),
            _ => None,
        });
        let turn = self.newest();
        self.answer(asked.expect("a header is asked for"), Answer::Turn(Box::new(turn)));
    }

    pub(crate) fn greet(&mut self) {
        self.watcher = Watcher::default();
        self.core.connected(self.now, self.wall);
        let (server, nonce, sim) = (key(200).public(), [3; 32], self.stand.sim());
        let challenge = Challenge { version: VERSION, sim, server, nonce };
        self.tell(&ServerMessage::Challenge(challenge));
        assert!(matches!(self.said()[..], [ClientMessage::Hello(_)]));
        let (height, turns_per_second) = (self.stand.height(), 20);
        self.tell(&ServerMessage::Welcome(Welcome { height, turns_per_second }));
    }

    /// The turn of the newest height, without its acts.
    pub(crate) fn newest(&self) -> (Turn, Certificate) {
        let of = self.stand.height().minus(2).expect("two turns at least");
        let header = self.stand.proof(of, &[]).header;
        let certificate = certificate(&header, &SERVERS);
        (Turn { header, body: TurnBody::default() }, certificate)
    }

    pub(crate) fn tell(&mut self, message: &ServerMessage) {
        self.core.frame(self.now, self.wall, &encode_server(message));
    }

    pub(crate) fn answer(&mut self, id: u32, answer: Answer) {
        self.tell(&ServerMessage::Answer { id, answer: Box::new(answer) });
    }

    /// Answers the question what the sim is by now, with a proof that these signed.
    pub(crate) fn prove_charter(&mut self, asked: u32, signers: &[u8]) {
        let (of, leaves) = (self.stand.height(), self.stand.world().provable_leaves());
        self.stand.turns(2);
        let header = self.stand.proof(of, &[]).header;
        let (certificate, charter) = (certificate(&header, signers), leaves.charter());
        let answer = CharterAnswer { header, certificate, charter };
        self.answer(asked, Answer::Charter(Box::new(answer)));
    }

    /// Returns what was sent since the last look.
    pub(crate) fn said(&mut self) -> Vec<ClientMessage> {
        let frames = std::iter::from_fn(|| self.core.outgoing());
        frames.map(|frame| decode_client(&frame).expect("our own frame")).collect()
    }

    /// Returns what happened since the last look.
    pub(crate) fn events(&mut self) -> Vec<Value> {
        serde_json::from_slice(&self.core.events()).expect("a JSON array")
    }

    /// Returns the events of one type since the last look.
    pub(crate) fn events_of(&mut self, kind: &str) -> Vec<Value> {
        let mut events = self.events();
        events.retain(|event| event["type"] == kind);
        events
    }

    /// The question of this kind that was sent last.
    pub(crate) fn asked(&mut self) -> Vec<(u32, Question)> {
        let asked = |said| match said {
            ClientMessage::Ask { id, question } => Some((id, question)),
            _ => None,
        };
        self.said().into_iter().filter_map(asked).collect()
    }

    /// The acts that were sent.
    pub(crate) fn acts(&mut self) -> Vec<SignedEnvelope> {
        let act = |said| match said {
            ClientMessage::Submit(submission) => Some(submission.act),
            _ => None,
        };
        self.said().into_iter().filter_map(act).collect()
    }

    /// The only act that was sent.
    pub(crate) fn act(&mut self) -> SignedEnvelope {
        let mut acts = self.acts();
        assert_eq!(acts.len(), 1, "{acts:?}");
        acts.remove(0)
    }

    pub(crate) fn wait(&mut self, ms: f64) {
        self.now += ms;
        self.wall += ms;
        self.core.tick(self.now, self.wall);
    }

    /// Sends a command; gives its number.
    pub(crate) fn command(&mut self, mut command: Value) -> u64 {
        self.last += 1;
        command["id"] = self.last.into();
        let text = serde_json::to_vec(&command).expect("JSON");
        self.core.command(self.now, self.wall, &text).expect("a command");
        self.last
    }

    /// Returns what came of a command, if that is known.
    pub(crate) fn result(&mut self, id: u64) -> Option<Value> {
        let is_end = |event: &Value| {
            event["id"] == id && (event["type"] == "done" || event["type"] == "failed")
        };
        let mut ends: Vec<Value> = self.events().into_iter().filter(is_end).collect();
        assert!(ends.len() < 2, "{ends:?}");
        ends.pop()
    }

    /// Decides the act at once, and has the server say what came of it.
    pub(crate) fn decide(&mut self, act: SignedEnvelope, outcome: Outcome) {
        let id = act.id();
        let receipt = Box::new(self.stand.decide(vec![act]).expect("of an act"));
        let height = self.stand.height();
        self.tell(&ServerMessage::Receipt { act: id, receipt });
        self.tell(&ServerMessage::Outcome { act: id, height, outcome });
    }

    /// Comes into the world from this tab.
    pub(crate) fn log_in(&mut self) {
        let look = json!({ "color": 255, "shape": "star" });
        let id = self.command(json!({ "do": "login", "name": "Ada", "look": look }));
        let act = self.act();
        self.decide(act, Outcome::Ok);
        assert_eq!(self.result(id).expect("logged in")["result"]["ok"], true);
        // Each login asks what others told meanwhile.
        let asked = self.said();
        let is_mailbox = |message: &ClientMessage| {
            matches!(message, ClientMessage::Ask { question: Question::Mailbox { .. }, .. })
        };
        assert!(asked.iter().any(is_mailbox), "{asked:?}");
    }

    /// Returns an honest view of all there is.
    pub(crate) fn view(&mut self) -> View {
        self.stand.view(&mut self.watcher, &self.stand.tiles())
    }

    /// Shows all there is. Gives the height.
    pub(crate) fn see(&mut self) -> Height {
        let view = self.view();
        let height = view.height;
        self.tell(&ServerMessage::View(Box::new(view)));
        height
    }

    /// An honest proof of what was seen at a height.
    pub(crate) fn proof(&mut self, of: Height) -> ViewProof {
        while self.stand.height() < of.plus(limits::ROOT_LAG) {
            self.stand.turns(1);
        }
        self.stand.proof(of, &self.stand.tiles_at(of))
    }

    pub(crate) fn prove(&mut self, proof: ViewProof) {
        self.tell(&ServerMessage::ViewProof(Box::new(proof)));
    }

    /// Returns what the badge says by now, if that is news.
    pub(crate) fn badge(&mut self) -> Option<Value> {
        self.events_of("proof").pop()
    }
}
