//! Words, gestures and looks.

use metatopia_scripting::Event;
use metatopia_types::{BlobId, Emote, Look, Refusal};

use super::{Case, Change, Ruling, session::check_look};
use crate::{
    chat::{ChatLine, EVERYWHERE, NEARBY, words},
    hearing::Hearers,
    limits::{DELIVERIES_PER_AUTHOR_MAX, DELIVERIES_PER_TURN_MAX},
};

impl Case<'_> {
    pub(super) fn say(&self, channel: u8, body: BlobId) -> Ruling {
        let (player, session) = self.with_session(|_| ())?;
        if channel != NEARBY && channel != EVERYWHERE {
            return Err(Refusal::NoChannel);
        }
        let blob = self.court.blobs.get(&body).ok_or(Refusal::NoBlob)?;
        let text = words(blob).ok_or(Refusal::BadText)?;
        let speaker = session.avatar.ok_or(Refusal::NoSeat)?;
        let avatar = self.state.region.body(speaker).ok_or(Refusal::NoSeat)?;
        let line = ChatLine {
            height: self.state.clock.height,
            tick: self.tick(),
            channel,
            speaker,
            player: Some(self.author()),
            name: player.name.clone(),
            place: avatar.position(),
            text: text.to_owned(),
        };
        let event = Event::Chat { from: speaker, text: line.text.clone() };
        let mut changes = vec![Change::Player(self.author(), player)];
        changes.extend(self.hearers(&line).map(|hearers| Change::Heard(hearers, event)));
        changes.push(Change::Chat(line));
        Ok(changes)
    }

    /// The scripts that hear a line; none if its speaker has no gas to pay for them, or the turn no
    /// room for what it becomes: then it is not even looked who they would be.
    fn hearers(&self, line: &ChatLine) -> Option<Hearers> {
        let (tally, author) = (self.tally, self.author());
        let own = tally.deliveries_by.get(&author).copied().unwrap_or(0);
        let income = self.state.owner_income();
        let purse = self.state.owners.get(&Some(author));
        if tally.deliveries >= DELIVERIES_PER_TURN_MAX
            || own >= DELIVERIES_PER_AUTHOR_MAX
            || purse.is_some_and(|purse| purse.level(self.tick(), income) <= 0)
        {
            return None;
        }
        let reach = (line.channel == NEARBY).then_some(self.state.charter.parameters.hearing);
        let hearers = Hearers::of(self.state, self.court.programs, line.place, reach);
        let room =
            (DELIVERIES_PER_TURN_MAX - tally.deliveries).min(DELIVERIES_PER_AUTHOR_MAX - own);
        Some(hearers.at_most(room))
    }

    pub(super) fn emote(&self, emote: Emote) -> Ruling {
        let tick = self.tick();
        let (player, session) =
            self.with_session(|session| session.gesture = Some((emote, tick)))?;
        session.avatar.ok_or(Refusal::NoSeat)?;
        Ok(vec![Change::Player(self.author(), player)])
    }

    pub(super) fn set_look(&self, look: Look) -> Ruling {
        check_look(look)?;
        let (mut player, session) = self.with_session(|_| ())?;
        player.look = look;
        let name = player.name.clone();
        let dress = session.avatar.map(|avatar| Change::Dress(avatar, name, look));
        Ok([Change::Player(self.author(), player)].into_iter().chain(dress).collect())
    }
}
