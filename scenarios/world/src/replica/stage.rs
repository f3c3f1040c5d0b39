//! Plays servers, people and strangers together: carries frames between them, and checks everything
//! in the end.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use metatopia_oracle::{Fault, Law};
use metatopia_protocol::{Answer, ClientMessage, Goodbye, Question, encode_client};
use metatopia_replica::ClientId;
use metatopia_types::{ActId, Digest, Height, Millis};

use super::gateway::{Hangup, WINDOW_BYTES};
use super::oracle::{Entry, Log};
use super::person::{Deed, Fate, Person, Want};
use super::server::Request;
use super::servers::{Mail, Servers};
use super::setting::Setting;
use super::stranger::Stranger;
use crate::agenda::Agenda;
use crate::cluster::Order;
use crate::conditions::Conditions;
use crate::world::World;

/// How long a frame is on its way between a client and a server.
const TRAVEL: Duration = Duration::from_millis(10);

/// Between two tries of a client to reach a server.
const REDIAL: Duration = Duration::from_millis(200);

/// How often it is looked whether everybody is settled.
const LOOK: Duration = Duration::from_millis(50);

/// Turns that every server has to apply after everybody is settled.
const TURNS_AFTER: u64 = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Who {
    Person(usize),
    Stranger(usize),
}

/// A connection as its client's end knows it.
#[derive(Debug)]
struct Line {
    who: Who,
    seat: usize,
    /// Bytes that were read and not yet acknowledged.
    read: usize,
}

/// What is to happen at the clients' ends.
#[derive(Debug)]
enum Errand {
    Dial(usize),
    Tick(usize),
    Whim(usize),
    Frame(ClientId, Vec<u8>),
    Cut(ClientId, Option<Hangup>),
}

/// What came out of a story.
#[derive(Debug)]
pub struct Account {
    /// Which laws were broken.
    pub faults: Vec<Fault>,
    /// Everybody, with every act.
    pub people: Vec<Person>,
    /// Turns that were decided.
    pub turns: usize,
    /// Acts in them.
    pub acts: usize,
    /// The time of each turn, from height 1 on.
    pub times: Vec<Millis>,
    /// Who built which turns, by seat.
    pub built: BTreeMap<usize, Vec<Height>>,
    /// Processes that died.
    pub crashes: u64,
    /// The servers, as they were seen.
    pub servers: Servers,
    /// The same for every run of this story with this seed.
    pub digest: Digest,
}

/// See the module.
#[derive(Debug)]
pub struct Stage {
    /// The servers in their world.
    pub world: World<Servers>,
    /// Those who visit.
    pub people: Vec<Person>,
    /// Those who do not behave.
    pub strangers: Vec<Stranger>,
    setting: Rc<Setting>,
    agenda: Agenda<Errand>,
    lines: BTreeMap<ClientId, Line>,
    next_client: u64,
    next_token: u64,
    frames: blake3::Hasher,
}

impl Stage {
    /// The servers of `setting`, which start at once, and nobody else.
    #[must_use]
    pub fn new(setting: Setting, conditions: Conditions) -> Self {
        let setting = Rc::new(setting);
        let servers = Servers::new(Rc::clone(&setting));
        let mut world = World::new(servers, setting.keys.len(), setting.seed, conditions, false);
        for seat in 0..setting.founders {
            world.plan(Duration::ZERO, Order::Start(seat));
        }
        Self {
            world,
            people: Vec::new(),
            strangers: Vec::new(),
            setting,
            agenda: Agenda::default(),
            lines: BTreeMap::new(),
            next_client: 1,
            next_token: 1,
            frames: blake3::Hasher::new(),
        }
    }

    /// What all servers have in common.
    #[must_use]
    pub fn setting(&self) -> &Setting {
        &self.setting
    }

    /// Somebody comes at the moment `at`. Returns their number.
    pub fn invite(&mut self, at: Duration, person: Person) -> usize {
        let number = self.people.len();
        self.people.push(person);
        self.agenda.plan(at, Errand::Dial(number));
        self.agenda.plan(at, Errand::Whim(number));
        number
    }

    /// A stranger connects to the server in `seat`, now. Returns their number.
    pub fn meet(&mut self, seat: usize, stranger: Stranger) -> usize {
        let number = self.strangers.len();
        self.strangers.push(stranger);
        self.connect(Who::Stranger(number), seat);
        number
    }

    /// A stranger sends a frame, if the line stands.
    pub fn send(&mut self, stranger: usize, frame: Vec<u8>) {
        if let Some(client) = self.line_of(Who::Stranger(stranger)) {
            self.send_frame(client, frame);
        }
    }

    /// A stranger says something in the protocol.
    pub fn say(&mut self, stranger: usize, message: &ClientMessage) {
        self.send(stranger, encode_client(message));
    }

    /// A stranger opens a session with a key, having read the challenge.
    pub fn introduce(&mut self, stranger: usize, key: &dyn metatopia_types::Sign) {
        if let Some(hello) = self.strangers[stranger].hello(key) {
            self.send(stranger, hello);
        }
    }

    /// A person does something that is not a whim.
    pub fn prompt<R>(&mut self, person: usize, act: impl FnOnce(&mut Person, Duration) -> R) -> R {
        let now = self.world.now();
        let done = act(&mut self.people[person], now);
        self.carry_out(person);
        done
    }

    /// A person's line breaks now, without a word to either end's owner, and they come back after
    /// `away`.
    pub fn lose_line(&mut self, person: usize, away: Duration) {
        let Some(client) = self.line_of(Who::Person(person)) else { return };
        if let Some(line) = self.lines.remove(&client) {
            self.request(line.seat, Request::Down(client));
        }
        self.people[person].broke(self.setting.founders);
        self.agenda.plan(self.world.now() + away, Errand::Dial(person));
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

    /// The heights that running servers have applied, by seat.
    #[must_use]
    pub fn heights(&self) -> Vec<Option<u64>> {
        let seats = 0..self.world.seats();
        seats.map(|seat| self.world.server(seat).map(|server| server.applied().0)).collect()
    }

    /// Has every server that should run applied this height?
    #[must_use]
    pub fn all_applied(&self, height: u64) -> bool {
        let mut seats = (0..self.world.seats()).filter(|seat| self.world.is_wanted(*seat));
        let heights = self.heights();
        seats.all(|seat| heights[seat].is_some_and(|applied| applied >= height))
    }

    fn top(&self) -> u64 {
        self.heights().into_iter().flatten().max().unwrap_or(0)
    }

    fn collect_mail(&mut self) {
        let at = self.world.now() + TRAVEL;
        while let Some(mail) = self.world.cluster.mail.pop_front() {
            match mail {
                Mail::Frame { client, frame } => {
                    self.agenda.plan(at, Errand::Frame(client, frame));
                }
                Mail::HungUp { client, why } => {
                    self.agenda.plan(at, Errand::Cut(client, Some(why)));
                }
                Mail::Died { seat } => {
                    let cut = self.lines.iter().filter(|(_, line)| line.seat == seat);
                    for client in cut.map(|(client, _)| *client) {
                        self.agenda.plan(at, Errand::Cut(client, None));
                    }
                }
            }
        }
    }

    fn run_errand(&mut self, errand: Errand) {
        let now = self.world.now();
        match errand {
            Errand::Dial(person) => self.dial(person),
            Errand::Tick(person) => {
                let deadline = self.people[person].deadline();
                if deadline.is_some_and(|at| at <= now) {
                    self.people[person].armed = None;
                    self.people[person].tick(now);
                }
                self.carry_out(person);
            }
            Errand::Whim(person) => {
                let next = self.people[person].whim(now);
                self.carry_out(person);
                if let Some(at) = next {
                    self.agenda.plan(at, Errand::Whim(person));
                }
            }
            Errand::Frame(client, frame) => self.receive(client, &frame),
            Errand::Cut(client, why) => self.cut(client, why),
        }
    }

    fn dial(&mut self, person: usize) {
        let seat = self.people[person].node;
        if self.people[person].ended.is_some() || self.line_of(Who::Person(person)).is_some() {
            return;
        }
        if self.world.server(seat).is_none() {
            self.people[person].node = (seat + 1) % self.setting.founders;
            self.agenda.plan(self.world.now() + REDIAL, Errand::Dial(person));
            return;
        }
        self.connect(Who::Person(person), seat);
    }

    fn connect(&mut self, who: Who, seat: usize) {
        let client = ClientId(self.next_client);
        self.next_client += 1;
        let line = Line { who, seat, read: 0 };
        self.lines.insert(client, line);
        self.request(seat, Request::Up(client));
    }

    fn line_of(&self, who: Who) -> Option<ClientId> {
        let mut lines = self.lines.iter();
        let found = lines.find(|(_, line)| line.who == who)?;
        Some(*found.0)
    }

    fn request(&mut self, seat: usize, request: Request) {
        let at = self.world.now() + TRAVEL;
        self.world.request(at, seat, request);
    }

    fn send_frame(&mut self, client: ClientId, frame: Vec<u8>) {
        if let Some(line) = self.lines.get(&client) {
            self.request(line.seat, Request::Frame { client, frame });
        }
    }

    fn receive(&mut self, client: ClientId, frame: &[u8]) {
        let now = self.world.now();
        let Some(line) = self.lines.get_mut(&client) else {
            return;
        };
        self.frames.update(&client.0.to_le_bytes());
        self.frames.update(blake3::hash(frame).as_bytes());
        line.read += frame.len();
        let (who, seat) = (line.who, line.seat);
        let deaf = matches!(who, Who::Stranger(n) if self.strangers[n].deaf);
        if !deaf && line.read >= WINDOW_BYTES / 4 {
            let bytes = std::mem::take(&mut line.read);
            self.request(seat, Request::Read { client, bytes });
        }
        match who {
            Who::Person(person) => {
                self.people[person].frame(now, frame);
                self.carry_out(person);
            }
            Who::Stranger(stranger) => self.strangers[stranger].frame(frame),
        }
    }

    fn cut(&mut self, client: ClientId, why: Option<Hangup>) {
        let Some(line) = self.lines.remove(&client) else {
            return;
        };
        match line.who {
            Who::Person(person) => {
                self.people[person].broke(self.setting.founders);
                self.agenda.plan(self.world.now(), Errand::Dial(person));
            }
            Who::Stranger(stranger) => {
                self.strangers[stranger].hung_up = why;
                self.strangers[stranger].lost = why.is_none();
            }
        }
    }

    /// Does what a person wants done, and wakes their session in time.
    fn carry_out(&mut self, person: usize) {
        for want in self.people[person].take_wants() {
            let Some(client) = self.line_of(Who::Person(person)) else {
                continue;
            };
            match want {
                Want::Send(frame) => self.send_frame(client, frame),
                Want::Leave => {
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
            self.agenda.plan(at, Errand::Tick(person));
        }
    }

    /// Nobody does anything new; all faults stop; plays until everybody knows what became of their
    /// acts and every server has caught up. Then every log is read, compared and played again.
    #[must_use]
    pub fn finish(mut self, patience: Duration) -> Account {
        let now = self.world.now();
        for person in &mut self.people {
            person.manner.until = person.manner.until.min(now);
        }
        self.world.heal();
        let limit = now + patience;
        let settled = self.run_till(limit, |stage| {
            let mut people = stage.people.iter();
            people.all(|person| person.ended.is_some() || person.is_settled())
        });
        let target = self.top() + TURNS_AFTER;
        let caught_up = settled && self.run_till(limit, |stage| stage.all_applied(target));
        if !caught_up {
            let heights = self.heights();
            let (law, what) =
                if settled { (Law::Behind, "caught up") } else { (Law::LateAct, "settled") };
            let fault = format!("not {what} after {patience:?}: heights {heights:?}");
            self.world.cluster.oracle.blame(None, law, fault);
        }
        self.account()
    }

    /// Ends here and now, whatever is under way: for a world that is not to go on.
    #[must_use]
    pub fn leave(mut self) -> Account {
        for person in &mut self.people {
            person.ended.get_or_insert(Goodbye::Stopping);
        }
        self.account()
    }

    fn account(self) -> Account {
        let mut logs = Vec::new();
        let mut world = self.world;
        let mut seats: Vec<usize> = (0..world.seats()).collect();
        seats.retain(|seat| world.is_wanted(*seat));
        for seat in seats {
            match Log::read(&self.setting, seat, world.disk(seat)) {
                Ok(log) => {
                    let fetched = |to: &Height| {
                        let mut states = world.cluster.replaced.iter();
                        states.any(|(_, by, height)| (*by, height) == (seat, to))
                    };
                    if let Some(to) = log.jumps.iter().find(|to| !fetched(to)) {
                        let what = format!("the log leaves out turns up to {to}");
                        world.cluster.oracle.blame(Some(seat), Law::Lost, what);
                    }
                    logs.push(log);
                }
                Err(error) => world.cluster.oracle.blame(Some(seat), Law::Lost, error),
            }
        }
        let places = world.cluster.oracle.close(world.now(), &self.setting, &logs);
        for person in &self.people {
            for (law, what) in check_person(person, &places) {
                world.cluster.oracle.blame(None, law, what);
            }
        }
        let mut bytes = world.digest().0.to_vec();
        bytes.extend_from_slice(self.frames.finalize().as_bytes());
        let longest = logs.iter().max_by_key(|log| log.decisions.len());
        let turns = longest.map_or(0, |log| log.decisions.len());
        let decided = longest.iter().flat_map(|log| &log.decisions);
        let times = decided.map(|decision| decision.turn.header.time).collect();
        let mut built: BTreeMap<usize, Vec<Height>> = BTreeMap::new();
        for decision in longest.iter().flat_map(|log| &log.decisions) {
            let builder = decision.turn.header.proposer;
            let seat = (0..world.seats()).find(|seat| self.setting.name(*seat) == builder);
            built.entry(seat.unwrap_or(usize::MAX)).or_default().push(decision.height());
        }
        Account {
            faults: world.cluster.oracle.faults().to_vec(),
            people: self.people,
            turns,
            times,
            built,
            acts: places.len(),
            crashes: world.crashes(),
            servers: world.cluster,
            digest: Digest::of("metatopia simulated visit v1", &bytes),
        }
    }
}

/// What a person was told, against what every log holds.
fn check_person(person: &Person, places: &BTreeMap<ActId, Entry>) -> Vec<(Law, String)> {
    // All servers of these stories are honest.
    let distrust =
        person.distrust.iter().map(|why| (Law::Proof, format!("{}: {why}", person.name)));
    let mut faults: Vec<(Law, String)> = distrust.collect();
    let mut in_order: Vec<(&ActId, &Deed)> = person.deeds.iter().collect();
    in_order.sort_by_key(|(_, deed)| deed.seq);
    let mut last = Height(0);
    for (id, deed) in in_order {
        let found = places.get(id);
        let mut blame = |law: Law, what: &str| {
            let name = &person.name;
            faults.push((law, format!("{name}: {what}: {deed:?}, in the logs {found:?}")));
        };
        match deed.fate {
            Fate::Waiting if person.ended.is_none() => {
                blame(Law::LateAct, "nobody knows what became of it")
            }
            Fate::Waiting => {}
            Fate::Receipted { height, index, .. } => {
                if found.map(|entry| (entry.height, entry.index)) != Some((height, index)) {
                    blame(Law::Lost, "lost in spite of its receipt");
                }
                if height < last {
                    blame(Law::Lane, "decided before an earlier one");
                }
                if deed.receipts != 1 {
                    blame(Law::Receipt, "receipted not once");
                }
                last = height;
            }
            Fate::Refused(_) if found.is_some() => blame(Law::Receipt, "refused, and decided"),
            Fate::Refused(_) => {}
        }
        let outcome = found.map(|entry| entry.outcome);
        let said = [deed.told, deed.proved];
        if said.into_iter().flatten().any(|said| Some(said) != outcome) {
            blame(Law::Outcome, "another outcome");
        }
    }
    faults
}

impl Account {
    /// Nothing was wrong.
    ///
    /// # Panics
    /// With the seed and the faults, if something was.
    #[track_caller]
    pub fn assert_sound(&self) {
        let setting = &self.servers.setting;
        let faults: Vec<String> = self.faults.iter().map(ToString::to_string).collect();
        assert!(faults.is_empty(), "{setting:#?}\n{faults:#?}");
    }
}
