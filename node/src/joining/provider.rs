//! A session with one certain server, to ask it questions.

use std::time::Duration;

use metatopia_client_driver::{LearnError, NodeEndpoint, NodeEndpointError, NodeUrlError};
use metatopia_protocol::{
    Answer, ClientMessage, Goodbye, Hello, Question, ServerMessage, VERSION, decode_server,
    encode_client,
};
use metatopia_transport::carrier::{Carrier, CarrierError};
use metatopia_types::{PublicKey, Sign, wire::DecodeError};
use tokio::{sync::mpsc, time::timeout};

/// The time that a server has to open the session, and to answer each of the first questions.
const ANSWER: Duration = Duration::from_secs(10);

/// The most questions that wait to be sent.
const ASKS_MAX: usize = 16;

/// Says why a server is not asked any more.
#[derive(Debug, thiserror::Error)]
pub(super) enum ProviderError {
    #[error(transparent)]
    NodeEndpoint(#[from] NodeEndpointError),
    #[error(transparent)]
    Learn(#[from] LearnError),
    #[error("broke off: {0}")]
    Carrier(#[from] CarrierError),
    #[error("ended the session: {0}")]
    Goodbye(Goodbye),
    #[error("sent a frame that is none: {0}")]
    Frame(#[from] DecodeError),
    #[error("is not the server that it says, or serves another sim")]
    Other,
    #[error("speaks version {0} of the protocol, this program version {VERSION}")]
    Version(u16),
    #[error("gives no answer within {} s", ANSWER.as_secs())]
    TimedOut,
    #[error("is no address: {0}")]
    Address(#[from] NodeUrlError),
    #[error("does not take followers")]
    NoFollowers,
}

/// An answer to a question, or the end of the connection.
#[derive(Debug)]
pub(super) enum ProviderEvent {
    Answer {
        token: u32,
        answer: Box<Answer>,
    },
    /// The connection is gone, and no event follows.
    Gone(String),
}

#[derive(Debug)]
pub(super) struct ProviderConnection {
    carrier: Carrier,
}

impl ProviderConnection {
    /// Opens a session with the key of this node.
    pub(super) async fn open(
        endpoint: &NodeEndpoint,
        key: &dyn Sign,
    ) -> Result<Self, ProviderError> {
        timeout(ANSWER, begin(endpoint, key)).await.map_err(|_| ProviderError::TimedOut)?
    }

    /// Asks one question and waits for the answer.
    pub(super) async fn ask(&mut self, question: Question) -> Result<Answer, ProviderError> {
        let asked = async {
            self.send(0, question).await?;
            loop {
                if let Some((0, answer)) = self.next().await? {
                    return Ok(*answer);
                }
            }
        };
        timeout(ANSWER, asked).await.map_err(|_| ProviderError::TimedOut)?
    }

    /// Ends the session with the server.
    pub(super) async fn leave(self) {
        self.carrier.send.leave().await;
    }

    async fn send(&mut self, id: u32, question: Question) -> Result<(), ProviderError> {
        let frame = encode_client(&ClientMessage::Ask { id, question });
        Ok(self.carrier.send.send(&frame).await?)
    }

    async fn next(&mut self) -> Result<Option<(u32, Box<Answer>)>, ProviderError> {
        let frame = self.carrier.recv.recv().await?;
        match decode_server(&frame)? {
            ServerMessage::Answer { id, answer } => Ok(Some((id, answer))),
            ServerMessage::Goodbye(why) => Err(ProviderError::Goodbye(why)),
            _ => Ok(None),
        }
    }

    /// Sends questions as they come in, and passes on the answers, until one side is gone.
    pub(super) fn pump(
        self,
        key: PublicKey,
        told: mpsc::Sender<(PublicKey, ProviderEvent)>,
    ) -> mpsc::Sender<(u32, Question)> {
        let (asks, mut asked) = mpsc::channel(ASKS_MAX);
        tokio::spawn(async move {
            let Carrier { mut send, mut recv, .. } = self.carrier;
            let writes = async {
                while let Some((id, question)) = asked.recv().await {
                    let frame = encode_client(&ClientMessage::Ask { id, question });
                    send.send(&frame).await?;
                }
                send.leave().await;
                Ok::<_, ProviderError>(())
            };
            let reads = async {
                loop {
                    let frame = recv.recv().await?;
                    let (token, answer) = match decode_server(&frame)? {
                        ServerMessage::Answer { id, answer } => (id, answer),
                        ServerMessage::Goodbye(why) => return Err(ProviderError::Goodbye(why)),
                        _ => continue,
                    };
                    if told.send((key, ProviderEvent::Answer { token, answer })).await.is_err() {
                        return Ok(());
                    }
                }
            };
            let end: Result<(), ProviderError> = tokio::select! {
                end = writes => end,
                end = reads => end,
            };
            if let Err(why) = end {
                // If the receiver is gone, nobody waits for the event.
                let _ = told.send((key, ProviderEvent::Gone(why.to_string()))).await;
            }
        });
        asks
    }
}

async fn begin(
    endpoint: &NodeEndpoint,
    key: &dyn Sign,
) -> Result<ProviderConnection, ProviderError> {
    let mut carrier = endpoint.dial().await?;
    loop {
        let frame = carrier.recv.recv().await?;
        match decode_server(&frame)? {
            ServerMessage::Challenge(challenge) => {
                if challenge.version != VERSION {
                    return Err(ProviderError::Version(challenge.version));
                }
                if (challenge.sim, challenge.server) != (endpoint.sim, endpoint.server) {
                    return Err(ProviderError::Other);
                }
                let hello = ClientMessage::Hello(Hello::new(&challenge, key));
                carrier.send.send(&encode_client(&hello)).await?;
            }
            ServerMessage::Welcome(_) => return Ok(ProviderConnection { carrier }),
            ServerMessage::Goodbye(why) => return Err(ProviderError::Goodbye(why)),
            _ => {}
        }
    }
}
