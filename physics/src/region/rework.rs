//! Rebuilding bodies: other places and outlines, and bodies put back as they were.

use metatopia_math::{Fx, Vec2};
use metatopia_types::ObjectId;
use serde::{Deserialize, Serialize};

use super::{InsertError, Missing, Region};
use crate::body::{Body, BodySpec, Pose};
use crate::limits::BODIES_MAX;
use crate::matter::Matter;
use crate::restore::check;
use crate::shape::{Shape, SizeError};

/// A part of a body that can be made again what it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Aspect {
    /// Where it is.
    Position,
    /// Which way it faces.
    Facing,
    /// Its outline and its mass.
    Shape,
}

/// Why a body cannot get another outline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReshapeError {
    /// There is no body of this name.
    #[error(transparent)]
    Missing(#[from] Missing),
    /// The shape is too small or too large.
    #[error(transparent)]
    Size(#[from] SizeError),
}

/// Why a body cannot be what it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RevertError {
    /// There is no body of this name.
    #[error(transparent)]
    Missing(#[from] Missing),
    /// What it was is no body: this field is out of range.
    #[error("the {0} is out of range")]
    Field(&'static str),
}

impl Region {
    /// Puts a body elsewhere, rounded and moved into the region, facing exactly where it faced. It
    /// keeps its velocity; what it touched stirs.
    ///
    /// # Errors
    /// [`Missing`].
    pub fn set_position(&mut self, id: ObjectId, position: Vec2) -> Result<(), Missing> {
        let facing = self.body(id).ok_or(Missing(id))?.facing;
        self.rework(id, |body| {
            let pose = Pose { position, ..body.pose() };
            body.place(pose);
            body.facing = facing;
        })
    }

    /// Gives a body another outline, and a mass in kilograms that is moved into the limits. Its
    /// velocity is shortened to what the new outline may have; what it touched stirs.
    ///
    /// # Errors
    /// [`ReshapeError`]; nothing has changed then.
    pub fn set_shape(&mut self, id: ObjectId, shape: Shape, mass: Fx) -> Result<(), ReshapeError> {
        let motion = self.body(id).ok_or(Missing(id))?.motion;
        let spec = BodySpec { mass, ..BodySpec::new(shape, motion, Vec2::ZERO) };
        let cast = Body::new(id, &spec)?;
        self.rework(id, |body| take_shape(body, &cast))?;
        Ok(())
    }

    /// Makes one aspect of a body again what it was. What it touched stirs.
    ///
    /// # Errors
    /// [`RevertError`]; nothing has changed then.
    pub fn revert(&mut self, before: &Body, aspect: Aspect) -> Result<(), RevertError> {
        check(before).map_err(RevertError::Field)?;
        let now = self.body(before.id).ok_or(Missing(before.id))?;
        before.form.check(now.motion).map_err(|_| RevertError::Field("shape"))?;
        self.rework(before.id, |body| match aspect {
            Aspect::Position => body.position = before.position,
            Aspect::Facing => body.facing = before.facing,
            Aspect::Shape => take_shape(body, before),
        })?;
        Ok(())
    }

    /// Puts a body back that was [removed](Region::remove), as it was, but awake.
    ///
    /// # Errors
    /// See [`InsertError`]; nothing has changed then.
    pub fn put_back(&mut self, body: &Body) -> Result<(), InsertError> {
        let Err(place) = self.place(body.id) else {
            return Err(InsertError::Occupied(body.id));
        };
        if self.bodies.len() == BODIES_MAX {
            return Err(InsertError::Full);
        }
        check(body).map_err(InsertError::Field)?;
        self.enter(place, Body { slow_steps: 0, ..body.clone() });
        Ok(())
    }

    /// Changes a body, and stirs it and what it touched if it is another one then.
    pub(super) fn rework(
        &mut self,
        id: ObjectId,
        change: impl FnOnce(&mut Body),
    ) -> Result<(), Missing> {
        let place = self.place(id).map_err(|_| Missing(id))?;
        let mut body = self.bodies[place].clone();
        change(&mut body);
        if body != self.bodies[place] {
            body.slow_steps = 0;
            let matter = Matter::of(&body);
            self.replace(place, body, Some(matter));
            self.disturb(id);
        }
        Ok(())
    }
}

/// Form and mass of another body, and what that leaves of the velocity.
fn take_shape(body: &mut Body, other: &Body) {
    body.form = other.form;
    body.mass = other.mass;
    body.velocity = body.velocity.shortened(body.speed_bound());
    body.spin = body.spin.bounded(body.spin_bound());
}
