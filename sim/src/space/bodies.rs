//! The bodies of the sim's ground. This is the only file that knows of a region of physics.

use metatopia_math::{Fx, Vec2};
use metatopia_physics::{
    Aspect, Body, BodySpec, Bounds, Changes, Contact, Filter, Hit, ImpulseError, InsertError,
    Joint, JointEnded, JointError, JointId, JointKind, JointSpec, MissingBody, Motion, Motor,
    NearbyBody, OutOfBounds, Pose, RayHit, Region, ReshapeError, RestoreRegionError, RevertError,
    Shape, StepEvents, Tier, TooManyForTier, Touch, VelocityError,
    limits::{BODIES_MAX, GHOSTS_FROM},
};
use metatopia_types::{ObjectId, limits::OBJECT_NUMBERS_END};

use crate::limits::TIER_BYTES_MAX;

/// The least speed of a hit that scripts are told of, in metres a second.
const HIT_SPEED: Fx = Fx::ONE;

/// The bodies of all objects, and how they move.
///
/// A sim has exactly one region of physics: it grows by more sims, not by more regions.
#[derive(Debug, Clone)]
pub(crate) struct Bodies {
    region: Region,
    /// Index: how many of the sim's own bodies are of several parts.
    compounds: usize,
}

impl Bodies {
    /// Returns no bodies, on ground with these bounds and this gravity.
    pub(crate) fn new(bounds: Bounds, gravity: Vec2) -> Self {
        let region = Region::new().with_bounds(bounds).expect("no body is outside");
        let region = region.with_gravity(gravity).with_hits(Some(HIT_SPEED));
        Self { region, compounds: 0 }
    }

    /// Restores bodies, their contacts and their joints from a state, on ground with these bounds and this
    /// gravity.
    pub(crate) fn restore(
        bounds: Bounds,
        gravity: Vec2,
        bodies: Vec<Body>,
        contacts: Vec<Contact>,
        joints: Vec<Joint>,
    ) -> Result<Self, RestoreBodiesError> {
        // Ghosts are among the bodies, and contacts name them.
        let region = Region::restore(bodies, contacts)?.with_joints(joints)?.with_bounds(bounds)?;
        let region = region.with_gravity(gravity).with_hits(Some(HIT_SPEED));
        let is_compound = |body: &&Body| body.shape().is_compound();
        let compounds = region.bodies().iter().filter(is_compound).count();
        Ok(Self { region, compounds })
    }

    /// Returns how many bodies are of several parts. No ghost is.
    pub(crate) const fn compounds(&self) -> usize {
        self.compounds
    }

    /// Sets what moves the bodies in place of the solver.
    pub(crate) fn set_tier(&mut self, tier: Option<Box<dyn Tier>>) -> Result<(), TooManyForTier> {
        if let Some(tier) = tier {
            self.region = core::mem::take(&mut self.region).with_tier(tier)?;
        }
        Ok(())
    }

    /// Returns the state of the tier, if there is one. What is too long to be
    /// kept it forgets.
    pub(crate) fn tier_state(&mut self) -> Option<Vec<u8>> {
        let state = self.region.tier_state()?;
        if state.len() <= TIER_BYTES_MAX {
            return Some(state);
        }
        self.region.forget_tier_state();
        self.region.tier_state()
    }

    /// Returns the bounds of the ground.
    pub(crate) const fn bounds(&self) -> Bounds {
        self.region.bounds()
    }

    /// Sets the bounds of the ground, which all bodies are inside.
    pub(crate) fn set_bounds(&mut self, bounds: Bounds) {
        let region = core::mem::take(&mut self.region);
        self.region = region.with_bounds(bounds).expect("all bodies were brought inside");
    }

    /// Returns the body of an object. A ghost is no object's.
    pub(crate) fn body(&self, id: ObjectId) -> Option<&Body> {
        self.region.body(id).filter(|body| !body.is_ghost())
    }

    /// Returns the bodies of this sim's own objects, in the order of their ids. Numbers from
    /// [`OBJECT_NUMBERS_END`] on are for ghosts: bodies of a neighbouring sim near a border.
    pub(crate) fn own(&self) -> &[Body] {
        &self.region.bodies()[..self.own_count()]
    }

    /// Returns how many bodies are this sim's own. They come before the ghosts.
    fn own_count(&self) -> usize {
        self.region.bodies().partition_point(|body| !body.is_ghost())
    }

    /// Returns the contacts of all bodies that touch, ghosts among them, in the order of their ids.
    pub(crate) fn contacts(&self) -> &[Contact] {
        self.region.contacts()
    }

    /// Returns the joints, in the order of their ids. A joint that lost a body since the last step is one of
    /// them, because the next step tells of its end.
    pub(crate) fn joints(&self) -> &[Joint] {
        self.region.joints()
    }

    /// Says whether a joint holds an object.
    pub(crate) fn is_joined(&self, id: ObjectId) -> bool {
        self.region.joints_of(id).next().is_some()
    }

    /// Returns the joint of this id.
    pub(crate) fn joint(&self, id: JointId) -> Option<&Joint> {
        self.region.joint(id)
    }

    /// Returns the joints that hold an object, but for those that end with the next step.
    pub(crate) fn joints_of(&self, id: ObjectId) -> impl Iterator<Item = &Joint> {
        self.region.joints_of(id).filter(|joint| !joint.is_lost())
    }

    /// Returns the definition of a joint of two bodies as they are, at a point; the first one may be the
    /// ground.
    pub(crate) fn joint_at(
        &self,
        a: Option<ObjectId>,
        b: ObjectId,
        at: Vec2,
        kind: JointKind,
    ) -> Result<JointSpec, MissingBody> {
        self.region.joint_at(a, b, at, kind)
    }

    /// Removes a joint, if it is there.
    pub(crate) fn unjoin(&mut self, id: JointId) {
        let _ = self.region.remove_joint(id);
    }

    /// Gives a joint another motor, or none, if it is a hinge or a slider.
    pub(crate) fn drive(&mut self, id: JointId, motor: Option<Motor>) {
        let has_motor = |joint: &Joint| {
            matches!(joint.spec().kind, JointKind::Revolute { .. } | JointKind::Prismatic { .. })
        };
        if self.joint(id).is_some_and(has_motor) {
            self.region.set_motor(id, motor).expect("a joint that was just seen");
        }
    }

    /// Sets the force above which a joint breaks; none for one that does not.
    ///
    /// # Panics
    /// Where there is no such joint.
    pub(crate) fn set_break_force(&mut self, id: JointId, force: Option<Fx>) {
        self.region.set_break_force(id, force).expect("a joint that its caller has seen");
    }

    /// Checks a definition of a joint.
    pub(crate) fn check_joint(&self, spec: &JointSpec) -> Result<(), JointError> {
        self.region.check_joint(spec).map(drop)
    }

    /// Adds a joint.
    pub(crate) fn join(&mut self, id: JointId, spec: &JointSpec) -> Result<(), JointError> {
        self.region.insert_joint(id, spec)
    }

    /// Returns what may have changed since the last call; the first time, everything.
    pub(crate) fn take_changes(&mut self) -> Changes {
        self.region.take_changes()
    }

    /// Marks everything as changed.
    pub(crate) fn touch_all(&mut self) {
        self.region.touch_all();
    }

    /// Simulates a tick. A step that panics has changed nothing. Touches of ghosts are not told.
    pub(crate) fn step(&mut self) -> Happenings {
        let ends = |joint: &Joint| (joint.id(), (joint.spec().a, joint.spec().b));
        let joined: Vec<_> = self.region.joints().iter().map(ends).collect();
        let StepEvents { mut touches, mut hits, joints } = self.region.step_events();
        // A script cannot be told of a thing that is not here: to read anything of it is a mistake.
        let are_own = |(a, b): (ObjectId, ObjectId)| a.max(b) < GHOSTS_FROM;
        touches.retain(|touch| are_own(touch.pair()));
        let beyond = hits.extract_if(.., |hit| !are_own((hit.a, hit.b)));
        // Ghosts have the larger numbers, and two of them move through each other.
        let beyond = beyond.map(|hit| (hit.a.min(hit.b), hit.a.max(hit.b), hit.speed)).collect();
        let of = |ended: &JointEnded| {
            let index = joined.binary_search_by_key(&ended.id, |(id, _)| *id);
            joined[index.expect("what ended was there before the step")].1
        };
        let parted = joints.iter().map(of).collect();
        Happenings { touches, hits, beyond, parted, frozen: self.region.frozen().to_vec() }
    }

    /// Adds the body of an object of this sim.
    pub(crate) fn insert(&mut self, id: ObjectId, spec: &BodySpec) -> Result<(), InsertError> {
        assert!(id.0 < OBJECT_NUMBERS_END, "object {id} has a number of bodies that are not ours");
        self.make_room();
        self.region.insert(id, spec)?;
        self.compounds += usize::from(spec.shape.is_compound());
        Ok(())
    }

    /// Removes a ghost if there is no place left: ghosts take none from what is the sim's own.
    fn make_room(&mut self) {
        let last = self.region.bodies().last().filter(|body| body.is_ghost()).map(Body::id);
        if self.region.bodies().len() >= BODIES_MAX {
            last.into_iter().for_each(|id| self.remove_ghost(id));
        }
    }

    /// Inserts a body that was removed, as it was, but awake.
    pub(crate) fn put_back(&mut self, body: &Body) -> Result<(), InsertError> {
        self.make_room();
        self.region.put_back(body)?;
        self.compounds += usize::from(body.shape().is_compound());
        Ok(())
    }

    /// Removes a body, and wakes the bodies that it touched.
    pub(crate) fn remove(&mut self, id: ObjectId) -> Result<Body, MissingBody> {
        let body = self.region.remove(id)?;
        self.compounds -= usize::from(body.shape().is_compound());
        Ok(body)
    }

    /// Moves a body to a position, and wakes the bodies that it touched.
    pub(crate) fn set_position(&mut self, id: ObjectId, at: Vec2) -> Result<(), MissingBody> {
        self.region.set_position(id, at)
    }

    /// Moves and turns a body, and wakes the bodies that it touched.
    pub(crate) fn set_pose(&mut self, id: ObjectId, pose: Pose) -> Result<(), MissingBody> {
        self.region.set_pose(id, pose)
    }

    /// Gives a body another shape and mass.
    pub(crate) fn set_shape(
        &mut self,
        id: ObjectId,
        shape: Shape,
        mass: Fx,
    ) -> Result<(), ReshapeError> {
        let is_compound = |body: Option<&Body>| body.is_some_and(|body| body.shape().is_compound());
        let (was, becomes) = (is_compound(self.body(id)), shape.is_compound());
        self.region.set_shape(id, shape, mass)?;
        self.compounds = self.compounds + usize::from(becomes) - usize::from(was);
        Ok(())
    }

    /// Gives a body that is there another motion and filter. The bodies that it touched wake.
    pub(crate) fn set_role(&mut self, id: ObjectId, motion: Motion, filter: Filter) {
        self.region.set_filter(id, filter).expect("a body that was just seen");
        self.region.set_motion(id, motion).expect("a shape that moves can stand still, and back");
    }

    /// Returns a body as it would be at a place, with this motion and filter: as [`Self::set_position`] and
    /// [`Self::set_role`] would leave it. Nothing changes.
    pub(crate) fn in_role(&self, body: &Body, at: Vec2, role: (Motion, Filter)) -> Body {
        let mut alone = Self::new(self.bounds(), Vec2::ZERO);
        let id = body.id();
        alone.put_back(body).expect("a body that is there");
        alone.set_position(id, at).expect("the only body");
        alone.set_role(id, role.0, role.1);
        alone.remove(id).expect("the only body")
    }

    /// Gives a body the material of a definition.
    pub(crate) fn set_material(&mut self, id: ObjectId, of: &BodySpec) -> Result<(), MissingBody> {
        self.region.set_material(id, of)
    }

    /// Makes a body a sensor, or solid again.
    ///
    /// # Panics
    /// Where there is no such body.
    pub(crate) fn set_sensor(&mut self, id: ObjectId, sensor: bool) {
        self.region.set_sensor(id, sensor).expect("a body that its caller has seen");
    }

    /// Reverts one aspect of a body to an older state.
    pub(crate) fn revert(&mut self, before: &Body, aspect: Aspect) -> Result<(), RevertError> {
        let is_compound = |body: Option<&Body>| body.is_some_and(|body| body.shape().is_compound());
        let was = is_compound(self.body(before.id()));
        self.region.revert(before, aspect)?;
        let becomes = is_compound(self.body(before.id()));
        self.compounds = self.compounds + usize::from(becomes) - usize::from(was);
        Ok(())
    }

    /// Sets a velocity in metres a second.
    pub(crate) fn set_velocity(
        &mut self,
        id: ObjectId,
        velocity: Vec2,
    ) -> Result<(), VelocityError> {
        self.region.set_velocity(id, velocity)
    }

    /// Sets a spin in radians a second.
    pub(crate) fn set_spin(&mut self, id: ObjectId, spin: Fx) -> Result<(), VelocityError> {
        self.region.set_spin(id, spin)
    }

    /// Applies an impulse, in newton seconds, at the centre of a body.
    pub(crate) fn apply_impulse(
        &mut self,
        id: ObjectId,
        impulse: Vec2,
    ) -> Result<(), ImpulseError> {
        self.region.apply_impulse(id, impulse)
    }

    /// Returns the bodies at most `radius` metres from a point, the nearest first, and at most `max`.
    pub(crate) fn nearby(&self, center: Vec2, radius: Fx, max: usize) -> Vec<NearbyBody> {
        self.region.nearby(center, radius, max)
    }

    /// Returns what [`Bodies::nearby`] returns, and how many bodies the query looked at.
    pub(crate) fn nearby_with_cost(
        &self,
        center: Vec2,
        radius: Fx,
        max: usize,
    ) -> (Vec<NearbyBody>, usize) {
        self.region.nearby_with_cost(center, radius, max)
    }

    /// Returns the body that a straight way meets first, apart from `skip`, and how many bodies the query
    /// looked at.
    pub(crate) fn ray_cast(&self, from: Vec2, to: Vec2, skip: ObjectId) -> (Option<RayHit>, usize) {
        self.region.ray_cast(from, to, skip)
    }

    /// Returns all bodies that overlap a circle, and some more near it, in no meaningful order.
    pub(crate) fn around(&self, center: Vec2, radius: Fx) -> impl Iterator<Item = &Body> {
        self.region.around(center, radius)
    }

    /// Returns the bodies that reach so far from their position, and some smaller ones, in no
    /// meaningful order.
    pub(crate) fn reaching(&self, reach: Fx) -> impl Iterator<Item = &Body> {
        self.region.reaching(reach)
    }
}

impl Bodies {
    /// Says whether ghosts can stand among the bodies. A tier moves the sim's own alone.
    pub(crate) fn takes_ghosts(&self) -> bool {
        self.region.tier().is_none()
    }

    /// Returns the ghosts, in the order of their numbers.
    pub(crate) fn ghosts(&self) -> &[Body] {
        &self.region.bodies()[self.own_count()..]
    }

    /// Returns the ghost of this number.
    pub(crate) fn ghost(&self, id: ObjectId) -> Option<&Body> {
        self.region.body(id).filter(|body| body.is_ghost())
    }

    /// Puts a ghost in under the least number that is free; none if there is no place, or no such body.
    pub(crate) fn put_ghost(&mut self, spec: &BodySpec) -> Option<ObjectId> {
        let numbered = self.ghosts().iter().zip(OBJECT_NUMBERS_END..);
        let first = numbered.take_while(|(ghost, number)| ghost.id().0 == *number).count();
        let id = ObjectId(OBJECT_NUMBERS_END.saturating_add(first as u64));
        self.region.insert(id, spec).is_ok().then_some(id)
    }

    /// Gives a ghost another outline, pose and motion. What it touches wakes if one of these is another one.
    pub(crate) fn set_ghost(&mut self, id: ObjectId, spec: &BodySpec) {
        let Some(now) = self.ghost(id) else { return };
        let is_reshaped = now.shape() != spec.shape;
        // A ghost that was just seen can have every outline, pose and speed that a frame says.
        if is_reshaped {
            let _ = self.region.set_shape(id, spec.shape.clone(), spec.mass);
        }
        let _ = self.region.set_pose(id, spec.pose);
        let _ = self.region.set_velocity(id, spec.velocity);
        let _ = self.region.set_spin(id, spec.spin);
    }

    /// Has a ghost stand still.
    pub(crate) fn stop_ghost(&mut self, id: ObjectId) {
        if self.ghost(id).is_some() {
            let _ = self.region.set_velocity(id, Vec2::ZERO);
            let _ = self.region.set_spin(id, Fx::ZERO);
        }
    }

    /// Removes a ghost, and wakes the bodies that it touched.
    pub(crate) fn remove_ghost(&mut self, id: ObjectId) {
        if self.ghost(id).is_some() {
            self.region.remove(id).expect("a ghost that was just seen");
        }
    }
}

/// What happened to bodies in a tick.
#[derive(Debug, Clone, Default)]
pub(crate) struct Happenings {
    /// Touches that began or ended.
    pub(crate) touches: Vec<Touch>,
    /// Bodies that met hard.
    pub(crate) hits: Vec<Hit>,
    /// Bodies that met a ghost hard: the own one, the ghost, and how fast they met, in metres a second.
    pub(crate) beyond: Vec<(ObjectId, ObjectId, Fx)>,
    /// The ends of joints that broke, or lost a body: the first is nothing where it was the ground.
    pub(crate) parted: Vec<(Option<ObjectId>, ObjectId)>,
    /// Bodies for which the tier computed no number: they stand still from now on.
    pub(crate) frozen: Vec<ObjectId>,
}

/// Why bodies, contacts and joints are not those of a state.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RestoreBodiesError {
    /// Physics refuses them.
    #[error(transparent)]
    Physics(#[from] RestoreRegionError),
    /// A body is outside of the sim's ground.
    #[error(transparent)]
    OutOfBounds(#[from] OutOfBounds),
}

#[cfg(test)]
mod tests {
    use metatopia_physics::{TierStep, TierView};

    use super::*;

    /// A tier that moves nothing.
    #[derive(Debug)]
    struct StillTier;

    impl Tier for StillTier {
        fn name(&self) -> &'static str {
            "still"
        }

        fn bodies_max(&self) -> usize {
            9
        }

        fn step(&mut self, _: TierView<'_>) -> TierStep {
            TierStep::default()
        }

        fn state(&self) -> Vec<u8> {
            Vec::new()
        }

        fn forget(&mut self) {}

        fn fork(&self) -> Box<dyn Tier> {
            Box::new(Self)
        }
    }

    #[test]
    fn only_newton_1_takes_ghosts() {
        let mut bodies = Bodies::new(Bounds::MAX, Vec2::ZERO);
        assert!(bodies.takes_ghosts());
        bodies.set_tier(Some(Box::new(StillTier))).expect("no body is there");
        assert!(!bodies.takes_ghosts());
    }

    fn circle(motion: Motion) -> BodySpec {
        BodySpec::new(Shape::Circle { radius: Fx::HALF }, motion, Vec2::ZERO)
    }

    #[test]
    fn ghosts_have_the_least_free_numbers_and_give_way_to_what_is_the_sims_own() {
        let mut bodies = Bodies::new(Bounds::MAX, Vec2::ZERO);
        let ghost = circle(Motion::Kinematic);
        let put = |bodies: &mut Bodies| bodies.put_ghost(&ghost).map(|id| id.0);
        let numbers: Vec<_> = (0..3).map(|_| put(&mut bodies)).collect();
        assert_eq!(numbers, [0, 1, 2].map(|n| Some(OBJECT_NUMBERS_END + n)));
        bodies.remove_ghost(ObjectId(OBJECT_NUMBERS_END + 1));
        assert_eq!(put(&mut bodies), Some(OBJECT_NUMBERS_END + 1));

        let most = BODIES_MAX as u64;
        let spec = circle(Motion::Static);
        (1..=most - 2).for_each(|n| bodies.insert(ObjectId(n), &spec).expect("a place"));
        assert_eq!((bodies.own().len(), bodies.ghosts().len()), (BODIES_MAX - 2, 2));
        assert_eq!(put(&mut bodies), None, "there is no place");
        (most - 1..=most).for_each(|n| bodies.insert(ObjectId(n), &spec).expect("a place"));
        assert!(bodies.ghosts().is_empty());
        let full = bodies.insert(ObjectId(most + 1), &spec);
        assert_eq!(full, Err(InsertError::Full(BODIES_MAX)));
    }

    #[test]
    fn a_ghost_is_the_body_of_no_object() {
        let mut bodies = Bodies::new(Bounds::MAX, Vec2::ZERO);
        let id = bodies.put_ghost(&circle(Motion::Kinematic)).expect("a place");
        assert!(bodies.ghost(id).is_some() && bodies.body(id).is_none());
        assert!(bodies.own().is_empty() && bodies.around(Vec2::ZERO, Fx::ONE).next().is_none());
        let hinge = JointKind::Revolute { limits: None, motor: None };
        assert_eq!(bodies.joint_at(None, id, Vec2::ZERO, hinge), Err(MissingBody(id)));
    }
}
