//! Followers: nodes without a vote that this server lets in.
//!
//! An invite lets a node in; so does having been a server of the sim until it was removed. What a
//! guest may say is little: it asks for what it missed, it asks questions, and it hands on acts of
//! its clients. Whatever of agreement it says else is passed over.
//!
//! Every server counts for itself how many nodes an invite let in. A node that was let in by it once
//! comes back without being counted again.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use metatopia_consensus::Message;
use metatopia_protocol::{
    Answer, Applicant, Grant, INVITE_VALID_MAX_MS, Invite, InviteError, JoinRefusal, JoinRequest,
    SignedInvite,
};
use metatopia_sim::World;
use metatopia_types::{
    Contact, Digest, Millis, PublicKey, Verify, limits::CONTACT_BYTES_MAX, wire, wire::DecodeError,
};
use serde::{Deserialize, Serialize};

use crate::{Asker, Effect, PeerMessage, Replica, rate::Rate};

/// Followers of one server. Each costs as much to send to as another server does.
pub const GUESTS_MAX: usize = 32;

/// Invites whose uses are remembered until they expire or their issuer may invite no more. Beyond it
/// each issuer still has [`INVITES_PER_ISSUER`], so that one that lies shuts out nobody else's.
pub const INVITES_KNOWN_MAX: usize = 256;

/// Invites of one issuer that are remembered in any case. At most 96 issue invites at a time: 31
/// servers, 64 admins and one for the time being.
pub const INVITES_PER_ISSUER: usize = 32;

/// Followers that gave way to others and are remembered, so that they are not counted again.
pub const GAVE_WAY_MAX: usize = 256;

/// Frames of one follower that are looked at in a second, and after a quiet one at once: what 64
/// clients of it say who act twenty times a second. They are counted by the clock and not by turns,
/// because people go on while a turn takes long.
pub const GUEST_FRAMES_PER_SECOND: u32 = 1_280;

/// So far may a follower be ahead of its rate.
const AHEAD: Duration = Duration::from_secs(1);

/// Largest encoded [`Guests`]: 32 of 500 B, 256 and 96 times 32 invites of 80 B, and 256 keys are
/// 283 KiB.
const GUESTS_BYTES_MAX: usize = 320 * 1_024;

/// A follower.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Guest {
    /// Its libp2p peer id, in its text form; empty if that is the one of the guest's key.
    pub peer_id: String,
    /// What it would vote with, if it stands by.
    pub applicant: Option<Applicant>,
}

/// What is remembered of an invite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Used {
    /// The nodes that it let in.
    nodes: u32,
    /// When it does so no more.
    expires: Millis,
    /// Who gave it.
    issuer: PublicKey,
}

/// All followers of one server, and what it remembers of invites.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Guests {
    guests: BTreeMap<PublicKey, Guest>,
    /// How often an invite was used.
    used: BTreeMap<Digest, Used>,
    /// Who was let in and gave way while it was away.
    gave_way: BTreeSet<PublicKey>,
    /// How much each said of late.
    #[serde(skip)]
    said: BTreeMap<PublicKey, Rate>,
}

impl Guests {
    /// For the disk.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        wire::encode(self)
    }

    /// From the disk.
    ///
    /// # Errors
    /// See [`DecodeError`].
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        wire::decode(bytes, GUESTS_BYTES_MAX)
    }

    /// Each with the key that names it: of its node, or of the votes that it cast when it was a
    /// server.
    pub fn iter(&self) -> impl Iterator<Item = (PublicKey, &Guest)> {
        self.guests.iter().map(|(key, guest)| (*key, guest))
    }

    /// Was a use of an invite counted that `before` does not know of?
    #[must_use]
    pub fn counted_since(&self, before: &Self) -> bool {
        let counted = |id: &Digest| before.used.get(id).map_or(0, |used| used.nodes);
        self.used.iter().any(|(id, used)| used.nodes > counted(id))
    }

    /// Who stands by for a vote, ascending by key.
    pub(crate) fn applicants(&self) -> Vec<Applicant> {
        let mut all: Vec<_> = self.guests.values().filter_map(|g| g.applicant.clone()).collect();
        all.sort_by_key(|applicant| applicant.key);
        all.dedup_by_key(|applicant| applicant.key);
        all
    }

    /// Is this frame of a guest looked at?
    pub(crate) fn may_say(
        &mut self,
        now: Duration,
        guest: PublicKey,
        message: Option<&PeerMessage>,
    ) -> bool {
        self.said.retain(|_, said| said.is_ahead(now));
        let mut said = self.said.get(&guest).copied().unwrap_or_default();
        if !said.take(now, GUEST_FRAMES_PER_SECOND, AHEAD) {
            return false;
        }
        self.said.insert(guest, said);
        match message {
            Some(PeerMessage::Agreement(message)) => {
                matches!(message, Message::Ask { .. } | Message::Want(_))
            }
            Some(PeerMessage::Submission(_) | PeerMessage::Ask { .. }) => true,
            Some(PeerMessage::Entrance(_) | PeerMessage::Answer { .. }) | None => false,
        }
    }

    /// Was this node let in once?
    fn came_before(&self, node: &PublicKey) -> bool {
        self.guests.contains_key(node) || self.gave_way.contains(node)
    }

    /// Who gives way to one more: nobody while there is room, then somebody who is not connected.
    fn gives_way(
        &self,
        is_up: impl Fn(&PublicKey) -> bool,
    ) -> Result<Option<PublicKey>, JoinRefusal> {
        if self.guests.len() < GUESTS_MAX {
            return Ok(None);
        }
        let away = self.guests.keys().find(|guest| !is_up(guest)).copied();
        away.map(Some).ok_or(JoinRefusal::Full)
    }

    fn take_in(&mut self, node: PublicKey, guest: Guest, gives_way: Option<PublicKey>) {
        if let Some(gone) = gives_way {
            self.guests.remove(&gone);
            if self.gave_way.len() >= GAVE_WAY_MAX {
                self.gave_way.pop_first();
            }
            self.gave_way.insert(gone);
        }
        self.gave_way.remove(&node);
        self.guests.insert(node, guest);
    }

    /// Counts one more use. Forgets the invites that let nobody in any more.
    fn take_up(
        &mut self,
        invite: &SignedInvite,
        now: Millis,
        may_invite: impl Fn(&PublicKey) -> bool,
    ) -> Result<(), JoinRefusal> {
        let Invite { expires, issuer, uses: most, .. } = invite.invite;
        if expires > now.plus(INVITE_VALID_MAX_MS) {
            return Err(JoinRefusal::TooLong);
        }
        self.used.retain(|_, used| used.expires > now && may_invite(&used.issuer));
        let id = invite.invite.id();
        if !self.used.contains_key(&id) && !self.has_room_for(&issuer) {
            return Err(JoinRefusal::Full);
        }
        let used = self.used.entry(id).or_insert(Used { nodes: 0, expires, issuer });
        if used.nodes >= most {
            return Err(JoinRefusal::Used(used.nodes));
        }
        used.nodes = used.nodes.saturating_add(1);
        Ok(())
    }

    /// Can one more invite of this issuer be remembered?
    fn has_room_for(&self, issuer: &PublicKey) -> bool {
        let own = self.used.values().filter(|used| used.issuer == *issuer).count();
        self.used.len() < INVITES_KNOWN_MAX || own < INVITES_PER_ISSUER
    }

    fn admit(
        &mut self,
        node: PublicKey,
        request: &JoinRequest,
        world: &World,
        is_up: impl Fn(&PublicKey) -> bool,
    ) -> Result<(), JoinRefusal> {
        let is_in = self.guests.contains_key(&node);
        let gives_way = if is_in { None } else { self.gives_way(is_up)? };
        if !self.came_before(&node) {
            self.take_up(&request.invite, world.time(), |issuer| may_invite(world, issuer))?;
        }
        let guest = Guest { peer_id: String::new(), applicant: request.applicant.clone() };
        self.take_in(node, guest, gives_way);
        Ok(())
    }
}

/// Servers and admins give invites.
fn may_invite(world: &World, issuer: &PublicKey) -> bool {
    world.roster().members().contains_key(issuer) || world.governance().is_admin(issuer)
}

/// What can be said of a request without counting it.
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

impl Replica {
    /// Followers are let in from now on.
    pub(crate) fn welcome(&mut self, contact: Contact, guests: Guests) {
        self.welcome = Some(contact);
        self.guests = guests;
        self.tell_guests();
    }

    fn tell_guests(&mut self) {
        self.effects.push_back(Effect::Guests(Box::new(self.guests.clone())));
    }

    /// Is it connected as a follower, and neither a server nor a standby?
    pub(crate) fn is_guest(&self, key: &PublicKey) -> bool {
        self.guests.guests.contains_key(key)
            && !self.contacts.contains_key(key)
            && !self.agreement.is_member(key)
    }

    /// Somebody wants to follow.
    pub(crate) fn join(&mut self, asker: Asker, request: &JoinRequest) -> Answer {
        let key = match asker {
            Asker::Client(client, _) => self.sessions.key(client),
            _ => None,
        };
        let (Some(node), Some(world)) = (key, self.world.as_deref()) else {
            return Answer::Unknown;
        };
        let scheme = &*self.config.agreement.scheme;
        // Who came by an invite while it was good comes back after that.
        let came = self.guests.came_before(&node);
        let good_at = if came { Millis(0) } else { world.time() };
        let Some(contact) = self.welcome.clone() else {
            return Answer::Join(Err(JoinRefusal::Full));
        };
        let peers = &self.peers;
        let guests = &mut self.guests;
        let admitted = check(request, world, good_at, scheme)
            .and_then(|()| guests.admit(node, request, world, |guest| peers.contains(guest)));
        match admitted {
            Ok(()) => {
                self.tell_guests();
                Answer::Join(Ok(contact))
            }
            Err(why) => Answer::Join(Err(why)),
        }
    }

    /// Who was a server until now and is none any more may go on following.
    pub(crate) fn keep_following(&mut self, before: BTreeMap<PublicKey, Contact>) {
        let own = self.config.agreement.signer.public();
        let mut changed = false;
        for (key, contact) in before {
            if key == own || self.contacts.contains_key(&key) || contact.peer_id.is_empty() {
                continue;
            }
            let peers = &self.peers;
            if let Ok(gives_way) = self.guests.gives_way(|guest| peers.contains(guest)) {
                let guest = Guest { peer_id: contact.peer_id, applicant: None };
                self.guests.take_in(key, guest, gives_way);
                changed = true;
            }
        }
        if changed {
            self.tell_guests();
        }
    }
}
