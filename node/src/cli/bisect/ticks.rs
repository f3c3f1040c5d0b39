//! Two turns that were decided at one height, played tick by tick from the state before them.
//!
//! Their headers are not the same, and so the leaves that record the turn, and the seed of its order,
//! are not either, from its first tick on. Where the place itself parts, its bodies and scripts, may
//! be later.

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
    /// What the side that has it came to by it, if that is known.
    pub(super) root: Option<Root>,
}

/// The first tick after which bodies or scripts are not the same, and the first such difference.
/// Nothing if there is none, if one of the turns does not follow from this state, or if its side
/// came to something else than it leads to here.
pub(super) fn first_parted(
    before: &Course,
    [one, other]: [Branch<'_>; 2],
    exec: &dyn ForkJoin,
) -> Option<(Tick, StateDifference)> {
    let mut places = Vec::new();
    one.play(before, exec, |world| places.push(place(world)))?;
    let (mut places, mut parted) = (places.into_iter(), None);
    other.play(before, exec, |world| {
        if places.next().is_some_and(|theirs| theirs != place(world)) && parted.is_none() {
            parted = Some(world.clone());
        }
    })?;
    let right = parted?;
    // Played once more in place of keeping a world of every tick.
    let mut left = None;
    one.play(before, exec, |world| {
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
    /// Shows the world after every tick; nothing if that is not how it was.
    fn play(&self, before: &Course, exec: &dyn ForkJoin, each: impl FnMut(&World)) -> Option<()> {
        let Decision { turn, certificate } = self.decision;
        before.check(turn, certificate).ok()?;
        let applied = before.clone().follow(turn, exec, &mut Ticks(each));
        self.root.is_none_or(|root| root == applied.root).then_some(())
    }
}

/// Shows every tick to a closure.
struct Ticks<F>(F);

impl<F: FnMut(&World)> Watch for Ticks<F> {
    fn enter(&mut self, _: Stage) {}

    fn looks_into_ticks(&self) -> bool {
        true
    }

    fn ticked(&mut self, world: &World) {
        (self.0)(world);
    }
}

/// The leaves of bodies and scripts.
fn place(world: &World) -> Manifest {
    let mut manifest = world.manifest();
    manifest.leaves.retain(|leaf| is_of_body_or_script(&leaf.key));
    manifest
}
