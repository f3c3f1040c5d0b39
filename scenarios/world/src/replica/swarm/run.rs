//! Plays a plan: the faults, then the calm after them.

use std::time::Duration;

use metatopia_oracle::Law;
use metatopia_types::limits::SET_LAG;
use metatopia_types::{Act, PublicKey};

use super::calm;
use super::intruder::Intruder;
use super::plan::Plan;
use crate::calm::NEAR;
use crate::chance::{Dice, Span};
use crate::class::Class;
use crate::cluster::Order;
use crate::course::{Breach, Course, Tale};
use crate::replica::stories::proposing;
use crate::replica::{Account, Manner, Person, Server, Servers, Stage, contact};
use crate::storm::{self, Change, Stormy};
use crate::weather::Moment;
use crate::world::World;

/// A state is read again and compared after so many turns.
const COMPARE_EVERY: u64 = 200;

/// Clients that behave, the admin included.
const PEOPLE: u64 = 8;

/// How long it may take until everybody knows what became of their acts.
const PATIENCE: Duration = Duration::from_secs(30);

/// One in so many looks somebody goes to another server.
const WANDERS: u64 = 6;

/// A plan while it is played.
pub(super) struct Run {
    pub(super) plan: Plan,
    pub(super) stage: Stage,
    /// The number of the person who may change who votes.
    admin: usize,
    /// The number of somebody who does nothing until they are asked to.
    pub(super) witness: usize,
    dice: Dice,
    changes: Vec<Change>,
    /// Servers that were taken out, and at which height that was seen.
    leaving: Vec<(usize, u64)>,
    intruders: Vec<Intruder>,
    /// Whose disk was damaged last.
    damaged: Option<usize>,
    compared: u64,
}

impl Run {
    pub(super) fn new(course: &Course) -> Self {
        let plan = Plan::draw(course);
        let mut stage = Stage::told(plan.setting(), plan.conditions.clone(), plan.seed.written);
        plan.storm().announce(&mut stage.world);
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
        Self {
            dice: Dice::new(plan.seed.number, "workload"),
            plan,
            stage,
            admin,
            witness,
            changes: Vec::new(),
            leaving: Vec::new(),
            intruders: Vec::new(),
            damaged: None,
            compared: 0,
        }
    }

    pub(super) fn play(mut self) -> Tale {
        self.plan.storm().rage(&mut self);
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

    /// Who votes, as the furthest server knows.
    pub(super) fn members(&self) -> Option<Vec<PublicKey>> {
        let worlds = (0..self.stage.world.seats())
            .filter_map(|seat| self.stage.world.server(seat)?.replica().world());
        let furthest = worlds.max_by_key(|world| world.height())?;
        Some(furthest.roster().members().keys().copied().collect())
    }

    /// Says what a change of members needs, again and again. Returns whether it has come about, or
    /// never will.
    fn pursue(&mut self, change: Change) -> bool {
        let Some(members) = self.members() else {
            return false;
        };
        let seat = change.seat();
        let key = self.stage.setting().name(seat);
        let is_member = members.contains(&key);
        // Who is left must bear all whom one cannot rely on.
        let bears = members.len().saturating_sub(2) / 3;
        let may_leave = members.len() > 4 && bears >= self.unreliable();
        let Some(wanted) = change.due((key, contact(seat)), is_member, may_leave) else {
            if !is_member {
                self.leaving.push((seat, self.stage.top()));
            }
            return true;
        };
        let asks = |admin: &mut Person, now| admin.act(now, Act::SetChange(wanted), None);
        self.stage.prompt(self.admin, asks);
        false
    }

    fn is_voting(&self, seat: usize) -> bool {
        let status = self.stage.world.server(seat).and_then(Server::status);
        status.is_some_and(|status| status.voting)
    }

    /// The servers that the others must do without: liars, one whose memory is bad, and one that lost
    /// a part of its log.
    fn unreliable(&self) -> usize {
        let Plan { liars, flips, .. } = &self.plan;
        liars.len() + usize::from(!flips.is_empty()) + usize::from(self.damaged.is_some())
    }

    /// Damages the log of one server where it had been durable, if the others can do without it.
    fn damage(&mut self, seat: usize, class: Class, place: u64) {
        self.damaged = self.damaged.filter(|other| !self.is_voting(*other));
        let bears = self.members().map_or(0, |members| members.len().saturating_sub(1) / 3);
        let honest = self.stage.world.cluster.is_honest(seat);
        if !honest || !self.is_voting(seat) || self.unreliable() >= bears {
            return;
        }
        let harmed = self.stage.harm(seat, class, place);
        if harmed.is_some() {
            self.damaged = Some(seat);
        }
        // What was to be removed anyhow nobody reads.
        let world = &self.stage.world;
        let is_there = harmed.is_some_and(|file| world.disk(seat).bytes(file).is_some());
        let noticed = world.server(seat).is_none_or(|server| server.damage().is_some());
        if is_there && !noticed {
            self.stage.blame(Law::Damage, format!("{class} at {place:x}, and it starts"));
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

impl Stormy for Run {
    type Cluster = Servers;

    fn world(&mut self) -> &mut World<Servers> {
        &mut self.stage.world
    }

    fn is_sound(&self) -> bool {
        self.stage.is_sound()
    }

    fn run_until(&mut self, until: Duration) {
        self.stage.run_until(until);
    }

    fn befall(&mut self, moment: Moment) {
        match moment {
            Moment::CutLeader(span) => {
                if let Some(seat) = proposing(&self.stage) {
                    storm::cut_leader(&mut self.stage.world, seat, span);
                }
            }
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
            Moment::Damage(seat, class, place) => self.damage(seat, class, place),
            // Not drawn at this level.
            Moment::Join(_) => {}
        }
    }

    fn stir(&mut self) {
        self.tick();
        for intruder in &mut self.intruders {
            intruder.intrude(&mut self.stage);
        }
    }
}

/// Three acts a second, and proofs of what became of them.
fn manner(until: Duration) -> Manner {
    Manner { pace: Span::ms(200, 460), ..Manner::lively(until) }
}

/// What is told of a world.
fn tell(account: Account) -> Tale {
    Tale {
        breaches: account.faults.iter().map(Breach::from).collect(),
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
