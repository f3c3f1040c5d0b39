//! The loop of one server. It hands events to the replica, and carries out the replica's effects.

mod join_retry;
mod outside;
mod publishing;
mod queries;
mod sending;
mod state_sync;

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use bytes::Bytes;
use libp2p::{Multiaddr, PeerId};
use metatopia_consensus::Halt;
use metatopia_protocol::{ClientId, Delivery, SignedAnnouncement};
use metatopia_replica::{
    ActStage, Effect, Input, OwnEndpoint, RepairReport, Replacement, Replica,
    keeper::{Done, Health, Order, Restart},
};
use metatopia_sim::MissingPort;
use metatopia_store::Snapshot;
use metatopia_transport::{
    certificates::Certificates,
    framing::SendError,
    gateway::{CloseCode, GatewayEvent, GatewayEvents, GatewayHandle},
    http::Allowed,
    peers::{PeerEvent, PeerEvents, PeersHandle},
};
use metatopia_types::{ActId, Blob, Height, NodeContact, PublicKey, SimId};
use tokio::{
    sync::{mpsc, watch},
    time::MissedTickBehavior,
};

use self::{
    outside::{Outside, outside},
    queries::QueryReply,
    sending::{Followup, after},
};
use crate::{
    ahead::CompileQueue,
    clock::SystemClock,
    courier::{CourierNews, Couriers},
    diagnostics::Diagnostics,
    executor,
    joining::{self, JoinAnswer, JoinRequests},
    peer_set::{FollowerFile, PeerSet},
    repair_log::RepairLog,
    routes::{self, Query},
};

/// The longest time between two publications of the status, also when no turn is decided.
const PULSE: Duration = Duration::from_secs(1);

/// The longest time between two announcements of the server's endpoint.
const ANNOUNCE: Duration = Duration::from_secs(600);

/// The most acts that are traced at once for the log. Newer ones are not traced.
const FOLLOWED_MAX: usize = 4_096;

/// Milliseconds of governance time for which a server goes on once its sim has ended, so that clients
/// and slower servers learn of the last acts.
const AFTER_END_MS: i64 = 10_000;

/// Time on this server's clock after which it stops in any case once it knows that the sim has ended: the
/// others may be gone, and then governance time stands still.
const AFTER_END: Duration = Duration::from_secs(30);

/// Says why the loop ended.
#[derive(Debug, thiserror::Error)]
pub enum DriverError {
    /// The sim has lived as long as its charter says.
    #[error("the sim has ended, as its charter says; its files stay as they are")]
    SimEnded,
    /// A thread of this process has ended.
    #[error("the {0} thread ended")]
    Thread(&'static str),
    /// The next turn runs a port that this program lacks.
    #[error("the server stops before height {}: {}", .0.from, .0)]
    MissingPort(MissingPort),
    /// The server cannot continue from a state that was fetched from other servers.
    #[error("the server cannot continue from the fetched state: {0}")]
    NotReplaced(String),
}

/// Everything that the loop works with.
#[derive(Debug)]
pub struct Driver {
    /// The replica of this server.
    pub replica: Replica,
    /// The configuration of the replica. Only its seed and repairs change between replicas.
    pub config: metatopia_replica::Config,
    /// The times of repairs, on the disk.
    pub repairs: RepairLog,
    /// The servers that the configuration names.
    pub configured: BTreeMap<PublicKey, NodeContact>,
    /// The clocks of this process.
    pub clock: SystemClock,
    /// Sends frames to peers.
    pub peers: PeersHandle,
    /// Receives the events of peers.
    pub peer_events: PeerEvents,
    /// Sends frames to clients.
    pub gateway: GatewayHandle,
    /// Receives the events of clients.
    pub gateway_events: GatewayEvents,
    /// Sends orders to the disk thread.
    pub orders: mpsc::Sender<Order>,
    /// Receives what the disk thread has done.
    pub stored: mpsc::Receiver<Done>,
    /// Sends turns to the executor.
    pub jobs: mpsc::Sender<executor::Job>,
    /// Receives the world back from the executor.
    pub applied: mpsc::Receiver<executor::AppliedWorld>,
    /// Has packages compiled before their turns.
    pub ahead: CompileQueue,
    /// Receives questions that came by HTTP.
    pub queries: mpsc::Receiver<Query>,
    /// The certificates that clients are shown. The loop renews them in time.
    pub certificates: Certificates,
    /// The origins whose pages are let in. The loop adds those of the other servers.
    pub allowed: Allowed,
    /// The addresses where clients connect, without the certificates; none if they are not known.
    pub own_endpoint: Option<OwnEndpoint>,
    /// The damage that was found in the data directory at the start, if there was any.
    pub damage: Option<String>,
    /// The folder of capsules and reports.
    pub diagnostics: Diagnostics,
    /// Publishes the status.
    pub status: watch::Sender<Option<routes::StatusAnswer>>,
    /// The configured addresses of servers, which take the place of those in the sim.
    pub addresses: BTreeMap<PublicKey, Vec<Multiaddr>>,
    /// The followers that were let in, on the disk.
    pub followers: FollowerFile,
    /// The requests to be let in by this node's invite; none if it has no invite.
    pub join_requests: Option<JoinRequests>,
    /// The couriers that ask the sim's neighbours.
    pub couriers: Couriers,
}

/// The state that the loop keeps from one pass to the next.
#[derive(Debug, Default)]
struct LoopState {
    peer_set: PeerSet,
    up: BTreeMap<PublicKey, PeerId>,
    /// The announcements of the sim's servers.
    announcements: Vec<SignedAnnouncement>,
    /// The answer of a server to a request to be let in, which the next pass handles.
    join_answer: Option<JoinAnswer>,
    askers: BTreeMap<u64, QueryReply>,
    /// The time when this server last announced its endpoint, in monotonic time.
    announced: Duration,
    next_token: u64,
    acts: BTreeMap<ActId, (tracing::Span, Instant)>,
    halted: Option<Halt>,
    /// The trouble of the log with its disk; none while all is well.
    disk: Option<Health>,
    /// The height at the start. A server is ready once it has decided a turn since then.
    first_height: Option<Height>,
    /// A fetched state that is being stored. The next replica begins with it.
    replacement: Option<Box<Replacement>>,
    /// The time since which this server knows that the sim has ended, in monotonic time.
    end_known: Option<Duration>,
    /// Has the sim ended, and long enough ago that nobody learns anything more from this server?
    sim_ended: bool,
    /// The records of the log that belong to the stored state, which the next pass handles.
    restart: Option<Result<Restart, String>>,
}

impl Driver {
    /// Runs until `stop` is true. Carries out every effect before it takes the next event.
    ///
    /// # Errors
    /// See [`DriverError`]. A server whose agreement halted continues to answer, and does not end.
    pub async fn run(mut self, mut stop: watch::Receiver<bool>) -> Result<(), DriverError> {
        let mut state = LoopState::default();
        if self.replica.has_no_state() {
            state.peer_set.configured = std::mem::take(&mut self.configured);
        }
        self.introduce(&mut state);
        self.carry_out(&mut state).await?;
        let mut pulse = tokio::time::interval(PULSE);
        pulse.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            self.handle_left_over(&mut state).await?;
            // While the disk has no room even for the backlog, agreement stands still: no deadline
            // wakes it here, and below no frame of a peer reaches it.
            let swamped = state.disk == Some(Health::Swamped);
            let deadline = self.replica.deadline().filter(|_| !swamped);
            let deadline = deadline.map(|at| self.clock.instant(at).into());
            // The order matters. Votes and receipts wait for the disk, and the next turn waits for
            // the world. The deadline comes before frames, so that a flood of them delays no
            // timeout. The outside is last: only a flood from there may keep an arm ready all the
            // time.
            let input = tokio::select! {
                biased;
                _ = stop.wait_for(|stop| *stop) => break,
                done = self.stored.recv() => match done {
                    None => return Err(DriverError::Thread("storage")),
                    Some(done) => match state.disk_input(done) {
                        Some(input) => input,
                        None => continue,
                    },
                },
                applied = self.applied.recv() => match applied {
                    None => return Err(DriverError::Thread("world")),
                    Some((world, result)) => Input::Applied { world, result },
                },
                () = sleep_until(deadline), if deadline.is_some() => Input::Wake,
                answer = joining::next_answer(&mut self.join_requests) => {
                    state.join_answer = Some(answer);
                    continue;
                }
                _ = pulse.tick() => match self.beat(&mut state) {
                    _ if state.sim_ended => break,
                    Some(input) => input,
                    None => continue,
                },
                Some(news) = self.couriers.news.recv() => courier_input(news),
                came = outside(
                    self.peer_events.recv(),
                    self.gateway_events.recv(),
                    self.queries.recv(),
                ) => match state.came(came) {
                    // Agreement asks for missed frames again once the disk has room.
                    Some(Input::PeerFrame { .. }) if swamped => continue,
                    Some(input) => input,
                    None => continue,
                }
            };
            // No event is taken between an input and its effects: the replica orders appends to the
            // log before the sync that they wait for, and the disk must get them in that order.
            self.replica.handle(self.clock.now(), input);
            self.carry_out(&mut state).await?;
        }
        self.replica.handle(self.clock.now(), Input::Stop);
        self.carry_out(&mut state).await?;
        self.followers.write();
        self.gateway.shutdown().await;
        if state.sim_ended { Err(DriverError::SimEnded) } else { Ok(()) }
    }

    /// Handles what the last pass left: it needs `&mut self`, which the arms of the `select!` of
    /// [`Driver::run`] borrow in parts.
    async fn handle_left_over(&mut self, state: &mut LoopState) -> Result<(), DriverError> {
        if let Some(answer) = state.join_answer.take() {
            self.join_answered(state, answer).await;
        }
        if let Some(restart) = state.restart.take() {
            self.replaced(state, restart)?;
            self.carry_out(state).await?;
        }
        Ok(())
    }

    /// Does what is due every second. Returns an announcement if one is due.
    fn beat(&mut self, state: &mut LoopState) -> Option<Input> {
        self.retry_joins(state);
        self.followers.write();
        if let Some(status) = self.replica.status(self.clock.now()) {
            if let Some(left) = status.time_left.filter(|left| *left <= 0) {
                let now = self.clock.now().monotonic;
                let known = *state.end_known.get_or_insert(now);
                state.sim_ended |= left <= -AFTER_END_MS || now >= known + AFTER_END;
            }
            self.publish(state, status);
        }
        if matches!(state.disk, Some(Health::Full | Health::Swamped)) {
            // If there is no room for this order either, the next pulse sends another.
            let _busy = self.orders.try_send(Order::Retry);
        }
        self.is_announcement_due(state).then(|| self.announce_own_endpoint(state)).flatten()
    }

    /// Returns whether an announcement is due: the certificate was renewed, or the last one is old.
    fn is_announcement_due(&self, state: &LoopState) -> bool {
        let now = self.clock.now();
        let renewed = self.certificates.renew(now.wall).unwrap_or_else(|error| {
            tracing::error!(%error, "the certificate for clients is not replaced");
            false
        });
        renewed || now.monotonic >= state.announced + ANNOUNCE
    }

    /// Returns the announcement of this server's endpoint as it is now.
    fn announce_own_endpoint(&self, state: &mut LoopState) -> Option<Input> {
        state.announced = self.clock.now().monotonic;
        let certificates = self.certificates.hashes().map(|hash| hash.0).to_vec();
        let endpoint = self.own_endpoint.clone()?;
        Some(Input::Announce(Some(OwnEndpoint { certificates, ..endpoint })))
    }

    /// Hands a new replica what outlasts it: followers, the state of the disk, and the peers.
    fn introduce(&mut self, state: &mut LoopState) {
        let welcome = self.followers.welcome(&self.peers);
        self.replica.handle(self.clock.now(), welcome);
        if state.disk.is_some() {
            self.replica.handle(self.clock.now(), Input::Muted(true));
        }
        for peer in state.up.keys() {
            self.replica.handle(self.clock.now(), Input::PeerUp(*peer));
        }
        if let Some(announcement) = self.announce_own_endpoint(state) {
            self.replica.handle(self.clock.now(), announcement);
        }
    }

    /// Carries out all effects of the replica.
    async fn carry_out(&mut self, state: &mut LoopState) -> Result<(), DriverError> {
        while let Some(effect) = self.replica.poll() {
            match effect {
                Effect::Append { tag, payload, .. } => {
                    order(&self.orders, Order::Append { tag, payload }).await?;
                }
                Effect::Sync(position) => order(&self.orders, Order::Sync(position)).await?,
                Effect::Load { reader, from, count } => {
                    order(&self.orders, Order::Load { reader, from, count }).await?;
                }
                Effect::PutBack(turns) => order(&self.orders, Order::PutBack(turns)).await?,
                Effect::Forget(words) => order(&self.orders, Order::Forget(words)).await?,
                Effect::Snapshot { height, root, bytes } => {
                    order(&self.orders, Order::Snapshot(Snapshot { height, root, bytes })).await?;
                }
                Effect::Apply { world, decision } => self.apply((world, decision)).await?,
                Effect::CompileAhead(package) => self.compile_ahead(&package),
                Effect::ToPeer { to, frame } => self.to_peers(state, to, Bytes::from(frame)),
                Effect::ToClient { client, delivery, frame } => {
                    self.to_client(client, delivery, Bytes::from(frame));
                }
                Effect::KnownClient { client, known } => self.gateway.set_known(client, known),
                Effect::SlowClient { client } => self.gateway.slow(client),
                Effect::CloseClient { client, why } => {
                    self.gateway.close(client, CloseCode::FIRST_FREE, &why.to_string());
                }
                Effect::Answer { token, answer } => {
                    let status = self.status.borrow();
                    let newest = status.as_ref().map(|status| status.root_height);
                    state.answer(token, answer, newest.unwrap_or_default());
                }
                Effect::Servers(known) => self.update_servers(state, known),
                Effect::DispatchRefused { neighbour, why } => not_heard(neighbour, &why),
                Effect::Borders(borders) => drop(self.couriers.borders.send_replace(borders)),
                Effect::Contacts(contacts) => {
                    state.peer_set.contacts = contacts;
                    self.connect(state).await;
                }
                Effect::Followers(followers) => {
                    state.peer_set.set_followers(&followers);
                    self.followers.keep(*followers);
                    self.connect(state).await;
                }
                // Only replicas in the simulator ask other servers.
                Effect::PeerAnswer { .. } => {}
                Effect::Traced { act, stage } => state.trace(act, stage),
                Effect::Status(status) => self.publish(state, *status),
                Effect::Exposed(server) => {
                    tracing::warn!(%server, "signed two things at once; reported");
                }
                Effect::Diverged(halt) => {
                    tracing::error!(reason = %halt, "this server's state differs from the others'");
                }
                Effect::Capsule { height, bytes } => self
                    .keep("capsule", move |diagnostics| diagnostics.keep_capsule(height, &bytes)),
                Effect::Repaired(report) => self.repaired(report),
                Effect::RepairTimes(times) => {
                    self.repairs.write(&times);
                    self.config.repairs = times;
                }
                Effect::Fetch(news) => state_sync::log(&news),
                Effect::Replace(replacement) => self.replace(state, replacement).await?,
                Effect::Halted(halt) => {
                    tracing::error!(reason = %halt, "this server does not vote any more");
                    state.halted = Some(halt);
                }
            }
        }
        Ok(())
    }

    /// Hands a turn to the thread that applies it, unless the program lacks a port that runs in it.
    async fn apply(&mut self, job: executor::Job) -> Result<(), DriverError> {
        if let Some(missing) = job.0.missing_port() {
            return Err(DriverError::MissingPort(missing));
        }
        self.jobs.send(job).await.map_err(|_| DriverError::Thread("world"))
    }

    /// Has a package compiled before its turn. What finds no room is compiled by its turn.
    fn compile_ahead(&mut self, package: &Blob) {
        let Some(world) = self.replica.world() else { return };
        if !self.ahead.compile(package, world) {
            tracing::debug!(package = %package.id(), "not compiled ahead");
        }
    }

    /// Keeps connections with the sim's servers and with followers, and with no other node.
    async fn connect(&mut self, state: &mut LoopState) {
        let changed = state.peer_set.connect(&self.peers, &self.addresses).await;
        // A follower that became a standby is connected under another key than before.
        for (old, peer) in state.up.clone() {
            if let Some(new) = changed.get(&peer).filter(|new| **new != old) {
                state.up.remove(&old);
                state.up.insert(*new, peer);
                self.replica.handle(self.clock.now(), Input::PeerDown(old));
                self.replica.handle(self.clock.now(), Input::PeerUp(*new));
            }
        }
    }

    /// Writes a file on a thread that may block. The server continues if that fails.
    fn keep(
        &self,
        what: &'static str,
        write: impl FnOnce(&Diagnostics) -> std::io::Result<std::path::PathBuf> + Send + 'static,
    ) {
        let diagnostics = self.diagnostics.clone();
        tokio::task::spawn_blocking(move || match write(&diagnostics) {
            Ok(path) => tracing::warn!(file = %path.display(), "{what} kept"),
            Err(error) => tracing::error!(%error, "{what} not written"),
        });
    }

    fn repaired(&self, report: Box<RepairReport>) {
        let RepairReport { height, repairs, votes, difference, .. } = report.as_ref();
        let what = difference.as_ref().map(ToString::to_string).unwrap_or_default();
        tracing::warn!(%height, %what, heals = repairs, votes, "the state was wrong from here on; healed");
        self.keep("report", move |diagnostics| diagnostics.keep_report(&report));
    }

    /// Sends a frame to a client. An event of its own tells that a client is gone or too slow.
    fn to_client(&self, client: ClientId, delivery: Delivery, frame: Bytes) {
        match after(delivery, self.gateway.send(client, delivery, frame)) {
            Followup::Nothing => {}
            Followup::Busy(question) => {
                let busy = Bytes::from(metatopia_replica::busy(question));
                // The answer takes a few bytes, for which there was room.
                let _gone = self.gateway.send(client, Delivery::Reliable, busy);
            }
            Followup::End(why) => {
                tracing::error!(client = client.0, %why, "the answer to a client fits into no frame");
                self.gateway.close(client, CloseCode::FIRST_FREE, &why);
            }
        }
    }

    fn to_peers(&self, state: &LoopState, to: Option<PublicKey>, frame: Bytes) {
        let targets = state.up.iter().filter(|(key, _)| to.is_none_or(|to| to == **key));
        for (key, peer) in targets {
            match self.peers.send(*peer, frame.clone()) {
                Ok(()) => {}
                // The other server waits for this frame, so no frame may be so long.
                Err(error @ SendError::Size { .. }) => {
                    tracing::error!(server = %key, %error, "frame not sent");
                }
                Err(error) => tracing::debug!(server = %key, %error, "frame not sent"),
            }
        }
    }

    /// Notes the endpoints of the sim's servers, so that their pages may connect here.
    fn update_servers(&self, state: &mut LoopState, servers: Vec<SignedAnnouncement>) {
        let origins = servers.iter().filter_map(|signed| signed.announcement.http.parse().ok());
        self.allowed.set_servers(origins);
        state.announcements = servers;
    }
}

impl LoopState {
    /// Returns a description of the trouble with the disk, if there is any.
    fn disk_trouble(&self) -> Option<String> {
        Some(match self.disk.as_ref()? {
            Health::Sound => return None,
            Health::Full | Health::Swamped => {
                "its disk is full; it goes on by itself once there is room".to_owned()
            }
            Health::Failed(error) => {
                format!("its disk failed ({error}); look after the disk, then restart the server")
            }
        })
    }

    /// Returns the input that an event of the disk is; none if the next pass handles the event.
    fn disk_input(&mut self, done: Done) -> Option<Input> {
        match done {
            Done::Health(health) => {
                let sound = health == Health::Sound;
                self.disk = (!sound).then_some(health);
                Some(Input::Muted(!sound))
            }
            Done::Synced(position) => Some(Input::Synced(position)),
            Done::Gaps(gaps) => Some(Input::Gaps(gaps)),
            Done::Loaded { reader, decisions, oldest, next } => {
                Some(Input::Loaded { reader, decisions, oldest, next })
            }
            Done::Replaced(restart) => {
                self.restart = Some(restart);
                None
            }
            Done::News(_) => None,
        }
    }

    fn came(&mut self, came: Outside) -> Option<Input> {
        match came {
            Outside::Peer(event) => self.peer_input(event),
            Outside::Client(event) => Some(client(event)),
            Outside::Query(query) => Some(self.ask(query)),
        }
    }

    fn peer_input(&mut self, event: PeerEvent) -> Option<Input> {
        match event {
            PeerEvent::PeerUp(peer) => {
                let key = self.peer_set.name(&peer)?;
                tracing::info!(server = %key, "connected");
                self.up.insert(key, peer);
                Some(Input::PeerUp(key))
            }
            PeerEvent::PeerDown { peer, end } => {
                let key = *self.up.iter().find(|(_, up)| **up == peer)?.0;
                tracing::info!(server = %key, reason = %end, "disconnected");
                self.up.remove(&key);
                Some(Input::PeerDown(key))
            }
            PeerEvent::Frame { peer, bytes } => {
                let from = self.peer_set.name(&peer)?;
                Some(Input::PeerFrame { from, frame: bytes.into() })
            }
        }
    }

    /// Follows an act from the gateway to its outcome, in one span with a line for each stage.
    fn trace(&mut self, act: ActId, stage: ActStage) {
        if matches!(stage, ActStage::Admitted) && self.acts.len() < FOLLOWED_MAX {
            let span = tracing::debug_span!("act", id = %act);
            self.acts.entry(act).or_insert((span, Instant::now()));
        }
        let Some((span, since)) = self.acts.get(&act) else {
            return;
        };
        let ms = u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX);
        span.in_scope(|| match stage {
            ActStage::Admitted => tracing::debug!("admitted"),
            ActStage::Refused(why) => tracing::debug!(%why, "refused"),
            ActStage::Decided { height } => tracing::debug!(%height, ms, "decided"),
            ActStage::Applied { outcome } => tracing::debug!(%outcome, ms, "applied"),
        });
        if matches!(stage, ActStage::Applied { .. } | ActStage::Refused(_)) {
            self.acts.remove(&act);
        }
    }
}

fn not_heard(neighbour: SimId, why: &str) {
    tracing::warn!(%neighbour, why, "what a neighbour said counts for nothing");
}

fn courier_input(news: CourierNews) -> Input {
    match news {
        CourierNews::Dispatch { neighbour, dispatch } => Input::Dispatch { neighbour, dispatch },
        CourierNews::Nodes { neighbour, nodes } => Input::NeighbourNodes { neighbour, nodes },
    }
}

fn client(event: GatewayEvent) -> Input {
    match event {
        GatewayEvent::ClientUp { id, address, carrier } => {
            tracing::debug!(client = id.0, %address, %carrier, "client connected");
            Input::ClientUp(id)
        }
        GatewayEvent::ClientFrame { id, bytes } => {
            Input::ClientFrame { client: id, frame: bytes.into() }
        }
        GatewayEvent::ClientDown { id, end } => {
            tracing::debug!(client = id.0, reason = %end, "client gone");
            Input::ClientDown(id)
        }
    }
}

async fn sleep_until(deadline: Option<tokio::time::Instant>) {
    match deadline {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}

async fn order(orders: &mpsc::Sender<Order>, order: Order) -> Result<(), DriverError> {
    orders.send(order).await.map_err(|_| DriverError::Thread("storage"))
}

#[cfg(test)]
mod tests;
