//! What a seed stands for: which faults there are, how strong, and when.

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use super::Swarm;
use crate::agreement::{Deed, Scenario};
use crate::chance::{Dice, Span};
use crate::class::Class;
use crate::cluster::Order;
use crate::conditions::Conditions;
use crate::crash::Tail;

/// An hour in milliseconds.
const HOUR_MS: i64 = 3_600_000;

/// Seats for servers that join.
const JOINERS: usize = 2;

/// Trouble whose moment is drawn, but whose victim depends on how the world is then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
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
}

/// See the module.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Classes of faults that may happen.
    pub classes: BTreeSet<Class>,
    /// Servers, liars and conditions, and all trouble whose victims are drawn.
    pub scenario: Scenario,
    /// The other trouble, by time.
    pub moments: Vec<(Duration, Moment)>,
    /// Faults begin here.
    pub from: Duration,
    /// Faults stop here.
    pub calm_from: Duration,
    /// The run ends here.
    pub end: Duration,
}

impl Plan {
    pub(super) fn draw(swarm: &Swarm) -> Self {
        let seed = swarm.seed;
        let mut dice = Dice::new(seed.number, "swarm");
        let founders = dice.pick(&[4, 4, 4, 4, 5, 7]);
        let mut scenario = Scenario::new("swarm", seed);
        scenario.founders = founders;
        scenario.turn_length = dice.pick(&[50, 50, 50, 100]);
        scenario.snapshot_every = dice.pick(&[Some(20), Some(50), Some(200)]);
        scenario.acts = (0, Duration::ZERO);
        (scenario.controls, scenario.flaw) = (swarm.controls, swarm.flaw);
        scenario.log_controls = swarm.log_controls;
        let mut draft = Draft {
            on: classes(seed.number, founders),
            number: seed.number,
            founders,
            until: Swarm::new(seed, swarm.span).calm_from(),
            orders: Vec::new(),
            moments: Vec::new(),
        };
        draft.on.retain(|class| !swarm.without.contains(class));
        scenario.seats = draft.people(&mut scenario);
        scenario.conditions = draft.conditions();
        draft.cuts();
        draft.deaths();
        draft.disks();
        draft.clocks_and_machines();
        let Draft { on: classes, mut orders, mut moments, .. } = draft;
        let (from, calm_from, end) = (swarm.from, swarm.calm_from(), swarm.span);
        orders.retain(|(at, _)| (from..calm_from).contains(at));
        orders.sort_by_key(|(at, _)| *at);
        moments.retain(|(at, _)| (from..calm_from).contains(at));
        moments.sort_by_key(|(at, _)| *at);
        scenario.orders = orders;
        Self { classes, scenario, moments, from, calm_from, end }
    }
}

/// Each class with a probability of two thirds, and as many liars as the world bears, or fewer.
fn classes(number: u64, founders: usize) -> BTreeSet<Class> {
    let drawn = |class: &Class| Dice::new(number, class.name()).below(3) != 0;
    let (liars, mut on): (Vec<Class>, BTreeSet<Class>) = {
        let all = Class::ALL.iter().copied().filter(drawn);
        let (liars, others): (Vec<_>, Vec<_>) = all.partition(|c| Class::LIARS.contains(c));
        (liars, others.into_iter().collect())
    };
    let mut dice = Dice::new(number, "liars");
    let most = (founders - 1) / 3;
    let count = dice.index(3 * most).min(most).min(liars.len());
    while on.iter().filter(|class| Class::LIARS.contains(class)).count() < count {
        on.insert(dice.pick(&liars));
    }
    on
}

/// A plan in the making. Each class throws dice of its own: without one, the others stay the same.
struct Draft {
    on: BTreeSet<Class>,
    number: u64,
    founders: usize,
    until: Duration,
    orders: Vec<(Duration, Order)>,
    moments: Vec<(Duration, Moment)>,
}

impl Draft {
    /// The dice of a class, if it is on.
    fn dice(&self, class: Class) -> Option<Dice> {
        let concern = format!("{class} in detail");
        self.on.contains(&class).then(|| Dice::new(self.number, &concern))
    }

    /// Moments that are `every` apart, up to the end of all faults.
    fn times(&self, dice: &mut Dice, every: Span) -> Vec<Duration> {
        let mut at = dice.within(every);
        let mut times = Vec::new();
        while at < self.until {
            times.push(at);
            at += dice.within(every);
        }
        times
    }

    /// Who lies, who joins and who leaves. Returns how many seats there are.
    fn people(&mut self, scenario: &mut Scenario) -> usize {
        let mut seats = self.founders;
        if self.on.contains(&Class::Joiner) || self.on.contains(&Class::SetChange) {
            seats += JOINERS;
        }
        // The last founders lie: nobody else depends on where they sit.
        let mut liar = self.founders;
        for class in Class::LIARS {
            let Some(mut dice) = self.dice(*class) else { continue };
            liar -= 1;
            if *class == Class::Twin {
                scenario.copies.push((seats, liar));
                continue;
            }
            let deeds: Vec<Deed> =
                Deed::ALL.iter().copied().filter(|deed| deed.class() == *class).collect();
            scenario.liars.push((liar, dice.pick(&deeds)));
            scenario.no_demotion |= dice.below(3) == 0;
        }
        let founders = self.founders;
        if let Some(mut dice) = self.dice(Class::Joiner) {
            for seat in founders..founders + JOINERS {
                let at = self.until * (1 + dice.index(3) as u32) / 5;
                self.moments.push((at, Moment::Join(seat)));
            }
        }
        if let Some(mut dice) = self.dice(Class::SetChange) {
            let mut at = dice.within(Span::ms(1_000, 10_000));
            for seat in founders..founders + JOINERS {
                self.moments.push((at, Moment::Promote(seat)));
                at += dice.within(Span::ms(2_000, 12_000));
                self.moments.push((at, Moment::Remove(dice.index(liar.max(1)))));
                at += dice.within(Span::ms(2_000, 12_000));
            }
            self.moments.retain(|(at, _)| *at < self.until);
        }
        seats + scenario.copies.len()
    }

    fn conditions(&self) -> Conditions {
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
        if let Some(mut dice) = self.dice(Class::ClockRate) {
            let mut rate = || i32::try_from(dice.below(200_001)).unwrap_or(0) - 100_000;
            conditions.clocks = (0..self.founders).map(|_| (0, rate())).collect();
        }
        conditions.tails = self.tails();
        conditions
    }

    /// What may become of unsynced bytes.
    fn tails(&self) -> Vec<Tail> {
        let mut tails = vec![Tail::Kept];
        tails.extend(self.on.contains(&Class::LostTail).then_some(Tail::Lost));
        tails.extend(self.on.contains(&Class::TornTail).then_some(Tail::Torn));
        tails
    }

    fn cuts(&mut self) {
        let seats = self.founders;
        for class in [Class::Split, Class::OneWay] {
            let Some(mut dice) = self.dice(class) else { continue };
            for at in self.times(&mut dice, Span::ms(1_000, 20_000)) {
                let order = if class == Class::Split {
                    let group = (0..seats).filter(|_| dice.below(2) == 0).collect();
                    Order::SplitFor(class, group)
                } else {
                    Order::Cut(dice.index(seats), dice.index(seats))
                };
                self.orders.push((at, order));
                let ends = at + dice.within(Span::ms(100, 5_000));
                self.orders.push((ends.min(self.until), Order::Mend(class)));
            }
        }
        if let Some(mut dice) = self.dice(Class::Flapping) {
            for at in self.times(&mut dice, Span::ms(5_000, 30_000)) {
                let group = vec![dice.index(seats)];
                let mut at = at;
                for _ in 0..10 {
                    self.orders.push((at, Order::SplitFor(Class::Flapping, group.clone())));
                    at += dice.within(Span::ms(30, 400));
                    self.orders.push((at, Order::Mend(Class::Flapping)));
                    at += dice.within(Span::ms(30, 400));
                }
            }
        }
        if let Some(mut dice) = self.dice(Class::LeaderCut) {
            for at in self.times(&mut dice, Span::ms(2_000, 20_000)) {
                let span = dice.within(Span::ms(100, 3_000));
                self.moments.push((at, Moment::CutLeader(span)));
            }
        }
        if let Some(mut dice) = self.dice(Class::Clog) {
            for at in self.times(&mut dice, Span::ms(500, 10_000)) {
                let (from, to) = (dice.index(seats), dice.index(seats));
                let span = dice.within(Span::ms(100, 5_000));
                self.orders.push((at, Order::Clog(from, to, span)));
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
                self.orders.push((at, Order::Crash { seat, tail, down }));
            }
        }
        if let Some(mut dice) = self.dice(Class::PowerLoss) {
            for at in self.times(&mut dice, Span::ms(5_000, 60_000)) {
                let (tail, down) = (dice.pick(&tails), dice.within(Span::ms(0, 500)));
                let stagger = dice.within(Span::ms(0, 100));
                self.orders.push((at, Order::PowerLoss { tail, down, stagger }));
            }
        }
    }

    fn disks(&mut self) {
        for class in [Class::BitFlip, Class::LostWrite, Class::MisdirectedWrite] {
            let Some(mut dice) = self.dice(class) else { continue };
            for at in self.times(&mut dice, Span::ms(8_000, 40_000)) {
                let (seat, place) = (dice.index(self.founders), dice.below(u64::MAX));
                self.moments.push((at, Moment::Damage(seat, class, place)));
            }
        }
        for class in [Class::DiskFull, Class::IoError] {
            let Some(mut dice) = self.dice(class) else { continue };
            for at in self.times(&mut dice, Span::ms(3_000, 30_000)) {
                let seat = dice.index(self.founders);
                let order = if class == Class::DiskFull {
                    Order::DiskFull(seat, dice.below(4_000))
                } else {
                    Order::DiskFails(seat, dice.below(20))
                };
                self.orders.push((at, order));
                let ends = at + dice.within(Span::ms(200, 4_000));
                self.orders.push((ends.min(self.until), Order::DiskMends(seat)));
            }
        }
    }

    fn clocks_and_machines(&mut self) {
        if let Some(mut dice) = self.dice(Class::ClockJump) {
            for at in self.times(&mut dice, Span::ms(2_000, 30_000)) {
                let ms = dice.pick(&[-HOUR_MS, HOUR_MS, -700, 700, -60_000, 5_000]);
                self.orders.push((at, Order::SetClock(dice.index(self.founders), ms)));
            }
        }
        if let Some(mut dice) = self.dice(Class::SlowApply) {
            for at in self.times(&mut dice, Span::ms(2_000, 30_000)) {
                let seat = dice.index(self.founders);
                let job = Span::ms(20, 50 + dice.below(300));
                self.orders.push((at, Order::Slow(seat, Some(job))));
                let ends = at + dice.within(Span::ms(500, 8_000));
                self.orders.push((ends.min(self.until), Order::Slow(seat, None)));
            }
        }
        if let Some(mut dice) = self.dice(Class::Pause) {
            let longest = dice.pick(&[500, 3_000, 10_000]);
            for at in self.times(&mut dice, Span::ms(2_000, 30_000)) {
                let seat = dice.index(self.founders);
                let span = dice.within(Span::ms(100, longest)).min(self.until - at);
                self.orders.push((at, Order::Pause(seat, span)));
            }
        }
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { classes, scenario, moments, from, calm_from, end } = self;
        let names: Vec<&str> = classes.iter().map(|class| class.name()).collect();
        writeln!(f, "servers      {}, in {} seats", scenario.founders, scenario.seats)?;
        writeln!(f, "turn length  {} ms", scenario.turn_length)?;
        writeln!(f, "snapshots    every {} turns", scenario.snapshot_every.unwrap_or(0))?;
        writeln!(f, "signatures   {:?}", scenario.scheme)?;
        writeln!(f, "liars        {:?}", scenario.liars)?;
        writeln!(f, "twins        {:?}", scenario.copies)?;
        writeln!(f, "rotation     {}", if scenario.no_demotion { "of all" } else { "by rule" })?;
        writeln!(
            f,
            "faults       from {from:.1?} to {calm_from:.1?}, the world ends at {end:.1?}"
        )?;
        writeln!(f, "classes      {}", names.join(" "))?;
        writeln!(f, "conditions   {:?}", scenario.conditions)?;
        let orders = scenario.orders.iter().map(|(at, order)| (*at, format!("{order:?}")));
        let moments = moments.iter().map(|(at, moment)| (*at, format!("{moment:?}")));
        let mut all: Vec<_> = orders.chain(moments).collect();
        all.sort();
        for (at, what) in all {
            writeln!(f, "{at:>12.3?}  {what}")?;
        }
        Ok(())
    }
}
