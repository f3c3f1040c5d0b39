//! What members say to each other to find out whether a port can be reached from outside.
//!
//! The machine hands these messages to its host, which alone has sockets. Nobody names an address: the one
//! who is asked dials the address from which it hears the one who asks, so that nobody can be made to
//! dial a third.

use core::net::{IpAddr, Ipv6Addr};

use serde::{Deserialize, Serialize};

/// What came of dialling somebody back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DialBackOutcome {
    /// A connection opened.
    Open,
    /// Something there refused the connection at once.
    Closed,
    /// Nothing came back in time.
    Silent,
    /// The one who was asked does not dial now: it was asked too often.
    Busy,
}

/// One half of a check of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DialBackMessage {
    /// Asks to be dialled at a TCP port.
    Ask {
        /// Comes back with the answer.
        nonce: u64,
        /// The port, at the address from which the one who asks is heard.
        port: u16,
    },
    /// The answer to it.
    Answer {
        /// From the question.
        nonce: u64,
        /// What came of it.
        outcome: DialBackOutcome,
        /// The address that was dialled; IPv4 addresses are mapped into IPv6.
        observed: [u8; 16],
    },
}

impl DialBackMessage {
    /// Returns the answer to a question.
    #[must_use]
    pub const fn answer(nonce: u64, outcome: DialBackOutcome, observed: IpAddr) -> Self {
        let observed = match observed {
            IpAddr::V4(ip) => ip.to_ipv6_mapped().octets(),
            IpAddr::V6(ip) => ip.octets(),
        };
        Self::Answer { nonce, outcome, observed }
    }
}

/// Returns the address of an answer.
#[must_use]
pub fn observed_ip(bytes: [u8; 16]) -> IpAddr {
    IpAddr::V6(Ipv6Addr::from(bytes)).to_canonical()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_names_the_address_that_was_dialled() {
        for text in ["192.0.2.7", "2001:db8::1"] {
            let ip: IpAddr = text.parse().unwrap();
            let answer = DialBackMessage::answer(3, DialBackOutcome::Silent, ip);
            let DialBackMessage::Answer { nonce: 3, observed, .. } = answer else {
                panic!("{answer:?}")
            };
            assert_eq!(observed_ip(observed), ip);
        }
    }
}
