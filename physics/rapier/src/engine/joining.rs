//! The joints of the other engine's world: how they follow those of the region.

use metatopia_math::Fx;
use metatopia_physics::{Joint, JointId};
use rapier2d::prelude::{GenericJoint, ImpulseJointHandle, RigidBodyBuilder, RigidBodyHandle};

use super::{GROUND, RapierWorld};
use crate::{joints, loads};

impl RapierWorld {
    /// Makes the joints what commands made of them. The bodies have followed already, and rapier has removed
    /// the joints of bodies that it made anew.
    pub(crate) fn follow_joints(&mut self, known: &[Joint], now: &[Joint]) {
        let found = |list: &[Joint], id| list.binary_search_by_key(&id, Joint::id).ok();
        let ends = |joint: &Joint| (joint.spec().a, joint.spec().b);
        let joints: Vec<(JointId, ImpulseJointHandle)> =
            self.joints.iter().map(|(id, handle)| (*id, *handle)).collect();
        for (id, handle) in joints {
            let was = found(known, id).map(|index| ends(&known[index]));
            let is = found(now, id).map(|index| &now[index]).filter(|joint| !joint.is_lost());
            if is.map(ends) != was || !self.world.impulse_joints.contains(handle) {
                self.world.impulse_joints.remove(handle, true);
                self.joints.remove(&id);
            }
        }
        for joint in now.iter().filter(|joint| !joint.is_lost()) {
            self.follow_joint(joint);
        }
    }

    /// Makes a joint of rapier what a joint is, if it is another one.
    fn follow_joint(&mut self, joint: &Joint) {
        let spec = joint.spec();
        let first = match spec.a {
            Some(a) => self.handles[&a],
            None => self.ground(),
        };
        let second = self.handles[&spec.b];
        let poses = [first, second].map(|handle| self.world.bodies[handle].position());
        let wanted = joints::joint(joint.id(), spec, joints::apart(spec, poses));
        let set = &mut self.world.impulse_joints;
        match self.joints.get(&joint.id()) {
            // Only looked at: to take a joint for writing marks it as changed.
            Some(handle) if set.get(*handle).is_some_and(|is| is_same(&is.data, &wanted)) => {}
            Some(handle) => {
                if let Some(of_rapier) = set.get_mut(*handle, false) {
                    of_rapier.data = wanted;
                }
            }
            None => {
                let handle = set.insert(first, second, wanted, true);
                self.joints.insert(joint.id(), handle);
            }
        }
    }

    /// Returns the body that stands for the ground.
    fn ground(&mut self) -> RigidBodyHandle {
        *self.ground.get_or_insert_with(|| {
            self.world.insert_body(RigidBodyBuilder::fixed().user_data(GROUND))
        })
    }

    /// Returns the joints that had to hold more than they can, in id order.
    pub(crate) fn broken(&self, now: &[Joint]) -> Vec<(JointId, Fx, Fx)> {
        let held = |joint: &Joint| {
            let of_rapier = self.world.impulse_joints.get(*self.joints.get(&joint.id())?)?;
            let ends = [of_rapier.body1(), of_rapier.body2()];
            loads::broken(joint, of_rapier, ends.map(|end| &self.world.bodies[end]))
        };
        now.iter().filter_map(held).collect()
    }
}

/// Returns whether two joints are one, whatever they had to hold in the last step.
fn is_same(one: &GenericJoint, other: &GenericJoint) -> bool {
    let mut same = *other;
    for axis in 0..same.limits.len() {
        same.limits[axis].impulse = one.limits[axis].impulse;
        same.motors[axis].impulse = one.motors[axis].impulse;
    }
    *one == same
}
