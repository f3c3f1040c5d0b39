//! Profiles: what people say of themselves, each in a document that its owner signed, with a picture.
//!
//! Keys cost nothing in an open sim, so newcomers fill no more than half of the room, and push out nobody who was
//! seen on enough days. What is full makes room at the cost of newcomers first, then of who was away for longest.

use std::collections::{BTreeMap, BTreeSet};

use metatopia_types::{BlobId, Height, PublicKey, Refusal, SentProfile, SignedProfile};
use serde::{Deserialize, Serialize};

use crate::{
    limits::{
        PICTURES_KIB_MAX, PICTURES_OF_NEWCOMERS_KIB_MAX, PROFILE_MS, PROFILES_MAX,
        PROFILES_OF_NEWCOMERS_MAX,
    },
    state::{Player, State, World},
    tree::Tracked,
};

/// What a sim keeps of the profile of one person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptProfile {
    /// The version of the document that came last. Only a newer one takes its place, also if it was taken away.
    pub version: u32,
    /// The governance time at which it came.
    pub time: u64,
    /// The turn that brought it, and the blob that holds it there, by which it can be forgotten; none once its owner
    /// has another key.
    pub sent: Option<(Height, BlobId)>,
    /// The document; none if its owner or a moderator took it away.
    pub signed: Option<SignedProfile>,
}

/// How long something is kept of a person when there is no room for all: the least goes first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct KeepRank {
    /// Whether the person was seen on enough days.
    regular: bool,
    /// The governance time of the last login.
    last_login: u64,
}

impl KeepRank {
    /// Returns that of a player.
    pub(crate) const fn of(player: &Player) -> Self {
        Self { regular: player.since.regular.is_some(), last_login: player.last_login }
    }
}

/// How much room something has, and how much of it newcomers may fill.
type RoomSize = (usize, usize);

/// The room for what is kept of people.
#[derive(Debug, Clone, Default)]
struct RankedRoom {
    places: BTreeMap<PublicKey, (KeepRank, usize)>,
    order: BTreeSet<(KeepRank, PublicKey)>,
    used: usize,
    by_newcomers: usize,
}

impl RankedRoom {
    /// Notes that something of this weight is kept of a person, in place of what was before.
    fn put(&mut self, key: PublicKey, rank: KeepRank, weight: usize) {
        self.take(&key);
        self.places.insert(key, (rank, weight));
        self.order.insert((rank, key));
        self.used += weight;
        self.by_newcomers += if rank.regular { 0 } else { weight };
    }

    /// Notes that nothing is kept of a person any more.
    fn take(&mut self, key: &PublicKey) {
        let Some((rank, weight)) = self.places.remove(key) else { return };
        self.order.remove(&(rank, *key));
        self.used -= weight;
        self.by_newcomers -= if rank.regular { 0 } else { weight };
    }

    /// Gives a person another rank, if something is kept of her.
    fn restand(&mut self, key: &PublicKey, rank: KeepRank) {
        if let Some((before, weight)) = self.places.get(key).copied()
            && before != rank
        {
            self.put(*key, rank, weight);
        }
    }

    /// Returns whose things go when something of this weight is kept of a person; nothing if there is no room.
    fn leaving(
        &self,
        key: &PublicKey,
        rank: KeepRank,
        weight: usize,
        (most, of_newcomers): RoomSize,
    ) -> Option<Vec<PublicKey>> {
        let own = self.places.get(key).copied();
        let own_new = own.filter(|(rank, _)| !rank.regular);
        let mut used = self.used - own.map_or(0, |(_, weight)| weight) + weight;
        let mut by_newcomers = self.by_newcomers - own_new.map_or(0, |(_, weight)| weight);
        by_newcomers += if rank.regular { 0 } else { weight };
        let mut others = self.order.iter().filter(|(_, other)| other != key);
        let mut leaving = Vec::new();
        while used > most || !rank.regular && by_newcomers > of_newcomers {
            let (other_rank, other) = others.next()?;
            if other_rank.regular && !rank.regular {
                return None;
            }
            let weight = self.places.get(other).map_or(0, |(_, weight)| *weight);
            used -= weight;
            by_newcomers -= if other_rank.regular { 0 } else { weight };
            leaving.push(*other);
        }
        Some(leaving)
    }
}

/// Room for profiles, counted one by one.
const PROFILES_ROOM: RoomSize = (PROFILES_MAX, PROFILES_OF_NEWCOMERS_MAX);

/// Room for pictures, in KiB.
const PICTURES_ROOM: RoomSize = (PICTURES_KIB_MAX, PICTURES_OF_NEWCOMERS_KIB_MAX);

/// Returns how many KiB a picture counts: one that is begun counts as whole, so a large one pushes out few.
const fn picture_weight(picture: &[u8]) -> usize {
    picture.len().div_ceil(1_024)
}

/// The profiles of a sim.
#[derive(Debug, Clone, Default)]
pub(crate) struct Profiles {
    pub(crate) all: Tracked<PublicKey, KeptProfile>,
    /// The pictures that the profiles name.
    pub(crate) pictures: Tracked<PublicKey, Vec<u8>>,
    /// Index: whose profiles go first.
    room: RankedRoom,
    /// Index: whose pictures go first.
    picture_room: RankedRoom,
    /// Index: whose profile the blob of a turn brought. Everybody who has words forgotten asks this.
    senders: BTreeMap<(Height, BlobId), PublicKey>,
}

impl Profiles {
    /// Marks everything as changed.
    pub(super) fn touch_all(&mut self) {
        self.all.touch_all();
        self.pictures.touch_all();
    }

    /// Builds the indexes.
    fn index(&mut self, rank: impl Fn(&PublicKey) -> KeepRank) {
        (self.room, self.picture_room) = (RankedRoom::default(), RankedRoom::default());
        self.all.iter().for_each(|(key, _)| self.room.put(*key, rank(key), 1));
        let sender = |(key, kept): (&PublicKey, &KeptProfile)| Some((kept.sent?, *key));
        self.senders = self.all.iter().filter_map(sender).collect();
        for (key, picture) in self.pictures.iter() {
            self.picture_room.put(*key, rank(key), picture_weight(picture));
        }
    }

    /// Notes how long the profile of a player is kept.
    pub(super) fn restand(&mut self, key: &PublicKey, rank: KeepRank) {
        self.room.restand(key, rank);
        self.picture_room.restand(key, rank);
    }

    /// Checks that there is room for a profile with such a picture.
    ///
    /// # Errors
    /// When there is none.
    fn check_room(&self, key: &PublicKey, rank: KeepRank, picture: &[u8]) -> Result<(), Refusal> {
        let (room, weight) = (&self.room, picture_weight(picture));
        let fits = room.leaving(key, rank, 1, PROFILES_ROOM).is_some();
        let shows = self.picture_room.leaving(key, rank, weight, PICTURES_ROOM).is_some();
        if fits && (shows || weight == 0) { Ok(()) } else { Err(Refusal::ProfilesFull) }
    }

    /// Sets a person's profile, and the picture if one comes with it. Others go where there is no room.
    pub(crate) fn set(
        &mut self,
        key: PublicKey,
        rank: KeepRank,
        kept: KeptProfile,
        picture: Vec<u8>,
    ) {
        let leaving = self.room.leaving(&key, rank, 1, PROFILES_ROOM).unwrap_or_default();
        leaving.iter().for_each(|other| drop(self.take(other)));
        let shows = kept.signed.as_ref().is_some_and(|signed| signed.profile.picture.is_some());
        self.room.put(key, rank, 1);
        self.forget_sent(&key);
        self.senders.extend(kept.sent.map(|sent| (sent, key)));
        self.all.insert(key, kept);
        if !shows {
            return self.take_picture(&key);
        }
        if !picture.is_empty() {
            let weight = picture_weight(&picture);
            let leaving = self.picture_room.leaving(&key, rank, weight, PICTURES_ROOM);
            leaving.into_iter().flatten().for_each(|other| self.take_picture(&other));
            self.picture_room.put(key, rank, weight);
            self.pictures.insert(key, picture);
        }
    }

    /// Forgets the picture of a person.
    fn take_picture(&mut self, key: &PublicKey) {
        self.picture_room.take(key);
        self.pictures.remove(key);
    }

    /// Forgets all that is kept of a person's profile, and returns it.
    pub(crate) fn take(&mut self, key: &PublicKey) -> Option<KeptProfile> {
        self.room.take(key);
        self.take_picture(key);
        self.forget_sent(key);
        self.all.remove(key)
    }

    /// Forgets which blob brought a person's profile. No other profile came in it: the act that carries a profile is
    /// of the key that the profile names, and a version is taken once.
    fn forget_sent(&mut self, key: &PublicKey) {
        if let Some(sent) = self.all.get(key).and_then(|kept| kept.sent) {
            self.senders.remove(&sent);
        }
    }

    /// Takes away what a person says of herself. Only a newer version is shown from then on.
    pub(crate) fn take_away(&mut self, key: &PublicKey) {
        if let Some(kept) = self.all.get_mut(key) {
            kept.signed = None;
            self.take_picture(key);
        }
    }

    /// Returns whose profile a blob of a turn brought, if it is the last one that came of somebody.
    pub(crate) fn sender(&self, height: Height, body: BlobId) -> Option<&PublicKey> {
        self.senders.get(&(height, body))
    }

    /// Forgets the profile of a key that is given up: it names that key, and its owner signs another one. Of what
    /// was taken away, the new key shows the same version no more.
    pub(super) fn give_up(&mut self, old: &PublicKey, new: PublicKey) {
        if let Some(kept) = self.take(old).filter(|kept| kept.signed.is_none()) {
            // The old key sent it: the new one is not who has that forgotten.
            let kept = KeptProfile { sent: None, ..kept };
            self.set(new, KeepRank::default(), kept, Vec::new());
        }
    }
}

impl State {
    /// Builds the indexes of the profiles of a state that was read from its leaves.
    pub(crate) fn index_profiles(&mut self) {
        let players = &self.players;
        let rank = |key: &PublicKey| players.get(key).map(KeepRank::of).unwrap_or_default();
        self.people.profiles.index(rank);
    }

    /// Returns what is kept of the author's profile after this one was sent. Whether its owner signed it is another
    /// matter.
    ///
    /// # Errors
    /// The rule that refuses it.
    pub(crate) fn with_profile(
        &self,
        author: &PublicKey,
        rank: KeepRank,
        (blob, sent): (BlobId, &SentProfile),
    ) -> Result<KeptProfile, Refusal> {
        let (profile, time) = (&sent.signed.profile, self.governance.time);
        if profile.key != *author {
            return Err(Refusal::BadProfile);
        }
        if !profile.is_proper() {
            return Err(Refusal::BadText);
        }
        let profiles = &self.people.profiles;
        let known = profiles.all.get(author);
        if let Some(known) = known.filter(|known| known.version >= profile.version) {
            return Err(Refusal::OldProfile(known.version));
        }
        if known.is_some_and(|known| known.time.saturating_add(PROFILE_MS) > time) {
            return Err(Refusal::TooOften);
        }
        if known.is_none() && profile.is_empty() {
            return Err(Refusal::AlreadySo);
        }
        let shown = known.and_then(|known| known.signed.as_ref()?.profile.picture);
        let is_kept = shown == profile.picture && profiles.pictures.contains(author);
        match (profile.picture, sent.picture.is_empty()) {
            (None, true) => {}
            (Some(_), true) if is_kept => {}
            (Some(_), true) => return Err(Refusal::NoBlob),
            (_, false) if sent.has_its_picture() => {}
            (_, false) => return Err(Refusal::BadProfile),
        }
        profiles.check_room(author, rank, &sent.picture)?;
        let signed = (!profile.is_empty()).then(|| sent.signed.clone());
        let sent = Some((self.clock.height, blob));
        Ok(KeptProfile { version: profile.version, time, sent, signed })
    }
}

impl World {
    /// Returns what the sim keeps of a person's profile.
    #[must_use]
    pub fn profile(&self, key: &PublicKey) -> Option<&KeptProfile> {
        self.state.people.profiles.all.get(key)
    }

    /// Returns the picture of a person.
    #[must_use]
    pub fn picture(&self, key: &PublicKey) -> Option<&[u8]> {
        self.state.people.profiles.pictures.get(key).map(Vec::as_slice)
    }
}

#[cfg(test)]
mod tests;
