//! Things of a place that stand there twice.
//!
//! Things that stay may overlap: walls meet at corners, and a statue stands on its plinth. But the very same thing at
//! the very same spot is one too many. Nobody sees it, and whoever takes the wall away finds another one.

use std::collections::{BTreeMap, BTreeSet};

use metatopia_math::{Angle, Fx};
use metatopia_physics::{Motion, Shape};
use metatopia_sim::ObjectSpec;
use toml::Spanned;

use super::{Place, file::ObjectFile};
use crate::{Mistake, TomlSource};

/// Half a turn: that far a rectangle or a capsule turns into itself.
const HALF_TURN: u32 = 1 << 31;

impl Place {
    /// Returns the things that are the same as an earlier one, each behind that one, so that no place of them is
    /// founded from a file.
    pub fn doubled(&self) -> impl Iterator<Item = (&ObjectSpec, &ObjectSpec)> {
        doubled(&self.objects).into_iter().map(|(first, again)| {
            let [first, again] = [first, again].map(|at| &self.objects[at]);
            (first, again)
        })
    }
}

impl TomlSource<'_> {
    /// Notes things that are there twice. `tables` are the places among `described` of the tables that the objects
    /// come from.
    pub(super) fn doubled(
        &self,
        (described, tables): (&[Spanned<ObjectFile>], &[usize]),
        objects: &[ObjectSpec],
        mistakes: &mut Vec<Mistake>,
    ) {
        let mut told = BTreeSet::new();
        for (first, again) in doubled(objects) {
            let pair = (tables[first], tables[again]);
            // Two tables of many places each are told once.
            if !told.insert(pair) {
                continue;
            }
            let line = self.mistake(&described[pair.0], "").line;
            let message = format!(
                "{:?} is the thing {:?} of line {line} once more, of the same outline at the same place: take one \
                 away, or move it",
                objects[again].name, objects[first].name
            );
            mistakes.push(self.mistake(&described[pair.1], message));
        }
    }
}

/// Returns the pairs of things that stay, block, and are the same, by their places in the list: the first one, and
/// each that repeats it. What somebody built or a script made counts for nothing: their sim let them, and its place
/// can be exported and founded again.
fn doubled(objects: &[ObjectSpec]) -> Vec<(usize, usize)> {
    let mut seen = BTreeMap::<(Fx, Fx), Vec<usize>>::new();
    let mut found = Vec::new();
    let is_of_place = |spec: &ObjectSpec| spec.owner.is_none() && spec.spawner.is_none();
    for (again, spec) in objects.iter().enumerate() {
        if spec.body.motion != Motion::Static || spec.body.sensor || !is_of_place(spec) {
            continue;
        }
        let at = spec.body.pose.position;
        let here = seen.entry((at.x, at.y)).or_default();
        match here.iter().find(|first| is_same(&objects[**first], spec)) {
            Some(first) => found.push((*first, again)),
            None => here.push(again),
        }
    }
    found
}

/// Returns whether two things at one point block the same at the same ground.
fn is_same(one: &ObjectSpec, other: &ObjectSpec) -> bool {
    let (one, other) = (&one.body, &other.body);
    let turn = |angle: Angle| match one.shape {
        Shape::Circle { .. } => 0,
        Shape::Rect { .. } | Shape::Capsule { .. } => angle.to_bits() % HALF_TURN,
        _ => angle.to_bits(),
    };
    one.filter == other.filter
        && one.shape == other.shape
        && turn(one.pose.angle) == turn(other.pose.angle)
}
