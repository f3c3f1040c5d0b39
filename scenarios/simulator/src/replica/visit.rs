//! Plays servers, people and strangers together: carries frames between them, and checks everything
//! in the end.

mod arrivals;
mod closing;
mod gaps;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;
use std::time::Duration;

use metatopia_oracle::Law;
use metatopia_protocol::{Answer, ClientMessage, Question, encode_client};
use metatopia_replica::ClientId;
use metatopia_replica::keeper::Health;
use metatopia_store::FileName;

use super::gateway::{Hangup, WINDOW_BYTES};
use super::newcomer::Newcomer;
use super::node::{ReplicaServer, ServerStart};
use super::nodes::{DecodedFrame, Mail, ReplicaServers};
use super::person::{Person, PersonRequest};
use super::place_setting::{PlaceSetting, ReplicaSetting};
use super::requests::Request;
use super::stranger::Stranger;
use crate::agenda::Agenda;
use crate::class::Class;
use crate::cluster::ClusterOrder;
use crate::conditions::Conditions;
use crate::damage::harm;
use crate::stage::ClusterStage;
use crate::world::Simulator;

/// How long a frame is on its way between a client and a server.
const TRAVEL: Duration = Duration::from_millis(10);

/// Between two tries of a client to reach a server.
const REDIAL: Duration = Duration::from_millis(200);

/// How often it is looked whether everybody is settled.
const LOOK: Duration = Duration::from_millis(50);

/// Frames of people that are remembered.
const OVERHEARD_MAX: usize = 64;

/// Turns that every server has to apply after everybody is settled.
const TURNS_AFTER: u64 = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ConnectionOwner {
    Person(usize),
    Stranger(usize),
    Newcomer(usize),
}

/// A connection as its client's end knows it.
#[derive(Debug)]
struct StageConnection {
    who: ConnectionOwner,
    seat: usize,
    /// Bytes that were read and not yet acknowledged.
    read: usize,
}

/// What is to happen at the clients' ends.
#[derive(Debug)]
enum StageEvent {
    Dial(usize),
    Tick(usize),
    Whim(usize),
    Arrive(usize),
    Letter(ClientId, DecodedFrame),
    Cut(ClientId, Option<Hangup>),
}

/// See the module.
#[derive(Debug)]
pub struct ReplicaStage {
    /// The servers in their world.
    pub world: Simulator<ReplicaServers>,
    /// Those who visit.
    pub people: Vec<Person>,
    /// Those who do not behave.
    pub strangers: Vec<Stranger>,
    /// Nodes that come by an invite.
    pub newcomers: Vec<Newcomer>,
    setting: Rc<ReplicaSetting>,
    agenda: Agenda<StageEvent>,
    lines: BTreeMap<ClientId, StageConnection>,
    next_client: u64,
    next_token: u64,
    frames: blake3::Hasher,
    /// Servers that nobody goes to: liars, and those that run twice.
    shunned: BTreeSet<usize>,
    /// What people said last, for who wants to say it again.
    overheard: VecDeque<Vec<u8>>,
}

impl ReplicaStage {
    /// The servers of `setting`, which start at once, and nobody else.
    #[must_use]
    pub fn new(setting: ReplicaSetting, conditions: Conditions) -> Self {
        Self::told(setting, conditions, false)
    }

    /// The same; what happens is written down for people if it is `written`.
    #[must_use]
    pub fn told(setting: ReplicaSetting, conditions: Conditions, written: bool) -> Self {
        let setting = Rc::new(setting);
        let shunned = setting.shunned().collect();
        let servers = ReplicaServers::new(Rc::clone(&setting));
        let mut world =
            Simulator::new(servers, setting.keys.len(), setting.own.seed, conditions, written);
        for seat in 0..setting.founders {
            world.plan(Duration::ZERO, ClusterOrder::Start(seat));
        }
        for (copy, original) in &setting.copies {
            if !setting.own.copied_later.contains(copy) {
                world.plan(Duration::ZERO, ClusterOrder::Start(*copy));
            }
            // To begin with nobody knows of it.
            (0..*copy).for_each(|seat| world.keep_apart(seat, *copy));
            debug_assert!(original < copy, "a copy of a server that is there");
        }
        Self {
            world,
            people: Vec::new(),
            strangers: Vec::new(),
            newcomers: Vec::new(),
            setting,
            agenda: Agenda::default(),
            lines: BTreeMap::new(),
            next_client: 1,
            next_token: 1,
            frames: blake3::Hasher::new(),
            shunned,
            overheard: VecDeque::new(),
        }
    }

    /// Returns what people said last, oldest first.
    pub fn overheard(&self) -> impl ExactSizeIterator<Item = &Vec<u8>> {
        self.overheard.iter()
    }

    /// Kills a server, damages its log where it had been durable, and starts it again. Returns which
    /// file is changed: nothing, if the log is too short yet.
    pub fn harm(&mut self, seat: usize, class: Class, place: u64) -> Option<FileName> {
        self.while_off(seat, |stage| {
            let harmed = harm(stage.world.disk_mut(seat), stage.setting.sim, class, place);
            if let Some(file) = harmed {
                stage.world.note_fault(class);
                stage.world.cluster.harm(seat, file, format!("{class} at {place:x}"));
            }
            harmed
        })
    }

    /// Copies what would be left of the disk of a server if the power failed now to the second
    /// machine of that server, in the seat `copy`, and starts that too.
    pub fn copy_disk(&mut self, copy: usize) {
        let of = self.setting.copies.iter().find(|(seat, _)| *seat == copy);
        let Some((_, original)) = of.copied() else { return };
        let mut disk = self.world.salvaged(original);
        disk.forget_faults();
        *self.world.disk_mut(copy) = disk;
        self.world.cluster.copied(original, copy);
        self.world.note_fault(Class::CopiedDisk);
        let now = self.world.now();
        self.world.plan(now, ClusterOrder::Start(copy));
        self.run_until(now);
        if self.world.server(copy).is_none() && !self.world.is_wanted(copy) {
            self.world.blame(
                None,
                Law::Restored,
                format!("a copy of the disk of {original} starts no server"),
            );
        }
    }

    /// Starts a second server from what would be left of the disk of `seat` if the power failed now,
    /// lets it apply all it has decided, and compares what it comes to. Nothing if the disk does not
    /// let a server start now.
    pub fn read_again(&mut self, seat: usize) {
        let mut disk = self.world.salvaged(seat);
        let now = self.world.clock(seat).read(self.world.now());
        let start = ServerStart { seat, life: u64::MAX, fresh: false };
        let came_to = ReplicaServer::open(&self.setting, start, now, &mut disk).map(|opened| {
            let mut server = opened.server;
            server.apply_all(now);
            server.replica().world().map(|world| (world.height(), world.root()))
        });
        match came_to {
            Ok(Some((height, root))) => {
                let known = self.world.cluster.oracle.steps().get(&height).map(|step| step.root);
                if known.is_some_and(|known| known != root) {
                    let what = format!("server {seat} read again has another root after {height}");
                    self.world.blame(None, Law::Restored, what);
                }
            }
            Ok(None) => {}
            Err(why) => {
                self.world.blame(None, Law::Restored, format!("server {seat} read again: {why}"))
            }
        }
    }

    /// Returns what all servers have in common.
    #[must_use]
    pub fn setting(&self) -> &ReplicaSetting {
        &self.setting
    }

    /// Plans that somebody comes at the moment `at`. Returns their number.
    pub fn invite(&mut self, at: Duration, person: Person) -> usize {
        let number = self.people.len();
        self.people.push(person);
        self.agenda.plan(at, StageEvent::Dial(number));
        self.agenda.plan(at, StageEvent::Whim(number));
        number
    }

    /// A stranger connects to the server in `seat`, now. Returns their number.
    pub fn meet(&mut self, seat: usize, stranger: Stranger) -> usize {
        let number = self.strangers.len();
        self.strangers.push(stranger);
        self.connect(ConnectionOwner::Stranger(number), seat);
        number
    }

    /// A stranger sends a frame, if the line stands.
    pub fn send(&mut self, stranger: usize, frame: Vec<u8>) {
        if let Some(client) = self.line_of(ConnectionOwner::Stranger(stranger)) {
            self.send_frame(client, frame);
        }
    }

    /// Says something as a stranger, in the protocol.
    pub fn say(&mut self, stranger: usize, message: &ClientMessage) {
        self.send(stranger, encode_client(message));
    }

    /// A stranger opens a session with a key, having read the challenge.
    pub fn introduce(&mut self, stranger: usize, key: &dyn metatopia_types::Sign) {
        if let Some(hello) = self.strangers[stranger].hello(key) {
            self.send(stranger, hello);
        }
    }

    /// A stranger hangs up.
    pub fn hang_up(&mut self, stranger: usize) {
        if let Some(client) = self.line_of(ConnectionOwner::Stranger(stranger))
            && let Some(line) = self.lines.remove(&client)
        {
            self.request(line.seat, Request::Down(client));
        }
    }

    /// Has a person do something that is not a whim.
    pub fn prompt<R>(&mut self, person: usize, act: impl FnOnce(&mut Person, Duration) -> R) -> R {
        let now = self.world.now();
        let done = act(&mut self.people[person], now);
        self.carry_out(person);
        done
    }

    /// A person's line breaks now, without a word to either end's owner, and they come back after
    /// `away`.
    pub fn lose_line(&mut self, person: usize, away: Duration) {
        let Some(client) = self.line_of(ConnectionOwner::Person(person)) else { return };
        if let Some(line) = self.lines.remove(&client) {
            self.request(line.seat, Request::Down(client));
        }
        self.people[person].broke(self.setting.founders);
        self.agenda.plan(self.world.now() + away, StageEvent::Dial(person));
    }

    /// Asks a server by another way than a session, and waits for the answer.
    pub fn ask(&mut self, seat: usize, question: Question) -> Option<Answer> {
        let token = self.next_token;
        self.next_token += 1;
        let now = self.world.now();
        self.world.request(now, seat, Request::Ask { token, question });
        self.run_for(Duration::from_millis(500));
        self.world.cluster.answers.remove(&token)
    }

    /// Plays until the moment `until`.
    pub fn run_until(&mut self, until: Duration) {
        loop {
            let next = self.agenda.next_at().filter(|at| *at <= until);
            let limit = next.unwrap_or(until);
            let mailed = self.world.run_while(limit, |world| world.cluster.mail.is_empty());
            self.collect_mail();
            if mailed {
                continue;
            }
            match self.agenda.take(limit) {
                Some((_, errand)) => self.run_errand(errand),
                None if limit >= until => return,
                None => {}
            }
        }
    }

    /// Plays for some time.
    pub fn run_for(&mut self, time: Duration) {
        self.run_until(self.world.now() + time);
    }

    /// Plays until `done`, and no longer than `limit`; says whether it was done.
    pub fn run_till(&mut self, limit: Duration, done: impl Fn(&Self) -> bool) -> bool {
        while self.world.now() < limit {
            if done(self) {
                return true;
            }
            self.run_for(LOOK);
        }
        done(self)
    }

    /// Returns whether every server that runs can write to its disk.
    #[must_use]
    pub fn are_disks_sound(&self) -> bool {
        let servers = (0..self.world.seats()).filter_map(|seat| self.world.server(seat));
        servers.map(ReplicaServer::health).all(|health| *health == Health::Sound)
    }

    /// Returns whether every honest server that should run has applied this height.
    #[must_use]
    pub fn all_applied(&self, height: u64) -> bool {
        let mut seats = self.world.honest().filter(|seat| self.world.is_wanted(*seat));
        let heights = self.world.heights();
        seats.all(|seat| heights[seat].is_some_and(|applied| applied >= height))
    }

    fn collect_mail(&mut self) {
        let at = self.world.now() + TRAVEL;
        while let Some(mail) = self.world.cluster.mail.pop_front() {
            match mail {
                Mail::Frame { client, letter } => {
                    self.agenda.plan(at, StageEvent::Letter(client, letter));
                }
                Mail::HungUp { client, why } => {
                    self.agenda.plan(at, StageEvent::Cut(client, Some(why)));
                }
                Mail::Died { seat } => {
                    let cut = self.lines.iter().filter(|(_, line)| line.seat == seat);
                    for client in cut.map(|(client, _)| *client) {
                        self.agenda.plan(at, StageEvent::Cut(client, None));
                    }
                }
            }
        }
    }

    fn run_errand(&mut self, errand: StageEvent) {
        let now = self.world.now();
        match errand {
            StageEvent::Dial(person) => self.dial(person),
            StageEvent::Tick(person) => {
                let deadline = self.people[person].deadline();
                if deadline.is_some_and(|at| at <= now) {
                    self.people[person].armed = None;
                    self.people[person].tick(now);
                }
                self.carry_out(person);
            }
            StageEvent::Whim(person) => {
                let next = self.people[person].whim(now);
                self.carry_out(person);
                if let Some(at) = next {
                    self.agenda.plan(at, StageEvent::Whim(person));
                }
            }
            StageEvent::Arrive(newcomer) => self.arrive(newcomer),
            StageEvent::Letter(client, letter) => self.receive(client, letter),
            StageEvent::Cut(client, why) => self.cut(client, why),
        }
    }

    fn dial(&mut self, person: usize) {
        let home = self.people[person].home().filter(|seat| self.world.server(*seat).is_some());
        let seat = home.unwrap_or(self.people[person].node);
        self.people[person].node = seat;
        if self.people[person].ended.is_some()
            || self.line_of(ConnectionOwner::Person(person)).is_some()
        {
            return;
        }
        if self.world.server(seat).is_none() || self.shunned.contains(&seat) {
            self.people[person].node = (seat + 1) % self.setting.founders;
            self.agenda.plan(self.world.now() + REDIAL, StageEvent::Dial(person));
            return;
        }
        self.connect(ConnectionOwner::Person(person), seat);
    }

    fn connect(&mut self, who: ConnectionOwner, seat: usize) {
        let client = ClientId(self.next_client);
        self.next_client += 1;
        let line = StageConnection { who, seat, read: 0 };
        self.lines.insert(client, line);
        self.request(seat, Request::Up(client));
    }

    fn line_of(&self, who: ConnectionOwner) -> Option<ClientId> {
        let mut lines = self.lines.iter();
        let found = lines.find(|(_, line)| line.who == who)?;
        Some(*found.0)
    }

    fn line_to(&self, who: ConnectionOwner, seat: usize) -> Option<ClientId> {
        let mut lines = self.lines.iter();
        let found = lines.find(|(_, line)| (line.who, line.seat) == (who, seat))?;
        Some(*found.0)
    }

    fn request(&mut self, seat: usize, request: Request) {
        let at = self.world.now() + TRAVEL;
        self.world.request(at, seat, request);
    }

    fn send_frame(&mut self, client: ClientId, frame: Vec<u8>) {
        if let Some(line) = self.lines.get(&client) {
            if matches!(line.who, ConnectionOwner::Person(_)) {
                if self.overheard.len() == OVERHEARD_MAX {
                    self.overheard.pop_front();
                }
                self.overheard.push_back(frame.clone());
            }
            self.request(line.seat, Request::Frame { client, frame });
        }
    }

    fn receive(&mut self, client: ClientId, letter: DecodedFrame) {
        let now = self.world.now();
        let Some(line) = self.lines.get_mut(&client) else {
            return;
        };
        self.frames.update(&client.0.to_le_bytes());
        self.frames.update(blake3::hash(&letter.bytes).as_bytes());
        line.read += letter.bytes.len();
        let (who, seat) = (line.who, line.seat);
        let deaf = matches!(who, ConnectionOwner::Stranger(n) if self.strangers[n].deaf);
        if !deaf && line.read >= WINDOW_BYTES / 4 {
            let bytes = std::mem::take(&mut line.read);
            self.request(seat, Request::Read { client, bytes });
        }
        match who {
            ConnectionOwner::Person(person) => {
                self.people[person].hear(now, letter.said);
                self.carry_out(person);
            }
            ConnectionOwner::Stranger(stranger) => self.strangers[stranger].hear(letter.said),
            ConnectionOwner::Newcomer(newcomer) => {
                self.newcomers[newcomer].hear(now, seat, letter.said);
                self.bring_in(newcomer);
            }
        }
    }

    fn cut(&mut self, client: ClientId, why: Option<Hangup>) {
        let Some(line) = self.lines.remove(&client) else {
            return;
        };
        match line.who {
            ConnectionOwner::Person(person) => {
                self.people[person].broke(self.setting.founders);
                self.agenda.plan(self.world.now(), StageEvent::Dial(person));
            }
            ConnectionOwner::Stranger(stranger) => {
                self.strangers[stranger].hung_up = why;
                self.strangers[stranger].lost = why.is_none();
            }
            ConnectionOwner::Newcomer(newcomer) => {
                self.newcomers[newcomer].gone(self.world.now(), line.seat);
                self.bring_in(newcomer);
            }
        }
    }

    /// Does what a person wants done, and wakes their session in time.
    fn carry_out(&mut self, person: usize) {
        for want in self.people[person].take_wants() {
            let Some(client) = self.line_of(ConnectionOwner::Person(person)) else {
                continue;
            };
            match want {
                PersonRequest::Send(frame) => self.send_frame(client, frame),
                PersonRequest::Leave => {
                    if let Some(line) = self.lines.get(&client) {
                        self.request(line.seat, Request::Down(client));
                    }
                    self.cut(client, None);
                }
            }
        }
        let deadline = self.people[person].deadline();
        if let Some(at) = deadline.filter(|at| self.people[person].armed != Some(*at)) {
            self.people[person].armed = Some(at);
            let at = at.max(self.world.now());
            self.agenda.plan(at, StageEvent::Tick(person));
        }
    }
}

impl ClusterStage for ReplicaStage {
    type Cluster = ReplicaServers;
    type Own = PlaceSetting;

    fn world(&self) -> &Simulator<ReplicaServers> {
        &self.world
    }

    fn world_mut(&mut self) -> &mut Simulator<ReplicaServers> {
        &mut self.world
    }

    fn shared(&self) -> &ReplicaSetting {
        &self.setting
    }

    fn play_until(&mut self, until: Duration) {
        self.run_until(until);
    }

    fn reached(&self) -> u64 {
        self.world.top()
    }

    fn check_disk(&mut self, seat: usize) {
        self.read_again(seat);
    }
}
