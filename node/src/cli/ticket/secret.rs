//! The secret half of a ticket, as text and as a link.

use std::{fmt, str::FromStr};

use metatopia_client_driver::{NodeUrl, random};
use metatopia_types::{Digest, SigningKey};
use zeroize::Zeroizing;

/// The text before a ticket in a link. A browser sends no server the part behind `#`.
const MARK: &str = "#ticket=";

/// The secret of a ticket. Whoever has it may come in by it.
#[derive(Clone)]
pub(in crate::cli) struct TicketSecret(Zeroizing<[u8; 32]>);

impl TicketSecret {
    /// Returns a new random secret.
    pub(in crate::cli) fn random() -> Self {
        Self(Zeroizing::new(random()))
    }

    /// Returns the key that signs for the ticket.
    pub(in crate::cli) fn key(&self) -> SigningKey {
        SigningKey::from_seed(*self.0)
    }

    /// Returns the address of a server's page that comes in by this ticket.
    pub(in crate::cli) fn link(&self, server: &NodeUrl) -> String {
        format!("{server}{MARK}{self}")
    }
}

impl fmt::Display for TicketSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Digest(*self.0).fmt(f)
    }
}

impl fmt::Debug for TicketSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TicketSecret")
    }
}

/// Says why a text is no ticket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a ticket is 64 hexadecimal digits, or a link that ends in {MARK} and those")]
pub(in crate::cli) struct TicketError;

impl FromStr for TicketSecret {
    type Err = TicketError;

    fn from_str(text: &str) -> Result<Self, TicketError> {
        let digits = text.rsplit_once(MARK).map_or(text, |(_, digits)| digits);
        let secret: Digest = digits.parse().map_err(|_| TicketError)?;
        Ok(Self(Zeroizing::new(secret.0)))
    }
}

#[cfg(test)]
mod tests {
    use metatopia_types::Sign as _;

    use super::*;

    #[test]
    fn a_ticket_is_read_from_its_link_and_from_its_digits() {
        let secret = TicketSecret::random();
        let server: NodeUrl = "http://203.0.113.5:8080".parse().unwrap();
        let link = secret.link(&server);
        assert!(link.starts_with("http://203.0.113.5:8080/#ticket="), "{link}");
        let page = server.of(metatopia_types::SimId(Digest([0xab; 32])));
        let there = format!("http://203.0.113.5:8080/w/{}#ticket=", "ab".repeat(32));
        assert!(secret.link(&page).starts_with(&there), "{}", secret.link(&page));

        for text in [link, secret.to_string()] {
            let read: TicketSecret = text.parse().unwrap();
            assert_eq!(read.key().public(), secret.key().public());
        }
        assert!(!format!("{secret:?}").contains(&secret.to_string()));
    }

    #[test]
    fn what_is_no_ticket_says_what_one_looks_like() {
        let long = format!("{}0", TicketSecret::random());
        for text in ["", "http://203.0.113.5:8080/", "#ticket=", "#ticket=12", &long] {
            assert_eq!(text.parse::<TicketSecret>().unwrap_err(), TicketError, "{text}");
        }
    }
}
