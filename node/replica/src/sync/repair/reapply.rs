//! Applying decided turns again, from a certified state on, and comparing every root on the way.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

use metatopia_consensus::{AppliedTurn, Decision, Halt};
use metatopia_sim::{Applied, StateDifference, World, differ, differ_from};
use metatopia_types::{Height, Root};

use super::{CertifiedState, Repair, RepairReport, RepairStage, stated};
use crate::{Effect, Reader, sync::SyncContext};

/// A run that applies decided turns again.
#[derive(Debug)]
pub(super) struct Reapplying {
    /// The state before the repair, in which a field may be wrong.
    end: Box<World>,
    /// The next turn to be applied again.
    next: Height,
    /// Turns that were read from the log and are not applied yet.
    read: VecDeque<Decision>,
    /// Whether turns are being read from the log.
    loading: bool,
    /// The roots that this server computed since it was started. Each may be wrong.
    had: BTreeMap<Height, Root>,
    /// The root in the log that this server could not compute again. It may be wrong, too.
    logged: Option<(Height, Root)>,
    /// The right states, from the first wrong one on.
    states: Vec<AppliedTurn>,
    /// The first turn with a wrong root, that root, and the right one.
    first: Option<WrongRoot>,
    /// The first difference, and the height of the state that it is in.
    found: Option<(Height, StateDifference)>,
    /// The newest right state that has to be stored.
    snapshot: Option<(Height, Root, Vec<u8>)>,
}

/// A root that this server had and that was not the right one.
#[derive(Clone, Copy, Debug)]
struct WrongRoot {
    height: Height,
    had: Root,
    right: Root,
}

impl Reapplying {
    /// Returns the state before the repair.
    pub(super) fn into_end(self) -> Box<World> {
        self.end
    }
}

impl Repair {
    /// Goes back to a certified state, from which turns are applied again. The world must be at hand.
    pub(in crate::sync) fn go_back(&mut self, ctx: &mut SyncContext<'_>, state: &CertifiedState) {
        let CertifiedState { height, root, bytes } = state;
        let wrong = ctx.execution.world();
        let wrong = wrong.expect("a repair begins while no turn is being applied");
        let Ok(world) = World::from_snapshot(bytes, *root, wrong.tools()) else {
            return self.abandon(ctx);
        };
        let had = ctx.execution.roots(*height..=wrong.height());
        let logged = match self.halt {
            Some(Halt::Unrepeatable { height, logged, .. }) => Some((height, logged)),
            _ => None,
        };
        self.stage = Some(RepairStage::Reapplying(Box::new(Reapplying {
            end: ctx.execution.replace_world(Box::new(world)),
            next: height.plus(1),
            read: VecDeque::new(),
            loading: false,
            had,
            logged,
            states: Vec::new(),
            first: None,
            found: None,
            snapshot: None,
        })));
    }

    /// Hands out the next turn to be applied again, or asks the log for it.
    pub(in crate::sync) fn reapply_next(&mut self, ctx: &mut SyncContext<'_>) {
        let Some(RepairStage::Reapplying(run)) = &mut self.stage else {
            return;
        };
        if run.loading || ctx.execution.world().is_none() {
            return;
        }
        let height = run.next;
        let read = run.read.pop_front().filter(|found| found.height() == height).map(Arc::new);
        let decision = read.or_else(|| ctx.agreement.decision(height).cloned());
        let Some(decision) = decision else {
            run.loading = true;
            return ctx.out.emit(Effect::Load {
                reader: Reader::Repair,
                from: height,
                count: u32::MAX,
            });
        };
        run.next = height.plus(1);
        let lent = ctx.execution.lend(decision);
        ctx.out.emit(lent.expect("a repair hands out a turn while the world is at hand"));
    }

    /// Takes turns from the log that are to be applied again.
    pub(in crate::sync) fn turns_loaded(
        &mut self,
        ctx: &mut SyncContext<'_>,
        decisions: Vec<Decision>,
    ) {
        let Some(RepairStage::Reapplying(run)) = &mut self.stage else {
            // A replica that has ended since may have asked for them.
            return;
        };
        run.loading = false;
        let follows = decisions.first().is_some_and(|found| found.height() == run.next);
        run.read = decisions.into();
        if !follows {
            // The log lacks them, so only the state of another server helps.
            self.abandon(ctx);
        }
    }

    /// Compares the root after a turn that was applied again. Returns true if the state has its old
    /// height again.
    pub(in crate::sync) fn turn_reapplied(
        &mut self,
        ctx: &mut SyncContext<'_>,
        result: &Applied,
    ) -> bool {
        let (height, root) = (result.height, result.root);
        let world = ctx.execution.world();
        let world = world.expect("a turn is compared with the world that it was applied to");
        let recent = self.recent(height);
        let wrong = recent.and_then(|recent| differ_from(&recent, world));
        let Some(RepairStage::Reapplying(run)) = &mut self.stage else {
            unreachable!("only a repair that reapplies turns hears of a reapplied turn");
        };
        let logged = run.logged.filter(|(at, _)| *at == height).map(|(_, logged)| logged);
        let had = run.had.get(&height).copied().into_iter().chain(logged);
        let other = had.into_iter().find(|had| *had != root);
        if run.first.is_none()
            && let Some(had) = other
        {
            run.first = Some(WrongRoot { height, had, right: root });
            run.found = wrong.map(|found| (height, found));
        }
        if run.first.is_some() {
            let validators = result.validators.clone();
            run.states.push(AppliedTurn { height, root, validators });
            if height.0.is_multiple_of(ctx.config.snapshot_turns) {
                run.snapshot = Some((height, root, world.snapshot()));
            }
        }
        let done = height >= run.end.height();
        let repeated = stated(ctx.agreement, height).is_some_and(|stated| stated != root);
        if repeated {
            self.abandon(ctx);
        }
        done && !repeated
    }

    /// Ends a repair: the state has its old height again, and is right.
    pub(in crate::sync) fn finish(&mut self, ctx: &mut SyncContext<'_>) {
        let Some(RepairStage::Reapplying(mut run)) = self.stage.take() else {
            unreachable!("only a repair that reapplies turns comes to its end");
        };
        let halt = self.halt.take();
        let Some(WrongRoot { height, had, right }) = run.first else {
            // The state was right all the time. If agreement halted nevertheless, it stays halted.
            if let Some(halt) = halt {
                self.stay_diverged(ctx, halt);
            }
            return;
        };
        let world = ctx.execution.world();
        let world = world.expect("a repair ends with the world that the last turn was applied to");
        let end = run.end.height();
        let found = run.found.take();
        let found = found.or_else(|| differ(&run.end, world).map(|found| (end, found)));
        let (looked_at, difference) = found.map_or((end, None), |(at, found)| (at, Some(found)));
        self.count_repair(ctx);
        self.recent.clear();
        let report = RepairReport {
            height,
            had,
            now: right,
            looked_at,
            difference,
            repairs: self.repairs.len(),
            votes: !self.silent,
        };
        ctx.out.emit(Effect::Repaired(Box::new(report)));
        ctx.execution.withdraw_from(height);
        ctx.agreement.heal(ctx.now, ctx.host, &run.states, self.silent);
        let snapshot = run
            .snapshot
            .and_then(|snapshot| ctx.execution.snapshot_of_repaired(ctx.agreement, snapshot));
        if let Some(snapshot) = snapshot {
            ctx.out.release_at_barrier(snapshot);
        }
        self.changed = true;
    }
}
