//! Plays a plan: the faults, then the calm after them.

use std::sync::Arc;
use std::time::Duration;

use metatopia_oracle::Law;
use metatopia_types::{Act, Height, Lane, Look, NodeContact, SignedEnvelope};

use super::drawn_scenario::AgreementPlan;
use super::{Played, Swarm, recovery};
use crate::agreement::{AgreementServer, AgreementServers, AgreementStage, filler};
use crate::calm::NEAR;
use crate::chance::{Dice, Span};
use crate::class::Class;
use crate::cluster::ClusterOrder;
use crate::damage::harm;
use crate::storm::{self, MemberChange, Stormy};
use crate::weather::PlannedFault;
use crate::world::Simulator;

/// A state is read again and compared after so many turns.
const COMPARE_EVERY: u64 = 400;

/// Players that submit acts.
const PLAYERS: u64 = 3;

/// One in so many acts is long, where some are: one in some six seconds.
const LONG_EVERY: u64 = 24;

/// A plan while it is played.
pub(super) struct AgreementRun {
    pub(super) plan: AgreementPlan,
    pub(super) stage: AgreementStage,
    dice: Dice,
    /// Says which acts are long, if some are.
    long: Option<Dice>,
    acts: u64,
    changes: Vec<MemberChange>,
    /// Who starts from what others prove, as soon as somebody can prove something: with its old
    /// key, or for the first time.
    pub(super) joining: Vec<(usize, bool)>,
    /// Whose disk was damaged last.
    damaged: Option<usize>,
    compared: u64,
}

impl AgreementRun {
    pub(super) fn new(swarm: &Swarm) -> Self {
        let plan = swarm.plan();
        let mut stage = plan.scenario.stage();
        plan.storm().announce(&mut stage.world);
        let has_long = plan.classes.contains(&Class::LostPart);
        Self {
            dice: Dice::new(swarm.seed.number, "workload"),
            long: has_long.then(|| Dice::new(swarm.seed.number, "long acts")),
            plan,
            stage,
            acts: 0,
            changes: Vec::new(),
            joining: Vec::new(),
            damaged: None,
            compared: 0,
        }
    }

    pub(super) fn play(mut self) -> Played {
        self.plan.storm().rage(&mut self);
        let recovery = if self.is_sound() { recovery::go_on(&mut self) } else { None };
        self.compare_all();
        Played { outcome: self.stage.finish(), recovery }
    }

    /// What people do again and again.
    pub(super) fn tick(&mut self) {
        let (now, founders) = (self.stage.world.now(), self.plan.scenario.founders);
        let seat = self.dice.index(founders);
        for _ in 0..1 + self.dice.below(3) {
            let act = self.next_act();
            self.stage.world.request(now, seat, act.clone());
            // A client that hears nothing asks another server with the same bytes.
            if self.dice.below(3) == 0 {
                let later = now + self.dice.within(Span::ms(0, 300));
                self.stage.world.request(later, self.dice.index(founders), act);
            }
        }
        self.join_some();
        if let Some(change) = self.changes.first().copied()
            && self.pursue(change)
        {
            self.changes.remove(0);
            self.stage.world.note_fault(Class::SetChange);
        }
        if self.stage.top() >= self.compared + COMPARE_EVERY {
            self.compared = self.stage.top();
            let seat = self.dice.index(self.plan.scenario.founders);
            self.compare(seat);
        }
    }

    /// A new act of a player, valid for as long as an act may be.
    pub(super) fn next_act(&mut self) -> SignedEnvelope {
        self.acts += 1;
        let color = u32::try_from(self.acts).unwrap_or(u32::MAX);
        let is_long = self.long.as_mut().is_some_and(|dice| dice.below(LONG_EVERY) == 0);
        let long = is_long.then(|| filler::act(Lane(self.acts)));
        let act = long.unwrap_or(Act::SetLook(Look { color, ..Look::default() }));
        let last_valid = Height(self.stage.top() + 900);
        self.stage.setting().act(self.acts % PLAYERS, self.acts, last_valid, act)
    }

    fn begin_join(&mut self, seat: usize) {
        let known = self.joining.iter().any(|(other, _)| *other == seat);
        if !known && !self.stage.world.cluster.starts.contains_key(&seat) {
            self.joining.push((seat, true));
        }
    }

    fn cut_leader(&mut self, span: Duration) {
        let Some(leader) = self.stage.leader().and_then(|seat| self.stage.world.server(seat))
        else {
            return;
        };
        let proposer = leader.agreement().proposer();
        let setting = self.stage.setting();
        let seats = 0..self.stage.world.seats();
        let seat = seats.into_iter().find(|seat| Some(setting.name(*seat)) == proposer);
        if let Some(seat) = seat {
            storm::cut_leader(&mut self.stage.world, seat, span);
        }
    }

    /// Starts those who wait for a proof, if somebody can give one.
    pub(super) fn join_some(&mut self) {
        for (seat, fresh_key) in std::mem::take(&mut self.joining) {
            if !self.stage.helps_joiners() || self.stage.join(seat, fresh_key).is_err() {
                self.joining.push((seat, fresh_key));
                continue;
            }
            self.stage.world.note_fault(Class::Joiner);
        }
    }

    /// The servers that others must do without: liars, and one that lost its log.
    fn unreliable(&self) -> usize {
        let scenario = &self.plan.scenario;
        scenario.liars.len() + scenario.copies.len() + usize::from(self.damaged.is_some())
    }

    /// How many vote, as far as decided turns say.
    pub(super) fn members(&self) -> usize {
        let leader = self.stage.leader().and_then(|seat| self.stage.world.server(seat));
        let founders = self.plan.scenario.founders;
        leader.map_or(founders, |server| server.ledger().state().roster.members().len())
    }

    /// Says what a change of members needs, again and again. Returns whether it has come about, or
    /// never will.
    fn pursue(&mut self, change: MemberChange) -> bool {
        let Some(leader) = self.stage.leader().and_then(|seat| self.stage.world.server(seat))
        else {
            return false;
        };
        let setting = Arc::clone(self.stage.setting());
        let members = leader.ledger().state().roster.members();
        let key = setting.name(change.seat());
        // Who is left must bear all liars, and one more server that has lost its log.
        let bears = (members.len() - 1).saturating_sub(1) / 3;
        let spare = usize::from(self.may_damage());
        let may_go = members.len() > 4 && bears >= self.unreliable().max(1) + spare - 1;
        let server = (key, NodeContact::default());
        let Some(wanted) = change.due(server, members.contains_key(&key), may_go) else {
            return true;
        };
        self.stage.submit_everywhere(&*setting.admin, Act::SetChange(wanted));
        if let MemberChange::Promote(seat) = change
            && let Some(joiner) = self.stage.world.server(seat)
            && let Some((height, root)) = joiner.ledger().state().roots.last_key_value()
        {
            let ready = Act::Ready { height: *height, proof: root.0 };
            self.stage.submit_everywhere(&*setting.keys[seat], ready);
        }
        false
    }

    fn may_damage(&self) -> bool {
        [Class::BitFlip, Class::LostWrite, Class::MisdirectedWrite]
            .iter()
            .any(|class| self.plan.classes.contains(class))
    }

    /// Damages the log of one server where it had been durable, if the others can do without it.
    fn damage(&mut self, seat: usize, class: Class, place: u64) {
        if let Some(other) = self.damaged {
            let recovered = self.stage.world.server(other).is_some_and(is_voting);
            if !recovered || self.joining.iter().any(|(joining, _)| *joining == other) {
                return;
            }
            self.damaged = None;
        }
        let bears = (self.members() - 1) / 3;
        let honest = self.stage.world.cluster.oracle.is_honest(seat);
        let runs = self.stage.world.server(seat).is_some_and(is_voting);
        if !honest || !runs || self.unreliable() >= bears {
            return;
        }
        let now = self.stage.world.now();
        self.stage.world.plan(now, ClusterOrder::Kill(seat));
        self.run_until(now);
        let (sim, disk) = (self.stage.setting().sim, self.stage.world.disk_mut(seat));
        let harmed = harm(disk, sim, class, place).is_some();
        if harmed {
            self.stage.world.note_fault(class);
            self.stage.world.cluster.may_halt = vec![seat];
        }
        self.stage.world.plan(now, ClusterOrder::Start(seat));
        self.run_until(now);
        self.stage.world.cluster.may_halt.clear();
        if !harmed {
            return;
        }
        if self.stage.world.server(seat).is_some() {
            let what = || format!("{class} at {place:x} in the log, and it starts");
            self.stage.world.cluster.oracle.blame(Some(seat), Law::Damage, what);
            return;
        }
        // What the operator does: the log goes away, and the server asks before it votes.
        self.damaged = Some(seat);
        self.stage.lose_disk(seat);
        self.joining.push((seat, false));
        self.join_some();
    }

    fn compare_all(&mut self) {
        for seat in 0..self.stage.world.seats() {
            self.compare(seat);
        }
    }

    /// Starts a second server from what is durable on the disk of one, and compares their states.
    fn compare(&mut self, seat: usize) {
        let honest = self.stage.world.cluster.oracle.is_honest(seat);
        if honest
            && self.stage.world.server(seat).is_some()
            && let Err(what) = self.stage.read_again(seat)
        {
            self.stage.world.cluster.oracle.blame(Some(seat), Law::Restored, || what);
        }
    }

    /// The honest servers that vote.
    pub(super) fn voters(&self) -> Vec<usize> {
        let leader = self.stage.leader().and_then(|seat| self.stage.world.server(seat));
        let Some(roster) = leader.map(|server| &server.ledger().state().roster) else {
            return Vec::new();
        };
        let votes = |seat: &usize| roster.members().contains_key(&self.stage.setting().name(*seat));
        let honest = |seat: &usize| self.stage.world.cluster.oracle.is_honest(*seat);
        (0..self.stage.world.seats()).filter(honest).filter(votes).collect()
    }

    /// An act of somebody who did nothing before.
    pub(super) fn first_act(&self) -> SignedEnvelope {
        let last_valid = Height(self.stage.top() + 900);
        let act = Act::SetLook(Look::default());
        self.stage.setting().act(PLAYERS, 1, last_valid, act)
    }

    /// Who is behind the furthest by more than a few turns, or waits for what to begin with, of those
    /// who run or shall run.
    pub(super) fn behind(&self) -> Vec<usize> {
        let top = self.stage.top();
        let world: &Simulator<_> = &self.stage.world;
        let counts = |seat: &usize| world.cluster.oracle.is_honest(*seat) && world.is_wanted(*seat);
        let is_behind =
            |seat: &usize| world.server(*seat).is_none_or(|server| server.height().0 + NEAR < top);
        let behind = (0..world.seats()).filter(counts).filter(is_behind);
        behind.chain(self.joining.iter().map(|(seat, _)| *seat)).collect()
    }
}

impl Stormy for AgreementRun {
    type Cluster = AgreementServers;

    fn world(&mut self) -> &mut Simulator<AgreementServers> {
        &mut self.stage.world
    }

    fn is_sound(&self) -> bool {
        self.stage.world.cluster.oracle.faults().is_empty()
    }

    fn run_until(&mut self, until: Duration) {
        self.stage.world.run_while(until, |world| world.cluster.oracle.faults().is_empty());
    }

    fn befall(&mut self, moment: PlannedFault) {
        match moment {
            PlannedFault::CutLeader(span) => self.cut_leader(span),
            PlannedFault::Damage(seat, class, place) => self.damage(seat, class, place),
            PlannedFault::Join(seat) => self.begin_join(seat),
            PlannedFault::Promote(seat) => {
                self.begin_join(seat);
                self.changes.push(MemberChange::Promote(seat));
            }
            PlannedFault::Remove(seat) => self.changes.push(MemberChange::Remove(seat)),
            // Agreement has no clients and no invites, and its twins begin with empty disks.
            PlannedFault::Intrude(..) | PlannedFault::BadInvite(..) | PlannedFault::CopyDisk(_) => {
            }
        }
    }

    fn stir(&mut self) {
        self.tick();
    }
}

fn is_voting(server: &AgreementServer) -> bool {
    server.agreement().is_voting()
}
