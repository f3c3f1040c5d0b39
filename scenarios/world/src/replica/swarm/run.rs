//! Plays a plan: the faults, then the calm after them.

use std::time::Duration;

use metatopia_oracle::Fault;
use metatopia_types::PublicKey;
use metatopia_types::limits::SET_LAG;

use super::calm;
use super::intruder::Intruder;
use super::plan::Plan;
use crate::calm::NEAR;
use crate::chance::{Dice, Span};
use crate::class::Class;
use crate::cluster::Order;
use crate::conditions::Conditions;
use crate::course::{Breach, Course, Tale};
use crate::replica::stories::proposing;
use crate::replica::{Account, Manner, Person, Stage};
use crate::weather::Moment;

/// Between two looks at what people and intruders want, and at changes of members.
const TICK: Duration = Duration::from_millis(500);

/// A state is read again and compared after so many turns.
const COMPARE_EVERY: u64 = 200;

/// Clients that behave, the admin included.
const PEOPLE: u64 = 8;

/// How long it may take until everybody knows what became of their acts.
const PATIENCE: Duration = Duration::from_secs(30);

/// One in so many looks somebody goes to another server.
const WANDERS: u64 = 6;

/// A change of the members that is under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    Promote(usize),
    Remove(usize),
}

/// A plan while it is played.
pub(super) struct Run {
    pub(super) plan: Plan,
    pub(super) stage: Stage,
    /// The number of the person who may change who votes.
    admin: usize,
    /// The number of somebody who does nothing until they are asked to.
    pub(super) witness: usize,
    dice: Dice,
    moments: std::vec::IntoIter<(Duration, Moment)>,
    changes: Vec<Change>,
    /// Servers that were taken out, and at which height that was seen.
    leaving: Vec<(usize, u64)>,
    intruders: Vec<Intruder>,
    compared: u64,
}

impl Run {
    pub(super) fn new(course: &Course) -> Self {
        let plan = Plan::draw(course);
        let mut stage = Stage::told(plan.setting(), plan.conditions.clone(), plan.seed.written);
        if plan.conditions.clocks.iter().any(|(_, rate)| *rate != 0) {
            stage.world.note_fault(Class::ClockRate);
        }
        if !plan.from.is_zero() {
            let clocks = plan.conditions.clocks.clone();
            stage.world.set_conditions(Conditions { clocks, ..Conditions::calm(5) });
        }
        for (at, order) in &plan.orders {
            stage.world.plan(*at, order.clone());
        }
        let mut invite = |number: u64, until| {
            let node = usize::try_from(number).unwrap_or(0) % plan.founders;
            let person = Person::new(stage.setting(), number, node, manner(until));
            stage.invite(Duration::from_millis(70 * number), person)
        };
        let admin = invite(0, plan.end);
        for number in 1..PEOPLE {
            invite(number, plan.end);
        }
        let witness = invite(PEOPLE, Duration::ZERO);
        let moments = plan.moments.clone().into_iter();
        Self {
            dice: Dice::new(plan.seed.number, "workload"),
            plan,
            stage,
            admin,
            witness,
            moments,
            changes: Vec::new(),
            leaving: Vec::new(),
            intruders: Vec::new(),
            compared: 0,
        }
    }

    pub(super) fn play(mut self) -> Tale {
        self.storm();
        let recovery = if self.is_sound() { calm::go_on(&mut self) } else { None };
        for seat in 0..self.stage.world.seats() {
            self.compare(seat);
        }
        self.see_who_left();
        self.switch_off();
        self.stage.run_until(self.stage.world.now());
        let sound = self.is_sound();
        let account = if sound { self.stage.finish(PATIENCE) } else { self.stage.account() };
        Tale { recovery, ..tell(account) }
    }

    pub(super) fn is_sound(&self) -> bool {
        self.stage.is_sound()
    }

    /// Plays until the faults stop, or a law is broken.
    fn storm(&mut self) {
        let mut begun = self.plan.from.is_zero();
        while self.is_sound() && self.stage.world.now() < self.plan.calm_from {
            let now = self.stage.world.now();
            if !begun && now >= self.plan.from {
                self.stage.world.set_conditions(self.plan.conditions.clone());
                begun = true;
            }
            let next = self.moments.as_slice().first().map(|(at, _)| *at);
            let next = next.unwrap_or(self.plan.calm_from).min(now + TICK).max(now);
            let next = if begun { next } else { next.min(self.plan.from) };
            self.stage.run_until(next.min(self.plan.calm_from));
            while self.moments.as_slice().first().is_some_and(|(at, _)| *at <= next) {
                if let Some((_, moment)) = self.moments.next() {
                    self.carry_out(moment);
                }
            }
            if self.stage.world.now() >= now + TICK {
                self.tick();
                for intruder in &mut self.intruders {
                    intruder.intrude(&mut self.stage);
                }
            }
        }
    }

    /// The admin changes nothing any more.
    pub(super) fn settle_members(&mut self) {
        self.changes.clear();
    }

    /// A removal that was asked for in the storm may have come about later, and an addition not at
    /// all.
    fn see_who_left(&mut self) {
        let members = self.members().unwrap_or_default();
        let known = |seat: usize| self.leaving.iter().any(|(left, _)| *left == seat);
        let left = (0..self.plan.seats)
            .filter(|seat| !members.contains(&self.stage.setting().name(*seat)) && !known(*seat));
        let left: Vec<(usize, u64)> = left.map(|seat| (seat, 0)).collect();
        self.leaving.extend(left);
    }

    /// Switches off who was taken out, once nobody counts on its votes any more.
    fn switch_off(&mut self) {
        let (top, now) = (self.stage.top(), self.stage.world.now());
        let gone = |left: &(usize, u64)| top > left.1 + SET_LAG;
        for (seat, _) in self.leaving.extract_if(.., |left| gone(left)) {
            self.stage.world.plan(now, Order::Kill(seat));
        }
    }

    /// What people do again and again.
    pub(super) fn tick(&mut self) {
        if self.dice.below(WANDERS) == 0 {
            let person = self.dice.index(self.stage.people.len());
            let away = self.dice.within(Span::ms(0, 1_500));
            self.stage.lose_line(person, away);
        }
        self.switch_off();
        if let Some(change) = self.changes.first().copied()
            && self.pursue(change)
        {
            self.changes.remove(0);
            self.stage.world.note_fault(Class::SetChange);
        }
        if self.stage.top() >= self.compared + COMPARE_EVERY {
            self.compared = self.stage.top();
            let seat = self.dice.index(self.plan.founders);
            self.compare(seat);
        }
    }

    fn carry_out(&mut self, moment: Moment) {
        match moment {
            Moment::CutLeader(span) => self.cut_leader(span),
            Moment::Intrude(class, seat) => {
                let number = self.intruders.len() as u64;
                let intruder = Intruder::new(self.stage.setting(), class, number, seat);
                self.intruders.push(intruder);
            }
            Moment::Promote(seat) => {
                let now = self.stage.world.now();
                self.stage.world.plan(now, Order::Start(seat));
                self.changes.push(Change::Promote(seat));
            }
            Moment::Remove(seat) => self.changes.push(Change::Remove(seat)),
            // Neither is drawn at this level.
            Moment::Damage(..) | Moment::Join(_) => {}
        }
    }

    fn cut_leader(&mut self, span: Duration) {
        if let Some(seat) = proposing(&self.stage) {
            let now = self.stage.world.now();
            self.stage.world.plan(now, Order::SplitFor(Class::LeaderCut, vec![seat]));
            self.stage.world.plan(now + span, Order::Mend(Class::LeaderCut));
        }
    }

    /// Who votes, as the furthest server knows.
    pub(super) fn members(&self) -> Option<Vec<PublicKey>> {
        let worlds = (0..self.stage.world.seats())
            .filter_map(|seat| self.stage.world.server(seat)?.replica().world());
        let furthest = worlds.max_by_key(|world| world.height())?;
        Some(furthest.roster().members().keys().copied().collect())
    }

    /// Says what a change of members needs, again and again. Returns whether it has come about.
    fn pursue(&mut self, change: Change) -> bool {
        let Some(members) = self.members() else {
            return false;
        };
        let name = |seat: usize| self.stage.setting().name(seat);
        match change {
            Change::Promote(seat) => {
                let key = name(seat);
                if members.contains(&key) {
                    return true;
                }
                self.stage.prompt(self.admin, |admin, now| admin.add_server(now, key, seat));
                false
            }
            Change::Remove(seat) => {
                let key = name(seat);
                if !members.contains(&key) {
                    self.leaving.push((seat, self.stage.top()));
                    return true;
                }
                if members.len() <= 4 {
                    return true;
                }
                self.stage.prompt(self.admin, |admin, now| admin.remove_server(now, key));
                false
            }
        }
    }

    fn compare(&mut self, seat: usize) {
        if self.stage.world.server(seat).is_some() && self.stage.world.cluster.is_honest(seat) {
            self.stage.read_again(seat);
        }
    }

    /// Who is behind the furthest by more than a few turns, of those who run or shall run.
    pub(super) fn behind(&self) -> Vec<usize> {
        let (top, heights) = (self.stage.top(), self.stage.heights());
        let members = self.members().unwrap_or_default();
        let is_behind = |seat: &usize| heights[*seat].is_none_or(|height| height + NEAR < top);
        let seats = 0..self.stage.world.seats();
        let counts = |seat: &usize| {
            let world = &self.stage.world;
            let member = members.contains(&self.stage.setting().name(*seat));
            member && world.is_wanted(*seat) && world.cluster.is_honest(*seat)
        };
        seats.filter(counts).filter(is_behind).collect()
    }
}

/// Three acts a second, and proofs of what became of them.
fn manner(until: Duration) -> Manner {
    Manner { pace: Span::ms(200, 460), ..Manner::lively(until) }
}

/// What is told of a world.
fn tell(account: Account) -> Tale {
    let breach = |fault: &Fault| Breach { law: fault.law.name(), what: fault.to_string() };
    Tale {
        breaches: account.faults.iter().map(breach).collect(),
        fired: account.fired,
        recovery: None,
        decided: account.decided,
        heights: account.heights,
        crashes: account.crashes,
        acts: account.acts as u64,
        took: account.took,
        events: account.events,
        halts: account.servers.halts,
        history: account.history,
        digest: account.digest,
    }
}
