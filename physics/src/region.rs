//! A region: bodies and contacts, the commands that change them, and the step.

use metatopia_math::{Fx, Vec2};
use metatopia_types::ObjectId;

use crate::body::{Body, BodySpec, Pose};
use crate::cast::{Cast, Ground};
use crate::contact::Contact;
use crate::fixed::{Q20, Vector, narrow, rounded};
use crate::grid::{Grid, Square};
use crate::limits::{BODIES_MAX, IMPULSE_MAX};
use crate::matter::Matter;
use crate::motion::Motion;
use crate::shape::SizeError;
use crate::step::step;
use crate::touch::Touch;

mod rework;

pub use rework::{Aspect, ReshapeError, RevertError};

/// Why a body cannot be inserted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InsertError {
    /// There is a body of this name.
    #[error("object {0} has a body already")]
    Occupied(ObjectId),
    /// The region is full.
    #[error("the region holds {BODIES_MAX} bodies already")]
    Full,
    /// The shape is too small or too large.
    #[error(transparent)]
    Size(#[from] SizeError),
    /// What was to be put back is no body: this field is out of range.
    #[error("the {0} is out of range")]
    Field(&'static str),
}

/// There is no body of this name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("object {0} has no body")]
pub struct Missing(pub ObjectId);

/// Why a body cannot be given a velocity or spin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VelocityError {
    /// There is no body of this name.
    #[error(transparent)]
    Missing(#[from] Missing),
    /// A static body has no velocity.
    #[error("object {0} is static")]
    Static(ObjectId),
}

/// Why a body cannot be pushed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImpulseError {
    /// There is no body of this name.
    #[error(transparent)]
    Missing(#[from] Missing),
    /// Impulses move only dynamic bodies.
    #[error("object {id} is {motion}, not dynamic")]
    NotDynamic {
        /// The body.
        id: ObjectId,
        /// What it is.
        motion: Motion,
    },
}

/// Why a body cannot change its kind of motion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MotionError {
    /// There is no body of this name.
    #[error(transparent)]
    Missing(#[from] Missing),
    /// Its shape is too large for that kind of motion.
    #[error(transparent)]
    Size(#[from] SizeError),
}

/// An area of ground with its bodies. Two regions are equal when their states are.
#[derive(Clone, Debug, Default)]
pub struct Region {
    /// In id order.
    bodies: Vec<Body>,
    /// The matter of each body, at its place.
    matters: Vec<Matter>,
    /// What is known of each body, at its place.
    notes: Vec<Note>,
    pub(crate) grid: Grid,
    /// In id order.
    contacts: Vec<Contact>,
    contacts_are_news: bool,
    /// Bodies that are gone since the last step, and left contacts behind.
    gone: Vec<ObjectId>,
    /// Known to change nothing in a step. Only ever set after a step that did just that, so it
    /// saves work and decides nothing.
    still: bool,
    /// How many bodies the last step looked at.
    looked_at: usize,
}

/// What is known of a body, so that not all bodies have to be asked.
#[derive(Clone, Copy, Debug)]
struct Note {
    /// It does not rest.
    awake: bool,
    /// It may have changed since somebody last asked.
    news: bool,
}

impl Note {
    fn of(body: &Body) -> Self {
        Self { awake: !body.is_at_rest(), news: true }
    }
}

/// What may have changed of a region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changes {
    /// The bodies, in id order.
    pub bodies: Vec<ObjectId>,
    /// Whether any contact may have.
    pub contacts: bool,
}

impl PartialEq for Region {
    fn eq(&self, other: &Self) -> bool {
        self.bodies == other.bodies && self.contacts == other.contacts
    }
}

impl Eq for Region {}

impl Region {
    /// An empty region.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            bodies: Vec::new(),
            matters: Vec::new(),
            notes: Vec::new(),
            grid: Grid::new(),
            contacts: Vec::new(),
            contacts_are_news: false,
            gone: Vec::new(),
            still: false,
            looked_at: 0,
        }
    }

    /// A region of known state, which the caller has checked.
    pub(crate) fn from_state(bodies: Vec<Body>, contacts: Vec<Contact>) -> Self {
        let matters: Vec<Matter> = bodies.iter().map(Matter::of).collect();
        let notes = bodies.iter().map(Note::of).collect();
        let mut grid = Grid::new();
        for (body, matter) in bodies.iter().zip(&matters) {
            grid.put(Square::of(body.position, matter.outer_radius), body.id);
        }
        let ends = contacts.iter().flat_map(|contact| [contact.a, contact.b]);
        let gone = ends.filter(|id| bodies.binary_search_by_key(id, |body| body.id).is_err());
        let gone = gone.collect();
        let (still, contacts_are_news, looked_at) = (false, true, 0);
        Self { bodies, matters, notes, grid, contacts, contacts_are_news, gone, still, looked_at }
    }

    /// All bodies, in id order: with [`contacts`](Self::contacts) the complete state.
    #[must_use]
    pub fn bodies(&self) -> &[Body] {
        &self.bodies
    }

    /// All pairs of bodies that touch, ordered by [`Contact::pair`].
    #[must_use]
    pub fn contacts(&self) -> &[Contact] {
        &self.contacts
    }

    /// The body of this name.
    #[must_use]
    pub fn body(&self, id: ObjectId) -> Option<&Body> {
        self.place(id).ok().map(|place| &self.bodies[place])
    }

    /// Whether nothing moves, so that steps cost nothing until a command comes.
    #[must_use]
    pub const fn is_still(&self) -> bool {
        self.still
    }

    /// How many bodies the last step looked at: all work of a step is in proportion to it.
    #[must_use]
    pub const fn looked_at(&self) -> usize {
        self.looked_at
    }

    /// What may have changed since the last call; at first, everything.
    pub fn take_changes(&mut self) -> Changes {
        let noted = self.bodies.iter().zip(&mut self.notes);
        let news =
            noted.filter_map(|(body, note)| core::mem::take(&mut note.news).then_some(body.id));
        let contacts = core::mem::take(&mut self.contacts_are_news);
        Changes { bodies: news.collect(), contacts }
    }

    /// Counts everything as changed.
    pub fn touch_all(&mut self) {
        self.notes.iter_mut().for_each(|note| note.news = true);
        self.contacts_are_news = true;
    }

    /// One step of a 60th of a second. Returns the beginnings of touches, then the ends, each in
    /// id order. A step that panics has changed nothing.
    pub fn step(&mut self) -> Vec<Touch> {
        if self.still {
            self.looked_at = 0;
            return Vec::new();
        }
        self.step_of(|ground| ground.few().unwrap_or_else(|| ground.everybody()))
    }

    /// A step in which those take part who are cast.
    pub(crate) fn step_of(&mut self, cast: impl FnOnce(&Ground<'_>) -> Cast) -> Vec<Touch> {
        let awake = (0..).zip(&self.notes).filter(|(_, note)| note.awake);
        let ground = Ground {
            bodies: &self.bodies,
            matters: &self.matters,
            contacts: &self.contacts,
            awake: awake.map(|(place, _)| place).collect(),
            gone: &self.gone,
            grid: &self.grid,
        };
        let at_rest = ground.awake.is_empty();
        let stepped = step(&ground, cast(&ground));
        self.looked_at = stepped.looked_at;
        for (place, body) in stepped.bodies {
            self.replace(place, body, None);
        }
        // Bodies at rest stay as they are. If their contacts did as well, this state leads to
        // itself, and so it will until a command changes it.
        self.still = at_rest && stepped.touches.is_empty() && stepped.contacts.is_none();
        if let Some(contacts) = stepped.contacts {
            self.contacts = contacts;
            self.contacts_are_news = true;
        }
        self.gone.clear();
        stepped.touches
    }

    /// Adds a body. All of the spec but the shape is rounded and moved into the limits.
    ///
    /// # Errors
    /// See [`InsertError`]; nothing has changed then.
    pub fn insert(&mut self, id: ObjectId, spec: &BodySpec) -> Result<(), InsertError> {
        let Err(place) = self.place(id) else {
            return Err(InsertError::Occupied(id));
        };
        if self.bodies.len() == BODIES_MAX {
            return Err(InsertError::Full);
        }
        let body = Body::new(id, spec)?;
        self.enter(place, body);
        Ok(())
    }

    /// Takes a body away. What it touched stirs, and is told in the next step that the touch ended.
    ///
    /// # Errors
    /// [`Missing`].
    pub fn remove(&mut self, id: ObjectId) -> Result<Body, Missing> {
        let place = self.place(id).map_err(|_| Missing(id))?;
        self.grid.take(self.square(place), id);
        let body = self.bodies.remove(place);
        self.matters.remove(place);
        self.notes.remove(place);
        if self.disturb(id) {
            self.gone.push(id);
        }
        Ok(body)
    }

    /// Puts a body elsewhere, rounded and moved into the region. It keeps its velocity; what it
    /// touched stirs.
    ///
    /// # Errors
    /// [`Missing`].
    pub fn set_pose(&mut self, id: ObjectId, pose: Pose) -> Result<(), Missing> {
        self.rework(id, |body| body.place(pose))
    }

    /// Sets a velocity in metres a second, rounded and shortened to the body's greatest speed.
    ///
    /// # Errors
    /// [`VelocityError`].
    pub fn set_velocity(&mut self, id: ObjectId, velocity: Vec2) -> Result<(), VelocityError> {
        let body = self.moving(id)?;
        let velocity = body.speed_limited(velocity);
        let spin = body.spin;
        self.go(id, velocity, spin)?;
        Ok(())
    }

    /// Sets a spin in radians a second, rounded and moved into the body's greatest spin.
    ///
    /// # Errors
    /// [`VelocityError`].
    pub fn set_spin(&mut self, id: ObjectId, spin: Fx) -> Result<(), VelocityError> {
        let body = self.moving(id)?;
        let spin = body.spin_limited(spin);
        let velocity = body.velocity;
        self.go(id, velocity, spin)?;
        Ok(())
    }

    /// Pushes a dynamic body at its centre, in newton seconds; at most [`IMPULSE_MAX`] per axis,
    /// and only up to the body's greatest speed.
    ///
    /// # Errors
    /// [`ImpulseError`].
    pub fn impulse(&mut self, id: ObjectId, impulse: Vec2) -> Result<(), ImpulseError> {
        let body = self.body(id).ok_or(Missing(id))?;
        if body.motion != Motion::Dynamic {
            return Err(ImpulseError::NotDynamic { id, motion: body.motion });
        }
        let velocity = pushed(body, impulse);
        let spin = body.spin;
        self.go(id, velocity, spin)?;
        Ok(())
    }

    /// Changes how a body moves. A body that becomes static stops.
    ///
    /// # Errors
    /// [`MotionError`]; nothing has changed then.
    pub fn set_motion(&mut self, id: ObjectId, motion: Motion) -> Result<(), MotionError> {
        self.body(id).ok_or(Missing(id))?.form.check(motion)?;
        self.rework(id, |body| {
            body.motion = motion;
            if motion == Motion::Static {
                body.velocity = Vector::ZERO;
                body.spin = Q20::ZERO;
            }
        })?;
        Ok(())
    }

    /// Where a body is, or would be, in the list.
    fn place(&self, id: ObjectId) -> Result<usize, usize> {
        self.bodies.binary_search_by_key(&id, |body| body.id)
    }

    /// The square that a body is in.
    fn square(&self, place: usize) -> Square {
        Square::of(self.bodies[place].position, self.matters[place].outer_radius)
    }

    /// Adds a body at its place.
    fn enter(&mut self, place: usize, body: Body) {
        let matter = Matter::of(&body);
        self.grid.put(Square::of(body.position, matter.outer_radius), body.id);
        self.matters.insert(place, matter);
        self.notes.insert(place, Note::of(&body));
        self.bodies.insert(place, body);
        self.still = false;
    }

    /// Puts a body in the place of what it was.
    fn replace(&mut self, place: usize, body: Body, matter: Option<Matter>) {
        let before = self.square(place);
        self.notes[place] = Note::of(&body);
        self.bodies[place] = body;
        if let Some(matter) = matter {
            self.matters[place] = matter;
        }
        let (after, id) = (self.square(place), self.bodies[place].id);
        if after != before {
            self.grid.take(before, id);
            self.grid.put(after, id);
        }
    }

    /// A body that can have a velocity.
    fn moving(&self, id: ObjectId) -> Result<&Body, VelocityError> {
        let body = self.body(id).ok_or(Missing(id))?;
        if body.motion == Motion::Static {
            return Err(VelocityError::Static(id));
        }
        Ok(body)
    }

    /// Gives a body a velocity and spin within its bounds. One that has them already sleeps on.
    fn go(&mut self, id: ObjectId, velocity: Vector, spin: Q20) -> Result<(), Missing> {
        let place = self.place(id).map_err(|_| Missing(id))?;
        let body = &mut self.bodies[place];
        if (body.velocity, body.spin) != (velocity, spin) {
            (body.velocity, body.spin) = (velocity, spin);
            self.stir(place);
        }
        Ok(())
    }

    /// Wakes a body.
    fn stir(&mut self, place: usize) {
        self.bodies[place].slow_steps = 0;
        self.notes[place] = Note { awake: true, news: true };
        self.still = false;
    }

    /// Forgets the impulses of a body's contacts, which no longer fit, and stirs what it touches.
    /// Says whether it touches anything.
    fn disturb(&mut self, id: ObjectId) -> bool {
        self.still = false;
        let mut stirred = Vec::new();
        for contact in self.contacts.iter_mut().filter(|contact| contact.involves(id)) {
            contact.marks = [None; 2];
            stirred.push(if contact.a == id { contact.b } else { contact.a });
        }
        self.contacts_are_news |= !stirred.is_empty();
        for other in &stirred {
            if let Ok(place) = self.place(*other) {
                self.stir(place);
            }
        }
        !stirred.is_empty()
    }
}

/// The velocity of a dynamic body after an impulse in newton seconds.
fn pushed(body: &Body, impulse: Vec2) -> Vector {
    let low = IMPULSE_MAX.saturating_neg();
    // 2^52 newton seconds' bits over 2^12 to 2^30 of mass: a speed with 16 bits, so four more.
    let change = |part: Fx| {
        let bits = part.clamp(low, IMPULSE_MAX).to_bits();
        let speed = (bits << 5) / i64::from(body.mass.max(1));
        // In a box that no sum of two leaves.
        Q20(narrow(rounded(speed, 1).clamp(-(1 << 30), 1 << 30)))
    };
    let change = Vector::new(change(impulse.x), change(impulse.y));
    (body.velocity + change).shortened(body.speed_bound())
}
