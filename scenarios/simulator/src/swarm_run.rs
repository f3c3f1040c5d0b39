//! A world of the swarm while it is played, at either level: a storm, then the calm after it. People do
//! what they do again and again, members change, and now and then a disk is read and compared.

use std::time::Duration;

use metatopia_types::{NodeContact, PublicKey, SetChange};

use crate::calm::{CalmLevel, FaultRecovery};
use crate::chance::Dice;
use crate::class::Class;
use crate::stage::{ClusterStage, WatchedCluster as _};
use crate::storm::MemberChange;
use crate::weather::{FaultPlan, PlannedFault};

/// A plan while it is played.
pub(crate) struct SwarmRun<L: SwarmLevel> {
    pub(crate) plan: FaultPlan<L::Drawn>,
    pub(crate) stage: L::Stage,
    /// Who does what, and when.
    pub(crate) dice: Dice,
    /// Changes of the members that somebody wants, the next one first.
    pub(crate) changes: Vec<MemberChange>,
    /// The server whose disk was damaged last.
    pub(crate) damaged: Option<usize>,
    /// At which height a disk was compared last.
    compared: u64,
    /// What only this level has.
    pub(crate) own: L,
}

/// What a level has of its own in a swarm: who acts there, and what only its servers can be asked.
pub(crate) trait SwarmLevel: Sized {
    /// Where it is played.
    type Stage: ClusterStage;
    /// What a seed stands for at this level only.
    type Drawn;

    /// A state is read again and compared after so many turns.
    const COMPARE_EVERY: u64;

    /// Returns where the server in a seat is reached.
    fn contact(seat: usize) -> NodeContact;

    /// Returns who votes, as far as the furthest server knows.
    fn members(run: &SwarmRun<Self>) -> Option<Vec<PublicKey>>;

    /// Returns the seat of whoever is to propose.
    fn proposing(run: &SwarmRun<Self>) -> Option<usize>;

    /// Returns how many servers those must be able to do without who are left when a member goes.
    fn must_bear(run: &SwarmRun<Self>) -> usize;

    /// Lets people do what they do again and again.
    fn act(run: &mut SwarmRun<Self>);

    /// Lets those who do not behave do their worst, while the storm lasts.
    fn misbehave(_: &mut SwarmRun<Self>) {}

    /// Damages the disk of one server, if the others can do without it.
    fn damage(run: &mut SwarmRun<Self>, seat: usize, class: Class, place: u64);

    /// Lets a server start from a state that others prove.
    fn join(run: &mut SwarmRun<Self>, seat: usize);

    /// Brings a server as far as it must be before somebody may want it to vote.
    fn prepare(run: &mut SwarmRun<Self>, seat: usize);

    /// Lets trouble happen that not every level has.
    fn intrude(_: &mut SwarmRun<Self>, _: PlannedFault) {}

    /// Says what a change of the members needs.
    fn ask_for(run: &mut SwarmRun<Self>, change: MemberChange, wanted: SetChange);

    /// Notes that a change has come about, or never will; the server is a member now, or it is none.
    fn changed(_: &mut SwarmRun<Self>, _: MemberChange, _: bool) {}
}

impl<L: CalmLevel> SwarmRun<L> {
    /// Plays the storm and the calm. Returns how the world went on after its faults, if it came to that.
    pub(crate) fn play(&mut self) -> Option<FaultRecovery> {
        self.rage();
        let recovery = if self.is_sound() { self.calm_down() } else { None };
        for seat in 0..self.stage.world().seats() {
            self.compare(seat);
        }
        recovery
    }
}

impl<L: SwarmLevel> SwarmRun<L> {
    /// Returns a world before its storm.
    pub(crate) fn begin(plan: FaultPlan<L::Drawn>, stage: L::Stage, own: L) -> Self {
        let dice = Dice::new(plan.seed.number, "workload");
        let (changes, damaged, compared) = (Vec::new(), None, 0);
        let mut run = Self { plan, stage, dice, changes, damaged, compared, own };
        run.announce_storm();
        run
    }

    /// Returns the world's time.
    pub(crate) fn now(&self) -> Duration {
        self.stage.world().now()
    }

    /// Returns whether no law was broken.
    pub(crate) fn is_sound(&self) -> bool {
        self.stage.world().is_sound()
    }

    /// Lets people do what they do again and again, members change, and a state be compared.
    pub(crate) fn tick(&mut self) {
        L::act(self);
        if let Some(change) = self.changes.first().copied()
            && self.pursue(change)
        {
            self.changes.remove(0);
            self.stage.world_mut().note_fault(Class::SetChange);
        }
        if self.stage.reached() >= self.compared + L::COMPARE_EVERY {
            self.compared = self.stage.reached();
            let seat = self.dice.index(self.plan.founders);
            self.compare(seat);
        }
    }

    /// Says what a change of members needs, again and again. Returns whether it has come about, or
    /// never will.
    fn pursue(&mut self, change: MemberChange) -> bool {
        let Some(members) = L::members(self) else {
            return false;
        };
        let seat = change.seat();
        let key = self.stage.shared().name(seat);
        let is_member = members.contains(&key);
        // Who is left must bear all whom one cannot rely on.
        let bears = members.len().saturating_sub(2) / 3;
        let may_go = members.len() > 4 && bears >= L::must_bear(self);
        match change.due((key, L::contact(seat)), is_member, may_go) {
            Some(wanted) => {
                L::ask_for(self, change, wanted);
                false
            }
            None => {
                L::changed(self, change, is_member);
                true
            }
        }
    }

    /// Starts a second server from what is durable on the disk of one, and compares their states.
    fn compare(&mut self, seat: usize) {
        let world = self.stage.world();
        if world.server(seat).is_some() && world.cluster.laws().is_honest(seat) {
            self.stage.check_disk(seat);
        }
    }

    /// Returns the honest servers that vote.
    pub(crate) fn voters(&self) -> Vec<usize> {
        let members = L::members(self).unwrap_or_default();
        let votes = |seat: &usize| members.contains(&self.stage.shared().name(*seat));
        self.stage.world().honest().filter(votes).collect()
    }

    /// Returns how many members may be gone for good.
    pub(crate) fn faults_borne(&self) -> usize {
        let members = L::members(self).map_or(self.plan.founders, |members| members.len());
        members.saturating_sub(1) / 3
    }
}
