//! The state of the tier as bytes, and back.

use metatopia_physics::{Body, Joint, OutOfRange};
use metatopia_types::{ObjectId, wire};
use rapier2d::prelude::{
    BroadPhaseBvh, ColliderSet, ImpulseJointSet, IslandManager, NarrowPhase, PhysicsWorld,
    RigidBodySet,
};
use serde::{Deserialize, Serialize};

use crate::engine::RapierWorld;
use crate::limits::{BODIES_MAX, STATE_BYTES_MAX};
use crate::newton2::{Newton2, Warm};

/// The format of the bytes. Another version of rapier, or other parameters of it, are another format.
pub(crate) const FORMAT: u8 = 1;

/// The version of rapier.
const RAPIER: &str = rapier2d::VERSION;

/// What the bytes begin with.
#[derive(Serialize, Deserialize)]
struct TierHeader {
    format: u8,
    rapier: String,
    is_warm: bool,
}

/// A reason why bytes are not the state of this tier.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RestoreTierError {
    /// There are more bytes than a state has.
    #[error("{0} bytes where at most {STATE_BYTES_MAX} are allowed")]
    Oversize(usize),
    /// The bytes were made by another version of the tier.
    #[error(
        "a state of format {format} of rapier {rapier}, and this is format {FORMAT} of {RAPIER}"
    )]
    Version {
        /// The format that the bytes say.
        format: u8,
        /// The version of rapier that they say.
        rapier: String,
    },
    /// The bytes are no state, or one in another form than the tier writes.
    #[error("the bytes are no state of the tier")]
    Malformed,
    /// There are more bodies than the tier moves.
    #[error("{0} bodies where at most {BODIES_MAX} are allowed")]
    Bodies(usize),
    /// A body is none that a region holds.
    #[error(transparent)]
    Body(#[from] OutOfRange),
    /// The bodies of the region's side and of rapier's side are not the same.
    #[error("the bodies up to object {0} are not those of rapier's world")]
    Unpaired(ObjectId),
    /// Rapier's world holds something that the tier does not make.
    #[error("rapier's world holds something that is no body and no joint of the tier")]
    Foreign,
}

/// Returns the state of the tier.
pub(crate) fn encode(tier: &Newton2) -> Vec<u8> {
    let header =
        TierHeader { format: FORMAT, rapier: RAPIER.to_owned(), is_warm: tier.warm.is_some() };
    match &tier.warm {
        None => wire::encode(&header),
        Some(Warm { engine, known, joints, sleeping }) => {
            let ours = wire::encode(&(header, known, joints, sleeping));
            [ours, encode_world(&engine.world)].concat()
        }
    }
}

/// What is kept of rapier's world. Its parameters are constants of the tier, gravity is the region's, and
/// there is nothing else in it.
type Kept = (IslandManager, BroadPhaseBvh, NarrowPhase, RigidBodySet, ColliderSet, ImpulseJointSet);

/// Encodes rapier's world. Its code is long, so it is made for one way of writing alone: the one that
/// the rest of the workspace writes by makes it four times, which takes long to build.
fn encode_world(world: &PhysicsWorld) -> Vec<u8> {
    let PhysicsWorld {
        islands, broad_phase, narrow_phase, bodies, colliders, impulse_joints, ..
    } = world;
    postcard::to_allocvec(&(islands, broad_phase, narrow_phase, bodies, colliders, impulse_joints))
        .expect("rapier's world has lengths and no unsupported shapes")
}

/// Decodes what [`encode_world`] made, and nothing that it would write in another form.
fn decode_world(bytes: &[u8]) -> Option<PhysicsWorld> {
    let (kept, rest) = postcard::take_from_bytes::<Kept>(bytes).ok()?;
    let (islands, broad_phase, narrow_phase, bodies, colliders, impulse_joints) = kept;
    let empty = RapierWorld::default().world;
    let world = PhysicsWorld {
        islands,
        broad_phase,
        narrow_phase,
        bodies,
        colliders,
        impulse_joints,
        ..empty
    };
    (rest.is_empty() && encode_world(&world) == bytes).then_some(world)
}

/// Restores the tier from its state.
pub(crate) fn decode(bytes: &[u8]) -> Result<Newton2, RestoreTierError> {
    if bytes.len() > STATE_BYTES_MAX {
        return Err(RestoreTierError::Oversize(bytes.len()));
    }
    let header: TierHeader = wire::decode_first(bytes).map_err(|_| RestoreTierError::Malformed)?;
    if header.format != FORMAT || header.rapier != RAPIER {
        let TierHeader { format, rapier, .. } = header;
        return Err(RestoreTierError::Version { format, rapier });
    }
    let malformed = || RestoreTierError::Malformed;
    if !header.is_warm {
        let is_cold = wire::encode(&header) == bytes;
        return if is_cold { Ok(Newton2::new()) } else { Err(malformed()) };
    }
    let ours: (TierHeader, Vec<Body>, Vec<Joint>, bool) =
        wire::decode_first(bytes).map_err(|_| malformed())?;
    let world = bytes.strip_prefix(wire::encode(&ours).as_slice()).ok_or_else(malformed)?;
    let world = decode_world(world).ok_or_else(malformed)?;
    let (_, known, joints, sleeping) = ours;
    if known.len() > BODIES_MAX {
        return Err(RestoreTierError::Bodies(known.len()));
    }
    for body in &known {
        body.check()?;
    }
    let engine = RapierWorld::of(world).ok_or(RestoreTierError::Foreign)?;
    if !engine.ids().eq(known.iter().map(Body::id)) {
        let last = known.last().map_or(ObjectId(0), Body::id);
        return Err(RestoreTierError::Unpaired(last));
    }
    let held = joints.iter().filter(|joint| !joint.is_lost()).map(Joint::id);
    if !engine.joint_ids().eq(held) {
        return Err(RestoreTierError::Foreign);
    }
    Ok(Newton2 { warm: Some(Warm { engine, known, joints, sleeping }) })
}
