//! Joins a sim as a follower: servers let the node in, and it fetches a state that they certify.
//!
//! [`enter`] reaches the servers that an invite names, and the servers that these name, and asks
//! each to let this node in. [`fetch`] then drives the replica's [`Fetch`] over the same
//! connections. Both believe no more of what servers say than it proves. While the node runs,
//! [`JoinRequests`] asks the servers that did not let it in then.

mod deposits;
mod invite_file;
mod join_requests;
mod pieces;
mod provider;
mod waiting;

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};

use metatopia_client_driver::{GenesisTrust, NodeEndpoint, NodeUrl};
use metatopia_protocol::{Answer, Applicant, JoinRefusal, JoinRequest, Question, SignedInvite};
use metatopia_replica::{
    JoinTarget,
    fetch::{Fetch, FetchEffect, Fetched, Progress, ProviderFault},
};
use metatopia_types::{Ed25519, Height, NodeContact, PublicKey, Sign, SimId};
use tokio::sync::mpsc;

pub(crate) use self::join_requests::{JoinAnswer, next_answer};
pub use self::{
    deposits::{DEPOSITS_MAX, InviteStore, SHORT_CHARS_MAX, Secret, ShortInvite, ShortInviteError},
    invite_file::InviteFile,
    join_requests::JoinRequests,
    pieces::{Pieces, PiecesError},
};
use self::{
    provider::{ProviderConnection, ProviderError, ProviderEvent},
    waiting::UnaskedServers,
};

/// The most servers that are asked at once. More would not make a fetch faster.
pub const PROVIDERS_MAX: usize = 16;

/// The time between two notes of progress.
const TELL: Duration = Duration::from_millis(200);

/// The most answers that wait to be handled.
const TOLD_MAX: usize = 64;

/// Says why this node is not let in, or has no state.
#[derive(Debug, thiserror::Error)]
pub enum JoinError {
    /// No node that is asked answers as a server of the sim does.
    #[error("no server of the sim is reached: {0}")]
    Unreachable(String),
    /// No server lets this node in.
    #[error("no server lets this node in: {0}")]
    Refused(JoinRefusal),
    /// No server is left to fetch from.
    #[error("no server is left that gives the state: {0}")]
    Alone(String),
    /// The fetched leaves cannot be kept.
    #[error(transparent)]
    Pieces(#[from] PiecesError),
}

/// A server that let this node in.
#[derive(Debug)]
pub struct AdmittingServer {
    /// The URL of the server.
    pub url: NodeUrl,
    /// Its own key.
    pub key: PublicKey,
    /// The address where the server takes servers and followers.
    pub contact: NodeContact,
    /// The height of the snapshot that the server offers; nothing proves it yet.
    pub offers: Height,
    connection: ProviderConnection,
}

/// A note about the progress of joining, for people.
#[derive(Debug)]
pub enum JoinNotice {
    /// A server is not reached, does not let this node in, or was dropped.
    Without {
        /// The URL of the server.
        url: String,
        /// The reason for it.
        why: String,
    },
    /// Says how far the fetch is.
    Progress(Progress),
}

/// Asks the servers of an invite to let in the node of this key.
///
/// # Errors
/// See [`JoinError`].
pub async fn enter(
    invite: &SignedInvite,
    node: Arc<dyn Sign>,
    applicant: Option<Applicant>,
    told: &mut dyn FnMut(JoinNotice),
) -> Result<(GenesisTrust, Vec<AdmittingServer>), JoinError> {
    let sim = invite.invite.sim();
    let mut waiting = UnaskedServers::new(&invite.invite);
    let (mut hosts, mut trust) = (Vec::<AdmittingServer>::new(), None);
    let (mut unreached, mut refused) = (Vec::new(), None);
    let request = JoinRequest { invite: invite.clone(), applicant };
    while hosts.len() < PROVIDERS_MAX
        && let Some(target) = waiting.next()
    {
        let is_host = |server: &PublicKey| hosts.iter().any(|host| host.key == *server);
        let address = match &target {
            JoinTarget::Server(announcement) if is_host(&announcement.server) => continue,
            JoinTarget::Server(announcement) => &announcement.http,
            JoinTarget::Address(address) => address,
        };
        let mut without = |why: String| {
            unreached.push(format!("{address} {why}"));
            told(JoinNotice::Without { url: address.clone(), why });
        };
        let endpoint = match find(&target, sim).await {
            Ok(endpoint) if is_host(&endpoint.server) => continue,
            Ok(endpoint) => endpoint,
            Err(error) => {
                without(error.to_string());
                continue;
            }
        };
        let reply = match ask_entry(&endpoint, &*node, &request, &mut trust).await {
            Ok(reply) => reply,
            Err(error) => {
                without(error.to_string());
                continue;
            }
        };
        if let Answer::Servers(others) = reply.others {
            waiting.receive(&others, &Ed25519);
        }
        match reply.joined {
            Answer::Join(Ok(contact)) => {
                let NodeEndpoint { url, server: key, .. } = endpoint;
                let EntryReply { connection, offers, .. } = reply;
                hosts.push(AdmittingServer { url, key, contact, offers, connection });
            }
            Answer::Join(Err(why)) => {
                without(format!("does not let this node in: {why}"));
                refused = Some(why);
            }
            _ => without(ProviderError::NoFollowers.to_string()),
        }
    }
    match (trust, refused) {
        (Some(trust), _) if !hosts.is_empty() => Ok((trust, hosts)),
        (_, Some(why)) => Err(JoinError::Refused(why)),
        _ => Err(JoinError::Unreachable(unreached.join("; "))),
    }
}

/// The reply of a server that was asked to let this node in.
struct EntryReply {
    connection: ProviderConnection,
    /// The server's answer whether it lets the node in.
    joined: Answer,
    /// The servers that it knows.
    others: Answer,
    /// The height of the snapshot that it offers.
    offers: Height,
}

/// Asks one server to let this node in, which servers it knows, and which snapshot it offers.
/// Learns the genesis from the server if it is not known yet.
async fn ask_entry(
    endpoint: &NodeEndpoint,
    node: &dyn Sign,
    request: &JoinRequest,
    trust: &mut Option<GenesisTrust>,
) -> Result<EntryReply, ProviderError> {
    if trust.is_none() {
        *trust = Some(GenesisTrust::learn(endpoint).await?);
    }
    let (mut connection, joined) = request_entry(endpoint, node, request).await?;
    let others = connection.ask(Question::Servers).await?;
    let offers = match connection.ask(Question::Snapshot).await? {
        Answer::Snapshot(offer) => offer.height,
        _ => Height(0),
    };
    Ok(EntryReply { connection, joined, others, offers })
}

/// Asks which server answers at this URL. If it should be a certain server, it has to prove that.
async fn find(target: &JoinTarget, sim: SimId) -> Result<NodeEndpoint, ProviderError> {
    match target {
        JoinTarget::Address(address) => Ok(NodeEndpoint::ask(&address.parse()?, Some(sim)).await?),
        JoinTarget::Server(announcement) => {
            let found = NodeEndpoint::ask(&announcement.http.parse()?, Some(sim)).await?;
            found.shown_by(announcement).ok_or(ProviderError::Other)
        }
    }
}

/// Opens a session with one server, and asks it to let this node in.
async fn request_entry(
    endpoint: &NodeEndpoint,
    node: &dyn Sign,
    request: &JoinRequest,
) -> Result<(ProviderConnection, Answer), ProviderError> {
    let mut connection = ProviderConnection::open(endpoint, node).await?;
    let joined = connection.ask(Question::Join(Box::new(request.clone()))).await?;
    Ok((connection, joined))
}

/// Fetches a certified state from these servers, and continues with what `pieces` holds. Returns
/// none if the sim is so young that genesis is the newest state there is.
///
/// # Errors
/// See [`JoinError`].
pub async fn fetch(
    mut fetch: Fetch,
    hosts: Vec<AdmittingServer>,
    pieces: &Pieces,
    told: &mut dyn FnMut(JoinNotice),
) -> Result<Option<Fetched>, JoinError> {
    let start = Instant::now();
    for leaf in pieces.load()? {
        fetch.have(leaf);
    }
    let (sender, mut answers) = mpsc::channel(TOLD_MAX);
    let mut links = BTreeMap::new();
    let mut blamed = Vec::new();
    for host in hosts {
        let (key, url) = (host.key, host.url.to_string());
        links.insert(key, (url, host.connection.pump(key, sender.clone())));
        fetch.up(start.elapsed(), key);
    }
    drop(sender);
    let mut pulse = tokio::time::interval(TELL);
    loop {
        while let Some(effect) = fetch.poll() {
            match effect {
                FetchEffect::Ask { to, token, question } => {
                    let link = links.get(&to).map(|(_, asks)| asks);
                    if link.is_none_or(|asks| asks.try_send((token, question)).is_err()) {
                        fetch.down(start.elapsed(), to);
                    }
                }
                FetchEffect::Keep { hash, content } => pieces.keep(&hash, &content)?,
                FetchEffect::Dropped { provider, why } => {
                    blamed.push(dropped(&links, provider, &why, told));
                }
                FetchEffect::Done(fetched) => {
                    told(JoinNotice::Progress(fetch.progress()));
                    return Ok(Some(*fetched));
                }
                FetchEffect::Genesis => return Ok(None),
            }
        }
        if fetch.is_alone() {
            return Err(JoinError::Alone(blamed.join("; ")));
        }
        let deadline = fetch.deadline().map(|at| (start + at).into());
        tokio::select! {
            Some((from, answer)) = answers.recv() => match answer {
                ProviderEvent::Answer { token, answer } => {
                    fetch.answer(start.elapsed(), from, token, *answer);
                }
                ProviderEvent::Gone(why) => {
                    let url = links.remove(&from).map(|(url, _)| url).unwrap_or_default();
                    blamed.push(format!("{url} {why}"));
                    told(JoinNotice::Without { url, why });
                    fetch.down(start.elapsed(), from);
                }
            },
            () = sleep_until(deadline) => fetch.wake(start.elapsed()),
            _ = pulse.tick() => told(JoinNotice::Progress(fetch.progress())),
        }
    }
}

type ProviderLinks = BTreeMap<PublicKey, (String, mpsc::Sender<(u32, Question)>)>;

fn dropped(
    links: &ProviderLinks,
    provider: PublicKey,
    why: &ProviderFault,
    told: &mut dyn FnMut(JoinNotice),
) -> String {
    let url = links.get(&provider).map(|(url, _)| url.clone()).unwrap_or_default();
    let why = format!("(server {provider}) was dropped: {why}");
    told(JoinNotice::Without { url: url.clone(), why: why.clone() });
    format!("{url} {why}")
}

async fn sleep_until(deadline: Option<tokio::time::Instant>) {
    match deadline {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests;
