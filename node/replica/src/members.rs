//! Membership: the servers and standbys of the sim, the followers that this server lets in, the peers
//! that are connected, and where clients find the servers.

pub(crate) mod endpoints;
pub(crate) mod followers;
pub(crate) mod join_retry;

use std::collections::{BTreeMap, BTreeSet};

use metatopia_consensus::Agreement;
use metatopia_protocol::{Answer, JoinRefusal, JoinRequest, SignedAnnouncement};
use metatopia_sim::{World, limits::PROOF_HEIGHTS};
use metatopia_types::{Act, Height, Member, NodeContact, PublicKey};

use crate::{
    Config, Effect, EndpointChange, Endpoints, Followers, OwnEndpoint, PeerMessage,
    context::ReplicaContext,
};

/// Heights after which a standby states again that it is ready. Its proof counts for
/// [`PROOFS_KEPT`](metatopia_sim::limits::PROOFS_KEPT) times [`PROOF_HEIGHTS`].
pub(crate) const READY_HEIGHTS: u64 = 2 * PROOF_HEIGHTS;

/// The nodes of the sim, as one server knows them.
#[derive(Debug)]
pub(crate) struct Membership {
    /// The connected peers.
    peers: BTreeSet<PublicKey>,
    /// The servers and standbys of the sim, with their addresses.
    contacts: BTreeMap<PublicKey, NodeContact>,
    endpoints: Endpoints,
    /// The address where followers reach this server. Without it no follower is let in.
    welcome: Option<NodeContact>,
    followers: Followers,
    /// The height from which on a standby states again that it is ready.
    ready_from: Height,
}

/// The connected peers, as the other machines may see them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConnectedPeers<'a>(&'a Membership);

impl<'a> ConnectedPeers<'a> {
    /// Returns whether no peer is connected.
    pub(crate) fn is_empty(self) -> bool {
        self.0.peers.is_empty()
    }

    /// Returns how many peers are connected.
    pub(crate) fn len(self) -> usize {
        self.0.peers.len()
    }

    /// Returns whether this peer is connected.
    pub(crate) fn contains(self, peer: &PublicKey) -> bool {
        self.0.peers.contains(peer)
    }

    /// Returns whether this peer is a follower, and neither a server nor a standby.
    pub(crate) fn is_follower(self, agreement: &Agreement, peer: &PublicKey) -> bool {
        self.0.is_follower(agreement, peer)
    }

    /// Returns the connected peers that are no followers.
    pub(crate) fn servers<'b>(self, agreement: &'b Agreement) -> impl Iterator<Item = &'b PublicKey>
    where
        'a: 'b,
    {
        self.0.peers.iter().filter(move |peer| !self.is_follower(agreement, peer))
    }
}

impl Membership {
    /// Begins without any peer.
    pub(crate) fn new(config: &Config) -> Self {
        Self {
            peers: BTreeSet::new(),
            contacts: BTreeMap::new(),
            endpoints: Endpoints::new(config.sim, config.agreement.signer.public()),
            welcome: None,
            followers: Followers::default(),
            ready_from: Height(0),
        }
    }

    /// Notes that a peer connected.
    pub(crate) fn peer_up(&mut self, peer: PublicKey) {
        self.peers.insert(peer);
    }

    /// Notes that a peer disconnected.
    pub(crate) fn peer_down(&mut self, peer: &PublicKey) {
        self.peers.remove(peer);
    }

    /// Returns the connected peers.
    pub(crate) const fn connected(&self) -> ConnectedPeers<'_> {
        ConnectedPeers(self)
    }

    /// Returns whether the node is let in as a follower, and is neither a server nor a standby.
    fn is_follower(&self, agreement: &Agreement, key: &PublicKey) -> bool {
        self.followers.is_known(key)
            && !self.contacts.contains_key(key)
            && !agreement.is_member(key)
    }

    /// Reads a frame of a peer. Returns none if it is nonsense, or if a follower may not send it now. A
    /// peer that sends nonsense gets no answer. Its votes still count.
    pub(crate) fn read(
        &mut self,
        ctx: &ReplicaContext<'_>,
        from: PublicKey,
        frame: &[u8],
    ) -> Option<PeerMessage> {
        let message = PeerMessage::decode(frame).ok();
        let may_send = !self.is_follower(ctx.agreement, &from)
            || self.followers.may_send(ctx.now.monotonic, from, message.as_ref());
        message.filter(|_| may_send)
    }

    /// Lets followers in from now on.
    pub(crate) fn welcome(
        &mut self,
        ctx: &mut ReplicaContext<'_>,
        contact: NodeContact,
        followers: Followers,
    ) {
        self.welcome = Some(contact);
        self.followers = followers;
        self.publish_followers(ctx);
    }

    fn publish_followers(&self, ctx: &mut ReplicaContext<'_>) {
        ctx.emit(Effect::Followers(Box::new(self.followers.clone())));
    }

    /// Answers a request of a session with this key to follow.
    pub(crate) fn join(
        &mut self,
        ctx: &mut ReplicaContext<'_>,
        key: Option<PublicKey>,
        request: &JoinRequest,
    ) -> Answer {
        let (Some(node), Some(world)) = (key, ctx.execution.world()) else {
            return Answer::Unknown;
        };
        let Some(contact) = self.welcome.clone() else {
            return Answer::Join(Err(JoinRefusal::Full));
        };
        let (peers, scheme) = (&self.peers, &*ctx.config.agreement.scheme);
        let is_up = |follower: &PublicKey| peers.contains(follower);
        match self.followers.admit(node, request, world, scheme, is_up) {
            Ok(()) => {
                self.publish_followers(ctx);
                Answer::Join(Ok(contact))
            }
            Err(why) => Answer::Join(Err(why)),
        }
    }

    /// Returns the answer about the followers that want to vote.
    pub(crate) fn applicants(&self) -> Answer {
        Answer::Applicants(self.followers.applicants())
    }

    /// Returns the answer about the endpoints of the servers.
    pub(crate) fn servers(&self) -> Answer {
        Answer::Servers(self.endpoints.known().cloned().collect())
    }

    /// Publishes the servers to keep connections with, if they changed.
    pub(crate) fn update_contacts(&mut self, ctx: &mut ReplicaContext<'_>) {
        let world = ctx.execution.world();
        let world = world.expect("contacts are read from a world at hand");
        let contacts = contacts_of(world);
        if contacts != self.contacts {
            let before = std::mem::replace(&mut self.contacts, contacts.clone());
            // Followers come first: a server that becomes a follower is in one of the two lists all the
            // time, so that the driver does not end its connection.
            self.keep_former_servers(ctx, before);
            ctx.emit(Effect::Contacts(contacts));
            self.update_endpoint_servers(ctx);
        }
    }

    /// Makes followers of the servers that the sim removed.
    fn keep_former_servers(
        &mut self,
        ctx: &mut ReplicaContext<'_>,
        before: BTreeMap<PublicKey, NodeContact>,
    ) {
        let own = ctx.own_key();
        let mut changed = false;
        for (key, contact) in before {
            if key == own || self.contacts.contains_key(&key) || contact.peer_id.is_empty() {
                continue;
            }
            let peers = &self.peers;
            let is_up = |follower: &PublicKey| peers.contains(follower);
            changed |= self.followers.keep_former_server(key, contact.peer_id, is_up);
        }
        if changed {
            self.publish_followers(ctx);
        }
    }

    /// Announces where clients of this server connect. Without `endpoint` it repeats the last one.
    pub(crate) fn announce(&mut self, ctx: &mut ReplicaContext<'_>, endpoint: Option<OwnEndpoint>) {
        let agreement = &ctx.config.agreement;
        let (signer, scheme) = (&*agreement.signer, &*agreement.scheme);
        if let Some(signed) = self.endpoints.announce(endpoint, ctx.now, signer, scheme) {
            forward_announcement(ctx, None, signed);
            self.publish_endpoints(ctx);
        }
    }

    /// Takes an announcement that a peer sent: a server of any endpoint, a follower of its own.
    pub(crate) fn receive_announcement(
        &mut self,
        ctx: &mut ReplicaContext<'_>,
        from: PublicKey,
        signed: SignedAnnouncement,
    ) {
        let scheme = &*ctx.config.agreement.scheme;
        if self.is_follower(ctx.agreement, &from) {
            let followers = &self.followers;
            if signed.announcement.server == from {
                let is_follower = |key: &PublicKey| followers.is_known(key);
                self.endpoints.receive_from_follower(signed, ctx.now, is_follower, scheme);
            }
            return;
        }
        let is_server = |server: &PublicKey| self.contacts.contains_key(server);
        match self.endpoints.receive(signed.clone(), ctx.now, is_server, scheme) {
            EndpointChange::Ignored => {}
            EndpointChange::OwnIsOlder => self.announce(ctx, None),
            EndpointChange::New { pass_on } => {
                if pass_on {
                    forward_announcement(ctx, None, signed);
                }
                self.publish_endpoints(ctx);
            }
        }
    }

    /// Sends the known endpoints to a peer that connected.
    pub(crate) fn send_endpoints(&self, ctx: &mut ReplicaContext<'_>, peer: PublicKey) {
        for known in self.endpoints.known() {
            forward_announcement(ctx, Some(peer), known.clone());
        }
    }

    /// Updates the endpoints after the servers of the sim changed.
    fn update_endpoint_servers(&mut self, ctx: &mut ReplicaContext<'_>) {
        let is_server = |server: &PublicKey| self.contacts.contains_key(server);
        let gone = self.endpoints.retain_servers(is_server);
        let came = self.endpoints.promote(is_server);
        if gone || !came.is_empty() {
            self.publish_endpoints(ctx);
        }
        came.into_iter().for_each(|signed| forward_announcement(ctx, None, signed));
    }

    /// Publishes the known endpoints to the driver, which lets pages of these servers connect.
    fn publish_endpoints(&self, ctx: &mut ReplicaContext<'_>) {
        let known = self.endpoints.known().cloned().collect();
        ctx.emit(Effect::Servers(known));
    }

    /// Returns the act by which a standby proves, by its state, that it follows. It is valid for
    /// [`READY_HEIGHTS`]. A standby that is far behind fails, because its act has expired, and repeats it
    /// later.
    pub(crate) fn readiness(&mut self, ctx: &ReplicaContext<'_>) -> Option<Act> {
        let own = ctx.own_key();
        // A server that cannot write its log is not ready to vote.
        let world = ctx.execution.world().filter(|_| !ctx.is_muted())?;
        let height = world.height();
        if height < self.ready_from || !world.roster().calls(&own) {
            return None;
        }
        let proof = world.readiness(&own)?;
        self.ready_from = height.plus(READY_HEIGHTS);
        Some(Act::Ready { height, proof })
    }
}

/// Returns the servers and the standbys of a sim, with their addresses. A standby that names the peer id of
/// a server is left out: sessions with that server would be taken for its own.
fn contacts_of(world: &World) -> BTreeMap<PublicKey, NodeContact> {
    let (members, standbys) = (world.roster().members(), world.roster().standbys());
    let is_free = |standby: &Member| {
        let peer = &standby.contact.peer_id;
        peer.is_empty() || members.values().all(|member| member.contact.peer_id != *peer)
    };
    let standbys = standbys.iter().filter(|(_, standby)| is_free(standby));
    let all = members.iter().chain(standbys);
    all.map(|(key, member)| (*key, member.contact.clone())).collect()
}

fn forward_announcement(
    ctx: &mut ReplicaContext<'_>,
    to: Option<PublicKey>,
    signed: SignedAnnouncement,
) {
    ctx.emit_to_peers(to, &PeerMessage::Endpoint(Box::new(signed)));
}
