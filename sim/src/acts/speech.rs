//! Words, gestures and looks.

use metatopia_scripting::{Event, EventKind};
use metatopia_types::{BlobId, Emote, Look, Refusal, ScriptId};

use super::{Case, Change, Ruling, session::check_look};
use crate::{
    chat::{ChatLine, EVERYWHERE, NEARBY, words},
    limits::DELIVERIES_PER_TURN_MAX,
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
        let hearing = self.state.charter.parameters.hearing;
        let hears = |script: &_| {
            let object = self.state.scripts.get(script).map(|script| script.object);
            let body = object.and_then(|object| self.state.region.body(object));
            body.is_some_and(|body| {
                channel == EVERYWHERE || body.position().distance(line.place) <= hearing
            })
        };
        let event = Event::Chat { from: speaker, text: line.text.clone() };
        let listeners = self.court.programs.subscribers(EventKind::Chat);
        let listeners: Vec<ScriptId> = listeners.filter(hears).collect();
        if self.tally.deliveries.saturating_add(listeners.len()) > DELIVERIES_PER_TURN_MAX {
            return Err(Refusal::TooOften);
        }
        let mut changes = vec![Change::Player(self.author(), player)];
        changes.push(Change::Post(listeners, event));
        changes.push(Change::Chat(line));
        Ok(changes)
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
