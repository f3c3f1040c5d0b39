//! Which bodies touch after a step, by the rules of the region.

use metatopia_math::{Fx, Vec2};
use metatopia_physics::{Body, Contact, Hit, Motion, TierView, Touching, limits::TOUCH_MARGIN};
use metatopia_types::ObjectId;
use rapier2d::prelude::{Collider, ContactManifold, ContactPair, PhysicsWorld, Vector};

use crate::engine::id_of;
use crate::numbers::{fixed, fixed_vector, float, float_vector};

/// Returns all pairs that touch, in the order of their ids.
pub(crate) fn touches(world: &PhysicsWorld, view: TierView<'_>) -> Vec<Touching> {
    let mut found: Vec<Touching> =
        world.contact_pairs().filter_map(|pair| contact(world, pair, view)).collect();
    found.extend(world.intersection_pairs().filter_map(|(_, first, _, second, meet)| {
        let pair = ordered(id_of(first.user_data)?, id_of(second.user_data)?);
        let point = fixed_vector(first.position().translation);
        (meet && is_noticed(view, pair)).then_some(Touching { pair, point, impulse: Fx::ZERO })
    }));
    found.sort_unstable_by_key(|touching| touching.pair);
    found
}

/// Returns the touch of a pair of bodies that push each other.
fn contact(world: &PhysicsWorld, pair: &ContactPair, view: TierView<'_>) -> Option<Touching> {
    let (first, second) =
        (world.colliders.get(pair.collider1)?, world.colliders.get(pair.collider2)?);
    let ids = ordered(id_of(first.user_data)?, id_of(second.user_data)?);
    let touched = view.contacts.binary_search_by_key(&ids, Contact::pair).is_ok();
    let (mut impulse, mut nearest, mut point) = (0.0, f32::INFINITY, Vec2::ZERO);
    for manifold in pair.solver_manifolds() {
        let is_solved = !manifold.data.solver_contacts.is_empty();
        for place in &manifold.points {
            if is_solved {
                impulse += place.data.impulse;
            }
            if place.dist < nearest {
                nearest = place.dist;
                point = fixed_vector(position(first, manifold, place.local_p1));
            }
        }
    }
    let touches = impulse > 0.0 || nearest <= 0.0 || (touched && nearest <= float(TOUCH_MARGIN));
    touches.then(|| Touching { pair: ids, point, impulse: fixed(impulse) })
}

/// Returns where a point of a manifold is, which is told in the frame of the part that it is on, if it is on one
/// of a compound.
fn position(of: &Collider, manifold: &ContactManifold, point: Vector) -> Vector {
    let own = manifold.subshape_pos1().map_or(point, |part| part * point);
    of.position() * own
}

/// Returns the hits that are harder than the region asks for, in the order of their ids.
pub(crate) fn hits(world: &PhysicsWorld, view: TierView<'_>) -> Vec<Hit> {
    let Some(least) = view.hit_speed else {
        return Vec::new();
    };
    let all = world.contact_pairs().filter_map(|pair| hit(world, pair, view));
    let mut hits: Vec<Hit> = all.filter(|hit| hit.speed >= least).collect();
    hits.sort_unstable_by_key(|hit| (hit.a, hit.b));
    hits
}

/// Returns how hard two bodies that push each other met: by their velocities before the step.
fn hit(world: &PhysicsWorld, pair: &ContactPair, view: TierView<'_>) -> Option<Hit> {
    let (one, other) = (world.colliders.get(pair.collider1)?, world.colliders.get(pair.collider2)?);
    let (first, second) = (id_of(one.user_data)?, id_of(other.user_data)?);
    let (of_first, of_second) = (body(view, first)?, body(view, second)?);
    let (mut impulse, mut fastest, mut point) = (0.0, f32::NEG_INFINITY, Vec2::ZERO);
    for manifold in pair.solver_manifolds() {
        let pushing = !manifold.data.solver_contacts.is_empty();
        for place in manifold.points.iter().filter(|place| pushing && place.data.impulse > 0.0) {
            let at = position(one, manifold, place.local_p1);
            let way = velocity_at(of_first, at) - velocity_at(of_second, at);
            let speed = way.dot(manifold.data.normal);
            impulse += place.data.impulse;
            if speed > fastest {
                (fastest, point) = (speed, fixed_vector(at));
            }
        }
    }
    let (a, b) = ordered(first, second);
    let is_hit = impulse > 0.0;
    is_hit.then(|| Hit { a, b, point, speed: fixed(fastest), impulse: fixed(impulse) })
}

/// Returns the velocity of the point of a body that was at a position before the step.
fn velocity_at(body: &Body, at: Vector) -> Vector {
    let lever = at - float_vector(body.position());
    let (velocity, spin) = (float_vector(body.velocity()), float(body.spin()));
    Vector::new(velocity.x - spin * lever.y, velocity.y + spin * lever.x)
}

fn body<'a>(view: TierView<'a>, id: ObjectId) -> Option<&'a Body> {
    let index = view.bodies.binary_search_by_key(&id, Body::id);
    index.ok().map(|index| &view.bodies[index])
}

/// Returns whether a sensor notices the other one of a pair: what moves and is no sensor.
fn is_noticed(view: TierView<'_>, (a, b): (ObjectId, ObjectId)) -> bool {
    let (Some(a), Some(b)) = (body(view, a), body(view, b)) else {
        return false;
    };
    let other = match (a.is_sensor(), b.is_sensor()) {
        (true, false) => b,
        (false, true) => a,
        _ => return false,
    };
    other.motion() != Motion::Static
}

fn ordered(a: ObjectId, b: ObjectId) -> (ObjectId, ObjectId) {
    (a.min(b), a.max(b))
}
