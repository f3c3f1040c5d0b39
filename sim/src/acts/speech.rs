//! Speech, gestures and looks.

use metatopia_scripting::Event;
use metatopia_types::{BlobId, Emote, Look, Refusal};

use super::{
    changes::StateChange,
    chat::{EVERYWHERE, NEARBY, SpokenLine, words},
    context::{ActContext, ActResult},
    session::check_look,
};
use crate::{
    limits::{DELIVERIES_PER_AUTHOR_MAX, DELIVERIES_PER_TURN_MAX},
    rules::{ActTarget, Right},
    scripts::Hearers,
};

impl ActContext<'_> {
    /// Decides a line of chat.
    pub(super) fn say(&self, channel: u8, body: BlobId) -> ActResult {
        let (mut player, session) = self.with_session(|_| ())?;
        if channel != NEARBY && channel != EVERYWHERE {
            return Err(Refusal::NoChannel);
        }
        let blob = self.executor.blobs.get(&body).ok_or(Refusal::NoBlob)?;
        let text = words(blob).ok_or(Refusal::BadText)?;
        let speaker = session.presence.avatar_here()?;
        let avatar = self.state.bodies.body(speaker).ok_or(Refusal::NoSeat)?;
        self.check_quiet()?;
        self.check_slow(player.spoke)?;
        player.spoke = Some(self.state.governance.time);
        let line = SpokenLine {
            height: self.state.clock.height,
            tick: self.tick(),
            channel,
            speaker,
            player: Some(self.author()),
            hearer: None,
            club: None,
            name: player.name.clone(),
            place: avatar.position(),
            text: text.to_owned(),
        };
        let event = Event::Chat { from: speaker, text: line.text.clone() };
        let mut changes = vec![StateChange::Player(self.author(), player)];
        changes
            .extend(self.hearers(&line).map(|hearers| StateChange::HeardByScripts(hearers, event)));
        changes.push(StateChange::Chat(line));
        Ok(changes)
    }

    /// Checks that public words are heard now. Those of moderators always are.
    fn check_quiet(&self) -> Result<(), Refusal> {
        let left = self.state.charter.parameters.chat.quiet_for(self.state.clock.time);
        self.check_unless_moderator(left.map(Refusal::QuietHours))
    }

    /// Checks that somebody who spoke last at this governance time is heard now. Moderators always are.
    pub(super) fn check_slow(&self, spoke: Option<u64>) -> Result<(), Refusal> {
        let chat = &self.state.charter.parameters.chat;
        let left = chat.slow_for(spoke, self.state.governance.time);
        self.check_unless_moderator(left.map(Refusal::SlowMode))
    }

    /// Checks that there is no reason not to hear the author, or that the author moderates.
    fn check_unless_moderator(&self, why: Option<Refusal>) -> Result<(), Refusal> {
        let Some(why) = why else { return Ok(()) };
        let moderates = self.state.may(&self.author(), Right::Moderate, &ActTarget::SIM);
        if moderates.is_ok() { Ok(()) } else { Err(why) }
    }

    /// Returns the scripts that hear a line. If the speaker may have nothing more delivered, no script hears
    /// it, and none is looked for.
    fn hearers(&self, line: &SpokenLine) -> Option<Hearers> {
        let left = self.deliveries_left()?;
        let reach = (line.channel == NEARBY).then_some(self.state.charter.parameters.hearing);
        let hearers = Hearers::of(self.state, self.executor.programs, line.place, reach);
        Some(hearers.at_most(left))
    }

    /// Returns to how many scripts the author's words may still be delivered in this turn; nothing if the
    /// author has no gas to pay for them, or the turn has as many deliveries as it may.
    pub(super) fn deliveries_left(&self) -> Option<usize> {
        let (counts, author) = (self.counts, self.author());
        let own = counts.deliveries_by.get(&author).copied().unwrap_or(0);
        let income = self.state.owner_income();
        let purse = self.state.owners.get(&Some(author));
        let is_poor = purse.is_some_and(|purse| purse.level(self.tick(), income) <= 0);
        let all_left = DELIVERIES_PER_TURN_MAX.saturating_sub(counts.deliveries);
        let left = all_left.min(DELIVERIES_PER_AUTHOR_MAX.saturating_sub(own));
        (left > 0 && !is_poor).then_some(left)
    }

    /// Decides a gesture.
    pub(super) fn emote(&self, emote: Emote) -> ActResult {
        let tick = self.tick();
        let (player, session) =
            self.with_session(|session| session.gesture = Some((emote, tick)))?;
        session.presence.avatar_here()?;
        Ok(vec![StateChange::Player(self.author(), player)])
    }

    /// Decides how the author looks from now on.
    pub(super) fn set_look(&self, look: Look) -> ActResult {
        check_look(look)?;
        let (mut player, session) = self.with_session(|_| ())?;
        player.look = look;
        let name = player.name.clone();
        let avatar = session.presence.avatar();
        let dress = avatar.map(|avatar| StateChange::Dress(avatar, name, look));
        Ok([StateChange::Player(self.author(), player)].into_iter().chain(dress).collect())
    }
}
