//! A session under test, and the other end of its line.

use std::{sync::Arc, time::Duration};

use metatopia_client::{LightClient, Output, Session, SessionEvent};
use metatopia_protocol::*;
use metatopia_types::*;

use crate::stand::{Stand, Watcher, certificate, key, set};

pub(crate) struct Talk {
    pub(crate) session: Session,
    sim: SimId,
    pub(crate) now: Duration,
    /// What was said and happened while it was let in, for who asks next.
    kept: (Vec<ClientMessage>, Vec<SessionEvent>),
}

/// A turn without acts of this height, signed by all servers that the session knows.
pub(crate) fn empty_turn(session: &Session, height: Height, time: Millis) -> (Turn, Certificate) {
    let light = session.light();
    let set = light.set(height).expect("a set of that height");
    let (sim, validators) = (light.sim(), set.id());
    let header =
        Header { sim, height, time, validators, next_validators: validators, ..Header::unstated() };
    let signers: Vec<u8> = (190..=210).filter(|n| set.get(&key(*n).public()).is_some()).collect();
    let certificate = certificate(&header, &signers);
    (Turn { header, body: TurnBody::default() }, certificate)
}

impl Talk {
    /// A session that is open and watches, with proofs.
    pub(crate) fn watching(stand: &Stand) -> Self {
        let mut talk = Self::new(stand.sim(), stand.light());
        talk.connect(stand.height());
        talk.session.view(Some(watching()));
        talk.drain();
        talk
    }

    pub(crate) fn new(sim: SimId, light: LightClient) -> Self {
        let session = Session::new(Arc::new(key(1)), light, Lane(7));
        Self { session, sim, now: Duration::ZERO, kept: (Vec::new(), Vec::new()) }
    }

    /// A session of one sim whose only server is 200.
    pub(crate) fn of_one_server() -> Self {
        let sim = SimId(Digest::of("sessions", b"sim"));
        Self::new(sim, LightClient::new(sim, Height(1), set(&[200]), Arc::new(Ed25519)))
    }

    pub(crate) fn tell(&mut self, message: &ServerMessage) {
        self.session.handle(self.now, &encode_server(message));
    }

    /// Connects it, lets it in, and shows it the header that it asks for. A sim that has no turn yet is
    /// said to have one.
    pub(crate) fn connect(&mut self, height: Height) {
        let height = height.max(Height(1));
        self.greet(height);
        let (mut said, mut events) = self.drain();
        let is_asked = |said: &ClientMessage| match said {
            ClientMessage::Ask { id, question: Question::Turn { .. } } => Some(*id),
            _ => None,
        };
        let asked = said.iter().position(|said| is_asked(said).is_some());
        let asked = said.remove(asked.expect("it asks for a header"));
        let id = is_asked(&asked).expect("that one");
        let turn = empty_turn(&self.session, height, Millis(1));
        self.tell(&ServerMessage::Answer { id, answer: Box::new(Answer::Turn(Box::new(turn))) });
        let (more, later) = self.drain();
        said.extend(more);
        events.extend(later);
        self.kept = (said, events);
    }

    /// Connects it, and lets it in. A connection that there was broke before.
    pub(crate) fn greet(&mut self, height: Height) {
        if self.session.server().is_some() {
            self.session.disconnected();
        }
        let (server, nonce) = (key(200).public(), [3; 32]);
        let challenge = Challenge { version: VERSION, sim: self.sim, server, nonce };
        self.tell(&ServerMessage::Challenge(challenge.clone()));
        match self.drain().0.as_slice() {
            [ClientMessage::Hello(hello)] => assert!(hello.verify(&challenge, &Ed25519)),
            other => panic!("{other:?} where a hello belongs"),
        }
        let welcome = Welcome { height, turns_per_second: 20 };
        self.tell(&ServerMessage::Welcome(welcome));
    }

    /// Returns what the client sent and what happened since, each in order.
    pub(crate) fn drain(&mut self) -> (Vec<ClientMessage>, Vec<SessionEvent>) {
        let (mut said, mut events) = std::mem::take(&mut self.kept);
        while let Some(output) = self.session.poll() {
            match output {
                Output::Send(frame) => said.push(decode_client(&frame).expect("our own frame")),
                Output::Event(event) => events.push(event),
            }
        }
        (said, events)
    }

    pub(crate) fn said(&mut self) -> Vec<ClientMessage> {
        self.drain().0
    }

    pub(crate) fn events(&mut self) -> Vec<SessionEvent> {
        self.drain().1
    }

    pub(crate) fn view(&mut self, view: View) -> Vec<SessionEvent> {
        self.tell(&ServerMessage::View(Box::new(view)));
        self.events()
    }

    pub(crate) fn proof(&mut self, proof: ViewProof) -> Vec<SessionEvent> {
        self.tell(&ServerMessage::ViewProof(Box::new(proof)));
        self.events()
    }

    /// Submits an act that does not have to wait.
    pub(crate) fn submitted(&mut self, act: Act) -> ActId {
        let seq = self.session.submit(self.now, act, Vec::new()).expect("was open");
        self.session.act_at(seq).expect("a header was verified")
    }

    /// Submits an act; gives it as it is sent.
    pub(crate) fn submit(&mut self, act: Act) -> SignedEnvelope {
        self.session.submit(self.now, act, Vec::new()).expect("open");
        match &self.said()[..] {
            [ClientMessage::Submit(submission)] => submission.act.clone(),
            other => panic!("{other:?} where an act belongs"),
        }
    }

    /// Submits an act, and the server decides it at once.
    pub(crate) fn act(&mut self, stand: &mut Stand, act: Act) {
        let act = self.submit(act);
        let (id, receipt) = (act.id(), stand.decide(vec![act]).expect("of an act"));
        self.tell(&ServerMessage::Receipt { act: id, receipt: Box::new(receipt) });
        assert!(matches!(self.events()[..], [SessionEvent::Receipted { act, .. }] if act == id));
    }

    /// Logs the visitor in.
    pub(crate) fn enter(&mut self, stand: &mut Stand) {
        self.act(stand, login());
    }

    /// Shows it everything there is, and plays on until that can be proved. Gives the height.
    pub(crate) fn see(&mut self, stand: &mut Stand, watcher: &mut Watcher) -> Height {
        let view = stand.view(watcher, &stand.tiles());
        let height = view.height;
        assert_eq!(self.view(view), [SessionEvent::View { height }]);
        stand.turns(2);
        height
    }
}

pub(crate) fn login() -> Act {
    Act::login("Ada".into(), Look::default())
}

pub(crate) fn watching() -> Watching {
    let (turns_apart, proofs, at, have) = (1, true, None, Vec::new());
    Watching { bytes_per_second: 40_000, turns_apart, proofs, at, have }
}
