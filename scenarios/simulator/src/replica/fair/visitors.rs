//! Plays a plan: the faults, then the calm after them.

use std::time::Duration;

use metatopia_oracle::Law;
use metatopia_protocol::{Answer, Grant, Question};
use metatopia_types::limits::SET_LAG;
use metatopia_types::{Act, Height, PublicKey};

use super::afterwards;
use super::drawn_fair::ReplicaPlan;
use super::impostor::Impostor;
use super::intruder::Intruder;
use crate::calm::NEAR;
use crate::chance::{Dice, Span};
use crate::class::Class;
use crate::cluster::ClusterOrder;
use crate::course::{Breach, RunReport, SeedRun};
use crate::damage::spoil;
use crate::replica::partings::proposing;
use crate::replica::{
    Account, Newcomer, Person, PersonProfile, ReplicaServer, ReplicaServers, ReplicaStage, contact,
    invite,
};
use crate::storm::{self, MemberChange, Stormy};
use crate::weather::PlannedFault;
use crate::world::Simulator;

/// A state is read again and compared after so many turns.
const COMPARE_EVERY: u64 = 200;

/// Clients that behave, the admin included.
const PEOPLE: u64 = 8;

/// How long it may take until everybody knows what became of their acts.
const PATIENCE: Duration = Duration::from_secs(30);

/// These clients, and who waits to be asked, go from server to server.
const WANDERERS: usize = PEOPLE as usize + 1;

/// One in so many looks somebody goes to another server.
const WANDERS: u64 = 6;

/// A plan while it is played.
pub(super) struct ReplicaRun {
    pub(super) plan: ReplicaPlan,
    pub(super) stage: ReplicaStage,
    /// The number of the person who may change who votes.
    admin: usize,
    /// The number of somebody who does nothing until they are asked to.
    pub(super) witness: usize,
    dice: Dice,
    changes: Vec<MemberChange>,
    /// Servers that were taken out, and at which height that was seen.
    leaving: Vec<(usize, u64)>,
    intruders: Vec<Intruder>,
    impostors: Vec<Impostor>,
    /// Seats of nodes for which an invite is to be had.
    inviting: Vec<usize>,
    /// Nodes that came in, and have a client.
    served: usize,
    /// Whose disk was damaged last.
    damaged: Option<usize>,
    compared: u64,
}

impl ReplicaRun {
    pub(super) fn new(course: &SeedRun) -> Self {
        let plan = ReplicaPlan::draw(course);
        let mut stage =
            ReplicaStage::told(plan.setting(), plan.conditions.clone(), plan.seed.written);
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
            impostors: Vec::new(),
            inviting: Vec::new(),
            served: 0,
            damaged: None,
            compared: 0,
        }
    }

    pub(super) fn play(mut self) -> RunReport {
        self.plan.storm().rage(&mut self);
        let recovery = if self.is_sound() { afterwards::go_on(&mut self) } else { None };
        for seat in 0..self.stage.world.seats() {
            self.compare(seat);
        }
        self.see_who_left();
        self.switch_off();
        self.stage.run_until(self.stage.world.now());
        let sound = self.is_sound();
        let account = if sound { self.stage.finish(PATIENCE) } else { self.stage.account() };
        RunReport { recovery, ..tell(account) }
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
        // Who came by an invite goes on without a vote.
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
            self.stage.world.plan(now, ClusterOrder::Kill(seat));
        }
    }

    /// What people do again and again.
    pub(super) fn tick(&mut self) {
        if self.dice.below(WANDERS) == 0 {
            let person = self.dice.index(WANDERERS);
            let away = self.dice.within(Span::ms(0, 1_500));
            self.stage.lose_line(person, away);
        }
        self.switch_off();
        self.invite_some();
        self.serve_some();
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

    /// The admin makes invites for those who wait for one: by a decided header, which a server has to
    /// give.
    fn invite_some(&mut self) {
        for answer in std::mem::take(&mut self.stage.people[self.admin].answers) {
            let (Answer::Turn(turn), Some(seat)) = (answer, self.inviting.first().copied()) else {
                continue;
            };
            let (turn, certificate) = *turn;
            let votes =
                |(_, moment): &(Duration, PlannedFault)| *moment == PlannedFault::Promote(seat);
            let stands_by = self.plan.moments.iter().any(votes);
            let grant = if stands_by { Grant::StandBy } else { Grant::Follow };
            let (setting, light) = (self.stage.setting(), self.stage.people[self.admin].light());
            let made = invite(setting, light, (turn.header, certificate), (grant, seat as u64));
            if let Some(made) = made {
                self.inviting.remove(0);
                let newcomer = Newcomer::new(self.stage.setting(), seat, made);
                self.stage.let_come(newcomer);
            }
        }
        if !self.inviting.is_empty() {
            // No younger than the state that is given now: else it would wait for the next one.
            let top = self.stage.top();
            let height = Height((top - top % self.plan.snapshot_turns).max(1));
            let asks = |admin: &mut Person, now| admin.ask(now, Question::Turn { height });
            self.stage.prompt(self.admin, asks);
        }
    }

    /// A client comes to each node that has come in.
    fn serve_some(&mut self) {
        let seats = self.stage.newcomers.iter().filter(|newcomer| newcomer.is_in());
        let new: Vec<usize> = seats.map(|newcomer| newcomer.seat).skip(self.served).collect();
        for seat in new {
            self.served += 1;
            let number = PEOPLE + self.served as u64;
            let (setting, manner) = (self.stage.setting(), manner(self.plan.end));
            let person = Person::new(setting, number, seat, manner).at_home(seat);
            self.stage.invite(self.stage.world.now(), person);
        }
    }

    /// Who votes, as the furthest server knows.
    pub(super) fn members(&self) -> Option<Vec<PublicKey>> {
        let servers =
            (0..self.stage.world.seats()).filter_map(|seat| self.stage.world.server(seat));
        let (_, members) = servers.map(ReplicaServer::members).max_by_key(|(height, _)| *height)?;
        Some(members.clone())
    }

    /// Says what a change of members needs, again and again. Returns whether it has come about, or
    /// never will.
    fn pursue(&mut self, change: MemberChange) -> bool {
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
        let status = self.stage.world.server(seat).and_then(ReplicaServer::status);
        status.is_some_and(|status| status.voting)
    }

    /// The servers that the others must do without: liars, one whose memory is bad, and one that lost
    /// a part of its log.
    fn unreliable(&self) -> usize {
        let ReplicaPlan { liars, twin, flips, .. } = &self.plan;
        let bad = [twin.is_some(), !flips.is_empty(), self.damaged.is_some()];
        liars.len() + bad.into_iter().filter(|bad| *bad).count()
    }

    /// Can the others do without this server, which is honest and votes?
    fn spares(&mut self, seat: usize) -> bool {
        self.damaged = self.damaged.filter(|other| !self.is_voting(*other));
        let bears = self.members().map_or(0, |members| members.len().saturating_sub(1) / 3);
        let honest = self.stage.world.cluster.is_honest(seat);
        honest && self.is_voting(seat) && self.unreliable() < bears
    }

    /// Damages the log of one server where it had been durable, if the others can do without it.
    fn damage(&mut self, seat: usize, class: Class, place: u64) {
        if class == Class::BadSnapshot {
            return self.spoil_snapshots(seat, place);
        }
        if !self.spares(seat) {
            return;
        }
        if self.stage.harm(seat, class, place).is_some() {
            self.damaged = Some(seat);
        }
    }

    /// The newest state that a server stored cannot be read again, or none of them, if the others can
    /// do without it: it must say so, and start all the same.
    fn spoil_snapshots(&mut self, seat: usize, place: u64) {
        let spare = self.spares(seat);
        let world = &self.stage.world;
        let (runs, honest) = (world.server(seat).is_some(), world.cluster.is_honest(seat));
        // A log that lost its beginning, or has a gap, may lead on from the newest state only.
        let cluster = &world.cluster;
        let took = cluster.replaced.iter().any(|(_, other, _)| *other == seat);
        let hurt = cluster.harmed.contains(&seat) || cluster.spoiled.contains(&seat) || took;
        let needed = !spare && hurt;
        if !runs || !honest || needed {
            return;
        }
        let now = world.now();
        self.stage.world.plan(now, ClusterOrder::Kill(seat));
        self.stage.run_until(now);
        let all = spare && place.is_multiple_of(2);
        let spoiled = spoil(self.stage.world.disk_mut(seat), place, all);
        if spoiled {
            self.stage.world.note_fault(Class::BadSnapshot);
            self.stage.world.cluster.spoiled.insert(seat);
            self.damaged = if spare { Some(seat) } else { self.damaged };
        }
        self.stage.world.plan(now, ClusterOrder::Start(seat));
        self.stage.run_until(now);
        let server = self.stage.world.server(seat);
        if spoiled && server.is_some_and(|server| server.passed_over().is_empty()) {
            let what = format!("{} at {place:x}, and it starts", Class::BadSnapshot);
            self.stage.blame(Law::Damage, what);
        }
    }

    fn compare(&mut self, seat: usize) {
        if self.stage.world.server(seat).is_some() && self.stage.world.cluster.is_honest(seat) {
            self.stage.read_again(seat);
        }
    }

    /// The honest servers that vote.
    pub(super) fn voters(&self) -> Vec<usize> {
        let members = self.members().unwrap_or_default();
        let votes = |seat: &usize| members.contains(&self.stage.setting().name(*seat));
        let honest = |seat: &usize| self.stage.world.cluster.is_honest(*seat);
        (0..self.stage.world.seats()).filter(honest).filter(votes).collect()
    }

    /// Who is behind the furthest by more than a few turns, of those who run or shall run.
    pub(super) fn behind(&self) -> Vec<usize> {
        let top = self.stage.world.cluster.oracle.laws.last_decided().0;
        let heights = self.stage.heights();
        let members = self.members().unwrap_or_default();
        let is_behind = |seat: &usize| heights[*seat].is_none_or(|height| height + NEAR < top);
        let seats = 0..self.stage.world.seats();
        let counts = |seat: &usize| {
            let world = &self.stage.world;
            let member = members.contains(&self.stage.setting().name(*seat));
            let follows = self.plan.invited().contains(seat);
            (member || follows) && world.is_wanted(*seat) && world.cluster.is_honest(*seat)
        };
        seats.filter(counts).filter(is_behind).collect()
    }
}

impl Stormy for ReplicaRun {
    type Cluster = ReplicaServers;

    fn world(&mut self) -> &mut Simulator<ReplicaServers> {
        &mut self.stage.world
    }

    fn is_sound(&self) -> bool {
        self.stage.is_sound()
    }

    fn run_until(&mut self, until: Duration) {
        self.stage.run_until(until);
    }

    fn befall(&mut self, moment: PlannedFault) {
        match moment {
            PlannedFault::CutLeader(span) => {
                if let Some(seat) = proposing(&self.stage) {
                    storm::cut_leader(&mut self.stage.world, seat, span);
                }
            }
            PlannedFault::Intrude(class, seat) => {
                let number = self.intruders.len() as u64;
                let intruder = Intruder::new(self.stage.setting(), class, number, seat);
                self.intruders.push(intruder);
            }
            PlannedFault::Promote(seat) => {
                let now = self.stage.world.now();
                // Who comes by an invite starts when it has what to start with.
                if !self.plan.invited().contains(&seat) {
                    self.stage.world.plan(now, ClusterOrder::Start(seat));
                }
                self.changes.push(MemberChange::Promote(seat));
            }
            PlannedFault::Remove(seat) => self.changes.push(MemberChange::Remove(seat)),
            PlannedFault::Damage(seat, class, place) => self.damage(seat, class, place),
            PlannedFault::Join(seat) => self.inviting.push(seat),
            PlannedFault::BadInvite(bad, seat) => {
                let number = self.impostors.len() as u64;
                self.impostors.push(Impostor::new(self.stage.setting(), bad, number, seat));
            }
            PlannedFault::CopyDisk(copy) => self.stage.copy_disk(copy),
        }
    }

    fn stir(&mut self) {
        self.tick();
        for intruder in &mut self.intruders {
            intruder.intrude(&mut self.stage);
        }
        for impostor in &mut self.impostors {
            impostor.try_in(&mut self.stage, self.admin);
        }
    }
}

/// Three acts a second, and proofs of what became of them.
fn manner(until: Duration) -> PersonProfile {
    PersonProfile { pace: Span::ms(200, 460), ..PersonProfile::lively(until) }
}

/// What is told of a world.
fn tell(account: Account) -> RunReport {
    RunReport {
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
