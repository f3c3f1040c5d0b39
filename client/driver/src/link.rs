//! The task behind a [`ClientDriver`](super::ClientDriver): one session, kept alive over connections and nodes.

mod connection;
mod events;

use std::{
    collections::{BTreeMap, VecDeque},
    future::pending,
    time::{Duration, Instant},
};

use bytes::Bytes;
use metatopia_client::{Output, Session, SubmitError};
use metatopia_math::Vec2;
use metatopia_protocol::{Answer, Question, SubmitRefusal, Watching};
use metatopia_transport::carrier::{Carrier, CarrierError, CarrierReceiver};
use metatopia_types::{Act, ActId, Blob, PublicKey, Seq, SimId};
use tokio::{
    sync::{mpsc, oneshot},
    task::JoinHandle,
    time::{sleep_until, timeout},
};

use super::{
    DriverEvent, End, NodeUrl, Submitted, http::HttpError, node_endpoint::NodeEndpointError,
};

/// News that wait for the owner. Beyond it nothing more is read from the node.
const WAITING_MAX: usize = 1_024;

/// A node that takes nothing of what is sent for this long is left for another.
const SEND: Duration = Duration::from_secs(5);

/// A node that owes an answer and says nothing for this long is asked by HTTP whether it lives: of a
/// process that was killed a connection without packets learns only much later.
const SILENCE: Duration = Duration::from_millis(1_500);

/// Where it is told that an act was signed and sent, or why not.
type SubmitReply = oneshot::Sender<Result<Submitted, SubmitError>>;

/// What the owner wants.
pub(super) enum DriverCommand {
    Submit { act: Box<Act>, blobs: Vec<Blob>, reply: SubmitReply },
    Ask { question: Question, reply: oneshot::Sender<Answer> },
    View(Option<Watching>),
}

/// Who waits for an answer.
enum AnswerTarget {
    Owner(oneshot::Sender<Answer>),
    /// We do: was this act, which the node refuses as old, decided before?
    Check(ActId),
}

/// What happened next.
enum TaskStep {
    Order(Option<DriverCommand>),
    Told(bool),
    Frame(Result<Bytes, CarrierError>),
    Dialled(Dialled),
    Probed(Probed),
    Silence,
    Tick,
}

type Dialled = Result<Carrier, NodeEndpointError>;

/// Whether there is a node at all.
type Probed = Result<String, HttpError>;

pub(super) struct SessionTask {
    session: Session,
    sim: SimId,
    author: PublicKey,
    /// Where to look from while there is no avatar.
    spawn: Vec2,
    /// Those that were given, and behind them those that servers named.
    nodes: Vec<NodeUrl>,
    given: usize,
    node: usize,
    carrier: Option<Carrier>,
    dialling: Option<JoinHandle<Dialled>>,
    probing: Option<JoinHandle<Probed>>,
    heard_at: Instant,
    tries: usize,
    down_since: Instant,
    was_open: bool,
    clock: Instant,
    orders: mpsc::Receiver<DriverCommand>,
    news: mpsc::Sender<DriverEvent>,
    waiting: VecDeque<DriverEvent>,
    acts: BTreeMap<ActId, (Seq, Instant)>,
    /// Owners of acts that wait to be signed.
    unsigned: BTreeMap<Seq, SubmitReply>,
    checks: BTreeMap<ActId, SubmitRefusal>,
    asked: BTreeMap<u32, AnswerTarget>,
    end: Option<End>,
}

impl SessionTask {
    pub(super) fn new(
        session: Session,
        author: PublicKey,
        spawn: Vec2,
        nodes: Vec<NodeUrl>,
        orders: mpsc::Receiver<DriverCommand>,
        news: mpsc::Sender<DriverEvent>,
    ) -> Self {
        Self {
            sim: session.light().sim(),
            session,
            author,
            spawn,
            given: nodes.len(),
            nodes,
            node: 0,
            carrier: None,
            dialling: None,
            probing: None,
            heard_at: Instant::now(),
            tries: 0,
            down_since: Instant::now(),
            was_open: false,
            clock: Instant::now(),
            orders,
            news,
            waiting: VecDeque::new(),
            acts: BTreeMap::new(),
            unsigned: BTreeMap::new(),
            checks: BTreeMap::new(),
            asked: BTreeMap::new(),
            end: None,
        }
    }

    /// Runs until the owner is gone, or the session cannot go on.
    pub(super) async fn run(mut self) {
        loop {
            self.flush().await;
            if self.end.is_some() {
                break;
            }
            if self.carrier.is_none() && self.dialling.is_none() {
                self.dial();
            }
            let deadline = self.session.deadline().map(|at| self.clock + at);
            let room = self.waiting.len() < WAITING_MAX;
            let silent = self.is_owed().then(|| self.heard_at + SILENCE);
            let carrier = self.carrier.as_mut().map(|carrier| &mut carrier.recv);
            let step = tokio::select! {
                order = self.orders.recv() => TaskStep::Order(order),
                told = tell_first(&self.news, &mut self.waiting) => TaskStep::Told(told),
                frame = receive(carrier), if room => TaskStep::Frame(frame),
                dialled = outcome(self.dialling.as_mut()) => TaskStep::Dialled(dialled),
                probed = outcome(self.probing.as_mut()) => TaskStep::Probed(probed),
                () = sleep_until_some(silent) => TaskStep::Silence,
                () = sleep_until_some(deadline) => TaskStep::Tick,
            };
            let now = self.clock.elapsed();
            match step {
                TaskStep::Order(Some(order)) => self.order(order),
                TaskStep::Order(None) | TaskStep::Told(false) => break,
                TaskStep::Told(true) => {}
                TaskStep::Frame(Ok(frame)) => {
                    self.heard_at = Instant::now();
                    self.session.handle(now, &frame);
                }
                TaskStep::Frame(Err(error)) => self.broke(error.to_string()),
                TaskStep::Dialled(dialled) => self.dialled(dialled),
                TaskStep::Probed(probed) => self.probed(&probed),
                TaskStep::Silence => self.probe(),
                TaskStep::Tick => self.session.tick(now),
            }
        }
        self.finish().await;
    }

    /// Tells the owner the rest, and takes leave of the node.
    async fn finish(mut self) {
        self.orders.close();
        if let Some(dialling) = self.dialling.take() {
            dialling.abort();
        }
        if let Some(probing) = self.probing.take() {
            probing.abort();
        }
        let last = self.end.take().map(DriverEvent::Ended);
        for news in self.waiting.into_iter().chain(last) {
            if self.news.send(news).await.is_err() {
                break;
            }
        }
        if let Some(carrier) = self.carrier {
            carrier.send.leave().await;
        }
    }

    /// Sends what the session wants sent, and takes note of what it reports.
    async fn flush(&mut self) {
        while let Some(output) = self.session.poll() {
            match output {
                Output::Event(event) => self.event(event),
                Output::Send(frame) => {
                    let Some(carrier) = &mut self.carrier else {
                        continue;
                    };
                    match timeout(SEND, carrier.send.send(&frame)).await {
                        Ok(Ok(())) => {}
                        Ok(Err(error)) => self.broke(error.to_string()),
                        Err(_) => self.broke("the node takes nothing any more".to_owned()),
                    }
                }
            }
        }
    }

    /// Notes that an act of the owner is signed, and answers the owner if it waits for that.
    fn signed(&mut self, seq: Seq, act: ActId) {
        self.acts.insert(act, (seq, Instant::now()));
        if let Some(reply) = self.unsigned.remove(&seq) {
            // An owner that does not wait hears of the act by news.
            let _ = reply.send(Ok(Submitted { act, seq }));
        }
    }

    fn order(&mut self, order: DriverCommand) {
        match order {
            DriverCommand::Submit { act, blobs, reply } => {
                match self.session.submit(self.clock.elapsed(), *act, blobs) {
                    Ok(seq) => {
                        self.unsigned.insert(seq, reply);
                        if let Some(act) = self.session.act_at(seq) {
                            self.signed(seq, act);
                        }
                    }
                    // An owner that does not wait does nothing about it.
                    Err(error) => drop(reply.send(Err(error))),
                }
            }
            DriverCommand::Ask { question, reply } => {
                // Dropping the reply tells the owner to try again.
                if let Some(id) = self.session.ask(question) {
                    self.asked.insert(id, AnswerTarget::Owner(reply));
                }
            }
            DriverCommand::View(watching) => self.session.view(watching),
        }
    }
}

/// Hands the oldest news to the owner once it has room; false when there is no owner.
async fn tell_first(
    owner: &mpsc::Sender<DriverEvent>,
    waiting: &mut VecDeque<DriverEvent>,
) -> bool {
    if waiting.is_empty() {
        return pending().await;
    }
    let Ok(permit) = owner.reserve().await else {
        return false;
    };
    if let Some(news) = waiting.pop_front() {
        permit.send(news);
    }
    true
}

async fn receive(receiver: Option<&mut CarrierReceiver>) -> Result<Bytes, CarrierError> {
    match receiver {
        Some(receiver) => receiver.recv().await,
        None => pending().await,
    }
}

async fn outcome<T>(task: Option<&mut JoinHandle<T>>) -> T {
    match task {
        Some(task) => task.await.expect("these tasks do not panic, and only `finish` aborts them"),
        None => pending().await,
    }
}

async fn sleep_until_some(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at.into()).await,
        None => pending().await,
    }
}
