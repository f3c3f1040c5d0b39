//! What a node says about itself.

use std::{fmt, net::SocketAddr};

use axum::{
    Extension, Json,
    extract::State,
    http::{HeaderMap, header::HOST},
};
use metatopia_protocol::{AdminCountdown, DelayedEntry};
use metatopia_transport::{
    certificates::Certificates,
    http::{Allowed, host, in_url},
};
use metatopia_types::{Height, PublicKey, Root, SetChange, SimId, Tick};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::{Node, page};

fn text<T: fmt::Display, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

fn texts<T: fmt::Display, S: Serializer>(values: &[T], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(values.iter().map(ToString::to_string))
}

fn maybe_text<T: fmt::Display, S: Serializer>(
    value: &Option<T>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match value {
        Some(value) => serializer.collect_str(value),
        None => serializer.serialize_none(),
    }
}

/// How a server stands, as its loop publishes it. Keys and digests are hexadecimal in JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StatusAnswer {
    /// The server's own key, with which it votes.
    #[serde(serialize_with = "text")]
    pub server: PublicKey,
    /// The sim it serves.
    #[serde(serialize_with = "text")]
    pub sim: SimId,
    /// The last turn that was decided and applied here; 0 is genesis.
    pub height: Height,
    /// The last tick of that turn.
    pub tick: Tick,
    /// The root of the state after `root_height`.
    #[serde(serialize_with = "text")]
    pub root: Root,
    /// The turn after which the root was computed.
    pub root_height: Height,
    /// Who proposes at the height under way, if this server knows.
    #[serde(serialize_with = "maybe_text")]
    pub proposer: Option<PublicKey>,
    /// The keys of the servers that vote at the height under way.
    #[serde(serialize_with = "texts")]
    pub validators: Vec<PublicKey>,
    /// Whether this server votes. A follower does not, and is ready all the same.
    pub voting: bool,
    /// Other servers with which a session is up.
    pub peers: u32,
    /// Clients that are connected.
    pub clients: u32,
    /// Players in the sim.
    pub players: u32,
    /// Turns that it should keep and lacks; `None` if it lacks none.
    pub missing: Option<MissingTurns>,
    /// Changes of who votes by a temp admin that wait.
    pub delayed: Vec<DelayedChangeStatus>,
    /// How long admins have been away, and who takes over.
    pub admins: AdminsStatus,
    /// Seconds until the sim ends, as its charter says; `None` if it never ends.
    pub seconds_left: Option<u64>,
    /// The world that the sim lies in, or founds, as its state says; `None` if it lies in none.
    #[serde(serialize_with = "maybe_text")]
    pub world: Option<SimId>,
    /// How it follows, of a node that came by an invite and is no server yet; else `None`.
    pub follows: Option<FollowStatus>,
    /// `running`, `stalled`, `diverged`, `healing`, `fetching` or `following`.
    pub condition: &'static str,
    /// No turn can be decided, or no root has a quorum.
    pub stalled: bool,
    /// What is wrong with the disk, or was found damaged on it at the start; `None` if nothing.
    pub disk: Option<String>,
    /// Why this server does not take part yet, or any more; `None` when it is ready.
    pub waiting_for: Option<String>,
}

/// The servers that a node follows by, if it came by an invite.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FollowStatus {
    /// The sim's servers and standbys.
    pub servers: usize,
    /// Those of them with which it is connected. The others are asked to let it in.
    pub connected: usize,
    /// But for these, which do not by its invite, ever.
    pub refused: Vec<RefusingServer>,
}

/// A server that does not let a follower in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RefusingServer {
    /// The key of the server.
    #[serde(serialize_with = "text")]
    pub server: PublicKey,
    /// In its words.
    pub why: String,
}

/// Turns that a server lacks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MissingTurns {
    /// How many in all.
    pub turns: u64,
    /// The newest of them that follow each other: the first height.
    pub first: Height,
    /// And the last.
    pub last: Height,
    /// Why other servers are not asked for these; `None` while they are.
    pub unasked: Option<&'static str>,
}

impl From<&metatopia_replica::Missing> for MissingTurns {
    fn from(missing: &metatopia_replica::Missing) -> Self {
        let metatopia_replica::Missing { turns, first, last, unasked } = *missing;
        Self { turns, first, last, unasked: unasked.map(metatopia_replica::Unasked::describe) }
    }
}

/// A change of who votes that a temp admin asked for. It falls if a permanent admin comes in time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DelayedChangeStatus {
    /// `add`, `remove` or `reserve`.
    pub change: &'static str,
    /// The key of the server.
    #[serde(serialize_with = "text")]
    pub server: PublicKey,
    /// Who asked for it.
    #[serde(serialize_with = "text")]
    pub by: PublicKey,
    /// Seconds of governance time until it takes effect.
    pub seconds: u64,
}

impl From<&DelayedEntry> for DelayedChangeStatus {
    fn from(delayed: &DelayedEntry) -> Self {
        let (change, server) = match &delayed.change {
            SetChange::Add { key, .. } => ("add", *key),
            SetChange::Remove { key } => ("remove", *key),
            SetChange::Reserve { key, .. } => ("reserve", *key),
        };
        Self { change, server, by: delayed.by, seconds: delayed.left.div_ceil(1_000) }
    }
}

/// How long admins have been away, and who takes over, in seconds of governance time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AdminsStatus {
    /// Since a permanent admin logged in.
    pub seconds_away: u64,
    /// Until there is a temp admin if none of them logs in; 0 from then on.
    pub seconds_left: u64,
    /// Who acts for the admins now.
    pub temp_admin: Option<NamedKey>,
    /// Who is first in line.
    pub next: Option<NamedKey>,
    /// The same in a line.
    pub words: String,
}

/// A player in an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NamedKey {
    /// The key of the player.
    #[serde(serialize_with = "text")]
    pub key: PublicKey,
    /// The name, which proves nothing.
    pub name: String,
}

impl From<&AdminCountdown> for AdminsStatus {
    fn from(countdown: &AdminCountdown) -> Self {
        let named = |of: &Option<(String, PublicKey)>| {
            of.as_ref().map(|(name, key)| NamedKey { key: *key, name: name.clone() })
        };
        Self {
            seconds_away: countdown.away / 1_000,
            seconds_left: countdown.left.div_ceil(1_000),
            temp_admin: named(&countdown.temp_admin),
            next: named(&countdown.next),
            words: countdown.words(),
        }
    }
}

/// The sim that a successor carries on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ParentAnswer {
    /// The id of the sim.
    #[serde(serialize_with = "text")]
    pub sim: SimId,
    /// The last of its turns that counts.
    pub height: Height,
    /// The root of its state after that turn.
    #[serde(serialize_with = "text")]
    pub root: Root,
}

impl From<&metatopia_sim::Parent> for ParentAnswer {
    fn from(parent: &metatopia_sim::Parent) -> Self {
        Self { sim: parent.sim, height: parent.height, root: parent.root }
    }
}

/// A [`StatusAnswer`], and what is so as long as the server runs.
#[derive(Debug, Serialize)]
pub(super) struct FullStatus {
    #[serde(flatten)]
    pub(super) status: StatusAnswer,
    /// The sim that this one carries on, if it is a successor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) parent: Option<ParentAnswer>,
}

/// What a client needs to connect to this server.
#[derive(Debug, Clone)]
pub struct SessionAnswer {
    /// The sim it serves.
    pub sim: SimId,
    /// What the sim is called.
    pub name: String,
    /// The sim that it carries on, if it is a successor.
    pub parent: Option<ParentAnswer>,
    /// The server's own key, with which it votes.
    pub server: PublicKey,
    /// The UDP address for QUIC and WebTransport.
    pub quic: SocketAddr,
    /// Host and port that it is announced by, if it is another one.
    pub announced_quic: Option<String>,
    /// What it shows there.
    pub certificates: Certificates,
    /// The version of the protocol that is spoken, over every carrier.
    pub wire_version: u16,
    /// How many clients it lets in at the same time.
    pub clients_max: u64,
}

/// Clients that are connected, by carrier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Carriers {
    /// Sessions over raw QUIC.
    pub quic: u64,
    /// Sessions over WebTransport.
    pub webtransport: u64,
    /// Sessions over WebSocket.
    pub websocket: u64,
}

impl Carriers {
    /// Says whether one more client is let in where there may be so many.
    pub(super) const fn leave_room(self, clients_max: u64) -> bool {
        self.quic.saturating_add(self.webtransport).saturating_add(self.websocket) < clients_max
    }
}

impl SessionAnswer {
    /// Returns host and port for QUIC, for somebody who called this server `called`.
    pub(super) fn quic_for(&self, called: &str) -> String {
        match &self.announced_quic {
            Some(announced) => announced.clone(),
            // It listens everywhere; so it is where it was called.
            None if self.quic.ip().is_unspecified() => {
                format!("{}:{}", host(called), self.quic.port())
            }
            None => format!("{}:{}", in_url(self.quic), self.quic.port()),
        }
    }
}

/// Answers how to connect, in JSON: `quic` is host and port for raw QUIC, `wt` the URL for WebTransport, `ws`
/// the path for WebSocket, `certificates` the hashes of the certificate in use and of the next, `room`
/// whether there is room for one more client now, `authority` whether WebTransport shows another certificate,
/// which an authority gave, `servers` the origins of the sim's servers, which nobody signed, `wasm` where the
/// page's module is.
pub(super) async fn session(
    State(node): State<Node>,
    Extension(allowed): Extension<Allowed>,
    headers: HeaderMap,
) -> Json<Value> {
    let (session, metrics) = (&node.session, &node.figures.transport);
    let called = headers.get(HOST).and_then(|called| called.to_str().ok()).unwrap_or_default();
    let quic = session.quic_for(called);
    let clients = Carriers {
        quic: metrics.clients_quic.get(),
        webtransport: metrics.clients_webtransport.get(),
        websocket: metrics.clients_websocket.get(),
    };
    Json(json!({
        "sim": session.sim.to_string(),
        "name": session.name,
        "parent": session.parent,
        "server": session.server.to_string(),
        "wt": format!("https://{quic}/"),
        "quic": quic,
        "ws": format!("/ws?sim={}", session.sim),
        "certificates": session.certificates.hashes(),
        "authority": session.certificates.are_of_authority(),
        "clients": clients,
        "room": clients.leave_room(session.clients_max),
        "wire_version": session.wire_version,
        "servers": allowed.servers(),
        "wasm": page::module_address(),
    }))
}
