//! A region: its bodies and contacts, and the step.

use metatopia_math::{Fx, Vec2};
use metatopia_types::ObjectId;

use crate::active_set::{ActiveSet, RegionView};
use crate::body::{Body, MovedBody};
use crate::bounds::Bounds;
use crate::contact::{Contact, ContactPoints};
use crate::fixed::Q20;
use crate::grid::{Cell, Grid};
use crate::joint_store::JointStore;
use crate::mass_props::MassProps;
use crate::solver::Solver;
use crate::step::step;
use crate::surroundings::Surroundings;
use crate::tier::Tier;
use crate::touch::{StepEvents, Touch};

mod commands;
mod edits;
mod errors;
mod joints;
#[cfg(test)]
mod tests;

pub use edits::Aspect;
pub use errors::{
    ImpulseError, InsertError, MissingBody, MotionError, OutOfBounds, ReshapeError, RevertError,
    VelocityError,
};

/// An area of ground with its bodies. Two regions are equal if their parameters, bodies, contacts,
/// joints and states of tiers are.
#[derive(Clone, Debug, Default)]
pub struct Region {
    pub(crate) surroundings: Surroundings,
    /// What moves the bodies, if it is not the solver.
    pub(crate) tier: Option<Box<dyn Tier>>,
    pub(crate) tier_changed: bool,
    /// The bodies that the tier froze in the last step.
    pub(crate) frozen: Vec<ObjectId>,
    /// The bodies, in id order.
    pub(crate) bodies: Vec<Body>,
    /// The mass properties of each body, at the body's index.
    mass_props: Vec<MassProps>,
    /// The flags of each body, at the body's index.
    flags: Vec<BodyFlags>,
    pub(crate) grid: Grid,
    /// The contacts, in id order.
    pub(crate) contacts: Vec<Contact>,
    pub(crate) contacts_changed: bool,
    /// The bodies that were removed since the last step and left contacts behind.
    pub(crate) removed: Vec<ObjectId>,
    pub(crate) joints: JointStore,
    /// Whether a step is known to change nothing. It is only ever set after a step that changed
    /// nothing, so it saves work and decides nothing.
    pub(crate) asleep: bool,
    /// How many bodies the last step looked at.
    pub(crate) active_bodies: usize,
    /// The memory of steps; nothing of what is in it counts.
    solver: Solver,
}

/// What a region notes of a body, so that it need not look at all bodies.
#[derive(Clone, Copy, Debug)]
struct BodyFlags {
    /// Whether the body is awake.
    awake: bool,
    /// Whether the body may have changed since the changes were last taken.
    changed: bool,
    /// The cell of the grid that the body is in.
    cell: Cell,
}

impl BodyFlags {
    /// Returns the flags of a new body, or of one that was replaced.
    fn of(body: &Body, props: &MassProps) -> Self {
        let cell = Cell::of(body.position, props.bounding_radius);
        Self { awake: !body.is_asleep(), changed: true, cell }
    }
}

/// The parts of a region that may have changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changes {
    /// The bodies that may have changed, in id order.
    pub bodies: Vec<ObjectId>,
    /// Whether any contact may have changed.
    pub contacts: bool,
    /// Whether any joint may have changed.
    pub joints: bool,
    /// Whether the state of the tier may have changed.
    pub tier: bool,
}

/// Returns the ends of contacts that are no bodies, in the order of the contacts. A state may be taken
/// between a command and a step, so contacts may name removed bodies.
fn missing_ends(ids: &[ObjectId], contacts: &[Contact]) -> Vec<ObjectId> {
    let mut missing = Vec::new();
    // Contacts are in the order of their first ends, so those are found on one way through the ids.
    let mut first = 0;
    for contact in contacts {
        first += ids[first..].iter().take_while(|id| **id < contact.a).count();
        if ids.get(first) != Some(&contact.a) {
            missing.push(contact.a);
        }
        // Ids mostly have no gaps: then the second end is as far from the first one as its id.
        let apart = usize::try_from(contact.b.0 - contact.a.0).unwrap_or(usize::MAX);
        let guess = ids.get(first.saturating_add(apart));
        if guess != Some(&contact.b) && ids[first..].binary_search(&contact.b).is_err() {
            missing.push(contact.b);
        }
    }
    missing
}

impl PartialEq for Region {
    fn eq(&self, other: &Self) -> bool {
        self.surroundings == other.surroundings
            && self.bodies == other.bodies
            && self.contacts == other.contacts
            && self.joints == other.joints
            && self.tier_state() == other.tier_state()
    }
}

impl Eq for Region {}

impl Region {
    /// Creates an empty region with the largest bounds.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a region of a state that the caller has checked.
    pub(crate) fn from_state(bodies: Vec<Body>, contacts: Vec<Contact>) -> Self {
        let mass_props = MassProps::of_all(&bodies);
        let flags = bodies.iter().zip(&mass_props).map(|(body, props)| BodyFlags::of(body, props));
        let flags: Vec<BodyFlags> = flags.collect();
        // Bodies are large: a search among their ids alone stays in the processor's memory.
        let ids: Vec<ObjectId> = bodies.iter().map(|body| body.id).collect();
        let grid = Grid::of(flags.iter().map(|flags| flags.cell), &ids);
        let removed = missing_ends(&ids, &contacts);
        Self {
            bodies,
            mass_props,
            flags,
            grid,
            contacts,
            contacts_changed: true,
            removed,
            ..Self::default()
        }
    }

    /// Returns this region with other bounds, which its bodies obey from now on.
    ///
    /// # Errors
    /// Returns [`OutOfBounds`] with the first body that is outside of them.
    pub fn with_bounds(mut self, bounds: Bounds) -> Result<Self, OutOfBounds> {
        let is_outside = |body: &&Body| body.ground(bounds).clamp(body.position) != body.position;
        match self.bodies.iter().find(is_outside) {
            Some(body) => Err(OutOfBounds(body.id)),
            None => {
                self.surroundings.bounds = bounds;
                Ok(self)
            }
        }
    }

    /// Returns the bounds that the positions of all bodies but [ghosts](crate::limits::GHOSTS_FROM) keep to.
    #[must_use]
    pub const fn bounds(&self) -> Bounds {
        self.surroundings.bounds
    }

    /// Returns this region with a gravity in metres a second squared, shortened to
    /// [`GRAVITY_MAX`](crate::limits::GRAVITY_MAX). It pulls on dynamic bodies that are awake.
    ///
    /// The default is none, as for ground that is seen from above. Gravity is no part of the bodies'
    /// and contacts' state: whoever restores a region sets it again.
    #[must_use]
    pub fn with_gravity(mut self, gravity: Vec2) -> Self {
        self.surroundings.set_gravity(gravity);
        self
    }

    /// Returns the gravity in metres a second squared, exactly.
    #[must_use]
    pub const fn gravity(&self) -> Vec2 {
        self.surroundings.gravity.vec2()
    }

    /// Returns this region with or without sleep: without it, no body falls asleep from now on, and
    /// steps look at all bodies. Whoever restores a region sets it again.
    #[must_use]
    pub const fn with_sleeping(mut self, sleeping: bool) -> Self {
        self.surroundings.sleeping = sleeping;
        self
    }

    /// Returns this region with the report of hits at no less than a speed, in metres a second, of at least
    /// [`HIT_SPEED_MIN`](crate::limits::HIT_SPEED_MIN); or without it, as at first.
    /// Whoever restores a region sets it again.
    #[must_use]
    pub fn with_hits(mut self, least: Option<Fx>) -> Self {
        self.surroundings.set_hit_speed(least);
        self
    }

    /// Returns the least speed of a hit that is reported, in metres a second; none is, without it.
    #[must_use]
    pub fn hits(&self) -> Option<Fx> {
        self.surroundings.hit_speed.map(Q20::fx)
    }

    /// Returns all bodies, in id order. With [`contacts`](Self::contacts) and [`joints`](Self::joints)
    /// they are the complete state.
    #[must_use]
    pub fn bodies(&self) -> &[Body] {
        &self.bodies
    }

    /// Returns the contacts of all bodies that touch, ordered by [`Contact::pair`].
    #[must_use]
    pub fn contacts(&self) -> &[Contact] {
        &self.contacts
    }

    /// Returns the body of this id.
    #[must_use]
    pub fn body(&self, id: ObjectId) -> Option<&Body> {
        self.index(id).ok().map(|index| &self.bodies[index])
    }

    /// Returns the body of this id, if it is no ghost.
    pub(crate) fn own_body(&self, id: ObjectId) -> Option<&Body> {
        self.body(id).filter(|body| !body.is_ghost())
    }

    /// Returns whether all bodies sleep, so that steps cost nothing until a command comes.
    #[must_use]
    pub const fn is_asleep(&self) -> bool {
        self.asleep
    }

    /// Returns how many bodies the last step looked at. The work of a step is in proportion to it.
    #[must_use]
    pub const fn active_bodies(&self) -> usize {
        self.active_bodies
    }

    /// Returns what may have changed since the last call; the first time, everything.
    pub fn take_changes(&mut self) -> Changes {
        let flagged = self.bodies.iter().zip(&mut self.flags);
        let bodies = flagged
            .filter_map(|(body, flags)| core::mem::take(&mut flags.changed).then_some(body.id))
            .collect();
        let contacts = core::mem::take(&mut self.contacts_changed);
        let joints = core::mem::take(&mut self.joints.changed);
        Changes { bodies, contacts, joints, tier: core::mem::take(&mut self.tier_changed) }
    }

    /// Marks everything as changed.
    pub fn touch_all(&mut self) {
        self.flags.iter_mut().for_each(|flags| flags.changed = true);
        self.contacts_changed = true;
        self.joints.changed = true;
        self.tier_changed = self.tier.is_some();
    }

    /// Simulates a 60th of a second. Returns the beginnings of touches, then the ends, each in id
    /// order. A step that panics has changed nothing.
    pub fn step(&mut self) -> Vec<Touch> {
        self.step_events().touches
    }

    /// Simulates a 60th of a second. Returns all that happened. A step that panics has changed nothing.
    pub fn step_events(&mut self) -> StepEvents {
        if self.asleep {
            self.active_bodies = 0;
            self.frozen.clear();
            return StepEvents::default();
        }
        if self.tier.is_some() {
            return self.step_by_tier();
        }
        self.step_of(|view, set| {
            if view.active_bodies(set).is_none() {
                view.all_bodies(set);
            }
        })
    }

    /// Simulates a step of the bodies that `select` selects.
    pub(crate) fn step_of(
        &mut self,
        select: impl FnOnce(&RegionView<'_>, &mut ActiveSet),
    ) -> StepEvents {
        let mut solver = core::mem::take(&mut self.solver);
        let awake = (0..).zip(&self.flags).filter(|(_, flags)| flags.awake);
        let view = RegionView {
            surroundings: self.surroundings,
            bodies: &self.bodies,
            mass_props: &self.mass_props,
            contacts: &self.contacts,
            awake: awake.map(|(index, _)| index).collect(),
            removed: &self.removed,
            grid: &self.grid,
            joints: &self.joints,
        };
        let none_awake = view.awake.is_empty();
        // Everything that can panic is here, before the first change of the region.
        select(&view, &mut solver.set);
        let result = step(&view, &mut solver);
        self.active_bodies = solver.set.len();
        self.solver = solver;
        for (index, moved) in &result.moved {
            self.settle(*index as usize, moved);
        }
        // Sleeping bodies stay as they are. If their contacts did as well, this state leads to
        // itself, and it will until a command changes it.
        self.asleep = none_awake
            && result.touches.is_empty()
            && result.contacts.is_none()
            && result.joints.ended.is_empty();
        if let Some(contacts) = result.contacts {
            self.contacts = contacts;
            self.contacts_changed = true;
        }
        self.removed.clear();
        let joints = self.settle_joints(result.joints);
        StepEvents { touches: result.touches, hits: result.hits, joints }
    }

    /// Takes over what a step made of a body.
    pub(crate) fn settle(&mut self, index: usize, moved: &MovedBody) {
        let body = &mut self.bodies[index];
        body.take(moved);
        let (id, awake) = (body.id, !body.is_asleep());
        let before = self.flags[index].cell;
        let cell = before.moved(moved.position);
        self.flags[index] = BodyFlags { awake, changed: true, cell };
        if cell != before {
            self.grid.remove(before, id);
            self.grid.insert(cell, id);
        }
    }

    /// Returns how many bodies are awake.
    pub(crate) fn awake_bodies(&self) -> usize {
        self.flags.iter().filter(|flags| flags.awake).count()
    }

    /// Returns the index of a body in the list, or where it would be inserted.
    pub(crate) fn index(&self, id: ObjectId) -> Result<usize, usize> {
        self.bodies.binary_search_by_key(&id, |body| body.id)
    }

    /// Inserts a body at its index.
    fn insert_at(&mut self, index: usize, body: Body) {
        let mass_props = MassProps::of(&body);
        let flags = BodyFlags::of(&body, &mass_props);
        self.grid.insert(flags.cell, body.id);
        self.mass_props.insert(index, mass_props);
        self.flags.insert(index, flags);
        self.bodies.insert(index, body);
        self.asleep = false;
    }

    /// Replaces a body by its next state.
    pub(crate) fn replace(&mut self, index: usize, body: Body) {
        let mass_props = MassProps::of(&body);
        let flags = BodyFlags::of(&body, &mass_props);
        self.grid.remove(self.flags[index].cell, body.id);
        self.grid.insert(flags.cell, body.id);
        self.flags[index] = flags;
        self.mass_props[index] = mass_props;
        self.bodies[index] = body;
    }

    /// Wakes a body.
    fn wake(&mut self, index: usize) {
        self.bodies[index].slow_steps = 0;
        let flags = &mut self.flags[index];
        (flags.awake, flags.changed) = (true, true);
        self.asleep = false;
    }

    /// Drops the impulses of a body's contacts and joints, which no longer fit, and wakes the bodies that it
    /// touches or is joined to. Returns whether it touches any.
    fn wake_touching(&mut self, id: ObjectId) -> bool {
        self.asleep = false;
        let mut touching = Vec::new();
        for contact in self.contacts.iter_mut().filter(|contact| contact.involves(id)) {
            contact.points = ContactPoints::NONE;
            touching.push(if contact.a == id { contact.b } else { contact.a });
        }
        self.contacts_changed |= !touching.is_empty();
        for other in &touching {
            if let Ok(index) = self.index(*other) {
                self.wake(index);
            }
        }
        self.wake_joined(id);
        !touching.is_empty()
    }
}
