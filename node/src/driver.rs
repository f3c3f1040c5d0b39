//! The loop of one server: brings to the replica what happens, and does what it wants.

mod knocking;
mod outside;
mod queries;
mod rescue;

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use bytes::Bytes;
use libp2p::{Multiaddr, PeerId};
use metatopia_consensus::Halt;
use metatopia_protocol::SignedEntrance;
use metatopia_replica::{
    Announcement, Condition, Delivery, Effect, Input, Replacement, Replica, Report, Stage, Status,
    keeper::{Done, Health, Order, Restart},
};
use metatopia_store::Snapshot;
use metatopia_types::{ActId, Contact, Height, PublicKey};
use tokio::{
    sync::{mpsc, watch},
    time::MissedTickBehavior,
};

use self::{
    outside::{Outside, outside},
    queries::Asker,
};
use crate::{
    applier,
    capsules::Capsules,
    certificates::Certificates,
    clock::Clock,
    gateway::{self, CloseCode, GatewayEvent, GatewayEvents, GatewayHandle},
    heals::HealFile,
    http::{self, Allowed, Query},
    joining::{self, Knocks, Met},
    lanes::{LaneEvent, LaneEvents, LanesHandle},
    neighbours::{GuestFile, Neighbours},
};

/// Questions from HTTP that may wait for the loop.
pub const QUERIES_MAX: usize = 256;

/// The status is published at least so often, also when no turn is decided.
const PULSE: Duration = Duration::from_secs(1);

/// The other servers are told where clients connect at least so often.
const ANNOUNCE: Duration = Duration::from_secs(600);

/// Acts whose way is being followed for the log; newer ones go unfollowed.
const FOLLOWED_MAX: usize = 4_096;

/// Why the loop ended.
#[derive(Debug, thiserror::Error)]
pub enum DriverError {
    /// A thread of this process is gone.
    #[error("the {0} thread ended")]
    Thread(&'static str),
    /// A state that was fetched from other servers cannot be gone on from.
    #[error("the state that was fetched cannot be gone on from: {0}")]
    NotReplaced(String),
}

/// Everything the loop works with.
#[derive(Debug)]
pub struct Driver {
    /// The server itself.
    pub replica: Replica,
    /// How it is set up; only seed and heals change, from one replica to the next.
    pub config: metatopia_replica::Config,
    /// When it healed, on the disk.
    pub heals: HealFile,
    /// The servers that the configuration names.
    pub configured: BTreeMap<PublicKey, Contact>,
    /// Its clocks.
    pub clock: Clock,
    /// Sends to other servers.
    pub lanes: LanesHandle,
    /// What comes from them.
    pub lane_events: LaneEvents,
    /// Sends to clients.
    pub gateway: GatewayHandle,
    /// What comes from them.
    pub gateway_events: GatewayEvents,
    /// To the disk.
    pub orders: mpsc::Sender<Order>,
    /// From the disk.
    pub stored: mpsc::Receiver<Done>,
    /// To the world's thread.
    pub jobs: mpsc::Sender<applier::Job>,
    /// From the world's thread.
    pub applied: mpsc::Receiver<applier::Applied>,
    /// Questions that came by HTTP.
    pub queries: mpsc::Receiver<Query>,
    /// What clients are shown; replaced in time.
    pub certificates: Certificates,
    /// Whose pages are let in: this learns of the other servers.
    pub allowed: Allowed,
    /// Where clients connect, but for the certificates: told to the other servers. Nothing if that
    /// is not known.
    pub entrance: Option<Announcement>,
    /// What was found wrong with the data directory at the start, if anything was.
    pub damage: Option<String>,
    /// Where capsules and reports are kept.
    pub capsules: Capsules,
    /// For whoever wants to know.
    pub status: watch::Sender<Option<http::Status>>,
    /// Where servers are, as this node's configuration says; else as the sim says.
    pub addresses: BTreeMap<PublicKey, Vec<Multiaddr>>,
    /// The followers that were let in, on the disk.
    pub guests: GuestFile,
    /// By the invite that this node came by; nothing if it came by none.
    pub knocks: Option<Knocks>,
}

/// What the loop remembers between turns of it.
#[derive(Debug, Default)]
struct Memory {
    neighbours: Neighbours,
    up: BTreeMap<PublicKey, PeerId>,
    /// What the sim's servers say of themselves.
    words: Vec<SignedEntrance>,
    /// What one of them said that was asked to let this node in.
    met: Option<Met>,
    askers: BTreeMap<u64, Asker>,
    /// When the other servers were last told where clients connect, in monotonic time.
    announced: Duration,
    next_token: u64,
    acts: BTreeMap<ActId, (tracing::Span, Instant)>,
    halted: Option<Halt>,
    /// How the log stands with its disk; nothing while all is well.
    disk: Option<Health>,
    /// The height at the start: a server is ready once it has decided something in this life.
    first_height: Option<Height>,
    /// A state that was fetched, to go on from once it is stored.
    replacement: Option<Box<Replacement>>,
    /// What the disk holds with it.
    restart: Option<Result<Restart, String>>,
}

impl Driver {
    /// Runs until `stop` says so. Every effect is carried out before the next event is taken.
    ///
    /// # Errors
    /// See [`DriverError`]. A server whose agreement halted goes on answering, and does not end.
    pub async fn run(mut self, mut stop: watch::Receiver<bool>) -> Result<(), DriverError> {
        let mut memory = Memory::default();
        if self.replica.is_adrift() {
            memory.neighbours.configured = std::mem::take(&mut self.configured);
        }
        self.introduce(&mut memory);
        self.carry_out(&mut memory).await?;
        let mut pulse = tokio::time::interval(PULSE);
        pulse.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            if let Some(met) = memory.met.take() {
                self.knocked(&mut memory, met).await;
            }
            if let Some(restart) = memory.restart.take() {
                self.replaced(&mut memory, restart)?;
                self.carry_out(&mut memory).await?;
            }
            // Without room for more, agreement stands still.
            let swamped = memory.disk == Some(Health::Swamped);
            let deadline = self.replica.deadline().filter(|_| !swamped);
            let deadline = deadline.map(|at| self.clock.instant(at).into());
            let input = tokio::select! {
                biased;
                _ = stop.wait_for(|stop| *stop) => break,
                done = self.stored.recv() => match done {
                    None => return Err(DriverError::Thread("storage")),
                    Some(Done::Health(health)) => {
                        let sound = health == Health::Sound;
                        memory.disk = (!sound).then_some(health);
                        Input::Muted(!sound)
                    }
                    Some(Done::Synced(position)) => Input::Synced(position),
                    Some(Done::Gaps(gaps)) => Input::Gaps(gaps),
                    Some(Done::Replaced(restart)) => {
                        memory.restart = Some(restart);
                        continue;
                    }
                    Some(Done::News(_)) => continue,
                    Some(Done::Loaded { reader, decisions, oldest, next }) => {
                        Input::Loaded { reader, decisions, oldest, next }
                    }
                },
                applied = self.applied.recv() => match applied {
                    None => return Err(DriverError::Thread("world")),
                    Some((world, result)) => Input::Applied { world, result },
                },
                () = sleep_until(deadline), if deadline.is_some() => Input::Wake,
                met = joining::met(&mut self.knocks) => {
                    memory.met = Some(met);
                    continue;
                }
                _ = pulse.tick() => match self.beat(&mut memory) {
                    Some(word) => word,
                    None => continue,
                },
                came = outside(
                    self.lane_events.recv(),
                    self.gateway_events.recv(),
                    self.queries.recv(),
                ) => match memory.came(came) {
                    Some(Input::PeerFrame { .. }) if swamped => continue,
                    Some(input) => input,
                    None => continue,
                }
            };
            self.replica.handle(self.clock.now(), input);
            self.carry_out(&mut memory).await?;
        }
        self.replica.handle(self.clock.now(), Input::Stop);
        self.carry_out(&mut memory).await?;
        self.guests.write();
        self.gateway.shutdown().await;
        Ok(())
    }

    /// What is to be done now and then, whether or not anything happens. Gives what the others must be
    /// told.
    fn beat(&mut self, memory: &mut Memory) -> Option<Input> {
        self.knock(memory);
        self.guests.write();
        if let Some(status) = self.replica.status(self.clock.now()) {
            self.publish(memory, status);
        }
        if matches!(memory.disk, Some(Health::Full | Health::Swamped)) {
            // If there is no room for the order either, the next pulse brings another.
            let _busy = self.orders.try_send(Order::Retry);
        }
        self.is_word_due(memory).then(|| self.word(memory)).flatten()
    }

    /// Must the other servers be told where clients connect: because the certificate was replaced, or
    /// because it is time to say that it is still so?
    fn is_word_due(&self, memory: &Memory) -> bool {
        let now = self.clock.now();
        let renewed = self.certificates.renew(now.wall).unwrap_or_else(|error| {
            tracing::error!(%error, "the certificate for clients is not replaced");
            false
        });
        renewed || now.monotonic >= memory.announced + ANNOUNCE
    }

    /// Where clients of this server connect now, to be told to the others.
    fn word(&self, memory: &mut Memory) -> Option<Input> {
        memory.announced = self.clock.now().monotonic;
        let certificates = self.certificates.hashes().map(|hash| hash.0).to_vec();
        let entrance = self.entrance.clone()?;
        Some(Input::Announce(Some(Announcement { certificates, ..entrance })))
    }

    /// Tells a new replica what outlasts it.
    fn introduce(&mut self, memory: &mut Memory) {
        let welcome = self.guests.welcome(&self.lanes);
        self.replica.handle(self.clock.now(), welcome);
        if memory.disk.is_some() {
            self.replica.handle(self.clock.now(), Input::Muted(true));
        }
        for peer in memory.up.keys() {
            self.replica.handle(self.clock.now(), Input::PeerUp(*peer));
        }
        if let Some(word) = self.word(memory) {
            self.replica.handle(self.clock.now(), word);
        }
    }

    /// Carries out all there is to do.
    async fn carry_out(&mut self, memory: &mut Memory) -> Result<(), DriverError> {
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
                Effect::Snapshot { height, root, bytes } => {
                    order(&self.orders, Order::Snapshot(Snapshot { height, root, bytes })).await?;
                }
                Effect::Apply { world, decision } => {
                    let sent = self.jobs.send((world, decision)).await;
                    sent.map_err(|_| DriverError::Thread("world"))?;
                }
                Effect::ToPeer { to, frame } => self.to_peers(memory, to, Bytes::from(frame)),
                Effect::ToClient { client, delivery, frame } => {
                    self.to_client(id(client), delivery, Bytes::from(frame));
                }
                Effect::KnownClient { client, known } => self.gateway.set_known(id(client), known),
                Effect::SlowClient { client } => self.gateway.slow(id(client)),
                Effect::CloseClient { client, why } => {
                    self.gateway.close(id(client), CloseCode::FIRST_FREE, &why.to_string());
                }
                Effect::Answer { token, answer } => {
                    if let Some(asker) = memory.askers.remove(&token) {
                        let status = self.status.borrow();
                        let newest = status.as_ref().map(|status| status.root_height);
                        asker.tell(answer, newest.unwrap_or_default());
                    }
                }
                Effect::Servers(known) => self.hear(memory, known),
                Effect::Contacts(contacts) => {
                    memory.neighbours.contacts = contacts;
                    self.connect(memory).await;
                }
                Effect::Guests(guests) => {
                    memory.neighbours.set_guests(&guests);
                    self.guests.keep(*guests);
                    self.connect(memory).await;
                }
                // Nobody here asks other servers.
                Effect::PeerAnswer { .. } => {}
                Effect::Traced { act, stage } => memory.trace(act, stage),
                Effect::Status(status) => self.publish(memory, *status),
                Effect::Exposed(server) => {
                    tracing::warn!(%server, "signed two things at once; reported");
                }
                Effect::Parted(halt) => {
                    tracing::error!(reason = %halt, "this server's state is not the others'");
                }
                Effect::Capsule { height, bytes } => {
                    self.keep("capsule", move |capsules| capsules.keep_capsule(height, &bytes));
                }
                Effect::Mended(report) => self.mended(report),
                Effect::Heals(heals) => {
                    self.heals.keep(&heals);
                    self.config.heals = heals;
                }
                Effect::Fetch(news) => rescue::tell(&news),
                Effect::Replace(replacement) => self.replace(memory, replacement).await?,
                Effect::Halted(halt) => {
                    tracing::error!(reason = %halt, "this server does not vote any more");
                    memory.halted = Some(halt);
                }
            }
        }
        Ok(())
    }

    /// Keeps connections with the sim's servers and with guests, and with nobody else.
    async fn connect(&mut self, memory: &mut Memory) {
        let changed = memory.neighbours.connect(&self.lanes, &self.addresses).await;
        // Who is up under another name than before: a follower that is a standby now.
        for (old, peer) in memory.up.clone() {
            if let Some(new) = changed.get(&peer).filter(|new| **new != old) {
                memory.up.remove(&old);
                memory.up.insert(*new, peer);
                self.replica.handle(self.clock.now(), Input::PeerDown(old));
                self.replica.handle(self.clock.now(), Input::PeerUp(*new));
            }
        }
    }

    /// Keeps a file, on a thread that may block. The server goes on without it.
    fn keep(
        &self,
        what: &'static str,
        write: impl FnOnce(&Capsules) -> std::io::Result<std::path::PathBuf> + Send + 'static,
    ) {
        let capsules = self.capsules.clone();
        tokio::task::spawn_blocking(move || match write(&capsules) {
            Ok(path) => tracing::warn!(file = %path.display(), "{what} kept"),
            Err(error) => tracing::error!(%error, "{what} not kept"),
        });
    }

    fn mended(&self, report: Box<Report>) {
        let Report { height, heals, votes, difference, .. } = report.as_ref();
        let what = difference.as_ref().map(ToString::to_string).unwrap_or_default();
        tracing::warn!(%height, %what, heals, votes, "the state was wrong from here on; healed");
        self.keep("report", move |capsules| capsules.keep_report(&report));
    }

    /// Sends a frame to a client. One that is gone, or too slow, is told of by its own event.
    fn to_client(&self, client: gateway::ClientId, delivery: Delivery, frame: Bytes) {
        let queue = match delivery {
            Delivery::Reliable => gateway::Delivery::Reliable,
            Delivery::Answer(_) => gateway::Delivery::IfRoom,
            Delivery::Latest => gateway::Delivery::Latest,
        };
        let sent = self.gateway.send(client, queue, frame);
        if let (Delivery::Answer(question), Ok(gateway::Sent::Dropped)) = (delivery, sent) {
            let busy = Bytes::from(metatopia_replica::busy(question));
            let _gone = self.gateway.send(client, gateway::Delivery::Reliable, busy);
        }
    }

    fn to_peers(&self, memory: &Memory, to: Option<PublicKey>, frame: Bytes) {
        let targets = memory.up.iter().filter(|(key, _)| to.is_none_or(|to| to == **key));
        for (key, peer) in targets {
            if let Err(error) = self.lanes.send(*peer, frame.clone()) {
                tracing::debug!(server = %key, %error, "frame not sent");
            }
        }
    }

    /// The sim's servers say where they are: their pages may connect here.
    fn hear(&self, memory: &mut Memory, servers: Vec<SignedEntrance>) {
        let origins = servers.iter().filter_map(|word| word.entrance.http.parse().ok());
        self.allowed.set_servers(origins);
        memory.words = servers;
    }

    fn publish(&self, memory: &mut Memory, status: Status) {
        let first = *memory.first_height.get_or_insert(status.height);
        let waiting_for = match &memory.halted {
            Some(halt) => Some(format!("it has stopped voting: {halt}")),
            None if let Some(told) = memory.told_of_disk() => {
                Some(format!("it does not vote: {told}"))
            }
            None if let Some(fetching) = &status.fetching => Some(rescue::told(fetching)),
            None if status.condition == Condition::Healing => {
                Some("its state is not the others': it computes it again".to_owned())
            }
            None if status.condition == Condition::Following => {
                let told = "it healed too often: it follows, and votes again once it is restarted \
                    after an hour";
                Some(told.to_owned())
            }
            None if status.split => {
                Some("servers disagree about the state: no root has a quorum".to_owned())
            }
            None if !status.voting && status.validators.contains(&status.server) => {
                Some("it does not vote yet".to_owned())
            }
            None if status.height <= first => Some("no turn was decided yet".to_owned()),
            None if status.stalled => Some("no turn is being decided".to_owned()),
            None => None,
        };
        self.status.send_replace(Some(http::Status {
            server: status.server,
            sim: status.sim,
            height: status.height,
            tick: status.tick,
            root: status.root,
            root_height: status.root_height,
            proposer: status.proposer,
            validators: status.validators,
            voting: status.voting,
            peers: status.peers,
            clients: status.clients,
            missing: status.missing.as_ref().map(http::Missing::from),
            delayed: status.delayed.iter().map(http::Delayed::from).collect(),
            follows: self.follows(memory),
            condition: match status.condition {
                Condition::Sound if status.stalled => "stalled",
                Condition::Sound => "running",
                other => other.name(),
            },
            stalled: status.stalled,
            disk: memory.told_of_disk().or_else(|| self.damage.clone()),
            waiting_for,
        }));
    }
}

impl Memory {
    /// What is wrong with the disk.
    fn told_of_disk(&self) -> Option<String> {
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

    /// What came, as the replica hears it, if it is to hear it.
    fn came(&mut self, came: Outside) -> Option<Input> {
        match came {
            Outside::Lane(event) => self.lane(event),
            Outside::Client(event) => Some(client(event)),
            Outside::Query(query) => Some(self.ask(query)),
        }
    }

    fn lane(&mut self, event: LaneEvent) -> Option<Input> {
        match event {
            LaneEvent::PeerUp(peer) => {
                let key = self.neighbours.name(&peer)?;
                tracing::info!(server = %key, "connected");
                self.up.insert(key, peer);
                Some(Input::PeerUp(key))
            }
            LaneEvent::PeerDown { peer, end } => {
                let key = *self.up.iter().find(|(_, up)| **up == peer)?.0;
                tracing::info!(server = %key, reason = %end, "disconnected");
                self.up.remove(&key);
                Some(Input::PeerDown(key))
            }
            LaneEvent::Frame { peer, bytes } => {
                let from = self.neighbours.name(&peer)?;
                Some(Input::PeerFrame { from, frame: bytes.into() })
            }
        }
    }

    /// Follows an act from the gateway to its outcome: one span, one line for each stage.
    fn trace(&mut self, act: ActId, stage: Stage) {
        if matches!(stage, Stage::Admitted) && self.acts.len() < FOLLOWED_MAX {
            let span = tracing::debug_span!("act", id = %act);
            self.acts.entry(act).or_insert((span, Instant::now()));
        }
        let Some((span, since)) = self.acts.get(&act) else {
            return;
        };
        let ms = u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX);
        span.in_scope(|| match stage {
            Stage::Admitted => tracing::debug!("admitted"),
            Stage::Refused(why) => tracing::debug!(%why, "refused"),
            Stage::Decided { height } => tracing::debug!(%height, ms, "decided"),
            Stage::Applied { outcome } => tracing::debug!(%outcome, ms, "applied"),
        });
        if matches!(stage, Stage::Applied { .. } | Stage::Refused(_)) {
            self.acts.remove(&act);
        }
    }
}

fn client(event: GatewayEvent) -> Input {
    let own = |id: gateway::ClientId| metatopia_replica::ClientId(id.0);
    match event {
        GatewayEvent::ClientUp { id, address, carrier } => {
            tracing::debug!(client = id.0, %address, %carrier, "client connected");
            Input::ClientUp(own(id))
        }
        GatewayEvent::ClientFrame { id, bytes } => {
            Input::ClientFrame { client: own(id), frame: bytes.into() }
        }
        GatewayEvent::ClientDown { id, end } => {
            tracing::debug!(client = id.0, reason = %end, "client gone");
            Input::ClientDown(own(id))
        }
    }
}

const fn id(client: metatopia_replica::ClientId) -> gateway::ClientId {
    gateway::ClientId(client.0)
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
