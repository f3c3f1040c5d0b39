//! One client of one sim for the page: session, proofs, sight, building and prediction behind JSON.
//!
//! The page brings frames and clocks, and draws what the events say. Everything that is checked, signed
//! or remembered happens here, by the same [`Session`] that native clients use. Floats are only at the
//! edge, where metres and radians of JSON become fixed-point numbers and back: nothing that is signed,
//! hashed or compared is a float.

mod badge;
mod border;
mod building;
mod clubs;
mod commands;
mod crossing;
mod deeds;
mod departed;
mod foresight;
mod friends;
mod gauges;
mod governing;
mod group_file;
mod imported;
mod inquiry;
mod joints;
mod login;
mod lots;
mod outcomes;
mod picture;
mod private;
mod profiles;
mod reports;
mod setup;
mod sketch;
mod sources;
mod status;
mod tar;
pub(crate) mod units;
mod walker;
mod watching;
mod workshop;
mod would;

use std::{collections::VecDeque, sync::Arc, time::Duration};

use metatopia_client::{Correspondence, Output, Session, SessionEvent, mentions, square_of};
use metatopia_protocol::ChatMessage;
use metatopia_sim::Genesis;
use metatopia_types::{Height, Millis, PublicKey, Rotation, Sign, SigningKey, SimId};
use serde::Serialize;
use serde_json::{Value, json};

use self::{
    badge::ProofBadge, building::Undoing, crossing::BorderPassage, deeds::Deeds,
    foresight::Foresight, gauges::LinkGauges, inquiry::Inquiries, joints::JointsTold,
    lots::LotsTold, outcomes::Outcomes, picture::Picture, setup::CoreSetup, status::StatusTeller,
    walker::Walker, watching::PagePulse,
};
use crate::{CallError, TrustedGenesis};

pub use self::setup::CORE_CHECKPOINT_AGAIN;

/// A client of one sim, as the page drives it.
#[derive(Debug)]
pub struct ClientCore {
    session: Session,
    genesis: Arc<Genesis>,
    sim: SimId,
    key: PublicKey,
    ticket: Option<SigningKey>,
    /// Signs what the person says of herself.
    signer: Arc<SigningKey>,
    /// The rotation that led to the key, which this sim has to be shown.
    rotation: Option<Rotation>,
    /// What the person and others tell each other privately.
    correspondence: Correspondence,
    now: Duration,
    wall: Millis,
    out: VecDeque<Vec<u8>>,
    news: Vec<String>,
    /// The page was told to leave this server, and has not done so yet.
    leaving: bool,
    /// The height from which the newest validators vote that the page was told of.
    told_set: Height,
    checkpoint_at: Option<Duration>,
    asked_age: bool,
    deeds: Deeds,
    outcomes: Outcomes,
    undoing: Undoing,
    walker: Walker,
    foresight: Foresight,
    inquiries: Inquiries,
    joints: JointsTold,
    lots: LotsTold,
    picture: Picture,
    badge: ProofBadge,
    gauges: LinkGauges,
    pulse: PagePulse,
    passage: BorderPassage,
    status: StatusTeller,
}

impl ClientCore {
    /// Begins with a genesis; `setup` is JSON: who it is, which sim, what else is known of it.
    ///
    /// # Errors
    /// When the setup is malformed, or the genesis is not the sim's.
    pub fn new(setup: &[u8], genesis: &[u8]) -> Result<Self, CallError> {
        let CoreSetup { key, sim, lane, random, ticket, rotation, at, checkpoint } =
            CoreSetup::read(setup)?;
        let trust = TrustedGenesis::new(sim, genesis)?;
        let light = match checkpoint {
            Some(checkpoint) => trust.light.with_checkpoint(checkpoint),
            None => trust.light,
        };
        let told_set = light.newest();
        let signer = Arc::new(key);
        let public = signer.public();
        let square = square_of(&trust.genesis);
        let correspondence = Correspondence::new(sim, &signer, random);
        let mut core = Self {
            session: Session::new(Arc::<SigningKey>::clone(&signer), light, lane),
            signer,
            genesis: trust.genesis,
            sim,
            key: public,
            ticket,
            rotation,
            correspondence,
            now: Duration::ZERO,
            wall: Millis(0),
            out: VecDeque::new(),
            news: Vec::new(),
            leaving: false,
            told_set,
            checkpoint_at: None,
            asked_age: false,
            deeds: Deeds::default(),
            outcomes: Outcomes::default(),
            undoing: Undoing::default(),
            walker: Walker::default(),
            foresight: Foresight::default(),
            inquiries: Inquiries::default(),
            joints: JointsTold::default(),
            lots: LotsTold::default(),
            picture: Picture::on(square),
            badge: ProofBadge::default(),
            gauges: LinkGauges::default(),
            pulse: PagePulse::new(at),
            passage: BorderPassage::default(),
            status: StatusTeller::default(),
        };
        let facts = setup::genesis_event(&core.genesis);
        core.tell(&facts);
        core.session.view(Some(core.pulse.watching()));
        core.session.follow_servers(Duration::ZERO);
        Ok(core)
    }

    /// Begins a session over a carrier that is there now. The challenge of a server follows.
    pub fn connected(&mut self, now: f64, wall: f64) {
        self.clock(now, wall);
        self.leaving = false;
        self.gauges.connected(self.now);
        self.settle();
    }

    /// Notes that the carrier is gone. Acts and questions stay for the next one.
    pub fn disconnected(&mut self, now: f64, wall: f64) {
        self.clock(now, wall);
        self.session.disconnected();
        self.out.clear();
        self.leaving = false;
        self.gauges.disconnected();
        self.outcomes.disconnected();
        self.settle();
    }

    /// Takes a frame of the server in.
    pub fn frame(&mut self, now: f64, wall: f64, frame: &[u8]) {
        self.clock(now, wall);
        self.gauges.heard(self.now, frame.len());
        self.session.handle(self.now, frame);
        self.pass();
    }

    /// Moves the clock on, and does what is due.
    pub fn tick(&mut self, now: f64, wall: f64) {
        self.clock(now, wall);
        self.pass();
    }

    /// Takes a command of the page in, as JSON.
    ///
    /// # Errors
    /// When it is no JSON object with an `id`; other faults of it become events.
    pub fn command(&mut self, now: f64, wall: f64, command: &[u8]) -> Result<(), CallError> {
        self.clock(now, wall);
        let command = serde_json::from_slice(command).map_err(CallError::input)?;
        self.obey(command)?;
        self.pass();
        Ok(())
    }

    /// Takes the next frame for the server.
    pub fn outgoing(&mut self) -> Option<Vec<u8>> {
        self.out.pop_front()
    }

    /// Takes all events since the last call, as a JSON array.
    pub fn events(&mut self) -> Vec<u8> {
        let news = std::mem::take(&mut self.news);
        format!("[{}]", news.join(",")).into_bytes()
    }

    /// Returns the session, with what it believes and sees, for tests.
    #[must_use]
    pub const fn session(&self) -> &Session {
        &self.session
    }

    fn clock(&mut self, now: f64, wall: f64) {
        // A clock that goes back, or is none, stands still.
        let now = Duration::try_from_secs_f64(now / 1_000.0).unwrap_or_default();
        self.now = self.now.max(now);
        if wall.is_finite() && wall > 0.0 {
            self.wall = Millis(wall as u64);
            self.session.set_wall(self.wall);
        }
    }

    /// Does all that is due, and hands out what came of it.
    fn pass(&mut self) {
        self.session.tick(self.now);
        self.settle();
        self.watch_line();
        self.tick_walker();
        self.tick_deeds();
        self.tick_outcomes();
        self.tick_inquiries();
        self.settle();
    }

    /// Takes what the session has to say, until that is nothing more.
    fn settle(&mut self) {
        while let Some(output) = self.session.poll() {
            match output {
                Output::Send(frame) => {
                    self.gauges.sent(self.now, frame.len());
                    self.out.push_back(frame);
                }
                Output::Event(event) => self.happened(event),
            }
        }
        self.tell_trust();
        self.tell_badge();
        self.tell_status();
    }

    fn happened(&mut self, event: SessionEvent) {
        match event {
            SessionEvent::Open { .. } => self.opened(),
            SessionEvent::Closed(why) => self.leave(&units::variant(&why)),
            SessionEvent::Signed { seq, act } => self.outcomes.signed(seq, act, &self.session),
            SessionEvent::Receipted { act, .. } => self.outcomes.receipted(act, self.now),
            SessionEvent::Refused { act, why } => self.refused(act, why),
            SessionEvent::Outcome { act, height, outcome } => self.ruled(act, height, outcome),
            SessionEvent::View { .. } => self.viewed(),
            SessionEvent::Proven(proven) => self.proven(&proven),
            SessionEvent::Unproven(why) => self.badge.unproven(&why),
            SessionEvent::Pong { after } => self.gauges.pong(after),
            SessionEvent::Servers => self.tell_servers(),
            SessionEvent::Heard(line) => self.tell_line(&line, false),
            SessionEvent::HeardEarlier(line) => self.tell_line(&line, true),
            SessionEvent::Form(asked) => self.tell(&json!({
                "type": "form", "height": asked.height.0, "object": asked.object.0,
                "name": asked.name, "form": asked.form,
            })),
            SessionEvent::Sound(made) => self.tell(&json!({
                "type": "sound", "object": made.object.0, "name": made.name,
                "sound": made.sound.name(), "pitch": made.pitch,
            })),
            SessionEvent::Told(told) => self.tell_private_words(&told, false),
            SessionEvent::Forgotten(words) => self.tell(&json!({
                "type": "forgotten", "height": words.height.0, "body": words.body.to_string(),
                "by": words.by.map(|key| key.to_string()),
            })),
            SessionEvent::Answer { id, answer } => self.answered(id, *answer),
            SessionEvent::Frame { id, kind, frame } => self.raw_answered(id, kind, &frame),
            SessionEvent::Distrusted(why) => self.distrusted(&why),
            SessionEvent::BadFrame(_) => self.leave("bad-frame"),
        }
    }

    /// Tells the page of what is heard, or was said before one came.
    fn tell_line(&mut self, line: &ChatMessage, is_earlier: bool) {
        let person = self.deeds.person.as_ref().filter(|_| line.by != Some(self.key));
        let is_named = person.is_some_and(|person| mentions(&line.text, &person.name));
        let club = line.club.as_ref().map(|club| club.name.as_str());
        self.tell(&json!({
            "type": "heard", "height": line.height.0,
            "channel": club.map_or(line.channel, |_| private::IN_CLUB), "club": club,
            "speaker": line.speaker.0, "name": line.name, "text": line.text,
            // By this the words are forgotten.
            "body": line.body().to_string(),
            "by": line.by.map(|key| key.to_string()), "earlier": is_earlier,
            // Does it name the person?
            "named": is_named,
            // No question gives a proof of the leaf that holds what was said.
            "proven": null,
        }));
    }

    /// Has the page leave this server.
    fn leave(&mut self, why: &str) {
        if !self.leaving {
            self.leaving = true;
            self.tell(&json!({ "type": "leave", "why": why }));
        }
    }

    fn tell(&mut self, event: &impl Serialize) {
        let text = serde_json::to_string(event).expect("structs of texts and numbers become JSON");
        self.news.push(text);
    }

    fn done(&mut self, id: u64, result: &Value) {
        self.tell(&json!({ "type": "done", "id": id, "result": result }));
    }

    fn failed(&mut self, id: u64, code: &str, detail: &Value) {
        self.tell(&json!({ "type": "failed", "id": id, "code": code, "detail": detail }));
    }
}
