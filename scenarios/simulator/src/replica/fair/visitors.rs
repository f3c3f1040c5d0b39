//! Who acts where whole servers are played by a plan: people who visit the fair, an admin who invites nodes
//! and changes the members, and those who do not behave.

use std::time::Duration;

use metatopia_oracle::Law;
use metatopia_protocol::{Answer, Grant, Question};
use metatopia_types::limits::SET_LAG;
use metatopia_types::{Act, Height, NodeContact, PublicKey, SetChange};

use super::drawn_fair::{FairPlan, ReplicaPlan};
use super::impostor::Impostor;
use super::intruder::Intruder;
use super::rush::Rush;
use crate::chance::Span;
use crate::class::Class;
use crate::cluster::ClusterOrder;
use crate::course::{Breach, RunReport, SeedRun};
use crate::damage::spoil;
use crate::replica::partings::proposing;
use crate::replica::{
    Account, Newcomer, Person, PersonProfile, ReplicaServer, ReplicaStage, contact, invite,
};
use crate::stage::ClusterStage as _;
use crate::storm::MemberChange;
use crate::swarm_run::{SwarmLevel, SwarmRun};
use crate::weather::PlannedFault;

/// Clients that behave, the admin included.
const PEOPLE: u64 = 8;

/// How long it may take until everybody knows what became of their acts.
const PATIENCE: Duration = Duration::from_secs(30);

/// These clients, and who waits to be asked, go from server to server.
const WANDERERS: usize = PEOPLE as usize + 1;

/// One in so many looks somebody goes to another server.
const WANDERS: u64 = 6;

/// A plan for whole servers while it is played.
pub(super) type ReplicaRun = SwarmRun<Visitors>;

/// What those need who act there.
pub(super) struct Visitors {
    /// The number of the person who may change who votes.
    admin: usize,
    /// The number of somebody who does nothing until they are asked to.
    pub(super) witness: usize,
    /// Servers that were taken out, and at which height that was seen.
    leaving: Vec<(usize, u64)>,
    intruders: Vec<Intruder>,
    impostors: Vec<Impostor>,
    /// Seats of nodes for which an invite is to be had.
    inviting: Vec<usize>,
    /// Nodes that came in, and have a client.
    served: usize,
    /// The crowd that comes in the calm, once it is there.
    pub(super) rush: Option<Rush>,
}

impl ReplicaRun {
    pub(super) fn new(course: &SeedRun) -> Self {
        let plan = ReplicaPlan::draw(course);
        let mut stage =
            ReplicaStage::told(plan.setting(), plan.conditions.clone(), plan.seed.written);
        let mut invite = |number: u64, until| {
            let node = usize::try_from(number).unwrap_or(0) % plan.founders;
            let person = Person::new(stage.setting(), number, node, manner(until));
            stage.invite(Duration::from_millis(70 * number), person)
        };
        let admin = invite(0, plan.end);
        for number in 1..PEOPLE {
            invite(number, plan.end);
        }
        let visitors = Visitors {
            admin,
            witness: invite(PEOPLE, Duration::ZERO),
            leaving: Vec::new(),
            intruders: Vec::new(),
            impostors: Vec::new(),
            inviting: Vec::new(),
            served: 0,
            rush: None,
        };
        Self::begin(plan, stage, visitors)
    }

    pub(super) fn tell(mut self) -> RunReport {
        let recovery = self.play();
        self.see_who_left();
        self.switch_off();
        self.stage.run_until(self.now());
        let sound = self.is_sound();
        let account = if sound { self.stage.finish(PATIENCE) } else { self.stage.account() };
        RunReport { recovery, ..tell(account) }
    }

    /// A removal that was asked for in the storm may have come about later, and an addition not at
    /// all.
    fn see_who_left(&mut self) {
        let members = Visitors::members(self).unwrap_or_default();
        let known = |seat: usize| self.own.leaving.iter().any(|(left, _)| *left == seat);
        // Who came by an invite goes on without a vote.
        let left = (0..self.plan.own.seats)
            .filter(|seat| !members.contains(&self.stage.setting().name(*seat)) && !known(*seat));
        let left: Vec<(usize, u64)> = left.map(|seat| (seat, 0)).collect();
        self.own.leaving.extend(left);
    }

    /// Switches off who was taken out, once nobody counts on its votes any more.
    fn switch_off(&mut self) {
        let (top, now) = (self.stage.world.top(), self.now());
        let gone = |left: &(usize, u64)| top > left.1 + SET_LAG;
        for (seat, _) in self.own.leaving.extract_if(.., |left| gone(left)) {
            self.stage.world.plan(now, ClusterOrder::Kill(seat));
        }
    }

    /// The admin makes invites for those who wait for one: by a decided header, which a server has to
    /// give.
    fn invite_some(&mut self) {
        for answer in std::mem::take(&mut self.stage.people[self.own.admin].answers) {
            let (Answer::Turn(turn), Some(seat)) = (answer, self.own.inviting.first().copied())
            else {
                continue;
            };
            let (turn, certificate) = *turn;
            let votes =
                |(_, moment): &(Duration, PlannedFault)| *moment == PlannedFault::Promote(seat);
            let stands_by = self.plan.moments.iter().any(votes);
            let grant = if stands_by { Grant::StandBy } else { Grant::Follow };
            let (setting, light) =
                (self.stage.setting(), self.stage.people[self.own.admin].light());
            let made = invite(setting, light, (turn.header, certificate), (grant, seat as u64));
            if let Some(made) = made {
                self.own.inviting.remove(0);
                let newcomer = Newcomer::new(self.stage.setting(), seat, made);
                self.stage.let_come(newcomer);
            }
        }
        if !self.own.inviting.is_empty() {
            // No younger than the state that is given now: else it would wait for the next one.
            let top = self.stage.world.top();
            let height = Height((top - top % self.plan.own.snapshot_turns).max(1));
            let asks = |admin: &mut Person, now| admin.ask(now, Question::Turn { height });
            self.stage.prompt(self.own.admin, asks);
        }
    }

    /// Sends a client to each node that has come in.
    fn serve_some(&mut self) {
        let seats = self.stage.newcomers.iter().filter(|newcomer| newcomer.is_in());
        let new: Vec<usize> = seats.map(|newcomer| newcomer.seat).skip(self.own.served).collect();
        for seat in new {
            self.own.served += 1;
            let number = PEOPLE + self.own.served as u64;
            let (setting, manner) = (self.stage.setting(), manner(self.plan.end));
            let person = Person::new(setting, number, seat, manner).at_home(seat);
            self.stage.invite(self.now(), person);
        }
    }

    fn is_voting(&self, seat: usize) -> bool {
        let status = self.stage.world.server(seat).and_then(ReplicaServer::status);
        status.is_some_and(|status| status.voting)
    }

    /// Returns whether the others can do without this server, which has to be honest and to vote.
    fn spares(&mut self, seat: usize) -> bool {
        self.damaged = self.damaged.filter(|other| !self.is_voting(*other));
        let honest = self.stage.world.cluster.is_honest(seat);
        honest && self.is_voting(seat) && Visitors::must_bear(self) < self.bears()
    }

    /// Returns how many servers the members can do without, as far as anybody knows who they are.
    fn bears(&self) -> usize {
        Visitors::members(self).map_or(0, |members| members.len().saturating_sub(1) / 3)
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
        let spoiled = self.stage.while_off(seat, |stage| {
            let spoiled =
                spoil(stage.world.disk_mut(seat), place, spare && place.is_multiple_of(2));
            if spoiled {
                stage.world.note_fault(Class::BadSnapshot);
                stage.world.cluster.spoiled.insert(seat);
            }
            spoiled
        });
        if spoiled && spare {
            self.damaged = Some(seat);
        }
        let server = self.stage.world.server(seat);
        if spoiled && server.is_some_and(|server| server.passed_over().is_empty()) {
            let what = format!("{} at {place:x}, and it starts", Class::BadSnapshot);
            self.stage.world.blame(None, Law::Damage, what);
        }
    }
}

impl SwarmLevel for Visitors {
    type Stage = ReplicaStage;
    type Drawn = FairPlan;

    const COMPARE_EVERY: u64 = 200;

    fn contact(seat: usize) -> NodeContact {
        contact(seat)
    }

    fn members(run: &ReplicaRun) -> Option<Vec<PublicKey>> {
        let world = &run.stage.world;
        let servers = (0..world.seats()).filter_map(|seat| world.server(seat));
        let (_, members) = servers.map(ReplicaServer::members).max_by_key(|(height, _)| *height)?;
        Some(members.clone())
    }

    fn proposing(run: &ReplicaRun) -> Option<usize> {
        proposing(&run.stage)
    }

    /// The servers that the others must do without: liars, one whose memory is bad, and one that lost
    /// a part of its log.
    fn must_bear(run: &ReplicaRun) -> usize {
        let FairPlan { liars, twin, flips, .. } = &run.plan.own;
        let bad = [twin.is_some(), !flips.is_empty(), run.damaged.is_some()];
        liars.len() + bad.into_iter().filter(|bad| *bad).count()
    }

    fn act(run: &mut ReplicaRun) {
        if run.dice.below(WANDERS) == 0 {
            let person = run.dice.index(WANDERERS);
            let away = run.dice.within(Span::ms(0, 1_500));
            run.stage.lose_line(person, away);
        }
        run.switch_off();
        run.invite_some();
        run.serve_some();
    }

    fn misbehave(run: &mut ReplicaRun) {
        for intruder in &mut run.own.intruders {
            intruder.intrude(&mut run.stage);
        }
        for impostor in &mut run.own.impostors {
            impostor.try_in(&mut run.stage, run.own.admin);
        }
    }

    fn damage(run: &mut ReplicaRun, seat: usize, class: Class, place: u64) {
        if class == Class::BadSnapshot {
            return run.spoil_snapshots(seat, place);
        }
        if run.spares(seat) && run.stage.harm(seat, class, place).is_some() {
            run.damaged = Some(seat);
        }
    }

    fn join(run: &mut ReplicaRun, seat: usize) {
        run.own.inviting.push(seat);
    }

    /// Starts a server that does not come by an invite. One that does starts when it has a state to start
    /// with.
    fn prepare(run: &mut ReplicaRun, seat: usize) {
        if !run.plan.own.invited().contains(&seat) {
            run.stage.world.plan(run.now(), ClusterOrder::Start(seat));
        }
    }

    fn intrude(run: &mut ReplicaRun, fault: PlannedFault) {
        let Self { intruders, impostors, .. } = &mut run.own;
        match fault {
            PlannedFault::Intrude(class, seat) => {
                let number = intruders.len() as u64;
                intruders.push(Intruder::new(run.stage.setting(), class, number, seat));
            }
            PlannedFault::BadInvite(bad, seat) => {
                let number = impostors.len() as u64;
                impostors.push(Impostor::new(run.stage.setting(), bad, number, seat));
            }
            PlannedFault::CopyDisk(copy) => run.stage.copy_disk(copy),
            other => unreachable!("{other:?} happens at every level"),
        }
    }

    fn ask_for(run: &mut ReplicaRun, _: MemberChange, wanted: SetChange) {
        let asks = |admin: &mut Person, now| admin.act(now, Act::SetChange(wanted), None);
        run.stage.prompt(run.own.admin, asks);
    }

    fn changed(run: &mut ReplicaRun, change: MemberChange, is_member: bool) {
        if !is_member {
            run.own.leaving.push((change.seat(), run.stage.world.top()));
        }
    }
}

/// Three acts a second, and proofs of what became of them.
fn manner(until: Duration) -> PersonProfile {
    PersonProfile { pace: Span::ms(200, 460), ..PersonProfile::lively(until) }
}

/// Returns the report of a world.
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
