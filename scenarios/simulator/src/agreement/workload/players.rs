//! Who acts where agreement is played by a plan: players who submit acts, an admin, servers that join, and
//! an operator whose server lost its log.

use std::sync::Arc;

use metatopia_oracle::Law;
use metatopia_types::{Act, Height, Lane, Look, NodeContact, PublicKey, SetChange, SignedEnvelope};

use super::Swarm;
use crate::agreement::{AgreementServer, AgreementStage, filler};
use crate::chance::{Dice, Span};
use crate::class::Class;
use crate::damage::harm;
use crate::stage::ClusterStage as _;
use crate::storm::MemberChange;
use crate::swarm_run::{SwarmLevel, SwarmRun};

/// Players that submit acts.
const PLAYERS: u64 = 3;

/// One in so many acts is long, where some are: one in some six seconds.
const LONG_EVERY: u64 = 24;

/// A plan for agreement while it is played.
pub(super) type AgreementRun = SwarmRun<Players>;

/// What those need who act there.
pub(super) struct Players {
    /// Says which acts are long, if some are.
    long: Option<Dice>,
    acts: u64,
    /// Who starts from what others prove, as soon as somebody can prove something: with its old
    /// key, or for the first time.
    pub(super) joining: Vec<(usize, bool)>,
}

impl AgreementRun {
    pub(super) fn new(swarm: &Swarm) -> Self {
        let plan = swarm.plan();
        let stage = plan.own.stage();
        let has_long = plan.classes.contains(&Class::LostPart);
        let long = has_long.then(|| Dice::new(plan.seed.number, "long acts"));
        Self::begin(plan, stage, Players { long, acts: 0, joining: Vec::new() })
    }

    /// A new act of a player, valid for as long as an act may be.
    pub(super) fn next_act(&mut self) -> SignedEnvelope {
        self.own.acts += 1;
        let number = self.own.acts;
        let color = u32::try_from(number).unwrap_or(u32::MAX);
        let is_long = self.own.long.as_mut().is_some_and(|dice| dice.below(LONG_EVERY) == 0);
        let long = is_long.then(|| filler::act(Lane(number)));
        let act = long.unwrap_or(Act::SetLook(Look { color, ..Look::default() }));
        let last_valid = Height(self.stage.top() + 900);
        self.stage.setting().act(number % PLAYERS, number, last_valid, act)
    }

    /// An act of somebody who did nothing before.
    pub(super) fn first_act(&self) -> SignedEnvelope {
        let last_valid = Height(self.stage.top() + 900);
        let act = Act::SetLook(Look::default());
        self.stage.setting().act(PLAYERS, 1, last_valid, act)
    }

    /// Starts those who wait for a proof, if somebody can give one.
    pub(super) fn join_some(&mut self) {
        for (seat, fresh_key) in std::mem::take(&mut self.own.joining) {
            if !self.stage.helps_joiners() || self.stage.join(seat, fresh_key).is_err() {
                self.own.joining.push((seat, fresh_key));
                continue;
            }
            self.stage.world.note_fault(Class::Joiner);
        }
    }

    fn leader(&self) -> Option<&AgreementServer> {
        self.stage.world.server(self.stage.leader()?)
    }

    /// The servers that others must do without: liars, and one that lost its log.
    fn unreliable(&self) -> usize {
        let setting = self.stage.setting();
        setting.liars.len() + setting.copies.len() + usize::from(self.damaged.is_some())
    }

    fn may_damage(&self) -> bool {
        [Class::BitFlip, Class::LostWrite, Class::MisdirectedWrite]
            .iter()
            .any(|class| self.plan.classes.contains(class))
    }
}

impl SwarmLevel for Players {
    type Stage = AgreementStage;
    type Drawn = crate::agreement::Scenario;

    const COMPARE_EVERY: u64 = 400;

    fn contact(_: usize) -> NodeContact {
        NodeContact::default()
    }

    fn members(run: &AgreementRun) -> Option<Vec<PublicKey>> {
        Some(run.leader()?.ledger().state().roster.members().keys().copied().collect())
    }

    fn proposing(run: &AgreementRun) -> Option<usize> {
        let proposer = run.leader()?.agreement().proposer();
        let setting = run.stage.setting();
        (0..run.stage.world.seats()).find(|seat| Some(setting.name(*seat)) == proposer)
    }

    /// Returns how many faulty servers those who are left must bear: all liars, and one more server that has
    /// lost its log.
    fn must_bear(run: &AgreementRun) -> usize {
        let spare = usize::from(run.may_damage());
        run.unreliable().max(1) + spare - 1
    }

    fn act(run: &mut AgreementRun) {
        let (now, founders) = (run.now(), run.plan.founders);
        let seat = run.dice.index(founders);
        for _ in 0..1 + run.dice.below(3) {
            let act = run.next_act();
            run.stage.world.request(now, seat, act.clone());
            // A client that hears nothing asks another server with the same bytes.
            if run.dice.below(3) == 0 {
                let later = now + run.dice.within(Span::ms(0, 300));
                run.stage.world.request(later, run.dice.index(founders), act);
            }
        }
        run.join_some();
    }

    fn damage(run: &mut AgreementRun, seat: usize, class: Class, place: u64) {
        if let Some(other) = run.damaged {
            let recovered = run.stage.world.server(other).is_some_and(is_voting);
            if !recovered || run.own.joining.iter().any(|(joining, _)| *joining == other) {
                return;
            }
            run.damaged = None;
        }
        let honest = run.stage.world.cluster.oracle.is_honest(seat);
        let runs = run.stage.world.server(seat).is_some_and(is_voting);
        if !honest || !runs || run.unreliable() >= run.faults_borne() {
            return;
        }
        let harmed = run.stage.while_off(seat, |stage| {
            let sim = stage.setting().sim;
            let harmed = harm(stage.world.disk_mut(seat), sim, class, place).is_some();
            if harmed {
                stage.world.note_fault(class);
                stage.world.cluster.may_halt = vec![seat];
            }
            harmed
        });
        run.stage.world.cluster.may_halt.clear();
        if !harmed {
            return;
        }
        if run.stage.world.server(seat).is_some() {
            let what = format!("{class} at {place:x} in the log, and it starts");
            run.stage.world.blame(Some(seat), Law::Damage, what);
            return;
        }
        // What the operator does: the log goes away, and the server asks before it votes.
        run.damaged = Some(seat);
        run.stage.lose_disk(seat);
        run.own.joining.push((seat, false));
        run.join_some();
    }

    fn join(run: &mut AgreementRun, seat: usize) {
        let known = run.own.joining.iter().any(|(other, _)| *other == seat);
        if !known && !run.stage.world.cluster.starts.contains_key(&seat) {
            run.own.joining.push((seat, true));
        }
    }

    fn prepare(run: &mut AgreementRun, seat: usize) {
        Self::join(run, seat);
    }

    fn ask_for(run: &mut AgreementRun, change: MemberChange, wanted: SetChange) {
        let setting = Arc::clone(run.stage.setting());
        run.stage.submit_everywhere(&*setting.player(0), Act::SetChange(wanted));
        if let MemberChange::Promote(seat) = change
            && let Some(joiner) = run.stage.world.server(seat)
            && let Some((height, root)) = joiner.ledger().state().roots.last_key_value()
        {
            let ready = Act::Ready { height: *height, proof: root.0 };
            run.stage.submit_everywhere(&*setting.keys[seat], ready);
        }
    }
}

fn is_voting(server: &AgreementServer) -> bool {
    server.agreement().is_voting()
}
