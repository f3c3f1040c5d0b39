//! One server: a replica, its files and its lines to clients, joined the way a node joins them.

mod applying;
mod keeping;
mod lines;

use std::collections::{BTreeSet, VecDeque};
use std::mem;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use metatopia_consensus::{Base, Decision, RecordPosition};
use metatopia_replica::keeper::{Health, Keeper, Order, PassedOver};
use metatopia_replica::{Effect as Wish, Followers, Input as Event, PeerMessage, Replica, Status};
use metatopia_sim::World;
use metatopia_store::{Disk, Snapshot};
use metatopia_types::{Digest, Height, Millis, Now, PublicKey, wire};

use super::files::OpenedDisk;
use super::gateway::{Hangup, VirtualGateway};
use super::lanes::{PeerStreams, StreamFrame};
use super::place_setting::ReplicaSetting;
use super::requests::{ReplicaReport, Request};
use super::shared::ALONE_TURNS;
use crate::cluster::StartedServer;
use crate::lent::LentDisk;
use crate::machine::{DurableMark, FrameRecipients, Machine, MachineEffect, MachineInput};

/// Wakes a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplicaTimer {
    /// The replica's deadline.
    Deadline,
    /// Its disk is full: perhaps there is room again.
    Pulse,
    /// Its disk has failed: somebody has noticed by now, and starts it anew.
    Noticed,
}

/// Work outside of the replica.
#[derive(Debug)]
pub enum ReplicaJob {
    /// Applying a turn.
    Apply(Box<World>, Arc<Decision>),
}

/// Which server starts, and for the how manieth time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerStart {
    /// The seat of the server.
    pub seat: usize,
    /// A number that grows with every start.
    pub life: u64,
    /// Its key was never used.
    pub fresh: bool,
}

/// A server of a simulated sim.
#[derive(Debug)]
pub struct ReplicaServer {
    setting: Rc<ReplicaSetting>,
    seat: usize,
    replica: Replica,
    keeper: Keeper<LentDisk>,
    /// What the keeper is to do next.
    orders: Vec<Order>,
    /// How the log stands with the disk, as the keeper said last.
    health: Health,
    gateway: VirtualGateway,
    lanes: PeerStreams,
    /// Servers and guests to keep connections with.
    contacts: BTreeSet<PublicKey>,
    followers: BTreeSet<PublicKey>,
    /// The latter with all that is known of them, as a node has it in a file.
    let_in: Followers,
    /// Bits flip only in the first life.
    first_life: bool,
    /// Heights after which a bit has flipped.
    flipped: BTreeSet<Height>,
    /// Is the state not the others' any more?
    astray: bool,
    /// So many turns it calculates for itself.
    alone: u64,
    /// Who votes, and after which height, by the last state that it had in its hands.
    members: (Height, Vec<PublicKey>),
    /// The moment of the timer that was set last.
    armed: Option<Duration>,
    status: Option<Status>,
    /// When it healed.
    heals: Vec<Millis>,
    /// A state that takes the place of its own, once it is on the disk; and what came meanwhile.
    replacement: Option<(Base, Box<World>)>,
    waiting: Vec<MachineInput<Self>>,
    /// What was damaged of its log when it started.
    damage: Option<String>,
    /// Stored states that it could not use when it started.
    passed_over: Vec<PassedOver>,
    effects: VecDeque<MachineEffect<Self>>,
}

impl ReplicaServer {
    /// Starts a server from its disk.
    ///
    /// # Errors
    /// What the operator would read.
    pub fn open(
        setting: &Rc<ReplicaSetting>,
        start: ServerStart,
        now: Now,
        disk: &mut dyn Disk,
    ) -> Result<StartedServer<Self>, String> {
        let seat = start.seat;
        let OpenedDisk { keeper, replica, damage, passed_over } =
            OpenedDisk::open(setting, seat, start.fresh, now, disk)?;
        let mut server = Self {
            setting: Rc::clone(setting),
            seat,
            replica: setting.broken_replica(seat, replica),
            keeper,
            orders: Vec::new(),
            health: Health::Sound,
            gateway: VirtualGateway::default(),
            lanes: PeerStreams::new(start.life),
            contacts: BTreeSet::new(),
            followers: BTreeSet::new(),
            let_in: Followers::default(),
            first_life: start.fresh,
            flipped: BTreeSet::new(),
            astray: false,
            alone: ALONE_TURNS,
            members: (Height(0), Vec::new()),
            armed: None,
            status: None,
            heals: Vec::new(),
            replacement: None,
            waiting: Vec::new(),
            damage,
            passed_over,
            effects: VecDeque::new(),
        };
        server.note_members();
        server.absorb(now);
        let durable = DurableMark(RecordPosition::START.0);
        Ok(StartedServer { server, durable })
    }

    /// The replica inside.
    #[must_use]
    pub const fn replica(&self) -> &Replica {
        &self.replica
    }

    /// Returns what the node said about itself last.
    #[must_use]
    pub const fn status(&self) -> Option<&Status> {
        self.status.as_ref()
    }

    /// Returns what the node found damaged of its log when it started.
    #[must_use]
    pub fn damage(&self) -> Option<&str> {
        self.damage.as_deref()
    }

    /// Returns why the node could not use states that it had stored, when it started.
    #[must_use]
    pub fn passed_over(&self) -> &[PassedOver] {
        &self.passed_over
    }

    /// Returns the state of the log on its disk.
    #[must_use]
    pub const fn health(&self) -> &Health {
        &self.health
    }

    /// The last decided height, as it said last.
    #[must_use]
    pub fn height(&self) -> Height {
        let said = self.status.as_ref().map(|status| status.height);
        said.unwrap_or_default()
    }

    /// The last applied height, as it said last.
    #[must_use]
    pub fn applied(&self) -> Height {
        let said = self.status.as_ref().map(|status| status.root_height);
        said.unwrap_or_default()
    }

    /// Returns who votes after which height, by the last state that the node had in its hands. While it
    /// calculates a turn it has no state.
    pub(crate) const fn members(&self) -> &(Height, Vec<PublicKey>) {
        &self.members
    }

    fn note_members(&mut self) {
        if let Some(world) = self.replica.world() {
            self.members = (world.height(), world.roster().members().keys().copied().collect());
        }
    }

    /// Returns whether the node is connected with this server of the sim, so that it may ask for what it
    /// lacks.
    pub(crate) fn may_ask(&self, name: &PublicKey) -> bool {
        let servers = self.status.as_ref().map(|status| &status.validators);
        servers.is_some_and(|servers| servers.contains(name))
            && self.lanes.connected().any(|peer| peer == *name)
    }

    /// Returns whether this is one of the servers of the sim that the node keeps connections with.
    pub(crate) fn follows(&self, name: &PublicKey) -> bool {
        self.contacts.contains(name)
    }

    /// Returns whether the node keeps a connection with the server or follower of this name.
    #[must_use]
    pub fn is_connected(&self, name: &PublicKey) -> bool {
        self.lanes.connected().any(|peer| peer == *name)
    }

    /// The most bytes that wait for one client.
    pub(crate) fn held_most(&self) -> usize {
        self.gateway.held_most()
    }

    /// Applies all turns that are decided and not applied yet, without waiting.
    pub(crate) fn apply_all(&mut self, now: Now) {
        while let Some(effect) = self.effects.pop_front() {
            if let MachineEffect::Begin(ReplicaJob::Apply(world, decision)) = effect {
                self.applied_turn(now, world, &decision);
                self.absorb(now);
            }
        }
    }

    fn replica_gets(&mut self, now: Now, event: Event) {
        self.replica.handle(now, event);
    }

    /// Turns what the replica wants into what the world does.
    fn absorb(&mut self, now: Now) {
        while let Some(wish) = self.replica.poll() {
            self.fulfil(now, wish);
        }
        if !self.orders.is_empty() {
            self.effects.push_back(MachineEffect::Work);
        }
        // Without room for more, agreement stands still.
        let swamped = self.health == Health::Swamped;
        let deadline = self.replica.deadline().filter(|_| !swamped);
        if deadline != self.armed {
            self.armed = deadline;
            let timer = |at| MachineEffect::SetTimer { id: ReplicaTimer::Deadline, at };
            self.effects.extend(deadline.map(timer));
        }
    }

    fn fulfil(&mut self, now: Now, wish: Wish) {
        match wish {
            Wish::Append { tag, payload, .. } => self.orders.push(Order::Append { tag, payload }),
            Wish::Sync(position) => self.orders.push(Order::Sync(position)),
            Wish::Apply { world, decision } => {
                self.effects.push_back(MachineEffect::Begin(ReplicaJob::Apply(world, decision)))
            }
            Wish::ToPeer { to, frame } => self.send(to, &frame.into()),
            Wish::ToClient { client, delivery, frame } => {
                let moved = self.gateway.send(client, delivery, frame);
                self.move_line(now, client, moved);
            }
            // Turns take no time here, so each compiles what it publishes.
            Wish::CompileAhead(_) => {}
            // Its people send no faster than they are answered.
            Wish::SlowClient { .. } | Wish::KnownClient { .. } => {}
            Wish::CloseClient { client, why } => {
                let moved = self.gateway.end(client, Hangup::Said(why));
                self.move_line(now, client, moved);
            }
            Wish::Load { reader, from, count } => {
                self.orders.push(Order::Load { reader, from, count });
            }
            Wish::PutBack(turns) => self.orders.push(Order::PutBack(turns)),
            Wish::Forget(words) => self.orders.push(Order::Forget(words)),
            Wish::Snapshot { height, root, bytes } => {
                self.orders.push(Order::Snapshot(Snapshot { height, root, bytes }));
            }
            Wish::Contacts(contacts) => {
                self.contacts = contacts.into_keys().collect();
                self.connect(now);
            }
            Wish::Followers(followers) => {
                self.followers = followers.iter().map(|(key, _)| key).collect();
                self.let_in.clone_from(&followers);
                self.connect(now);
                self.tell(ReplicaReport::Followers(followers));
            }
            Wish::Answer { token, answer } => {
                let answer = Box::new(answer);
                self.tell(ReplicaReport::Answer { token, answer });
            }
            // Clients of this world need no addresses, and its servers ask each other nothing.
            Wish::Servers(_) | Wish::PeerAnswer { .. } => {}
            Wish::Traced { act, stage } => self.tell(ReplicaReport::Traced { act, stage }),
            Wish::Status(status) => self.status = Some(*status),
            Wish::Exposed(server) => self.tell(ReplicaReport::Exposed(server)),
            Wish::Diverged(halt) => self.tell(ReplicaReport::Parted(halt.to_string())),
            Wish::Capsule { bytes, .. } => self.tell(ReplicaReport::Capsule(bytes)),
            Wish::Repaired(report) => {
                self.astray = false;
                self.tell(ReplicaReport::Mended(report));
            }
            Wish::RepairTimes(times) => self.heals = times,
            Wish::Fetch(_) => {}
            Wish::Borders(borders) => self.tell(ReplicaReport::Borders(borders)),
            Wish::DispatchRefused { why, .. } => self.tell(ReplicaReport::Unheard(why)),
            Wish::Replace(replacement) => self.replace(*replacement),
            // It goes on answering.
            Wish::Halted(halt) => self.tell(ReplicaReport::Halted(halt.to_string())),
        }
    }

    fn tell(&mut self, report: ReplicaReport) {
        // What must wait for the log has waited already.
        let after = DurableMark(RecordPosition::START.0);
        self.effects.push_back(MachineEffect::Tell { report, after });
    }

    fn take_in(&mut self, now: Now, input: MachineInput<Self>) {
        match input {
            MachineInput::Frame { from, frame } => {
                let arrival = self.lanes.arrived(now.monotonic, from, frame);
                // Agreement that stands still hears of nothing.
                let heard = self.health != Health::Swamped;
                for bytes in arrival.read.into_iter().filter(|_| heard) {
                    let frame = bytes.to_vec();
                    if self.setting.runs_twice(&from)
                        && let Ok(PeerMessage::Agreement(word)) = PeerMessage::decode(&frame)
                    {
                        self.tell(ReplicaReport::Heard(Box::new(word)));
                    }
                    self.replica_gets(now, Event::PeerFrame { from, frame });
                }
                if let Some(frame) = arrival.answer {
                    let (to, after) =
                        (FrameRecipients::One(from), DurableMark(RecordPosition::START.0));
                    self.effects.push_back(MachineEffect::Send { to, frame, after });
                }
                self.lanes_changed(now, arrival.changes);
            }
            MachineInput::Timer(ReplicaTimer::Deadline) => {
                // A timer that was overtaken by a nearer one, or by a later deadline, is not due.
                let deadline = self.replica.deadline();
                if deadline.is_some_and(|at| at <= now.monotonic) {
                    self.armed = None;
                    self.replica_gets(now, Event::Wake);
                }
            }
            MachineInput::Timer(ReplicaTimer::Pulse) => {
                if matches!(self.health, Health::Full | Health::Swamped) {
                    self.orders.push(Order::Retry);
                    self.wait_for_disk(now);
                }
            }
            MachineInput::Timer(ReplicaTimer::Noticed) => {
                self.tell(ReplicaReport::Ended("its disk had failed".to_owned()))
            }
            // Its keeper syncs.
            MachineInput::Synced { .. } => {}
            MachineInput::Done(ReplicaJob::Apply(world, decision)) => {
                self.applied_turn(now, world, &decision)
            }
            MachineInput::PeerUp(peer) => {
                let changes = self.lanes.came(peer);
                self.lanes_changed(now, changes);
            }
            MachineInput::PeerDown(peer) => {
                let changes = self.lanes.went(peer);
                self.lanes_changed(now, changes);
            }
            MachineInput::Request(request) => self.request(now, request),
        }
    }
}

impl Machine for ReplicaServer {
    type Peer = PublicKey;
    type Frame = StreamFrame;
    type Timer = ReplicaTimer;
    type Job = ReplicaJob;
    type Request = Request;
    type Report = ReplicaReport;

    fn handle(&mut self, now: Now, input: MachineInput<Self>) {
        let of_disk =
            matches!(input, MachineInput::Timer(ReplicaTimer::Pulse | ReplicaTimer::Noticed));
        if self.replacement.is_some() && !of_disk {
            return self.waiting.push(input);
        }
        self.take_in(now, input);
        self.absorb(now);
    }

    fn begin_work(&mut self, disk: &mut LentDisk) {
        mem::swap(self.keeper.disk_mut(), disk);
        self.keeper.write(self.orders.drain(..));
        mem::swap(self.keeper.disk_mut(), disk);
    }

    fn end_work(&mut self, now: Now, disk: &mut LentDisk) {
        let mut all = Vec::new();
        mem::swap(self.keeper.disk_mut(), disk);
        self.keeper.finish(&mut |done| all.push(done));
        mem::swap(self.keeper.disk_mut(), disk);
        for done in all {
            self.done(now, done);
        }
        self.absorb(now);
    }

    fn poll(&mut self) -> Option<MachineEffect<Self>> {
        self.effects.pop_front()
    }

    fn digest(&self) -> Digest {
        let world = self.replica.world();
        let world = world.map(|world| (world.height(), world.root()));
        let up: Vec<PublicKey> = self.lanes.connected().collect();
        let all = (self.replica.digest(), world, up);
        Digest::of("metatopia simulated replica v1", &wire::encode(&all))
    }
}
