//! Joints: what they hold, what they leave free, and when they break.

use metatopia_math::{Fx, Vec2};
use metatopia_physics::{JointId, JointKind, Region};
use metatopia_types::ObjectId;

pub(crate) use crate::scenes::{HINGE, join};
use crate::scenes::{at, body, cm};

mod commands;
mod drives;
mod ends;
mod structures;
mod swings;

const WELD: JointKind = JointKind::Weld { spring: None };

/// Returns a rod of a length in hundredths.
fn rod(length: i64) -> JointKind {
    JointKind::Distance { min: cm(length), max: cm(length), spring: None }
}

fn falling() -> Region {
    Region::new().with_gravity(at(0, -1_000))
}

fn near(found: Fx, wanted: Fx, within: Fx) -> bool {
    found.saturating_sub(wanted).saturating_abs() <= within
}

/// Returns where a point of a body's own frame is.
fn point_of(region: &Region, id: ObjectId, own: Vec2) -> Vec2 {
    let pose = body(region, id.0).pose();
    pose.position.saturating_add(own.rotate(pose.angle))
}

/// Returns how far the two anchors of a joint are apart.
fn gap(region: &Region, joint: u64) -> Fx {
    let spec = region.joint(JointId(joint)).expect("it holds").spec();
    let first = spec.a.map_or(spec.anchor_a, |a| point_of(region, a, spec.anchor_a));
    first.distance(point_of(region, spec.b, spec.anchor_b))
}

/// Returns the widest gap of all joints that hold one point.
fn widest_gap(region: &Region) -> Fx {
    let gaps = region.joints().iter().map(|joint| gap(region, joint.id().0));
    gaps.max().unwrap_or(Fx::ZERO)
}
