//! Trouble drawn from a seed: the same for every level that a swarm plays.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use std::time::Duration;

use crate::chance::{Dice, Span};
use crate::class::{Class, Level};
use crate::cluster::ClusterOrder;
use crate::conditions::Conditions;
use crate::course::{Seed, SeedRun};
use crate::crash::UnsyncedWrites;
use crate::replica::BadInvite;

/// An hour in milliseconds.
const HOUR_MS: i64 = 3_600_000;

/// Trouble whose moment is drawn, but whose victim depends on how the world is then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlannedFault {
    /// Whoever is to propose is cut off for a while.
    CutLeader(Duration),
    /// The power of one server fails, and what is on its disk is not what was written. The number
    /// says where.
    Damage(usize, Class, u64),
    /// A server starts from a state that others prove, and follows.
    Join(usize),
    /// A server that follows shall vote.
    Promote(usize),
    /// A member shall not vote any more.
    Remove(usize),
    /// A client that does not behave comes to a server.
    Intrude(Class, usize),
    /// Somebody comes to a server with an invite that lets nobody in.
    BadInvite(BadInvite, usize),
    /// Somebody copies the disk of a server to the machine in this seat, and starts that too.
    CopyDisk(usize),
}

/// In one of so many worlds of whole servers one of them runs twice.
const TWINS_EVERY: u64 = 8;

/// Each class with a probability of two thirds, and as many liars as the world bears, or fewer.
fn classes(level: Level, number: u64, founders: usize) -> BTreeSet<Class> {
    let drawn = |class: &Class| Dice::new(number, class.name()).below(3) != 0;
    let (liars, mut on): (Vec<Class>, BTreeSet<Class>) = {
        let whole = level == Level::Whole;
        let once = |class: &Class| !(whole && Class::TWINS.contains(class));
        let all = level.classes().filter(once).filter(drawn);
        let (liars, others): (Vec<_>, Vec<_>) = all.partition(|c| Class::LIARS.contains(c));
        (liars, others.into_iter().collect())
    };
    let mut dice = Dice::new(number, "liars");
    let most = (founders - 1) / 3;
    let count = dice.index(3 * most).min(most).min(liars.len());
    while on.iter().filter(|class| Class::LIARS.contains(class)).count() < count {
        on.insert(dice.pick(&liars));
    }
    if level == Level::Whole {
        double_one(&mut on, number, most);
    }
    on
}

/// Adds a whole server that runs twice to some worlds. Such servers came later than other liars, so they
/// throw dice of their own, and take the place of one liar if the world bears no more. That way all other
/// worlds are what they were. Half of these servers run twice from the start, the others from when somebody
/// copied a disk.
fn double_one(on: &mut BTreeSet<Class>, number: u64, most: usize) {
    let mut dice = Dice::new(number, Class::Twin.name());
    if most == 0 || dice.below(TWINS_EVERY) != 0 {
        return;
    }
    let liars: Vec<Class> = on.iter().filter(|c| Class::LIARS.contains(c)).copied().collect();
    if liars.len() >= most {
        on.remove(&dice.pick(&liars));
    }
    on.insert(dice.pick(Class::TWINS));
}

/// What a seed stands for: which faults there are, how strong, and when. `T` is what only the level has.
#[derive(Debug, Clone)]
pub struct FaultPlan<T> {
    /// Where all dice come from.
    pub seed: Seed,
    /// Classes of faults that may happen.
    pub classes: BTreeSet<Class>,
    /// Servers that vote at genesis.
    pub founders: usize,
    /// Links, disks and clocks.
    pub conditions: Conditions,
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
    /// What else the seed stands for.
    pub own: T,
}

impl<T> FaultPlan<T> {
    /// Writes down what every level has.
    pub(crate) fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { from, calm_from, end, conditions, orders, moments, .. } = self;
        let names: Vec<&str> = self.classes.iter().map(|class| class.name()).collect();
        writeln!(
            f,
            "faults       from {from:.1?} to {calm_from:.1?}, the world ends at {end:.1?}"
        )?;
        writeln!(f, "classes      {}", names.join(" "))?;
        writeln!(f, "conditions   {conditions:?}")?;
        let orders = orders.iter().map(|(at, order)| (*at, format!("{order:?}")));
        let moments = moments.iter().map(|(at, moment)| (*at, format!("{moment:?}")));
        let mut all: Vec<_> = orders.chain(moments).collect();
        all.sort();
        for (at, what) in all {
            writeln!(f, "{at:>12.3?}  {what}")?;
        }
        Ok(())
    }
}

/// A plan in the making. Each class throws dice of its own: without one, the others stay the same.
#[derive(Debug)]
pub(crate) struct FaultPlanDraft {
    pub(crate) on: BTreeSet<Class>,
    number: u64,
    pub(crate) founders: usize,
    pub(crate) until: Duration,
    pub(crate) orders: Vec<(Duration, ClusterOrder)>,
    pub(crate) moments: Vec<(Duration, PlannedFault)>,
}

impl FaultPlanDraft {
    /// Returns what a seed stands for, without what is left out. All trouble is over when the faults of its
    /// whole world are.
    pub(crate) fn new(level: Level, course: &SeedRun, founders: usize) -> Self {
        let number = course.seed.number;
        let until = SeedRun::new(course.seed, course.span).calm_from();
        let mut on = classes(level, number, founders);
        on.retain(|class| !course.without.contains(class));
        Self { on, number, founders, until, orders: Vec::new(), moments: Vec::new() }
    }

    /// Draws all trouble that is the same at every level.
    pub(crate) fn draw(&mut self) {
        self.cuts();
        self.deaths();
        self.disks();
        self.clocks_and_machines();
    }

    /// Returns the plan, with nothing but what is to happen between the beginning and the end of the
    /// faults of a course, in order. A pause and a clog end with them: nobody could end them in the calm.
    pub(crate) fn plan<T>(self, course: &SeedRun, conditions: Conditions, own: T) -> FaultPlan<T> {
        let Self { on: classes, founders, mut orders, mut moments, .. } = self;
        let (from, until) = (course.from, course.calm_from());
        orders.retain(|(at, _)| (from..until).contains(at));
        for (at, order) in &mut orders {
            if let ClusterOrder::Pause(_, span) | ClusterOrder::Clog(_, _, span) = order {
                *span = (*span).min(until - *at);
            }
        }
        orders.sort_by_key(|(at, _)| *at);
        moments.retain(|(at, _)| (from..until).contains(at));
        moments.sort_by_key(|(at, _)| *at);
        let (seed, calm_from, end) = (course.seed, until, course.span);
        FaultPlan {
            seed,
            classes,
            founders,
            conditions,
            orders,
            moments,
            from,
            calm_from,
            end,
            own,
        }
    }

    /// The dice of a class, if it is on.
    pub(crate) fn dice(&self, class: Class) -> Option<Dice> {
        let concern = format!("{class} in detail");
        self.on.contains(&class).then(|| Dice::new(self.number, &concern))
    }

    /// Moments that are `every` apart, up to the end of all faults.
    pub(crate) fn times(&self, dice: &mut Dice, every: Span) -> Vec<Duration> {
        let mut at = dice.within(every);
        let mut times = Vec::new();
        while at < self.until {
            times.push(at);
            at += dice.within(every);
        }
        times
    }

    /// Returns who does not do what it should, and how, with the dice of that: the last founders, because
    /// nobody else depends on where they sit.
    pub(crate) fn liars(&self) -> Vec<(usize, Class, Dice)> {
        let drawn = Class::LIARS.iter().filter_map(|class| Some((*class, self.dice(*class)?)));
        let seats = (0..self.founders).rev();
        seats.zip(drawn).map(|(seat, (class, dice))| (seat, class, dice)).collect()
    }

    /// Draws when servers in so many seats after the founders shall vote, and when one of `leavers` shall
    /// not vote any more after each. Returns whether members change at all.
    pub(crate) fn changes(&mut self, joiners: usize, leavers: Range<usize>) -> bool {
        let Some(mut dice) = self.dice(Class::SetChange) else {
            return false;
        };
        let mut at = dice.within(Span::ms(1_000, 10_000));
        for seat in self.founders..self.founders + joiners {
            self.moments.push((at, PlannedFault::Promote(seat)));
            at += dice.within(Span::ms(2_000, 12_000));
            let leaver = leavers.start + dice.index(leavers.len());
            self.moments.push((at, PlannedFault::Remove(leaver)));
            at += dice.within(Span::ms(2_000, 12_000));
        }
        self.moments.retain(|(at, _)| *at < self.until);
        true
    }

    pub(crate) fn conditions(&self) -> Conditions {
        let mut conditions = Conditions::calm(5);
        let mut base = Dice::new(self.number, "conditions");
        conditions.sync = Span::ms(0, base.below(8));
        conditions.job = Span::ms(0, base.below(10));
        conditions.notices = base.below(2) == 0;
        conditions.down = Span::ms(0, base.pick(&[200, 1_000, 5_000]));
        let links = &mut conditions.links;
        links.in_order = !self.on.contains(&Class::Reorder);
        if let Some(mut dice) = self.dice(Class::Delay) {
            links.delay = Span::ms(1, 5 + dice.below(96));
            links.straggler_ppm = dice.below(20_000) as u32;
            links.straggle = Span::ms(50, 800);
        } else if !links.in_order {
            links.delay = Span::ms(1, 8);
        }
        if let Some(mut dice) = self.dice(Class::Drop) {
            links.loss_ppm = dice.below(300_000) as u32;
        }
        if let Some(mut dice) = self.dice(Class::Duplicate) {
            links.duplicate_ppm = dice.below(500_000) as u32;
        }
        if let Some(mut dice) = self.dice(Class::CrashAtWrite) {
            conditions.dies_after_write_ppm = dice.pick(&[50, 200, 600]);
        }
        if let Some(mut dice) = self.dice(Class::CrashAtSend) {
            conditions.dies_after_send_ppm = dice.pick(&[50, 200, 600]);
        }
        if let Some(mut dice) = self.dice(Class::CrashAtStart) {
            conditions.dies_at_start_ppm = dice.pick(&[50_000, 200_000, 600_000]);
        }
        if let Some(mut dice) = self.dice(Class::ClockRate) {
            let mut rate = || i32::try_from(dice.below(200_001)).unwrap_or(0) - 100_000;
            conditions.clocks = (0..self.founders).map(|_| (0, rate())).collect();
        }
        conditions.tails = self.tails();
        conditions
    }

    /// Returns what may become of unsynced bytes.
    fn tails(&self) -> Vec<UnsyncedWrites> {
        let mut tails = vec![UnsyncedWrites::Kept];
        tails.extend(self.on.contains(&Class::LostTail).then_some(UnsyncedWrites::Lost));
        tails.extend(self.on.contains(&Class::TornTail).then_some(UnsyncedWrites::Torn));
        tails
    }

    fn cuts(&mut self) {
        let seats = self.founders;
        for class in [Class::Split, Class::OneWay] {
            let Some(mut dice) = self.dice(class) else { continue };
            for at in self.times(&mut dice, Span::ms(1_000, 20_000)) {
                let order = if class == Class::Split {
                    let group = (0..seats).filter(|_| dice.below(2) == 0).collect();
                    ClusterOrder::SplitFor(class, group)
                } else {
                    ClusterOrder::Cut(dice.index(seats), dice.index(seats))
                };
                self.orders.push((at, order));
                let ends = at + dice.within(Span::ms(100, 5_000));
                self.orders.push((ends.min(self.until), ClusterOrder::Mend(class)));
            }
        }
        if let Some(mut dice) = self.dice(Class::Flapping) {
            for at in self.times(&mut dice, Span::ms(5_000, 30_000)) {
                let group = vec![dice.index(seats)];
                let mut at = at;
                for _ in 0..10 {
                    self.orders.push((at, ClusterOrder::SplitFor(Class::Flapping, group.clone())));
                    at += dice.within(Span::ms(30, 400));
                    self.orders.push((at, ClusterOrder::Mend(Class::Flapping)));
                    at += dice.within(Span::ms(30, 400));
                }
            }
        }
        if let Some(mut dice) = self.dice(Class::LeaderCut) {
            for at in self.times(&mut dice, Span::ms(2_000, 20_000)) {
                let span = dice.within(Span::ms(100, 3_000));
                self.moments.push((at, PlannedFault::CutLeader(span)));
            }
        }
        if let Some(mut dice) = self.dice(Class::Clog) {
            for at in self.times(&mut dice, Span::ms(500, 10_000)) {
                let (from, to) = (dice.index(seats), dice.index(seats));
                let span = dice.within(Span::ms(100, 5_000)).min(self.until - at);
                self.orders.push((at, ClusterOrder::Clog(from, to, span)));
            }
        }
        self.orders.retain(|(at, _)| *at <= self.until);
    }

    fn deaths(&mut self) {
        let tails = self.tails();
        if let Some(mut dice) = self.dice(Class::Crash) {
            let down = dice.pick(&[200, 2_000, 10_000]);
            for at in self.times(&mut dice, Span::ms(500, 15_000)) {
                let (seat, tail) = (dice.index(self.founders), dice.pick(&tails));
                let down = dice.within(Span::ms(0, down));
                self.orders.push((at, ClusterOrder::Crash { seat, tail, down }));
            }
        }
        if let Some(mut dice) = self.dice(Class::PowerLoss) {
            for at in self.times(&mut dice, Span::ms(5_000, 60_000)) {
                let (tail, down) = (dice.pick(&tails), dice.within(Span::ms(0, 500)));
                let stagger = dice.within(Span::ms(0, 100));
                self.orders.push((at, ClusterOrder::PowerLoss { tail, down, stagger }));
            }
        }
    }

    fn disks(&mut self) {
        for class in Class::DAMAGES.iter().copied() {
            let Some(mut dice) = self.dice(class) else { continue };
            for at in self.times(&mut dice, Span::ms(8_000, 40_000)) {
                let (seat, place) = (dice.index(self.founders), dice.below(u64::MAX));
                self.moments.push((at, PlannedFault::Damage(seat, class, place)));
            }
        }
        for class in [Class::DiskFull, Class::IoError] {
            let Some(mut dice) = self.dice(class) else { continue };
            for at in self.times(&mut dice, Span::ms(3_000, 30_000)) {
                let seat = dice.index(self.founders);
                let order = if class == Class::DiskFull {
                    ClusterOrder::DiskFull(seat, dice.below(4_000))
                } else {
                    ClusterOrder::DiskFails(seat, dice.below(20))
                };
                self.orders.push((at, order));
                let ends = at + dice.within(Span::ms(200, 4_000));
                self.orders.push((ends.min(self.until), ClusterOrder::DiskMends(seat)));
            }
        }
    }

    fn clocks_and_machines(&mut self) {
        if let Some(mut dice) = self.dice(Class::ClockJump) {
            for at in self.times(&mut dice, Span::ms(2_000, 30_000)) {
                let ms = dice.pick(&[-HOUR_MS, HOUR_MS, -700, 700, -60_000, 5_000]);
                self.orders.push((at, ClusterOrder::SetClock(dice.index(self.founders), ms)));
            }
        }
        if let Some(mut dice) = self.dice(Class::SlowApply) {
            for at in self.times(&mut dice, Span::ms(2_000, 30_000)) {
                let seat = dice.index(self.founders);
                let job = Span::ms(20, 50 + dice.below(300));
                self.orders.push((at, ClusterOrder::Slow(seat, Some(job))));
                let ends = at + dice.within(Span::ms(500, 8_000));
                self.orders.push((ends.min(self.until), ClusterOrder::Slow(seat, None)));
            }
        }
        if let Some(mut dice) = self.dice(Class::Pause) {
            let longest = dice.pick(&[500, 3_000, 10_000]);
            for at in self.times(&mut dice, Span::ms(2_000, 30_000)) {
                let seat = dice.index(self.founders);
                let span = dice.within(Span::ms(100, longest)).min(self.until - at);
                self.orders.push((at, ClusterOrder::Pause(seat, span)));
            }
        }
    }
}
