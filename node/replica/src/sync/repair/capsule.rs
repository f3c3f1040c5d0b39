//! The certified state that a repair goes back to, and the capsule that shows the wrong state.

use metatopia_sim::Capsule;
use metatopia_types::{Height, Root, limits::ROOT_LAG};

use super::{CertifiedState, Repair, stated};
use crate::{Effect, sync::SyncContext};

impl Repair {
    /// Writes a capsule with all that a replay elsewhere needs, including the decided turn that is
    /// void here.
    pub(super) fn write_capsule(&self, ctx: &mut SyncContext<'_>, base: &CertifiedState) {
        let (agreement, execution) = (&*ctx.agreement, &*ctx.execution);
        let world = execution.world();
        let world = world.expect("a capsule is written while no turn is being applied");
        let tip = agreement.height();
        // The state in doubt is the one that the height under way rests on. Without it the capsule
        // shows the newest state.
        let doubted = tip.minus(ROOT_LAG).filter(|at| *at > base.height && *at <= world.height());
        let doubted = doubted.and_then(|at| Some((at, self.recent(at)?)));
        let (last, end) = doubted.unwrap_or_else(|| (world.height(), world.snapshot()));
        let heights = (base.height.0..tip.0).map(|height| Height(height).plus(1));
        let decisions = heights.map_while(|height| agreement.decision(height));
        let decisions = decisions.map(AsRef::as_ref).chain(agreement.contested());
        let turns: Vec<_> =
            decisions.map(|found| ((*found.turn).clone(), found.certificate.clone())).collect();
        let own = (base.height.0..last.0).map(|height| Height(height).plus(1));
        let capsule = Capsule {
            genesis: ctx.config.genesis.as_ref().clone(),
            root: base.root,
            snapshot: base.bytes.clone(),
            turns,
            roots: own.map_while(|height| execution.archive().root(height)).collect(),
            end: Some(end),
        };
        let bytes = capsule.encode();
        ctx.out.emit(Effect::Capsule { height: last, bytes });
    }
}

/// Returns the newest stored state whose root was decided.
pub(super) fn certified_state(ctx: &SyncContext<'_>) -> Option<CertifiedState> {
    let next = ctx.agreement.height();
    let certified = |height: Height, root: Root| match stated(ctx.agreement, height) {
        Some(stated) => stated == root,
        // A genesis needs no certificate. An old root was compared when its header was decided.
        None => height == Height(0) || height.plus(ROOT_LAG) < next,
    };
    let mut kept = ctx.execution.snapshot_offers().kept();
    let (height, root, bytes) = kept.find(|(height, root, _)| certified(*height, *root))?;
    Some(CertifiedState { height, root, bytes: bytes.to_vec() })
}
