//! A region: bodies and contacts, the commands that change them, and the step.

use metatopia_math::{Fx, Vec2};
use metatopia_types::ObjectId;

use crate::body::{Body, BodySpec, Pose};
use crate::contact::Contact;
use crate::fixed::{Q20, Vector, narrow, rounded};
use crate::limits::{BODIES_MAX, IMPULSE_MAX};
use crate::matter::Matter;
use crate::motion::Motion;
use crate::shape::SizeError;
use crate::step;
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
    /// In id order.
    contacts: Vec<Contact>,
    /// Known to change nothing in a step. Only ever set after a step that did just that, so it
    /// saves work and decides nothing.
    still: bool,
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
        Self { bodies: Vec::new(), matters: Vec::new(), contacts: Vec::new(), still: false }
    }

    /// A region of known state, which the caller has checked.
    pub(crate) fn from_state(bodies: Vec<Body>, contacts: Vec<Contact>) -> Self {
        Self { matters: bodies.iter().map(Matter::of).collect(), bodies, contacts, still: false }
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

    /// One step of a 60th of a second. Returns the beginnings of touches, then the ends, each in
    /// id order.
    pub fn step(&mut self) -> Vec<Touch> {
        if self.still {
            return Vec::new();
        }
        let at_rest = self.bodies.iter().all(Body::is_at_rest);
        let before = if at_rest { self.contacts.clone() } else { Vec::new() };
        let touches = step::step(&mut self.bodies, &self.matters, &mut self.contacts);
        // Bodies at rest stay as they are. If their contacts did as well, this state leads to
        // itself, and so it will until a command changes it.
        self.still = at_rest && touches.is_empty() && before == self.contacts;
        touches
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
        self.matters.insert(place, Matter::of(&body));
        self.bodies.insert(place, body);
        self.still = false;
        Ok(())
    }

    /// Takes a body away. What it touched stirs, and is told in the next step that the touch ended.
    ///
    /// # Errors
    /// [`Missing`].
    pub fn remove(&mut self, id: ObjectId) -> Result<Body, Missing> {
        let place = self.place(id).map_err(|_| Missing(id))?;
        let body = self.bodies.remove(place);
        self.matters.remove(place);
        self.disturb(id);
        Ok(body)
    }

    /// Puts a body elsewhere, rounded and moved into the region. It keeps its velocity; what it
    /// touched stirs.
    ///
    /// # Errors
    /// [`Missing`].
    pub fn set_pose(&mut self, id: ObjectId, pose: Pose) -> Result<(), Missing> {
        let body = self.body_mut(id)?;
        let before = body.clone();
        body.place(pose);
        if *body != before {
            body.slow_steps = 0;
            self.disturb(id);
        }
        Ok(())
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
        let body = self.body_mut(id)?;
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
        let place = self.place(id).map_err(|_| Missing(id))?;
        let body = &mut self.bodies[place];
        body.form.check(motion)?;
        if body.motion == motion {
            return Ok(());
        }
        body.motion = motion;
        body.slow_steps = 0;
        if motion == Motion::Static {
            body.velocity = Vector::ZERO;
            body.spin = Q20::ZERO;
        }
        self.matters[place] = Matter::of(body);
        self.disturb(id);
        Ok(())
    }

    /// Where a body is, or would be, in the list.
    fn place(&self, id: ObjectId) -> Result<usize, usize> {
        self.bodies.binary_search_by_key(&id, |body| body.id)
    }

    fn body_mut(&mut self, id: ObjectId) -> Result<&mut Body, Missing> {
        match self.place(id) {
            Ok(place) => Ok(&mut self.bodies[place]),
            Err(_) => Err(Missing(id)),
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
        let body = self.body_mut(id)?;
        if (body.velocity, body.spin) != (velocity, spin) {
            (body.velocity, body.spin) = (velocity, spin);
            body.slow_steps = 0;
            self.still = false;
        }
        Ok(())
    }

    /// Forgets the impulses of a body's contacts, which no longer fit, and stirs what it touches.
    fn disturb(&mut self, id: ObjectId) {
        self.still = false;
        let bodies = &mut self.bodies;
        for contact in self.contacts.iter_mut().filter(|contact| contact.involves(id)) {
            contact.marks = [None; 2];
            let other = if contact.a == id { contact.b } else { contact.a };
            if let Ok(place) = bodies.binary_search_by_key(&other, |body| body.id) {
                bodies[place].slow_steps = 0;
            }
        }
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
