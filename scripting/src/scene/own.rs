//! Writes to the own object.

use metatopia_math::{Angle, Fx, Vec2};

use super::{ScriptContext, VectorProperty, gone, short};
use crate::{HostFault, ObjectWrites, limits::SIGN_BYTES_MAX};

impl ScriptContext {
    /// Puts the own object somewhere.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Gone`] if the own object is no longer there; so for all writes to it.
    pub fn set_pos(&mut self, pos: Vec2) -> Result<(), HostFault> {
        if self.vector_of(self.object, VectorProperty::Position)? != pos {
            self.write(|own| own.pos = Some(pos));
        }
        Ok(())
    }

    /// Turns the own object to a heading.
    ///
    /// # Errors
    /// As [`ScriptContext::set_pos`].
    pub fn set_angle(&mut self, angle: Angle) -> Result<(), HostFault> {
        if self.object(self.object)?.angle != angle {
            self.write(|own| own.angle = Some(angle));
        }
        Ok(())
    }

    /// Sets the own object's velocity, in metres a second.
    ///
    /// # Errors
    /// As [`ScriptContext::set_pos`].
    pub fn set_velocity(&mut self, velocity: Vec2) -> Result<(), HostFault> {
        if self.vector_of(self.object, VectorProperty::Velocity)? != velocity {
            self.write(|own| own.velocity = Some(velocity));
        }
        Ok(())
    }

    /// Sets the own object's spin, in radians a second.
    ///
    /// # Errors
    /// As [`ScriptContext::set_pos`].
    pub fn set_spin(&mut self, spin: Fx) -> Result<(), HostFault> {
        let there = self.view.spin(self.object).ok_or_else(|| gone(self.object))?;
        if self.seen.spin.unwrap_or(there) != spin {
            self.write(|own| own.spin = Some(spin));
        }
        Ok(())
    }

    /// Sets the own object's colour, 0xRRGGBB.
    ///
    /// # Errors
    /// As [`ScriptContext::set_pos`], and [`crate::ErrorKind::Argument`] for a number outside 0 to 0xFFFFFF.
    pub fn set_color(&mut self, color: i64) -> Result<(), HostFault> {
        let color = super::fields::color(color)?;
        if self.object(self.object)?.color != color {
            self.write(|own| own.color = Some(color));
        }
        Ok(())
    }

    /// Sets the text that the own object shows.
    ///
    /// # Errors
    /// As [`ScriptContext::set_pos`], and [`crate::ErrorKind::Argument`] for a text longer than
    /// [`SIGN_BYTES_MAX`] or with control characters.
    pub fn set_text(&mut self, text: &str) -> Result<(), HostFault> {
        let text = short("a sign", text, SIGN_BYTES_MAX)?;
        if self.object(self.object)?.text != text {
            self.write(|own| own.text = Some(text.clone()));
        }
        Ok(())
    }

    /// Makes the own object a sensor, which pushes nothing and is pushed by nothing, or solid again.
    ///
    /// # Errors
    /// As [`ScriptContext::set_pos`].
    pub fn set_sensor(&mut self, sensor: bool) -> Result<(), HostFault> {
        if self.object(self.object)?.sensor != sensor {
            self.write(|own| own.sensor = Some(sensor));
        }
        Ok(())
    }

    /// Writes what is new, for the script itself and for the world. To write what is there already is no write: a
    /// script that looks at `self_.pos.x` must not nail its object down.
    fn write(&mut self, write: impl Fn(&mut ObjectWrites)) {
        write(&mut self.seen);
        write(&mut self.part.own);
    }
}
