//! Requests of a running follower to the servers that have not let it in.

use std::{collections::BTreeSet, future::pending, sync::Arc, time::Duration};

use libp2p::Multiaddr;
use metatopia_protocol::{Answer, JoinRefusal, JoinRequest, SignedAnnouncement};
use metatopia_replica::{JoinRetry, JoinTarget};
use metatopia_types::{NodeContact, PublicKey, Sign, SigningKey};
use tokio::sync::mpsc;

use super::{find, provider::ProviderError, request_entry};

/// The server that answered a request, and its answer; or the reason why no server answered.
pub(crate) type JoinAnswer = Result<(PublicKey, Result<NodeContact, JoinRefusal>), String>;

/// Sends one request after the other, as [`JoinRetry`] decides.
#[derive(Debug)]
pub struct JoinRequests {
    retry: JoinRetry,
    request: Arc<JoinRequest>,
    node: Arc<SigningKey>,
    answer_sender: mpsc::Sender<JoinAnswer>,
    answers: mpsc::Receiver<JoinAnswer>,
}

impl JoinRequests {
    /// Returns the requests of the node with this key. None is sent yet.
    #[must_use]
    pub fn new(request: JoinRequest, node: SigningKey, now: Duration) -> Self {
        let addresses = request.invite.invite.addresses.iter().cloned();
        let retry = JoinRetry::new(addresses, now);
        let (answer_sender, answers) = mpsc::channel(1);
        Self { retry, request: Arc::new(request), node: Arc::new(node), answer_sender, answers }
    }

    /// Notes which servers are not connected and what they announce, and sends the next request if
    /// one is due.
    pub(crate) fn update_missing(
        &mut self,
        now: Duration,
        missed: BTreeSet<PublicKey>,
        words: &[SignedAnnouncement],
    ) {
        self.retry.update_missing(now, missed, words);
        let Some(target) = self.retry.poll(now) else {
            return;
        };
        let (request, node, answer_sender) =
            (Arc::clone(&self.request), Arc::clone(&self.node), self.answer_sender.clone());
        tokio::spawn(async move {
            let answer = ask(&target, &request, &*node).await.map_err(|error| error.to_string());
            // If the server stops, nobody waits for the answer.
            let _stopped = answer_sender.send(answer).await;
        });
    }

    /// Records an answer. Returns the server that lets this node in, with its address for peers.
    pub(crate) fn apply_answer(
        &mut self,
        now: Duration,
        answer: JoinAnswer,
    ) -> Option<(PublicKey, Multiaddr)> {
        let (server, joined) = match answer {
            Ok(answer) => answer,
            Err(why) => {
                tracing::debug!(%why, "a server that is missed does not answer");
                self.retry.record_answer(now, None);
                return None;
            }
        };
        let answer = joined.as_ref().map(|_| ()).map_err(|why| *why);
        let news = self.retry.record_answer(now, Some((server, answer)));
        match joined {
            Ok(contact) => {
                if news {
                    tracing::info!(%server, "lets this node in");
                }
                Some((server, contact.address.parse().ok()?))
            }
            Err(why) => {
                if news && self.refused().any(|(refused, _)| refused == server) {
                    tracing::warn!(%server, %why, "does not let this node in; to be let in by it, \
                        stop this node and join again by a new invite: metatopia node join");
                } else if news {
                    tracing::warn!(%server, %why, "does not let this node in yet; it is asked again");
                }
                None
            }
        }
    }

    /// Returns the servers that are not connected and refused this node's invite for good, and why.
    pub(crate) fn refused(&self) -> impl Iterator<Item = (PublicKey, JoinRefusal)> {
        self.retry.refused().into_iter()
    }
}

/// Waits for the answer to a request. Waits for ever if the node has no invite.
pub(crate) async fn next_answer(join_requests: &mut Option<JoinRequests>) -> JoinAnswer {
    match join_requests {
        // The channel stays open: `join_requests` holds a sender itself.
        Some(join_requests) => match join_requests.answers.recv().await {
            Some(answer) => answer,
            None => pending().await,
        },
        None => pending().await,
    }
}

/// Asks one server to let this node in.
async fn ask(
    target: &JoinTarget,
    request: &JoinRequest,
    node: &dyn Sign,
) -> Result<(PublicKey, Result<NodeContact, JoinRefusal>), ProviderError> {
    let endpoint = find(target, request.invite.invite.sim()).await?;
    let (connection, joined) = request_entry(&endpoint, node, request).await?;
    connection.leave().await;
    match joined {
        Answer::Join(joined) => Ok((endpoint.server, joined)),
        _ => Err(ProviderError::NoFollowers),
    }
}
