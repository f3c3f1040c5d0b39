//! A [`NetworkBehaviour`] that keeps one session with every allowed peer.
//!
//! * A connection of a peer outside the list is refused as soon as its handshake has shown the
//!   peer's id, before any substream: the frame protocol is not offered, and none of its bytes are
//!   read.
//! * Each side opens one substream and only writes to it; the substream that the remote opened is
//!   only read. Both together are a session. If either fails, the connection ends: one connection
//!   is one session, without repair inside it. A connection on which no session opens in time is
//!   closed.
//! * Missing peers are dialled again for ever, with back-off. Of two connections with one peer the
//!   newer one stays, because the older one is likely a leftover of a dead process. When both sides
//!   dialled at about the same time, the connection dialled by the smaller [`PeerId`] stays
//!   instead, so that both sides keep the same one.
//!
//! Nothing on the hot path goes through the swarm's task or through `ConnectionHandler::poll`.

use std::{
    collections::{BTreeMap, VecDeque},
    convert::Infallible,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Waker},
    time::Duration,
};

use libp2p::{
    Multiaddr, PeerId, Stream, StreamProtocol,
    core::{Endpoint, transport::PortUse},
    swarm::{
        CloseConnection, ConnectionDenied, ConnectionId, FromSwarm, NetworkBehaviour, THandler,
        THandlerInEvent, ToSwarm,
        behaviour::{ConnectionClosed, ConnectionEstablished, DialFailure},
        dial_opts::{DialOpts, PeerCondition},
    },
};
use tokio::time::{Instant, Sleep, sleep_until};

use super::{
    Redial,
    handler::{FromHandler, SessionHandler},
};
use crate::figures::TransportFigures;

/// A session that is ready: write to `write`, read from `read`, and report its end with
/// [`MeshBehaviour::close`].
#[derive(Debug)]
pub(super) struct OpenedSession {
    pub(super) peer: PeerId,
    /// The id of the connection. It is unique in this process, so that a late report cannot close a
    /// successor.
    pub(super) connection: ConnectionId,
    pub(super) read: Stream,
    pub(super) write: Stream,
}

/// The error of a connection whose peer is not on the list.
#[derive(Debug, thiserror::Error)]
#[error("{0} is no server of this sim")]
pub(super) struct UnknownPeerError(PeerId);

/// The error of a peer that connected a moment ago.
#[derive(Debug, thiserror::Error)]
#[error("{0} connects too often")]
pub(super) struct Restless(PeerId);

struct MeshPeer {
    addresses: Vec<Multiaddr>,
    link: LinkState,
    backoff: Duration,
    /// The time when the peer was last let in.
    came: Option<Instant>,
}

enum LinkState {
    /// The peer is to be dialled at this time.
    Down(Instant),
    Dialling,
    Up(Box<Up>),
}

struct Up {
    connection: ConnectionId,
    we_dialled: bool,
    since: Instant,
    phase: SessionPhase,
    /// The substreams of the session that are there while it opens.
    read: Option<Stream>,
    write: Option<Stream>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum SessionPhase {
    /// The connection waits for substreams until `since + Redial::open_within`.
    Opening,
    /// The session is running.
    Open,
    /// The connection was asked to close.
    Closing,
}

pub(super) struct MeshBehaviour {
    local: PeerId,
    protocol: StreamProtocol,
    redial: Redial,
    peers: BTreeMap<PeerId, MeshPeer>,
    queue: VecDeque<ToSwarm<OpenedSession, Infallible>>,
    timer: Pin<Box<Sleep>>,
    waker: Option<Waker>,
    metrics: Arc<TransportFigures>,
}

impl MeshBehaviour {
    pub(super) fn new(
        local: PeerId,
        protocol: StreamProtocol,
        redial: Redial,
        metrics: Arc<TransportFigures>,
    ) -> Self {
        Self {
            local,
            protocol,
            redial,
            peers: BTreeMap::new(),
            queue: VecDeque::new(),
            timer: Box::pin(sleep_until(Instant::now())),
            waker: None,
            metrics,
        }
    }

    /// Allows `peer`, and dials it if `addresses` is not empty. Replaces the addresses of a known
    /// peer. This server's own id is not a peer.
    pub(super) fn allow(&mut self, peer: PeerId, addresses: Vec<Multiaddr>) {
        if peer == self.local {
            return;
        }
        let (first, wait) = (self.redial.first, self.wait(peer));
        let fresh = || MeshPeer {
            addresses: Vec::new(),
            link: LinkState::Down(Instant::now() + wait),
            backoff: first,
            came: None,
        };
        self.peers.entry(peer).or_insert_with(fresh).addresses = addresses;
        self.wake();
    }

    /// Takes `peer` off the list and closes its connections.
    pub(super) fn disallow(&mut self, peer: PeerId) {
        if self.peers.remove(&peer).is_some() {
            self.close_connection(peer, CloseConnection::All);
        }
    }

    /// Ends a session whose streams failed.
    pub(super) fn close(&mut self, peer: PeerId, connection: ConnectionId) {
        self.close_connection(peer, CloseConnection::One(connection));
    }

    fn close_connection(&mut self, peer_id: PeerId, connection: CloseConnection) {
        self.queue.push_back(ToSwarm::CloseConnection { peer_id, connection });
        self.wake();
    }

    /// Returns how long to wait before dialling. The side with the larger id lets the other one
    /// dial first, so that a pair seldom dials twice.
    fn wait(&self, peer: PeerId) -> Duration {
        if self.local < peer { Duration::ZERO } else { self.redial.larger_waits }
    }

    fn wake(&mut self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }

    /// Plans the next dial, later each time, because the link is gone or could not be made.
    fn missing(&mut self, peer: PeerId) {
        let wait = self.wait(peer);
        let Some(p) = self.peers.get_mut(&peer) else {
            return;
        };
        // Only a session that lasted resets the wait: a peer that accepts and drops connections
        // must not be dialled without pause.
        if let LinkState::Up(up) = &p.link
            && up.phase != SessionPhase::Opening
            && up.since.elapsed() >= self.redial.max
        {
            p.backoff = self.redial.first;
        }
        p.link = LinkState::Down(Instant::now() + p.backoff + wait);
        p.backoff = (p.backoff * 2).min(self.redial.max);
        self.wake();
    }

    fn handler(&self, peer: PeerId) -> Result<THandler<Self>, ConnectionDenied> {
        if self.peers.contains_key(&peer) {
            return Ok(SessionHandler::new(self.protocol.clone()));
        }
        self.metrics.lane_strangers_total.inc();
        Err(ConnectionDenied::new(UnknownPeerError(peer)))
    }

    /// Decides which of two connections stays. Both sides decide the same.
    fn established(&mut self, peer: PeerId, connection: ConnectionId, we_dialled: bool) {
        let smaller_is_us = self.local < peer;
        let Some(p) = self.peers.get_mut(&peer) else {
            return;
        };
        let mut replaced = None;
        if let LinkState::Up(old) = &p.link {
            let keep_old = old.since.elapsed() < self.redial.same_time
                && old.we_dialled != we_dialled
                && old.we_dialled == smaller_is_us;
            if keep_old {
                return self.close(peer, connection);
            }
            replaced = Some(old.connection);
        }
        p.link = LinkState::Up(Box::new(Up {
            connection,
            we_dialled,
            since: Instant::now(),
            phase: SessionPhase::Opening,
            read: None,
            write: None,
        }));
        if let Some(old) = replaced {
            self.close(peer, old);
        }
        self.wake();
    }

    /// Does what is due, and returns when something will be due.
    fn due(&mut self, now: Instant) -> Option<Instant> {
        let mut next: Option<Instant> = None;
        for (peer, p) in &mut self.peers {
            let at = match &p.link {
                LinkState::Down(at) if !p.addresses.is_empty() => *at,
                LinkState::Up(up) if up.phase == SessionPhase::Opening => {
                    up.since + self.redial.open_within
                }
                _ => continue,
            };
            if at > now {
                next = Some(next.map_or(at, |n| n.min(at)));
                continue;
            }
            self.queue.push_back(match &mut p.link {
                LinkState::Up(up) => {
                    up.phase = SessionPhase::Closing;
                    let connection = CloseConnection::One(up.connection);
                    ToSwarm::CloseConnection { peer_id: *peer, connection }
                }
                link => {
                    *link = LinkState::Dialling;
                    let opts = DialOpts::peer_id(*peer)
                        .condition(PeerCondition::DisconnectedAndNotDialing)
                        .addresses(p.addresses.clone())
                        .build();
                    ToSwarm::Dial { opts }
                }
            });
        }
        next
    }
}

impl NetworkBehaviour for MeshBehaviour {
    type ConnectionHandler = SessionHandler;
    type ToSwarm = OpenedSession;

    fn handle_established_inbound_connection(
        &mut self,
        _: ConnectionId,
        peer: PeerId,
        _: &Multiaddr,
        _: &Multiaddr,
    ) -> Result<THandler<Self>, ConnectionDenied> {
        let handler = self.handler(peer)?;
        let now = Instant::now();
        if let Some(p) = self.peers.get_mut(&peer) {
            // Every new connection replaces a session. An allowed peer that lies must not make that
            // happen more often than an honest peer would.
            if p.came.is_some_and(|came| now - came < self.redial.first) {
                return Err(ConnectionDenied::new(Restless(peer)));
            }
            p.came = Some(now);
        }
        Ok(handler)
    }

    fn handle_established_outbound_connection(
        &mut self,
        _: ConnectionId,
        peer: PeerId,
        _: &Multiaddr,
        _: Endpoint,
        _: PortUse,
    ) -> Result<THandler<Self>, ConnectionDenied> {
        self.handler(peer)
    }

    // State changes only here: another part of the swarm's behaviour may still refuse a connection
    // that `handle_established_*` lets in.
    fn on_swarm_event(&mut self, event: FromSwarm<'_>) {
        match event {
            FromSwarm::ConnectionEstablished(ConnectionEstablished {
                peer_id,
                connection_id,
                endpoint,
                ..
            }) => self.established(peer_id, connection_id, endpoint.is_dialer()),
            FromSwarm::ConnectionClosed(ConnectionClosed { peer_id, connection_id, .. }) => {
                let link = self.peers.get(&peer_id).map(|p| &p.link);
                if matches!(link, Some(LinkState::Up(up)) if up.connection == connection_id) {
                    self.missing(peer_id);
                }
            }
            FromSwarm::DialFailure(DialFailure { peer_id: Some(peer), .. }) => {
                if matches!(self.peers.get(&peer), Some(MeshPeer { link: LinkState::Dialling, .. }))
                {
                    self.missing(peer);
                }
            }
            _ => {}
        }
    }

    fn on_connection_handler_event(
        &mut self,
        peer: PeerId,
        connection: ConnectionId,
        event: FromHandler,
    ) {
        let Some(MeshPeer { link: LinkState::Up(up), .. }) = self.peers.get_mut(&peer) else {
            return;
        };
        if up.connection != connection {
            return;
        }
        match (up.phase, event) {
            (SessionPhase::Opening, FromHandler::Read(stream)) => up.read = Some(stream),
            (SessionPhase::Opening, FromHandler::Write(stream)) => up.write = Some(stream),
            // The peer does not speak our protocol, or opened a second substream.
            _ => {
                up.phase = SessionPhase::Closing;
                return self.close(peer, connection);
            }
        }
        if up.read.is_none() || up.write.is_none() {
            return;
        }
        if let (Some(read), Some(write)) = (up.read.take(), up.write.take()) {
            up.phase = SessionPhase::Open;
            let opened = OpenedSession { peer, connection, read, write };
            self.queue.push_back(ToSwarm::GenerateEvent(opened));
        }
    }

    fn poll(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<ToSwarm<OpenedSession, THandlerInEvent<Self>>> {
        loop {
            if let Some(event) = self.queue.pop_front() {
                return Poll::Ready(event.map_in(|never| match never {}));
            }
            let next = self.due(Instant::now());
            if !self.queue.is_empty() {
                continue;
            }
            self.waker = Some(cx.waker().clone());
            let Some(at) = next else { return Poll::Pending };
            if self.timer.deadline() != at {
                self.timer.as_mut().reset(at);
            }
            if self.timer.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
        }
    }
}

#[cfg(test)]
mod tests;
