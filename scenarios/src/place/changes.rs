//! What changed between two readings of a place: which thing is which, and what differs.

mod difference;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use metatopia_physics::{JointKind, JointSpec};
use metatopia_sim::ObjectSpec;
use metatopia_types::ObjectId;
use toml::Table;

use super::{
    Place,
    world::{renumbered, renumbered_joint},
};
pub use difference::{ThingDifference, ThingEdit, as_built};

/// The key of joints, as [`Place::changed_keys`] tells it.
pub const JOINT_KEY: &str = "joint";

/// Which things of two readings of a place are the same ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SameThings {
    /// For each thing now, its index before; nothing if it is new.
    before: Vec<Option<usize>>,
    /// The numbers now of the things before that are still there.
    numbers: BTreeMap<ObjectId, ObjectId>,
}

impl SameThings {
    /// Finds which things are the same ones: first by a name that one thing has in both readings, then by an equal
    /// entry, then in order among those of one name. Last, what is left of both readings is the same if all but its
    /// name is equal: it was renamed. Scripts do not count as a part of the entry.
    #[must_use]
    pub fn of(before: &[ObjectSpec], now: &[ObjectSpec]) -> Self {
        let (named_before, named_now) = (by_name(before), by_name(now));
        let mut same = vec![None; now.len()];
        let mut taken = BTreeSet::new();
        for (name, those) in &named_now {
            let Some(others) = named_before.get(name) else { continue };
            if let ([one], [other]) = (&those[..], &others[..]) {
                same[*one] = Some(*other);
                taken.insert(*other);
                continue;
            }
            // A second look takes in order what has no equal.
            for is_equal in [has_equal_entry, |_: &ObjectSpec, _: &ObjectSpec| true] {
                for n in those {
                    let mut free = others.iter().filter(|other| !taken.contains(*other));
                    if same[*n].is_none()
                        && let Some(other) = free.find(|other| is_equal(&before[**other], &now[*n]))
                    {
                        same[*n] = Some(*other);
                        taken.insert(*other);
                    }
                }
            }
        }
        let mut left: Vec<usize> = (0..before.len()).filter(|n| !taken.contains(n)).collect();
        for (thing, same) in now.iter().zip(&mut same).filter(|(_, same)| same.is_none()) {
            let renamed = left.iter().position(|old| has_equal_entry(&before[*old], thing));
            *same = renamed.map(|at| left.remove(at));
        }
        let numbers = same
            .iter()
            .zip(1..)
            .filter_map(|(old, new)| Some((number(*old.as_ref()?), ObjectId(new))));
        Self { numbers: numbers.collect(), before: same }
    }

    /// Returns the index that a thing had before, by its index now; nothing if it is new.
    #[must_use]
    pub fn before(&self, now: usize) -> Option<usize> {
        self.before.get(now).copied().flatten()
    }

    /// Returns the indexes that new things have.
    pub fn added(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.before.len()).filter(|n| self.before[*n].is_none())
    }

    /// Returns the indexes that things had before that are gone now, of so many.
    pub fn removed(&self, before: usize) -> impl Iterator<Item = usize> + '_ {
        (0..before).filter(|n| !self.numbers.contains_key(&number(*n)))
    }

    /// Gives a thing of the reading before the handles of other things that are right now, so that both readings
    /// can be compared.
    #[must_use]
    pub fn renumbered(&self, before: ObjectSpec) -> ObjectSpec {
        renumbered(before, &self.numbers)
    }

    /// Says whether joints are the same ones, in the same order; `is_same` compares two of them.
    fn are_joints_same(
        &self,
        before: &[JointSpec],
        now: &[JointSpec],
        is_same: impl Fn(&JointSpec, &JointSpec) -> bool,
    ) -> bool {
        let mut pairs = before.iter().zip(now);
        let numbered = |joint: &JointSpec| renumbered_joint(*joint, &self.numbers);
        before.len() == now.len()
            && pairs.all(|(one, other)| numbered(one).is_some_and(|one| is_same(&one, other)))
    }
}

impl Place {
    /// Returns the keys of the file that another reading of the place changed, but for things. `same` says which
    /// things are the same ones. Keys of a table have its name before them, as `building.reach`.
    ///
    /// # Panics
    /// Never: all that a place holds has a form in TOML.
    #[must_use]
    pub fn changed_keys(&self, now: &Self, same: &SameThings) -> BTreeSet<String> {
        let mut keys = BTreeSet::new();
        changed_in(&self.table(), &now.table(), "", &mut keys);
        if !same.are_joints_same(&self.joints, &now.joints, |one, other| one == other) {
            keys.insert(JOINT_KEY.to_owned());
        }
        keys
    }

    /// Says whether the joints of another reading differ at most in what follows from where their things stand, of
    /// things that stand elsewhere: then nobody wrote another joint.
    #[must_use]
    pub fn has_joints_of(&self, now: &Self, same: &SameThings) -> bool {
        let is_moved = |end: ObjectId| {
            let index = usize::try_from(end.0).ok().and_then(|number| number.checked_sub(1));
            let pose = |place: &Self, index: usize| Some(place.objects.get(index)?.body.pose);
            let before = index.and_then(|now| pose(self, same.before(now)?));
            before != index.and_then(|index| pose(now, index))
        };
        same.are_joints_same(&self.joints, &now.joints, |one, other| {
            let has_moved = other.a.is_some_and(is_moved) || is_moved(other.b);
            one == other || (has_moved && placed_as(*one, other) == *other)
        })
    }

    /// Returns what the file says, but for things and joints, whose numbers say nothing by themselves.
    fn table(&self) -> Table {
        let (objects, joints) = (Vec::new(), Vec::new());
        let bare = Self { objects, joints, packages: BTreeMap::new(), ..self.clone() };
        Table::try_from(bare.file(&BTreeMap::new())).expect("numbers and texts")
    }
}

/// Returns a joint with what follows from where its things stand as another one has it.
fn placed_as(joint: JointSpec, other: &JointSpec) -> JointSpec {
    use JointKind::Distance;
    let kind = match (joint.kind, other.kind) {
        (Distance { spring: own, .. }, Distance { min, max, spring }) => {
            let length = spring.map(|(length, _)| length);
            let spring = own.map(|(own, spring)| (length.unwrap_or(own), spring));
            Distance { min, max, spring }
        }
        (kind, _) => kind,
    };
    let JointSpec { anchor_a, anchor_b, angle, .. } = *other;
    JointSpec { anchor_a, anchor_b, angle, kind, ..joint }
}

/// Adds the keys whose values differ in two tables.
fn changed_in(before: &Table, now: &Table, above: &str, keys: &mut BTreeSet<String>) {
    let all: BTreeSet<&String> = before.keys().chain(now.keys()).collect();
    for key in all {
        let empty = toml::Value::Table(Table::new());
        let value = |table: &Table, other: &Table| match (table.get(key), other.get(key)) {
            (None, Some(toml::Value::Table(_))) => Some(empty.clone()),
            (own, _) => own.cloned(),
        };
        let name = format!("{above}{key}");
        match (value(before, now), value(now, before)) {
            (Some(toml::Value::Table(before)), Some(toml::Value::Table(now))) => {
                changed_in(&before, &now, &format!("{name}."), keys);
            }
            (before, now) if before != now => drop(keys.insert(name)),
            _ => {}
        }
    }
}

/// Returns the number that the thing with this index has in a sim that is founded of its place.
fn number(index: usize) -> ObjectId {
    ObjectId(0).plus(index as u64 + 1)
}

/// Returns the indexes of things, by their names.
fn by_name(things: &[ObjectSpec]) -> BTreeMap<&str, Vec<usize>> {
    let mut named: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (n, thing) in things.iter().enumerate() {
        named.entry(&thing.name).or_default().push(n);
    }
    named
}

/// Says whether two entries are equal but for the name, the scripts and the number of what spawned the thing.
fn has_equal_entry(one: &ObjectSpec, other: &ObjectSpec) -> bool {
    let ObjectSpec { kind, name: _, owner, look, text, body, scripts: _, licence, .. } = one;
    (kind, owner, look, text) == (&other.kind, &other.owner, &other.look, &other.text)
        && (body, licence, one.seat) == (&other.body, &other.licence, other.seat)
}
