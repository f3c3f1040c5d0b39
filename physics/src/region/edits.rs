//! The commands of builders: they move and reshape bodies, and restore them to older states.

use metatopia_math::{Fx, Vec2};
use metatopia_types::ObjectId;
use serde::{Deserialize, Serialize};

use super::{InsertError, MissingBody, Region, ReshapeError, RevertError};
use crate::body::Body;
use crate::filter::Filter;
use crate::restore::check;
use crate::shape::Shape;
use crate::spec::{BodySpec, Pose};

/// A part of a body that can be reverted to an older state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Aspect {
    /// The position of the body.
    Position,
    /// The direction that the body faces.
    Facing,
    /// The shape and the mass of the body. Whatever gave it another material since is lost in part.
    Shape,
    /// The mass of the body, its frictions, restitution and dampings. The mass is that of the shape of then.
    Material,
    /// Whether the body is a sensor.
    Sensor,
}

impl Region {
    /// Moves a body to a position, rounded and clamped to the bounds. The body faces exactly where
    /// it faced and keeps its velocity; the bodies that it touched wake.
    ///
    /// # Errors
    /// Returns [`MissingBody`] if there is no such body.
    pub fn set_position(&mut self, id: ObjectId, position: Vec2) -> Result<(), MissingBody> {
        let facing = self.body(id).ok_or(MissingBody(id))?.facing;
        self.edit(id, |body| {
            let pose = Pose { position, ..body.pose() };
            body.set_pose(pose);
            // The angle of a pose is rounded, so the exact facing is put back.
            body.facing = facing;
        })
    }

    /// Gives a body another shape, and a mass in kilograms that is clamped to the limits. The
    /// velocity is shortened to what the new shape may have; the bodies that it touched wake.
    ///
    /// # Errors
    /// Returns [`ReshapeError`]; nothing has changed then.
    pub fn set_shape(&mut self, id: ObjectId, shape: Shape, mass: Fx) -> Result<(), ReshapeError> {
        let motion = self.body(id).ok_or(MissingBody(id))?.motion;
        let spec = BodySpec { mass, ..BodySpec::new(shape, motion, Vec2::ZERO) };
        let model = Body::new(id, &spec)?;
        self.edit(id, |body| copy_shape(body, &model))?;
        Ok(())
    }

    /// Gives a body the mass, friction, restitution, rules and damping of a definition, of which nothing else
    /// counts. All are clamped to the limits. The bodies that it touched wake.
    ///
    /// # Errors
    /// Returns [`MissingBody`] if there is no such body.
    pub fn set_material(&mut self, id: ObjectId, of: &BodySpec) -> Result<(), MissingBody> {
        self.edit(id, |body| *body = body.with_material(of))
    }

    /// Gives a body another filter. The bodies that it touched wake; what it no longer meets is let go in
    /// the next step.
    ///
    /// # Errors
    /// Returns [`MissingBody`] if there is no such body.
    pub fn set_filter(&mut self, id: ObjectId, filter: Filter) -> Result<(), MissingBody> {
        self.edit(id, |body| body.role.filter = filter)
    }

    /// Makes a body a sensor, which notices what moves and pushes nothing, or solid again. If that changes it, the
    /// bodies that it touched wake. Whatever is inside of a body that becomes solid is pushed out.
    ///
    /// # Errors
    /// Returns [`MissingBody`] if there is no such body.
    pub fn set_sensor(&mut self, id: ObjectId, sensor: bool) -> Result<(), MissingBody> {
        self.edit(id, |body| body.role.sensor = sensor)
    }

    /// Reverts one aspect of a body to an older state. The bodies that it touched wake.
    ///
    /// # Errors
    /// Returns [`RevertError`]; nothing has changed then.
    pub fn revert(&mut self, before: &Body, aspect: Aspect) -> Result<(), RevertError> {
        check(before).map_err(RevertError::Field)?;
        let now = self.body(before.id).ok_or(MissingBody(before.id))?;
        before.geometry.check(now.motion).map_err(|_| RevertError::Field("shape"))?;
        self.edit(before.id, |body| match aspect {
            Aspect::Position => body.position = before.position,
            Aspect::Facing => body.facing = before.facing,
            Aspect::Shape => copy_shape(body, before),
            Aspect::Material => copy_material(body, before),
            Aspect::Sensor => body.role.sensor = before.role.sensor,
        })?;
        Ok(())
    }

    /// Inserts a body that was [removed](Region::remove), as it was, but awake and inside the bounds.
    ///
    /// # Errors
    /// Returns [`InsertError`]; nothing has changed then.
    pub fn put_back(&mut self, body: &Body) -> Result<(), InsertError> {
        let Err(index) = self.index(body.id) else {
            return Err(InsertError::Occupied(body.id));
        };
        if self.bodies.len() >= self.bodies_max() {
            return Err(InsertError::Full(self.bodies_max()));
        }
        check(body).map_err(InsertError::Field)?;
        let position = body.ground(self.surroundings.bounds).clamp(body.position);
        self.insert_at(index, Body { slow_steps: 0, position, ..body.clone() });
        Ok(())
    }

    /// Edits a body. If that changes it, the body and the bodies that it touched wake.
    pub(super) fn edit(
        &mut self,
        id: ObjectId,
        change: impl FnOnce(&mut Body),
    ) -> Result<(), MissingBody> {
        let index = self.index(id).map_err(|_| MissingBody(id))?;
        let mut body = self.bodies[index].clone();
        change(&mut body);
        body.position = body.ground(self.surroundings.bounds).clamp(body.position);
        if body != self.bodies[index] {
            body.slow_steps = 0;
            self.replace(index, body);
            self.wake_touching(id);
        }
        Ok(())
    }
}

impl Body {
    /// Returns this body with the mass, friction, restitution, rules and damping of a definition, of which
    /// nothing else counts. All are clamped to the limits.
    ///
    /// # Panics
    /// Does not panic for a body of a region, whose shape is sound.
    #[must_use]
    pub fn with_material(&self, of: &BodySpec) -> Self {
        let spec = BodySpec {
            mass: of.mass,
            friction: of.friction,
            restitution: of.restitution,
            friction_rule: of.friction_rule,
            restitution_rule: of.restitution_rule,
            linear_damping: of.linear_damping,
            angular_damping: of.angular_damping,
            ..self.spec()
        };
        let model = Self::new(self.id, &spec).expect("a body that is there has a sound shape");
        let mut body = self.clone();
        copy_material(&mut body, &model);
        body
    }
}

/// Copies the material of another body.
const fn copy_material(body: &mut Body, other: &Body) {
    body.mass = other.mass;
    (body.friction, body.restitution) = (other.friction, other.restitution);
    body.role.rules = other.role.rules;
    (body.linear_damping, body.angular_damping) = (other.linear_damping, other.angular_damping);
}

/// Copies the shape and the mass of another body, and clamps the velocity to what they allow.
fn copy_shape(body: &mut Body, other: &Body) {
    body.geometry = other.geometry.clone();
    body.mass = other.mass;
    body.velocity = body.velocity.clamp_length(body.speed_bound());
    body.spin = body.spin.bounded(body.spin_bound());
}
