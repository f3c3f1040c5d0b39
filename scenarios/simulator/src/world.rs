//! The world itself: takes the next event, hands it to a server, and does what the server wants.

use std::collections::BTreeSet;
use std::panic::{self, AssertUnwindSafe};
use std::time::Duration;

use metatopia_store::memory::{CrashEffect, MemoryDisk};
use metatopia_types::Digest;

use crate::agenda::Agenda;
use crate::chance::Dice;
use crate::class::{Class, Fired};
use crate::clock::VirtualClock;
use crate::cluster::{Cluster, ClusterOrder, ClusterView, FrameOf, RequestOf};
use crate::conditions::Conditions;
use crate::crash::{CrashPoint, Point, StepCounts};
use crate::life::panicked;
use crate::machine::{DurableMark, Machine, MachineInput};
use crate::network::Network;
use crate::seat::{Life, Seat};
use crate::trace::Trace;

/// Servers of a cluster in one process, with virtual clocks, a seeded network and seeded disks.
#[derive(Debug)]
pub struct Simulator<C: Cluster> {
    /// What is played; its oracle may be asked at any time.
    pub cluster: C,
    pub(crate) conditions: Conditions,
    pub(crate) now: Duration,
    pub(crate) agenda: Agenda<SimulatorEvent<C>>,
    pub(crate) network: Network,
    pub(crate) seats: Vec<Seat<C::Server>>,
    pub(crate) clocks: Vec<VirtualClock>,
    pub(crate) disk_dice: Dice,
    pub(crate) death_dice: Dice,
    pub(crate) start_dice: Dice,
    pub(crate) crash_point: Option<CrashPoint>,
    /// Seats that have no connection, the lower one first.
    pub(crate) apart: BTreeSet<(usize, usize)>,
    pub(crate) orders: Vec<(Duration, ClusterOrder)>,
    pub(crate) trace: Trace,
    pub(crate) crashes: u64,
    pub(crate) fired: Fired,
}

/// What is on the agenda of a world.
#[derive(Debug)]
pub(crate) enum SimulatorEvent<C: Cluster> {
    /// A frame arrives.
    Frame { to: usize, from: usize, frame: FrameOf<C> },
    /// A timer of one life of a server is due.
    Timer { seat: usize, life: Life, id: <C::Server as Machine>::Timer },
    /// A sync of one life of a server is done.
    Synced { seat: usize, life: Life },
    /// One life of a server may go on with what it does to its disk.
    Work { seat: usize, life: Life },
    /// A job of one life of a server is done.
    Done { seat: usize, life: Life, job: <C::Server as Machine>::Job },
    /// A server notices that a peer came or went.
    Notice { seat: usize, peer: usize, life: Life, up: bool },
    /// The name of a peer leads to another process than before.
    Moved { seat: usize, peer: usize },
    /// A client asks.
    Request { seat: usize, request: RequestOf<C> },
    /// Trouble, or the end of it.
    Order(ClusterOrder),
}

impl<C: Cluster> SimulatorEvent<C> {
    /// Returns which server must run for this.
    fn seat(&self) -> Option<usize> {
        match self {
            Self::Frame { to, .. } => Some(*to),
            Self::Timer { seat, .. }
            | Self::Synced { seat, .. }
            | Self::Work { seat, .. }
            | Self::Done { seat, .. }
            | Self::Notice { seat, .. }
            | Self::Moved { seat, .. }
            | Self::Request { seat, .. } => Some(*seat),
            Self::Order(_) => None,
        }
    }
}

impl<C: Cluster> Simulator<C> {
    /// A world with `seats` empty seats. `written` keeps the trace as text, too.
    #[must_use]
    pub fn new(cluster: C, seats: usize, seed: u64, conditions: Conditions, written: bool) -> Self {
        let clock = |seat| {
            let (offset, rate) = conditions.clocks.get(seat).copied().unwrap_or((0, 0));
            VirtualClock::new(offset, rate).hasty(conditions.haste)
        };
        Self {
            cluster,
            now: Duration::ZERO,
            agenda: Agenda::default(),
            network: Network::new(seed, conditions.links),
            seats: (0..seats).map(|_| Seat::default()).collect(),
            clocks: (0..seats).map(clock).collect(),
            disk_dice: Dice::new(seed, "disks"),
            death_dice: Dice::new(seed, "deaths"),
            start_dice: Dice::new(seed, "starts"),
            crash_point: None,
            apart: BTreeSet::new(),
            orders: Vec::new(),
            trace: Trace::new(written),
            crashes: 0,
            fired: Fired::default(),
            conditions,
        }
    }

    /// Plans an order for the moment `at`.
    pub fn plan(&mut self, at: Duration, order: ClusterOrder) {
        self.agenda.plan(at, SimulatorEvent::Order(order));
    }

    /// Lets a client ask the server in `seat` at the moment `at`; lost if it does not run then.
    pub fn request(&mut self, at: Duration, seat: usize, request: RequestOf<C>) {
        self.agenda.plan(at, SimulatorEvent::Request { seat, request });
    }

    /// Puts a frame on the network as if `from` had sent it; it arrives at once.
    pub fn inject(&mut self, from: usize, to: usize, frame: FrameOf<C>) {
        self.agenda.plan(self.now, SimulatorEvent::Frame { to, from, frame });
    }

    /// Has the process of one seat die at this point of its history.
    pub fn crash_at(&mut self, point: CrashPoint) {
        self.crash_point = Some(point);
    }

    /// Sets the conditions of the world from now on. Clocks stay as they are.
    pub fn set_conditions(&mut self, conditions: Conditions) {
        self.network.set_links(conditions.links);
        self.conditions = conditions;
    }

    /// Ends all faults: links work, nothing is lost, servers that died start again.
    pub fn heal(&mut self) {
        self.set_conditions(self.conditions.healed());
        self.network.heal();
        self.crash_point = None;
        for seat in 0..self.seats.len() {
            self.seats[seat].slow = None;
            self.mend_disk(seat);
            if self.seats[seat].wanted {
                self.plan(self.now, ClusterOrder::Start(seat));
            }
        }
    }

    /// Sets all wall clocks right. They go on at their own rates.
    pub fn set_clocks_right(&mut self) {
        for clock in &mut self.clocks {
            clock.set_right(self.now);
        }
    }

    /// Returns what happened, class by class.
    #[must_use]
    pub fn fired(&self) -> Fired {
        let mut fired = self.fired.clone();
        fired.add(self.network.fired());
        fired
    }

    /// Notes that something of this class happened that the world cannot see.
    pub fn note_fault(&mut self, class: Class) {
        self.fired.note(class);
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

    /// Returns whether the server in `seat` runs, or will start again by itself.
    #[must_use]
    pub fn is_wanted(&self, seat: usize) -> bool {
        self.seats[seat].wanted
    }

    /// Returns how many seats there are.
    #[must_use]
    pub fn seats(&self) -> usize {
        self.seats.len()
    }

    /// The files of the server in `seat`.
    #[must_use]
    pub fn disk(&self, seat: usize) -> &MemoryDisk {
        &self.seats[seat].disk
    }

    /// Returns what would be left of these files if the power failed now, on a disk with room and without
    /// faults. A full disk is no reason not to read what is on it.
    #[must_use]
    pub fn salvaged(&self, seat: usize) -> MemoryDisk {
        let mut disk = self.disk(seat).clone();
        disk.limit_capacity(None);
        disk.crash(CrashEffect::Lost);
        disk
    }

    /// The files of a server that does not run, to prepare or damage them.
    pub fn disk_mut(&mut self, seat: usize) -> &mut MemoryDisk {
        assert!(self.seats[seat].server.is_none(), "server {seat} has its files open");
        &mut self.seats[seat].disk
    }

    /// The clock of `seat`.
    #[must_use]
    pub fn clock(&self, seat: usize) -> &VirtualClock {
        &self.clocks[seat]
    }

    /// The steps of `seat` so far.
    #[must_use]
    pub fn steps(&self, seat: usize) -> StepCounts {
        self.seats[seat].steps
    }

    /// Returns how many processes died.
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

    fn step(&mut self, event: SimulatorEvent<C>) {
        if let Some(until) = event.seat().map(|seat| self.seats[seat].paused_until)
            && until > self.now
        {
            // It finds everything when it goes on, in the order in which it came.
            self.agenda.plan(until, event);
            return;
        }
        match event {
            SimulatorEvent::Frame { to, from, frame } => {
                if self.seats[to].server.is_some() && !self.is_apart(from, to) {
                    self.trace.note(self.now, to, "frame", &C::stamp(&frame));
                    self.trace
                        .write(self.now, to, || format!("<- {from}: {}", C::describe(&frame)));
                    let from = self.cluster.peer(from);
                    self.hand(to, MachineInput::Frame { from, frame });
                }
            }
            SimulatorEvent::Timer { seat, life, id } if self.lives(seat, life) => {
                self.trace.note(self.now, seat, "timer", &[]);
                self.hand(seat, MachineInput::Timer(id));
            }
            SimulatorEvent::Synced { seat, life } if self.lives(seat, life) => self.end_sync(seat),
            SimulatorEvent::Work { seat, life } if self.lives(seat, life) => self.end_work(seat),
            SimulatorEvent::Done { seat, life, job } if self.lives(seat, life) => {
                self.trace.note(self.now, seat, "job done", &[]);
                self.trace.write(self.now, seat, || "job done".to_owned());
                self.hand(seat, MachineInput::Done(job));
            }
            SimulatorEvent::Notice { seat, peer, life, up } => self.notice(seat, peer, life, up),
            SimulatorEvent::Moved { seat, peer } => self.moved(seat, peer),
            SimulatorEvent::Request { seat, request } => {
                if self.seats[seat].server.is_some() {
                    self.trace.note(self.now, seat, "request", &[]);
                    self.hand(seat, MachineInput::Request(request));
                }
            }
            SimulatorEvent::Order(order) => self.obey(order),
            SimulatorEvent::Timer { .. }
            | SimulatorEvent::Synced { .. }
            | SimulatorEvent::Work { .. }
            | SimulatorEvent::Done { .. } => {}
        }
    }

    pub(crate) fn lives(&self, seat: usize, life: Life) -> bool {
        self.seats[seat].server.is_some() && self.seats[seat].life == life
    }

    pub(crate) fn carry_out_orders(&mut self) {
        while !self.orders.is_empty() {
            for (at, order) in std::mem::take(&mut self.orders) {
                if at <= self.now { self.obey(order) } else { self.plan(at, order) }
            }
        }
    }

    /// Gives one input to a server and does what it wants done.
    pub(crate) fn hand(&mut self, seat: usize, input: MachineInput<C::Server>) {
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
        look: impl FnOnce(&mut C, &mut ClusterView<'_, C>) -> R,
    ) -> R {
        let place = &self.seats[seat];
        let mut scene = ClusterView {
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
            self.trace.write(self.now, seat, || "a sync fails".to_owned());
            self.fired.note(Class::IoError);
            self.reboot(seat);
            return;
        }
        let Ok((request, mark)) = self.seats[seat].end_sync() else {
            self.fail_disk(seat);
            return;
        };
        self.trace.note(self.now, seat, "synced", &mark.0.to_le_bytes());
        self.trace.write(self.now, seat, || format!("log is durable up to {}", mark.0));
        self.die_if_due(seat, Point::Sync(self.seats[seat].steps.syncs));
        if self.seats[seat].server.is_none() {
            return;
        }
        self.begin_next_sync(seat);
        self.release(seat);
        self.hand(seat, MachineInput::Synced { mark, request });
    }

    /// Begins the sync that waits, if none is under way.
    pub(crate) fn begin_next_sync(&mut self, seat: usize) {
        if self.seats[seat].begin_sync() {
            let took = self.disk_dice.within(self.conditions.sync);
            let life = self.seats[seat].life;
            self.agenda.plan(self.now + took, SimulatorEvent::Synced { seat, life });
        }
    }

    /// The mark up to which the log of `seat` is durable.
    #[must_use]
    pub fn durable(&self, seat: usize) -> DurableMark {
        self.seats[seat].synced
    }
}
