//! The table of a member's Kademlia, which only finds members: it keeps no records, dials seldom, and
//! hangs up on who asks too often.

use std::{
    borrow::Cow,
    collections::{BTreeMap, VecDeque},
    iter,
    num::NonZeroUsize,
    task::{Context, Poll},
    time::Duration,
};

use libp2p::{
    Multiaddr, PeerId, StreamProtocol,
    core::{Endpoint, transport::PortUse},
    kad::{
        self, ProviderRecord, Record, RecordKey,
        store::{self, RecordStore},
    },
    swarm::{
        CloseConnection, ConnectionDenied, ConnectionId, FromSwarm, NetworkBehaviour, THandler,
        THandlerInEvent, THandlerOutEvent, ToSwarm,
        behaviour::ConnectionClosed,
        dial_opts::{DialOpts, PeerCondition},
    },
};
use tokio::time::Instant;

use super::{DiscoverySetup, scope::DialScope};
use crate::{
    overlay::limits::{
        ANSWER_BYTES_MAX, FOUND_DIALS_PER_MINUTE_MAX, TABLE_ADDRESSES_MAX, TABLE_BUCKET_MAX,
        TABLE_FRAMES_PER_SECOND_MAX, TABLE_SOURCE_MAX,
    },
    peers::handshakes::source,
};

/// The time that one search has.
const SEARCH: Duration = Duration::from_secs(10);

/// The time that one question has.
const QUESTION: Duration = Duration::from_secs(3);

/// The store of records of a table: there are none.
#[derive(Debug, Default)]
pub(in crate::overlay) struct NoRecords;

impl RecordStore for NoRecords {
    type RecordsIter<'a> = iter::Empty<Cow<'a, Record>>;
    type ProvidedIter<'a> = iter::Empty<Cow<'a, ProviderRecord>>;

    fn get(&self, _: &RecordKey) -> Option<Cow<'_, Record>> {
        None
    }

    fn put(&mut self, _: Record) -> store::Result<()> {
        Err(store::Error::MaxRecords)
    }

    fn remove(&mut self, _: &RecordKey) {}

    fn records(&self) -> Self::RecordsIter<'_> {
        iter::empty()
    }

    fn add_provider(&mut self, _: ProviderRecord) -> store::Result<()> {
        Err(store::Error::MaxProvidedKeys)
    }

    fn providers(&self, _: &RecordKey) -> Vec<ProviderRecord> {
        Vec::new()
    }

    fn provided(&self) -> Self::ProvidedIter<'_> {
        iter::empty()
    }

    fn remove_provider(&mut self, _: &RecordKey, _: &PeerId) {}
}

/// How often something happened in the present span of time.
#[derive(Debug, Clone, Copy)]
pub(in crate::overlay) struct SpanRation {
    since: Instant,
    count: u32,
}

impl SpanRation {
    pub(in crate::overlay) fn new(now: Instant) -> Self {
        Self { since: now, count: 0 }
    }

    /// Counts one more, unless there were so many in this span already.
    pub(in crate::overlay) fn takes(&mut self, now: Instant, most: u32, span: Duration) -> bool {
        if now.duration_since(self.since) >= span {
            *self = Self::new(now);
        }
        let has_room = self.count < most;
        self.count += u32::from(has_room);
        has_room
    }
}

/// Why a member that was told of is not dialled now.
#[derive(Debug, thiserror::Error)]
#[error("too many were told of in this minute")]
struct DialledEnough;

/// The machine of the library, with bounds around it.
pub(in crate::overlay) struct TableBehaviour {
    inner: kad::Behaviour<NoRecords>,
    protocol: StreamProtocol,
    scope: DialScope,
    dials: SpanRation,
    /// How often each connected member was heard in this second.
    heard: BTreeMap<PeerId, SpanRation>,
    closing: VecDeque<(PeerId, ConnectionId)>,
}

const MINUTE: Duration = Duration::from_secs(60);

const SECOND: Duration = Duration::from_secs(1);

impl TableBehaviour {
    pub(in crate::overlay) fn new(local: PeerId, setup: &DiscoverySetup, scope: DialScope) -> Self {
        let protocol = setup.kademlia();
        let mut config = kad::Config::new(protocol.clone());
        let bucket = NonZeroUsize::new(TABLE_BUCKET_MAX).expect("a constant above zero");
        config
            .set_kbucket_size(bucket)
            // Members get in by `learn` alone, which knows the bounds.
            .set_kbucket_inserts(kad::BucketInserts::Manual)
            .set_record_filtering(kad::StoreInserts::FilterBoth)
            .set_replication_interval(None)
            .set_publication_interval(None)
            .set_provider_publication_interval(None)
            .set_caching(kad::Caching::Disabled)
            // The owner says when members are sought.
            .set_periodic_bootstrap_interval(None)
            .set_max_packet_size(ANSWER_BYTES_MAX)
            .set_query_timeout(SEARCH)
            .set_substreams_timeout(QUESTION)
            // One liar among those who are asked first does not lead all the ways.
            .disjoint_query_paths(true);
        let mut inner = kad::Behaviour::with_config(local, NoRecords, config);
        let mode = if setup.is_guest { kad::Mode::Client } else { kad::Mode::Server };
        inner.set_mode(Some(mode));
        let dials = SpanRation::new(Instant::now());
        let (heard, closing) = (BTreeMap::new(), VecDeque::new());
        Self { inner, protocol, scope, dials, heard, closing }
    }

    /// Returns the protocol that members of this network speak.
    pub(in crate::overlay) const fn protocol(&self) -> &StreamProtocol {
        &self.protocol
    }

    /// Returns which addresses are dialled because others tell of them.
    pub(in crate::overlay) const fn scope(&self) -> DialScope {
        self.scope
    }

    /// Seeks members near this one's own key, by all that the table has. Does nothing if a search is under way.
    pub(in crate::overlay) fn seek(&mut self) {
        if self.inner.iter_queries().next().is_none() {
            // An empty table has nobody to ask.
            let _nobody = self.inner.bootstrap();
        }
    }

    /// Returns the addresses of a member in the table.
    #[cfg(test)]
    pub(in crate::overlay) fn kept(&mut self, peer: PeerId) -> Vec<Multiaddr> {
        let bucket = self.inner.kbucket(peer).expect("not this member's own");
        let entry = bucket.iter().find(|entry| *entry.node.key.preimage() == peer);
        entry.map(|entry| entry.node.value.iter().cloned().collect()).unwrap_or_default()
    }

    /// Asks for members near a key.
    #[cfg(test)]
    pub(in crate::overlay) fn ask_near(&mut self, key: PeerId) {
        self.inner.get_closest_peers(key);
    }

    /// Says whether a member is in the table.
    pub(in crate::overlay) fn knows(&mut self, peer: &PeerId) -> bool {
        let bucket = self.inner.kbucket(*peer);
        bucket.is_some_and(|bucket| bucket.iter().any(|entry| entry.node.key.preimage() == peer))
    }

    /// Counts a dial of somebody who was told of, if it may be made.
    pub(in crate::overlay) fn admits_dial(&mut self, now: Instant) -> bool {
        self.dials.takes(now, FOUND_DIALS_PER_MINUTE_MAX, MINUTE)
    }

    /// Puts a member into the table, whose key is proved and who speaks the protocol. Says whether there
    /// was room.
    pub(in crate::overlay) fn learn(&mut self, peer: PeerId, address: &Multiaddr) -> bool {
        if !self.scope.admits(address) || !self.has_room(&peer, address) {
            return false;
        }
        self.inner.add_address(&peer, address.clone()) != kad::RoutingUpdate::Failed
    }

    /// Says whether the source of this address has room in the table. This machine has as much as it likes:
    /// a small world runs on one.
    fn has_room(&mut self, peer: &PeerId, address: &Multiaddr) -> bool {
        let Some(block) = source(address).filter(|_| !super::super::sessions::is_loopback(address))
        else {
            return true;
        };
        let is_same = |known: &Multiaddr| source(known).is_some_and(|other| other == block);
        let mut others = 0;
        for bucket in self.inner.kbuckets() {
            others += bucket
                .iter()
                .filter(|entry| entry.node.key.preimage() != peer)
                .filter(|entry| entry.node.value.iter().any(is_same))
                .count();
        }
        others < TABLE_SOURCE_MAX
    }

    /// Forgets the oldest of too many addresses of a member.
    fn bound_addresses(&mut self, peer: PeerId, addresses: &kad::Addresses) {
        for old in addresses.iter().take(addresses.len().saturating_sub(TABLE_ADDRESSES_MAX)) {
            self.inner.remove_address(&peer, old);
        }
    }
}

impl NetworkBehaviour for TableBehaviour {
    type ConnectionHandler = THandler<kad::Behaviour<NoRecords>>;
    type ToSwarm = kad::Event;

    fn handle_established_inbound_connection(
        &mut self,
        connection: ConnectionId,
        peer: PeerId,
        local: &Multiaddr,
        remote: &Multiaddr,
    ) -> Result<THandler<Self>, ConnectionDenied> {
        self.inner.handle_established_inbound_connection(connection, peer, local, remote)
    }

    /// Lets dials of the table's own through, which name no address, while there are few, and gives them
    /// the addresses that strangers may name.
    fn handle_pending_outbound_connection(
        &mut self,
        connection: ConnectionId,
        peer: Option<PeerId>,
        addresses: &[Multiaddr],
        role: Endpoint,
    ) -> Result<Vec<Multiaddr>, ConnectionDenied> {
        if !addresses.is_empty() {
            return Ok(Vec::new());
        }
        let told =
            self.inner.handle_pending_outbound_connection(connection, peer, addresses, role)?;
        let mut may: Vec<Multiaddr> =
            told.into_iter().filter(|address| self.scope.admits(address)).collect();
        may.sort();
        may.dedup();
        may.truncate(TABLE_ADDRESSES_MAX);
        if !may.is_empty() && !self.admits_dial(Instant::now()) {
            return Err(ConnectionDenied::new(DialledEnough));
        }
        Ok(may)
    }

    fn handle_established_outbound_connection(
        &mut self,
        connection: ConnectionId,
        peer: PeerId,
        address: &Multiaddr,
        role: Endpoint,
        port: PortUse,
    ) -> Result<THandler<Self>, ConnectionDenied> {
        self.inner.handle_established_outbound_connection(connection, peer, address, role, port)
    }

    fn on_swarm_event(&mut self, event: FromSwarm<'_>) {
        if let FromSwarm::ConnectionClosed(ConnectionClosed {
            peer_id,
            remaining_established: 0,
            ..
        }) = event
        {
            self.heard.remove(&peer_id);
        }
        self.inner.on_swarm_event(event);
    }

    fn on_connection_handler_event(
        &mut self,
        peer: PeerId,
        connection: ConnectionId,
        event: THandlerOutEvent<Self>,
    ) {
        let now = Instant::now();
        let heard = self.heard.entry(peer).or_insert_with(|| SpanRation::new(now));
        if heard.takes(now, TABLE_FRAMES_PER_SECOND_MAX, SECOND) {
            self.inner.on_connection_handler_event(peer, connection, event);
        } else if !self.closing.contains(&(peer, connection)) {
            // The swarm polls after it has handed in an event.
            self.closing.push_back((peer, connection));
        }
    }

    fn poll(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<ToSwarm<Self::ToSwarm, THandlerInEvent<Self>>> {
        if let Some((peer_id, connection)) = self.closing.pop_front() {
            let connection = CloseConnection::One(connection);
            return Poll::Ready(ToSwarm::CloseConnection { peer_id, connection });
        }
        let event = std::task::ready!(self.inner.poll(cx));
        if let ToSwarm::GenerateEvent(kad::Event::RoutingUpdated { peer, addresses, .. }) = &event {
            self.bound_addresses(*peer, addresses);
        }
        Poll::Ready(match event {
            ToSwarm::Dial { opts } => match opts.get_peer_id() {
                // As for other dials: from the port that is listened on, two that dial each other at
                // once would have no handshake.
                Some(peer) => ToSwarm::Dial {
                    opts: DialOpts::peer_id(peer)
                        .condition(PeerCondition::DisconnectedAndNotDialing)
                        .allocate_new_port()
                        .build(),
                },
                None => ToSwarm::Dial { opts },
            },
            event => event,
        })
    }
}

#[cfg(test)]
mod tests;
