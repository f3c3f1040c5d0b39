//! The commands that add, remove and move bodies.

use metatopia_math::{Fx, Vec2};
use metatopia_types::ObjectId;

use super::{ImpulseError, InsertError, MissingBody, MotionError, Region, VelocityError};
use crate::body::Body;
use crate::fixed::{Q20, Vector, narrow, rounded};
use crate::limits::IMPULSE_MAX;
use crate::motion::Motion;
use crate::spec::{BodySpec, Pose};

impl Region {
    /// Adds a body. Everything in the spec but the shape is rounded and clamped to the limits,
    /// and its position to the bounds.
    ///
    /// # Errors
    /// Returns [`InsertError`]; nothing has changed then.
    pub fn insert(&mut self, id: ObjectId, spec: &BodySpec) -> Result<(), InsertError> {
        let Err(index) = self.index(id) else {
            return Err(InsertError::Occupied(id));
        };
        if self.bodies.len() >= self.bodies_max() {
            return Err(InsertError::Full(self.bodies_max()));
        }
        let mut body = Body::new(id, spec)?;
        body.position = body.ground(self.surroundings.bounds).clamp(body.position);
        self.insert_at(index, body);
        Ok(())
    }

    /// Removes a body, and with it its joints. The bodies that it touched or was joined to wake, and the
    /// next step reports that the touches and the joints ended.
    ///
    /// # Errors
    /// Returns [`MissingBody`] if there is no such body.
    pub fn remove(&mut self, id: ObjectId) -> Result<Body, MissingBody> {
        let index = self.index(id).map_err(|_| MissingBody(id))?;
        self.grid.remove(self.flags[index].cell, id);
        let body = self.bodies.remove(index);
        self.mass_props.remove(index);
        self.flags.remove(index);
        self.lose(id);
        if self.wake_touching(id) {
            self.removed.push(id);
        }
        Ok(body)
    }

    /// Moves a body to a pose, rounded and clamped to the bounds. The body keeps its velocity, and
    /// the bodies that it touched wake.
    ///
    /// # Errors
    /// Returns [`MissingBody`] if there is no such body.
    pub fn set_pose(&mut self, id: ObjectId, pose: Pose) -> Result<(), MissingBody> {
        self.edit(id, |body| body.set_pose(pose))
    }

    /// Sets a velocity in metres a second, rounded and shortened to the body's greatest speed.
    ///
    /// # Errors
    /// Returns [`VelocityError`]; nothing has changed then.
    pub fn set_velocity(&mut self, id: ObjectId, velocity: Vec2) -> Result<(), VelocityError> {
        let body = self.movable_body(id)?;
        let velocity = body.speed_limited(velocity);
        let spin = body.spin;
        self.assign_velocity(id, velocity, spin)?;
        Ok(())
    }

    /// Sets a spin in radians a second, rounded and clamped to the body's greatest spin.
    ///
    /// # Errors
    /// Returns [`VelocityError`]; nothing has changed then.
    pub fn set_spin(&mut self, id: ObjectId, spin: Fx) -> Result<(), VelocityError> {
        let body = self.movable_body(id)?;
        let spin = body.spin_limited(spin);
        let velocity = body.velocity;
        self.assign_velocity(id, velocity, spin)?;
        Ok(())
    }

    /// Applies an impulse, in newton seconds, at the centre of a dynamic body. The impulse is
    /// clamped to [`IMPULSE_MAX`] per axis, and the velocity to the body's greatest speed.
    ///
    /// # Errors
    /// Returns [`ImpulseError`]; nothing has changed then.
    pub fn apply_impulse(&mut self, id: ObjectId, impulse: Vec2) -> Result<(), ImpulseError> {
        let body = self.body(id).ok_or(MissingBody(id))?;
        if body.motion != Motion::Dynamic {
            return Err(ImpulseError::NotDynamic { id, motion: body.motion });
        }
        let velocity = velocity_after(body, impulse);
        let spin = body.spin;
        self.assign_velocity(id, velocity, spin)?;
        Ok(())
    }

    /// Changes the kind of motion of a body. A body that becomes static stops.
    ///
    /// # Errors
    /// Returns [`MotionError`]; nothing has changed then.
    pub fn set_motion(&mut self, id: ObjectId, motion: Motion) -> Result<(), MotionError> {
        self.body(id).ok_or(MissingBody(id))?.geometry.check(motion)?;
        self.edit(id, |body| {
            body.motion = motion;
            if motion == Motion::Static {
                body.velocity = Vector::ZERO;
                body.spin = Q20::ZERO;
            }
        })?;
        Ok(())
    }

    /// Returns a body that can have a velocity.
    fn movable_body(&self, id: ObjectId) -> Result<&Body, VelocityError> {
        let body = self.body(id).ok_or(MissingBody(id))?;
        if body.motion == Motion::Static {
            return Err(VelocityError::Static(id));
        }
        Ok(body)
    }

    /// Gives a body a velocity and spin within its bounds, and wakes it if they are new.
    fn assign_velocity(
        &mut self,
        id: ObjectId,
        velocity: Vector,
        spin: Q20,
    ) -> Result<(), MissingBody> {
        let index = self.index(id).map_err(|_| MissingBody(id))?;
        let body = &mut self.bodies[index];
        // A command that asks for what is so already must not keep a body awake forever.
        if (body.velocity, body.spin) != (velocity, spin) {
            (body.velocity, body.spin) = (velocity, spin);
            self.wake(index);
        }
        Ok(())
    }
}

/// Returns the velocity of a dynamic body after an impulse in newton seconds.
fn velocity_after(body: &Body, impulse: Vec2) -> Vector {
    let low = IMPULSE_MAX.saturating_neg();
    // 2^52 newton seconds' bits over 2^12 to 2^30 of mass: a speed with 16 bits, so four more.
    let change = |part: Fx| {
        let bits = part.clamp(low, IMPULSE_MAX).to_bits();
        let speed = (bits << 5) / i64::from(body.mass.max(1));
        // Clamped so that no sum of two leaves the range.
        Q20(narrow(rounded(speed, 1).clamp(-(1 << 30), 1 << 30)))
    };
    let change = Vector::new(change(impulse.x), change(impulse.y));
    (body.velocity + change).clamp_length(body.speed_bound())
}
