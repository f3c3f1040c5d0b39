//! The other engine's world: its bodies by our ids, how they are made, edited and read.

use std::collections::BTreeMap;

use metatopia_math::{Fx, Vec2};
use metatopia_physics::{
    Body, BodyMotion, BodySpec, Bounds, CompoundPart, Filter, JointId, Motion, Shape, limits,
};
use metatopia_types::ObjectId;
use rapier2d::prelude::{
    ActiveCollisionTypes, ColliderBuilder, Group, ImpulseJointHandle, InteractionGroups,
    InteractionTestMode, MassProperties, PhysicsWorld, RigidBody, RigidBodyActivation,
    RigidBodyBuilder, RigidBodyHandle, SharedShape,
};

use crate::numbers::{fixed, fixed_vector, float, float_vector, pose};

mod joining;
mod surfaces;

/// How far a pair may move, in metres, before its contact is computed anew. Less than rapier's own, so that
/// a touch ends where the region's limits say that it ends.
const RECYCLE_DISTANCE: f32 = 1.0 / 256.0;

/// The world of rapier, with the body of each object.
pub(crate) struct RapierWorld {
    pub(crate) world: PhysicsWorld,
    handles: BTreeMap<ObjectId, RigidBodyHandle>,
    joints: BTreeMap<JointId, ImpulseJointHandle>,
    /// The body without a shape that stands for the ground, once a joint holds to it.
    ground: Option<RigidBodyHandle>,
}

/// What the body that stands for the ground says instead of an object's id.
const GROUND: u128 = u128::MAX;

impl Default for RapierWorld {
    fn default() -> Self {
        let mut world = PhysicsWorld::new();
        // All else is as rapier has it: a later version may not have the same, and is another tier.
        world.integration_parameters.normalized_contact_recycle_distance = RECYCLE_DISTANCE;
        Self { world, handles: BTreeMap::new(), joints: BTreeMap::new(), ground: None }
    }
}

impl Clone for RapierWorld {
    /// Copies all that is in a snapshot. The rest is working memory that each world begins empty.
    fn clone(&self) -> Self {
        let world = &self.world;
        let world = PhysicsWorld {
            gravity: world.gravity,
            integration_parameters: world.integration_parameters,
            islands: world.islands.clone(),
            broad_phase: world.broad_phase.clone(),
            narrow_phase: world.narrow_phase.clone(),
            bodies: world.bodies.clone(),
            colliders: world.colliders.clone(),
            impulse_joints: world.impulse_joints.clone(),
            ..PhysicsWorld::default()
        };
        Self {
            world,
            handles: self.handles.clone(),
            joints: self.joints.clone(),
            ground: self.ground,
        }
    }
}

impl RapierWorld {
    /// Returns the world of a snapshot, if it is one that this tier makes: each body has one collider, and
    /// there are no others.
    pub(crate) fn of(world: PhysicsWorld) -> Option<Self> {
        let (mut handles, mut joints, mut ground) = (BTreeMap::new(), BTreeMap::new(), None);
        for (handle, body) in world.bodies.iter() {
            if body.user_data == GROUND {
                let is_ground = body.is_fixed() && body.colliders().is_empty() && ground.is_none();
                ground = is_ground.then_some(handle);
                ground?;
                continue;
            }
            let id = id_of(body.user_data)?;
            let [collider] = body.colliders() else {
                return None;
            };
            let collider = world.colliders.get(*collider)?;
            let is_ours = collider.user_data == body.user_data && is_finite(body);
            if !is_ours || handles.insert(id, handle).is_some() {
                return None;
            }
        }
        for (handle, joint) in world.impulse_joints.iter() {
            let id = JointId(u64::try_from(joint.data.user_data).ok()?);
            if joints.insert(id, handle).is_some() {
                return None;
            }
        }
        (world.colliders.len() == handles.len()).then_some(Self { world, handles, joints, ground })
    }

    /// Returns the ids of its joints, in order.
    pub(crate) fn joint_ids(&self) -> impl Iterator<Item = JointId> {
        self.joints.keys().copied()
    }

    /// Returns the ids of its bodies, in order.
    pub(crate) fn ids(&self) -> impl Iterator<Item = ObjectId> {
        self.handles.keys().copied()
    }

    /// Makes the bodies what commands made of them. Both lists are in id order.
    pub(crate) fn follow(&mut self, known: &[Body], now: &[Body], sleeping: bool) {
        let found = |list: &[Body], id| list.binary_search_by_key(&id, Body::id).ok();
        for old in known.iter().filter(|old| found(now, old.id()).is_none()) {
            self.remove(old.id());
        }
        for new in now {
            match found(known, new.id()).map(|index| &known[index]) {
                Some(old) if old == new => {}
                Some(old) if new.movement_since(old).is_some() => self.edit(old, new),
                Some(old) => {
                    self.remove(old.id());
                    self.insert(new, sleeping);
                }
                None => self.insert(new, sleeping),
            }
        }
    }

    fn remove(&mut self, id: ObjectId) {
        let handle = self.handles.remove(&id).expect("a known body is in the world");
        self.world.remove_body(handle);
    }

    fn insert(&mut self, body: &Body, sleeping: bool) {
        let (spec, moves) = (body.spec(), body.body_motion());
        let builder = match spec.motion {
            Motion::Static => RigidBodyBuilder::fixed(),
            Motion::Kinematic => RigidBodyBuilder::kinematic_velocity_based(),
            Motion::Dynamic => RigidBodyBuilder::dynamic(),
        };
        let shape = shape(&spec.shape);
        let builder = builder
            .pose(pose(moves.position, moves.facing))
            .linvel(float_vector(moves.velocity))
            .angvel(float(moves.spin))
            .linear_damping(float(spec.linear_damping))
            .angular_damping(float(spec.angular_damping))
            .additional_mass_properties(mass(&spec, &shape))
            .can_sleep(sleeping)
            .user_data(u128::from(body.id().0));
        let mut kinds = ActiveCollisionTypes::default();
        if spec.sensor {
            kinds |= ActiveCollisionTypes::KINEMATIC_FIXED;
            kinds |= ActiveCollisionTypes::KINEMATIC_KINEMATIC;
        }
        let collider = ColliderBuilder::new(shape)
            .density(0.0)
            .friction(float(spec.friction))
            .friction_combine_rule(surfaces::noted_friction_rule(spec.friction_rule))
            .restitution(float(spec.restitution))
            .restitution_combine_rule(surfaces::noted_restitution_rule(spec.restitution_rule))
            .active_hooks(surfaces::hooks(&spec))
            .sensor(spec.sensor)
            .active_collision_types(kinds)
            .collision_groups(groups(spec.filter))
            .user_data(u128::from(body.id().0));
        let (handle, _) = self.world.insert(builder, collider);
        self.handles.insert(body.id(), handle);
    }

    /// Writes the parts of the motion that commands changed. The other ones keep their floats.
    fn edit(&mut self, old: &Body, new: &Body) {
        let Some(movement) = new.movement_since(old) else {
            return;
        };
        let handle = self.handles[&new.id()];
        if new.motion() != Motion::Static && !new.is_asleep() {
            self.world.wake_up(handle, true);
        }
        let moves = new.body_motion();
        let body = &mut self.world.bodies[handle];
        if movement.facing.is_some() {
            body.set_position(pose(moves.position, moves.facing), true);
        } else if movement.position.is_some() {
            body.set_translation(float_vector(moves.position), true);
        }
        if movement.velocity.is_some() {
            body.set_linvel(float_vector(moves.velocity), true);
        }
        if movement.spin.is_some() {
            body.set_angvel(float(moves.spin), true);
        }
    }

    /// Lets these bodies stand still and meet nothing, and all others take part. They are in id order.
    pub(crate) fn let_wait(&mut self, waiting: &[ObjectId]) {
        for (id, handle) in &self.handles {
            let waits = waiting.binary_search(id).is_ok();
            // Only looked at: to take a body for writing marks it as changed.
            if self.world.bodies[*handle].is_enabled() == waits {
                let body = &mut self.world.bodies[*handle];
                body.set_enabled(!waits);
                body.set_linvel(float_vector(Vec2::ZERO), true);
                body.set_angvel(0.0, true);
            }
        }
    }

    /// Lets all bodies fall asleep from now on, or none.
    pub(crate) fn set_sleeping(&mut self, sleeping: bool) {
        let handles: Vec<RigidBodyHandle> = self.handles.values().copied().collect();
        for handle in handles {
            self.world.wake_up(handle, true);
            let activation = self.world.bodies[handle].activation_mut();
            *activation = if sleeping {
                RigidBodyActivation::active()
            } else {
                RigidBodyActivation::cannot_sleep()
            };
        }
    }

    /// Simulates a step. Returns the bodies for which no number was computed, in id order.
    pub(crate) fn step(&mut self, gravity: Vec2) -> Vec<ObjectId> {
        self.world.gravity = float_vector(gravity);
        self.world.step_with_events(&surfaces::SurfaceHooks, &());
        let Self { world, handles, .. } = self;
        let quarantine = world.quarantine();
        let colliders = quarantine.colliders().iter();
        let parents = colliders.filter_map(|handle| world.colliders.get(*handle)?.parent());
        let neutralised = quarantine.bodies().iter().copied().chain(parents);
        let all = neutralised.chain(
            handles
                .values()
                .copied()
                .filter(|handle| world.bodies.get(*handle).is_some_and(|body| !is_finite(body))),
        );
        let ids = all.filter_map(|handle| id_of(world.bodies.get(handle)?.user_data));
        let mut ids: Vec<ObjectId> = ids.collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    /// Returns what the step made of a body. Where that had to be clamped, the world is told.
    pub(crate) fn read(&mut self, before: &Body, bounds: Bounds) -> Body {
        let handle = self.handles[&before.id()];
        let body = &self.world.bodies[handle];
        let computed = body_motion(body, before.motion());
        let after = before.moved(&computed, bounds);
        let taken = after.body_motion();
        let body = &mut self.world.bodies[handle];
        if before.motion() != Motion::Static {
            if is_other(taken.position, computed.position) {
                body.set_translation(float_vector(taken.position), false);
            }
            if is_other(taken.velocity, computed.velocity) {
                body.set_linvel(float_vector(taken.velocity), false);
            }
            if taken.spin.saturating_sub(computed.spin).saturating_abs() > ROUNDING {
                body.set_angvel(float(taken.spin), false);
            }
        }
        after
    }
}

/// More than a region rounds what it is told.
const ROUNDING: Fx = Fx::from_ratio(1, 1 << 19);

/// Returns whether two vectors differ by more than rounding.
fn is_other(one: Vec2, other: Vec2) -> bool {
    let way = one.saturating_sub(other);
    way.x.saturating_abs() > ROUNDING || way.y.saturating_abs() > ROUNDING
}

/// Returns where a body is, in fixed point.
fn body_motion(body: &RigidBody, motion: Motion) -> BodyMotion {
    let (position, velocity) = (body.position(), body.linvel());
    let rotation = position.rotation;
    BodyMotion {
        position: fixed_vector(position.translation),
        facing: Vec2::new(fixed(rotation.cos()), fixed(rotation.sin())),
        velocity: fixed_vector(velocity),
        spin: fixed(body.angvel()),
        asleep: match motion {
            Motion::Static => true,
            Motion::Kinematic => !body.is_moving(),
            Motion::Dynamic => body.is_sleeping(),
        },
    }
}

/// Returns the id of an object that a body or a collider belongs to.
pub(crate) fn id_of(user_data: u128) -> Option<ObjectId> {
    u64::try_from(user_data).ok().map(ObjectId)
}

fn is_finite(body: &RigidBody) -> bool {
    body.position().is_finite() && body.vels().is_finite()
}

/// Returns which others a body meets, by the same rule.
fn groups(filter: Filter) -> InteractionGroups {
    let group = Group::from_bits_retain;
    InteractionGroups::new(group(filter.category), group(filter.mask), InteractionTestMode::And)
}

/// Returns a shape of rapier.
fn shape(shape: &Shape) -> SharedShape {
    match *shape {
        Shape::Circle { radius } => SharedShape::ball(float(radius)),
        Shape::Rect { half } => SharedShape::cuboid(float(half.x), float(half.y)),
        Shape::Capsule { half, radius } => SharedShape::capsule_x(float(half), float(radius)),
        Shape::Segment(segment) => {
            let [from, to] = segment.ends().map(float_vector);
            SharedShape::segment(from, to)
        }
        Shape::Compound(ref compound) => {
            let part = |part: CompoundPart| {
                let (sine, cosine) = part.angle.sin_cos();
                (pose(part.offset, Vec2::new(cosine, sine)), self::shape(&part.shape))
            };
            SharedShape::compound(compound.parts().map(part).collect())
        }
        Shape::Polygon(ref polygon) => {
            let corners: Vec<_> = polygon.corners().map(float_vector).collect();
            // A polygon of a body has an inscribed circle, so it has corners that are no line.
            let size = float(limits::SIZE_MIN);
            SharedShape::convex_polyline(corners).unwrap_or_else(|| SharedShape::ball(size))
        }
    }
}

/// Returns the mass of a body and its inertia around its position. Contacts do not turn a body without.
fn mass(spec: &BodySpec, shape: &SharedShape) -> MassProperties {
    let mass = float(spec.mass);
    let of_shape = shape.mass_properties(1.0);
    // A segment has no area. It is static, so that nothing turns it.
    let is_thin = of_shape.mass() <= 0.0;
    let inertia = if is_thin { 0.0 } else { of_shape.principal_inertia() / of_shape.mass() * mass };
    MassProperties::new(
        float_vector(Vec2::ZERO),
        mass,
        if spec.fixed_rotation { 0.0 } else { inertia },
    )
}
