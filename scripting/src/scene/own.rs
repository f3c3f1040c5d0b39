//! Writes to the own object.

use metatopia_math::{Angle, Fx, Vec2};

use super::{Scene, short};
use crate::{ErrorKind, Fault, Own, limits::SIGN_BYTES_MAX};

impl Scene {
    /// Puts the own object somewhere.
    ///
    /// # Errors
    /// [`ErrorKind::Gone`] if the own object is no longer there; so for all writes to it.
    pub fn set_pos(&mut self, pos: Vec2) -> Result<(), Fault> {
        let same = self.object(self.object)?.pos == pos;
        self.write(same, Own { pos: Some(pos), ..Own::default() });
        Ok(())
    }

    /// Turns the own object to a heading.
    ///
    /// # Errors
    /// As [`Scene::set_pos`].
    pub fn set_angle(&mut self, angle: Angle) -> Result<(), Fault> {
        let same = self.object(self.object)?.angle == angle;
        self.write(same, Own { angle: Some(angle), ..Own::default() });
        Ok(())
    }

    /// Sets the own object's velocity, in metres a second.
    ///
    /// # Errors
    /// As [`Scene::set_pos`].
    pub fn set_velocity(&mut self, velocity: Vec2) -> Result<(), Fault> {
        let same = self.object(self.object)?.velocity == velocity;
        self.write(same, Own { velocity: Some(velocity), ..Own::default() });
        Ok(())
    }

    /// Sets the own object's spin, in radians a second.
    ///
    /// # Errors
    /// As [`Scene::set_pos`].
    pub fn set_spin(&mut self, spin: Fx) -> Result<(), Fault> {
        let same = self.object(self.object)?.spin == spin;
        self.write(same, Own { spin: Some(spin), ..Own::default() });
        Ok(())
    }

    /// Sets the own object's colour, 0xRRGGBB.
    ///
    /// # Errors
    /// As [`Scene::set_pos`], and [`ErrorKind::Argument`] for a number outside 0 to 0xFFFFFF.
    pub fn set_color(&mut self, color: i64) -> Result<(), Fault> {
        let color = u32::try_from(color).ok().filter(|color| *color <= 0x00FF_FFFF);
        let color = color.ok_or_else(|| {
            Fault::new(ErrorKind::Argument, "a color is 0 to 0xFFFFFF, as 0xRRGGBB")
        })?;
        let same = self.object(self.object)?.color == color;
        self.write(same, Own { color: Some(color), ..Own::default() });
        Ok(())
    }

    /// Sets the text that the own object shows.
    ///
    /// # Errors
    /// As [`Scene::set_pos`], and [`ErrorKind::Argument`] for a text longer than
    /// [`SIGN_BYTES_MAX`] or with control characters.
    pub fn set_text(&mut self, text: &str) -> Result<(), Fault> {
        let text = short("a sign", text, SIGN_BYTES_MAX)?;
        let same = self.object(self.object)?.text == text;
        self.write(same, Own { text: Some(text), ..Own::default() });
        Ok(())
    }

    /// Writing what is there already is no write: a script that looks at `self_.pos.x` must not
    /// nail its object down.
    fn write(&mut self, same: bool, own: Own) {
        if !same {
            self.seen.merge(own.clone());
            self.part.own.merge(own);
        }
    }
}
