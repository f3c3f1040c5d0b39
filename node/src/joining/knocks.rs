//! A running follower asks the servers that have not let it in, beside everything else.

use std::{collections::BTreeSet, future::pending, sync::Arc, time::Duration};

use libp2p::Multiaddr;
use metatopia_protocol::{Answer, JoinRefusal, JoinRequest, SignedEntrance};
use metatopia_replica::{Knock, Knocking};
use metatopia_types::{Contact, PublicKey, Sign, SigningKey};
use tokio::sync::mpsc;

use super::{find, provider::ProviderError, request_entry};

/// Who answered, and whether it lets this node in; or why nobody answered.
pub(crate) type Met = Result<(PublicKey, Result<Contact, JoinRefusal>), String>;

/// Asks one server after the other, as [`Knocking`] says.
#[derive(Debug)]
pub struct Knocks {
    knocking: Knocking,
    request: Arc<JoinRequest>,
    node: Arc<SigningKey>,
    tell: mpsc::Sender<Met>,
    told: mpsc::Receiver<Met>,
}

impl Knocks {
    /// For the node of this key.
    #[must_use]
    pub fn new(request: JoinRequest, node: SigningKey, now: Duration) -> Self {
        let addresses = request.invite.invite.addresses.iter().cloned();
        let knocking = Knocking::new(addresses, now);
        let (tell, told) = mpsc::channel(1);
        Self { knocking, request: Arc::new(request), node: Arc::new(node), tell, told }
    }

    /// Who is missed now, and what servers say of themselves: asks who is to be asked.
    pub(crate) fn see(
        &mut self,
        now: Duration,
        missed: BTreeSet<PublicKey>,
        words: &[SignedEntrance],
    ) {
        self.knocking.see(now, missed, words);
        let Some(knock) = self.knocking.poll(now) else {
            return;
        };
        let (request, node, tell) =
            (Arc::clone(&self.request), Arc::clone(&self.node), self.tell.clone());
        tokio::spawn(async move {
            let met = ask(&knock, &request, &*node).await.map_err(|error| error.to_string());
            // A server that stops waits for nothing.
            let _stopped = tell.send(met).await;
        });
    }

    /// Takes what came of it, and gives where a server takes this node from now on.
    pub(crate) fn take(&mut self, now: Duration, met: Met) -> Option<(PublicKey, Multiaddr)> {
        let (server, joined) = match met {
            Ok(met) => met,
            Err(why) => {
                tracing::debug!(%why, "a server that is missed does not answer");
                self.knocking.answered(now, None);
                return None;
            }
        };
        let answer = joined.as_ref().map(|_| ()).map_err(|why| *why);
        let news = self.knocking.answered(now, Some((server, answer)));
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

    /// Who is missed and does not let this node in by its invite, ever.
    pub(crate) fn refused(&self) -> impl Iterator<Item = (PublicKey, JoinRefusal)> {
        self.knocking.refused().into_iter()
    }
}

/// What came of a question; nothing ever, of a node that asks nobody.
pub(crate) async fn met(knocks: &mut Option<Knocks>) -> Met {
    match knocks {
        // It holds a sender itself.
        Some(knocks) => match knocks.told.recv().await {
            Some(met) => met,
            None => pending().await,
        },
        None => pending().await,
    }
}

/// Asks one server to let this node in.
async fn ask(
    knock: &Knock,
    request: &JoinRequest,
    node: &dyn Sign,
) -> Result<(PublicKey, Result<Contact, JoinRefusal>), ProviderError> {
    let entrance = find(knock, request.invite.invite.sim()).await?;
    let (connection, joined) = request_entry(&entrance, node, request).await?;
    connection.leave().await;
    match joined {
        Answer::Join(joined) => Ok((entrance.server, joined)),
        _ => Err(ProviderError::NoFollowers),
    }
}
