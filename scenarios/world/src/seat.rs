//! One seat of a world: a process that may come and go, its files, and the effects that wait for
//! its disk.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use crate::cluster::{Cluster, FrameOf, PeerOf, ReportOf};
use crate::crash::{Point, Steps};
use crate::disk::Disk;
use crate::machine::{Effect, FileChange, Machine, Mark, To};
use crate::world::{Event, World};

/// Which life of a process, counted from 1. What was planned for an earlier life is void.
pub(crate) type Life = u32;

/// A message that may wait for the disk.
#[derive(Debug)]
pub(crate) enum Word<M: Machine> {
    /// For other servers.
    Send(To<M::Peer>, M::Frame),
    /// For the outside.
    Tell(M::Report),
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Seat<M: Machine> {
    pub(crate) server: Option<M>,
    /// Whether the process starts again by itself after it died.
    pub(crate) wanted: bool,
    pub(crate) life: Life,
    pub(crate) disk: Disk,
    pub(crate) steps: Steps,
    /// The end of the log, and how much of it is durable.
    written: Mark,
    pub(crate) synced: Mark,
    held: VecDeque<(Mark, Word<M>)>,
    /// The sync under way: what it will make durable.
    syncing: Option<(Mark, BTreeMap<String, usize>)>,
    /// Something was written since that sync began, and a sync was asked for.
    sync_again: bool,
    /// When the job under way is done: jobs run one after the other.
    busy_until: Duration,
}

impl<M: Machine> Default for Seat<M> {
    fn default() -> Self {
        Self {
            server: None,
            wanted: false,
            life: 0,
            disk: Disk::default(),
            steps: Steps::default(),
            written: Mark(0),
            synced: Mark(0),
            held: VecDeque::new(),
            syncing: None,
            sync_again: false,
            busy_until: Duration::ZERO,
        }
    }
}

impl<M: Machine> Seat<M> {
    /// A new process knows nothing of what the last one waited for.
    pub(crate) fn begin_life(&mut self) {
        self.life += 1;
        self.held.clear();
        self.syncing = None;
        self.sync_again = false;
        self.written = Mark(0);
        self.synced = Mark(0);
        self.busy_until = Duration::ZERO;
    }

    pub(crate) fn begin_sync(&mut self) {
        self.sync_again = false;
        self.syncing = Some((self.written, self.disk.lengths()));
    }

    /// The sync is done. Returns what is durable now, and whether another one was asked for.
    pub(crate) fn end_sync(&mut self) -> (Mark, bool) {
        let (mark, lengths) = self.syncing.take().expect("a sync was under way");
        self.disk.synced(&lengths);
        self.synced = self.synced.max(mark);
        self.steps.syncs += 1;
        (self.synced, self.sync_again)
    }

    fn next_released(&mut self) -> Option<Word<M>> {
        let at = self
            .held
            .iter()
            .position(|(after, _)| *after <= self.synced)?;
        self.held.remove(at).map(|(_, word)| word)
    }
}

impl<C: Cluster> World<C> {
    /// Does what the server in `seat` wants done, until it wants no more or is dead.
    pub(crate) fn drain(&mut self, seat: usize) {
        while let Some(effect) = self.seats[seat].server.as_mut().and_then(Machine::poll) {
            self.perform(seat, effect);
        }
    }

    fn perform(&mut self, seat: usize, effect: Effect<C::Server>) {
        match effect {
            Effect::Send { to, frame, after } => self.speak(seat, after, Word::Send(to, frame)),
            Effect::Tell { report, after } => self.speak(seat, after, Word::Tell(report)),
            Effect::SetTimer { id, at } => {
                let at = self.clocks[seat].moment(at).max(self.now);
                let life = self.seats[seat].life;
                self.agenda.plan(at, Event::Timer { seat, life, id });
            }
            Effect::Write { change, end } => self.write(seat, &change, end),
            Effect::Sync => {
                if self.seats[seat].syncing.is_some() {
                    self.seats[seat].sync_again = true;
                } else {
                    self.begin_sync(seat);
                }
            }
            Effect::Begin(job) => {
                let took = self.disk_dice.within(self.conditions.job);
                let place = &mut self.seats[seat];
                place.busy_until = place.busy_until.max(self.now) + took;
                let (at, life) = (place.busy_until, place.life);
                self.agenda.plan(at, Event::Done { seat, life, job });
            }
            Effect::Halt(reason) => self.halt(seat, &reason),
        }
    }

    fn write(&mut self, seat: usize, change: &FileChange, end: Mark) {
        self.watch(seat, |cluster, scene| cluster.writes(scene, change));
        let place = &mut self.seats[seat];
        match change {
            FileChange::Append { file, bytes } => place.disk.append(file, bytes),
            FileChange::Replace { file, bytes } => place.disk.replace(file, bytes.clone()),
            FileChange::Remove { file } => place.disk.remove(file),
        }
        place.written = place.written.max(end);
        place.steps.writes += 1;
        let point = Point::Write(place.steps.writes);
        self.die_if_due(seat, point);
    }

    /// Lets a word out, now or when the log is durable as far as it asks.
    fn speak(&mut self, seat: usize, after: Mark, word: Word<C::Server>) {
        let place = &mut self.seats[seat];
        if self.conditions.barrier && after > place.synced {
            place.held.push_back((after, word));
        } else {
            self.let_out(seat, word);
        }
    }

    /// Lets out what waited for the disk.
    pub(crate) fn release(&mut self, seat: usize) {
        while let Some(word) = self.seats[seat].next_released() {
            self.let_out(seat, word);
        }
    }

    fn let_out(&mut self, seat: usize, word: Word<C::Server>) {
        match word {
            Word::Tell(report) => self.tell(seat, report),
            Word::Send(to, frame) => {
                for receiver in 0..self.seats.len() {
                    if self.is_for(seat, receiver, to) {
                        self.send(seat, receiver, &frame);
                    }
                    if self.seats[seat].server.is_none() {
                        return;
                    }
                }
            }
        }
    }

    fn is_for(&self, from: usize, receiver: usize, to: To<PeerOf<C>>) -> bool {
        receiver != from
            && match to {
                To::All => true,
                To::One(name) => self.cluster.peer(receiver) == name,
            }
    }

    fn tell(&mut self, seat: usize, report: ReportOf<C>) {
        self.trace.note(self.now, seat, "tells", &[]);
        self.watch(seat, |cluster, scene| cluster.told(scene, report));
    }

    fn send(&mut self, from: usize, to: usize, frame: &FrameOf<C>) {
        let frames = self.watch(from, |cluster, scene| cluster.leaves(scene, to, frame));
        for frame in frames {
            for delay in self.network.deliver(from, to) {
                let event = Event::Frame {
                    to,
                    from,
                    frame: frame.clone(),
                };
                self.agenda.plan(self.now + delay, event);
            }
        }
        self.seats[from].steps.sends += 1;
        self.die_if_due(from, Point::Send(self.seats[from].steps.sends));
    }

    pub(crate) fn die_if_due(&mut self, seat: usize, point: Point) {
        let due = |crash: &crate::crash::CrashPoint| crash.seat == seat && crash.point == point;
        if self.seats[seat].server.is_some()
            && let Some(crash) = self.crash_point.take_if(|crash| due(crash))
        {
            self.crash(seat, crash.tail, Some(crash.down));
        }
    }
}
