//! What a seed stands for: which faults there are, how strong, and when.

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use metatopia_replica::BEHIND_TURNS;
use metatopia_replica::keeper::HISTORY_TURNS;
use metatopia_types::Height;

use super::ground;
use crate::chance::{Dice, Span};
use crate::class::{Class, Level};
use crate::cluster::ClusterOrder;
use crate::course::SeedRun;
use crate::replica::partings::scheme;
use crate::replica::{BadInvite, Flip, ReplicaSetting};
use crate::signatures::SignatureKind;
use crate::villain::ByzantineBehaviour;
use crate::weather::{FaultPlan, FaultPlanDraft, PlannedFault};

/// Seats for servers that the admin adds.
const JOINERS: usize = 1;

/// Two nodes come by an invite, instead of one, in one of so many worlds.
const TWO_INVITED_EVERY: u64 = 4;

/// After so many turns one server goes on from a snapshot of its state.
const RESTORE_EVERY: u64 = 25;

/// Links between servers carry streams, in which a frame that is lost or late holds up all others,
/// or ends the stream: that is so much rarer than for single frames.
const RARER: u32 = 200;

/// In one of so many seeds every server calculates every turn for itself.
const APART_EVERY: u64 = 4;

/// In one of so many seeds a crowd of fresh keys comes once the faults are over.
const CROWD_EVERY: u64 = 3;

/// Avatars that have room where a crowd comes. Three quarters are for newcomers, and eleven people
/// behave.
const NARROW: u32 = 16;

/// How long the second machine of a server takes to start, before anybody is connected with it.
const STARTS: Duration = Duration::from_millis(50);

/// Turns a second when nothing holds them up.
const TURNS_PER_SECOND: u64 = 20;

/// What a seed stands for where whole servers are played.
pub type ReplicaPlan = FaultPlan<FairPlan>;

/// What it stands for there only: who is at the fair, and how servers keep the past.
#[derive(Debug, Clone)]
pub struct FairPlan {
    /// Seats of the founders and of servers that the admin adds; the latter are empty to begin with.
    pub seats: usize,
    /// So many seats after them are for nodes that come by an invite.
    pub invited: usize,
    /// The server that runs twice: the last seat of all is for its copy.
    pub twin: Option<usize>,
    /// The kind of signatures in it.
    pub scheme: SignatureKind,
    /// Turns between snapshots.
    pub snapshot_turns: u64,
    /// Turns that servers keep below the older snapshot.
    pub history_turns: u64,
    /// Does the first server keep all of them?
    pub archive: bool,
    /// Turns behind the others from which on a server fetches a state.
    pub behind_turns: u64,
    /// Does every server calculate every turn for itself?
    pub apart: bool,
    /// Does a crowd of fresh keys take the seats in the calm, while stewards log in?
    pub crowd: bool,
    /// Servers that lie to the others, and how.
    pub liars: Vec<(usize, ByzantineBehaviour)>,
    /// Bits that flip in memory.
    pub flips: Vec<Flip>,
}

impl FairPlan {
    /// Seats of nodes that come by an invite.
    pub(super) const fn invited(&self) -> std::ops::Range<usize> {
        self.seats..self.seats + self.invited
    }
}

impl ReplicaPlan {
    /// Draws the plan of a run.
    #[must_use]
    pub fn draw(course: &SeedRun) -> Self {
        let seed = course.seed;
        let mut dice = Dice::new(seed.number, "swarm of replicas");
        let founders = dice.pick(&[4, 4, 4, 4, 4, 5, 7]);
        let snapshot_turns = dice.pick(&[20, 50, 200]);
        let history_turns = dice.pick(&[HISTORY_TURNS, 20, 60]);
        let mut draft = FaultPlanDraft::new(Level::Whole, course, founders);
        let mut conditions = draft.conditions();
        // Lanes are built by who is told that a server came or went.
        conditions.notices = true;
        conditions.links.loss_ppm /= RARER;
        conditions.links.straggler_ppm /= RARER;
        // The first server may keep all history.
        let changes = draft.changes(JOINERS, 1..founders - draft.lying());
        let seats = if changes { founders + JOINERS } else { founders };
        let invited = draft.invited(seats);
        let (mut liars, mut twin) = (Vec::new(), None);
        for (seat, class, mut dice) in draft.liars() {
            if Class::TWINS.contains(&class) {
                twin = Some(seat);
            } else {
                liars.push((seat, dice.pick(&ByzantineBehaviour::of(class))));
            }
        }
        if let Some(twin) = twin {
            let from = draft.copied(seats + invited);
            draft.connections(twin, seats + invited, from);
        }
        let archive = Dice::new(seed.number, "archive").below(3) != 0;
        let apart = Dice::new(seed.number, "shared work").below(APART_EVERY) == 0;
        let crowd = Dice::new(seed.number, "crowd").below(CROWD_EVERY) == 0;
        // Nobody fetches a state who can have the turns of all others.
        let lost = history_turns < HISTORY_TURNS && !archive;
        let behind_turns = if lost || draft.on.contains(&Class::Joiner) {
            history_turns.min(60) + snapshot_turns / 2
        } else {
            BEHIND_TURNS
        };
        let spare = (founders - 1) / 3 > draft.lying();
        let flips = if spare { draft.flips() } else { Vec::new() };
        draft.intruders();
        draft.bad_invites();
        draft.draw();
        let own = FairPlan {
            seats,
            invited,
            twin,
            scheme: scheme(seed.number),
            snapshot_turns,
            history_turns,
            archive,
            behind_turns,
            apart: apart || course.apart,
            crowd,
            liars,
            flips,
        };
        draft.plan(course, conditions, own)
    }

    /// The sim that is played.
    pub(super) fn setting(&self) -> ReplicaSetting {
        let (place, seed) = (ground::place(&self.classes), self.seed.number);
        let FairPlan { scheme, seats, ref liars, ref flips, .. } = self.own;
        let mut setting = if self.own.crowd {
            ReplicaSetting::narrow(&place, scheme, (self.founders, seats), seed, NARROW)
        } else {
            ReplicaSetting::new(&place, scheme, self.founders, seats, seed)
        };
        setting.liars.clone_from(liars);
        let own = &mut setting.own;
        own.snapshot_turns = self.own.snapshot_turns;
        own.history_turns = self.own.history_turns;
        own.archive = self.own.archive;
        own.behind_turns = self.own.behind_turns;
        own.restore_every = Some(RESTORE_EVERY);
        own.flips.clone_from(flips);
        if !self.own.apart {
            setting.share_work();
        }
        (0..self.own.invited).for_each(|_| {
            setting.add_seat();
        });
        let later = self.classes.contains(&Class::CopiedDisk);
        let add = if later { ReplicaSetting::add_later_copy } else { ReplicaSetting::add_copy };
        self.own.twin.map(|twin| add(&mut setting, twin));
        setting
    }
}

impl FaultPlanDraft {
    /// Plans who comes by an invite, and who of them shall vote later. Returns how many there are.
    fn invited(&mut self, first: usize) -> usize {
        let Some(mut dice) = self.dice(Class::Invited) else {
            return 0;
        };
        let count = if dice.below(TWO_INVITED_EVERY) == 0 { 2 } else { 1 };
        for seat in first..first + count {
            let at = self.until * (2 + dice.index(5) as u32) / 10;
            self.moments.push((at, PlannedFault::Join(seat)));
            let (votes, later) = (dice.below(2) == 0, at + dice.within(Span::ms(2_000, 12_000)));
            if votes && self.on.contains(&Class::SetChange) && later < self.until {
                self.moments.push((later, PlannedFault::Promote(seat)));
            }
        }
        count
    }

    /// Returns how many servers do what they want.
    fn lying(&self) -> usize {
        Class::LIARS.iter().filter(|class| self.on.contains(class)).count()
    }

    /// Plans when somebody copies the disk of the server that runs twice to its second machine, if that
    /// machine does not run from the start. Returns from when on there are two.
    fn copied(&mut self, copy: usize) -> Duration {
        let Some(mut dice) = self.dice(Class::CopiedDisk) else { return Duration::ZERO };
        let at = self.until * (1 + dice.index(5) as u32) / 8;
        self.moments.push((at, PlannedFault::CopyDisk(copy)));
        at + STARTS
    }

    /// Plans who is connected with which of the two processes of a server from a moment on, and when that
    /// changes.
    fn connections(&mut self, twin: usize, copy: usize, from: Duration) {
        let twice = Class::TWINS.iter().find_map(|class| self.dice(*class));
        let Some(mut dice) = twice else { return };
        let others: Vec<usize> = (0..copy).filter(|seat| *seat != twin).collect();
        let mut with_copy: BTreeSet<usize> = BTreeSet::new();
        let mut move_one = |orders: &mut Vec<_>, at, seat: usize| {
            let with_it = !with_copy.remove(&seat) && with_copy.insert(seat);
            let (from, to) = if with_it { (twin, copy) } else { (copy, twin) };
            orders.push((at, ClusterOrder::Reconnect { seat, from, to }));
        };
        for seat in &others {
            if dice.below(2) == 0 {
                move_one(&mut self.orders, from, *seat);
            }
        }
        for at in self.times(&mut dice, Span::ms(500, 8_000)).into_iter().filter(|at| *at >= from) {
            move_one(&mut self.orders, at, dice.pick(&others));
        }
    }

    /// Draws whose memory is bad: at most one server's, in some runs.
    fn flips(&self) -> Vec<Flip> {
        let Some(mut dice) = self.dice(Class::MemoryFlip) else {
            return Vec::new();
        };
        let seat = dice.index(self.founders - self.lying());
        let turns = self.until.as_secs().saturating_mul(TURNS_PER_SECOND);
        let heights = (0..1 + dice.below(3)).map(|_| Height(20 + dice.below(turns.max(1))));
        heights.map(|height| Flip { seat, height, lasting: false }).collect()
    }

    fn bad_invites(&mut self) {
        let Some(mut dice) = self.dice(Class::BadInvite) else { return };
        for at in self.times(&mut dice, Span::ms(1_000, 12_000)) {
            let (bad, seat) = (dice.pick(&BadInvite::ALL), dice.index(self.founders));
            self.moments.push((at, PlannedFault::BadInvite(bad, seat)));
        }
    }

    fn intruders(&mut self) {
        for class in Class::CLIENTS {
            let Some(mut dice) = self.dice(*class) else { continue };
            for at in self.times(&mut dice, Span::ms(500, 20_000)) {
                self.moments.push((at, PlannedFault::Intrude(*class, dice.index(self.founders))));
            }
        }
    }
}

impl fmt::Display for ReplicaPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FairPlan { seats, invited, .. } = self.own;
        writeln!(f, "servers      {}, in {seats} seats", self.founders)?;
        writeln!(f, "invited      {invited}, in the seats after them")?;
        writeln!(f, "snapshots    every {} turns", self.own.snapshot_turns)?;
        let archive = if self.own.archive { ", all of it at the first server" } else { "" };
        writeln!(f, "history      {} turns below the older one{archive}", self.own.history_turns)?;
        writeln!(f, "fetches      a state from {} turns behind on", self.own.behind_turns)?;
        let whose =
            if self.own.apart { "every server for itself" } else { "once for all who agree" };
        writeln!(f, "calculates   {whose}")?;
        let crowd = if self.own.crowd { "takes the seats in the calm" } else { "none" };
        writeln!(f, "crowd        {crowd}")?;
        writeln!(f, "signatures   {:?}", self.own.scheme)?;
        writeln!(f, "liars        {:?}", self.own.liars)?;
        writeln!(f, "runs twice   {:?}", self.own.twin)?;
        writeln!(f, "flips        {:?}", self.own.flips)?;
        self.write(f)
    }
}
