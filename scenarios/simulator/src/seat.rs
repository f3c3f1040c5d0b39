//! One seat of a world: a process that may come and go, its files, and the effects that wait for
//! its disk.

use std::collections::VecDeque;
use std::time::Duration;

use metatopia_store::memory::MemoryDisk;
use metatopia_store::{Disk as _, DiskError, FileName, SyncRequest};

use crate::chance::Span;
use crate::class::Class;
use crate::cluster::{Cluster, FrameOf, PeerOf, ReportOf};
use crate::crash::{Point, StepCounts};
use crate::machine::{DurableMark, FileChange, FrameRecipients, Machine, MachineEffect};
use crate::world::{Simulator, SimulatorEvent};

/// A slow machine has at most so much work before it.
const SLOW_BACKLOG: Duration = Duration::from_secs(1);

/// Which life of a process, counted from 1. What was planned for an earlier life is void.
pub(crate) type Life = u32;

/// A message that may wait for the disk.
#[derive(Debug)]
pub(crate) enum HeldMessage<M: Machine> {
    /// For other servers.
    Send(FrameRecipients<M::Peer>, M::Frame),
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
    pub(crate) disk: MemoryDisk,
    pub(crate) steps: StepCounts,
    /// How much of the log is durable.
    pub(crate) synced: DurableMark,
    held: VecDeque<(DurableMark, HeldMessage<M>)>,
    /// The sync under way, and what it will make durable.
    syncing: Option<(SyncRequest, DurableMark)>,
    /// The sync that comes next.
    sync_next: Option<(SyncRequest, DurableMark)>,
    /// Does the server work at its disk?
    pub(crate) at_work: bool,
    /// Does it want to again afterwards?
    pub(crate) work_waits: bool,
    /// When the job under way is done: jobs run one after the other.
    busy_until: Duration,
    /// How long jobs take here, if not as long as everywhere.
    pub(crate) slow: Option<Span>,
    /// Until when the process stands still.
    pub(crate) paused_until: Duration,
    /// How many starts in a row were cut off.
    pub(crate) cut_off: u32,
    /// Is something wrong with the disk? Then a start may fail, and is tried again.
    pub(crate) disk_trouble: Option<Class>,
}

impl<M: Machine> Default for Seat<M> {
    fn default() -> Self {
        Self {
            server: None,
            wanted: false,
            life: 0,
            disk: MemoryDisk::new(),
            steps: StepCounts::default(),
            synced: DurableMark(0),
            held: VecDeque::new(),
            syncing: None,
            sync_next: None,
            at_work: false,
            work_waits: false,
            busy_until: Duration::ZERO,
            slow: None,
            paused_until: Duration::ZERO,
            cut_off: 0,
            disk_trouble: None,
        }
    }
}

impl<M: Machine> Seat<M> {
    /// Begins the life of a new process, which knows nothing of what the last one waited for.
    pub(crate) fn begin_life(&mut self) {
        self.life += 1;
        self.held.clear();
        self.syncing = None;
        self.sync_next = None;
        self.at_work = false;
        self.work_waits = false;
        self.synced = DurableMark(0);
        self.busy_until = Duration::ZERO;
        self.paused_until = Duration::ZERO;
    }

    /// Returns whether a sync begins now.
    pub(crate) fn begin_sync(&mut self) -> bool {
        if self.syncing.is_none() {
            self.syncing = self.sync_next.take();
            return self.syncing.is_some();
        }
        false
    }

    /// Completes the sync. Returns what is durable now.
    pub(crate) fn end_sync(&mut self) -> Result<(SyncRequest, DurableMark), DiskError> {
        let (request, mark) = self.syncing.take().expect("a sync was under way");
        request.perform(&mut self.disk)?;
        self.synced = self.synced.max(mark);
        self.steps.syncs += 1;
        Ok((request, self.synced))
    }

    fn change(&mut self, change: &FileChange) -> Result<(), DiskError> {
        match change {
            FileChange::Append(write) => write.perform(&mut self.disk),
            FileChange::Create { file, bytes } => self.disk.write_new(*file, bytes),
            FileChange::Remove(file) => self.disk.remove(*file),
        }?;
        self.steps.changes += 1;
        Ok(())
    }

    /// Returns whether a power loss right now would take something away.
    pub(crate) fn has_unsynced(&self) -> bool {
        let shorter = |file: &FileName| {
            self.disk.durable(*file).len() < self.disk.bytes(*file).map_or(0, <[u8]>::len)
        };
        self.disk.files().iter().any(shorter)
    }

    fn next_released(&mut self) -> Option<HeldMessage<M>> {
        let at = self.held.iter().position(|(after, _)| *after <= self.synced)?;
        self.held.remove(at).map(|(_, word)| word)
    }
}

impl<C: Cluster> Simulator<C> {
    /// Does what the server in `seat` wants done, until it wants no more or is dead.
    pub(crate) fn drain(&mut self, seat: usize) {
        while let Some(effect) = self.seats[seat].server.as_mut().and_then(Machine::poll) {
            self.perform(seat, effect);
        }
    }

    fn perform(&mut self, seat: usize, effect: MachineEffect<C::Server>) {
        match effect {
            MachineEffect::Send { to, frame, after } => {
                self.speak(seat, after, HeldMessage::Send(to, frame))
            }
            MachineEffect::Tell { report, after } => {
                self.speak(seat, after, HeldMessage::Tell(report))
            }
            MachineEffect::SetTimer { id, at } => {
                let at = self.clocks[seat].moment(at).max(self.now);
                let life = self.seats[seat].life;
                self.agenda.plan(at, SimulatorEvent::Timer { seat, life, id });
            }
            MachineEffect::Change(change) => {
                self.watch(seat, |cluster, scene| cluster.writes(scene, &change));
                if self.seats[seat].change(&change).is_err() {
                    self.fail_disk(seat);
                    return;
                }
                self.die_if_due(seat, Point::Change(self.seats[seat].steps.changes));
                self.perhaps_die(seat, self.conditions.dies_after_write_ppm, Class::CrashAtWrite);
            }
            MachineEffect::Sync { request, mark } => {
                self.seats[seat].sync_next = Some((request, mark));
                self.begin_next_sync(seat);
            }
            MachineEffect::Work => {
                if self.seats[seat].at_work {
                    self.seats[seat].work_waits = true;
                } else {
                    self.begin_work(seat);
                }
            }
            MachineEffect::Begin(job) => {
                // What a start applies again is much, and would be slow for minutes.
                let backlog = self.seats[seat].busy_until.saturating_sub(self.now);
                let slow = self.seats[seat].slow.filter(|_| backlog < SLOW_BACKLOG);
                if slow.is_some() {
                    self.fired.note(Class::SlowApply);
                }
                let took = self.disk_dice.within(slow.unwrap_or(self.conditions.job));
                let place = &mut self.seats[seat];
                place.busy_until = place.busy_until.max(self.now) + took;
                let (at, life) = (place.busy_until, place.life);
                self.agenda.plan(at, SimulatorEvent::Done { seat, life, job });
            }
            MachineEffect::Halt(reason) => self.halt(seat, &reason),
        }
    }

    /// Lets a word out, now or when the log is durable as far as it asks.
    fn speak(&mut self, seat: usize, after: DurableMark, word: HeldMessage<C::Server>) {
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

    fn let_out(&mut self, seat: usize, word: HeldMessage<C::Server>) {
        match word {
            HeldMessage::Tell(report) => self.tell(seat, report),
            HeldMessage::Send(to, frame) => {
                for receiver in 0..self.seats.len() {
                    if self.is_for(seat, receiver, to) && !self.is_apart(seat, receiver) {
                        self.send(seat, receiver, &frame);
                    }
                    if self.seats[seat].server.is_none() {
                        return;
                    }
                }
            }
        }
    }

    fn is_for(&self, from: usize, receiver: usize, to: FrameRecipients<PeerOf<C>>) -> bool {
        receiver != from
            && match to {
                FrameRecipients::All => true,
                FrameRecipients::One(name) => self.cluster.peer(receiver) == name,
            }
    }

    fn tell(&mut self, seat: usize, report: ReportOf<C>) {
        self.trace.note(self.now, seat, "tells", &[]);
        self.watch(seat, |cluster, scene| cluster.told(scene, report));
    }

    fn send(&mut self, from: usize, to: usize, frame: &FrameOf<C>) {
        let frames = self.watch(from, |cluster, scene| cluster.leaves(scene, to, frame));
        for frame in frames {
            for delay in self.network.deliver(self.now, from, to) {
                let event = SimulatorEvent::Frame { to, from, frame: frame.clone() };
                self.agenda.plan(self.now + delay, event);
            }
        }
        self.seats[from].steps.sends += 1;
        self.die_if_due(from, Point::Send(self.seats[from].steps.sends));
        self.perhaps_die(from, self.conditions.dies_after_send_ppm, Class::CrashAtSend);
        // What was ordered because of this frame comes before the next one.
        self.carry_out_orders();
    }

    pub(crate) fn die_if_due(&mut self, seat: usize, point: Point) {
        let due = |crash: &crate::crash::CrashPoint| crash.seat == seat && crash.point == point;
        if self.seats[seat].server.is_some()
            && let Some(crash) = self.crash_point.take_if(|crash| due(crash))
        {
            self.crash(seat, crash.tail, Some(crash.down));
        }
    }

    fn perhaps_die(&mut self, seat: usize, ppm: u32, class: Class) {
        if self.seats[seat].server.is_none() || !self.death_dice.happens(ppm) {
            return;
        }
        self.die(seat, class);
    }

    pub(crate) fn die(&mut self, seat: usize, class: Class) {
        let (tail, down) = self.conditions.death(&mut self.death_dice);
        self.fired.note(class);
        self.crash(seat, tail, Some(down));
    }
}
