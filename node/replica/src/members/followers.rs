//! Followers: nodes without a vote that this server lets in.
//!
//! A node becomes a follower by an invite, or when it stops being a server of the sim. A follower may
//! ask for turns that it missed, ask questions, and hand on acts of its clients. Its other messages
//! about agreement are dropped.
//!
//! Every server counts for itself how many nodes an invite let in. A node that comes back to the same
//! server is not counted again.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use metatopia_consensus::Message;
use metatopia_protocol::{
    Applicant, Grant, INVITE_VALID_MAX_MS, Invite, InviteError, JoinRefusal, JoinRequest,
    SignedInvite,
};
use metatopia_sim::{ActTarget, Right, World};
use metatopia_types::{
    Digest, Millis, PublicKey, SteadyRate, Verify, limits::CONTACT_BYTES_MAX, wire,
    wire::DecodeError,
};
use serde::{Deserialize, Serialize};

use crate::PeerMessage;

/// Followers of one server. Each costs as much to send to as another server does.
pub const FOLLOWERS_MAX: usize = 32;

/// Invites whose uses are remembered until they expire or their issuer may invite no more. Beyond it
/// each issuer still has [`INVITES_PER_ISSUER`], so that one that lies shuts out nobody else's.
pub const INVITES_KNOWN_MAX: usize = 256;

/// Invites of one issuer that are remembered in any case. At most 96 issue invites at a time: 31
/// servers, 64 admins and one for the time being.
pub const INVITES_PER_ISSUER: usize = 32;

/// Followers that gave way to others and are remembered, so that they are not counted again when they
/// come back.
pub const GAVE_WAY_MAX: usize = 256;

/// Frames of one follower that are read in a second; after a quiet second as many at once. That is
/// enough for 64 clients that act twenty times a second. The clock counts them and not the turns,
/// because clients go on acting while a turn takes long.
pub const FOLLOWER_FRAMES_PER_SECOND: u32 = 1_280;

/// How far a follower may be ahead of its rate.
const AHEAD: Duration = Duration::from_secs(1);

/// Largest encoded [`Followers`]: 32 of 500 B, 256 and 96 times 32 invites of 80 B, and 256 keys are
/// 283 KiB.
const FOLLOWERS_BYTES_MAX: usize = 320 * 1_024;

/// A node that follows the sim without a vote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Follower {
    /// The libp2p peer id as text; empty if it is the one of the follower's key.
    pub peer_id: String,
    /// What it would vote with, if it stands by.
    pub applicant: Option<Applicant>,
}

/// The uses of one invite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct InviteUse {
    /// How many nodes the invite let in.
    nodes: u32,
    /// When the invite expires.
    expires: Millis,
    /// The key that signed the invite.
    issuer: PublicKey,
}

/// All followers of one server, and what it remembers of invites.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Followers {
    followers: BTreeMap<PublicKey, Follower>,
    /// How often an invite was used.
    invite_uses: BTreeMap<Digest, InviteUse>,
    /// Nodes that were let in and gave way to others while they were not connected.
    gave_way: BTreeSet<PublicKey>,
    /// The rate of frames of each follower.
    #[serde(skip)]
    frames: BTreeMap<PublicKey, SteadyRate<Duration>>,
}

impl Followers {
    /// Returns the bytes that the disk keeps.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        wire::encode(self)
    }

    /// Reads the bytes that [`Followers::encode`] made.
    ///
    /// # Errors
    /// See [`DecodeError`].
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        wire::decode(bytes, FOLLOWERS_BYTES_MAX)
    }

    /// Returns each follower with its key: the key of its node, or the vote key of a former server.
    pub fn iter(&self) -> impl Iterator<Item = (PublicKey, &Follower)> {
        self.followers.iter().map(|(key, follower)| (*key, follower))
    }

    /// Returns whether an invite was used since `before`.
    #[must_use]
    pub fn counted_since(&self, before: &Self) -> bool {
        let counted = |id: &Digest| before.invite_uses.get(id).map_or(0, |used| used.nodes);
        self.invite_uses.iter().any(|(id, used)| used.nodes > counted(id))
    }

    /// Returns the followers that want to vote, ascending by key.
    pub(crate) fn applicants(&self) -> Vec<Applicant> {
        let mut all: Vec<_> = self.followers.values().filter_map(|g| g.applicant.clone()).collect();
        all.sort_by_key(|applicant| applicant.key);
        all.dedup_by_key(|applicant| applicant.key);
        all
    }

    /// Returns whether the follower may send this message now, and counts the message.
    pub(crate) fn may_send(
        &mut self,
        now: Duration,
        follower: PublicKey,
        message: Option<&PeerMessage>,
    ) -> bool {
        self.frames.retain(|_, frames| frames.due(now) > now);
        let mut frames = self.frames.get(&follower).copied().unwrap_or_default();
        let takes = Duration::from_secs(1) / FOLLOWER_FRAMES_PER_SECOND;
        if !frames.take(takes, AHEAD, now) {
            return false;
        }
        self.frames.insert(follower, frames);
        match message {
            Some(PeerMessage::Agreement(message)) => {
                matches!(message, Message::Ask { .. } | Message::Want(_))
            }
            Some(
                PeerMessage::Submission(_) | PeerMessage::Ask { .. } | PeerMessage::Endpoint(_),
            ) => true,
            Some(PeerMessage::Answer { .. }) | None => false,
        }
    }

    /// Returns whether this node is a follower.
    pub(crate) fn is_known(&self, node: &PublicKey) -> bool {
        self.followers.contains_key(node)
    }

    /// Returns whether this node was ever let in.
    fn was_admitted(&self, node: &PublicKey) -> bool {
        self.followers.contains_key(node) || self.gave_way.contains(node)
    }

    /// Returns the follower that gives way to one more: none while there is room, then one that is not
    /// connected.
    fn gives_way(
        &self,
        is_up: impl Fn(&PublicKey) -> bool,
    ) -> Result<Option<PublicKey>, JoinRefusal> {
        if self.followers.len() < FOLLOWERS_MAX {
            return Ok(None);
        }
        let away = self.followers.keys().find(|follower| !is_up(follower)).copied();
        away.map(Some).ok_or(JoinRefusal::Full)
    }

    /// Makes a follower of a former server. Returns false if there is no room.
    pub(super) fn keep_former_server(
        &mut self,
        node: PublicKey,
        peer_id: String,
        is_up: impl Fn(&PublicKey) -> bool,
    ) -> bool {
        let Ok(gives_way) = self.gives_way(is_up) else {
            return false;
        };
        self.insert(node, Follower { peer_id, applicant: None }, gives_way);
        true
    }

    fn insert(&mut self, node: PublicKey, follower: Follower, gives_way: Option<PublicKey>) {
        if let Some(gone) = gives_way {
            self.followers.remove(&gone);
            if self.gave_way.len() >= GAVE_WAY_MAX {
                self.gave_way.pop_first();
            }
            self.gave_way.insert(gone);
        }
        self.gave_way.remove(&node);
        self.followers.insert(node, follower);
    }

    /// Counts one more use of an invite. Forgets the invites that are not valid any more.
    fn count_use(
        &mut self,
        invite: &SignedInvite,
        now: Millis,
        may_invite: impl Fn(&PublicKey) -> bool,
    ) -> Result<(), JoinRefusal> {
        let Invite { expires, issuer, uses: most, .. } = invite.invite;
        if expires > now.plus(INVITE_VALID_MAX_MS) {
            return Err(JoinRefusal::TooLong);
        }
        self.invite_uses.retain(|_, used| used.expires > now && may_invite(&used.issuer));
        let id = invite.invite.id();
        if !self.invite_uses.contains_key(&id) && !self.has_room_for(&issuer) {
            return Err(JoinRefusal::Full);
        }
        let used = self.invite_uses.entry(id).or_insert(InviteUse { nodes: 0, expires, issuer });
        if used.nodes >= most {
            return Err(JoinRefusal::Used(used.nodes));
        }
        used.nodes = used.nodes.saturating_add(1);
        Ok(())
    }

    /// Returns whether one more invite of this issuer can be remembered.
    fn has_room_for(&self, issuer: &PublicKey) -> bool {
        let own = self.invite_uses.values().filter(|used| used.issuer == *issuer).count();
        self.invite_uses.len() < INVITES_KNOWN_MAX || own < INVITES_PER_ISSUER
    }

    /// Lets a node in if its request is good. `is_up` says who is connected.
    pub(super) fn admit(
        &mut self,
        node: PublicKey,
        request: &JoinRequest,
        world: &World,
        scheme: &dyn Verify,
        is_up: impl Fn(&PublicKey) -> bool,
    ) -> Result<(), JoinRefusal> {
        // A node that came while its invite was valid may come back after that.
        let good_at = if self.was_admitted(&node) { Millis(0) } else { world.time() };
        check(request, world, good_at, scheme)?;
        let is_in = self.followers.contains_key(&node);
        let gives_way = if is_in { None } else { self.gives_way(is_up)? };
        if !self.was_admitted(&node) {
            self.count_use(&request.invite, world.time(), |issuer| may_invite(world, issuer))?;
        }
        let follower = Follower { peer_id: String::new(), applicant: request.applicant.clone() };
        self.insert(node, follower, gives_way);
        Ok(())
    }
}

/// Returns whether this key may issue invites: servers and admins may.
fn may_invite(world: &World, issuer: &PublicKey) -> bool {
    world.roster().members().contains_key(issuer)
        || world.may(issuer, Right::Admit, &ActTarget::SIM).is_ok()
}

/// Checks all rules of a request that need no counting.
fn check(
    request: &JoinRequest,
    world: &World,
    now: Millis,
    scheme: &dyn Verify,
) -> Result<(), JoinRefusal> {
    let invite = &request.invite.invite;
    if invite.sim() != world.sim() {
        return Err(JoinRefusal::OtherSim(invite.sim()));
    }
    if !may_invite(world, &invite.issuer) {
        return Err(JoinRefusal::Issuer(invite.issuer));
    }
    request.invite.check_issued(now, scheme).map_err(|error| match error {
        InviteError::Expired { .. } => JoinRefusal::Expired,
        _ => JoinRefusal::Invalid,
    })?;
    let Some(Applicant { key, contact }) = &request.applicant else {
        return Ok(());
    };
    if invite.grant != Grant::StandBy {
        return Err(JoinRefusal::Grant);
    }
    let longest = contact.peer_id.len().max(contact.address.len());
    if !scheme.is_key(key) || longest > CONTACT_BYTES_MAX {
        return Err(JoinRefusal::Invalid);
    }
    Ok(())
}
