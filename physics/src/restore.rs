//! Restores a region from its state. The state may come from another machine, so every number is
//! checked here: the solver never meets one that it could not have made itself.

use metatopia_types::ObjectId;

use crate::body::Body;
use crate::contact::{Contact, ContactPoint, ContactPoints, PartContact, PointPair};
use crate::fixed::{Q20, Unit, Vector};
use crate::joint::JointId;
use crate::limits::{
    BODIES_MAX, COMPOUND_PARTS_MAX, COORDINATE_MAX, DAMPING_MAX, FRICTION_MAX, JOINTS_MAX,
    MASS_MAX, MASS_MIN, PAIRS_MAX, PART_PAIRS_MAX, SLEEP_STEPS,
};
use crate::motion::Motion;
use crate::region::Region;
use crate::solver::{NORMAL_IMPULSE_MAX, TANGENT_IMPULSE_MAX};

/// A reason why bodies and contacts are not the state of a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RestoreRegionError {
    /// There are more bodies than a region holds.
    #[error("{0} bodies where at most {BODIES_MAX} are allowed")]
    Bodies(usize),
    /// There are more contacts than a step makes.
    #[error("{0} contacts where at most {PAIRS_MAX} are allowed")]
    Contacts(usize),
    /// The bodies are not in strictly increasing id order.
    #[error("object {0} is not in order")]
    BodyOrder(ObjectId),
    /// The contacts are not in strictly increasing order of pairs of increasing ids.
    #[error("the contact of objects {0} and {1} is not in order")]
    ContactOrder(ObjectId, ObjectId),
    /// A field of a body is out of range.
    #[error("the {field} of object {id} is out of range")]
    Field {
        /// The id of the body.
        id: ObjectId,
        /// The field's name.
        field: &'static str,
    },
    /// The impulses of a contact are out of range, or its second point is there without a first.
    #[error("the points of the contact of objects {0} and {1} are out of range")]
    Points(ObjectId, ObjectId),
    /// There are more joints than a region holds.
    #[error("{0} joints where at most {JOINTS_MAX} are allowed")]
    Joints(usize),
    /// The joints are not in strictly increasing id order.
    #[error("joint {0} is not in order")]
    JointOrder(JointId),
    /// A field of a joint is out of range, or names a body that is not there.
    #[error("the {field} of joint {id} is out of range")]
    Joint {
        /// The id of the joint.
        id: JointId,
        /// The field's name.
        field: &'static str,
    },
}

impl Region {
    /// Restores a region from the bodies and contacts of another one, each in order. With its
    /// [joints](Region::with_joints), if it has any, it goes on exactly as the other one does.
    ///
    /// # Errors
    /// Returns the first [`RestoreRegionError`] that it finds.
    pub fn restore(bodies: Vec<Body>, contacts: Vec<Contact>) -> Result<Self, RestoreRegionError> {
        if bodies.len() > BODIES_MAX {
            return Err(RestoreRegionError::Bodies(bodies.len()));
        }
        if contacts.len() > PAIRS_MAX {
            return Err(RestoreRegionError::Contacts(contacts.len()));
        }
        if let Some(pair) = bodies.windows(2).find(|pair| pair[0].id >= pair[1].id) {
            return Err(RestoreRegionError::BodyOrder(pair[1].id));
        }
        for body in &bodies {
            if let Err(field) = check(body) {
                return Err(RestoreRegionError::Field { id: body.id, field });
            }
        }
        let unordered = contacts.windows(2).find(|pair| pair[0].pair() >= pair[1].pair());
        let backward = contacts.iter().find(|contact| contact.a >= contact.b);
        if let Some(wrong) = unordered.map(|pair| &pair[1]).or(backward) {
            return Err(RestoreRegionError::ContactOrder(wrong.a, wrong.b));
        }
        if let Some(wrong) = contacts.iter().find(|contact| !fits(&contact.points)) {
            return Err(RestoreRegionError::Points(wrong.a, wrong.b));
        }
        Ok(Self::from_state(bodies, contacts))
    }
}

/// Checks that every field of a body is in range. The error is the name of the first that is not.
pub(crate) fn check(body: &Body) -> Result<(), &'static str> {
    let within = |value: Q20, bound: Q20| value >= -bound && value <= bound;
    let factor = |value: Q20, max: Q20| value >= Q20::ZERO && value <= max;
    let bound = Q20::constant(COORDINATE_MAX);
    let damping = Q20::constant(DAMPING_MAX);
    let mass = (MASS_MIN.to_bits() >> 16)..=(MASS_MAX.to_bits() >> 16);
    let moves = body.motion != Motion::Static;
    body.geometry.check(body.motion).map_err(|_| "shape")?;
    let fields = [
        ("mass", mass.contains(&i64::from(body.mass))),
        ("friction", factor(body.friction, Q20::constant(FRICTION_MAX))),
        ("restitution", factor(body.restitution, Q20::ONE)),
        ("linear damping", factor(body.linear_damping, damping)),
        ("angular damping", factor(body.angular_damping, damping)),
        ("position", within(body.position.x, bound) && within(body.position.y, bound)),
        ("facing", is_unit(body.facing)),
        ("velocity", is_at_most(body.velocity, if moves { body.speed_bound() } else { Q20::ZERO })),
        ("spin", within(body.spin, if moves { body.spin_bound() } else { Q20::ZERO })),
        ("count of slow steps", body.slow_steps <= SLEEP_STEPS),
    ];
    match fields.iter().find(|(_, valid)| !valid) {
        Some((field, _)) => Err(field),
        None => Ok(()),
    }
}

/// Returns whether a velocity is no faster than a bound.
fn is_at_most(velocity: Vector, bound: Q20) -> bool {
    !velocity.is_longer_than(bound)
}

/// Returns whether a direction has the length one, within what rounding leaves.
fn is_unit(facing: Unit) -> bool {
    let (x, y) = (i64::from(facing.x.0), i64::from(facing.y.0));
    let squared = (x * x).saturating_add(y * y);
    (squared - (1 << 60)).abs() < 1 << 50
}

/// Returns whether the points of a contact are some that a step makes.
fn fits(points: &ContactPoints) -> bool {
    let parts = match points {
        ContactPoints::Whole(points) => return fit(points),
        ContactPoints::OfParts(parts) => parts,
    };
    let in_order = parts.windows(2).all(|pair| pair[0].parts < pair[1].parts);
    let numbers = parts.iter().all(|of| usize::from(of.parts) < COMPOUND_PARTS_MAX.pow(2));
    let pushes = |of: &PartContact| of.points.iter().flatten().any(|point| !point.is_idle());
    (1..=PART_PAIRS_MAX).contains(&parts.len())
        && in_order
        && numbers
        && parts.iter().all(|of| pushes(of) && fit(&of.points))
}

/// Returns whether the points of a manifold are in order and their impulses are in range.
fn fit(points: &PointPair) -> bool {
    let in_range = |point: &ContactPoint| {
        let normal = Q20::ZERO..=NORMAL_IMPULSE_MAX;
        let tangent = -TANGENT_IMPULSE_MAX..=TANGENT_IMPULSE_MAX;
        normal.contains(&point.normal_impulse) && tangent.contains(&point.tangent_impulse)
    };
    let in_order = !(points[0].is_none() && points[1].is_some());
    in_order && points.iter().flatten().all(in_range)
}
