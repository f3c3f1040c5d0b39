//! The own avatar's next moments, by the servers' own physics, as far as its surroundings are known.

use metatopia_client::Sight;
use metatopia_math::{Fx, Vec2};
use metatopia_physics::{Body, Bounds, Pose, Region};
use metatopia_sim::{Parameters, heading_of};
use metatopia_types::ObjectId;

use crate::CallError;

/// Longest look ahead: a second.
pub const TICKS_MAX: u32 = 60;

/// Bodies that are looked at; those that can be met within a second, nearest first.
pub const NEAR_MAX: usize = 64;

/// Changes of heading in one look ahead.
const CHANGES_MAX: usize = 64;

/// Metres that something may come nearer in a second, beside the avatar's own way.
const MARGIN: Fx = Fx::from_int(3);

/// How the avatar walks. Headings are as acts have them, raw with 32 fraction bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PredictedWalk {
    /// What had been applied by the last view.
    pub heading: [i64; 2],
    /// What takes effect after it, ascending.
    pub changes: Vec<HeadingChange>,
    /// How many ticks to look ahead, at most [`TICKS_MAX`].
    pub ticks: u32,
}

/// A change of the avatar's heading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeadingChange {
    /// Ticks after that of the last view.
    pub after: u32,
    /// The heading from then on.
    pub heading: [i64; 2],
}

/// Where the avatar will be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// The tick of the last view.
    pub tick: u64,
    /// The steps after each tick that follows on it.
    pub path: Vec<PredictedStep>,
}

/// Where the avatar is after a tick, in the numbers of [`Movement`](metatopia_types::Movement).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PredictedStep {
    /// Metres, with 20 fraction bits.
    pub position: [i32; 2],
    /// Metres a second, with 20 fraction bits.
    pub velocity: [i32; 2],
    /// Cosine and sine, with 30 fraction bits.
    pub facing: [i32; 2],
}

impl PredictedStep {
    fn of(body: &Body) -> Self {
        let moves = body.movement();
        Self {
            position: moves.position.unwrap_or_default(),
            velocity: moves.velocity.unwrap_or_default(),
            facing: moves.facing.unwrap_or_default(),
        }
    }
}

/// A heading as the servers take it.
fn heading([x, y]: [i64; 2]) -> Result<Vec2, CallError> {
    let bound = Fx::from_int(1 << 15);
    let asked = Vec2::new(Fx::from_bits(x), Fx::from_bits(y));
    if asked.x.saturating_abs().max(asked.y.saturating_abs()) > bound {
        return Err(CallError::input("a heading is out of range"));
    }
    Ok(heading_of(asked))
}

/// Returns where the own avatar will be, by the servers' own physics, as far as its surroundings are
/// known; nothing while it is not in sight.
///
/// # Errors
/// When the walk is longer than [`TICKS_MAX`], or a heading is none.
pub fn foresee(
    sight: &Sight,
    parameters: &Parameters,
    walk: &PredictedWalk,
) -> Result<Option<Path>, CallError> {
    let ground = (parameters.ground.low, parameters.ground.high);
    AvatarStand::of(sight, parameters, ground).map(|all| all.foresee(parameters, walk)).transpose()
}

/// What the own avatar can meet, as the last view showed it.
#[derive(Clone, Debug)]
pub(crate) struct AvatarStand {
    me: ObjectId,
    tick: u64,
    region: Region,
}

impl AvatarStand {
    /// Takes what is near the own avatar, on ground from `low` to `high`; nothing while it is not in sight.
    pub(crate) fn of(
        sight: &Sight,
        parameters: &Parameters,
        (low, high): (Vec2, Vec2),
    ) -> Option<Self> {
        let me = sight.me()?;
        let bodies: Vec<Body> = sight.things().map(|(_, body, _)| body).collect();
        let center = bodies.iter().find(|body| body.id() == me)?.position();
        let reach = |body: &Body| body.shape().reach();
        let gap = |body: &Body| body.position().distance(center).saturating_sub(reach(body));
        let far = parameters.avatar.speed.saturating_add(MARGIN);
        let mut near: Vec<(Fx, Body)> = bodies
            .into_iter()
            .map(|body| (if body.id() == me { Fx::MIN } else { gap(&body) }, body))
            .filter(|(gap, _)| *gap <= far)
            .collect();
        near.sort_by_key(|(gap, body)| (*gap, body.id()));
        near.truncate(NEAR_MAX);
        let mut bodies: Vec<Body> = near.into_iter().map(|(_, body)| body).collect();
        bodies.sort_by_key(Body::id);
        let bounds = Bounds::new(low, high).ok()?;
        let region = Region::restore(bodies, Vec::new()).ok()?.with_bounds(bounds).ok()?;
        let region = region.with_gravity(parameters.gravity);
        Some(Self { me, tick: sight.tick().0, region })
    }

    /// Returns where the avatar will be.
    ///
    /// # Errors
    /// See [`foresee`].
    pub(crate) fn foresee(
        &self,
        parameters: &Parameters,
        walk: &PredictedWalk,
    ) -> Result<Path, CallError> {
        if walk.ticks > TICKS_MAX || walk.changes.len() > CHANGES_MAX {
            let text = format_args!("at most {TICKS_MAX} ticks and {CHANGES_MAX} changes");
            return Err(CallError::input(text));
        }
        let (me, mut region) = (self.me, self.region.clone());
        let mut wanted = heading(walk.heading)?;
        let changes: Result<Vec<(u32, Vec2)>, CallError> = walk
            .changes
            .iter()
            .map(|change| Ok((change.after, heading(change.heading)?)))
            .collect();
        let mut changes = changes?.into_iter().peekable();
        let avatars = &parameters.avatar;
        let mut path = Vec::new();
        for tick in 0..walk.ticks {
            while let Some((_, heading)) = changes.next_if(|(after, _)| *after <= tick) {
                wanted = heading;
                face(&mut region, me, heading);
            }
            let steered =
                |body: &Body| avatars.steered(body.velocity(), wanted, parameters.gravity);
            let velocity = region.body(me).and_then(steered);
            if let Some(velocity) = velocity {
                // The body is there, and no avatar is static.
                let _ = region.set_velocity(me, velocity);
            }
            region.step();
            path.extend(region.body(me).map(PredictedStep::of));
        }
        Ok(Path { tick: self.tick, path })
    }
}

/// Turns an avatar where it goes, as walking does.
fn face(region: &mut Region, me: ObjectId, heading: Vec2) {
    let position = region.body(me).map(Body::position);
    if let Some(position) = position.filter(|_| heading != Vec2::ZERO) {
        let _ = region.set_pose(me, Pose { position, angle: heading.angle() });
    }
}
