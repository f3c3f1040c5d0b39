//! Movements: the part of a body that changes from step to step, for those who hold a copy of it.

use metatopia_types::{Movement, ObjectId, wire};

use crate::body::Body;
use crate::fixed::{Q20, Q30, Unit, Vector};
use crate::restore::check;

/// A field of a body with a value that the body cannot have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the {field} of object {id} is out of range")]
pub struct OutOfRange {
    /// The id of the body.
    pub id: ObjectId,
    /// The field's name.
    pub field: &'static str,
}

impl Body {
    /// Returns all parts of the body's motion.
    #[must_use]
    pub const fn movement(&self) -> Movement {
        Movement {
            position: Some([self.position.x.0, self.position.y.0]),
            facing: Some([self.facing.x.0, self.facing.y.0]),
            velocity: Some([self.velocity.x.0, self.velocity.y.0]),
            spin: Some(self.spin.0),
            slow_steps: Some(self.slow_steps),
        }
    }

    /// Returns the parts of the body's motion that changed since an older state of it, or `None` if
    /// anything else changed as well.
    #[must_use]
    pub fn movement_since(&self, older: &Self) -> Option<Movement> {
        let (new, old) = (self.movement(), older.movement());
        let mut moved = older.clone();
        moved.set_parts(&new);
        (moved == *self).then(|| Movement {
            position: new.position.filter(|_| new.position != old.position),
            facing: new.facing.filter(|_| new.facing != old.facing),
            velocity: new.velocity.filter(|_| new.velocity != old.velocity),
            spin: new.spin.filter(|_| new.spin != old.spin),
            slow_steps: new.slow_steps.filter(|_| new.slow_steps != old.slow_steps),
        })
    }

    /// Returns `encoded`, which ends with the encoding of an older state of this body, with this
    /// state's encoding at its end. The body has only moved since, so all but the end is the same.
    #[must_use]
    pub fn encode_after(&self, older: &Self, encoded: &[u8]) -> Vec<u8> {
        let kept = encoded.len().saturating_sub(wire::length(&older.moving_parts()));
        [&encoded[..kept], &wire::encode(&self.moving_parts())].concat()
    }

    /// Returns the fields that move, which the encoding of a body ends with.
    const fn moving_parts(&self) -> (Vector, Unit, Vector, Q20, u8) {
        (self.position, self.facing, self.velocity, self.spin, self.slow_steps)
    }

    /// Applies a movement to this copy of a body.
    ///
    /// # Errors
    /// Returns [`OutOfRange`] if no step gives a body this motion; the copy has not changed then.
    pub fn follow(&mut self, movement: &Movement) -> Result<(), OutOfRange> {
        let mut moved = self.clone();
        moved.set_parts(movement);
        moved.check()?;
        *self = moved;
        Ok(())
    }

    /// Checks that every field is in the range that regions keep. A body that came from a peer must
    /// pass this before it is used.
    ///
    /// # Errors
    /// Returns [`OutOfRange`] with the first field that is not.
    pub fn check(&self) -> Result<(), OutOfRange> {
        check(self).map_err(|field| OutOfRange { id: self.id, field })
    }

    /// Sets the parts that a movement has.
    fn set_parts(&mut self, movement: &Movement) {
        if let Some([x, y]) = movement.position {
            self.position = Vector::new(Q20(x), Q20(y));
        }
        if let Some([x, y]) = movement.facing {
            self.facing = Unit { x: Q30(x), y: Q30(y) };
        }
        if let Some([x, y]) = movement.velocity {
            self.velocity = Vector::new(Q20(x), Q20(y));
        }
        self.spin = movement.spin.map_or(self.spin, Q20);
        self.slow_steps = movement.slow_steps.unwrap_or(self.slow_steps);
    }
}
