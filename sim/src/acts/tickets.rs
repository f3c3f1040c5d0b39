//! Tickets: decides which ones admins issue, and which ones new keys use.

use metatopia_types::{Pass, PublicKey, Refusal, TicketOrder, Verify};

use super::{
    changes::StateChange,
    context::{ActContext, ActResult},
};
use crate::state::{FirstLogin, State};

impl ActContext<'_> {
    /// Decides an admin's order to issue a ticket, or to withdraw one of any admin.
    pub(super) fn ticket(&self, order: &TicketOrder) -> ActResult {
        let player = self.renewed_player()?;
        self.state.check_ticket(&self.author(), order, &*self.executor.tools.verify)?;
        Ok(vec![StateChange::Player(self.author(), player), StateChange::Ticket(*order)])
    }

    /// Returns the ticket that a first login uses, if it uses one. Turns are judged by an older state,
    /// so the ticket may have ended since.
    pub(super) fn used_ticket(&self, pass: Option<&Pass>) -> Result<Option<PublicKey>, Refusal> {
        let asked = self.state.charter.parameters.first_login != FirstLogin::Open;
        let Some(Pass::Ticket(shown)) = pass.filter(|_| asked) else {
            return Ok(None);
        };
        match self.state.first_logins.tickets().has_use(&shown.ticket) {
            true => Ok(Some(shown.ticket)),
            false => Err(Refusal::NoTicket),
        }
    }
}

impl State {
    /// Checks an order to issue a ticket, or to withdraw one.
    ///
    /// # Errors
    /// The rule that refuses it.
    pub(super) fn check_ticket(
        &self,
        author: &PublicKey,
        order: &TicketOrder,
        verify: &dyn Verify,
    ) -> Result<(), Refusal> {
        let tickets = self.first_logins.tickets();
        match order {
            TicketOrder::Issue { ticket, .. } if !verify.is_key(ticket) => Err(Refusal::BadText),
            TicketOrder::Issue { ticket, uses, days } => {
                tickets.check_issue(author, ticket, *uses, *days)
            }
            TicketOrder::Withdraw { ticket } if tickets.has_use(ticket) => Ok(()),
            TicketOrder::Withdraw { .. } => Err(Refusal::NoTicket),
        }
    }
}
