//! Tickets: decides which ones admins issue, and which ones new keys use.

use metatopia_types::{Pass, PublicKey, Refusal, TicketOrder};

use super::{
    changes::StateChange,
    context::{ActContext, ActResult},
};
use crate::state::FirstLogin;

impl ActContext<'_> {
    /// Decides an admin's order to issue a ticket, or to withdraw one of any admin.
    pub(super) fn ticket(&self, order: &TicketOrder) -> ActResult {
        let player = self.renewed_player()?;
        let tickets = self.state.first_logins.tickets();
        match order {
            TicketOrder::Issue { ticket, uses, days } => {
                if !self.executor.tools.verify.is_key(ticket) {
                    return Err(Refusal::BadText);
                }
                tickets.check_issue(&self.author(), ticket, *uses, *days)?;
            }
            TicketOrder::Withdraw { ticket } if tickets.has_use(ticket) => {}
            TicketOrder::Withdraw { .. } => return Err(Refusal::NoTicket),
        }
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
