//! Two turns that were decided at one height, applied tick by tick to the state before them.
//!
//! Their headers differ, and so do the leaves that record the turn, and the seed of its order, from its
//! first tick on. The place itself, its bodies and scripts, may part later.

use metatopia_consensus::Decision;
use metatopia_sim::{
    Course, ForkJoin, Manifest, Stage, StateDifference, Watch, World, difference,
    is_of_body_or_script,
};
use metatopia_types::{Root, Tick};

/// One of the two turns.
#[derive(Clone, Copy)]
pub(super) struct Branch<'a> {
    pub(super) decision: &'a Decision,
    /// The root that the side with this turn came to, if that is known.
    pub(super) root: Option<Root>,
}

/// Returns the first tick after which bodies or scripts differ, and their first difference. Returns
/// nothing if they never do, if one of the turns does not follow from this state, or if its side came to
/// another root than the turn leads to here.
pub(super) fn first_difference(
    before: &Course,
    [one, other]: [Branch<'_>; 2],
    exec: &dyn ForkJoin,
) -> Option<(Tick, StateDifference)> {
    let mut places = Vec::new();
    one.apply(before, exec, |world| places.push(place(world)))?;
    let (mut places, mut parted) = (places.into_iter(), None);
    other.apply(before, exec, |world| {
        if places.next().is_some_and(|theirs| theirs != place(world)) && parted.is_none() {
            parted = Some(world.clone());
        }
    })?;
    let right = parted?;
    // The turn is applied once more, so that no world of every tick need be kept.
    let mut left = None;
    one.apply(before, exec, |world| {
        if world.tick() == right.tick() {
            left = Some(world.clone());
        }
    })?;
    let left = left?;
    let found = difference(
        (&place(&left), &|key| left.leaf(key)),
        (&place(&right), &|key| right.leaf(key)),
    );
    found.map(|found| (right.tick(), found))
}

impl Branch<'_> {
    /// Applies the turn, and shows the world after every tick. Returns nothing if the turn does not
    /// follow from the state, or leads to another root.
    fn apply(&self, before: &Course, exec: &dyn ForkJoin, each: impl FnMut(&World)) -> Option<()> {
        let Decision { turn, certificate } = self.decision;
        before.check(turn, certificate).ok()?;
        let applied = before.clone().follow(turn, exec, &mut TickWatch(each));
        self.root.is_none_or(|root| root == applied.root).then_some(())
    }
}

/// Shows every tick to a closure.
struct TickWatch<F>(F);

impl<F: FnMut(&World)> Watch for TickWatch<F> {
    fn enter(&mut self, _: Stage) {}

    fn looks_into_ticks(&self) -> bool {
        true
    }

    fn ticked(&mut self, world: &World) {
        (self.0)(world);
    }
}

/// Returns the leaves of bodies and scripts.
fn place(world: &World) -> Manifest {
    let mut manifest = world.manifest();
    manifest.leaves.retain(|leaf| is_of_body_or_script(&leaf.key));
    manifest
}
