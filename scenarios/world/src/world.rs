//! The world itself: takes the next event, hands it to a server, and does what the server wants.

use std::any::Any;
use std::panic::{self, AssertUnwindSafe};
use std::time::Duration;

use metatopia_store::memory::MemoryDisk;
use metatopia_types::Digest;

use crate::agenda::Agenda;
use crate::chance::Dice;
use crate::clock::Clock;
use crate::cluster::{Cluster, FrameOf, Opened, Order, PeerOf, RequestOf, Scene};
use crate::conditions::Conditions;
use crate::crash::{CrashPoint, Point, Steps, Tail};
use crate::machine::{Input, Machine, Mark};
use crate::network::Network;
use crate::seat::{Life, Seat};
use crate::trace::Trace;

/// How long a server that stopped because a sync failed is away.
const SYNC_ERROR_DOWN: Duration = Duration::from_millis(50);

/// Servers of a cluster in one process, with virtual clocks, a seeded network and seeded disks.
#[derive(Debug)]
pub struct World<C: Cluster> {
    /// What is played; its oracle may be asked at any time.
    pub cluster: C,
    pub(crate) conditions: Conditions,
    pub(crate) now: Duration,
    pub(crate) agenda: Agenda<Event<C>>,
    pub(crate) network: Network,
    pub(crate) seats: Vec<Seat<C::Server>>,
    pub(crate) clocks: Vec<Clock>,
    pub(crate) disk_dice: Dice,
    pub(crate) crash_point: Option<CrashPoint>,
    pub(crate) orders: Vec<(Duration, Order)>,
    pub(crate) trace: Trace,
    pub(crate) crashes: u64,
}

/// What is on the agenda of a world.
#[derive(Debug)]
pub(crate) enum Event<C: Cluster> {
    /// A frame arrives.
    Frame {
        to: usize,
        from: usize,
        frame: FrameOf<C>,
    },
    /// A timer of one life of a server is due.
    Timer {
        seat: usize,
        life: Life,
        id: <C::Server as Machine>::Timer,
    },
    /// A sync of one life of a server is done.
    Synced { seat: usize, life: Life },
    /// A job of one life of a server is done.
    Done {
        seat: usize,
        life: Life,
        job: <C::Server as Machine>::Job,
    },
    /// A server notices that a peer came or went.
    Notice {
        seat: usize,
        peer: usize,
        life: Life,
        up: bool,
    },
    /// A client asks.
    Request { seat: usize, request: RequestOf<C> },
    /// Trouble, or the end of it.
    Order(Order),
}

impl<C: Cluster> World<C> {
    /// A world with `seats` empty seats. `written` keeps the trace as text, too.
    #[must_use]
    pub fn new(cluster: C, seats: usize, seed: u64, conditions: Conditions, written: bool) -> Self {
        let clock = |seat| {
            let (offset, rate) = conditions.clocks.get(seat).copied().unwrap_or((0, 0));
            Clock::new(offset, rate)
        };
        Self {
            cluster,
            now: Duration::ZERO,
            agenda: Agenda::default(),
            network: Network::new(seed, conditions.links),
            seats: (0..seats).map(|_| Seat::default()).collect(),
            clocks: (0..seats).map(clock).collect(),
            disk_dice: Dice::new(seed, "disks"),
            crash_point: None,
            orders: Vec::new(),
            trace: Trace::new(written),
            crashes: 0,
            conditions,
        }
    }

    /// Plans an order for the moment `at`.
    pub fn plan(&mut self, at: Duration, order: Order) {
        self.agenda.plan(at, Event::Order(order));
    }

    /// Lets a client ask the server in `seat` at the moment `at`; lost if it does not run then.
    pub fn request(&mut self, at: Duration, seat: usize, request: RequestOf<C>) {
        self.agenda.plan(at, Event::Request { seat, request });
    }

    /// Puts a frame on the network as if `from` had sent it; it arrives at once.
    pub fn inject(&mut self, from: usize, to: usize, frame: FrameOf<C>) {
        self.agenda.plan(self.now, Event::Frame { to, from, frame });
    }

    /// The process of one seat dies at this point of its history.
    pub fn crash_at(&mut self, point: CrashPoint) {
        self.crash_point = Some(point);
    }

    /// From now on the world is like this. Clocks stay as they are.
    pub fn set_conditions(&mut self, conditions: Conditions) {
        self.network.set_links(conditions.links);
        self.conditions = conditions;
    }

    /// All faults stop: links work, nothing is lost, servers that died start again.
    pub fn heal(&mut self) {
        self.set_conditions(self.conditions.healed());
        self.network.heal();
        self.crash_point = None;
        for seat in 0..self.seats.len() {
            if self.seats[seat].wanted {
                self.plan(self.now, Order::Start(seat));
            }
        }
    }

    /// Plays until the moment `until`.
    pub fn run_until(&mut self, until: Duration) {
        self.run_while(until, |_| true);
    }

    /// Plays while `goes_on` says so, asked after each event, and no further than `until`.
    /// Returns whether it ended because `goes_on` said no.
    pub fn run_while(&mut self, until: Duration, mut goes_on: impl FnMut(&Self) -> bool) -> bool {
        while let Some((at, event)) = self.agenda.take(until) {
            self.now = at;
            self.step(event);
            self.carry_out_orders();
            if !goes_on(self) {
                return true;
            }
        }
        self.now = self.now.max(until);
        false
    }

    /// The world's time.
    #[must_use]
    pub const fn now(&self) -> Duration {
        self.now
    }

    /// The server in `seat`, if it runs.
    #[must_use]
    pub fn server(&self, seat: usize) -> Option<&C::Server> {
        self.seats[seat].server.as_ref()
    }

    /// Whether the server in `seat` runs, or will start again by itself.
    #[must_use]
    pub fn is_wanted(&self, seat: usize) -> bool {
        self.seats[seat].wanted
    }

    /// How many seats there are.
    #[must_use]
    pub fn seats(&self) -> usize {
        self.seats.len()
    }

    /// The files of the server in `seat`.
    #[must_use]
    pub fn disk(&self, seat: usize) -> &MemoryDisk {
        &self.seats[seat].disk
    }

    /// The files of a server that does not run, to prepare or damage them.
    pub fn disk_mut(&mut self, seat: usize) -> &mut MemoryDisk {
        assert!(
            self.seats[seat].server.is_none(),
            "server {seat} has its files open"
        );
        &mut self.seats[seat].disk
    }

    /// The clock of `seat`.
    #[must_use]
    pub fn clock(&self, seat: usize) -> &Clock {
        &self.clocks[seat]
    }

    /// The steps of `seat` so far.
    #[must_use]
    pub fn steps(&self, seat: usize) -> Steps {
        self.seats[seat].steps
    }

    /// How many processes died.
    #[must_use]
    pub const fn crashes(&self) -> u64 {
        self.crashes
    }

    /// The history so far.
    #[must_use]
    pub const fn trace(&self) -> &Trace {
        &self.trace
    }

    /// A digest of the history and of what every server knows now.
    #[must_use]
    pub fn digest(&self) -> Digest {
        let mut bytes = self.trace.digest().0.to_vec();
        for seat in &self.seats {
            let known = seat.server.as_ref().map_or(Digest::ZERO, Machine::digest);
            bytes.extend_from_slice(&known.0);
        }
        Digest::of("metatopia simulated world digest v1", &bytes)
    }

    fn step(&mut self, event: Event<C>) {
        match event {
            Event::Frame { to, from, frame } => {
                if self.seats[to].server.is_some() {
                    self.trace.note(self.now, to, "frame", &C::stamp(&frame));
                    self.trace.write(self.now, to, || {
                        format!("<- {from}: {}", C::describe(&frame))
                    });
                    let from = self.cluster.peer(from);
                    self.hand(to, Input::Frame { from, frame });
                }
            }
            Event::Timer { seat, life, id } if self.lives(seat, life) => {
                self.trace.note(self.now, seat, "timer", &[]);
                self.hand(seat, Input::Timer(id));
            }
            Event::Synced { seat, life } if self.lives(seat, life) => self.end_sync(seat),
            Event::Done { seat, life, job } if self.lives(seat, life) => {
                self.trace.note(self.now, seat, "job done", &[]);
                self.trace.write(self.now, seat, || "job done".to_owned());
                self.hand(seat, Input::Done(job));
            }
            Event::Notice {
                seat,
                peer,
                life,
                up,
            } => self.notice(seat, peer, life, up),
            Event::Request { seat, request } => {
                if self.seats[seat].server.is_some() {
                    self.trace.note(self.now, seat, "request", &[]);
                    self.hand(seat, Input::Request(request));
                }
            }
            Event::Order(order) => self.obey(order),
            Event::Timer { .. } | Event::Synced { .. } | Event::Done { .. } => {}
        }
    }

    pub(crate) fn lives(&self, seat: usize, life: Life) -> bool {
        self.seats[seat].server.is_some() && self.seats[seat].life == life
    }

    pub(crate) fn carry_out_orders(&mut self) {
        while !self.orders.is_empty() {
            for (at, order) in std::mem::take(&mut self.orders) {
                if at <= self.now {
                    self.obey(order)
                } else {
                    self.plan(at, order)
                }
            }
        }
    }

    fn obey(&mut self, order: Order) {
        self.trace.note(self.now, 0, "order", &[]);
        self.trace.write(self.now, 0, || format!("== {order:?}"));
        match order {
            Order::Start(seat) => {
                self.seats[seat].wanted = true;
                if self.seats[seat].server.is_none() {
                    self.open(seat);
                }
            }
            Order::Crash { seat, tail, down } => self.crash(seat, tail, Some(down)),
            Order::PowerLoss {
                tail,
                down,
                stagger,
            } => {
                for seat in 0..self.seats.len() {
                    let wait = stagger.saturating_mul(u32::try_from(seat).unwrap_or(u32::MAX));
                    self.crash(seat, tail, Some(down.saturating_add(wait)));
                }
            }
            Order::Kill(seat) => self.crash(seat, Tail::Lost, None),
            Order::Cut(from, to) => self.network.cut(from, to),
            Order::Split(group) => self.network.split(&group, self.seats.len()),
            Order::Heal => self.network.heal(),
            Order::Links(links) => self.network.set_links(links),
            Order::SetClock(seat, ms) => self.clocks[seat].jump(ms),
        }
    }

    fn open(&mut self, seat: usize) {
        self.clocks[seat].restart(self.now);
        let now = self.clocks[seat].read(self.now);
        self.seats[seat].begin_life();
        let (cluster, disk) = (&mut self.cluster, &mut self.seats[seat].disk);
        let opened = panic::catch_unwind(AssertUnwindSafe(|| cluster.open(seat, now, disk)));
        match opened.unwrap_or_else(|cause| Err(panicked(&*cause))) {
            Ok(Opened { server, durable }) => {
                self.seats[seat].server = Some(server);
                self.seats[seat].synced = durable;
                self.announce(seat, true);
                self.drain(seat);
            }
            Err(reason) => self.halt(seat, &reason),
        }
    }

    /// The process in `seat` dies; it starts again after `down`, or stays away.
    pub(crate) fn crash(&mut self, seat: usize, tail: Tail, down: Option<Duration>) {
        self.seats[seat].wanted = down.is_some();
        if self.seats[seat].server.is_none() {
            return;
        }
        self.crashes += 1;
        self.trace.note(self.now, seat, "crash", &[]);
        self.trace.write(self.now, seat, || {
            format!("dies, tail {tail:?}, back after {down:?}")
        });
        self.watch(seat, |cluster, scene| cluster.died(scene));
        self.announce(seat, false);
        self.seats[seat].server = None;
        tail.befall(&mut self.seats[seat].disk, &mut self.disk_dice);
        if let Some(down) = down {
            self.plan(self.now.saturating_add(down), Order::Start(seat));
        }
    }

    /// A failed sync: nobody knows what is on the disk, so the process must stop at once.
    pub(crate) fn fail_sync(&mut self, seat: usize) {
        self.crash(seat, Tail::Torn, Some(SYNC_ERROR_DOWN));
    }

    pub(crate) fn halt(&mut self, seat: usize, reason: &str) {
        self.trace.note(self.now, seat, "halt", reason.as_bytes());
        self.trace
            .write(self.now, seat, || format!("halts: {reason}"));
        self.watch(seat, |cluster, scene| cluster.halted(scene, reason));
        self.seats[seat].wanted = false;
        if self.seats[seat].server.is_some() {
            self.announce(seat, false);
            self.seats[seat].server = None;
        }
    }

    /// Others notice after a while that the server in `seat` came or went, and it notices them.
    fn announce(&mut self, seat: usize, up: bool) {
        if !self.conditions.notices {
            return;
        }
        let life = self.seats[seat].life;
        for other in 0..self.seats.len() {
            if other == seat || self.seats[other].server.is_none() {
                continue;
            }
            let delay = self.network.delay();
            self.agenda.plan(
                self.now + delay,
                Event::Notice {
                    seat: other,
                    peer: seat,
                    life,
                    up,
                },
            );
            if up {
                let life = self.seats[other].life;
                let notice = Event::Notice {
                    seat,
                    peer: other,
                    life,
                    up,
                };
                self.agenda.plan(self.now + delay, notice);
            }
        }
    }

    fn notice(&mut self, seat: usize, peer: usize, life: Life, up: bool) {
        // News of an earlier life that took longer than news of a later one is no news.
        if self.seats[seat].server.is_none() || self.seats[peer].life != life {
            return;
        }
        if up && self.seats[peer].server.is_none() {
            return;
        }
        self.trace.note(
            self.now,
            seat,
            if up { "peer up" } else { "peer down" },
            &[],
        );
        self.trace.write(self.now, seat, || {
            format!("peer {peer} {}", if up { "up" } else { "down" })
        });
        let name: PeerOf<C> = self.cluster.peer(peer);
        self.hand(
            seat,
            if up {
                Input::PeerUp(name)
            } else {
                Input::PeerDown(name)
            },
        );
    }

    /// Gives one input to a server and does what it wants done.
    pub(crate) fn hand(&mut self, seat: usize, input: Input<C::Server>) {
        let now = self.clocks[seat].read(self.now);
        let Some(server) = &mut self.seats[seat].server else {
            return;
        };
        // A server that fails an assertion is gone, as its process would be. What it leaves behind
        // is never looked at again.
        match panic::catch_unwind(AssertUnwindSafe(|| server.handle(now, input))) {
            Ok(()) => self.drain(seat),
            Err(cause) => self.halt(seat, &panicked(&*cause)),
        }
    }

    /// Shows a seat to whoever watches the world.
    pub(crate) fn watch<R>(
        &mut self,
        seat: usize,
        look: impl FnOnce(&mut C, &mut Scene<'_, C>) -> R,
    ) -> R {
        let place = &self.seats[seat];
        let mut scene = Scene {
            at: self.now,
            seat,
            server: place.server.as_ref(),
            disk: &place.disk,
            clocks: &self.clocks,
            orders: &mut self.orders,
        };
        look(&mut self.cluster, &mut scene)
    }

    fn end_sync(&mut self, seat: usize) {
        if self.disk_dice.happens(self.conditions.sync_error_ppm) {
            self.trace
                .write(self.now, seat, || "a sync fails".to_owned());
            self.fail_sync(seat);
            return;
        }
        let (request, mark) = self.seats[seat].end_sync();
        self.trace
            .note(self.now, seat, "synced", &mark.0.to_le_bytes());
        self.trace.write(self.now, seat, || {
            format!("log is durable up to {}", mark.0)
        });
        self.die_if_due(seat, Point::Sync(self.seats[seat].steps.syncs));
        if self.seats[seat].server.is_none() {
            return;
        }
        self.begin_next_sync(seat);
        self.release(seat);
        self.hand(seat, Input::Synced { mark, request });
    }

    /// Begins the sync that waits, if none is under way.
    pub(crate) fn begin_next_sync(&mut self, seat: usize) {
        if self.seats[seat].begin_sync() {
            let took = self.disk_dice.within(self.conditions.sync);
            let life = self.seats[seat].life;
            self.agenda
                .plan(self.now + took, Event::Synced { seat, life });
        }
    }

    /// The mark up to which the log of `seat` is durable.
    #[must_use]
    pub fn durable(&self, seat: usize) -> Mark {
        self.seats[seat].synced
    }
}

/// What a server said when it failed an assertion.
fn panicked(cause: &(dyn Any + Send)) -> String {
    let text = cause.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| cause.downcast_ref::<&str>().copied());
    format!("panicked: {}", text.unwrap_or("without a word"))
}
