//! A region from its state. What comes from another machine is checked here, so that the kernels
//! never meet a number that they could not have made themselves.

use metatopia_types::ObjectId;

use crate::body::Body;
use crate::contact::{Contact, Mark};
use crate::fixed::{Q20, Unit, Vector};
use crate::limits::{
    BODIES_MAX, COORDINATE_MAX, DAMPING_MAX, FRICTION_MAX, MASS_MAX, MASS_MIN, PAIRS_MAX,
    REST_STEPS,
};
use crate::motion::Motion;
use crate::region::Region;
use crate::solver::{FRICTION_BOUND, IMPULSE_BOUND};

/// Why bodies and contacts are not the state of a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RestoreError {
    /// More bodies than a region holds.
    #[error("{0} bodies where at most {BODIES_MAX} are allowed")]
    Bodies(usize),
    /// More contacts than a step makes.
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
        /// The body.
        id: ObjectId,
        /// The field's name.
        field: &'static str,
    },
    /// The impulses of a contact are out of range, or its points are not in order.
    #[error("the points of the contact of objects {0} and {1} are out of range")]
    Points(ObjectId, ObjectId),
}

impl Region {
    /// A region from the bodies and contacts of another, each in its order. It goes on exactly as
    /// the other one does.
    ///
    /// # Errors
    /// See [`RestoreError`].
    pub fn restore(bodies: Vec<Body>, contacts: Vec<Contact>) -> Result<Self, RestoreError> {
        if bodies.len() > BODIES_MAX {
            return Err(RestoreError::Bodies(bodies.len()));
        }
        if contacts.len() > PAIRS_MAX {
            return Err(RestoreError::Contacts(contacts.len()));
        }
        if let Some(pair) = bodies.windows(2).find(|pair| pair[0].id >= pair[1].id) {
            return Err(RestoreError::BodyOrder(pair[1].id));
        }
        for body in &bodies {
            if let Err(field) = check(body) {
                return Err(RestoreError::Field { id: body.id, field });
            }
        }
        let unordered = contacts.windows(2).find(|pair| pair[0].pair() >= pair[1].pair());
        let backward = contacts.iter().find(|contact| contact.a >= contact.b);
        if let Some(wrong) = unordered.map(|pair| &pair[1]).or(backward) {
            return Err(RestoreError::ContactOrder(wrong.a, wrong.b));
        }
        if let Some(wrong) = contacts.iter().find(|contact| !fits(&contact.marks)) {
            return Err(RestoreError::Points(wrong.a, wrong.b));
        }
        Ok(Self::from_state(bodies, contacts))
    }
}

/// The name of the first field that is out of range.
pub(crate) fn check(body: &Body) -> Result<(), &'static str> {
    let within = |value: Q20, bound: Q20| value >= -bound && value <= bound;
    let factor = |value: Q20, max: Q20| value >= Q20::ZERO && value <= max;
    let bound = Q20::constant(COORDINATE_MAX);
    let damping = Q20::constant(DAMPING_MAX);
    let mass = (MASS_MIN.to_bits() >> 16)..=(MASS_MAX.to_bits() >> 16);
    let moves = body.motion != Motion::Static;
    body.form.check(body.motion).map_err(|_| "shape")?;
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
        ("count of slow steps", body.slow_steps <= REST_STEPS),
    ];
    match fields.iter().find(|(_, valid)| !valid) {
        Some((field, _)) => Err(field),
        None => Ok(()),
    }
}

fn is_at_most(velocity: Vector, bound: Q20) -> bool {
    !velocity.is_longer_than(bound)
}

/// Of length one, within what rounding leaves.
fn is_unit(facing: Unit) -> bool {
    let (x, y) = (i64::from(facing.x.0), i64::from(facing.y.0));
    let squared = (x * x).saturating_add(y * y);
    (squared - (1 << 60)).abs() < 1 << 50
}

fn fits(marks: &[Option<Mark>; 2]) -> bool {
    let bounded = |mark: &Mark| {
        let pressed = mark.pressed >= Q20::ZERO && mark.pressed <= IMPULSE_BOUND;
        pressed && mark.rubbed >= -FRICTION_BOUND && mark.rubbed <= FRICTION_BOUND
    };
    let in_order = !(marks[0].is_none() && marks[1].is_some());
    in_order && marks.iter().flatten().all(bounded)
}
