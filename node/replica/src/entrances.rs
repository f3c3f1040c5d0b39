//! Where the sim's servers let clients in: each says so itself, signed, and tells the others.
//!
//! Of each server that belongs to the sim the newest word is kept, and passed on: to everybody when
//! it comes, and to a server that connects. Nobody can speak for another, and nobody can make us
//! keep more than one word of each, or pass on more than one in [`PAUSE`].

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use metatopia_protocol::{Entrance, SignedEntrance};
use metatopia_types::{Now, PublicKey, Sign, SimId, Verify};

use crate::{Effect, PeerMessage, Replica};

/// Between two words of one server that are passed on; one that comes sooner is kept, and told to
/// servers that connect.
pub const PAUSE: Duration = Duration::from_secs(1);

/// What a server says about where its clients connect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Announcement {
    /// The origin of its pages, such as `http://127.0.0.1:8080`.
    pub http: String,
    /// Host and UDP port of raw QUIC and WebTransport.
    pub quic: String,
    /// SHA-256 of the certificate in use there, and of the one that will follow it.
    pub certificates: Vec<[u8; 32]>,
}

/// What became of another server's word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard {
    /// It is new, and is to be passed on if this says so.
    News {
        /// Was the last one passed on long enough ago?
        pass_on: bool,
    },
    /// It is not newer than what is known, not from a server of this sim, or not signed by it.
    Nothing,
    /// It is this server's own, from an earlier life in which the clock was ahead: the others
    /// believe it until there is a newer one.
    OwnIsOlder,
}

/// The words of all servers of one sim, as one of them knows them.
#[derive(Debug)]
pub struct Entrances {
    sim: SimId,
    server: PublicKey,
    own: Option<Announcement>,
    known: BTreeMap<PublicKey, SignedEntrance>,
    passed_on: BTreeMap<PublicKey, Duration>,
}

impl Entrances {
    /// None yet, for the server of this key.
    #[must_use]
    pub fn new(sim: SimId, server: PublicKey) -> Self {
        Self { sim, server, own: None, known: BTreeMap::new(), passed_on: BTreeMap::new() }
    }

    /// The newest word of each server, ascending by key.
    pub fn known(&self) -> impl Iterator<Item = &SignedEntrance> {
        self.known.values()
    }

    /// Says where this server's own clients connect: what is to be told to all, unless an address
    /// is too long. Without `announcement` it says again what it said last.
    pub fn announce(
        &mut self,
        announcement: Option<Announcement>,
        now: Now,
        key: &dyn Sign,
        scheme: &dyn Verify,
    ) -> Option<SignedEntrance> {
        self.own = announcement.or(self.own.take());
        let Announcement { http, quic, certificates } = self.own.clone()?;
        let last = self.known.get(&self.server).map(|known| known.entrance.issued);
        let issued = last.map_or(now.wall, |last| last.plus(1).max(now.wall));
        let (sim, server) = (self.sim, self.server);
        let entrance = Entrance { sim, server, http, quic, certificates, issued };
        let signed = entrance.sign(key);
        if !signed.verify(scheme) {
            return None;
        }
        self.known.insert(self.server, signed.clone());
        Some(signed)
    }

    /// Takes a word that came from another server, whoever it is about. `is_server` tells who
    /// belongs to the sim.
    pub fn hear(
        &mut self,
        word: SignedEntrance,
        now: Now,
        is_server: impl Fn(&PublicKey) -> bool,
        scheme: &dyn Verify,
    ) -> Heard {
        let (server, issued) = (word.entrance.server, word.entrance.issued);
        let known = self.known.get(&server).map(|known| known.entrance.issued);
        let is_newer = known.is_none_or(|known| known < issued);
        // The cheap questions first.
        if word.entrance.sim != self.sim
            || !is_newer
            || !is_server(&server) && server != self.server
            || !word.verify(scheme)
        {
            return Heard::Nothing;
        }
        if server == self.server && self.own.is_none() {
            // It does not speak yet, or not in this life.
            return Heard::Nothing;
        }
        self.known.insert(server, word);
        if server == self.server {
            return Heard::OwnIsOlder;
        }
        let last = self.passed_on.get(&server);
        let pass_on = last.is_none_or(|last| now.monotonic.saturating_sub(*last) >= PAUSE);
        if pass_on {
            self.passed_on.insert(server, now.monotonic);
        }
        Heard::News { pass_on }
    }

    /// Forgets servers that belong to the sim no more; says whether there were any.
    pub fn keep(&mut self, is_server: impl Fn(&PublicKey) -> bool) -> bool {
        let (before, own) = (self.known.len(), self.server);
        self.known.retain(|server, _| *server == own || is_server(server));
        self.passed_on.retain(|server, _| is_server(server));
        self.known.len() < before
    }
}

impl Replica {
    /// This server says, maybe again, where its clients connect.
    pub(crate) fn announce(&mut self, now: Now, announcement: Option<Announcement>) {
        let agreement = &self.config.agreement;
        let (signer, scheme) = (&*agreement.signer, &*agreement.scheme);
        if let Some(word) = self.entrances.announce(announcement, now, signer, scheme) {
            self.pass_on(word);
            self.tell_servers();
        }
    }

    /// Another server told us where clients connect, to it or to a third one.
    pub(crate) fn entrance(&mut self, now: Now, word: SignedEntrance) {
        let scheme = Arc::clone(&self.config.agreement.scheme);
        let is_server = |server: &PublicKey| self.contacts.contains_key(server);
        match self.entrances.hear(word.clone(), now, is_server, &*scheme) {
            Heard::Nothing => {}
            Heard::OwnIsOlder => self.announce(now, None),
            Heard::News { pass_on } => {
                if pass_on {
                    self.pass_on(word);
                }
                self.tell_servers();
            }
        }
    }

    fn pass_on(&mut self, word: SignedEntrance) {
        let frame = PeerMessage::Entrance(Box::new(word)).encode();
        self.effects.push_back(Effect::ToPeer { to: None, frame });
    }

    /// The driver lets pages of these servers in.
    pub(crate) fn tell_servers(&mut self) {
        let known = self.entrances.known().cloned().collect();
        self.effects.push_back(Effect::Servers(known));
    }
}
