//! The joints of a region in id order, and which bodies they hold.

use std::collections::BTreeSet;

use metatopia_types::ObjectId;

use crate::joint::{Joint, JointId, JointPlan};

/// The joints of a region. All but the joints themselves follows from them.
#[derive(Clone, Debug, Default)]
pub(crate) struct JointStore {
    /// The joints, in id order.
    joints: Vec<Joint>,
    /// The constants of each joint, at the joint's index.
    plans: Vec<JointPlan>,
    /// Each body that a joint holds, with the joint.
    ends: BTreeSet<(ObjectId, JointId)>,
    /// Whether a joint may have changed since the changes were last taken.
    pub(crate) changed: bool,
}

impl PartialEq for JointStore {
    fn eq(&self, other: &Self) -> bool {
        self.joints == other.joints
    }
}

impl JointStore {
    /// Takes joints that are in order and checked.
    pub(crate) fn new(joints: Vec<Joint>) -> Self {
        let plans = joints.iter().map(|joint| JointPlan::of(&joint.spec)).collect();
        let ends = joints.iter().flat_map(|joint| joint.ends().map(|end| (end, joint.id)));
        Self { ends: ends.collect(), plans, joints, changed: true }
    }

    pub(crate) fn all(&self) -> &[Joint] {
        &self.joints
    }

    pub(crate) fn plan(&self, index: usize) -> &JointPlan {
        &self.plans[index]
    }

    /// Returns the index of a joint in the list, or where it would be inserted.
    pub(crate) fn index(&self, id: JointId) -> Result<usize, usize> {
        self.joints.binary_search_by_key(&id, |joint| joint.id)
    }

    /// Returns the indices of the joints that hold a body, in order.
    pub(crate) fn of_body(&self, body: ObjectId) -> impl Iterator<Item = usize> {
        let range = (body, JointId(0))..=(body, JointId(u64::MAX));
        self.ends.range(range).map(|(_, joint)| {
            self.index(*joint).expect("the ends are those of the joints in the list")
        })
    }

    pub(crate) fn insert(&mut self, index: usize, joint: Joint) {
        self.ends.extend(joint.ends().map(|end| (end, joint.id)));
        self.plans.insert(index, JointPlan::of(&joint.spec));
        self.joints.insert(index, joint);
        self.changed = true;
    }

    pub(crate) fn remove(&mut self, index: usize) -> Joint {
        let joint = self.joints.remove(index);
        self.plans.remove(index);
        for end in joint.ends() {
            self.ends.remove(&(end, joint.id));
        }
        self.changed = true;
        joint
    }

    /// Replaces a joint by one of the same id that holds the same bodies.
    pub(crate) fn replace(&mut self, index: usize, joint: Joint) {
        if self.joints[index] != joint {
            self.plans[index] = JointPlan::of(&joint.spec);
            self.joints[index] = joint;
            self.changed = true;
        }
    }

    /// Changes what is no part of a joint's definition.
    pub(crate) fn update(&mut self, index: usize, change: impl FnOnce(&mut Joint)) {
        let mut joint = self.joints[index];
        change(&mut joint);
        if self.joints[index] != joint {
            self.joints[index] = joint;
            self.changed = true;
        }
    }
}
