//! What a person does: acting takes the avatar over from another tab of the same person, and a sign of
//! life keeps it in the world.

use std::{collections::VecDeque, time::Duration};

use metatopia_client::PENDING_MAX;
use metatopia_math::Vec2;
use metatopia_types::{Act, Blob, Look, PackageId, Seq, limits::CHAT_BYTES_MAX};
use serde_json::{Value, json};

use super::{
    ClientCore,
    login::LoginAttempt,
    outcomes::{ActEnd, ActFailure, SettledAct},
    walker::HeadingDue,
};

/// A sign of life is due this long after the last act; the servers wait for ten seconds.
const HEARTBEAT: Duration = Duration::from_secs(4);

/// What has to be done when it is known what came of an act.
#[derive(Debug)]
pub(super) enum DeedKind {
    /// A command waits for the result.
    Plain(u64),
    /// Commands to walk wait for it.
    Walk(Vec2, Vec<u64>),
    /// Something built was taken back.
    Undo(u64),
    /// A command waits for the result, and for the name of what was published.
    Publish(u64, PackageId),
    /// A sign of life.
    Heartbeat,
    /// The person leaves.
    Leave(u64),
    /// The person comes, by a login or over a border.
    Login,
}

/// Something that a person does.
#[derive(Debug)]
pub(super) struct Deed {
    pub(super) kind: DeedKind,
    pub(super) act: Act,
    pub(super) blobs: Vec<Blob>,
    /// What came of it before the avatar was taken back.
    first: Option<SettledAct>,
}

impl Deed {
    pub(super) const fn new(kind: DeedKind, act: Act) -> Self {
        Self { kind, act, blobs: Vec::new(), first: None }
    }

    /// Returns something that a command waits for, with what its act names.
    pub(super) fn of(command: u64, (act, blobs): (Act, Vec<Blob>)) -> Self {
        Self { kind: DeedKind::Plain(command), act, blobs, first: None }
    }
}

/// Who is in the world from this tab.
#[derive(Clone, Debug)]
pub(super) struct CorePerson {
    pub(super) name: String,
    pub(super) look: Look,
}

/// What a person is about.
#[derive(Debug, Default)]
pub(super) struct Deeds {
    pub(super) person: Option<CorePerson>,
    /// Whether this tab has the avatar.
    pub(super) is_here: bool,
    life_at: Duration,
    /// Logins and announcements under way, one after the other.
    pub(super) logins: VecDeque<LoginAttempt>,
    /// What waits until this tab has the avatar again.
    waiting: VecDeque<Deed>,
    pub(super) works: u64,
}

impl Deeds {
    pub(super) const fn here(&self) -> bool {
        self.is_here
    }

    /// Returns whether an act waits for the avatar.
    pub(super) fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Notes an act, which is a sign of life.
    pub(super) const fn lives(&mut self, now: Duration) {
        self.life_at = now;
    }
}

/// Returns whether another tab took the avatar, or it left while this tab slept.
fn is_away(result: &SettledAct) -> bool {
    matches!(result.refusal.as_deref(), Some("OtherSession" | "NotLoggedIn"))
}

impl ClientCore {
    /// Does something; takes the avatar back first if another tab has it.
    pub(super) fn act(&mut self, deed: Deed) {
        if self.picture.is_own_departed() {
            // Under way to a neighbour nobody acts here: a login would call the avatar back.
            self.finish(None, deed, Err(ActFailure::new("UnderWay")));
        } else if self.deeds.person.is_some() && !self.deeds.is_here {
            self.wait_for_avatar(deed);
        } else {
            self.submit_deed(deed);
        }
    }

    fn submit_deed(&mut self, deed: Deed) {
        let walk = match &deed.kind {
            DeedKind::Walk(heading, _) => Some(*heading),
            _ => None,
        };
        let seq = self.submit(deed);
        if let Some((heading, seq)) = walk.zip(seq) {
            self.foresight.note(seq, heading, self.now);
        }
    }

    fn wait_for_avatar(&mut self, deed: Deed) {
        if self.deeds.waiting.len() >= PENDING_MAX {
            return self.finish(None, deed, Err(ActFailure::new("TooManyPending")));
        }
        self.deeds.waiting.push_back(deed);
        self.come_back();
    }

    pub(super) fn come_back(&mut self) {
        if let Some(CorePerson { name, look }) = self.deeds.person.clone()
            && self.deeds.logins.is_empty()
        {
            self.login(None, name, look);
        }
    }

    /// Goes on with what waited for the avatar, because no login is under way any more. `came` says what came
    /// of the last one.
    pub(super) fn go_on(&mut self, came: &ActEnd) {
        for mut deed in std::mem::take(&mut self.deeds.waiting) {
            match (came, deed.first.take()) {
                (Err(why), _) => self.finish(None, deed, Err(why.clone())),
                (Ok(result), Some(first)) if !result.ok => self.finish(None, deed, Ok(first)),
                (Ok(_), first) => {
                    // It is not tried a third time.
                    deed.first = first;
                    self.submit_deed(deed);
                }
            }
        }
    }

    /// Notes what came of an act.
    pub(super) fn ended(&mut self, seq: Option<Seq>, mut deed: Deed, end: ActEnd) {
        if let DeedKind::Login = deed.kind {
            if let (Act::Approach { .. }, Some(seq), Ok(result)) = (&deed.act, seq, &end)
                && result.ok
            {
                self.foresight.admitted(seq, result.height);
            }
            return self.login_ended(end);
        }
        let person = self.deeds.person.is_some() && !self.picture.is_own_departed();
        let away = end.as_ref().is_ok_and(is_away) && person;
        match (&deed.kind, end) {
            (DeedKind::Leave(_), end) => {
                if end.is_ok() {
                    (self.deeds.person, self.deeds.is_here) = (None, false);
                    self.steer(Vec2::ZERO);
                }
                self.finish(seq, deed, end);
            }
            (DeedKind::Heartbeat, Ok(result)) if away => {
                self.deeds.is_here = false;
                let gone = result.refusal.as_deref() == Some("NotLoggedIn");
                // Another tab's avatar is left to it, until somebody acts here.
                if gone && self.pulse.is_active() {
                    self.come_back();
                }
            }
            (_, Ok(result)) if away && deed.first.is_none() => {
                self.deeds.is_here = false;
                deed.first = Some(result);
                self.wait_for_avatar(deed);
            }
            (_, end) => self.finish(seq, deed, end),
        }
    }

    /// Tells whoever waits for it.
    fn finish(&mut self, seq: Option<Seq>, deed: Deed, end: ActEnd) {
        if matches!(deed.act, Act::Lot(_)) {
            self.lots_changed();
        }
        if matches!(deed.act, Act::Build(_)) {
            self.joints_changed();
        }
        match deed.kind {
            DeedKind::Plain(command) | DeedKind::Leave(command) => self.reply(command, end),
            DeedKind::Undo(command) => {
                self.undoing.undone(&end);
                self.reply(command, end);
            }
            DeedKind::Publish(command, package) => match end {
                Ok(result) => {
                    let mut result = json!(result);
                    result["package"] = package.to_string().into();
                    self.done(command, &result);
                }
                end => self.reply(command, end),
            },
            DeedKind::Walk(_, commands) => {
                let height = end.as_ref().ok().filter(|result| result.ok).map(|r| r.height);
                if let Some(seq) = seq {
                    self.foresight.settled(seq, height);
                }
                if end.is_err() {
                    // It may not have been heard: the same heading may be said again.
                    self.walker.forget();
                }
                let result = end.map_or(Value::Null, |result| json!(result));
                commands.into_iter().for_each(|command| self.done(command, &result));
            }
            DeedKind::Heartbeat | DeedKind::Login => {}
        }
    }

    pub(super) fn reply(&mut self, command: u64, end: ActEnd) {
        match end {
            Ok(result) => self.done(command, &json!(result)),
            Err(why) => self.failed(command, &why.code, &why.detail),
        }
    }

    /// Leaves the world.
    pub(super) fn leave_world(&mut self, command: u64) {
        self.submit_deed(Deed::new(DeedKind::Leave(command), Act::Leave));
    }

    /// The person looks otherwise from now on.
    pub(super) fn set_look(&mut self, command: u64, look: Look) {
        if let Some(person) = &mut self.deeds.person {
            person.look = look;
        }
        self.act(Deed::new(DeedKind::Plain(command), Act::SetLook(look)));
    }

    /// Says something for the person.
    pub(super) fn say(&mut self, command: u64, text: &str, channel: u8) {
        if text.len() > CHAT_BYTES_MAX {
            return self.failed(command, "TooLong", &Value::Null);
        }
        self.act(Deed::of(command, metatopia_client::text::say(channel, text)));
    }

    /// Says the heading that is wanted, as soon as another one may be said.
    pub(super) fn tick_walker(&mut self) {
        match self.walker.due(self.now) {
            Some(HeadingDue::Say(heading, commands)) => {
                self.act(Deed::new(DeedKind::Walk(heading, commands), Act::Walk { heading }));
            }
            Some(HeadingDue::Nothing(commands)) => {
                commands.into_iter().for_each(|command| self.done(command, &Value::Null));
            }
            None => {}
        }
    }

    /// Gives a sign of life when it is due.
    pub(super) fn tick_deeds(&mut self) {
        let due = self.now.saturating_sub(self.deeds.life_at) > HEARTBEAT;
        let here = self.deeds.person.is_some() && self.deeds.is_here;
        let here = here && !self.picture.is_own_departed();
        if self.session.is_open() && here && due {
            self.submit_deed(Deed::new(DeedKind::Heartbeat, Act::Heartbeat));
        }
    }
}
