//! Members that were found without anybody having named them: by Kademlia, or in the local network.
//!
//! They are worth a try as first contacts, behind those that the member began with. Its transport has
//! met them, and their keys are proved. What they say is checked as what everybody says.

use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

use libp2p::Multiaddr;
use metatopia_raynet::{OverlayInput, SiteEndpoint, limits::FIRST_CONTACTS_MAX};
use metatopia_types::PublicKey;

/// The most members that were found and are remembered. Half of the first contacts of the machine, so that
/// strangers never take the places of those that the operator named.
pub(super) const FOUND_KEPT_MAX: usize = FIRST_CONTACTS_MAX / 2;

/// The neighbours of a member that needs no more contacts: the machine greets contacts while it has fewer.
const NEIGHBOURS_ENOUGH: usize = 5;

/// The time between two times that found members are handed to the machine, which greets all its contacts
/// then.
const HAND_ON_AGAIN: Duration = Duration::from_secs(10);

/// The time between two searches of a member that nobody has a session with.
const SEEK_AGAIN: Duration = Duration::from_secs(10);

/// Members that were found, and the first contacts.
#[derive(Debug)]
pub(super) struct FoundMembers {
    /// The contacts that the member began with.
    first: Vec<SiteEndpoint>,
    /// Those that were found, the newest last.
    found: Vec<SiteEndpoint>,
    /// Whether the machine has not been told of all of them.
    is_news: bool,
    handed_on: Option<Instant>,
    sought: Instant,
}

impl FoundMembers {
    /// Begins with these first contacts, the best last.
    pub(super) fn new(mut first: Vec<SiteEndpoint>, now: Instant) -> Self {
        let excess = first.len().saturating_sub(FIRST_CONTACTS_MAX - FOUND_KEPT_MAX);
        first.drain(..excess);
        Self { first, found: Vec::new(), is_news: false, handed_on: None, sought: now }
    }

    /// Notes a member that was found; the oldest of too many is forgotten.
    pub(super) fn note(&mut self, peer: PublicKey, address: &Multiaddr) {
        let is_first = self.first.iter().any(|first| first.peer == peer);
        let found = SiteEndpoint { peer, address: address.to_string() };
        if is_first || self.found.contains(&found) {
            return;
        }
        self.found.retain(|known| known.peer != peer);
        self.found.push(found);
        let excess = self.found.len().saturating_sub(FOUND_KEPT_MAX);
        self.found.drain(..excess);
        self.is_news = true;
    }

    /// Forgets a member that is not where it was found.
    pub(super) fn lost(&mut self, peer: PublicKey) {
        self.found.retain(|known| known.peer != peer);
    }

    /// Returns those that were found, the newest first.
    pub(super) fn kept(&self) -> impl Iterator<Item = &SiteEndpoint> {
        self.found.iter().rev()
    }

    /// Returns what the machine of a member with so many neighbours is told, if there is news: those that were
    /// found, and then the first contacts, since of too many contacts the machine forgets those of which it was
    /// told first.
    pub(super) fn hand_on(&mut self, now: Instant, neighbours: usize) -> Vec<OverlayInput> {
        let is_soon = |at: Instant| now.duration_since(at) < HAND_ON_AGAIN;
        let is_early = neighbours > 0 && self.handed_on.is_some_and(is_soon);
        if !self.is_news || is_early || neighbours >= NEIGHBOURS_ENOUGH {
            return Vec::new();
        }
        (self.is_news, self.handed_on) = (false, Some(now));
        [&self.found, &self.first].map(|contacts| OverlayInput::Contacts(contacts.clone())).into()
    }

    /// Says whether others are to be sought now, by a member that has a session with nobody or not.
    pub(super) fn is_sought(&mut self, now: Instant, is_alone: bool) -> bool {
        let is_due = is_alone && now.duration_since(self.sought) >= SEEK_AGAIN;
        if is_due {
            self.sought = now;
        }
        is_due
    }
}

/// Returns contacts to keep: the good ones, and behind them those that were found.
pub(super) fn kept_contacts(good: Vec<SiteEndpoint>, found: &FoundMembers) -> Vec<SiteEndpoint> {
    let mut seen = BTreeSet::new();
    let all = good.into_iter().chain(found.kept().cloned());
    all.filter(|contact| seen.insert(contact.peer)).take(FIRST_CONTACTS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(n: u8) -> PublicKey {
        PublicKey([n; 32])
    }

    fn at(n: u8) -> Multiaddr {
        format!("/ip4/192.0.2.{n}/tcp/1").parse().unwrap()
    }

    fn contact(n: u8) -> SiteEndpoint {
        SiteEndpoint { peer: key(n), address: at(n).to_string() }
    }

    #[test]
    fn strangers_never_take_the_places_of_first_contacts() {
        let now = Instant::now();
        let mut members = FoundMembers::new((0..40).map(contact).collect(), now);
        for n in 100..200 {
            members.note(key(n), &at(n));
        }
        let told = members.hand_on(now, 0);
        let [OverlayInput::Contacts(found), OverlayInput::Contacts(first)] = &told[..] else {
            panic!("{told:?}");
        };
        assert_eq!(found.len(), FOUND_KEPT_MAX);
        assert_eq!(found.last(), Some(&contact(199)), "the newest are kept");
        assert_eq!(first.len() + found.len(), FIRST_CONTACTS_MAX);
        assert_eq!(first.last(), Some(&contact(39)), "the best of the first ones stay");
    }

    #[test]
    fn the_machine_is_told_of_news_and_not_often_unless_it_is_alone() {
        let now = Instant::now();
        let mut members = FoundMembers::new(vec![contact(1)], now);
        assert!(members.hand_on(now, 0).is_empty());
        members.note(key(1), &at(9));
        assert!(members.hand_on(now, 0).is_empty(), "a first contact is no news");
        members.note(key(2), &at(2));
        members.note(key(2), &at(2));
        assert_eq!(members.hand_on(now, 1).len(), 2);
        members.note(key(3), &at(3));
        assert!(members.hand_on(now, 1).is_empty(), "too soon");
        assert_eq!(members.hand_on(now, 0).len(), 2);
        members.note(key(4), &at(4));
        let later = now + HAND_ON_AGAIN;
        assert!(members.hand_on(later, NEIGHBOURS_ENOUGH).is_empty(), "it knows enough");
        assert_eq!(members.hand_on(later, 1).len(), 2);
        members.lost(key(4));
        assert_eq!(members.kept().collect::<Vec<_>>(), [&contact(3), &contact(2)]);
    }

    #[test]
    fn others_are_sought_by_who_is_alone_and_not_often() {
        let now = Instant::now();
        let mut members = FoundMembers::new(Vec::new(), now);
        assert!(!members.is_sought(now, true));
        let later = now + SEEK_AGAIN;
        assert!(!members.is_sought(later, false));
        assert!(members.is_sought(later, true));
        assert!(!members.is_sought(later, true));
    }

    #[test]
    fn good_contacts_are_kept_before_those_that_were_found() {
        let mut members = FoundMembers::new(Vec::new(), Instant::now());
        for n in [1, 2, 3] {
            members.note(key(n), &at(n));
        }
        let moved = SiteEndpoint { address: at(9).to_string(), ..contact(2) };
        let kept = kept_contacts(vec![moved.clone()], &members);
        assert_eq!(kept, [moved, contact(3), contact(1)]);
    }
}
