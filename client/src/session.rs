//! One client's session with one node, over whatever carrier; it outlives connections.

use alloc::{
    boxed::Box,
    collections::{BTreeMap, VecDeque},
    sync::Arc,
    vec::Vec,
};
use core::time::Duration;

use metatopia_protocol::{
    Answer, Challenge, ChatLine, ClientMessage, Goodbye, Hello, Question, Scene, ServerMessage,
    Submission, SubmitRefusal, decode_server, encode_client,
};
use metatopia_types::{
    Act, ActId, Blob, Envelope, Height, Lane, Outcome, Receipt, Seq, Sign, limits,
    wire::DecodeError,
};

use crate::{Distrust, LightClient};

/// Acts without a receipt that a client keeps; more are refused here, before they cost anybody.
pub const PENDING_MAX: usize = 256;

/// Questions under way.
const QUESTIONS_MAX: usize = 256;

/// Receipts that wait for set changes to be followed.
const UNPROVEN_MAX: usize = PENDING_MAX;

/// An act without a receipt is sent again after this long: ten turns at the usual pace. Two would
/// do on an idle machine, but repeats under load only make more of it.
const RESEND: Duration = Duration::from_millis(500);

/// How far ahead an act's last valid height is set: half a minute, so that an act that got lost is
/// known to be lost soon, and a stall of some seconds costs nothing.
const VALID_FOR: u64 = limits::EXPIRY_HEIGHTS_MAX / 2;

/// What a session wants from its driver.
#[derive(Debug, PartialEq, Eq)]
pub enum Output {
    /// Send this frame to the node.
    Send(Vec<u8>),
    /// Something the user may want to know.
    Event(Event),
}

/// What happened.
#[derive(Debug, PartialEq, Eq)]
pub enum Event {
    /// The node let us in.
    Open {
        /// The last decided height there.
        height: Height,
    },
    /// The node ended the session.
    Closed(Goodbye),
    /// The act is in a certified turn; this was checked.
    Receipted {
        /// Which act.
        act: ActId,
        /// In this turn.
        height: Height,
        /// At this place.
        index: u32,
    },
    /// The node will not take the act.
    Refused {
        /// Which act.
        act: ActId,
        /// Why.
        why: SubmitRefusal,
    },
    /// What the node says became of the act; ask [`Question::Outcomes`] for the proof.
    Outcome {
        /// Which act.
        act: ActId,
        /// In this turn.
        height: Height,
        /// The result.
        outcome: Outcome,
    },
    /// What is in sight.
    Scene(Box<Scene>),
    /// What is heard.
    Heard(ChatLine),
    /// The answer to a question of ours.
    Answer {
        /// The question's id.
        id: u32,
        /// The answer.
        answer: Box<Answer>,
    },
    /// The node said something that is not true. Leave it.
    Distrusted(Distrust),
    /// The node sent what is no frame of this protocol. Leave it.
    BadFrame(DecodeError),
}

/// Why an act is not sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SubmitError {
    /// Too many acts wait for their receipts.
    #[error("{PENDING_MAX} acts wait for their receipts already")]
    TooManyPending,
    /// No node let us in yet, so nothing is known about the height that acts are valid until.
    #[error("the session was never open")]
    NeverOpen,
}

struct Pending {
    submission: Submission,
    resend_at: Duration,
    /// How often it was sent.
    sends: u32,
}

/// A session. Frames go in by [`Session::handle`], come out by [`Session::poll`].
pub struct Session {
    key: Arc<dyn Sign>,
    light: LightClient,
    lane: Lane,
    next_seq: Seq,
    height: Height,
    open: bool,
    welcomed: bool,
    watching: bool,
    pending: BTreeMap<ActId, Pending>,
    order: BTreeMap<Seq, ActId>,
    questions: BTreeMap<u32, Question>,
    next_question: u32,
    links: Option<u32>,
    unproven: Vec<(ActId, Box<Receipt>)>,
    out: VecDeque<Output>,
}

impl core::fmt::Debug for Session {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Session in {} with {} acts pending", self.lane, self.pending.len())
    }
}

impl Session {
    /// A session of `key`. The lane is a random number that this key never used before.
    #[must_use]
    pub fn new(key: Arc<dyn Sign>, light: LightClient, lane: Lane) -> Self {
        Self {
            key,
            light,
            lane,
            next_seq: Seq(1),
            height: Height(0),
            open: false,
            welcomed: false,
            watching: false,
            pending: BTreeMap::new(),
            order: BTreeMap::new(),
            questions: BTreeMap::new(),
            next_question: 1,
            links: None,
            unproven: Vec::new(),
            out: VecDeque::new(),
        }
    }

    /// What the session believes.
    #[must_use]
    pub const fn light(&self) -> &LightClient {
        &self.light
    }

    /// The lane its acts are in.
    #[must_use]
    pub const fn lane(&self) -> Lane {
        self.lane
    }

    /// Did the node let us in?
    #[must_use]
    pub const fn is_open(&self) -> bool {
        self.open
    }

    /// Acts that have no receipt yet.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.pending.len()
    }

    /// The carrier broke. Acts are kept, and sent again on the next connection.
    pub fn disconnected(&mut self) {
        self.open = false;
        self.links = None;
        self.questions.clear();
        self.out.clear();
    }

    /// Signs an act and sends it, now or once the session is open.
    ///
    /// # Errors
    /// See [`SubmitError`].
    pub fn submit(
        &mut self,
        now: Duration,
        act: Act,
        blobs: Vec<Blob>,
    ) -> Result<(ActId, Seq), SubmitError> {
        if !self.welcomed {
            return Err(SubmitError::NeverOpen);
        }
        if self.pending.len() >= PENDING_MAX {
            return Err(SubmitError::TooManyPending);
        }
        let seq = self.next_seq;
        self.next_seq = seq.plus(1);
        let envelope = Envelope {
            sim: self.light.sim(),
            author: self.key.public(),
            lane: self.lane,
            seq,
            last_valid: self.height.plus(VALID_FOR),
            act,
        };
        let act = envelope.sign(&*self.key);
        let id = act.id();
        let submission = Submission { act, blobs };
        let mut sends = 0;
        if self.open {
            sends = 1;
            self.send(&ClientMessage::Submit(Box::new(submission.clone())));
        }
        self.order.insert(seq, id);
        self.pending.insert(id, Pending { submission, resend_at: now + RESEND, sends });
        Ok((id, seq))
    }

    /// Asks a question; nothing while the session is closed or too many are under way.
    pub fn ask(&mut self, question: Question) -> Option<u32> {
        if !self.open || self.questions.len() >= QUESTIONS_MAX {
            return None;
        }
        let id = self.next_question;
        self.next_question = self.next_question.wrapping_add(1);
        self.questions.insert(id, question.clone());
        self.send(&ClientMessage::Ask { id, question });
        Some(id)
    }

    /// Wants scenes, or no more; remembered over connections.
    pub fn watch(&mut self, scenes: bool) {
        self.watching = scenes;
        if self.open {
            self.send(&ClientMessage::Watch { scenes });
        }
    }

    /// When [`Session::tick`] is due.
    #[must_use]
    pub fn deadline(&self) -> Option<Duration> {
        if !self.open {
            return None;
        }
        self.pending.values().map(|pending| pending.resend_at).min()
    }

    /// Sends acts again that have waited too long for a receipt; the very same bytes.
    pub fn tick(&mut self, now: Duration) {
        if self.open {
            self.resend(now, |pending| pending.resend_at <= now);
        }
    }

    fn resend(&mut self, now: Duration, which: impl Fn(&Pending) -> bool) {
        // In the order of the lane: a later act that is decided first shuts out the earlier ones.
        for id in self.order.values() {
            let Some(pending) = self.pending.get_mut(id).filter(|pending| which(pending)) else {
                continue;
            };
            pending.resend_at = now + RESEND;
            pending.sends = pending.sends.saturating_add(1);
            let message = ClientMessage::Submit(Box::new(pending.submission.clone()));
            self.out.push_back(Output::Send(encode_client(&message)));
        }
    }

    /// A frame from the node.
    pub fn handle(&mut self, now: Duration, frame: &[u8]) {
        let message = match decode_server(frame) {
            Ok(message) => message,
            Err(error) => return self.event(Event::BadFrame(error)),
        };
        match message {
            ServerMessage::Challenge(challenge) => self.answer(&challenge),
            ServerMessage::Welcome(welcome) => {
                self.open = true;
                self.welcomed = true;
                self.height = self.height.max(welcome.height);
                self.event(Event::Open { height: welcome.height });
                if self.watching {
                    self.send(&ClientMessage::Watch { scenes: true });
                }
                self.resend(now, |_| true);
            }
            ServerMessage::Goodbye(why) => {
                self.open = false;
                self.event(Event::Closed(why));
            }
            ServerMessage::Refused { act, why } => self.refused(act, why),
            ServerMessage::Receipt { act, receipt } => self.receipt(act, receipt),
            ServerMessage::Outcome { act, height, outcome } => {
                self.height = self.height.max(height);
                self.event(Event::Outcome { act, height, outcome });
            }
            ServerMessage::Scene(scene) => {
                self.height = self.height.max(scene.height);
                self.event(Event::Scene(scene));
            }
            ServerMessage::Heard(line) => self.event(Event::Heard(line)),
            ServerMessage::Answer { id, answer } => self.answered(id, answer),
            ServerMessage::Pong { .. } | ServerMessage::View(_) | ServerMessage::ViewProof(_) => {}
        }
    }

    fn answer(&mut self, challenge: &Challenge) {
        if challenge.sim != self.light.sim() {
            return self.event(Event::Distrusted(Distrust::OtherSim(challenge.sim)));
        }
        let hello = Hello::new(challenge, &*self.key);
        self.send(&ClientMessage::Hello(hello));
    }

    fn receipt(&mut self, act: ActId, receipt: Box<Receipt>) {
        let Some(pending) = self.pending.get(&act) else {
            return;
        };
        let header = &receipt.header;
        let (height, index) = (header.height, receipt.place.index);
        match self.light.receipt(&pending.submission.act, &receipt) {
            Ok(()) => {
                self.height = self.height.max(height);
                self.forget(&act);
                self.event(Event::Receipted { act, height, index });
            }
            // The set may have changed since: follow, then look again.
            Err(Distrust::OtherValidators(_)) if self.unproven.len() < UNPROVEN_MAX => {
                self.unproven.push((act, receipt));
                if self.links.is_none() {
                    let after = self.light.newest().minus(1).unwrap_or_default();
                    self.links = self.ask(Question::Links { after });
                }
            }
            Err(distrust) => self.event(Event::Distrusted(distrust)),
        }
    }

    fn refused(&mut self, act: ActId, why: SubmitRefusal) {
        let again = self.pending.get(&act).is_some_and(|pending| pending.sends > 1);
        // No room here and now is no answer for an act that may have been taken when it was sent
        // before, here or elsewhere: it stays until there is a receipt, or a reason that lasts.
        if again && passes(why) {
            return;
        }
        if self.forget(&act) {
            self.event(Event::Refused { act, why });
        }
    }

    fn answered(&mut self, id: u32, answer: Box<Answer>) {
        if self.questions.remove(&id).is_none() {
            return;
        }
        if self.links != Some(id) {
            return self.event(Event::Answer { id, answer });
        }
        self.links = None;
        let Answer::Links(links) = *answer else {
            return;
        };
        for link in &links {
            if link.header.height < self.light.newest() {
                continue;
            }
            if let Err(distrust) = self.light.follow(link) {
                return self.event(Event::Distrusted(distrust));
            }
        }
        let followed = !links.is_empty();
        for (act, receipt) in core::mem::take(&mut self.unproven) {
            if followed {
                self.receipt(act, receipt);
            } else {
                let unknown = Distrust::OtherValidators(receipt.header.height);
                self.event(Event::Distrusted(unknown));
            }
        }
    }

    /// Takes the next output, in order.
    pub fn poll(&mut self) -> Option<Output> {
        self.out.pop_front()
    }

    fn forget(&mut self, act: &ActId) -> bool {
        let Some(pending) = self.pending.remove(act) else {
            return false;
        };
        self.order.remove(&pending.submission.act.envelope.seq);
        true
    }

    fn send(&mut self, message: &ClientMessage) {
        self.out.push_back(Output::Send(encode_client(message)));
    }

    fn event(&mut self, event: Event) {
        self.out.push_back(Output::Event(event));
    }
}

/// Does this reason say something about the node at this moment, and nothing about the act?
const fn passes(why: SubmitRefusal) -> bool {
    match why {
        SubmitRefusal::QuotaExceeded
        | SubmitRefusal::TooManyLanes
        | SubmitRefusal::Full
        | SubmitRefusal::TooFarAhead { .. } => true,
        SubmitRefusal::OtherSim(_)
        | SubmitRefusal::TooLong(_)
        | SubmitRefusal::Expired { .. }
        | SubmitRefusal::Replayed(_)
        | SubmitRefusal::BadSignature
        | SubmitRefusal::BadBlob => false,
    }
}
