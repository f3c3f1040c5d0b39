//! Tickets: how the admins of a sim let people in whom it does not know.
//!
//! A ticket is a key pair. An admin puts its public key into the state, with how many may enter by it
//! and how long; whoever has the secret signs the key that it lets in. So a ticket that is seen in an
//! act is of no use to whoever sees it.

use serde::{Deserialize, Serialize};

use crate::{Digest, PublicKey, Rotation, Sign, Signature, SimId, Verify, Work};

/// What a key that is new to a sim shows in its first login.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Pass {
    /// Work that the key's owner did.
    Work(Work),
    /// A ticket of an admin.
    Ticket(TicketPass),
    /// A key that the sim knows, and whose place the new one takes.
    Rotation(Rotation),
}

/// A ticket that lets one key in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TicketPass {
    /// The ticket's public key.
    pub ticket: PublicKey,
    /// The signature by the ticket's secret key, for one key and one sim.
    pub signature: Signature,
}

impl TicketPass {
    /// Returns what lets `author` into a sim by this ticket.
    #[must_use]
    pub fn new(ticket: &dyn Sign, sim: SimId, author: &PublicKey) -> Self {
        let signature = ticket.sign(&message(sim, author));
        Self { ticket: ticket.public(), signature }
    }

    /// Checks whether whoever has the ticket lets this key into this sim.
    #[must_use]
    pub fn verify(&self, sim: SimId, author: &PublicKey, scheme: &dyn Verify) -> bool {
        scheme.verify(&self.ticket, &message(sim, author), &self.signature)
    }
}

/// Returns what a ticket signs.
fn message(sim: SimId, author: &PublicKey) -> [u8; 32] {
    let mut parts = [0; 64];
    parts[..32].copy_from_slice(sim.bytes());
    parts[32..].copy_from_slice(&author.0);
    Digest::of("metatopia ticket v1", &parts).0
}

/// What an admin does with tickets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TicketOrder {
    /// Lets new keys in by this ticket.
    Issue {
        /// The ticket's public key.
        ticket: PublicKey,
        /// How many keys it lets in, 1 to [`TICKET_USES_MAX`](crate::limits::TICKET_USES_MAX).
        uses: u32,
        /// Days of governance time that it is good for, 1 to
        /// [`TICKET_DAYS_MAX`](crate::limits::TICKET_DAYS_MAX).
        days: u32,
    },
    /// Lets nobody in by this ticket any more.
    Withdraw {
        /// The ticket's public key.
        ticket: PublicKey,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Ed25519, SigningKey};

    #[test]
    fn a_ticket_lets_one_key_into_one_sim() {
        let ticket = SigningKey::from_seed([1; 32]);
        let [here, there] = [1, 2].map(|n| SimId(Digest([n; 32])));
        let [ada, eve] = [3, 4].map(|n| PublicKey([n; 32]));
        let pass = TicketPass::new(&ticket, here, &ada);

        assert!(pass.verify(here, &ada, &Ed25519));
        assert!(!pass.verify(here, &eve, &Ed25519));
        assert!(!pass.verify(there, &ada, &Ed25519));
        let other = TicketPass { ticket: SigningKey::from_seed([2; 32]).public(), ..pass };
        assert!(!other.verify(here, &ada, &Ed25519));
    }

    /// A pass has one form for ever: tickets are printed and kept.
    #[test]
    fn the_same_ticket_and_author_make_the_same_pass() {
        let (ticket, author) = (SigningKey::from_seed([7; 32]), PublicKey([2; 32]));
        let pass = TicketPass::new(&ticket, SimId(Digest([1; 32])), &author);
        assert_eq!(
            pass.ticket.to_string(),
            "ea4a6c63e29c520abef5507b132ec5f9954776aebebe7b92421eea691446d22c"
        );
        let half = |from: usize| {
            let bytes = pass.signature.to_bytes();
            Digest(core::array::from_fn(|n| bytes[from + n])).to_string()
        };
        assert_eq!(half(0), "95b73a4e96706fa98cde46d1e36cf7ba17ff75ca90109dfe170d134bfdb3ec37");
        assert_eq!(half(32), "d1b31cd112b637b3b407ef8c5bd9dbc05d81d508c61b078291b24fbe89f1850f");
    }
}
