//! Friends who get a lost key back: whom people named beforehand, and the recoveries under way.
//!
//! So many of the friends vouch for a new key. Then [`RECOVERY_MS`] of governance time pass, in which the owner
//! hears of it at every login and may cancel. Then the new key takes the place of the old one. A list counts once
//! it is as old, so who stole a key cannot name friends of his own and be done with it.

use std::collections::{BTreeMap, BTreeSet};

use metatopia_types::{Act, NewKeyWord, PublicKey, Refusal, Verify};
use serde::{Deserialize, Serialize};

use super::authority::{ActTarget, Right};
use crate::{
    limits::{
        FRIENDS_KEPT_MAX, FRIENDS_MAX, FRIENDS_OF_NEWCOMERS_MAX, QUIET_MS,
        RECOVERIES_OF_NEWCOMERS_MAX, RECOVERIES_OPEN_MAX, RECOVERIES_PER_TURN_MAX, RECOVERY_MS,
        VOUCHES_MS,
    },
    state::{State, World},
    tree::Tracked,
};

/// Friends whom somebody named, and how many of them it takes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FriendList {
    /// The keys that were named; none if the owner took back what was named before.
    pub friends: BTreeSet<PublicKey>,
    /// How many of them it takes.
    pub need: u8,
}

/// What a sim keeps of the friends of one key.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyFriends {
    /// The friends who count, until the next ones do.
    pub list: FriendList,
    /// The friends who were named last, and the governance time from which they count.
    pub next: Option<(FriendList, u64)>,
    /// The recovery under way.
    pub recovery: Option<OpenRecovery>,
    /// The friends whose word the owner cancelled, with the governance time until which they may vouch for no
    /// new key.
    pub quiet: BTreeMap<PublicKey, u64>,
}

/// A recovery under way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenRecovery {
    /// Who vouched, by the key that the owner named, each with the new key.
    pub vouches: BTreeMap<PublicKey, PublicKey>,
    /// The governance time at which it falls: while it waits, that at which the new key takes the place.
    pub ends: u64,
    /// The new key for which enough friends vouched; none until then.
    pub chosen: Option<PublicKey>,
    /// Whether the owner was no regular when it began.
    pub newcomer: bool,
}

impl OpenRecovery {
    /// Returns a recovery for which nobody has vouched yet.
    const fn begun(time: u64, newcomer: bool) -> Self {
        let ends = time.saturating_add(VOUCHES_MS);
        Self { vouches: BTreeMap::new(), ends, chosen: None, newcomer }
    }

    /// Counts who vouched for this key.
    pub(crate) fn votes(&self, new: &PublicKey) -> usize {
        self.vouches.values().filter(|named| *named == new).count()
    }
}

impl KeyFriends {
    /// Returns the friends who count at this time.
    #[must_use]
    pub fn counted(&self, time: u64) -> &FriendList {
        match &self.next {
            Some((next, from)) if *from <= time => next,
            _ => &self.list,
        }
    }

    /// Returns the time at which the list, or its recovery, changes by itself.
    fn due(&self) -> Option<u64> {
        let next = self.next.as_ref().map(|(_, from)| *from);
        let ends = self.recovery.as_ref().map(|recovery| recovery.ends);
        next.into_iter().chain(ends).min()
    }

    /// Has the friends who were named last count, if it is time.
    fn promote(&mut self, time: u64) {
        if let Some((next, from)) = self.next.take() {
            if from <= time {
                self.list = next;
                self.recount();
            } else {
                self.next = Some((next, from));
            }
        }
        self.quiet.retain(|_, until| *until > time);
    }

    /// Counts the vouches again: whoever is named no more does not count any more. A recovery for which too few
    /// are left falls.
    fn recount(&mut self) {
        let Some(open) = &mut self.recovery else { return };
        open.vouches.retain(|friend, _| self.list.friends.contains(friend));
        let votes = open.chosen.map_or(open.vouches.len(), |new| open.votes(&new));
        let least = open.chosen.map_or(1, |_| usize::from(self.list.need));
        if votes < least {
            self.recovery = None;
        }
    }

    /// Says whether nothing is in it any more.
    fn is_empty(&self) -> bool {
        self.list.friends.is_empty() && self.next.is_none() && self.recovery.is_none()
    }
}

/// The friends of all keys.
#[derive(Debug, Clone, Default)]
pub(crate) struct Friends {
    pub(crate) all: Tracked<PublicKey, KeyFriends>,
    /// Index: when something changes by itself.
    due: BTreeSet<(u64, PublicKey)>,
    /// Index: the keys of which a recovery is open.
    open: BTreeSet<PublicKey>,
    /// Index: those for which enough friends vouched, each with whether its owner was a newcomer.
    chosen: BTreeMap<PublicKey, bool>,
}

impl Friends {
    /// Builds the indexes.
    pub(crate) fn index(&mut self) {
        let due = self.all.iter().filter_map(|(key, friends)| Some((friends.due()?, *key)));
        self.due = due.collect();
        let open =
            || self.all.iter().filter_map(|(key, kept)| Some((*key, kept.recovery.as_ref()?)));
        self.open = open().map(|(key, _)| key).collect();
        let chosen = open().filter(|(_, recovery)| recovery.chosen.is_some());
        self.chosen = chosen.map(|(key, recovery)| (key, recovery.newcomer)).collect();
    }

    /// Sets what is kept of a key; forgets it if that is nothing.
    pub(crate) fn set(&mut self, key: PublicKey, friends: KeyFriends) {
        self.take(&key);
        if friends.is_empty() {
            return;
        }
        self.due.extend(friends.due().map(|due| (due, key)));
        if let Some(recovery) = &friends.recovery {
            self.open.insert(key);
            self.chosen.extend(recovery.chosen.map(|_| (key, recovery.newcomer)));
        }
        self.all.insert(key, friends);
    }

    /// Takes out what is kept of a key.
    pub(crate) fn take(&mut self, key: &PublicKey) -> Option<KeyFriends> {
        let friends = self.all.remove(key)?;
        if let Some(due) = friends.due() {
            self.due.remove(&(due, *key));
        }
        self.open.remove(key);
        self.chosen.remove(key);
        Some(friends)
    }

    /// Ends all recoveries, as in a successor: nobody was told of them there.
    pub(crate) fn drop_recoveries(&mut self) {
        let open: Vec<PublicKey> = self.open.iter().copied().collect();
        for key in open {
            self.drop_recovery(key);
        }
    }

    /// Ends the recovery of a key, and leaves its list.
    pub(crate) fn drop_recovery(&mut self, key: PublicKey) {
        if let Some(friends) = self.take(&key) {
            self.set(key, KeyFriends { recovery: None, ..friends });
        }
    }

    /// Moves the list of a key that is given up to the one that takes its place. A recovery ends by it.
    pub(crate) fn change_owner(&mut self, old: &PublicKey, new: PublicKey) {
        if let Some(friends) = self.take(old) {
            self.set(new, KeyFriends { recovery: None, ..friends });
        }
    }

    /// Checks that one more key may have a list.
    ///
    /// # Errors
    /// When as many have as may.
    pub(crate) fn check_room(&self, key: &PublicKey, is_newcomer: bool) -> Result<(), Refusal> {
        let most = if is_newcomer { FRIENDS_OF_NEWCOMERS_MAX } else { FRIENDS_KEPT_MAX };
        let has_room = self.all.contains(key) || self.all.len() < most;
        if has_room { Ok(()) } else { Err(Refusal::TooManyFriends) }
    }

    /// Says whether a key's recovery waits for its end.
    pub(crate) fn is_chosen(&self, key: &PublicKey) -> bool {
        self.chosen.contains_key(key)
    }

    /// Checks that one more recovery may wait for its end.
    ///
    /// # Errors
    /// When as many do as may.
    fn check_chosen(&self, is_newcomer: bool) -> Result<(), Refusal> {
        let of_newcomers = self.chosen.values().filter(|newcomer| **newcomer).count();
        let is_full = self.chosen.len() >= RECOVERIES_OPEN_MAX;
        if is_full || is_newcomer && of_newcomers >= RECOVERIES_OF_NEWCOMERS_MAX {
            return Err(Refusal::TooManyRecoveries);
        }
        Ok(())
    }

    /// Returns the recovery of a key.
    pub(crate) fn recovery(&self, key: &PublicKey) -> Option<&OpenRecovery> {
        self.all.get(key).and_then(|friends| friends.recovery.as_ref())
    }
}

impl State {
    /// Returns what is kept of the author's friends after these are named.
    ///
    /// # Errors
    /// The rule that refuses it.
    pub(crate) fn with_friends(
        &self,
        author: &PublicKey,
        is_newcomer: bool,
        friends: &[PublicKey],
        need: u8,
    ) -> Result<KeyFriends, Refusal> {
        let named: BTreeSet<PublicKey> = friends.iter().copied().collect();
        let least = named.len().min(2);
        let fits = (least..=named.len()).contains(&usize::from(need));
        let is_ascending = friends.iter().eq(&named);
        if !is_ascending || named.len() > FRIENDS_MAX || !fits || named.contains(author) {
            return Err(Refusal::BadFriends);
        }
        if named.iter().any(|friend| !self.players.contains(friend)) {
            return Err(Refusal::NoPlayer);
        }
        let time = self.governance.time;
        let mut kept = self.people.friends.all.get(author).cloned().unwrap_or_default();
        if kept.recovery.is_some() {
            return Err(Refusal::RecoveryOpen);
        }
        self.people.friends.check_room(author, is_newcomer)?;
        kept.promote(time);
        let list = FriendList { friends: named, need };
        let last = kept.next.as_ref().map_or(&kept.list, |(next, _)| next);
        if *last == list {
            return Err(Refusal::AlreadySo);
        }
        kept.next = Some((list, time.saturating_add(RECOVERY_MS)));
        Ok(kept)
    }

    /// Returns what is kept of the friends of `old` after `author` vouched for a new key.
    ///
    /// # Errors
    /// The rule that refuses it.
    pub(crate) fn with_vouch(
        &self,
        author: &PublicKey,
        old: PublicKey,
        word: &NewKeyWord,
        scheme: &dyn Verify,
    ) -> Result<KeyFriends, Refusal> {
        let new = word.key;
        let time = self.governance.time;
        self.check_recovered(&old, &new)?;
        let owner = self.players.get(&old).ok_or(Refusal::NoPlayer)?;
        let mut kept = self.people.friends.all.get(&old).cloned().ok_or(Refusal::NotFriend)?;
        let friend = self.counted_friend(&kept, author)?;
        kept.promote(time);
        if let Some(until) = kept.quiet.get(&friend) {
            let left = (until - time).div_ceil(3_600_000);
            return Err(Refusal::QuietFriend(u32::try_from(left).unwrap_or(u32::MAX)));
        }
        let newcomer = owner.since.regular.is_none();
        let mut recovery = match kept.recovery.take() {
            Some(open) if open.chosen.is_some() => return Err(Refusal::RecoveryOpen),
            Some(open) => open,
            None => OpenRecovery::begun(time, newcomer),
        };
        let is_again = recovery.vouches.insert(friend, new) == Some(new);
        let is_enough = recovery.votes(&new) >= usize::from(kept.list.need);
        if is_again && !is_enough {
            return Err(Refusal::AlreadySo);
        }
        if is_enough {
            // One that waits for friends takes no place of others: it has a list of its own.
            self.people.friends.check_chosen(newcomer)?;
            recovery.chosen = Some(new);
            recovery.ends = time.saturating_add(RECOVERY_MS);
        }
        // A signature is dear, so it comes last.
        if !word.verify(&old, scheme) {
            return Err(Refusal::NoKeyWord);
        }
        kept.recovery = Some(recovery);
        Ok(kept)
    }

    /// Returns by which key the owner named the author, whose key may be another one by now.
    fn counted_friend(&self, kept: &KeyFriends, author: &PublicKey) -> Result<PublicKey, Refusal> {
        let named = |list: &FriendList| {
            let mut friends = list.friends.iter().copied();
            friends.find(|friend| self.key_now(*friend) == *author)
        };
        if let Some(friend) = named(kept.counted(self.governance.time)) {
            return Ok(friend);
        }
        let is_fresh = kept.next.as_ref().and_then(|(next, _)| named(next)).is_some();
        Err(if is_fresh { Refusal::FreshFriend } else { Refusal::NotFriend })
    }

    /// Checks that a new key may take the place of an old one.
    ///
    /// # Errors
    /// When the old one was given up, or the new one is somebody's or banned.
    fn check_recovered(&self, old: &PublicKey, new: &PublicKey) -> Result<(), Refusal> {
        for key in [old, new] {
            if let Some(rotated) = self.people.rotated.get(key) {
                return Err(Refusal::Rotated(rotated.to));
            }
        }
        if self.people.bans.contains(new) {
            return Err(Refusal::Banned);
        }
        if old == new || self.is_known(new) { Err(Refusal::KnownKey) } else { Ok(()) }
    }

    /// Returns what is kept of the author's friends after the author cancelled the recovery: who vouched may
    /// not again for a while.
    ///
    /// # Errors
    /// When there is none.
    pub(crate) fn with_cancelled(&self, author: &PublicKey) -> Result<KeyFriends, Refusal> {
        let time = self.governance.time;
        let mut kept = self.people.friends.all.get(author).cloned().unwrap_or_default();
        let recovery = kept.recovery.take().ok_or(Refusal::NoRecovery)?;
        kept.promote(time);
        let until = time.saturating_add(QUIET_MS);
        kept.quiet.extend(recovery.vouches.keys().map(|friend| (*friend, until)));
        while kept.quiet.len() > FRIENDS_MAX {
            let first = kept.quiet.iter().min_by_key(|(friend, until)| (**until, **friend));
            let first = first.map(|(friend, _)| *friend).expect("it has more than one entry");
            kept.quiet.remove(&first);
        }
        Ok(kept)
    }

    /// Does what time does to lists and recoveries, those that are due first coming first.
    pub(crate) fn pass_friends(&mut self) {
        let time = self.governance.time;
        for _ in 0..RECOVERIES_PER_TURN_MAX {
            let Some((due, key)) = self.people.friends.due.first().copied() else { return };
            if due > time {
                return;
            }
            let mut kept = self.people.friends.take(&key).expect("it is due");
            kept.promote(time);
            let ended = kept.recovery.take_if(|recovery| recovery.ends <= time);
            self.people.friends.set(key, kept);
            let chosen = ended.and_then(|recovery| recovery.chosen);
            // Since friends vouched for it, the new key may have become somebody's, or be banned.
            if let Some(new) = chosen.filter(|new| self.check_recovered(&key, new).is_ok()) {
                self.recover(key, new);
            }
        }
    }
}

impl World {
    /// Returns the friends of a key, with the recovery under way.
    #[must_use]
    pub fn friends(&self, key: &PublicKey) -> Option<&KeyFriends> {
        self.state.people.friends.all.get(key)
    }

    /// Returns whose friends an act of this author would change, and into what.
    ///
    /// # Errors
    /// The rule that refuses it; [`Refusal::BadFriends`] if the act is about no friends.
    pub fn try_friends(
        &self,
        author: &PublicKey,
        act: &Act,
    ) -> Result<(PublicKey, KeyFriends), Refusal> {
        let right = match act {
            Act::CancelRecovery => Right::Testify,
            _ => Right::Attend,
        };
        self.state.may(author, right, &ActTarget::SIM)?;
        match act {
            Act::NameFriends { friends, need } => {
                let player = self.state.players.get(author).ok_or(Refusal::NoPlayer)?;
                let newcomer = player.since.regular.is_none();
                let kept = self.state.with_friends(author, newcomer, friends, *need)?;
                Ok((*author, kept))
            }
            Act::Vouch { old, new } => {
                let scheme = &*self.tools().verify;
                Ok((*old, self.state.with_vouch(author, *old, new, scheme)?))
            }
            Act::CancelRecovery => Ok((*author, self.state.with_cancelled(author)?)),
            _ => Err(Refusal::BadFriends),
        }
    }

    /// Returns the keys after this one of which a recovery is open, ascending.
    pub fn recoveries_after(
        &self,
        after: Option<PublicKey>,
    ) -> impl Iterator<Item = (PublicKey, &OpenRecovery)> {
        let friends = &self.state.people.friends;
        let open = friends.open.iter().filter(move |key| after.is_none_or(|after| **key > after));
        open.filter_map(|key| Some((*key, friends.recovery(key)?)))
    }
}

#[cfg(test)]
mod tests;
