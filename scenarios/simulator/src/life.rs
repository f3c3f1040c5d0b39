//! How processes come and go in a world, and who notices.

use std::any::Any;
use std::time::Duration;

use metatopia_store::memory;

use crate::class::Class;
use crate::cluster::{Cluster, ClusterOrder, PeerOf};
use crate::crash::UnsyncedWrites;
use crate::machine::MachineInput;
use crate::seat::Life;
use crate::world::{Simulator, SimulatorEvent};

/// How long a machine is away that is started anew.
const REBOOT: Duration = Duration::from_millis(50);

impl<C: Cluster> Simulator<C> {
    pub(crate) fn obey(&mut self, order: ClusterOrder) {
        self.trace.note(self.now, 0, "order", &[]);
        self.trace.write(self.now, 0, || format!("== {order:?}"));
        match order {
            ClusterOrder::Start(seat) => {
                self.seats[seat].wanted = true;
                if self.seats[seat].server.is_none() {
                    self.open(seat);
                }
            }
            ClusterOrder::Retry(seat) if self.seats[seat].wanted => {
                self.obey(ClusterOrder::Start(seat))
            }
            // Somebody stopped it meanwhile: its disk may be gone.
            ClusterOrder::Retry(_) => {}
            ClusterOrder::Crash { seat, tail, down } => {
                self.fired.note(Class::Crash);
                self.crash(seat, tail, Some(down));
            }
            ClusterOrder::PowerLoss { tail, down, stagger } => {
                self.fired.note(Class::PowerLoss);
                for seat in 0..self.seats.len() {
                    let wait = stagger.saturating_mul(u32::try_from(seat).unwrap_or(u32::MAX));
                    self.crash(seat, tail, Some(down.saturating_add(wait)));
                }
            }
            ClusterOrder::Kill(seat) => self.crash(seat, UnsyncedWrites::Lost, None),
            ClusterOrder::Reboot(seat) => self.reboot(seat),
            ClusterOrder::Cut(from, to) => self.network.cut(from, to, Class::OneWay),
            ClusterOrder::Split(group) => {
                self.network.split(&group, self.seats.len(), Class::Split)
            }
            ClusterOrder::SplitFor(class, group) => {
                self.network.split(&group, self.seats.len(), class)
            }
            ClusterOrder::Mend(class) => self.network.mend(class),
            ClusterOrder::Reconnect { seat, from, to } => self.reconnect(seat, from, to),
            ClusterOrder::Heal => self.network.heal(),
            ClusterOrder::Clog(from, to, span) => self.network.clog(from, to, self.now + span),
            ClusterOrder::Links(links) => self.network.set_links(links),
            ClusterOrder::SetClock(seat, ms) => {
                self.fired.note(Class::ClockJump);
                self.clocks[seat].jump(ms);
            }
            ClusterOrder::Pause(seat, span) => self.pause(seat, span),
            ClusterOrder::Slow(seat, span) => self.seats[seat].slow = span,
            ClusterOrder::DiskFull(seat, room) => {
                let disk = &mut self.seats[seat].disk;
                let files = disk.files();
                let lengths = files.iter().filter_map(|file| disk.bytes(*file));
                let used: u64 = lengths.map(|bytes| bytes.len() as u64).sum();
                disk.limit_capacity(Some(used.saturating_add(room)));
                self.seats[seat].disk_trouble = Some(Class::DiskFull);
            }
            ClusterOrder::DiskFails(seat, number) => {
                let disk = &mut self.seats[seat].disk;
                let at = disk.operations().saturating_add(number);
                disk.fail_operation(at, memory::DiskFault::Fail);
                self.seats[seat].disk_trouble = Some(Class::IoError);
            }
            ClusterOrder::DiskMends(seat) => self.mend_disk(seat),
        }
    }

    fn pause(&mut self, seat: usize, span: Duration) {
        if self.seats[seat].server.is_some() {
            self.fired.note(Class::Pause);
            self.seats[seat].paused_until = self.now.saturating_add(span);
        }
    }

    /// The disk of this seat works again, and has room.
    pub(crate) fn mend_disk(&mut self, seat: usize) {
        let place = &mut self.seats[seat];
        place.disk.limit_capacity(None);
        place.disk.forget_faults();
        place.disk_trouble = None;
    }

    /// A change or a sync failed: the process must stop, for nobody knows what is on the disk.
    pub(crate) fn fail_disk(&mut self, seat: usize) {
        self.note_disk_trouble(seat);
        self.reboot(seat);
    }

    pub(crate) fn note_disk_trouble(&mut self, seat: usize) {
        self.fired.note(self.seats[seat].disk_trouble.unwrap_or(Class::IoError));
    }

    /// Kills the process in `seat`. It starts again after `down`, or stays away.
    pub(crate) fn crash(&mut self, seat: usize, tail: UnsyncedWrites, down: Option<Duration>) {
        if down.is_none() {
            self.seats[seat].wanted = false;
        }
        if self.seats[seat].server.is_none() {
            return;
        }
        self.crashes += 1;
        self.trace.note(self.now, seat, "crash", &[]);
        self.trace.write(self.now, seat, || format!("dies, tail {tail:?}, back after {down:?}"));
        self.watch(seat, |cluster, scene| cluster.died(scene));
        self.announce(seat, false);
        self.seats[seat].server = None;
        self.note_tail(seat, tail);
        tail.befall(&mut self.seats[seat].disk, &mut self.disk_dice);
        if let Some(down) = down {
            self.plan(self.now.saturating_add(down), ClusterOrder::Start(seat));
        }
    }

    pub(crate) fn note_tail(&mut self, seat: usize, tail: UnsyncedWrites) {
        let unsynced = self.seats[seat].has_unsynced();
        match tail {
            UnsyncedWrites::Lost if unsynced => self.fired.note(Class::LostTail),
            UnsyncedWrites::Torn if unsynced => self.fired.note(Class::TornTail),
            _ => {}
        }
    }

    /// Takes the machine down, and up again at once. So it must after a failed sync: nobody knows what is on
    /// the disk.
    pub(crate) fn reboot(&mut self, seat: usize) {
        self.crash(seat, UnsyncedWrites::Torn, Some(REBOOT));
    }

    pub(crate) fn halt(&mut self, seat: usize, reason: &str) {
        self.trace.note(self.now, seat, "halt", reason.as_bytes());
        self.trace.write(self.now, seat, || format!("halts: {reason}"));
        self.watch(seat, |cluster, scene| cluster.halted(scene, reason));
        self.seats[seat].wanted = false;
        if self.seats[seat].server.is_some() {
            self.announce(seat, false);
            self.seats[seat].server = None;
        }
    }

    /// Has others notice after a while that the server in `seat` came or went, and has it notice them.
    pub(crate) fn announce(&mut self, seat: usize, up: bool) {
        if !self.conditions.notices {
            return;
        }
        let life = self.seats[seat].life;
        for other in 0..self.seats.len() {
            if other == seat || self.seats[other].server.is_none() || self.is_apart(seat, other) {
                continue;
            }
            let delay = self.network.delay();
            self.agenda.plan(
                self.now + delay,
                SimulatorEvent::Notice { seat: other, peer: seat, life, up },
            );
            if up {
                let life = self.seats[other].life;
                let notice = SimulatorEvent::Notice { seat, peer: other, life, up };
                self.agenda.plan(self.now + delay, notice);
            }
        }
    }

    pub(crate) fn notice(&mut self, seat: usize, peer: usize, life: Life, up: bool) {
        // News of an earlier life that took longer than news of a later one is no news.
        if self.seats[seat].server.is_none() || self.seats[peer].life != life {
            return;
        }
        if self.is_apart(seat, peer) {
            return;
        }
        if up && self.seats[peer].server.is_none() {
            return;
        }
        self.trace.note(self.now, seat, if up { "peer up" } else { "peer down" }, &[]);
        self.trace
            .write(self.now, seat, || format!("peer {peer} {}", if up { "up" } else { "down" }));
        let name: PeerOf<C> = self.cluster.peer(peer);
        self.hand(seat, if up { MachineInput::PeerUp(name) } else { MachineInput::PeerDown(name) });
    }
}

/// Two processes of one name: others are connected with one of them.
impl<C: Cluster> Simulator<C> {
    /// Keeps these two from connecting. To the first, the name of the second is that of another process.
    pub fn keep_apart(&mut self, one: usize, other: usize) {
        self.apart.insert((one.min(other), one.max(other)));
    }

    pub(crate) fn is_apart(&self, one: usize, other: usize) -> bool {
        !self.apart.is_empty() && self.apart.contains(&(one.min(other), one.max(other)))
    }

    fn reconnect(&mut self, seat: usize, from: usize, to: usize) {
        if !self.apart.remove(&(seat.min(to), seat.max(to))) {
            return;
        }
        self.keep_apart(seat, from);
        for (seat, peer) in [(from, seat), (to, seat), (seat, to)] {
            self.agenda.plan(self.now, SimulatorEvent::Moved { seat, peer });
        }
    }

    /// The name of a peer leads to another process than before, or to none.
    pub(crate) fn moved(&mut self, seat: usize, peer: usize) {
        let name = |world: &Self| world.cluster.peer(peer);
        self.trace.note(self.now, seat, "peer moved", &[]);
        self.trace.write(self.now, seat, || format!("peer {peer} is another process"));
        self.hand(seat, MachineInput::PeerDown(name(self)));
        if self.seats[peer].server.is_some() && !self.is_apart(seat, peer) {
            self.hand(seat, MachineInput::PeerUp(name(self)));
        }
    }
}

/// Returns what a server said when it failed an assertion.
pub(crate) fn panicked(cause: &(dyn Any + Send)) -> String {
    let text = cause.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| cause.downcast_ref::<&str>().copied());
    format!("panicked: {}", text.unwrap_or("without a word"))
}
