//! A region: its bodies and contacts, and the step.

use metatopia_types::ObjectId;

use crate::active_set::{ActiveSet, RegionView};
use crate::body::Body;
use crate::bounds::Bounds;
use crate::contact::Contact;
use crate::grid::{Cell, Grid};
use crate::mass_props::MassProps;
use crate::step::step;
use crate::touch::Touch;

mod commands;
mod edits;
mod errors;

pub use edits::Aspect;
pub use errors::{
    ImpulseError, InsertError, MissingBody, MotionError, OutOfBounds, ReshapeError, RevertError,
    VelocityError,
};

/// An area of ground with its bodies. Two regions are equal if their bounds, bodies and contacts
/// are.
#[derive(Clone, Debug, Default)]
pub struct Region {
    bounds: Bounds,
    /// The bodies, in id order.
    bodies: Vec<Body>,
    /// The mass properties of each body, at the body's index.
    mass_props: Vec<MassProps>,
    /// The flags of each body, at the body's index.
    flags: Vec<BodyFlags>,
    pub(crate) grid: Grid,
    /// The contacts, in id order.
    contacts: Vec<Contact>,
    contacts_changed: bool,
    /// The bodies that were removed since the last step and left contacts behind.
    removed: Vec<ObjectId>,
    /// Whether a step is known to change nothing. It is only ever set after a step that changed
    /// nothing, so it saves work and decides nothing.
    asleep: bool,
    /// How many bodies the last step looked at.
    active_bodies: usize,
}

/// What a region notes of a body, so that it need not look at all bodies.
#[derive(Clone, Copy, Debug)]
struct BodyFlags {
    /// Whether the body is awake.
    awake: bool,
    /// Whether the body may have changed since the changes were last taken.
    changed: bool,
}

impl BodyFlags {
    /// Returns the flags of a new body, or of one that was replaced.
    fn of(body: &Body) -> Self {
        Self { awake: !body.is_asleep(), changed: true }
    }
}

/// The parts of a region that may have changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changes {
    /// The bodies that may have changed, in id order.
    pub bodies: Vec<ObjectId>,
    /// Whether any contact may have changed.
    pub contacts: bool,
}

impl PartialEq for Region {
    fn eq(&self, other: &Self) -> bool {
        self.bounds == other.bounds
            && self.bodies == other.bodies
            && self.contacts == other.contacts
    }
}

impl Eq for Region {}

impl Region {
    /// Creates an empty region with the largest bounds.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            bounds: Bounds::MAX,
            bodies: Vec::new(),
            mass_props: Vec::new(),
            flags: Vec::new(),
            grid: Grid::new(),
            contacts: Vec::new(),
            contacts_changed: false,
            removed: Vec::new(),
            asleep: false,
            active_bodies: 0,
        }
    }

    /// Creates a region of a state that the caller has checked.
    pub(crate) fn from_state(bodies: Vec<Body>, contacts: Vec<Contact>) -> Self {
        let mass_props: Vec<MassProps> = bodies.iter().map(MassProps::of).collect();
        let flags = bodies.iter().map(BodyFlags::of).collect();
        let mut grid = Grid::new();
        for (body, props) in bodies.iter().zip(&mass_props) {
            grid.insert(Cell::of(body.position, props.bounding_radius), body.id);
        }
        // A state may be taken between a command and a step, so contacts may name removed bodies.
        let ends = contacts.iter().flat_map(|contact| [contact.a, contact.b]);
        let removed = ends.filter(|id| bodies.binary_search_by_key(id, |body| body.id).is_err());
        let removed = removed.collect();
        Self {
            bounds: Bounds::MAX,
            bodies,
            mass_props,
            flags,
            grid,
            contacts,
            contacts_changed: true,
            removed,
            asleep: false,
            active_bodies: 0,
        }
    }

    /// Returns this region with other bounds, which its bodies obey from now on.
    ///
    /// # Errors
    /// Returns [`OutOfBounds`] with the first body that is outside of them.
    pub fn with_bounds(self, bounds: Bounds) -> Result<Self, OutOfBounds> {
        let is_outside = |body: &&Body| bounds.clamp(body.position) != body.position;
        match self.bodies.iter().find(is_outside) {
            Some(body) => Err(OutOfBounds(body.id)),
            None => Ok(Self { bounds, ..self }),
        }
    }

    /// Returns the bounds that the positions of all bodies keep to.
    #[must_use]
    pub const fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// Returns all bodies, in id order. With [`contacts`](Self::contacts) they are the complete
    /// state.
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
        Changes { bodies, contacts: core::mem::take(&mut self.contacts_changed) }
    }

    /// Marks everything as changed.
    pub fn touch_all(&mut self) {
        self.flags.iter_mut().for_each(|flags| flags.changed = true);
        self.contacts_changed = true;
    }

    /// Simulates a 60th of a second. Returns the beginnings of touches, then the ends, each in id
    /// order. A step that panics has changed nothing.
    pub fn step(&mut self) -> Vec<Touch> {
        if self.asleep {
            self.active_bodies = 0;
            return Vec::new();
        }
        self.step_of(|view| view.active_bodies().unwrap_or_else(|| view.all_bodies()))
    }

    /// Simulates a step of the bodies that `select` selects.
    pub(crate) fn step_of(
        &mut self,
        select: impl FnOnce(&RegionView<'_>) -> ActiveSet,
    ) -> Vec<Touch> {
        let awake = (0..).zip(&self.flags).filter(|(_, flags)| flags.awake);
        let view = RegionView {
            bounds: self.bounds,
            bodies: &self.bodies,
            mass_props: &self.mass_props,
            contacts: &self.contacts,
            awake: awake.map(|(index, _)| index).collect(),
            removed: &self.removed,
            grid: &self.grid,
        };
        let none_awake = view.awake.is_empty();
        // Everything that can panic is here, before the first change of the region.
        let result = step(&view, select(&view));
        self.active_bodies = result.active_bodies;
        for (index, body) in result.bodies {
            self.replace(index, body, None);
        }
        // Sleeping bodies stay as they are. If their contacts did as well, this state leads to
        // itself, and it will until a command changes it.
        self.asleep = none_awake && result.touches.is_empty() && result.contacts.is_none();
        if let Some(contacts) = result.contacts {
            self.contacts = contacts;
            self.contacts_changed = true;
        }
        self.removed.clear();
        result.touches
    }

    /// Returns the index of a body in the list, or where it would be inserted.
    fn index(&self, id: ObjectId) -> Result<usize, usize> {
        self.bodies.binary_search_by_key(&id, |body| body.id)
    }

    /// Returns the grid cell of a body.
    fn cell(&self, index: usize) -> Cell {
        Cell::of(self.bodies[index].position, self.mass_props[index].bounding_radius)
    }

    /// Inserts a body at its index.
    fn insert_at(&mut self, index: usize, body: Body) {
        let mass_props = MassProps::of(&body);
        self.grid.insert(Cell::of(body.position, mass_props.bounding_radius), body.id);
        self.mass_props.insert(index, mass_props);
        self.flags.insert(index, BodyFlags::of(&body));
        self.bodies.insert(index, body);
        self.asleep = false;
    }

    /// Replaces a body by its next state, with its mass properties if they changed.
    fn replace(&mut self, index: usize, body: Body, mass_props: Option<MassProps>) {
        // The cell follows from the old body, so it must be found before the body changes.
        let before = self.cell(index);
        self.flags[index] = BodyFlags::of(&body);
        self.bodies[index] = body;
        if let Some(mass_props) = mass_props {
            self.mass_props[index] = mass_props;
        }
        let (after, id) = (self.cell(index), self.bodies[index].id);
        if after != before {
            self.grid.remove(before, id);
            self.grid.insert(after, id);
        }
    }

    /// Wakes a body.
    fn wake(&mut self, index: usize) {
        self.bodies[index].slow_steps = 0;
        self.flags[index] = BodyFlags { awake: true, changed: true };
        self.asleep = false;
    }

    /// Drops the impulses of a body's contacts, which no longer fit, and wakes the bodies that it
    /// touches. Returns whether it touches any.
    fn wake_touching(&mut self, id: ObjectId) -> bool {
        self.asleep = false;
        let mut touching = Vec::new();
        for contact in self.contacts.iter_mut().filter(|contact| contact.involves(id)) {
            contact.points = [None; 2];
            touching.push(if contact.a == id { contact.b } else { contact.a });
        }
        self.contacts_changed |= !touching.is_empty();
        for other in &touching {
            if let Ok(index) = self.index(*other) {
                self.wake(index);
            }
        }
        !touching.is_empty()
    }
}
