//! Joints for the page: what holds what, by the word of the server, and what a builder joins.

use std::time::Duration;

use metatopia_client::build::joined;
use metatopia_math::Fx;
use metatopia_protocol::{JointEntry, JointEntryKind, Question};
use metatopia_types::{Build, ObjectId};
use serde_json::{Value, json};

use super::{
    ClientCore,
    building::{BAD_NAME, BuildFault},
    inquiry::InquiryTask,
    units::{from_angle, from_fx},
};

/// Between two questions for the joints in sight.
const LEARN_AGAIN: Duration = Duration::from_secs(2);

/// What the page knows of joints.
#[derive(Debug, Default)]
pub(super) struct JointsTold {
    asked_at: Option<Duration>,
    /// As the page was told the last time.
    list: Option<Value>,
}

impl ClientCore {
    /// Asks for the joints in sight, at most every two seconds. A tab that nobody looks at does not ask.
    pub(super) fn learn_joints(&mut self) {
        let asked_at = self.joints.asked_at;
        let early = asked_at.is_some_and(|at| self.now < at.saturating_add(LEARN_AGAIN));
        if early || !self.pulse.is_active() {
            return;
        }
        if let Some(near) = self.session.sight().position() {
            self.joints.asked_at = Some(self.now);
            self.inquire(None, InquiryTask::Joints, Question::Joints { near });
        }
    }

    /// Asks again with the next view, as a deed of one's own may have changed them.
    pub(super) const fn joints_changed(&mut self) {
        self.joints.asked_at = None;
    }

    /// Tells the page of the joints, if they are others than it knows. Returns what the question comes to: nobody
    /// waits for more.
    pub(super) fn tell_joints(&mut self, all: &[JointEntry]) -> Value {
        let list: Value = all.iter().map(shown_joint).collect();
        if self.joints.list.as_ref() != Some(&list) {
            self.tell(&json!({ "type": "joints", "list": list, "proven": false }));
            self.joints.list = Some(list);
        }
        Value::Null
    }

    /// Returns the step that joins things in sight.
    pub(super) fn joined(
        &self,
        object: ObjectId,
        to: Option<ObjectId>,
        kind: (&str, Option<Fx>),
    ) -> Result<Build, BuildFault> {
        let end = |id| self.picture.joint_end(id).ok_or("NoObject");
        let (thing, to) = (end(object)?, to.map(end).transpose()?);
        let here = self.session.sight().position().unwrap_or(thing.position);
        joined(&thing, to.as_ref(), kind, here).ok_or(BAD_NAME)
    }
}

/// Returns a joint as the page draws it: its ends, each as a thing and a place as that one sees it.
fn shown_joint(entry: &JointEntry) -> Value {
    let along = match entry.kind {
        JointEntryKind::Slider { along } => Some(from_angle(along)),
        _ => None,
    };
    json!({
        "a": entry.a, "b": entry.b, "kind": entry.kind.word(), "along": along,
        "ax": from_fx(entry.anchor_a.x), "ay": from_fx(entry.anchor_a.y),
        "bx": from_fx(entry.anchor_b.x), "by": from_fx(entry.anchor_b.y),
    })
}
