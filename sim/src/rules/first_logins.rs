//! First logins: their price, and the bases by which turns are judged.

use std::collections::{BTreeSet, VecDeque};

use metatopia_types::{
    HeaderId, Height, Pass, PublicKey, Puzzle, SimId, TicketOrder, Work,
    limits::{ANCHOR_HEIGHTS, ROOT_LAG, WORK_HEIGHTS_MAX},
};
use serde::{Deserialize, Serialize};

use super::tickets::Tickets;
use crate::{
    limits::{DEARER_MAX, FIRST_LOGINS_PER_STEP, STEWARDS_MAX},
    state::{FirstLogin, Parameters, Since},
};

/// The hour by which first logins are counted, in milliseconds of governance time.
const HOUR_MS: u64 = 3_600_000;

/// Anchors that are remembered: those whose work still counts, one a second for half a minute.
const ANCHORS_MAX: usize = (WORK_HEIGHTS_MAX / ANCHOR_HEIGHTS + 2) as usize;

/// Bases that are remembered: a state after turn h serves the turns h + 1, which is judged by the one
/// before, and h + 2. One more, because a header is checked while the turn before it is applied.
const BASES_MAX: usize = ROOT_LAG as usize + 1;

/// A header that work may be done for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Anchor {
    /// The header's height.
    pub height: Height,
    /// The id of the header.
    pub header: HeaderId,
    /// The tries that work for it takes on average: the price at that height.
    pub tries: u64,
}

/// A basis of judging, beside lanes: the state after one turn decides about the turn
/// [`ROOT_LAG`] heights later, whose header carries its root. So every server judges alike, whichever
/// turns it has applied by then.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Basis {
    /// The height of the turn.
    pub height: Height,
    /// Those who are never refused for fullness: admins, the temp admin, the first in line for it,
    /// servers and standbys.
    pub stewards: BTreeSet<PublicKey>,
    /// Whom a first login lets in.
    pub first_login: FirstLogin,
    /// Players who were forgotten in that turn, with what they were until then.
    pub forgotten: Vec<(PublicKey, Since)>,
}

/// First logins of late, their price, and the last bases of judging.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FirstLogins {
    /// The hour of governance time that is under way.
    hour: u64,
    /// First logins in it.
    count: u32,
    /// How often the price has doubled.
    doublings: u8,
    anchors: VecDeque<Anchor>,
    bases: VecDeque<Basis>,
    tickets: Tickets,
}

impl FirstLogins {
    /// Returns those of a sim before its first turn; its id stands for a header of height 0.
    pub(crate) fn genesis(
        sim: SimId,
        parameters: &Parameters,
        stewards: BTreeSet<PublicKey>,
    ) -> Self {
        let (height, header) = (Height(0), HeaderId(sim.0));
        let (first_login, tries) = (parameters.first_login, parameters.first_login_tries);
        Self {
            hour: 0,
            count: 0,
            doublings: 0,
            anchors: VecDeque::from([Anchor { height, header, tries }]),
            bases: VecDeque::from([Basis { height, stewards, first_login, forgotten: Vec::new() }]),
            tickets: Tickets::default(),
        }
    }

    /// Counts a first login in the turn of `height`, and one use of the ticket by which it came. The
    /// price doubles with every 64 of an hour, up to sixteen times that at rest: dearer, and whoever
    /// has a graphics card would close the door by raising the price.
    pub(crate) fn count(&mut self, ticket: Option<PublicKey>, height: Height) {
        if let Some(ticket) = ticket {
            self.tickets.take(&ticket, height);
        }
        self.count = self.count.saturating_add(1);
        if self.count.is_multiple_of(FIRST_LOGINS_PER_STEP) {
            self.doublings = self.doublings.saturating_add(1).min(DEARER_MAX);
        }
    }

    /// Makes another key the issuer of all tickets of one.
    pub(super) fn change_issuer(&mut self, old: &PublicKey, new: PublicKey) {
        self.tickets.change_issuer(old, new);
    }

    /// Returns the tickets of the sim.
    #[must_use]
    pub const fn tickets(&self) -> &Tickets {
        &self.tickets
    }

    /// Carries out what an admin wants with a ticket, at this height and governance time.
    pub(crate) fn order(&mut self, by: PublicKey, order: TicketOrder, now: (Height, u64)) {
        match order {
            TicketOrder::Issue { ticket, uses, days } => {
                self.tickets.issue(ticket, by, uses, days, now);
            }
            TicketOrder::Withdraw { ticket } => self.tickets.withdraw(&ticket, now.0),
        }
    }

    /// Follows governance time: the price halves after each hour with few first logins.
    pub(crate) fn pass(&mut self, time: u64) {
        let hour = time / HOUR_MS;
        if hour == self.hour {
            return;
        }
        let busy = u64::from(self.count >= FIRST_LOGINS_PER_STEP);
        let quiet = (hour - self.hour).saturating_sub(busy).min(u64::from(u8::MAX));
        self.doublings = self.doublings.saturating_sub(quiet as u8);
        (self.hour, self.count) = (hour, 0);
    }

    /// Takes note that the turn with this header begins, at this governance time, in a sim where work
    /// takes `at_rest` tries in quiet hours.
    pub(crate) fn begin(&mut self, height: Height, header: HeaderId, time: u64, at_rest: u64) {
        self.tickets.pass(time, height);
        if height.0.is_multiple_of(ANCHOR_HEIGHTS) {
            let tries = at_rest.saturating_mul(1 << self.doublings);
            self.anchors.push_back(Anchor { height, header, tries });
        }
        while self.anchors.len() > ANCHORS_MAX {
            self.anchors.pop_front();
        }
    }

    /// Takes note of who has which standing after the turn of `height`.
    pub(crate) fn close(
        &mut self,
        height: Height,
        stewards: BTreeSet<PublicKey>,
        first_login: FirstLogin,
        forgotten: Vec<(PublicKey, Since)>,
    ) {
        assert!(stewards.len() <= STEWARDS_MAX, "each kind of steward has a bound");
        self.bases.push_back(Basis { height, stewards, first_login, forgotten });
        while self.bases.len() > BASES_MAX {
            self.bases.pop_front();
        }
    }

    /// Returns the basis for a turn of this height, if the state is one that knows it.
    #[must_use]
    pub fn basis(&self, height: Height) -> Option<&Basis> {
        let by = Height(height.0.saturating_sub(ROOT_LAG));
        self.bases.iter().find(|basis| basis.height == by)
    }

    /// Returns the newest basis for a turn of this height or of a lower one.
    #[must_use]
    pub fn newest_basis(&self, height: Height) -> &Basis {
        let by = Height(height.0.saturating_sub(ROOT_LAG));
        let fit = self.bases.iter().rev().find(|basis| basis.height <= by);
        fit.or_else(|| self.bases.front()).expect("there is always a basis")
    }

    /// Returns those who were forgotten after this basis, with what they were before.
    pub(super) fn forgotten_since(&self, basis: &Basis, key: &PublicKey) -> Option<Since> {
        let later = self.bases.iter().filter(|later| later.height > basis.height);
        let mut forgotten = later.flat_map(|later| &later.forgotten);
        forgotten.find(|(other, _)| other == key).map(|(_, since)| *since)
    }

    /// Returns the header that work for a turn of this height is best done for: it counts longest.
    #[must_use]
    pub fn newest_anchor(&self, height: Height) -> &Anchor {
        let by = Height(height.0.saturating_sub(ROOT_LAG));
        let fit = self.anchors.iter().rev().find(|anchor| anchor.height <= by);
        fit.or_else(|| self.anchors.front()).expect("there is always an anchor")
    }

    /// Checks whether this pass lets the key in, by a turn of this height. Whether its ticket signed
    /// the key is checked with the act's own signature.
    #[must_use]
    pub fn accepts_pass(&self, sim: SimId, key: &PublicKey, pass: &Pass, height: Height) -> bool {
        match pass {
            Pass::Work(work) => self.accepts(sim, key, work, height),
            Pass::Ticket(shown) => self.tickets.accepts(&shown.ticket, height),
            // Whether the sim knows the old key is a matter of standing.
            Pass::Rotation(_) => false,
        }
    }

    /// Checks whether this work lets the key in, by a turn of this height. The anchor is one that was
    /// there after the turn that this one is judged by.
    #[must_use]
    pub fn accepts(&self, sim: SimId, key: &PublicKey, work: &Work, height: Height) -> bool {
        let by = height.0.saturating_sub(ROOT_LAG);
        if work.height.0 > by || height.0 - work.height.0 > WORK_HEIGHTS_MAX {
            return false;
        }
        let anchor = self.anchors.iter().find(|anchor| anchor.height == work.height);
        anchor.is_some_and(|anchor| {
            Puzzle::new(sim, key, &anchor.header, anchor.tries).is_solved_by(work.nonce)
        })
    }
}

#[cfg(test)]
mod tests;
