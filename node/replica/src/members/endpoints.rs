//! Endpoints: the addresses where the servers of the sim let clients in. Each server announces and
//! signs its own.
//!
//! A server keeps the newest announcement of each server of the sim. It forwards an announcement to
//! all peers when it arrives, and sends all of them to a peer that connects. No server can announce
//! for another, and none can make us keep more than one of its announcements, or forward more than
//! one in [`ANNOUNCEMENT_PAUSE`].
//!
//! A follower announces its endpoint as well, because it may become a server. That announcement is
//! kept apart, and is sent to nobody until the follower is a server of the sim: the follower would
//! not repeat it for minutes.

use std::{collections::BTreeMap, time::Duration};

use metatopia_protocol::{EndpointAnnouncement, SignedAnnouncement};
use metatopia_types::{Now, PublicKey, Sign, SimId, Verify};

use crate::members::followers::FOLLOWERS_MAX;

/// The shortest time between two announcements of one server that are forwarded. One that comes
/// sooner is kept, and sent to peers that connect.
pub const ANNOUNCEMENT_PAUSE: Duration = Duration::from_secs(1);

/// The endpoint of this server, before it is dated and signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnEndpoint {
    /// The origin of its pages, such as `http://127.0.0.1:8080`.
    pub http: String,
    /// Host and UDP port of raw QUIC and WebTransport.
    pub quic: String,
    /// SHA-256 of the certificate in use there, and of the one that will follow it.
    pub certificates: Vec<[u8; 32]>,
}

/// What the announcement of another server changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndpointChange {
    /// The announcement is new.
    New {
        /// Whether it is to be forwarded, because the last one was forwarded long enough ago.
        pass_on: bool,
    },
    /// The announcement is not newer than the known one, not of a server of this sim, or not signed
    /// by it.
    Ignored,
    /// The announcement is this server's own, from before a restart, when the clock was ahead. The
    /// others believe it until there is a newer one.
    OwnIsOlder,
}

/// The announcements of all servers of one sim that one of them knows.
#[derive(Debug)]
pub struct Endpoints {
    sim: SimId,
    server: PublicKey,
    own: Option<OwnEndpoint>,
    known: BTreeMap<PublicKey, SignedAnnouncement>,
    /// The announcements of followers, and when a signature of each was last checked.
    of_followers: BTreeMap<PublicKey, (Duration, Option<SignedAnnouncement>)>,
    passed_on: BTreeMap<PublicKey, Duration>,
}

impl Endpoints {
    /// Returns the table of the server with this key. It is empty.
    #[must_use]
    pub fn new(sim: SimId, server: PublicKey) -> Self {
        let (known, of_followers, passed_on) = Default::default();
        Self { sim, server, own: None, known, of_followers, passed_on }
    }

    /// Returns the newest announcement of each server, ascending by key.
    pub fn known(&self) -> impl Iterator<Item = &SignedAnnouncement> {
        self.known.values()
    }

    /// Signs this server's own endpoint. Returns the announcement for all peers, or none if an address
    /// is too long. Without `endpoint` it signs the last one again.
    pub fn announce(
        &mut self,
        endpoint: Option<OwnEndpoint>,
        now: Now,
        key: &dyn Sign,
        scheme: &dyn Verify,
    ) -> Option<SignedAnnouncement> {
        self.own = endpoint.or(self.own.take());
        let OwnEndpoint { http, quic, certificates } = self.own.clone()?;
        let last = self.known.get(&self.server).map(|known| known.announcement.issued);
        let issued = last.map_or(now.wall, |last| last.plus(1).max(now.wall));
        let (sim, server) = (self.sim, self.server);
        let announcement = EndpointAnnouncement { sim, server, http, quic, certificates, issued };
        let signed = announcement.sign(key);
        if !signed.verify(scheme) {
            return None;
        }
        self.known.insert(self.server, signed.clone());
        Some(signed)
    }

    /// Takes an announcement that a server sent, of any server. `is_server` says who belongs to the
    /// sim.
    pub fn receive(
        &mut self,
        signed: SignedAnnouncement,
        now: Now,
        is_server: impl Fn(&PublicKey) -> bool,
        scheme: &dyn Verify,
    ) -> EndpointChange {
        let (server, issued) = (signed.announcement.server, signed.announcement.issued);
        let known = self.known.get(&server).map(|known| known.announcement.issued);
        let is_newer = known.is_none_or(|known| known < issued);
        // The cheap questions first.
        if signed.announcement.sim != self.sim
            || !is_newer
            || !is_server(&server) && server != self.server
            || !signed.verify(scheme)
        {
            return EndpointChange::Ignored;
        }
        if server == self.server && self.own.is_none() {
            // This server announces nothing, or nothing since it was started.
            return EndpointChange::Ignored;
        }
        self.known.insert(server, signed);
        if server == self.server {
            return EndpointChange::OwnIsOlder;
        }
        let last = self.passed_on.get(&server);
        let pass_on =
            last.is_none_or(|last| now.monotonic.saturating_sub(*last) >= ANNOUNCEMENT_PAUSE);
        if pass_on {
            self.passed_on.insert(server, now.monotonic);
        }
        EndpointChange::New { pass_on }
    }

    /// Takes the announcement of a follower's own endpoint. `is_follower` says who is one. One signature
    /// of each follower is checked in [`ANNOUNCEMENT_PAUSE`].
    pub fn receive_from_follower(
        &mut self,
        signed: SignedAnnouncement,
        now: Now,
        is_follower: impl Fn(&PublicKey) -> bool,
        scheme: &dyn Verify,
    ) {
        let (server, issued) = (signed.announcement.server, signed.announcement.issued);
        let is_worth_it = self.of_followers.get(&server).is_none_or(|(checked, known)| {
            let is_newer = known.as_ref().is_none_or(|known| known.announcement.issued < issued);
            is_newer && now.monotonic.saturating_sub(*checked) >= ANNOUNCEMENT_PAUSE
        });
        if signed.announcement.sim != self.sim || !is_worth_it || !is_follower(&server) {
            return;
        }
        self.of_followers.retain(|follower, _| is_follower(follower));
        if self.of_followers.len() >= FOLLOWERS_MAX && !self.of_followers.contains_key(&server) {
            return;
        }
        let (checked, known) = self.of_followers.entry(server).or_default();
        *checked = now.monotonic;
        if signed.verify(scheme) {
            *known = Some(signed);
        }
    }

    /// Moves the announcements of followers that are servers of the sim now, and returns them.
    pub fn promote(&mut self, is_server: impl Fn(&PublicKey) -> bool) -> Vec<SignedAnnouncement> {
        let promoted: Vec<PublicKey> =
            self.of_followers.keys().filter(|follower| is_server(follower)).copied().collect();
        let announcements =
            promoted.iter().filter_map(|follower| self.of_followers.remove(follower)?.1);
        let announcements: Vec<SignedAnnouncement> = announcements.collect();
        let known = announcements.iter().map(|signed| (signed.announcement.server, signed.clone()));
        self.known.extend(known);
        announcements
    }

    /// Forgets servers that do not belong to the sim any more. Returns whether there were any.
    pub fn retain_servers(&mut self, is_server: impl Fn(&PublicKey) -> bool) -> bool {
        let (before, own) = (self.known.len(), self.server);
        self.known.retain(|server, _| *server == own || is_server(server));
        self.passed_on.retain(|server, _| is_server(server));
        self.known.len() < before
    }
}
