//! The commands that make, change and remove joints.

use metatopia_math::{Angle, Fx, Vec2};
use metatopia_types::ObjectId;

use super::{MissingBody, Region};
use crate::body::Body;
use crate::fixed::Q20;
use crate::joint::{
    IMPULSES, Joint, JointEnd, JointEnded, JointError, JointId, JointKind, JointSpec, Motor,
};
use crate::joint_store::JointStore;
use crate::limits::JOINTS_MAX;
use crate::restore::RestoreRegionError;
use crate::step::JointChanges;

impl Region {
    /// Returns the joints, in id order.
    #[must_use]
    pub fn joints(&self) -> &[Joint] {
        self.joints.all()
    }

    /// Returns the joint of this id.
    #[must_use]
    pub fn joint(&self, id: JointId) -> Option<&Joint> {
        self.joints.index(id).ok().map(|index| &self.joints.all()[index])
    }

    /// Returns the joints that hold a body, in id order.
    pub fn joints_of(&self, id: ObjectId) -> impl Iterator<Item = &Joint> {
        self.joints.of_body(id).map(|index| &self.joints.all()[index])
    }

    /// Returns the definition of a joint of two bodies as they are now, at a point of the region: the point
    /// is both anchors, and the angle between the bodies is the one that counts as zero.
    ///
    /// # Errors
    /// Returns [`MissingBody`] if there is no such body.
    pub fn joint_at(
        &self,
        a: Option<ObjectId>,
        b: ObjectId,
        point: Vec2,
        kind: JointKind,
    ) -> Result<JointSpec, MissingBody> {
        let first = a.map(|a| self.own_body(a).ok_or(MissingBody(a))).transpose()?;
        let second = self.own_body(b).ok_or(MissingBody(b))?;
        let angle = first.map_or(Angle::ZERO, Body::angle);
        Ok(JointSpec {
            anchor_a: first.map_or(point, |first| first.own_frame(point)),
            anchor_b: second.own_frame(point),
            angle: second.angle().wrapping_sub(angle),
            ..JointSpec::new(a, b, kind)
        })
    }

    /// Returns a definition as a joint of this region would have it: rounded and clamped.
    ///
    /// # Errors
    /// Returns the [`JointError`] for which there would be no such joint.
    pub fn check_joint(&self, spec: &JointSpec) -> Result<JointSpec, JointError> {
        let checked = spec.checked()?;
        for end in [checked.a, Some(checked.b)].into_iter().flatten() {
            self.own_body(end).ok_or(MissingBody(end))?;
        }
        if self.joints.all().len() == JOINTS_MAX { Err(JointError::Full) } else { Ok(checked) }
    }

    /// Adds a joint. Both bodies wake.
    ///
    /// # Errors
    /// Returns [`JointError`]; nothing has changed then.
    pub fn insert_joint(&mut self, id: JointId, spec: &JointSpec) -> Result<(), JointError> {
        let Err(index) = self.joints.index(id) else {
            return Err(JointError::Occupied(id));
        };
        let joint = Joint::new(id, self.check_joint(spec)?);
        self.joints.insert(index, joint);
        self.wake_ends(&joint);
        Ok(())
    }

    /// Removes a joint. Both bodies wake, and no event tells of it.
    ///
    /// # Errors
    /// Returns [`JointError::Missing`] if there is no such joint.
    pub fn remove_joint(&mut self, id: JointId) -> Result<Joint, JointError> {
        let index = self.joints.index(id).map_err(|_| JointError::Missing(id))?;
        let joint = self.joints.remove(index);
        self.wake_ends(&joint);
        Ok(joint)
    }

    /// Gives a hinge or a slider another motor, or none. If that changes it, both bodies wake.
    ///
    /// # Errors
    /// Returns [`JointError`]; nothing has changed then.
    pub fn set_motor(&mut self, id: JointId, motor: Option<Motor>) -> Result<(), JointError> {
        self.change_kind(id, |kind| match kind {
            JointKind::Revolute { motor: now, .. } | JointKind::Prismatic { motor: now, .. } => {
                *now = motor;
                Ok(())
            }
            _ => Err(JointError::Field("motor")),
        })
    }

    /// Sets the force in newtons above which a joint breaks, clamped as [`JointSpec::break_force`] is; `None` for a
    /// joint that holds whatever its force. If that changes it, both bodies wake.
    ///
    /// # Errors
    /// Returns [`JointError::Missing`] if there is no such joint.
    pub fn set_break_force(&mut self, id: JointId, force: Option<Fx>) -> Result<(), JointError> {
        let spec = self.joint(id).ok_or(JointError::Missing(id))?.spec;
        self.redefine(id, JointSpec { break_force: force, ..spec })
    }

    /// Moves the first anchor of a target: a point of the first body's own frame, or of the ground. If that
    /// changes it, both bodies wake.
    ///
    /// # Errors
    /// Returns [`JointError`]; nothing has changed then.
    pub fn move_target(&mut self, id: JointId, to: Vec2) -> Result<(), JointError> {
        let spec = self.joint(id).ok_or(JointError::Missing(id))?.spec;
        if !matches!(spec.kind, JointKind::Target { .. }) {
            return Err(JointError::Field("anchor_a"));
        }
        self.redefine(id, JointSpec { anchor_a: to, ..spec })
    }

    /// Returns this region with joints that another one had, in order.
    ///
    /// # Errors
    /// Returns the first [`RestoreRegionError`] that it finds.
    pub fn with_joints(mut self, joints: Vec<Joint>) -> Result<Self, RestoreRegionError> {
        if joints.len() > JOINTS_MAX {
            return Err(RestoreRegionError::Joints(joints.len()));
        }
        if let Some(pair) = joints.windows(2).find(|pair| pair[0].id >= pair[1].id) {
            return Err(RestoreRegionError::JointOrder(pair[1].id));
        }
        for joint in &joints {
            let lacks_body =
                joint.lost.is_none() && joint.ends().any(|end| self.body(end).is_none());
            let wrong = joint.check().err().or(lacks_body.then_some("bodies"));
            if let Some(field) = wrong {
                return Err(RestoreRegionError::Joint { id: joint.id, field });
            }
        }
        self.joints = JointStore::new(joints);
        self.asleep = false;
        Ok(self)
    }

    fn change_kind(
        &mut self,
        id: JointId,
        change: impl FnOnce(&mut JointKind) -> Result<(), JointError>,
    ) -> Result<(), JointError> {
        let mut spec = self.joint(id).ok_or(JointError::Missing(id))?.spec;
        change(&mut spec.kind)?;
        self.redefine(id, spec)
    }

    /// Gives a joint another definition of the same bodies. It keeps its impulses.
    fn redefine(&mut self, id: JointId, spec: JointSpec) -> Result<(), JointError> {
        let index = self.joints.index(id).map_err(|_| JointError::Missing(id))?;
        let before = self.joints.all()[index];
        let joint = Joint { spec: spec.checked()?, ..before };
        if joint != before {
            self.joints.replace(index, joint);
            self.wake_ends(&joint);
        }
        Ok(())
    }

    /// Wakes the bodies of a joint.
    fn wake_ends(&mut self, joint: &Joint) {
        self.asleep = false;
        for end in joint.ends() {
            if let Ok(index) = self.index(end) {
                self.wake(index);
            }
        }
    }

    /// Drops the impulses of a body's joints, and wakes the bodies at their other ends.
    pub(super) fn wake_joined(&mut self, id: ObjectId) {
        let joints: Vec<usize> = self.joints.of_body(id).collect();
        for index in joints {
            self.joints.update(index, |joint| joint.impulses = [Q20::ZERO; IMPULSES]);
            let joint = self.joints.all()[index];
            for other in joint.ends().filter(|end| *end != id) {
                if let Ok(index) = self.index(other) {
                    self.wake(index);
                }
            }
        }
    }

    /// Notes which joints lose a body that is removed.
    pub(super) fn lose(&mut self, id: ObjectId) {
        let joints: Vec<usize> = self.joints.of_body(id).collect();
        for index in joints {
            self.joints.update(index, |joint| joint.lost = joint.lost.or(Some(id)));
        }
    }

    /// Takes over what a step made of the joints. Returns which of them ended.
    pub(crate) fn settle_joints(&mut self, changes: JointChanges) -> Vec<JointEnded> {
        for (index, impulses) in changes.updated {
            self.joints.update(index as usize, |joint| joint.impulses = impulses);
        }
        let mut ended = Vec::with_capacity(changes.ended.len());
        // From the last one, so that the indices of the others still fit.
        for (index, reason) in changes.ended.into_iter().rev() {
            let joint = self.joints.remove(index as usize);
            if matches!(reason, JointEnd::Broke { .. }) {
                self.wake_ends(&joint);
            }
            ended.push(JointEnded { id: joint.id, reason });
        }
        ended.reverse();
        ended
    }
}
