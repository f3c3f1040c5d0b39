//! Somebody who speaks the protocol, or does not, and sends whatever the story wants.

use metatopia_protocol::{Challenge, ClientMessage, Hello, ServerMessage, encode_client};
use metatopia_types::Sign;
use metatopia_types::wire::DecodeError;

use super::gateway::Hangup;

/// One connection without a session behind it.
#[derive(Debug, Default)]
pub struct Stranger {
    /// What the server said, in order.
    pub said: Vec<ServerMessage>,
    /// Why the server hung up.
    pub hung_up: Option<Hangup>,
    /// Whether the server died.
    pub lost: bool,
    /// Reads nothing of what it is sent.
    pub deaf: bool,
    /// The first frame of the server.
    challenge: Option<Challenge>,
}

impl Stranger {
    /// The stranger who reads nothing.
    #[must_use]
    pub fn deaf() -> Self {
        Self { deaf: true, ..Self::default() }
    }

    /// The frame that opens a session for `key`, once the server has asked for it.
    #[must_use]
    pub fn hello(&self, key: &dyn Sign) -> Option<Vec<u8>> {
        let challenge = self.challenge.as_ref()?;
        Some(encode_client(&ClientMessage::Hello(Hello::new(challenge, key))))
    }

    /// Returns why acts were refused, in order.
    #[must_use]
    pub fn refusals(&self) -> Vec<metatopia_protocol::SubmitRefusal> {
        let refused = self.said.iter().filter_map(|message| match message {
            ServerMessage::Refused { why, .. } => Some(*why),
            _ => None,
        });
        refused.collect()
    }

    pub(crate) fn hear(&mut self, said: Result<ServerMessage, DecodeError>) {
        if let Ok(message) = said {
            if let ServerMessage::Challenge(challenge) = &message {
                self.challenge = Some(challenge.clone());
            }
            self.said.push(message);
        }
    }
}
