//! Somebody who visits: a real session, driven over servers that come and go as a node's client
//! driver does, and whims of walking, pushing and talking.

mod walking_in;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use metatopia_client::{
    Distrust, LightClient, Output, Scene, SceneObject, Session, SessionEvent, UnprovenSight,
};
use metatopia_math::{Fx, Vec2};
use metatopia_protocol::{Answer, Goodbye, Question, ServerMessage, SubmitRefusal, Watching};
use metatopia_types::wire::DecodeError;
use metatopia_types::{Act, ActId, Blob, Emote, Height, Lane, Look, Outcome, PublicKey, Seq};

use super::place_setting::ReplicaSetting;
use crate::chance::{Dice, Span};

/// A proof of outcomes is asked for so long after somebody was told of them.
const PROOF_PAUSE: Duration = Duration::from_millis(150);

/// After that it is too late: outcomes stay in the state for 64 turns, and a server that started anew
/// knows only those that it applied itself.
const PROOF_PATIENCE: Duration = Duration::from_secs(4);

/// Pushes and touches are tried within this distance of centres, in metres.
const GRASP: i32 = 2;

/// How far they look, in metres, and at how many things.
const SIGHT: i32 = 24;
const OBJECTS_MAX: usize = 128;

const WORDS: &[&str] = &["hello", "help", "time", "what a day", "hi there", "push it!"];

const EMOTES: &[Emote] = &[Emote::Wave, Emote::Nod, Emote::Dance, Emote::Bow];

fn watching() -> Watching {
    let (turns_apart, proofs, at, have) = (1, true, None, Vec::new());
    Watching { bytes_per_second: 100_000, turns_apart, proofs, at, have }
}

/// What somebody is like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PersonProfile {
    /// How long from one act to the next.
    pub pace: Span,
    /// Nothing new is done from this moment of the world on.
    pub until: Duration,
    /// Outcomes that were told are proved as well.
    pub proves: bool,
    /// Wants to see.
    pub watches: bool,
}

impl PersonProfile {
    /// Six acts a second until a moment, each outcome proved.
    #[must_use]
    pub const fn lively(until: Duration) -> Self {
        Self { pace: Span::ms(100, 230), until, proves: true, watches: true }
    }
}

/// What became of an act, as its author knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ActStatus {
    /// Nothing is known.
    Waiting,
    /// It is in a decided turn; that was checked.
    Receipted {
        /// The height of the turn.
        height: Height,
        /// At this place.
        index: u32,
        /// Since when it is known.
        at: Duration,
    },
    /// A server would not take it.
    Refused(SubmitRefusal),
}

/// An act of a person.
#[derive(Debug, Clone)]
pub struct PersonAct {
    /// Its place in the lane.
    pub seq: Seq,
    /// The act that was signed.
    pub act: Act,
    /// When it was signed.
    pub since: Duration,
    /// What became of it.
    pub fate: ActStatus,
    /// Receipts that were told of.
    pub receipts: u32,
    /// The outcome that a server told.
    pub told: Option<Outcome>,
    /// The outcome that a root proves.
    pub proved: Option<Outcome>,
}

/// What a person wants done.
#[derive(Debug)]
pub(crate) enum PersonRequest {
    /// A frame for the server.
    Send(Vec<u8>),
    /// Goes to another server.
    Leave,
}

/// Somebody who visits.
#[derive(Debug)]
pub struct Person {
    /// What they are called.
    pub name: String,
    /// Who they are.
    pub key: PublicKey,
    /// What they do.
    pub manner: PersonProfile,
    /// Every act, by id.
    pub deeds: BTreeMap<ActId, PersonAct>,
    /// What they want to do and have not signed yet.
    unsigned: BTreeMap<Seq, Act>,
    /// What they saw when they last did something.
    pub scene: Option<Scene>,
    /// Has that changed since?
    looks: bool,
    /// Turns for which all that they saw was proved.
    pub proved: BTreeSet<Height>,
    /// Why something that they saw was not proved.
    pub unproved_views: Vec<UnprovenSight>,
    /// What they heard.
    pub heard: Vec<String>,
    /// Why servers were left as liars.
    pub distrust: Vec<Distrust>,
    /// Frames that were none.
    pub bad_frames: u64,
    /// Why the session ended for good.
    pub ended: Option<Goodbye>,
    /// Answers to their own questions.
    pub answers: Vec<Answer>,
    /// The seat they are at, or try next.
    pub(crate) node: usize,
    /// The seat they like best.
    home: Option<usize>,
    session: Session,
    dice: Dice,
    arrived: bool,
    /// Acts that a server refused as old: was one of them decided before? And how many more servers
    /// are asked.
    checks: BTreeMap<ActId, (SubmitRefusal, usize)>,
    /// Those that are asked about once more when something is done next.
    later: Vec<ActId>,
    /// Servers that are asked besides the first: those of a sim that keeps little of its past need
    /// not know.
    doubts: usize,
    asked: BTreeMap<u32, Inquiry>,
    /// Heights whose outcomes are to be proved, from a moment on.
    unproved: BTreeMap<Height, Duration>,
    proving: BTreeSet<Height>,
    wants: Vec<PersonRequest>,
    /// The moment of the errand that was planned last.
    pub(crate) armed: Option<Duration>,
}

/// Why something is asked.
#[derive(Debug)]
enum Inquiry {
    Check(ActId),
    Proof(Height),
    Own,
}

impl Person {
    /// The player with this number, who begins at the server in `node`.
    #[must_use]
    pub fn new(setting: &ReplicaSetting, number: u64, node: usize, manner: PersonProfile) -> Self {
        Self::with_lane(setting, number, node, manner, 1)
    }

    /// The same in another session: the same key in another lane.
    #[must_use]
    pub fn with_lane(
        setting: &ReplicaSetting,
        number: u64,
        node: usize,
        manner: PersonProfile,
        lane: u64,
    ) -> Self {
        let key = setting.player(number);
        let concern = format!("person {number} {lane}");
        Self {
            name: format!("player {number}"),
            key: key.public(),
            manner,
            deeds: BTreeMap::new(),
            unsigned: BTreeMap::new(),
            scene: None,
            looks: false,
            proved: BTreeSet::new(),
            unproved_views: Vec::new(),
            heard: Vec::new(),
            distrust: Vec::new(),
            bad_frames: 0,
            ended: None,
            answers: Vec::new(),
            node,
            home: None,
            session: Session::new(key, setting.light(), Lane(lane)),
            dice: Dice::new(setting.own.seed, &concern),
            arrived: false,
            checks: BTreeMap::new(),
            later: Vec::new(),
            doubts: if setting.is_forgetful() { setting.founders } else { 0 },
            asked: BTreeMap::new(),
            unproved: BTreeMap::new(),
            proving: BTreeSet::new(),
            wants: Vec::new(),
            armed: None,
        }
    }

    /// The same, who goes to the server in `seat` whenever it runs.
    #[must_use]
    pub fn at_home(self, seat: usize) -> Self {
        Self { home: Some(seat), ..self }
    }

    /// Returns the server that they go to first, if any, unless they doubt what they were told there.
    pub(crate) fn home(&self) -> Option<usize> {
        self.home.filter(|_| self.checks.is_empty())
    }

    /// Returns what they believe.
    #[must_use]
    pub const fn light(&self) -> &LightClient {
        self.session.light()
    }

    /// Returns whether the session is open.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        self.session.is_open()
    }

    /// Returns whether nothing waits for an answer any more.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        let done = self.session.pending() == 0 && self.checks.is_empty();
        done && (self.unproved.is_empty() || !self.manner.proves)
    }

    /// Acts with a receipt.
    pub fn receipted(&self) -> impl Iterator<Item = (&ActId, &PersonAct)> {
        let receipted = |deed: &PersonAct| matches!(deed.fate, ActStatus::Receipted { .. });
        self.deeds.iter().filter(move |(_, deed)| receipted(deed))
    }

    /// Acts that were refused, with the reasons.
    pub fn refused(&self) -> impl Iterator<Item = (&PersonAct, SubmitRefusal)> {
        self.deeds.values().filter_map(|deed| match deed.fate {
            ActStatus::Refused(why) => Some((deed, why)),
            ActStatus::Waiting | ActStatus::Receipted { .. } => None,
        })
    }

    /// Returns how long acts waited for their receipts.
    pub fn waits(&self) -> impl Iterator<Item = Duration> + '_ {
        self.deeds.values().filter_map(|deed| match deed.fate {
            ActStatus::Receipted { at, .. } => Some(at.saturating_sub(deed.since)),
            ActStatus::Waiting | ActStatus::Refused(_) => None,
        })
    }

    /// Does something; gives its place in the lane. Gives nothing before the session was open for the
    /// first time.
    pub fn act(&mut self, now: Duration, act: Act, words: Option<&str>) -> Option<Seq> {
        let blobs = words.map(|words| Blob(words.as_bytes().to_vec()));
        self.act_with(now, act, blobs.into_iter().collect())
    }

    /// Notes that an act of theirs is signed.
    fn signed(&mut self, now: Duration, seq: Seq, id: ActId) {
        let act = self.unsigned.remove(&seq).expect("only what was wanted is signed, and once");
        let deed = PersonAct {
            seq,
            act,
            since: now,
            fate: ActStatus::Waiting,
            receipts: 0,
            told: None,
            proved: None,
        };
        self.deeds.insert(id, deed);
    }

    /// Returns what became of the act at this place of the lane.
    #[must_use]
    pub fn fate(&self, seq: Seq) -> ActStatus {
        let deed = self.deeds.values().find(|deed| deed.seq == seq);
        deed.map_or(ActStatus::Waiting, |deed| deed.fate)
    }

    /// Asks a question; the answer comes into [`Person::answers`].
    pub fn ask(&mut self, now: Duration, question: Question) {
        if let Some(id) = self.session.ask(question) {
            self.asked.insert(id, Inquiry::Own);
        }
        self.flush(now);
    }

    pub(crate) fn take_wants(&mut self) -> Vec<PersonRequest> {
        std::mem::take(&mut self.wants)
    }

    /// Returns when the session wants to be woken.
    pub(crate) fn deadline(&self) -> Option<Duration> {
        self.session.deadline()
    }

    pub(crate) fn tick(&mut self, now: Duration) {
        self.session.tick(now);
        self.flush(now);
    }

    pub(crate) fn hear(&mut self, now: Duration, said: Result<ServerMessage, DecodeError>) {
        self.session.hear(now, said);
        self.flush(now);
    }

    /// Tries the next server, because the line is cut.
    pub(crate) fn broke(&mut self, seats: usize) {
        self.session.disconnected();
        self.asked.clear();
        self.proving.clear();
        self.node = (self.node + 1) % seats;
    }

    /// Does something, and says when to be asked again.
    pub(crate) fn whim(&mut self, now: Duration) -> Option<Duration> {
        if self.ended.is_some() {
            return None;
        }
        self.prove(now);
        let later = std::mem::take(&mut self.later);
        later.into_iter().for_each(|act| self.check(act));
        if std::mem::take(&mut self.looks) {
            let radius = Fx::from_int(SIGHT);
            self.scene = Some(self.session.sight().scene(Vec2::ZERO, radius, OBJECTS_MAX));
        }
        if now < self.manner.until && self.arrived {
            let (act, words) = self.choose();
            self.act(now, act, words);
        }
        self.flush(now);
        Some(now + self.dice.within(self.manner.pace))
    }

    fn choose(&mut self) -> (Act, Option<&'static str>) {
        let place = self.place();
        match self.dice.below(12) {
            0..=2 => (self.walk_to_something(place), None),
            3..=4 => {
                let mut part = || Fx::from_ratio(self.dice.below(201) as i64 - 100, 100);
                let heading = Vec2::new(part(), part());
                (Act::Walk { heading }, None)
            }
            5..=7 => match self.nearest(place, |object| object.movable) {
                Some(crate_near) => (Act::Push { object: crate_near }, None),
                None => (Act::Heartbeat, None),
            },
            8 => match self.nearest(place, |object| !object.scripts.is_empty()) {
                Some(object) => (Act::Touch { object }, None),
                None => (Act::Heartbeat, None),
            },
            9..=10 => {
                let words = self.dice.pick(WORDS);
                let body = Blob(words.as_bytes().to_vec()).id();
                (Act::Say { channel: 0, body }, Some(words))
            }
            _ => (Act::Emote(self.dice.pick(EMOTES)), None),
        }
    }

    fn place(&self) -> Option<Vec2> {
        let scene = self.scene.as_ref()?;
        let me = scene.objects.iter().find(|o| Some(o.id) == scene.me)?;
        Some(me.position)
    }

    fn nearest(
        &self,
        place: Option<Vec2>,
        is: impl Fn(&SceneObject) -> bool,
    ) -> Option<metatopia_types::ObjectId> {
        let (scene, place) = (self.scene.as_ref()?, place?);
        let near = |o: &&SceneObject| o.position.distance(place) <= Fx::from_int(GRASP);
        let found = scene.objects.iter().find(|o| is(o) && near(o))?;
        Some(found.id)
    }

    fn walk_to_something(&self, place: Option<Vec2>) -> Act {
        let scene = self.scene.as_ref();
        let goal = scene.and_then(|scene| scene.objects.iter().find(|o| o.movable));
        let heading = match (goal, place) {
            (Some(goal), Some(place)) => goal.position.saturating_sub(place),
            _ => Vec2::ZERO,
        };
        Act::Walk { heading }
    }

    /// Asks for proofs of what was told some time ago.
    fn prove(&mut self, now: Duration) {
        if !self.manner.proves {
            return;
        }
        self.unproved.retain(|_, from| now < *from + PROOF_PATIENCE);
        let due = self.unproved.iter().filter(|(_, from)| **from <= now);
        let due: Vec<Height> = due.map(|(height, _)| *height).collect();
        for height in due {
            if self.proving.contains(&height) {
                continue;
            }
            if let Some(id) = self.session.ask(Question::Outcomes { height }) {
                self.asked.insert(id, Inquiry::Proof(height));
                self.proving.insert(height);
            }
        }
    }

    fn flush(&mut self, now: Duration) {
        while let Some(output) = self.session.poll() {
            match output {
                Output::Send(frame) => self.wants.push(PersonRequest::Send(frame)),
                Output::Event(event) => self.event(now, event),
            }
        }
    }

    fn event(&mut self, now: Duration, event: SessionEvent) {
        match event {
            SessionEvent::Open { .. } => self.open(now),
            SessionEvent::Closed(Goodbye::Full | Goodbye::TooSlow | Goodbye::Stopping) => {
                self.wants.push(PersonRequest::Leave);
            }
            SessionEvent::Closed(why) => self.ended = Some(why),
            SessionEvent::Signed { seq, act } => self.signed(now, seq, act),
            SessionEvent::Receipted { act, height, index } => {
                self.receipted_act(now, act, height, index)
            }
            SessionEvent::Refused { act, why } => match why {
                // It may be in a turn whose receipt got lost with a connection.
                SubmitRefusal::Replayed(_) | SubmitRefusal::Expired { .. } => {
                    self.checks.insert(act, (why, self.doubts));
                    self.check(act);
                }
                _ => self.refuse(act, why),
            },
            SessionEvent::Outcome { act, height, outcome } => {
                if let Some(deed) = self.deeds.get_mut(&act) {
                    deed.told = Some(outcome);
                    self.unproved.entry(height).or_insert(now + PROOF_PAUSE);
                }
            }
            // Looked at when they next do something.
            SessionEvent::View { .. } => self.looks = true,
            SessionEvent::Proven(proven) => {
                if self.session.proven().is_ok() {
                    self.proved.insert(proven.of);
                }
            }
            SessionEvent::Unproven(why) => self.unproved_views.push(why),
            SessionEvent::Pong { .. }
            | SessionEvent::Servers
            | SessionEvent::Frame { .. }
            | SessionEvent::Form(_)
            | SessionEvent::Sound(_)
            | SessionEvent::Told(_)
            | SessionEvent::Forgotten(_) => {}
            SessionEvent::Heard(line) | SessionEvent::HeardEarlier(line) => {
                self.heard.push(format!("{}: {}", line.name, line.text));
            }
            SessionEvent::Answer { id, answer } => self.answered(now, id, *answer),
            SessionEvent::Distrusted(why) => self.leave_liar(why),
            SessionEvent::BadFrame(_) => {
                self.bad_frames += 1;
                self.wants.push(PersonRequest::Leave);
            }
        }
    }

    fn open(&mut self, now: Duration) {
        if !self.arrived {
            self.arrived = true;
            self.session.view(self.manner.watches.then(watching));
            let (name, look) = (self.name.clone(), Look::default());
            self.act(now, Act::login(name, look), None);
        }
        let unsure: Vec<ActId> = self.checks.keys().copied().collect();
        unsure.into_iter().for_each(|act| self.check(act));
    }

    fn leave_liar(&mut self, why: Distrust) {
        self.distrust.push(why);
        self.wants.push(PersonRequest::Leave);
    }

    fn receipted_act(&mut self, now: Duration, act: ActId, height: Height, index: u32) {
        if let Some(deed) = self.deeds.get_mut(&act) {
            deed.receipts += 1;
            deed.fate = ActStatus::Receipted { height, index, at: now };
        }
    }

    /// Asks whether an act was decided; again on the next connection, if this one breaks.
    fn check(&mut self, act: ActId) {
        let Some(seq) = self.deeds.get(&act).map(|deed| deed.seq) else {
            return;
        };
        let (author, lane) = (self.key, self.session.lane());
        let question = Question::Receipt { author, lane, seq };
        if let Some(id) = self.session.ask(question) {
            self.asked.insert(id, Inquiry::Check(act));
        }
    }

    fn answered(&mut self, now: Duration, id: u32, answer: Answer) {
        match self.asked.remove(&id) {
            Some(Inquiry::Check(act)) => self.checked(now, act, answer),
            Some(Inquiry::Proof(height)) => self.proof(height, answer),
            Some(Inquiry::Own) => self.answers.push(answer),
            None => {}
        }
    }

    fn checked(&mut self, now: Duration, act: ActId, answer: Answer) {
        let Some((why, others)) = self.checks.remove(&act) else {
            return;
        };
        let found = match answer {
            Answer::Receipt(found) if found.act.id() == act => found,
            _ if others > 0 => {
                self.checks.insert(act, (why, others - 1));
                return self.wants.push(PersonRequest::Leave);
            }
            _ => return self.refuse(act, why),
        };
        match self.session.light().receipt(&found.act, &found.receipt) {
            Ok(()) => {
                let (height, index) = (found.receipt.header.height, found.receipt.place.index);
                self.receipted_act(now, act, height, index);
                if let (Some(outcome), Some(deed)) = (found.outcome, self.deeds.get_mut(&act)) {
                    deed.told = Some(outcome);
                }
            }
            // The session has to follow a change of the validators first, as with proofs.
            Err(Distrust::OtherValidators(_)) => {
                self.checks.insert(act, (why, others));
                self.later.push(act);
            }
            Err(_) => self.refuse(act, why),
        }
    }

    fn refuse(&mut self, act: ActId, why: SubmitRefusal) {
        if let Some(deed) = self.deeds.get_mut(&act) {
            deed.fate = ActStatus::Refused(why);
        }
    }

    fn proof(&mut self, height: Height, answer: Answer) {
        self.proving.remove(&height);
        let Answer::Outcomes(answer) = answer else {
            // Not yet, or not any more; a server that died may have known.
            return;
        };
        let (proof, header, certificate) = *answer;
        let light = self.session.light();
        match light.outcomes(height, &proof, &header, &certificate) {
            Ok(outcomes) => {
                self.unproved.remove(&height);
                for (act, outcome) in outcomes {
                    if let Some(deed) = self.deeds.get_mut(&act) {
                        deed.proved = Some(outcome);
                    }
                }
            }
            // The session follows the change with the next receipt.
            Err(Distrust::OtherValidators(_)) => {}
            Err(why) => self.leave_liar(why),
        }
    }
}
