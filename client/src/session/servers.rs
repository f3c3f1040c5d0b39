//! Where the sim's servers let clients in, as each of them says itself.

use core::time::Duration;

use metatopia_protocol::{Answer, Entrance, Question, SignedEntrance};
use metatopia_types::limits;

use super::{Event, Session};

/// Entrances that are looked at, and remembered: one of each server that votes.
pub const ENTRANCES_MAX: usize = limits::VALIDATORS_MAX;

/// Between two questions where servers let clients in.
const SERVERS_AGAIN: Duration = Duration::from_secs(10);

impl Session {
    /// Wants to know from now on where servers let clients in; remembered over connections.
    pub fn follow_servers(&mut self, now: Duration) {
        self.servers_at = Some(now);
        if self.open {
            self.ask_servers(now);
        }
    }

    /// Entrances of servers that vote, each signed by its server, by key.
    pub fn entrances(&self) -> impl Iterator<Item = &Entrance> {
        self.entrances.values()
    }

    pub(super) fn ask_servers(&mut self, now: Duration) {
        if self.servers_at.is_some_and(|at| at <= now) {
            self.servers_at = Some(now + SERVERS_AGAIN);
            self.servers = self.ask(Question::Servers).or(self.servers);
        }
    }

    pub(super) fn servers_named(&mut self, answer: &Answer) {
        let Answer::Servers(signed) = answer else {
            return;
        };
        let Ok(set) = self.light.set(self.light.newest()) else {
            return;
        };
        let before = self.entrances.clone();
        self.entrances.retain(|server, _| set.get(server).is_some());
        for SignedEntrance { entrance, .. } in signed
            .iter()
            .filter(|signed| signed.entrance.sim == self.light.sim())
            .filter(|signed| set.get(&signed.entrance.server).is_some())
            // Anybody can make keys: those of nobody here must not take the places of members.
            .take(ENTRANCES_MAX)
            .filter(|signed| signed.verify(self.light.scheme()))
        {
            let known = self.entrances.get(&entrance.server);
            if known.is_none_or(|known| known.issued < entrance.issued) {
                self.entrances.insert(entrance.server, entrance.clone());
            }
        }
        if self.entrances != before {
            self.event(Event::Servers);
        }
    }
}
