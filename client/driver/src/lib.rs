//! A client of a sim over real sockets: drives [`metatopia_client::Session`] over QUIC, by tokio.
//!
//! [`ClientDriver`] keeps one session open: it finds the node's address by HTTP, pins the certificate that
//! the node names there, goes on with the next node when one is gone, and hands the session's events
//! to its owner as [`DriverEvent`]. It submits acts, asks questions, and follows headers as far as a proof
//! needs them. It does not decide what to do, and knows no command line, no key file and no disk; the
//! text client, bots and commands do.
//!
//! What is believed is no node's word: [`GenesisTrust`] holds the genesis, which gives the sim's id, and
//! receipts and outcomes are checked against signatures that lead back to it.
//!
//! ```
//! use metatopia_client_driver::{GenesisTrust, LearnError, NodeUrl};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! // Nobody listens on the first port.
//! let node: NodeUrl = "http://127.0.0.1:1".parse().unwrap();
//!
//! let learned = GenesisTrust::learn_from(&[node], None).await;
//!
//! let Err(LearnError::Endpoint(error)) = learned else { panic!("nobody is there") };
//! assert!(error.to_string().ends_with("is not reached: nobody listens there"), "{error}");
//! # }
//! ```
#![forbid(unsafe_code)]

mod asking;
mod charter;
mod first_login;
pub mod http;
mod link;
mod nearest;
mod news;
mod node_endpoint;
mod node_url;
mod profiles;
mod proof;
mod state;
mod trust;

use std::{collections::VecDeque, fmt, sync::Arc, time::Duration};

use metatopia_client::{LightClient, Session};
use metatopia_protocol::{Answer, Goodbye, Question, ScriptEntry, Watching, take_page};
use metatopia_types::{Act, ActId, Blob, Lane, PublicKey, Rotation, ScriptId, Seq, Sign};
use tokio::{
    sync::{mpsc, oneshot},
    task::JoinHandle,
    time::{Instant, sleep, timeout, timeout_at},
};

use self::link::{DriverCommand, SessionTask};
pub use self::{
    asking::{AskError, AskingSession},
    charter::{ProvenFriends, ProvenWords},
    first_login::{FirstLoginError, WORKED, guest_look, login, passing_key},
    http::HttpError,
    nearest::{MEASURED_MAX, nearest},
    news::{DriveError, DriverEvent, End},
    node_endpoint::{NodeEndpoint, NodeEndpointError, SessionOffer},
    node_url::{NodeUrl, NodeUrlError},
    proof::{ProofError, ProvenAct},
    state::FetchStateError,
    trust::{GenesisTrust, LearnError},
};

/// News between the task and its owner.
const NEWS_MAX: usize = 256;

/// Orders under way to the task.
const ORDERS_MAX: usize = 64;

/// News that are kept aside while the owner waits for something else; of chat the oldest goes first.
const ASIDE_MAX: usize = 4_096;

/// Time for a session to open.
const OPEN: Duration = Duration::from_secs(15);

/// The pause before a question is asked again that a node was too busy for, or that got lost.
const ASK_AGAIN: Duration = Duration::from_millis(50);

/// An act that was signed and sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Submitted {
    /// The id of the act.
    pub act: ActId,
    /// Its place in the lane.
    pub seq: Seq,
}

/// A session with a sim.
pub struct ClientDriver {
    orders: mpsc::Sender<DriverCommand>,
    news: mpsc::Receiver<DriverEvent>,
    aside: VecDeque<DriverEvent>,
    trust: GenesisTrust,
    light: LightClient,
    key: Arc<dyn Sign>,
    author: PublicKey,
    lane: Lane,
    /// The document by which the key took the place of another one.
    rotation: Option<Rotation>,
    /// The node that let the session in last.
    node: Option<NodeUrl>,
    task: JoinHandle<()>,
}

impl fmt::Debug for ClientDriver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ClientDriver of {} in sim {}", self.author, self.trust.sim)
    }
}

impl ClientDriver {
    /// Opens a session of `key`; nodes are tried in the order given, and at any later loss.
    ///
    /// # Errors
    /// See [`DriveError`].
    pub async fn open(
        nodes: Vec<NodeUrl>,
        trust: GenesisTrust,
        key: Arc<dyn Sign>,
    ) -> Result<Self, DriveError> {
        let (author, lane) = (key.public(), Lane(u64::from_le_bytes(random()) >> 11));
        let session = Session::new(Arc::clone(&key), trust.light(), lane);
        let (orders, taken) = mpsc::channel(ORDERS_MAX);
        let (told, news) = mpsc::channel(NEWS_MAX);
        let spawn = trust.genesis.parameters.avatar.spawn;
        let task = tokio::spawn(SessionTask::new(session, author, spawn, nodes, taken, told).run());
        let (aside, light) = (VecDeque::new(), trust.light());
        let (node, rotation) = (None, None);
        let mut driver =
            Self { orders, news, aside, trust, light, key, author, lane, rotation, node, task };
        let opened = async {
            loop {
                match driver.news().await {
                    DriverEvent::Open { .. } => return Ok(()),
                    DriverEvent::Ended(end) => return Err(end),
                    _ => {}
                }
            }
        };
        timeout(OPEN, opened).await.map_err(|_| DriveError::NotOpen)??;
        Ok(driver)
    }

    /// Returns the key whose session this is.
    #[must_use]
    pub const fn author(&self) -> PublicKey {
        self.author
    }

    /// Returns the signer of that key, to open a session with a neighbouring sim.
    #[must_use]
    pub fn signer(&self) -> Arc<dyn Sign> {
        Arc::clone(&self.key)
    }

    /// Shows this rotation at logins from now on, where the sim may know the old key.
    pub const fn show_rotation(&mut self, rotation: Option<Rotation>) {
        self.rotation = rotation;
    }

    /// Returns the rotation that logins show.
    #[must_use]
    pub const fn rotation(&self) -> Option<Rotation> {
        self.rotation
    }

    /// Returns the lane of the session's acts.
    #[must_use]
    pub const fn lane(&self) -> Lane {
        self.lane
    }

    /// Returns the sim that the session is in.
    #[must_use]
    pub const fn trust(&self) -> &GenesisTrust {
        &self.trust
    }

    /// Returns the next thing that happened. Nothing is lost when this is cancelled.
    pub async fn news(&mut self) -> DriverEvent {
        let news = match self.aside.pop_front() {
            Some(news) => news,
            None => self.next().await,
        };
        if let DriverEvent::Open { url, .. } = &news {
            self.node = Some(url.clone());
        }
        news
    }

    /// Returns the node that let the session in last.
    #[must_use]
    pub const fn node(&self) -> Option<&NodeUrl> {
        self.node.as_ref()
    }

    async fn next(&mut self) -> DriverEvent {
        match self.news.recv().await {
            Some(news) => news,
            // The task has told its end before; whoever asks again gets the mildest form of it.
            None => DriverEvent::Ended(End::Goodbye(Goodbye::Stopping)),
        }
    }

    /// Signs an act and sends it.
    ///
    /// # Errors
    /// See [`DriveError`].
    pub async fn submit(&mut self, act: Act, blobs: Vec<Blob>) -> Result<Submitted, DriveError> {
        let (reply, answer) = oneshot::channel();
        self.order(DriverCommand::Submit { act: Box::new(act), blobs, reply }).await?;
        match self.while_listening(answer).await {
            Ok(submitted) => Ok(submitted?),
            Err(_) => Err(self.ended().await),
        }
    }

    /// Asks what runs, page after page; nothing if the node does not say.
    ///
    /// # Errors
    /// As [`ClientDriver::ask`].
    pub async fn scripts(
        &mut self,
        wait: Duration,
    ) -> Result<Option<Vec<ScriptEntry>>, DriveError> {
        let (mut all, mut next) = (Vec::new(), Some(ScriptId(0)));
        while let Some(after) = next {
            let Answer::Scripts(page) = self.ask(Question::Scripts { after }, wait).await? else {
                return Ok(None);
            };
            next = take_page(&mut all, page);
        }
        Ok(Some(all))
    }

    /// Asks a question until it is answered, over lost connections and busy nodes.
    ///
    /// # Errors
    /// See [`DriveError`].
    pub async fn ask(&mut self, question: Question, wait: Duration) -> Result<Answer, DriveError> {
        let deadline = Instant::now() + wait;
        loop {
            let (reply, answer) = oneshot::channel();
            self.order(DriverCommand::Ask { question: question.clone(), reply }).await?;
            let answer = timeout_at(deadline, self.while_listening(answer)).await;
            match answer {
                Ok(Ok(Answer::Busy)) | Ok(Err(_)) if Instant::now() < deadline => {
                    if self.task.is_finished() {
                        return Err(self.ended().await);
                    }
                    sleep(ASK_AGAIN).await;
                }
                Ok(Ok(answer)) => return Ok(answer),
                _ => return Err(DriveError::NoAnswer(wait)),
            }
        }
    }

    /// Wants views in this way from now on, or no more; they become [`DriverEvent::Scene`], and their proofs
    /// [`DriverEvent::Proof`].
    ///
    /// # Errors
    /// When the session is over.
    pub async fn view(&mut self, watching: Option<Watching>) -> Result<(), DriveError> {
        self.order(DriverCommand::View(watching)).await
    }

    /// Ends the session, after everything that was sent has arrived.
    pub async fn leave(self) {
        let Self { orders, news, task, .. } = self;
        drop((orders, news));
        // The task ends when its owner is gone, within the second that a carrier lingers.
        let _ = timeout(Duration::from_secs(3), task).await;
    }

    async fn order(&mut self, order: DriverCommand) -> Result<(), DriveError> {
        if self.orders.send(order).await.is_err() {
            return Err(self.ended().await);
        }
        Ok(())
    }

    /// Returns why the task is over. Other news that it left is gone with it.
    async fn ended(&mut self) -> DriveError {
        loop {
            if let DriverEvent::Ended(end) = self.news().await {
                return DriveError::Ended(end);
            }
        }
    }

    /// Waits for a reply while news are taken, so that neither side waits for the other for ever.
    async fn while_listening<T>(
        &mut self,
        mut reply: oneshot::Receiver<T>,
    ) -> Result<T, oneshot::error::RecvError> {
        loop {
            tokio::select! {
                biased;
                reply = &mut reply => return reply,
                Some(news) = self.news.recv() => self.put_aside(news),
            }
        }
    }

    fn put_aside(&mut self, news: DriverEvent) {
        self.aside.retain(|older| !news.replaces(older));
        if self.aside.len() >= ASIDE_MAX
            && let Some(oldest) = self.aside.iter().position(DriverEvent::is_heard)
        {
            self.aside.remove(oldest);
        }
        self.aside.push_back(news);
    }
}

/// Returns bytes from the operating system's randomness.
///
/// # Panics
/// When the system has none: then no key or nonce may be made.
#[must_use]
pub fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the operating system has randomness");
    bytes
}

#[cfg(test)]
mod tests;
