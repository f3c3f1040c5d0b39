//! Crossing: the ledger of one border, a machine of its own.
//!
//! It decides by what the neighbour is proved to have said, and never by its own clock what the other did:
//!
//! * What departs has a number and a deadline in the **neighbour's** time.
//! * Each departure is judged once, in the order of the numbers, and not after its deadline.
//! * It comes home only if the neighbour refused it, or is past the deadline without a verdict.
//! * What was taken is pinned here until its sender settled it.
//!
//! Hence everything is in one place: here in one sim, or departed and not taken. The two directions of a
//! border are two such ledgers, which share nothing but the dispatch that they come in.

use std::collections::BTreeMap;

use metatopia_types::{
    BorderDeparture, BorderVerdict, Digest, HeaderId, Height, HomeReason, Millis, Said,
    TravelRefusal, Traveller,
    limits::{DEPARTURES_MAX, OBJECT_NUMBERS_END, VERDICTS_MAX},
};
use serde::{Deserialize, Serialize};

use super::controls::CrossingBug;
use crate::limits::{DEPARTURE_MS, WORD_MS};

/// What was heard last of a neighbour.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct HeardSaid {
    /// What it said.
    pub said: Said,
    /// The time of the own turn in which that was heard.
    pub at: Millis,
    /// The height of the header that proved it.
    pub proved_at: Height,
    /// The digest of that header.
    pub header: HeaderId,
}

/// The ledger of a border: what goes over it and what came.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Crossing {
    /// What is said to the neighbour. It is a leaf of its own.
    #[serde(skip, default = "Said::nothing")]
    pub said: Said,
    /// What was heard of the neighbour last; none if nothing was.
    pub heard: Option<HeardSaid>,
    /// Who and what was taken and is not settled by the sender yet, by the numbers of its departures.
    pub pinned: BTreeMap<u64, Vec<Traveller>>,
}

/// Why nobody and nothing passes a border now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum Wall {
    /// It is closed on this side.
    #[error("the border is closed on this side")]
    Closed,
    /// Nothing was ever heard of the neighbour.
    #[error("nothing was heard of the neighbour yet; it opens the border on its side too")]
    Unheard,
    /// The neighbour signed two states of one height.
    #[error("the neighbour signed two states of one height; the border stays closed")]
    Frozen,
    /// It is closed on the other side.
    #[error("the border is closed on the other side")]
    ClosedThere,
    /// The neighbour was given up, and has not taken that up yet.
    #[error("the neighbour was given up, and has not been heard of since")]
    Severed,
    /// Nothing was heard of the neighbour for two seconds.
    #[error("nothing was heard of the neighbour for two seconds")]
    Silent,
    /// As much is under way as may be.
    #[error("{max} departures are under way", max = DEPARTURES_MAX)]
    Crowded,
}

/// What becomes of a departure of the neighbour that is judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Judgement {
    /// All of this is here now: a departure is taken as a whole.
    Taken(Vec<Traveller>),
    /// It stays where it came from.
    Refused(TravelRefusal),
    /// Its parcel has not come yet: it is judged later, and all after it.
    Waits,
}

/// What a word of the neighbour changes, besides what is taken of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CrossingEvent {
    /// The neighbour has it, so it is no longer ours.
    Settled(BorderDeparture),
    /// It is ours again.
    CameHome(BorderDeparture, HomeReason),
    /// What was taken came home over there when we were given up: it is removed here.
    GivenBack(Traveller),
}

impl Default for Crossing {
    fn default() -> Self {
        Self { said: Said::nothing(), heard: None, pinned: BTreeMap::new() }
    }
}

impl Crossing {
    /// Returns why nothing departs at a time of this sim; nothing if something may.
    pub(crate) fn wall(&self, now: Millis) -> Option<Wall> {
        if !self.said.open {
            return Some(Wall::Closed);
        }
        let Some(heard) = &self.heard else {
            return Some(Wall::Unheard);
        };
        if !self.said.came_home.is_empty() || heard.said.taken_up < self.said.epoch {
            return Some(Wall::Severed);
        }
        if !heard.said.open {
            return Some(Wall::ClosedThere);
        }
        if now.since(heard.at) > WORD_MS {
            return Some(Wall::Silent);
        }
        let is_full = self.said.departures.len() >= DEPARTURES_MAX;
        (is_full || self.said.out_next >= OBJECT_NUMBERS_END - 1).then_some(Wall::Crowded)
    }

    /// Says whether somebody or something came over this border, and its sender has not settled that yet.
    pub(crate) fn is_pinned(&self, traveller: &Traveller) -> bool {
        self.pinned.values().flatten().any(|pinned| pinned == traveller)
    }

    /// Notes a departure at a time of this sim. Whoever asks has taken it out of the sim.
    ///
    /// # Errors
    /// The reason for which the border is a wall.
    pub(crate) fn depart(
        &mut self,
        traveller: Traveller,
        parcel: Digest,
        now: Millis,
    ) -> Result<BorderDeparture, Wall> {
        if let Some(wall) = self.wall(now) {
            return Err(wall);
        }
        let there = self.heard.as_ref().ok_or(Wall::Unheard)?.said.time;
        let (number, until) = (self.said.out_next, there.plus(DEPARTURE_MS));
        let departure = BorderDeparture { number, traveller, until, parcel };
        self.said.departures.push(departure);
        self.said.out_next = number.saturating_add(1);
        Ok(departure)
    }

    /// Hears a later word of the neighbour, in a turn of this time. `judge` takes a departure, or refuses it.
    /// Returns what became of our own. A node has no rule that is `broken`.
    pub(crate) fn hear(
        &mut self,
        word: HeardSaid,
        now: Millis,
        broken: Option<CrossingBug>,
        judge: &mut dyn FnMut(&BorderDeparture) -> Judgement,
    ) -> Vec<CrossingEvent> {
        let known = self.heard.as_ref().map_or(Height(0), |heard| heard.said.height);
        let is_later = word.said.height > known || broken == Some(CrossingBug::OldEpochs);
        assert!(is_later, "only later words are heard");
        let mut events = Vec::new();
        self.take_up(&word.said, broken, &mut events);
        self.look_home(&word.said, (now, broken), &mut events);
        self.judge_all(&word.said, (now, broken), judge);
        self.forget_settled(&word.said, broken);
        self.heard = Some(word);
        events
    }

    /// Takes up a new epoch of the neighbour: what came home there is no longer here.
    fn take_up(
        &mut self,
        word: &Said,
        broken: Option<CrossingBug>,
        events: &mut Vec<CrossingEvent>,
    ) {
        if word.epoch > self.said.taken_up {
            self.said.taken_up = word.epoch;
            let is_read = broken != Some(CrossingBug::ListPassedOver);
            for number in word.came_home.iter().filter(|_| is_read) {
                let gone = self.pinned.remove(number);
                let gone = gone.into_iter().flatten();
                events.extend(gone.map(CrossingEvent::GivenBack));
                // Never judged, or judged: it is not judged any more.
                if broken != Some(CrossingBug::OldEpochs) {
                    self.said.in_next = self.said.in_next.max(number.saturating_add(1));
                }
            }
        }
        if word.taken_up >= self.said.epoch {
            self.said.came_home.clear();
        }
    }

    /// Settles what the neighbour took, and brings home what it will never take.
    fn look_home(
        &mut self,
        word: &Said,
        (now, broken): (Millis, Option<CrossingBug>),
        events: &mut Vec<CrossingEvent>,
    ) {
        let departures = core::mem::take(&mut self.said.departures);
        for departure in departures {
            let verdict = word.verdicts.iter().find(|verdict| verdict.number == departure.number);
            // Times of turns grow: a state of the neighbour past the deadline that has no verdict, and
            // would still judge the number, excludes that it is ever taken.
            let is_over = if broken == Some(CrossingBug::HomeByOwnClock) {
                now > departure.until
            } else {
                word.time > departure.until && word.in_next <= departure.number
            };
            match verdict {
                Some(BorderVerdict { refused: None, .. }) => {
                    events.push(CrossingEvent::Settled(departure));
                }
                Some(BorderVerdict { refused: Some(why), .. }) => {
                    events.push(CrossingEvent::CameHome(departure, HomeReason::Refused(*why)));
                }
                None if is_over => {
                    events.push(CrossingEvent::CameHome(departure, HomeReason::Deadline));
                }
                None => self.said.departures.push(departure),
            }
        }
    }

    /// Judges the departures that the neighbour lists, each once and in order.
    fn judge_all(
        &mut self,
        word: &Said,
        (now, broken): (Millis, Option<CrossingBug>),
        judge: &mut dyn FnMut(&BorderDeparture) -> Judgement,
    ) {
        for departure in &word.departures {
            let number = departure.number;
            if number < self.said.in_next && broken != Some(CrossingBug::NumberPassedOver) {
                continue;
            }
            if self.said.verdicts.len() >= VERDICTS_MAX {
                return;
            }
            let judgement = match () {
                () if now > departure.until && broken != Some(CrossingBug::TakenLate) => {
                    Judgement::Refused(TravelRefusal::Late)
                }
                () if !self.said.open => Judgement::Refused(TravelRefusal::Closed),
                () => judge(departure),
            };
            let refused = match judgement {
                Judgement::Waits => return,
                Judgement::Refused(why) => Some(why),
                Judgement::Taken(travellers) => {
                    self.pinned.insert(number, travellers);
                    None
                }
            };
            self.said.in_next = self.said.in_next.max(number.saturating_add(1));
            let (verdicts, verdict) = (&mut self.said.verdicts, BorderVerdict { number, refused });
            // Numbers ascend, so a verdict comes last. Only where a broken rule judges a number again it has a place.
            match verdicts.binary_search_by_key(&number, |known| known.number) {
                Ok(at) => verdicts[at] = verdict,
                Err(at) => verdicts.insert(at, verdict),
            }
        }
    }

    /// Forgets verdicts that the neighbour has settled: it lists their numbers no more.
    fn forget_settled(&mut self, word: &Said, broken: Option<CrossingBug>) {
        let is_listed = |number: u64| word.departures.iter().any(|listed| listed.number == number);
        let remembers = broken != Some(CrossingBug::VerdictForgotten);
        self.said.verdicts.retain(|verdict| remembers && is_listed(verdict.number));
        self.pinned.retain(|number, _| is_listed(*number));
    }

    /// Gives the neighbour up: begins a new epoch. Returns what was under way to it and is ours again; the
    /// numbers stay listed until the neighbour has taken up the epoch.
    pub(crate) fn sever(&mut self) -> Vec<CrossingEvent> {
        let departures = core::mem::take(&mut self.said.departures);
        self.said.epoch = self.said.epoch.saturating_add(1);
        let home = |departure: &BorderDeparture| departure.number;
        self.said.came_home.extend(departures.iter().map(home));
        let came = |departure| CrossingEvent::CameHome(departure, HomeReason::Severed);
        departures.into_iter().map(came).collect()
    }
}

#[cfg(test)]
mod tests;
