//! What a seed stands for: which faults there are, how strong, and when.

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use metatopia_replica::BEHIND_TURNS;
use metatopia_replica::keeper::HISTORY_TURNS;
use metatopia_types::Height;

use super::ground;
use crate::agreement::{ByzantineBehaviour, Seed, SignatureKind};
use crate::chance::{Dice, Span};
use crate::class::{Class, Level};
use crate::cluster::ClusterOrder;
use crate::conditions::Conditions;
use crate::course::SeedRun;
use crate::replica::partings::scheme;
use crate::replica::{BadInvite, Flip, ReplicaSetting};
use crate::storm::Storm;
use crate::weather::{FaultPlanDraft, PlannedFault};

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

/// See the module.
#[derive(Debug, Clone)]
pub struct ReplicaPlan {
    /// Classes of faults that may happen.
    pub classes: BTreeSet<Class>,
    /// Where all dice come from.
    pub seed: Seed,
    /// Servers that vote at genesis.
    pub founders: usize,
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
    /// Links, disks and clocks.
    pub conditions: Conditions,
    /// Servers that lie to the others, and how.
    pub liars: Vec<(usize, ByzantineBehaviour)>,
    /// Bits that flip in memory.
    pub flips: Vec<Flip>,
    /// Trouble whose victims are drawn, by time.
    pub orders: Vec<(Duration, ClusterOrder)>,
    /// The other trouble, by time.
    pub moments: Vec<(Duration, PlannedFault)>,
    /// Faults begin here.
    pub from: Duration,
    /// Faults stop here.
    pub calm_from: Duration,
    /// The run ends here.
    pub end: Duration,
}

impl ReplicaPlan {
    /// What a course stands for.
    #[must_use]
    pub fn draw(course: &SeedRun) -> Self {
        let seed = course.seed;
        let mut dice = Dice::new(seed.number, "swarm of replicas");
        let founders = dice.pick(&[4, 4, 4, 4, 4, 5, 7]);
        let snapshot_turns = dice.pick(&[20, 50, 200]);
        let history_turns = dice.pick(&[HISTORY_TURNS, 20, 60]);
        let until = SeedRun::new(seed, course.span).calm_from();
        let mut draft =
            FaultPlanDraft::new(Level::Whole, seed.number, founders, until, &course.without);
        let mut conditions = draft.conditions();
        // Lanes are built by who is told that a server came or went.
        conditions.notices = true;
        conditions.links.loss_ppm /= RARER;
        conditions.links.straggler_ppm /= RARER;
        let seats = draft.members();
        let invited = draft.invited(seats);
        let (liars, twin) = draft.liars();
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
        let (from, calm_from, end) = (course.from, course.calm_from(), course.span);
        draft.narrow(from, calm_from);
        let FaultPlanDraft { on: classes, orders, moments, .. } = draft;
        let scheme = scheme(seed.number);
        Self {
            classes,
            seed,
            founders,
            seats,
            invited,
            twin,
            scheme,
            snapshot_turns,
            history_turns,
            archive,
            behind_turns,
            apart: apart || course.apart,
            crowd,
            conditions,
            liars,
            flips,
            orders,
            moments,
            from,
            calm_from,
            end,
        }
    }

    /// All its trouble.
    pub(super) fn storm(&self) -> Storm {
        let (conditions, moments) = (self.conditions.clone(), self.moments.clone());
        Storm { conditions, moments, from: self.from, until: self.calm_from }
    }

    /// The sim that is played.
    pub(super) fn setting(&self) -> ReplicaSetting {
        let place = ground::place(&self.classes);
        let Self { scheme, founders, seats, seed, .. } = *self;
        let mut setting = if self.crowd {
            ReplicaSetting::narrow(&place, scheme, (founders, seats), seed.number, NARROW)
        } else {
            ReplicaSetting::new(&place, scheme, founders, seats, seed.number)
        };
        setting.snapshot_turns = self.snapshot_turns;
        setting.history_turns = self.history_turns;
        setting.archive = self.archive;
        setting.behind_turns = self.behind_turns;
        if !self.apart {
            setting.share_work();
        }
        setting.restore_every = Some(RESTORE_EVERY);
        setting.liars = self.liars.clone();
        setting.flips = self.flips.clone();
        (0..self.invited).for_each(|_| {
            setting.add_seat();
        });
        let later = self.classes.contains(&Class::CopiedDisk);
        let add = if later { ReplicaSetting::add_later_copy } else { ReplicaSetting::add_copy };
        self.twin.map(|twin| add(&mut setting, twin));
        setting
    }

    /// Seats of nodes that come by an invite.
    pub(super) const fn invited(&self) -> std::ops::Range<usize> {
        self.seats..self.seats + self.invited
    }
}

impl FaultPlanDraft {
    /// Who joins and who leaves. Returns how many seats there are.
    fn members(&mut self) -> usize {
        let founders = self.founders;
        let Some(mut dice) = self.dice(Class::SetChange) else {
            return founders;
        };
        let mut at = dice.within(Span::ms(1_000, 10_000));
        for seat in founders..founders + JOINERS {
            self.moments.push((at, PlannedFault::Promote(seat)));
            at += dice.within(Span::ms(2_000, 12_000));
            // The first server may keep all history.
            let last = founders - self.lying();
            self.moments.push((at, PlannedFault::Remove(1 + dice.index(last - 1))));
        }
        self.moments.retain(|(at, _)| *at < self.until);
        founders + JOINERS
    }

    /// Who comes by an invite, and who of them shall vote later. Returns how many there are.
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

    /// How many servers do what they want.
    fn lying(&self) -> usize {
        Class::LIARS.iter().filter(|class| self.on.contains(class)).count()
    }

    /// Who lies, and how; and who runs twice.
    fn liars(&self) -> (Vec<(usize, ByzantineBehaviour)>, Option<usize>) {
        let mut seats = (0..self.founders).rev();
        let (mut liars, mut twin) = (Vec::new(), None);
        for class in Class::LIARS {
            let Some((mut dice, seat)) = self.dice(*class).and_then(|d| Some((d, seats.next()?)))
            else {
                continue;
            };
            let deeds: Vec<ByzantineBehaviour> = ByzantineBehaviour::ALL
                .iter()
                .copied()
                .filter(|deed| deed.class() == *class)
                .collect();
            match class {
                Class::Twin | Class::CopiedDisk => twin = Some(seat),
                _ => liars.push((seat, dice.pick(&deeds))),
            }
        }
        (liars, twin)
    }

    /// When somebody copies the disk of the server that runs twice to its second machine, if it does
    /// not do so from the start. Returns since when there are two.
    fn copied(&mut self, copy: usize) -> Duration {
        let Some(mut dice) = self.dice(Class::CopiedDisk) else { return Duration::ZERO };
        let at = self.until * (1 + dice.index(5) as u32) / 8;
        self.moments.push((at, PlannedFault::CopyDisk(copy)));
        at + STARTS
    }

    /// Who is connected with which of the two processes of a server from a moment on, and when that
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

    /// Whose memory is bad: at most one server's, now and then.
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
        let names: Vec<&str> = self.classes.iter().map(|class| class.name()).collect();
        let Self { founders, seats, invited, from, calm_from, end, .. } = self;
        writeln!(f, "servers      {founders}, in {seats} seats")?;
        writeln!(f, "invited      {invited}, in the seats after them")?;
        writeln!(f, "snapshots    every {} turns", self.snapshot_turns)?;
        let archive = if self.archive { ", all of it at the first server" } else { "" };
        writeln!(f, "history      {} turns below the older one{archive}", self.history_turns)?;
        writeln!(f, "fetches      a state from {} turns behind on", self.behind_turns)?;
        let whose = if self.apart { "every server for itself" } else { "once for all who agree" };
        writeln!(f, "calculates   {whose}")?;
        let crowd = if self.crowd { "takes the seats in the calm" } else { "none" };
        writeln!(f, "crowd        {crowd}")?;
        writeln!(f, "signatures   {:?}", self.scheme)?;
        writeln!(f, "liars        {:?}", self.liars)?;
        writeln!(f, "runs twice   {:?}", self.twin)?;
        writeln!(f, "flips        {:?}", self.flips)?;
        writeln!(
            f,
            "faults       from {from:.1?} to {calm_from:.1?}, the world ends at {end:.1?}"
        )?;
        writeln!(f, "classes      {}", names.join(" "))?;
        writeln!(f, "conditions   {:?}", self.conditions)?;
        crate::weather::write_all(f, &self.orders, &self.moments)
    }
}
