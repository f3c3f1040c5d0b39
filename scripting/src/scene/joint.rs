//! Joints that scripts make, drive and take off.

use alloc::format;

use metatopia_math::{Angle, Fx, Vec2};
use metatopia_types::ObjectId;

use super::{ScriptContext, fields::refused, gone};
use crate::{
    HostFault, ScriptEffect, ThingJoint,
    limits::{JOINT_REACH, ROPE_LENGTH_MAX},
};

impl ScriptContext {
    /// Asks for a hinge or a weld of the own object and another thing, at a point.
    ///
    /// # Errors
    /// As [`ScriptContext::unjoin`], and [`crate::ErrorKind::Argument`] if the point is further than
    /// [`JOINT_REACH`] metres from the centre of either thing.
    pub fn join_at(
        &mut self,
        other: ObjectId,
        at: Vec2,
        by: fn(Vec2) -> ThingJoint,
    ) -> Result<(), HostFault> {
        self.check_joinable(other)?;
        for end in [self.object, other] {
            if self.object(end)?.pos.distance(at) > Fx::from_int(JOINT_REACH) {
                let told = format!("a joint is within {JOINT_REACH} m of both things, not at {at}");
                return Err(refused(told));
            }
        }
        self.queue(ScriptEffect::Join { other, by: by(at) })
    }

    /// Asks for a rope between the centres of the own object and another thing.
    ///
    /// # Errors
    /// As [`ScriptContext::unjoin`], and [`crate::ErrorKind::Argument`] for a length that is no rope's.
    pub fn tie(&mut self, other: ObjectId, length: Fx) -> Result<(), HostFault> {
        self.check_joinable(other)?;
        if length <= Fx::ZERO || length > Fx::from_int(ROPE_LENGTH_MAX) {
            let told = format!("a rope is up to {ROPE_LENGTH_MAX} m long, not {length}");
            return Err(refused(told));
        }
        self.queue(ScriptEffect::Join { other, by: ThingJoint::Rope(length) })
    }

    /// Asks for a rod between the centres of the own object and another thing, as they stand.
    ///
    /// # Errors
    /// As [`ScriptContext::unjoin`], and [`crate::ErrorKind::Argument`] if they are too far apart.
    pub fn rod(&mut self, other: ObjectId) -> Result<(), HostFault> {
        self.check_joinable(other)?;
        self.check_near(other, "a rod")?;
        self.queue(ScriptEffect::Join { other, by: ThingJoint::Rod })
    }

    /// Asks for a spring between the centres of the own object and another thing, at rest as they stand. Physics
    /// keeps both numbers within its ranges.
    ///
    /// # Errors
    /// As [`ScriptContext::rod`].
    pub fn spring(&mut self, other: ObjectId, frequency: Fx, damping: Fx) -> Result<(), HostFault> {
        self.check_joinable(other)?;
        self.check_near(other, "a spring")?;
        self.queue(ScriptEffect::Join { other, by: ThingJoint::Spring { frequency, damping } })
    }

    /// Asks for a slider: another thing moves along a line from where it is, between the limits if there are any.
    ///
    /// # Errors
    /// As [`ScriptContext::unjoin`], and [`crate::ErrorKind::Argument`] if the other thing is further than
    /// [`JOINT_REACH`] metres away, or a limit is further than [`ROPE_LENGTH_MAX`] metres or on the wrong side.
    pub fn slide(
        &mut self,
        other: ObjectId,
        along: Angle,
        limits: Option<[Fx; 2]>,
    ) -> Result<(), HostFault> {
        self.check_joinable(other)?;
        let at = self.object(other)?.pos;
        if self.object(self.object)?.pos.distance(at) > Fx::from_int(JOINT_REACH) {
            let told = format!("a slider is within {JOINT_REACH} m of both things, not at {at}");
            return Err(refused(told));
        }
        let most = Fx::from_int(ROPE_LENGTH_MAX);
        let [low, high] = limits.unwrap_or_default();
        let are_right =
            (most.saturating_neg()..=Fx::ZERO).contains(&low) && (Fx::ZERO..=most).contains(&high);
        if !are_right {
            let told = format!(
                "a slider goes from -{ROPE_LENGTH_MAX} m or more to {ROPE_LENGTH_MAX} m or less, and 0 is between \
                 both, not from {low} to {high}"
            );
            return Err(refused(told));
        }
        self.queue(ScriptEffect::Join { other, by: ThingJoint::Slider { along, limits } })
    }

    /// Asks that all joints between the own object and another thing break above a force in newtons, or hold for
    /// good if it is 0. Physics keeps it within its range.
    ///
    /// # Errors
    /// As [`ScriptContext::unjoin`], and [`crate::ErrorKind::Argument`] for a force below 0.
    pub fn break_at(&mut self, other: ObjectId, force: Fx) -> Result<(), HostFault> {
        self.check_joinable(other)?;
        if force < Fx::ZERO {
            return Err(refused(format!("a joint breaks above a force of 0 or more, not {force}")));
        }
        self.queue(ScriptEffect::BreakAt { other, force })
    }

    /// Checks that another thing is no further away than a joint between both centres may be long.
    fn check_near(&self, other: ObjectId, what: &str) -> Result<(), HostFault> {
        let apart = self.object(self.object)?.pos.distance(self.object(other)?.pos);
        if apart > Fx::from_int(ROPE_LENGTH_MAX) {
            let told = format!("{what} is up to {ROPE_LENGTH_MAX} m long, not {apart}");
            return Err(refused(told));
        }
        Ok(())
    }

    /// Asks for the end of all joints between the own object and another thing.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Gone`] if there is no such object; [`crate::ErrorKind::Argument`] if it is a person, the
    /// own object or another owner's.
    pub fn unjoin(&mut self, other: ObjectId) -> Result<(), HostFault> {
        self.check_joinable(other)?;
        self.queue(ScriptEffect::Unjoin { other })
    }

    /// Asks for a motor in the hinges and sliders between the own object and another thing. Physics keeps both numbers
    /// within its ranges.
    ///
    /// # Errors
    /// As [`ScriptContext::unjoin`].
    pub fn motor(&mut self, other: ObjectId, speed: Fx, strength: Fx) -> Result<(), HostFault> {
        self.check_joinable(other)?;
        self.queue(ScriptEffect::Motor { other, speed, strength })
    }

    /// Checks that the own object may be joined to another one: both are things of one owner.
    fn check_joinable(&self, other: ObjectId) -> Result<(), HostFault> {
        let own = self.object(self.object)?.owner;
        let found = self.view.object(other).ok_or_else(|| gone(other))?;
        if other == self.object {
            return Err(refused("a thing is not joined to itself".into()));
        }
        if found.player.is_some() || found.owner != own {
            return Err(refused("only things of the same owner are joined".into()));
        }
        Ok(())
    }
}
