//! What differs between two entries of one thing, and which of it acts can change.

use std::{cmp::Ordering, collections::BTreeMap};

use metatopia_math::{Angle, Fx, Vec2};
use metatopia_physics::{BodySpec, Motion, Shape};
use metatopia_sim::{ObjectSpec, ScriptSpec};
use metatopia_types::{BodyShape, Look, PackageId, PublicKey};

/// A change of one thing that an act can bring into a running sim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ThingEdit {
    /// Gives it another outline.
    Reshape(Shape),
    /// Puts it elsewhere.
    Move(Vec2),
    /// Turns it to this direction.
    Rotate(Angle),
    /// Gives it another colour.
    Recolor(u32),
    /// Gives it another name.
    Rename(String),
    /// Has it show another text.
    Write(String),
    /// Makes it a sensor, which everything passes through, or solid.
    Sense(bool),
    /// Makes it somebody's.
    Give(PublicKey),
    /// Takes a script of this package off it.
    Detach(PackageId),
    /// Puts a script of this package on it.
    Attach(PackageId),
}

/// What differs between two entries of one thing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ThingDifference {
    /// What acts can change, in the order in which it is done.
    pub edits: Vec<ThingEdit>,
    /// The keys of the entry that no act changes.
    pub waits: Vec<&'static str>,
}

impl ThingEdit {
    /// Returns what became of a thing whose edit was done.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Reshape(_) => "resized",
            Self::Move(_) => "moved",
            Self::Rotate(_) => "turned",
            Self::Recolor(_) => "given its color",
            Self::Rename(_) => "renamed",
            Self::Write(_) => "given its text",
            Self::Sense(true) => "made a sensor",
            Self::Sense(false) => "made solid",
            Self::Give(_) => "given to its owner",
            Self::Detach(_) => "freed of a script",
            Self::Attach(_) => "given a script",
        }
    }

    /// Copies what the edit is about from one entry of the thing into the other.
    pub fn copy(&self, from: &ObjectSpec, to: &mut ObjectSpec) {
        match self {
            Self::Reshape(_) => {
                to.body.shape = from.body.shape.clone();
                to.look.shape = from.look.shape;
            }
            Self::Move(_) => to.body.pose.position = from.body.pose.position,
            Self::Rotate(_) => to.body.pose.angle = from.body.pose.angle,
            Self::Recolor(_) => to.look.color = from.look.color,
            Self::Rename(_) => to.name.clone_from(&from.name),
            Self::Write(_) => to.text.clone_from(&from.text),
            Self::Sense(_) => to.body.sensor = from.body.sensor,
            Self::Give(_) => to.owner = from.owner,
            Self::Detach(package) | Self::Attach(package) => {
                let is_it = |script: &&ScriptSpec| script.package == *package;
                let (mut wanted, has) =
                    (from.scripts.iter().filter(is_it), to.scripts.iter().filter(is_it));
                match wanted.clone().count().cmp(&has.count()) {
                    Ordering::Greater => to.scripts.extend(wanted.next_back().cloned()),
                    Ordering::Less => {
                        let last = to.scripts.iter().rposition(|script| is_it(&script));
                        drop(last.map(|last| to.scripts.remove(last)));
                    }
                    Ordering::Equal => {}
                }
            }
        }
    }
}

impl ThingDifference {
    /// Compares two entries of a thing. A script goes on with another package of the same name; `names` are the names
    /// of packages.
    #[must_use]
    pub fn between(
        before: &ObjectSpec,
        now: &ObjectSpec,
        names: &BTreeMap<PackageId, String>,
    ) -> Self {
        let mut found = Self::default();
        found.note_ground(before, now);
        found.note_words(before, now);
        found.note_material(&before.body, &now.body);
        found.note_scripts(&before.scripts, &now.scripts, names);
        found
    }

    /// Says whether nothing differs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.edits.is_empty() && self.waits.is_empty()
    }

    /// Notes the outline and where it is.
    fn note_ground(&mut self, before: &ObjectSpec, now: &ObjectSpec) {
        let (old, new) = (&before.body, &now.body);
        let is_reshaped = old.shape != new.shape;
        let has_outline = |shape: &Shape| !matches!(shape, Shape::Segment(_) | Shape::Compound(_));
        if is_reshaped && !(has_outline(&old.shape) && has_outline(&new.shape)) {
            // A half of the change would leave a wall of the old length at the place of the new one.
            self.waits.push("outline");
            return;
        }
        let mut drawn = before.look.shape;
        if is_reshaped {
            self.edits.push(ThingEdit::Reshape(new.shape.clone()));
            drawn = usual_look(&new.shape);
        }
        if old.pose.position != new.pose.position {
            self.edits.push(ThingEdit::Move(new.pose.position));
        }
        if old.pose.angle != new.pose.angle {
            self.edits.push(ThingEdit::Rotate(new.pose.angle));
        }
        if drawn != now.look.shape {
            self.waits.push("shape");
        }
    }

    /// Notes what people see and are told, and whether they may pass.
    fn note_words(&mut self, before: &ObjectSpec, now: &ObjectSpec) {
        if before.look.color != now.look.color {
            self.edits.push(ThingEdit::Recolor(now.look.color));
        }
        if before.name != now.name {
            self.edits.push(ThingEdit::Rename(now.name.clone()));
        }
        if before.text != now.text {
            self.edits.push(ThingEdit::Write(now.text.clone()));
        }
        if before.body.sensor != now.body.sensor {
            self.edits.push(ThingEdit::Sense(now.body.sensor));
        }
        match now.owner {
            owner if owner == before.owner => {}
            Some(owner) => self.edits.push(ThingEdit::Give(owner)),
            None => self.waits.push("owner"),
        }
        let waits = [
            ("kind", before.kind != now.kind),
            ("licence", before.licence != now.licence),
            ("spawned_by", before.spawner != now.spawner),
            ("seat", before.seat != now.seat),
        ];
        self.note_waits(&waits);
    }

    /// Notes what a body is made of, and how it moves.
    fn note_material(&mut self, before: &BodySpec, now: &BodySpec) {
        self.note_waits(&[
            ("motion", before.motion != now.motion),
            ("velocity", before.velocity != now.velocity),
            ("spin", before.spin != now.spin),
            ("mass", before.mass != now.mass && !is_of_one_density(before, now)),
            ("friction", before.friction != now.friction),
            ("restitution", before.restitution != now.restitution),
            ("friction_rule", before.friction_rule != now.friction_rule),
            ("restitution_rule", before.restitution_rule != now.restitution_rule),
            ("damping", before.linear_damping != now.linear_damping),
            ("spin_damping", before.angular_damping != now.angular_damping),
            ("upright", before.fixed_rotation != now.fixed_rotation),
            ("categories", before.filter.category != now.filter.category),
            ("passes", before.filter.mask != now.filter.mask),
        ]);
    }

    /// Notes the scripts: those of both entries are paired by their packages, and then by the names of these.
    fn note_scripts(
        &mut self,
        before: &[ScriptSpec],
        now: &[ScriptSpec],
        names: &BTreeMap<PackageId, String>,
    ) {
        let mut old: Vec<&ScriptSpec> = before.iter().collect();
        let mut new: Vec<&ScriptSpec> = now.iter().collect();
        let is_namesake = |one: &ScriptSpec, other: &ScriptSpec| {
            let name = names.get(&one.package);
            name.is_some() && name == names.get(&other.package)
        };
        let mut has_other_state =
            take_pairs(&mut old, &mut new, |one, other| one.package == other.package);
        has_other_state |= take_pairs(&mut old, &mut new, is_namesake);
        has_other_state |= new.iter().any(|script| !script.state.0.is_empty());
        self.edits.extend(old.into_iter().map(|script| ThingEdit::Detach(script.package)));
        self.edits.extend(new.into_iter().map(|script| ThingEdit::Attach(script.package)));
        self.note_waits(&[("state", has_other_state)]);
    }

    fn note_waits(&mut self, keys: &[(&'static str, bool)]) {
        self.waits.extend(keys.iter().filter(|(_, differs)| *differs).map(|(key, _)| *key));
    }
}

/// Takes out the scripts of which a pair says that they are the same. Returns whether the states of some differ.
fn take_pairs(
    old: &mut Vec<&ScriptSpec>,
    new: &mut Vec<&ScriptSpec>,
    is_pair: impl Fn(&ScriptSpec, &ScriptSpec) -> bool,
) -> bool {
    let mut has_other_state = false;
    new.retain(|script| {
        let Some(n) = old.iter().position(|other| is_pair(other, script)) else { return true };
        has_other_state |= old.remove(n).state != script.state;
        false
    });
    has_other_state
}

/// Returns the entry of a thing as it is once somebody has built it by one act. What the two differ in is what more
/// acts must do, or what waits.
///
/// Builders make no thing that moves by itself, so such a one stays in its place.
#[must_use]
pub fn as_built(thing: &ObjectSpec) -> ObjectSpec {
    let BodySpec { shape, motion, pose, .. } = &thing.body;
    let motion = if *motion == Motion::Dynamic { Motion::Dynamic } else { Motion::Static };
    let body = BodySpec::new(shape.clone(), motion, pose.position);
    ObjectSpec {
        owner: None,
        look: Look::plain(thing.look.color, usual_look(shape)),
        body: BodySpec { pose: *pose, ..body },
        scripts: Vec::new(),
        spawner: None,
        seat: None,
        ..thing.clone()
    }
}

/// Returns how an outline is drawn that an act gave to a thing.
const fn usual_look(shape: &Shape) -> BodyShape {
    if matches!(shape, Shape::Circle { .. }) { BodyShape::Round } else { BodyShape::Square }
}

/// Says whether two bodies weigh as much for their sizes: a thing that is resized keeps its material.
fn is_of_one_density(before: &BodySpec, now: &BodySpec) -> bool {
    let [own, other] = [
        before.mass.saturating_mul(now.shape.area()),
        now.mass.saturating_mul(before.shape.area()),
    ];
    let gap = own.saturating_sub(other).saturating_abs();
    before.shape != now.shape && gap <= own.saturating_mul(Fx::from_ratio(1, 1_024))
}
