//! The tier: a step of it, from what commands made of the bodies to what the region takes over.

use core::fmt;

use metatopia_physics::{Body, Joint, Tier, TierMaker, TierStateError, TierStep, TierView};
use metatopia_types::ObjectId;

use crate::crowds::waiting;
use crate::engine::RapierWorld;
use crate::limits::BODIES_MAX;
use crate::snapshot::{self, RestoreTierError};
use crate::touches::{hits, touches};

#[cfg(test)]
mod tests;

/// Newton 2: moves the bodies of a region by rapier.
///
/// It begins cold: the first step makes rapier's world of the bodies. After that its state is what
/// rapier has cached, complete, and the bodies as the last step left them. What commands changed since
/// then is carried over before the next step.
#[derive(Clone, Default)]
pub struct Newton2 {
    /// What it keeps from step to step; `None` while it is cold.
    pub(crate) warm: Option<Warm>,
}

/// What the tier keeps from step to step.
#[derive(Clone)]
pub(crate) struct Warm {
    pub(crate) engine: RapierWorld,
    /// The bodies as the last step left them, in id order.
    pub(crate) known: Vec<Body>,
    /// The joints in the last step, in id order.
    pub(crate) joints: Vec<Joint>,
    /// Whether bodies fell asleep in the last step.
    pub(crate) sleeping: bool,
}

impl Newton2 {
    /// Returns the tier, cold.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Restores the tier from what [`Tier::state`] returned. With the region's bodies and contacts, it
    /// goes on exactly as the other one does.
    ///
    /// All that this crate makes is checked. What rapier caches is not: whoever takes a state from others
    /// must know its digest from those who are believed.
    ///
    /// # Errors
    /// Returns [`RestoreTierError`] if the bytes are no state, or one of another version.
    pub fn restore(state: &[u8]) -> Result<Self, RestoreTierError> {
        snapshot::decode(state)
    }

    /// Returns whether the next step makes rapier's world anew of the bodies alone.
    #[must_use]
    pub const fn is_cold(&self) -> bool {
        self.warm.is_none()
    }
}

impl fmt::Debug for Newton2 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = self.warm.as_ref().map(|warm| warm.known.len());
        f.debug_struct("Newton2").field("bodies", &known).finish_non_exhaustive()
    }
}

impl Tier for Newton2 {
    fn name(&self) -> &'static str {
        "newton2, format 1, rapier2d 0.36.1"
    }

    fn bodies_max(&self) -> usize {
        BODIES_MAX
    }

    fn step(&mut self, view: TierView<'_>) -> TierStep {
        // Taken out: a step that panics leaves the tier cold, on every machine alike, and the next one
        // begins from the bodies.
        let mut warm = self.warm.take().unwrap_or_else(|| Warm {
            engine: RapierWorld::default(),
            known: Vec::new(),
            joints: Vec::new(),
            sleeping: view.sleeping,
        });
        if warm.rests(view) {
            let touching = touches(&warm.engine.world, view);
            self.warm = Some(warm);
            return TierStep { touching, ..TierStep::default() };
        }
        warm.follow(view);
        let frozen = warm.engine.step(view.gravity);
        let moved = warm.read(view, &frozen);
        let touching = touches(&warm.engine.world, view);
        let hits = hits(&warm.engine.world, view);
        let broken = warm.engine.broken(view.joints);
        if frozen.is_empty() {
            self.warm = Some(warm);
        }
        TierStep { moved, touching, frozen, hits, broken }
    }

    fn state(&self) -> Vec<u8> {
        snapshot::encode(self)
    }

    fn forget(&mut self) {
        self.warm = None;
    }

    fn fork(&self) -> Box<dyn Tier> {
        Box::new(self.clone())
    }
}

/// Makes tiers of the kind [`Newton2`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Newton2Maker;

impl TierMaker for Newton2Maker {
    fn begin(&self) -> Box<dyn Tier> {
        Box::new(Newton2::new())
    }

    fn restore(&self, state: &[u8]) -> Result<Box<dyn Tier>, TierStateError> {
        let tier = Newton2::restore(state).map_err(|error| TierStateError(error.to_string()))?;
        Ok(Box::new(tier))
    }
}

impl Warm {
    /// Returns whether a step would change nothing: all bodies sleep, and no command has come. It follows
    /// from the state alone, so a restored tier rests as well.
    fn rests(&self, view: TierView<'_>) -> bool {
        self.sleeping == view.sleeping
            && view.bodies.iter().all(Body::is_asleep)
            && self.known == view.bodies
            && self.joints == view.joints
    }

    /// Carries over what commands changed since the last step.
    fn follow(&mut self, view: TierView<'_>) {
        if self.sleeping != view.sleeping {
            self.sleeping = view.sleeping;
            self.engine.set_sleeping(view.sleeping);
        }
        self.engine.follow(&self.known, view.bodies, view.sleeping);
        self.engine.follow_joints(&self.joints, view.joints);
        self.joints = view.joints.to_vec();
        self.engine.let_wait(&waiting(view.bodies));
    }

    /// Reads what the step made of the bodies, and returns those that changed.
    fn read(&mut self, view: TierView<'_>, frozen: &[ObjectId]) -> Vec<Body> {
        let is_frozen = |body: &Body| frozen.binary_search(&body.id()).is_ok();
        let engine = &mut self.engine;
        let read = |body: &Body| match is_frozen(body) {
            true => body.frozen(),
            false => engine.read(body, view.bounds),
        };
        self.known = view.bodies.iter().map(read).collect();
        let changed = self.known.iter().zip(view.bodies).filter(|(new, old)| new != old);
        changed.map(|(new, _)| new.clone()).collect()
    }
}
