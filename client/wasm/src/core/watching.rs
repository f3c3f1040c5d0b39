//! How views are asked for, and how the line to the server is kept.

use metatopia_client::Distrust;
use metatopia_math::Vec2;
use metatopia_protocol::Watching;
use serde::Deserialize;
use serde_json::{Value, json};

use super::ClientCore;

/// Views a second that are worth having cost about this much where much moves.
const BYTES_PER_SECOND: u32 = 100_000;

/// What a tab costs that nobody looks at.
const BYTES_HIDDEN: u32 = 4_000;

/// A tab that nobody looks at gets a view in so many turns: one a second.
const TURNS_HIDDEN: u16 = 20;

/// Whether somebody looks at the tab.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum TabPulse {
    /// The tab is in front.
    Active,
    /// Another tab is, or another window.
    Hidden,
}

/// How the page watches.
#[derive(Debug)]
pub(super) struct PagePulse {
    at: Option<Vec2>,
    pulse: TabPulse,
}

impl PagePulse {
    /// Looks at this place while there is no avatar.
    pub(super) const fn new(at: Option<Vec2>) -> Self {
        Self { at, pulse: TabPulse::Active }
    }

    pub(super) const fn at(&self) -> Option<Vec2> {
        self.at
    }

    /// Looks at another place while there is no avatar.
    pub(super) const fn look_at(&mut self, place: Vec2) {
        self.at = Some(place);
    }

    pub(super) fn is_active(&self) -> bool {
        self.pulse == TabPulse::Active
    }

    pub(super) const fn watching(&self) -> Watching {
        let (bytes_per_second, turns_apart) = match self.pulse {
            TabPulse::Active => (BYTES_PER_SECOND, 1),
            TabPulse::Hidden => (BYTES_HIDDEN, TURNS_HIDDEN),
        };
        let have = Vec::new();
        Watching { bytes_per_second, turns_apart, proofs: true, at: self.at, have }
    }
}

impl ClientCore {
    /// Views come in another way from now on.
    pub(super) fn watch(&mut self, pulse: TabPulse) {
        if self.pulse.pulse != pulse {
            self.pulse.pulse = pulse;
            self.session.view(Some(self.pulse.watching()));
        }
    }

    /// A server let the client in.
    pub(super) fn opened(&mut self) {
        self.badge.moved(self.now);
        let server = self.session.server().map(|key| key.to_string());
        self.tell(&json!({ "type": "open", "server": server }));
    }

    /// Pings the server, and finds out whether it is gone.
    pub(super) fn watch_line(&mut self) {
        let open = self.session.is_open();
        if self.gauges.is_silent(self.now, open) {
            self.leave("silent");
        } else if open && self.gauges.pings(self.now) {
            self.session.ping(self.now);
        }
        self.badge.tick(self.now, open);
    }

    /// Reacts to a server that says something untrue, or something that does not fit together.
    pub(super) fn distrusted(&mut self, why: &Distrust) {
        self.badge.lied(why);
        self.picture.forget();
        match why {
            Distrust::OtherSim(_) => self.leave("other-sim"),
            Distrust::View(_) => self.leave("bad-view"),
            // The person decides whether to leave, and sees meanwhile what the server shows.
            _ => self.session.see_anew(),
        }
    }

    /// Handles a view, and tells the page of it.
    pub(super) fn viewed(&mut self) {
        let view = self.picture.take(self.session.sight());
        self.tell(&view);
        self.learn_lots();
        self.learn_joints();
        self.learn_charter();
        if self.picture.lacks_packages() {
            self.learn_scripts();
        }
        self.foresee_view();
        self.look_at_edge();
    }

    pub(super) fn tell_servers(&mut self) {
        let servers = self.known_servers();
        self.tell(&json!({ "type": "servers", "list": servers }));
    }

    /// Returns where servers that vote let clients in, each by its own signed word.
    pub(super) fn known_servers(&self) -> Value {
        let endpoint = |endpoint: &metatopia_protocol::EndpointAnnouncement| {
            json!({
                "server": endpoint.server.to_string(), "http": endpoint.http,
                "quic": endpoint.quic, "issued": endpoint.issued.0,
            })
        };
        self.session.endpoints().map(endpoint).collect()
    }

    /// Returns who votes by now, as far as that was followed.
    pub(super) fn members(&self) -> Value {
        let light = self.session.light();
        let members = light.set(light.newest()).map(|set| set.members().to_vec());
        let member = |member: &metatopia_types::Validator| {
            let key = member.key.to_string();
            json!({ "key": key, "power": member.power })
        };
        members.unwrap_or_default().iter().map(member).collect()
    }
}
