//! Execution: decided turns on their way through the world, and what is remembered of them.
//!
//! Only the replica and its [sync](crate::sync) change it. All others read what was decided and
//! applied.

pub(crate) mod archive;
pub(crate) mod land;
pub(crate) mod leaves;
pub(crate) mod said;
pub(crate) mod snapshot_offers;

use std::{
    collections::{BTreeMap, VecDeque},
    ops::RangeInclusive,
    sync::Arc,
    time::Duration,
};

use metatopia_consensus::{Agreement, Decision};
use metatopia_sim::{Applied, World};
use metatopia_types::{ActId, Height, Now, Outcome, Root, limits, wire};

use self::{
    archive::Archive, land::ProvableLand, leaves::RecentLeaves, said::ProvableSaid,
    snapshot_offers::SnapshotOffers,
};
use crate::{Effect, STALL, controls::Controls, durable::records::stored, keeper::Forgetting};

/// The world, the turns that wait for it, and the recent past.
#[derive(Debug)]
pub(crate) struct Execution {
    /// The state. None while the driver applies a turn to it.
    world: Option<Box<World>>,
    /// Decided turns that are not applied yet.
    decided: VecDeque<Arc<Decision>>,
    /// The turn that the driver applies now.
    applying: Option<Arc<Decision>>,
    /// The last decided height, and when it was decided.
    height: Height,
    decided_at: Duration,
    archive: Archive,
    land: ProvableLand,
    said: ProvableSaid,
    leaves: RecentLeaves,
    snapshot_offers: SnapshotOffers,
    controls: Controls,
}

impl Execution {
    /// Begins with a state.
    pub(crate) fn new(world: World, now: Now) -> Self {
        // A restart lost the snapshots in memory, so the state at the start is offered.
        let mut snapshot_offers = SnapshotOffers::default();
        snapshot_offers.keep(world.height(), world.root(), world.snapshot());
        let mut land = ProvableLand::default();
        land.keep(&world);
        let mut said = ProvableSaid::default();
        said.keep(&world);
        let mut leaves = RecentLeaves::default();
        leaves.keep(&world);
        Self {
            height: world.height(),
            world: Some(Box::new(world)),
            decided: VecDeque::new(),
            applying: None,
            decided_at: now.monotonic,
            archive: Archive::default(),
            land,
            said,
            leaves,
            snapshot_offers,
            controls: Controls::default(),
        }
    }

    /// Breaks a rule of execution from now on.
    #[cfg(feature = "controls")]
    pub(crate) const fn break_rules(&mut self, controls: Controls) {
        self.controls = controls;
    }

    /// Returns whether this turn counts as one that was not applied, because a rule is broken.
    pub(crate) fn gives_up(&self, result: &Applied) -> bool {
        self.controls.gives_up(result)
    }

    /// Returns the world after the last applied turn, or none while a turn is being applied.
    pub(crate) fn world(&self) -> Option<&World> {
        self.world.as_deref()
    }

    /// Returns the last decided height.
    pub(crate) const fn height(&self) -> Height {
        self.height
    }

    /// Returns the last applied height, which is zero until a server that lacks the state has one.
    pub(crate) fn applied_height(&self) -> Height {
        let applying = self.applying.as_ref().and_then(|decision| decision.height().minus(1));
        self.world().map(World::height).or(applying).unwrap_or_default()
    }

    /// Returns whether nothing has been decided for [`STALL`].
    pub(crate) fn is_stalled(&self, now: Now) -> bool {
        now.monotonic.saturating_sub(self.decided_at) > STALL
    }

    /// Returns what is remembered of decided acts.
    pub(crate) const fn archive(&self) -> &Archive {
        &self.archive
    }

    /// Returns the shelves of a land office after its last turns.
    pub(crate) const fn land(&self) -> &ProvableLand {
        &self.land
    }

    /// Returns what the last states say to neighbours.
    pub(crate) const fn said(&self) -> &ProvableSaid {
        &self.said
    }

    /// Returns what the sim is and what was ordered up to the last turns.
    pub(crate) const fn leaves(&self) -> &RecentLeaves {
        &self.leaves
    }

    /// Returns the newest snapshots.
    pub(crate) const fn snapshot_offers(&self) -> &SnapshotOffers {
        &self.snapshot_offers
    }

    /// Returns the roots that this server computed at these heights.
    pub(crate) fn roots(&self, heights: RangeInclusive<Height>) -> BTreeMap<Height, Root> {
        let heights = (heights.start().0..=heights.end().0).map(Height);
        heights.filter_map(|at| self.archive.root(at).map(|root| (at, root))).collect()
    }

    /// Queues a decided turn to be applied.
    pub(crate) fn decide(&mut self, now: Now, decision: Arc<Decision>) {
        self.height = decision.height();
        self.decided_at = now.monotonic;
        self.archive.decided(&decision.turn);
        self.decided.push_back(decision);
    }

    /// Remembers a turn that was decided before, so that clients can ask about it.
    pub(crate) fn recall(&mut self, decision: &Decision) {
        self.archive.decided(&decision.turn);
        let outcomes = self.world().map(|world| outcomes(world, decision.height()));
        self.archive.record_outcomes(decision.height(), &outcomes.unwrap_or_default());
    }

    /// Lends the world to the driver for the next decided turn, if the world is at hand.
    pub(crate) fn lend_for_next(&mut self) -> Option<Effect> {
        self.world.as_ref()?;
        let decision = self.decided.pop_front()?;
        self.lend(decision)
    }

    /// Lends the world to the driver, which applies this turn to it, if the world is at hand.
    pub(crate) fn lend(&mut self, decision: Arc<Decision>) -> Option<Effect> {
        let world = self.world.take()?;
        self.applying = Some(Arc::clone(&decision));
        Some(Effect::Apply { world, decision })
    }

    /// Takes the world back after the turn that it was lent for, and returns that turn.
    pub(crate) fn take_back(&mut self, world: Box<World>, result: &Applied) -> Arc<Decision> {
        let decision = self.applying.take();
        let decision = decision.expect("the driver hands back only a world that it was lent");
        let height = decision.height();
        assert_eq!(world.height(), height, "the driver applied the turn it was given");
        self.archive.applied(result, world.proof(&World::outcomes_key(height)));
        self.land.keep(&world);
        self.said.keep(&world);
        self.leaves.keep(&world);
        self.world = Some(world);
        decision
    }

    /// Puts another state in the place of the state at hand, and returns that.
    pub(crate) fn replace_world(&mut self, world: Box<World>) -> Box<World> {
        self.land.clear();
        self.land.keep(&world);
        self.said.clear();
        self.said.keep(&world);
        self.leaves.clear();
        self.leaves.keep(&world);
        let before = self.world.replace(world);
        before.expect("a state is replaced while no turn is being applied")
    }

    /// Returns the snapshot to store of the state at hand, and offers the state to peers.
    pub(crate) fn snapshot(&mut self, agreement: &Agreement) -> Option<Effect> {
        let world = self.world()?;
        let (height, root) = (world.height(), world.root());
        let base = agreement.base(height)?;
        let state = world.snapshot();
        let bytes = stored(&base, &state);
        self.snapshot_offers.keep(height, root, state);
        Some(Effect::Snapshot { height, root, bytes })
    }

    /// Returns what is to be dropped of what was said, so many turns below the newest snapshot.
    pub(crate) fn forgetting(&self, whole_turns: u64) -> Effect {
        let forgetting = self.world().map(|world| Forgetting {
            words: world.forgotten().copied().collect(),
            before: world.parameters().chat.kept_since(world.time()),
            whole_turns,
        });
        Effect::Forget(Box::new(forgetting.unwrap_or_default()))
    }

    /// Returns the snapshot to store of a repaired state, and offers the state to peers.
    pub(crate) fn snapshot_of_repaired(
        &mut self,
        agreement: &Agreement,
        (height, root, state): (Height, Root, Vec<u8>),
    ) -> Option<Effect> {
        let bytes = stored(&agreement.base(height)?, &state);
        self.snapshot_offers.keep(height, root, state);
        Some(Effect::Snapshot { height, root, bytes })
    }

    /// Withdraws the snapshots from this height on, because their state was wrong.
    pub(crate) fn withdraw_from(&mut self, height: Height) {
        self.snapshot_offers.forget_from(height);
    }
}

/// Returns the outcomes of a turn's acts, if the world remembers them.
fn outcomes(world: &World, height: Height) -> Vec<Outcome> {
    let leaf = world.leaf(&World::outcomes_key(height));
    let kept = leaf.map_or_else(Vec::new, |leaf| {
        let kept: Result<Vec<(ActId, Outcome)>, _> = wire::decode(&leaf, limits::LEAF_BYTES_MAX);
        kept.expect("a leaf that a world of this engine wrote is read by it")
    });
    kept.into_iter().map(|(_, outcome)| outcome).collect()
}
