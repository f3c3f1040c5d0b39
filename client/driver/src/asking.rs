//! Sessions that only ask: what is answered is checked by whoever asks, or not believed.

use std::{sync::Arc, time::Duration};

use metatopia_protocol::{
    Answer, ClientMessage, Goodbye, Hello, Question, ServerMessage, VERSION, decode_server,
    encode_client,
};
use metatopia_transport::carrier::{Carrier, CarrierError};
use metatopia_types::{Sign, SimId, wire::DecodeError};
use tokio::time::timeout;

use super::{NodeEndpoint, NodeEndpointError};

/// The time in which a session opens.
const OPEN: Duration = Duration::from_secs(5);

/// A session with one node that asks questions, and neither acts nor watches.
#[derive(Debug)]
pub struct AskingSession {
    carrier: Carrier,
    next_id: u32,
}

/// Why a node was not asked, or did not answer.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// There is no way into the node.
    #[error(transparent)]
    Endpoint(#[from] NodeEndpointError),
    /// The session broke.
    #[error("the session broke: {0}")]
    Carrier(#[from] CarrierError),
    /// The node ended the session.
    #[error("the node ended the session: {0}")]
    Goodbye(Goodbye),
    /// The node sent what is no frame of the protocol.
    #[error("the node sent a frame that is none: {0}")]
    Frame(#[from] DecodeError),
    /// The node asked again who this is.
    #[error("the node asks for a second proof of the key in one session")]
    AskedTwice,
    /// The node speaks another version of the protocol.
    #[error("the node speaks version {0} of the protocol, this program version {VERSION}")]
    Version(u16),
    /// The node serves another sim.
    #[error("the node serves sim {found}, not {expected}")]
    OtherSim {
        /// The sim that was to be asked.
        expected: SimId,
        /// The sim that the node serves.
        found: SimId,
    },
    /// The session did not open in time, or no answer came in time.
    #[error("the node says nothing for {} s", .0.as_secs())]
    Silent(Duration),
}

impl AskingSession {
    /// Opens a session of `key` with a node, which must serve the sim of the endpoint.
    ///
    /// # Errors
    /// See [`AskError`].
    pub async fn open(endpoint: &NodeEndpoint, key: Arc<dyn Sign>) -> Result<Self, AskError> {
        let opened = async {
            let carrier = endpoint.dial().await?;
            let mut session = Self { carrier, next_id: 1 };
            session.introduce(endpoint.sim, &*key).await?;
            Ok(session)
        };
        timeout(OPEN, opened).await.map_err(|_| AskError::Silent(OPEN))?
    }

    /// Answers the challenge of the node, and waits until it lets the session in.
    async fn introduce(&mut self, sim: SimId, key: &dyn Sign) -> Result<(), AskError> {
        let mut is_asked = false;
        loop {
            match self.receive().await? {
                // Whoever asks twice hands on what another server asks.
                ServerMessage::Challenge(_) if is_asked => return Err(AskError::AskedTwice),
                ServerMessage::Challenge(challenge) if challenge.version != VERSION => {
                    return Err(AskError::Version(challenge.version));
                }
                ServerMessage::Challenge(challenge) if challenge.sim != sim => {
                    return Err(AskError::OtherSim { expected: sim, found: challenge.sim });
                }
                ServerMessage::Challenge(challenge) => {
                    is_asked = true;
                    let hello = ClientMessage::Hello(Hello::new(&challenge, key));
                    self.carrier.send.send(&encode_client(&hello)).await?;
                }
                ServerMessage::Welcome(_) => return Ok(()),
                _ => {}
            }
        }
    }

    /// Returns the next message of the node.
    async fn receive(&mut self) -> Result<ServerMessage, AskError> {
        let frame = self.carrier.recv.recv().await?;
        match decode_server(&frame)? {
            ServerMessage::Goodbye(why) => Err(AskError::Goodbye(why)),
            message => Ok(message),
        }
    }

    /// Sends a question, and returns the number that comes back with its answer.
    ///
    /// # Errors
    /// When the session broke.
    pub async fn put(&mut self, question: Question) -> Result<u32, AskError> {
        let id = self.next_id;
        self.next_id = id.wrapping_add(1);
        self.carrier.send.send(&encode_client(&ClientMessage::Ask { id, question })).await?;
        Ok(id)
    }

    /// Returns the next answer, with the number of its question. Nothing is lost when this is cancelled.
    ///
    /// # Errors
    /// See [`AskError`].
    pub async fn next(&mut self) -> Result<(u32, Answer), AskError> {
        loop {
            if let ServerMessage::Answer { id, answer } = self.receive().await? {
                return Ok((id, *answer));
            }
        }
    }

    /// Asks a question, and waits for its answer.
    ///
    /// # Errors
    /// See [`AskError`].
    pub async fn ask(&mut self, question: Question, wait: Duration) -> Result<Answer, AskError> {
        let asked = self.put(question).await?;
        let answered = async {
            loop {
                let (id, answer) = self.next().await?;
                if id == asked {
                    return Ok(answer);
                }
            }
        };
        timeout(wait, answered).await.map_err(|_| AskError::Silent(wait))?
    }

    /// Ends the session.
    pub async fn leave(self) {
        self.carrier.send.leave().await;
    }
}
