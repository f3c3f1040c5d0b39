//! Where the sim's servers let clients in, as each of them says itself.

use core::time::Duration;

use metatopia_protocol::{Answer, EndpointAnnouncement, Question, SignedAnnouncement};
use metatopia_types::limits;

use super::{Session, SessionEvent};

/// Announcements that are read and remembered: one of each server that votes.
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

    /// Returns the announcements of servers that vote, each signed by its server, by key.
    pub fn endpoints(&self) -> impl Iterator<Item = &EndpointAnnouncement> {
        self.endpoints.values()
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
        let before = self.endpoints.clone();
        self.endpoints.retain(|server, _| set.get(server).is_some());
        for SignedAnnouncement { announcement, .. } in signed
            .iter()
            .filter(|signed| signed.announcement.sim == self.light.sim())
            .filter(|signed| set.get(&signed.announcement.server).is_some())
            // Anybody can make keys: those of nobody here must not take the places of members.
            .take(ENTRANCES_MAX)
            .filter(|signed| signed.verify(self.light.scheme()))
        {
            let known = self.endpoints.get(&announcement.server);
            if known.is_none_or(|known| known.issued < announcement.issued) {
                self.endpoints.insert(announcement.server, announcement.clone());
            }
        }
        if self.endpoints != before {
            self.event(SessionEvent::Servers);
        }
    }
}
