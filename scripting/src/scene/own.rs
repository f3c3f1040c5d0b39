//! Writes to the own object.

use metatopia_math::{Angle, Fx, Vec2};

use super::{ScriptContext, short};
use crate::{HostFault, ObjectWrites, limits::SIGN_BYTES_MAX};

impl ScriptContext {
    /// Puts the own object somewhere.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Gone`] if the own object is no longer there; so for all writes to it.
    pub fn set_pos(&mut self, pos: Vec2) -> Result<(), HostFault> {
        let same = self.object(self.object)?.pos == pos;
        self.write(same, ObjectWrites { pos: Some(pos), ..ObjectWrites::default() });
        Ok(())
    }

    /// Turns the own object to a heading.
    ///
    /// # Errors
    /// As [`ScriptContext::set_pos`].
    pub fn set_angle(&mut self, angle: Angle) -> Result<(), HostFault> {
        let same = self.object(self.object)?.angle == angle;
        self.write(same, ObjectWrites { angle: Some(angle), ..ObjectWrites::default() });
        Ok(())
    }

    /// Sets the own object's velocity, in metres a second.
    ///
    /// # Errors
    /// As [`ScriptContext::set_pos`].
    pub fn set_velocity(&mut self, velocity: Vec2) -> Result<(), HostFault> {
        let same = self.object(self.object)?.velocity == velocity;
        self.write(same, ObjectWrites { velocity: Some(velocity), ..ObjectWrites::default() });
        Ok(())
    }

    /// Sets the own object's spin, in radians a second.
    ///
    /// # Errors
    /// As [`ScriptContext::set_pos`].
    pub fn set_spin(&mut self, spin: Fx) -> Result<(), HostFault> {
        let same = self.object(self.object)?.spin == spin;
        self.write(same, ObjectWrites { spin: Some(spin), ..ObjectWrites::default() });
        Ok(())
    }

    /// Sets the own object's colour, 0xRRGGBB.
    ///
    /// # Errors
    /// As [`ScriptContext::set_pos`], and [`crate::ErrorKind::Argument`] for a number outside 0 to 0xFFFFFF.
    pub fn set_color(&mut self, color: i64) -> Result<(), HostFault> {
        let color = super::fields::color(color)?;
        let same = self.object(self.object)?.color == color;
        self.write(same, ObjectWrites { color: Some(color), ..ObjectWrites::default() });
        Ok(())
    }

    /// Sets the text that the own object shows.
    ///
    /// # Errors
    /// As [`ScriptContext::set_pos`], and [`crate::ErrorKind::Argument`] for a text longer than
    /// [`SIGN_BYTES_MAX`] or with control characters.
    pub fn set_text(&mut self, text: &str) -> Result<(), HostFault> {
        let text = short("a sign", text, SIGN_BYTES_MAX)?;
        let same = self.object(self.object)?.text == text;
        self.write(same, ObjectWrites { text: Some(text), ..ObjectWrites::default() });
        Ok(())
    }

    /// Makes the own object a sensor, which pushes nothing and is pushed by nothing, or solid again.
    ///
    /// # Errors
    /// As [`ScriptContext::set_pos`].
    pub fn set_sensor(&mut self, sensor: bool) -> Result<(), HostFault> {
        let same = self.object(self.object)?.sensor == sensor;
        self.write(same, ObjectWrites { sensor: Some(sensor), ..ObjectWrites::default() });
        Ok(())
    }

    /// Writes what is new. To write what is there already is no write: a script that looks at `self_.pos.x`
    /// must not nail its object down.
    fn write(&mut self, same: bool, own: ObjectWrites) {
        if !same {
            self.seen.merge(own.clone());
            self.part.own.merge(own);
        }
    }
}
