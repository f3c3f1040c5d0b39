//! Tiers: what moves the bodies of a region in place of the region's own solver.
//!
//! A region without a tier is Newton 1. With one it has the same bodies, commands, bounds and queries;
//! the tier decides where bodies go and which of them touch. A tier sees the commands by what they made
//! of the bodies, so that it cannot take them in another way than the region does.

use core::fmt;

use metatopia_math::{Fx, Vec2};
use metatopia_types::ObjectId;

use crate::body::{Body, MovedBody};
use crate::bounds::Bounds;
use crate::contact::Contact;
use crate::fixed::{Q20, Q30, Unit, Vector, narrow, rounded};
use crate::joint::{Joint, JointEnd, JointId};
use crate::limits::{BODIES_MAX, SLEEP_STEPS};
use crate::motion::Motion;
use crate::region::Region;
use crate::step::JointChanges;
use crate::touch::{Hit, StepEvents, Touch};

/// The name of the region's own solver, and its version. Another version moves bodies differently: whoever
/// changes what a step computes counts it up.
pub const NEWTON1: &str = "newton1, version 1";

/// What moves the bodies of a region in place of the region's own solver.
///
/// A step must be a pure function of the view and of [`Tier::state`]. A step that panics must leave a
/// state from which the next step goes on in the same way on every machine.
pub trait Tier: fmt::Debug + Send + Sync {
    /// Returns the name of the tier, and the version of all that decides what it computes.
    fn name(&self) -> &'static str;

    /// Returns the greatest number of bodies that it moves.
    fn bodies_max(&self) -> usize;

    /// Simulates a 60th of a second.
    fn step(&mut self, view: TierView<'_>) -> TierStep;

    /// Returns what the next step depends on beside the view, as bytes that a tier can be restored from.
    fn state(&self) -> Vec<u8>;

    /// Forgets all that it keeps: the next step begins from what its view shows.
    fn forget(&mut self);

    /// Returns a tier that goes on exactly as this one does.
    fn fork(&self) -> Box<dyn Tier>;
}

/// Makes tiers of one kind.
pub trait TierMaker: fmt::Debug + Send + Sync {
    /// Returns a tier that has stepped no region yet.
    fn begin(&self) -> Box<dyn Tier>;

    /// Restores a tier from what [`Tier::state`] returned.
    ///
    /// # Errors
    /// Returns [`TierStateError`] if the bytes are no state of such a tier, or one of another version.
    fn restore(&self, state: &[u8]) -> Result<Box<dyn Tier>, TierStateError>;
}

/// Bytes are not the state of a tier, for this reason.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the state of the tier: {0}")]
pub struct TierStateError(pub String);

/// What a tier sees of its region.
#[derive(Clone, Copy, Debug)]
pub struct TierView<'a> {
    /// All bodies as commands left them, in id order.
    pub bodies: &'a [Body],
    /// The contacts after the step before, ordered by [`Contact::pair`].
    pub contacts: &'a [Contact],
    /// The joints as commands left them, in id order. One that lost a body holds nothing any more.
    pub joints: &'a [Joint],
    /// The ground that the bodies keep to.
    pub bounds: Bounds,
    /// The gravity in metres a second squared.
    pub gravity: Vec2,
    /// Whether slow bodies fall asleep.
    pub sleeping: bool,
    /// The least speed of a hit that is reported, in metres a second; none is, without it.
    pub hit_speed: Option<Fx>,
}

/// What a tier made of a region in a step.
#[derive(Clone, Debug, Default)]
pub struct TierStep {
    /// The bodies that changed, made by [`Body::moved`] or [`Body::frozen`].
    pub moved: Vec<Body>,
    /// The pairs that touch, in the order of their ids.
    pub touching: Vec<Touching>,
    /// The bodies that the tier froze, because it computed no number for them.
    pub frozen: Vec<ObjectId>,
    /// The hits that were asked for, in the order of their ids.
    pub hits: Vec<Hit>,
    /// The joints that had to hold more than they can, in id order, with the force in newtons and the
    /// torque in newton metres.
    pub broken: Vec<(JointId, Fx, Fx)>,
}

/// Two bodies that touch at the end of a tier's step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Touching {
    /// The two bodies, the lower id first.
    pub pair: (ObjectId, ObjectId),
    /// The position of the contact, in metres from the region's origin.
    pub point: Vec2,
    /// The impulse along the normal over the whole step, in newton seconds; zero for a sensor.
    pub impulse: Fx,
}

/// Where a body is and how it moves, before it is rounded and clamped to what bodies may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BodyMotion {
    /// The position in metres from the region's origin.
    pub position: Vec2,
    /// The cosine and the sine of the angle.
    pub facing: Vec2,
    /// The velocity in metres a second.
    pub velocity: Vec2,
    /// The spin in radians a second.
    pub spin: Fx,
    /// Whether nothing moves the body until something wakes it.
    pub asleep: bool,
}

impl Body {
    /// Returns where the body is, and how it moves.
    #[must_use]
    pub fn body_motion(&self) -> BodyMotion {
        let coordinate = |part: Q30| Fx::from_bits(i64::from(part.0) << 2);
        BodyMotion {
            position: self.position(),
            facing: Vec2::new(coordinate(self.facing.x), coordinate(self.facing.y)),
            velocity: self.velocity(),
            spin: self.spin(),
            asleep: self.is_asleep(),
        }
    }

    /// Returns the body with this motion: rounded, inside the bounds, and no faster than it can be. At the
    /// edge it loses the velocity that points outwards. A facing without a direction is not taken.
    #[must_use]
    pub fn moved(&self, motion: &BodyMotion, bounds: Bounds) -> Self {
        let mut body = self.clone();
        let far = Q20::constant(Fx::from_int(2_047));
        let position = Vector::clamped(motion.position, far);
        body.position = bounds.clamp(position);
        body.facing = unit(motion.facing).unwrap_or(body.facing);
        body.slow_steps = if motion.asleep { SLEEP_STEPS } else { 0 };
        if motion.asleep || body.motion == Motion::Static {
            (body.velocity, body.spin) = (Vector::ZERO, Q20::ZERO);
            return body;
        }
        let mut velocity = body.speed_limited(motion.velocity);
        for (part, inside, wanted) in [
            (&mut velocity.x, body.position.x, position.x),
            (&mut velocity.y, body.position.y, position.y),
        ] {
            if (wanted > inside && *part > Q20::ZERO) || (wanted < inside && *part < Q20::ZERO) {
                *part = Q20::ZERO;
            }
        }
        body.velocity = velocity;
        body.spin = body.spin_limited(motion.spin);
        body
    }

    /// Returns the body where it is, static from now on.
    #[must_use]
    pub fn frozen(&self) -> Self {
        Self {
            motion: Motion::Static,
            velocity: Vector::ZERO,
            spin: Q20::ZERO,
            slow_steps: SLEEP_STEPS,
            ..self.clone()
        }
    }
}

/// Returns the direction of a cosine and a sine, if they are those of an angle within what rounding leaves.
fn unit(facing: Vec2) -> Option<Unit> {
    let nearly_one = Fx::from_ratio(1_001, 1_000);
    let fits = |part: Fx| part.saturating_abs() <= nearly_one;
    let squared = facing.length_squared();
    let near = squared.saturating_sub(Fx::ONE).saturating_abs() < Fx::from_ratio(1, 1_000);
    let part = |part: Fx| Q30(narrow(rounded(part.to_bits(), 2)));
    (fits(facing.x) && fits(facing.y) && near)
        .then(|| Unit { x: part(facing.x), y: part(facing.y) }.normalised())
}

/// A region has more bodies than its tier moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{bodies} bodies where {tier} moves at most {max}")]
pub struct TooManyForTier {
    /// The name of the tier.
    pub tier: &'static str,
    /// How many bodies there are.
    pub bodies: usize,
    /// How many the tier moves.
    pub max: usize,
}

impl Clone for Box<dyn Tier> {
    fn clone(&self) -> Self {
        self.fork()
    }
}

impl Region {
    /// Returns this region with a tier, which moves its bodies from now on. Whoever restores a region
    /// with a tier sets the restored tier.
    ///
    /// # Errors
    /// Returns [`TooManyForTier`] if the region has more bodies than the tier moves.
    pub fn with_tier(mut self, tier: Box<dyn Tier>) -> Result<Self, TooManyForTier> {
        let (bodies, max) = (self.bodies().len(), tier.bodies_max());
        if bodies > max {
            return Err(TooManyForTier { tier: tier.name(), bodies, max });
        }
        self.tier = Some(tier);
        self.tier_changed = true;
        // A region that sleeps tells the tier nothing, and one that was restored does not sleep yet.
        self.asleep = false;
        Ok(self)
    }

    /// Makes the tier forget all that it keeps, so that its state is short: the next step begins from the
    /// bodies, the contacts and the joints. Without a tier nothing happens.
    pub fn forget_tier_state(&mut self) {
        if let Some(tier) = &mut self.tier {
            tier.forget();
            self.tier_changed = true;
            // Bodies that sleep are told to the tier again by a step.
            self.asleep = false;
        }
    }

    /// Returns the tier that moves the bodies, if it is not the region's own solver.
    #[must_use]
    pub fn tier(&self) -> Option<&dyn Tier> {
        self.tier.as_deref()
    }

    /// Returns the name and the version of what moves the bodies: of the tier, or [`NEWTON1`].
    #[must_use]
    pub fn tier_name(&self) -> &'static str {
        self.tier().map_or(NEWTON1, |tier| tier.name())
    }

    /// Returns the state of the tier. With the bodies and the contacts it is the complete state of the
    /// region; `None` if they alone are.
    #[must_use]
    pub fn tier_state(&self) -> Option<Vec<u8>> {
        self.tier.as_ref().map(|tier| tier.state())
    }

    /// Returns the bodies that the last step froze, in id order: they are static where they were.
    #[must_use]
    pub fn frozen(&self) -> &[ObjectId] {
        &self.frozen
    }

    /// Returns how many bodies fit.
    pub(crate) fn bodies_max(&self) -> usize {
        self.tier.as_ref().map_or(BODIES_MAX, |tier| tier.bodies_max().min(BODIES_MAX))
    }

    /// Simulates a step by the tier.
    pub(crate) fn step_by_tier(&mut self) -> StepEvents {
        let none_awake = self.awake_bodies() == 0;
        let view = TierView {
            bodies: &self.bodies,
            contacts: &self.contacts,
            joints: self.joints.all(),
            bounds: self.surroundings.bounds,
            gravity: self.surroundings.gravity.vec2(),
            sleeping: self.surroundings.sleeping,
            hit_speed: self.surroundings.hit_speed.map(Q20::fx),
        };
        let tier = self.tier.as_mut().expect("the caller has seen the tier");
        // A step that panics may leave another state of the tier as well.
        self.tier_changed = true;
        // Everything that can panic is here, before the first change of the region.
        let TierStep { moved, touching, frozen, hits, broken } = tier.step(view);
        self.active_bodies = if none_awake { 0 } else { self.bodies.len() };
        for body in moved {
            self.take_over(body);
        }
        let ended = self.ended_joints(&broken);
        let (touches, contacts) = touches(&self.contacts, touching);
        let same = self.contacts == contacts;
        self.asleep =
            none_awake && touches.is_empty() && same && frozen.is_empty() && ended.is_empty();
        if !same {
            self.contacts = contacts;
            self.contacts_changed = true;
        }
        self.frozen = frozen;
        self.removed.clear();
        let joints = self.settle_joints(JointChanges { updated: Vec::new(), ended });
        StepEvents { touches, hits, joints }
    }

    /// Returns which joints end: those that lost a body, and those that the tier says broke.
    fn ended_joints(&self, broken: &[(JointId, Fx, Fx)]) -> Vec<(u32, JointEnd)> {
        let all = (0..).zip(self.joints.all());
        let end = |joint: &Joint| {
            let broke = || {
                let at = broken.binary_search_by_key(&joint.id(), |(id, ..)| *id).ok()?;
                let (_, force, torque) = broken[at];
                Some(JointEnd::Broke { force, torque })
            };
            joint.lost.map(JointEnd::Removed).or_else(broke)
        };
        all.filter_map(|(index, joint)| Some((index, end(joint)?))).collect()
    }

    /// Takes over what the tier made of a body.
    fn take_over(&mut self, body: Body) {
        let index = self.index(body.id()).expect("a tier moves the bodies that it was shown");
        assert!(body.check().is_ok(), "{body:?} is no body");
        if self.bodies[index].motion == body.motion {
            self.settle(index, &MovedBody::of(&body));
        } else {
            self.replace(index, body);
        }
    }
}

/// Returns the touches that began and ended, and the contacts of those that touch.
fn touches(before: &[Contact], touching: Vec<Touching>) -> (Vec<Touch>, Vec<Contact>) {
    let is_new = |pair| before.binary_search_by_key(&pair, Contact::pair).is_err();
    let mut touches: Vec<Touch> = touching
        .iter()
        .filter(|touching| is_new(touching.pair))
        .map(|Touching { pair: (a, b), point, impulse }| Touch::Began {
            a: *a,
            b: *b,
            point: *point,
            impulse: *impulse,
        })
        .collect();
    let contact = |Touching { pair: (a, b), .. }| Contact::bare(a, b);
    let after: Vec<Contact> = touching.into_iter().map(contact).collect();
    touches.extend(crate::step::ended(before, &after));
    (touches, after)
}
