//! Tickets that admins issued: whom a sim lets in that asks new keys for one.

use std::collections::BTreeMap;

use metatopia_types::{
    Height, PublicKey, Refusal,
    limits::{ROOT_LAG, TICKET_DAYS_MAX, TICKET_USES_MAX},
};
use serde::{Deserialize, Serialize};

use super::governance::DAY_MS;
use crate::limits::{TICKETS_MAX, TICKETS_PER_ADMIN_MAX};

/// Turns for which a ticket that ended is remembered: so long some turn may be judged by a state in
/// which it was open.
const ENDED_HEIGHTS: u64 = ROOT_LAG + 1;

/// A ticket of an admin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct IssuedTicket {
    /// The admin who issued it.
    pub by: PublicKey,
    /// The turn that issued it.
    pub since: Height,
    /// How many keys it still lets in.
    pub left: u32,
    /// The governance time at which it ends.
    pub until: u64,
    /// The turn that ended it: it was used up or withdrawn, or its time was over.
    pub ended: Option<Height>,
}

impl IssuedTicket {
    /// Checks whether it lets keys in after the turn of `height`.
    #[must_use]
    pub fn is_open(&self, height: Height) -> bool {
        self.since <= height && self.ended.is_none_or(|ended| ended > height)
    }
}

/// The tickets of a sim.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tickets(BTreeMap<PublicKey, IssuedTicket>);

impl Tickets {
    /// Returns those that let keys in after the turn of `height`.
    pub fn open(&self, height: Height) -> impl Iterator<Item = (&PublicKey, &IssuedTicket)> {
        self.0.iter().filter(move |(_, issued)| issued.is_open(height))
    }

    /// Checks whether this ticket lets keys in by a turn of this height: whether it is open in the
    /// state that such a turn is judged by.
    #[must_use]
    pub fn accepts(&self, ticket: &PublicKey, height: Height) -> bool {
        let by = Height(height.0.saturating_sub(ROOT_LAG));
        self.0.get(ticket).is_some_and(|issued| issued.is_open(by))
    }

    /// Checks whether this ticket lets one more key in now.
    #[must_use]
    pub fn has_use(&self, ticket: &PublicKey) -> bool {
        self.0.get(ticket).is_some_and(|issued| issued.ended.is_none())
    }

    /// Checks what an admin asks for.
    ///
    /// # Errors
    /// The rule that it breaks.
    pub(crate) fn check_issue(
        &self,
        by: &PublicKey,
        ticket: &PublicKey,
        uses: u32,
        days: u32,
    ) -> Result<(), Refusal> {
        let fits = (1..=TICKET_USES_MAX).contains(&uses) && (1..=TICKET_DAYS_MAX).contains(&days);
        if !fits || self.0.contains_key(ticket) {
            return Err(Refusal::OutOfRange);
        }
        let own = self.0.values().filter(|issued| issued.by == *by && issued.ended.is_none());
        if self.0.len() >= TICKETS_MAX || own.count() >= TICKETS_PER_ADMIN_MAX {
            return Err(Refusal::TooManyTickets);
        }
        Ok(())
    }

    /// Issues a ticket that was checked.
    pub(super) fn issue(
        &mut self,
        ticket: PublicKey,
        by: PublicKey,
        uses: u32,
        days: u32,
        (height, time): (Height, u64),
    ) {
        let until = time.saturating_add(u64::from(days).saturating_mul(DAY_MS));
        self.0.insert(ticket, IssuedTicket { by, since: height, left: uses, until, ended: None });
    }

    /// Makes another key the issuer of all tickets of one.
    pub(super) fn change_issuer(&mut self, old: &PublicKey, new: PublicKey) {
        for issued in self.0.values_mut().filter(|issued| issued.by == *old) {
            issued.by = new;
        }
    }

    /// Ends a ticket.
    pub(super) fn withdraw(&mut self, ticket: &PublicKey, height: Height) {
        if let Some(issued) = self.0.get_mut(ticket).filter(|issued| issued.ended.is_none()) {
            issued.ended = Some(height);
        }
    }

    /// Lets one key in.
    ///
    /// # Panics
    /// When the ticket has no use left.
    pub(super) fn take(&mut self, ticket: &PublicKey, height: Height) {
        let issued = self.0.get_mut(ticket).filter(|issued| issued.ended.is_none());
        let issued = issued.expect("a login by a ticket was checked");
        issued.left -= 1;
        if issued.left == 0 {
            issued.ended = Some(height);
        }
    }

    /// Ends the tickets whose time is over, in the turn of `height`, and forgets those that ended long
    /// ago.
    pub(super) fn pass(&mut self, time: u64, height: Height) {
        for issued in self.0.values_mut().filter(|issued| issued.until <= time) {
            issued.ended.get_or_insert(height);
        }
        self.0.retain(|_, issued| {
            issued.ended.is_none_or(|ended| ended.0.saturating_add(ENDED_HEIGHTS) >= height.0)
        });
    }
}

#[cfg(test)]
mod tests;
