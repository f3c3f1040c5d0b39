//! The state of a text client: what it sees, what it waits for, what was typed.

mod agreeing;
mod seeing;

use std::{
    collections::{BTreeMap, VecDeque},
    mem,
    time::Duration,
};

use metatopia_client::{
    BlockList, BuddyList, Correspondence, PrivateWords, ProvenSight, Scene, UnprovenSight,
    text::{form_lines, printable, sounded},
};
use metatopia_client_driver::{ClientDriver, DriveError, DriverEvent, login};
use metatopia_math::Vec2;
use metatopia_protocol::{FormMessage, SubmitRefusal};
use metatopia_types::{
    Act, ActId, Blob, Digest, Height, ObjectId, Outcome, PublicKey, Refusal, Sound,
};
use tokio::{
    sync::mpsc::error::TryRecvError,
    time::{Instant, timeout, timeout_at},
};

use crate::{
    LineKind, MapFreshness, ScriptDesk, TextClientError, TextOutput, TypedLines, WorldDesk,
    charter,
    crossing::{BorderWalk, CrossedBorder, LastSeen, Passage, WayOver, name_of},
    forms,
    heard::{self, HeardLines},
    private, rules, words,
};

/// An act that is not decided after this long is left to itself; it is still sent again.
const DECIDED: Duration = Duration::from_secs(20);

/// A node that applied a turn says what became of its acts at once; if not, the proof is asked for.
const TOLD: Duration = Duration::from_secs(2);

/// Time for a scene to come after something happened.
const SCENE: Duration = Duration::from_secs(3);

/// Time for the proof of a scene to come: the header that states its root is two turns later.
const PROOF: Duration = Duration::from_secs(2);

/// What became of an act.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ActProgress {
    /// Nothing is known yet.
    Waiting,
    /// It is in a turn.
    Placed { height: Height, index: u32 },
    /// It was applied.
    Done(Outcome),
    /// The node did not take it.
    Refused(SubmitRefusal),
}

/// A text client under way.
pub(super) struct TextClient {
    pub(super) driver: ClientDriver,
    /// What the person and others tell each other privately.
    pub(super) correspondence: Correspondence,
    /// The private words that were told last, by their numbers in the sim.
    pub(super) told: BTreeMap<u64, PrivateWords>,
    /// Those whose words the person does not want to read.
    pub(super) blocks: BlockList,
    /// Those whom the person likes to find.
    pub(super) buddies: BuddyList,
    pub(super) heard: HeardLines,
    pub(super) scene: Option<Scene>,
    proof: Result<ProvenSight, UnprovenSight>,
    /// What a builder calls `it`.
    pub(super) it: Option<ObjectId>,
    /// What a builder does by hand in place of taking back what she did last, if that is taken back by nothing.
    pub(super) by_hand: Option<&'static str>,
    output: Box<dyn TextOutput>,
    pub(super) desk: Box<dyn ScriptDesk>,
    pub(super) world: Box<dyn WorldDesk>,
    /// House rules of another sim that were told, and not yet agreed to.
    offered: Option<Digest>,
    /// Whether an editor has the terminal, so that nothing is told.
    pub(super) is_editing: bool,
    /// The last sound since a line was typed, and what made it.
    pub(super) sounded: Option<(ObjectId, Sound)>,
    /// The forms and offers to which `reply` may reply, the newest last.
    pub(super) asked: Vec<FormMessage>,
    people: Option<BTreeMap<ObjectId, LastSeen>>,
    /// The names of what the person held when last seen.
    hands: Vec<String>,
    /// The sector that the person was last told of; nothing outside.
    sector: Option<String>,
    /// How the session began, in case that it must begin again.
    login: Option<Act>,
    /// Acts whose fate somebody waits for.
    fates: BTreeMap<ActId, ActProgress>,
    /// What an act has changed is to be seen in scenes of this height and later.
    pub(super) changed: Height,
    lines: TypedLines,
    /// A line that was read and not yet carried out.
    typed: Option<String>,
    input_over: bool,
    last_act: Instant,
    /// What happened and was not yet looked at.
    unread: VecDeque<DriverEvent>,
    /// The borders of the sim, and the neighbour that is near.
    crossing: BorderWalk,
}

impl TextClient {
    pub(super) fn new(
        (driver, correspondence): (ClientDriver, Correspondence),
        (output, desk, world): (Box<dyn TextOutput>, Box<dyn ScriptDesk>, Box<dyn WorldDesk>),
        lines: TypedLines,
    ) -> Self {
        Self {
            driver,
            correspondence,
            told: BTreeMap::new(),
            blocks: world.blocked(),
            buddies: world.buddies(),
            heard: HeardLines::default(),
            scene: None,
            proof: Err(UnprovenSight::NoneYet),
            it: None,
            by_hand: None,
            output,
            desk,
            world,
            offered: None,
            is_editing: false,
            sounded: None,
            asked: Vec::new(),
            people: None,
            hands: Vec::new(),
            sector: None,
            login: None,
            fates: BTreeMap::new(),
            changed: Height(0),
            lines,
            typed: None,
            input_over: false,
            last_act: Instant::now(),
            unread: VecDeque::new(),
            crossing: BorderWalk::default(),
        }
    }

    /// Looks after the border that is near. Returns how the avatar has come into another sim, if it has: from then on
    /// this is the room of that sim.
    pub(super) async fn attend_border(&mut self) -> Result<Option<WayOver>, TextClientError> {
        let (crossing, watching) = (&mut self.crossing, crate::watching());
        let has_agreed = |rules| self.world.has_agreed(rules);
        let own = self.scene.as_ref();
        match crossing.attend(&mut self.driver, own, &watching, has_agreed).await {
            Passage::None => {
                self.say_what_stays()?;
                if let Some((there, introduction)) = self.crossing.unread_rules() {
                    rules::offer(self, &there, &introduction)?;
                }
                if let Some((there, why)) = self.crossing.turned_back() {
                    let said = format!("{there} did not take you in: {why}. You are back.");
                    self.tell(LineKind::Seen, &said)?;
                }
                Ok(None)
            }
            Passage::Arrived(crossed) => {
                let way = crossed.way;
                self.arrive(*crossed)?;
                crate::arrived(self).await?;
                Ok(Some(way))
            }
        }
    }

    /// Says what of the things in hand does not come along over the border that is near, and why.
    fn say_what_stays(&mut self) -> Result<(), TextClientError> {
        for (id, why) in self.crossing.stays() {
            let thing =
                self.scene.as_ref().and_then(|scene| scene.objects.iter().find(|it| it.id == id));
            let name = thing.map_or_else(|| id.to_string(), |thing| printable(&thing.name));
            self.tell(LineKind::Seen, &format!("{name} does not go over the border: {why}."))?;
        }
        Ok(())
    }

    /// Goes on in the sim that the avatar has come into.
    fn arrive(&mut self, crossed: CrossedBorder) -> Result<(), TextClientError> {
        let CrossedBorder { driver, scene, way } = crossed;
        // The sim before hears nothing more; its session closes behind.
        tokio::spawn(self.settle(driver).leave());
        self.forget_pass();
        let name = name_of(&self.driver);
        self.tell(LineKind::Seen, &format!("You walked into {name}."))?;
        let held = mem::take(&mut self.hands);
        self.see(scene)?;
        let at = if way.through_portal { "by the portal" } else { "at the line" };
        for left in words::left_behind(held, &self.hands) {
            self.tell(LineKind::Seen, &format!("{left} did not come along; it lies {at}."))?;
        }
        Ok(())
    }

    /// Makes this the room of another session's sim, and forgets what was of the one before. Returns the
    /// session before.
    pub(super) fn settle(&mut self, driver: ClientDriver) -> ClientDriver {
        let before = mem::replace(&mut self.driver, driver);
        self.proof = Err(UnprovenSight::NoneYet);
        (self.it, self.asked) = (None, Vec::new());
        (self.people, self.sector, self.sounded) = (None, None, None);
        self.told.clear();
        self.correspondence.move_to(self.driver.trust().sim);
        // Words are forgotten where they were said.
        self.heard = HeardLines::default();
        self.scene = None;
        self.changed = Height(0);
        self.fates.clear();
        self.unread.clear();
        self.crossing = BorderWalk::default();
        before
    }

    /// Forgets the pass of the login: in the sim that somebody is in now, the key is known.
    pub(super) fn forget_pass(&mut self) {
        if let Some(Act::Login { pass, .. }) = &mut self.login {
            *pass = None;
        }
    }

    /// Returns a login with the same name and look, for a sim that has not asked for a pass yet.
    pub(super) fn fresh_login(&self) -> Act {
        match &self.login {
            Some(Act::Login { name, look, .. }) => Act::login(name.clone(), *look),
            _ => login(None, &self.driver.author()),
        }
    }

    /// Returns what to tell somebody who has no avatar here.
    pub(super) fn not_here(&self) -> String {
        self.crossing.not_here(self.scene.as_ref())
    }

    /// Says whether a walk to a place beyond the ground ends here, because the line is a wall.
    pub(super) async fn ends_at_wall(&mut self, here: Vec2, goal: Vec2) -> bool {
        self.crossing.ends_at_wall(&mut self.driver, (here, goal)).await
    }

    /// Returns whether the avatar is between two sims.
    pub(super) fn is_under_way(&self) -> bool {
        self.crossing.is_under_way(self.scene.as_ref())
    }

    /// Returns what there is beyond the border that is near, in words.
    pub(super) fn beyond(&self) -> Option<String> {
        self.crossing.beyond()
    }

    /// Returns the portals that one sees from a place, nearest first: their middles, and where they lead.
    pub(super) async fn portals(&mut self, here: Vec2) -> Vec<(Vec2, String)> {
        self.crossing.portals(&mut self.driver, here).await
    }

    /// Returns why nobody goes through the portal with this middle, if that is known.
    pub(super) async fn portal_wall(&mut self, middle: Vec2) -> Option<String> {
        self.crossing.portal_wall(&mut self.driver, middle).await
    }

    /// Returns why the border at this place is a wall, if it is one.
    pub(super) async fn wall(&mut self, here: Vec2) -> Option<String> {
        self.crossing.wall(&mut self.driver, here).await
    }

    pub(super) async fn leave(self) {
        self.driver.leave().await;
    }

    /// The next line that was typed.
    pub(super) fn typed(&mut self) -> Option<String> {
        if self.typed.is_none() {
            match self.lines.lines.try_recv() {
                Ok(line) => self.typed = Some(line),
                Err(TryRecvError::Disconnected) => self.input_over = true,
                Err(TryRecvError::Empty) => {}
            }
        }
        self.typed.take()
    }

    pub(super) fn has_line(&self) -> bool {
        self.typed.is_some()
    }

    pub(super) fn is_input_over(&self) -> bool {
        self.input_over && self.typed.is_none()
    }

    pub(super) const fn last_act(&self) -> Instant {
        self.last_act
    }

    /// Lets what is typed be read again, after an editor had the terminal.
    pub(super) fn read_on(&self) {
        self.lines.go_on();
    }

    /// A line for the person.
    pub(super) fn tell(&self, kind: LineKind, text: &str) -> Result<(), TextClientError> {
        if self.is_editing { Ok(()) } else { Ok(self.output.tell(kind, text)?) }
    }

    /// Tells of somebody who is in the sim.
    pub(super) fn tell_person(&self, text: &str, key: &PublicKey) -> Result<(), TextClientError> {
        if self.is_editing { Ok(()) } else { Ok(self.output.tell_person(text, key)?) }
    }

    /// Tells how far the map can be believed by which the person goes to another sim.
    pub(super) fn tell_map(&self, map: &MapFreshness) -> Result<(), TextClientError> {
        if self.is_editing { Ok(()) } else { Ok(self.output.tell_map(map)?) }
    }

    /// Prints something beside the story.
    pub(super) fn note(&self, text: &str) {
        if !self.is_editing {
            self.output.note(text);
        }
    }

    /// The name by which the person logged in.
    pub(super) fn own_name(&self) -> String {
        match &self.login {
            Some(Act::Login { name, .. }) => name.clone(),
            _ => String::new(),
        }
    }

    /// Waits for news or a line, and keeps it; nothing is lost when this is cancelled.
    pub(super) async fn hear_or_read(&mut self) {
        tokio::select! {
            news = self.driver.news() => self.unread.push_back(news),
            line = self.lines.lines.recv(), if !self.input_over && self.typed.is_none() => match line {
                Some(line) => self.typed = Some(line),
                None => self.input_over = true,
            },
        }
    }

    /// Tells what happened.
    pub(super) fn report(&mut self) -> Result<(), TextClientError> {
        while let Some(news) = self.unread.pop_front() {
            self.note_news(news)?;
        }
        Ok(())
    }

    /// Waits for one piece of news, until `end` at the latest; whether there was one.
    pub(super) async fn hear_until(&mut self, end: Instant) -> Result<bool, TextClientError> {
        self.report()?;
        match timeout_at(end, self.driver.news()).await {
            Ok(news) => self.note_news(news).map(|()| true),
            Err(_) => Ok(false),
        }
    }

    fn note_news(&mut self, news: DriverEvent) -> Result<(), TextClientError> {
        match news {
            DriverEvent::Open { url, .. } => {
                self.note(&format!("connected with {url}"));
                Ok(())
            }
            DriverEvent::Broken { url, why } => {
                self.note(&format!("connection with {url} lost: {why}; trying on"));
                Ok(())
            }
            DriverEvent::Receipted { act, height, index, .. } => {
                self.decide(act, ActProgress::Placed { height, index });
                Ok(())
            }
            DriverEvent::Refused { act, why } => {
                self.decide(act, ActProgress::Refused(why));
                Ok(())
            }
            DriverEvent::Outcome { act, height, outcome } => {
                self.changed = self.changed.max(height);
                self.decide(act, ActProgress::Done(outcome));
                Ok(())
            }
            DriverEvent::Scene(scene) => self.see(*scene),
            DriverEvent::Proof(proof) => {
                self.proof = *proof;
                Ok(())
            }
            DriverEvent::Heard(line) => heard::hear(self, line, false),
            DriverEvent::HeardEarlier(line) => heard::hear(self, line, true),
            DriverEvent::Forgotten(words) => heard::take_back(self, &words),
            DriverEvent::Sound(made) => {
                // A melody is told once, or nothing else would be read.
                let last = self.sounded.replace((made.object, made.sound));
                let is_new = last != Some((made.object, made.sound));
                if is_new { self.tell(LineKind::Heard, &sounded(&made)) } else { Ok(()) }
            }
            DriverEvent::Told(told) => private::show(self, &told, false).map(drop),
            DriverEvent::Form(asked) => {
                let lines = form_lines(&asked);
                forms::note(&mut self.asked, asked);
                lines.iter().try_for_each(|line| self.tell(LineKind::Heard, line))
            }
            DriverEvent::Ended(end) => Err(DriveError::Ended(end).into()),
        }
    }

    fn decide(&mut self, act: ActId, fate: ActProgress) {
        if let Some(known) = self.fates.get_mut(&act)
            && !matches!(known, ActProgress::Done(_))
        {
            *known = fate;
        }
    }

    /// Returns the forms that were shown. Waits for the first one a little: it comes after the outcome of the
    /// act that asked for it, and a line that was piped in does not wait for it as people do.
    pub(super) async fn forms(&mut self) -> Result<&[FormMessage], TextClientError> {
        let end = Instant::now() + TOLD;
        while self.asked.is_empty() && self.hear_until(end).await? {}
        Ok(&self.asked)
    }

    /// Submits an act and does not wait for it.
    pub(super) async fn send(&mut self, act: Act) -> Result<(), TextClientError> {
        self.last_act = Instant::now();
        match self.driver.submit(act, Vec::new()).await {
            // The world stands still, or it would have taken some of them: this one is not missed.
            Ok(_) | Err(DriveError::Submit(_)) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Logs in and enters the room.
    pub(super) async fn enter(&mut self, login: Act) -> Result<ActProgress, TextClientError> {
        self.login = Some(login.clone());
        self.try_once(login, Vec::new()).await
    }

    /// Submits an act and waits until it has taken effect; [`ActProgress::Waiting`] when that takes too
    /// long. An avatar that has left, because nobody was there for a while, comes back first, and one that
    /// another device of the person has is taken back.
    pub(super) async fn perform(
        &mut self,
        act: Act,
        blobs: Vec<Blob>,
    ) -> Result<ActProgress, TextClientError> {
        let fate = self.try_once(act.clone(), blobs.clone()).await?;
        // Whoever logs in again looks as she does now.
        if let (ActProgress::Done(Outcome::Ok), Act::SetLook(now)) = (&fate, &act)
            && let Some(Act::Login { look, .. }) = &mut self.login
        {
            *look = *now;
        }
        let lost = match fate {
            ActProgress::Done(Outcome::Refused(Refusal::NotLoggedIn)) => "the avatar had left",
            // Who leaves here takes nobody out of the sim who goes on elsewhere.
            ActProgress::Done(Outcome::Refused(Refusal::OtherSession)) if act != Act::Leave => {
                "another device with your key had the avatar"
            }
            _ => return Ok(fate),
        };
        match self.login.clone() {
            // Whoever is between two sims has left neither, and arrives soon.
            Some(login) if !self.is_under_way() => {
                self.note(&format!("{lost}; logging in again"));
                match self.try_once(login, Vec::new()).await? {
                    ActProgress::Done(Outcome::Ok) => self.try_once(act, blobs).await,
                    _ => Ok(fate),
                }
            }
            _ => Ok(fate),
        }
    }

    /// Submits an act as [`Self::perform`] does, and calls no avatar back for it.
    pub(super) async fn try_once(
        &mut self,
        act: Act,
        blobs: Vec<Blob>,
    ) -> Result<ActProgress, TextClientError> {
        self.last_act = Instant::now();
        let id = self.driver.submit(act, blobs).await?.act;
        self.fates.insert(id, ActProgress::Waiting);
        let mut end = Instant::now() + DECIDED;
        let fate = loop {
            let more = self.hear_until(end).await?;
            match self.fates.get(&id).copied().unwrap_or(ActProgress::Waiting) {
                fate @ (ActProgress::Done(_) | ActProgress::Refused(_)) => break fate,
                ActProgress::Placed { .. } if more => end = end.min(Instant::now() + TOLD),
                ActProgress::Placed { height, index } => {
                    break self.ask_outcome(id, (height, index)).await?;
                }
                ActProgress::Waiting if !more => break ActProgress::Waiting,
                ActProgress::Waiting => {}
            }
        };
        self.fates.remove(&id);
        Ok(fate)
    }

    /// The node that knew the outcome is gone: another one can prove it.
    async fn ask_outcome(
        &mut self,
        act: ActId,
        place: (Height, u32),
    ) -> Result<ActProgress, TextClientError> {
        match self.driver.prove_outcome(place, act, TOLD).await {
            Ok(outcome) => {
                self.changed = self.changed.max(place.0);
                Ok(ActProgress::Done(outcome))
            }
            Err(error) if charter::may_pass(&error) => {
                Ok(ActProgress::Placed { height: place.0, index: place.1 })
            }
            Err(error) => Err(error.into()),
        }
    }

    /// The next scene; nothing if none comes, or a line interrupts.
    pub(super) async fn next_scene(&mut self) -> Result<Option<Scene>, TextClientError> {
        let before = self.scene.as_ref().map_or(Height(0), |scene| scene.height);
        let waited = timeout(SCENE, async {
            loop {
                self.report()?;
                if self.lines.interactive && self.has_line() {
                    return Ok::<_, TextClientError>(());
                }
                if self.scene.as_ref().is_some_and(|scene| scene.height > before) {
                    return Ok(());
                }
                self.hear_or_read().await;
            }
        });
        if let Ok(failed @ Err(_)) = waited.await {
            failed?;
        }
        let newer = self.scene.as_ref().filter(|scene| scene.height > before).cloned();
        Ok(newer.filter(|_| !self.is_interrupted()))
    }

    /// Returns whether a person typed something that should not wait.
    pub(super) fn is_interrupted(&self) -> bool {
        self.lines.interactive && self.has_line()
    }

    /// The proof of what was in sight at a height, or of what has been since; waits for it.
    pub(super) async fn proof_of(
        &mut self,
        height: Height,
    ) -> Result<Result<ProvenSight, UnprovenSight>, TextClientError> {
        let end = Instant::now() + PROOF;
        loop {
            let of = self.proof.as_ref().map_or(Height(0), |proven| proven.of);
            if of >= height || !self.hear_until(end).await? {
                break;
            }
        }
        Ok(match &self.proof {
            Ok(proven) if proven.of < height => Err(UnprovenSight::Late { of: proven.of, height }),
            proof => proof.clone(),
        })
    }

    /// Returns what is in sight after everything that was done so far.
    pub(super) async fn look_around(&mut self) -> Result<Option<Scene>, TextClientError> {
        let end = Instant::now() + SCENE;
        loop {
            let fresh =
                self.scene.as_ref().is_some_and(|s| s.height >= self.changed && s.me.is_some());
            if fresh || !self.hear_until(end).await? {
                return Ok(self.scene.clone());
            }
        }
    }
}
