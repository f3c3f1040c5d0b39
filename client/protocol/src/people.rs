//! What servers tell of people: roles, bans, mutes, what an order would do, and what was ordered.

use alloc::{borrow::ToOwned, format, string::String, vec::Vec};

use metatopia_types::{
    Act, Blob, Certificate, GovernOrder, GroundArea, Header, ObjectId, PublicKey, Refusal,
    RoleRight, StateProof, WayBack,
};
use serde::{Deserialize, Serialize};

use crate::{CandidateEntry, GovernanceEntry};

/// Keys in one answer: 256 of at most 900 bytes are below 230 KiB. With all rights for areas that a sim has,
/// they are below 330 KiB.
pub const PEOPLE_PER_ANSWER_MAX: usize = 256;

/// A key with what was ordered about it. Times are milliseconds of governance time that are left.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PersonEntry {
    /// Who it is.
    pub key: PublicKey,
    /// The player's name; empty if nobody with this key is known.
    pub name: String,
    /// Whether the player is logged in.
    pub here: bool,
    /// Whether the key is a permanent admin's.
    pub admin: bool,
    /// Whether the player acts for the admins now.
    pub temp_admin: bool,
    /// The rights of the role for the whole sim.
    pub rights: Vec<RightEntry>,
    /// The rights of the role for areas.
    pub area_rights: Vec<AreaRightEntry>,
    /// Why the key is shut out, if it is.
    pub ban: Option<SanctionEntry>,
    /// Why the key is silent, if it is.
    pub mute: Option<SanctionEntry>,
}

/// A right that a key was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RightEntry {
    /// The right that was given.
    pub right: RoleRight,
    /// Who gave it.
    pub by: PublicKey,
    /// How long it lasts; none if it is for good.
    pub left: Option<u64>,
}

/// A right that a key was given for an area alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AreaRightEntry {
    /// The ground on which it holds.
    pub area: GroundArea,
    /// The right, and its terms.
    pub given: RightEntry,
}

/// A ban or a mute.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SanctionEntry {
    /// Who ordered it.
    pub by: PublicKey,
    /// How long it lasts; none if it is for good.
    pub left: Option<u64>,
    /// Why, in a line.
    pub reason: String,
}

/// What an order would do at this moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DryRunEntry {
    /// What lets its author give it, in words, or the rule that refuses it.
    pub verdict: Result<String, Refusal>,
    /// Whom it is about.
    pub person: Option<PersonEntry>,
    /// What it is about.
    pub thing: Option<GovernedThing>,
    /// What an undo is about.
    pub traced: TracedThings,
    /// What the person has here whom a ban or a kick is about.
    pub holdings: KeyHoldings,
}

/// What a key has in a sim at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyHoldings {
    /// Open sessions: one if the person is in the sim.
    pub sessions: u32,
    /// Things that the key owns.
    pub things: u32,
    /// Lots that the key holds.
    pub lots: u32,
}

/// An amendment, a change of who votes, or an order about tickets or a border that somebody might make.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IntendedChange {
    /// Who would make it.
    pub author: PublicKey,
    /// The act that would make it.
    pub act: Act,
    /// The blob that the act names, if it names one.
    pub blob: Option<Blob>,
}

/// What an amendment or a change of who votes would do at this moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IntendedChangeEntry {
    /// What lets its author make it, in words, or the rule that refuses it.
    pub verdict: Result<String, Refusal>,
    /// The value that an amendment changes, as it is now; empty of other acts.
    pub value: String,
    /// How many players the sim knows.
    pub players: u32,
    /// How many of them are here.
    pub here: u32,
    /// How many servers vote.
    pub voters: u32,
}

/// How many things a key made, changed and deleted in some time, of which the sim knows what they were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TracedThings {
    /// Things that the key made.
    pub made: u32,
    /// Things that the key changed.
    pub changed: u32,
    /// Things that the key deleted.
    pub deleted: u32,
}

impl TracedThings {
    /// Returns the number of things.
    #[must_use]
    pub const fn all(&self) -> u32 {
        self.made.saturating_add(self.changed).saturating_add(self.deleted)
    }
}

/// The thing that an order is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GovernedThing {
    /// The number of the thing.
    pub object: ObjectId,
    /// What it is called.
    pub name: String,
    /// The owner of the thing.
    pub owner: Option<PublicKey>,
    /// The scripts on it.
    pub scripts: u32,
    /// Whether it is frozen.
    pub frozen: bool,
    /// Where it would go if it were returned to its owner.
    pub way_back: WayBack,
}

/// An order that somebody might give.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IntendedOrder {
    /// Who would give it.
    pub author: PublicKey,
    /// The order that would be given.
    pub order: GovernOrder,
}

/// A page of what was ordered, in a certified state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrdersAnswer {
    /// A header that states the root of the state two turns before it.
    pub header: Header,
    /// For the header.
    pub certificate: Certificate,
    /// The leaf of that state which says how many orders there were.
    pub governance: StateProof,
    /// The leaf of that state with the last order that was asked for; none if no such order is kept.
    pub page: Option<StateProof>,
}

/// The charter of a sim, in a certified state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CharterAnswer {
    /// A header that states the root of the state two turns before it.
    pub header: Header,
    /// For the header.
    pub certificate: Certificate,
    /// The leaf of that state which holds the charter.
    pub charter: StateProof,
}

/// Milliseconds of an hour.
const HOUR_MS: u64 = 3_600_000;

/// How long admins have been away, and who takes over. Times are milliseconds of governance time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AdminCountdown {
    /// Since a permanent admin logged in.
    pub away: u64,
    /// Until there is a temp admin if none of them logs in; 0 from then on.
    pub left: u64,
    /// Who acts for the admins now, with a name.
    pub temp_admin: Option<(String, PublicKey)>,
    /// Who is first in line, with a name.
    pub next: Option<(String, PublicKey)>,
}

impl AdminCountdown {
    /// Returns it in a line.
    #[must_use]
    pub fn words(&self) -> String {
        if self.away < HOUR_MS && self.temp_admin.is_none() {
            return "an admin was here less than an hour ago".to_owned();
        }
        let away = span(self.away);
        if let Some((name, _)) = &self.temp_admin {
            return format!("{name} acts for the admins; no admin for {away}");
        }
        let left = span(self.left);
        match &self.next {
            Some((name, _)) => format!(
                "no admin for {away}; in {left} the oldest active player takes over: {name}"
            ),
            None => format!("no admin for {away}; nobody could take over in {left}"),
        }
    }
}

impl GovernanceEntry {
    /// Returns how long admins have been away, and who takes over.
    #[must_use]
    pub fn admin_countdown(&self) -> AdminCountdown {
        let of = |candidate: &CandidateEntry| (candidate.name.clone(), candidate.key);
        let temp_admin = self.temp_admin.map(|key| {
            let known = self.candidates.iter().find(|candidate| candidate.key == key);
            known.map_or_else(|| (String::new(), key), of)
        });
        AdminCountdown {
            away: self.time.saturating_sub(self.admin_login),
            left: self.countdown,
            temp_admin,
            next: self.candidates.first().map(of),
        }
    }
}

/// Returns a span of time in the greatest unit of which it has one: days, hours, minutes or seconds.
#[must_use]
pub fn span(milliseconds: u64) -> String {
    let units = [(24 * HOUR_MS, "day"), (HOUR_MS, "hour"), (60_000, "minute")];
    let fits = units.into_iter().find(|(unit, _)| milliseconds >= *unit);
    let (unit, word) = fits.unwrap_or((1_000, "second"));
    let count = milliseconds / unit;
    format!("{count} {word}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_countdown_says_how_long_and_who() {
        let day = 86_400_000;
        let bob = Some(("Bob".to_owned(), PublicKey([2; 32])));
        let away =
            AdminCountdown { away: 23 * day, left: 7 * day, temp_admin: None, next: bob.clone() };
        assert_eq!(
            away.words(),
            "no admin for 23 days; in 7 days the oldest active player takes over: Bob"
        );
        let alone = AdminCountdown { left: day, next: None, ..away.clone() };
        assert_eq!(alone.words(), "no admin for 23 days; nobody could take over in 1 day");
        let over = AdminCountdown { left: 0, temp_admin: bob, ..away };
        assert_eq!(over.words(), "Bob acts for the admins; no admin for 23 days");
        for (ms, words) in [(0, "0 seconds"), (1_000, "1 second"), (179_999, "2 minutes")] {
            assert_eq!(span(ms), words);
        }
        let now = AdminCountdown { away: 3_600_000, next: None, temp_admin: None, left: 0 };
        assert!(now.words().starts_with("no admin for 1 hour;"));
        let here = AdminCountdown { away: HOUR_MS - 1, ..now };
        assert_eq!(here.words(), "an admin was here less than an hour ago");
    }
}
