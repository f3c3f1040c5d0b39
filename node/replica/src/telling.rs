//! What clients are told without asking: what they see and what they hear.

use metatopia_protocol::{ChatLine, Goodbye, ServerMessage, Watching};
use metatopia_sim::{Applied, NEARBY, Seen};
use metatopia_types::{Height, limits::ROOT_LAG};

use crate::{ClientId, Delivery, Replica, views::ViewFault};

impl Replica {
    /// A client wants to watch, or no more.
    pub(crate) fn watch(&mut self, client: ClientId, watching: Option<&Watching>) {
        if let Some(key) = self.sessions.key(client) {
            let fault = self.views.watch(client, key, watching).err();
            self.end_for(client, fault);
        }
    }

    /// Ends a session whose client said what it must not.
    pub(crate) fn end_for(&mut self, client: ClientId, fault: Option<ViewFault>) {
        if fault.is_some() {
            self.sessions.end(client, Goodbye::BadFrame);
        }
    }

    /// What clients see after a turn, and what is proved of earlier ones.
    pub(crate) fn tell_views(&mut self, result: &Applied) {
        let Some(world) = self.world.as_deref() else {
            return;
        };
        for (client, frame) in self.views.turn(world, result) {
            self.sessions.forward(client, Delivery::Reliable, frame);
        }
        // On a server that lags, the header that proves this turn is decided already.
        self.tell_proofs(result.height);
    }

    /// Proves the copies of a height, if the header that states its root is decided.
    pub(crate) fn tell_proofs(&mut self, of: Height) {
        let Some(decision) = self.agreement.decision(of.plus(ROOT_LAG)) else {
            return;
        };
        let (header, certificate) = (&decision.turn.header, &decision.certificate);
        for (client, frame) in self.views.prove(of, header, certificate) {
            self.sessions.forward(client, Delivery::Reliable, frame);
        }
    }

    /// What was said in the turn, to every session whose avatar can hear it.
    pub(crate) fn tell_chat(&mut self, result: &Applied) {
        for line in &result.chat {
            let hearers: Vec<_> = {
                let Some(world) = self.world.as_deref() else {
                    return;
                };
                let hearing = world.parameters().hearing;
                let hears = |key| {
                    let avatar = world.avatar(&key).and_then(|id| world.object(id));
                    let near = |seen: Seen| seen.position.distance(line.place) <= hearing;
                    line.channel != NEARBY || avatar.is_some_and(near)
                };
                self.sessions
                    .open()
                    .filter(|(_, key)| hears(*key))
                    .map(|(client, _)| client)
                    .collect()
            };
            let message = ServerMessage::Heard(ChatLine {
                height: line.height,
                channel: line.channel,
                speaker: line.speaker,
                name: line.name.clone(),
                text: line.text.clone(),
            });
            for client in hearers {
                self.sessions.send(client, Delivery::Reliable, &message);
            }
        }
    }
}
