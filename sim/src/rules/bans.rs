//! Bans and mutes: whom moderators shut out or silenced, and what is refused because of it.
//!
//! Each is found by its key. What ends by time is found by an index that [`People`] keeps.

use std::collections::BTreeSet;

use metatopia_types::PublicKey;
use serde::{Deserialize, Serialize};

use super::{
    authority::{Denied, Right},
    people::{Ending, People, lasts},
};
use crate::{
    limits::{BANS_MAX, MUTES_MAX},
    state::{State, World},
    tree::Tracked,
};

/// A ban or a mute of a key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sanction {
    /// Who ordered it.
    pub by: PublicKey,
    /// The governance time at which it ends; none if it is for good.
    pub until: Option<u64>,
    /// Why, in a line.
    pub reason: String,
}

impl People {
    /// Returns the ban of a key at this time.
    pub(crate) fn ban(&self, key: &PublicKey, time: u64) -> Option<&Sanction> {
        self.bans.get(key).filter(|ban| lasts(ban.until, time))
    }

    /// Returns the mute of a key at this time.
    pub(crate) fn mute(&self, key: &PublicKey, time: u64) -> Option<&Sanction> {
        self.mutes.get(key).filter(|mute| lasts(mute.until, time))
    }

    /// Says whether one more key may be banned.
    pub(crate) fn has_room_for_ban(&self, key: &PublicKey) -> bool {
        self.bans.contains(key) || self.bans.len() < BANS_MAX
    }

    /// Says whether one more key may be muted.
    pub(crate) fn has_room_for_mute(&self, key: &PublicKey) -> bool {
        self.mutes.contains(key) || self.mutes.len() < MUTES_MAX
    }

    /// Sets the ban of a key, or takes it back.
    pub(crate) fn set_ban(&mut self, key: PublicKey, ban: Option<Sanction>) {
        set_sanction(&mut self.bans, &mut self.endings, Ending::Ban, key, ban);
    }

    /// Sets the mute of a key, or takes it back.
    pub(crate) fn set_mute(&mut self, key: PublicKey, mute: Option<Sanction>) {
        set_sanction(&mut self.mutes, &mut self.endings, Ending::Mute, key, mute);
    }
}

/// Sets a sanction of a key, or takes it back.
fn set_sanction(
    list: &mut Tracked<PublicKey, Sanction>,
    endings: &mut BTreeSet<(u64, Ending, PublicKey)>,
    kind: Ending,
    key: PublicKey,
    sanction: Option<Sanction>,
) {
    if let Some(until) = list.get(&key).and_then(|before| before.until) {
        endings.remove(&(until, kind, key));
    }
    match sanction {
        Some(sanction) => {
            endings.extend(sanction.until.map(|until| (until, kind, key)));
            list.insert(key, sanction);
        }
        None => drop(list.remove(&key)),
    }
}

impl State {
    /// Says whether an author may act at all: who is banned may not, and neither may a key that was
    /// given up. What proves itself is true whoever shows it, and a sim needs it of its servers.
    ///
    /// # Errors
    /// The rule by which it is denied.
    pub(super) fn check_not_banned(&self, author: &PublicKey, right: Right) -> Result<(), Denied> {
        if right == Right::Testify {
            return Ok(());
        }
        if self.people.ban(author, self.governance.time).is_some() {
            return Err(Denied::Banned);
        }
        match self.people.rotated.get(author) {
            Some(rotated) => Err(Denied::Rotated(rotated.to)),
            None => Ok(()),
        }
    }
}

impl World {
    /// Returns the ban of a key.
    #[must_use]
    pub fn ban(&self, key: &PublicKey) -> Option<&Sanction> {
        self.state.people.ban(key, self.state.governance.time)
    }

    /// Says whether anybody is banned.
    #[must_use]
    pub fn has_bans(&self) -> bool {
        self.state.people.bans.len() > 0
    }

    /// Returns the mute of a key.
    #[must_use]
    pub fn mute(&self, key: &PublicKey) -> Option<&Sanction> {
        self.state.people.mute(key, self.state.governance.time)
    }
}
