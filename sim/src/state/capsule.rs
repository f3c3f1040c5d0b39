//! Capsules: a state, the turns after it, and the roots that their writer computed. Anybody can replay a
//! capsule to find out who is right.

use metatopia_types::{Certificate, Height, LeafKey, Root, Turn, limits::ROOT_LAG, wire};
use serde::{Deserialize, Serialize};

use super::{
    course::{Course, Unsound},
    genesis::{Genesis, GenesisError},
    snapshot::{EncodedSnapshot, SNAPSHOT_BYTES_MAX, StateRestoreError},
    tools::Tools,
    world::World,
};
use crate::{
    scripts::Serial,
    tree::{StateDifference, difference},
};

/// Largest encoded capsule: genesis, two states, and turns of half a minute.
pub const CAPSULE_BYTES_MAX: usize = 3 * SNAPSHOT_BYTES_MAX;

/// The text that capsules of this version begin with.
const MARK: &str = "metatopia capsule v2";

/// The text that capsules of all versions begin with.
const NAME: &str = "metatopia capsule v";

/// A state, the turns after it, and the roots that their writer computed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capsule {
    /// The sim's genesis, encoded.
    pub genesis: Vec<u8>,
    /// The root of the state.
    pub root: Root,
    /// The state, as [`World::snapshot`] gives it.
    pub snapshot: Vec<u8>,
    /// The turns after it, in order, each with a certificate.
    pub turns: Vec<(Turn, Certificate)>,
    /// The writer's own roots after these turns, in order; of the last ones none, if those were not
    /// applied.
    pub roots: Vec<Root>,
    /// The writer's own state after the last turn that it applied, if it is to be looked at.
    pub end: Option<Vec<u8>>,
}

/// The result of a replay of a capsule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReplayVerdict {
    /// The turns lead to the roots that their headers state, as far as those go, and to those that
    /// the writer had.
    Same {
        /// The last height whose root was compared; nothing if there are too few turns.
        compared: Option<Height>,
    },
    /// They do not lead to what the headers state: this program is not the one that the sim runs, or
    /// the state at the beginning is not the sim's.
    Differs {
        /// The state after the turn of this height.
        of: Height,
        /// Its root here.
        own: Root,
        /// Its root by a certified header.
        stated: Root,
    },
    /// They lead to what the headers state, but the writer computed something else.
    Unrepeatable {
        /// The state after the turn of this height.
        of: Height,
        /// Its root as its writer had it.
        had: Root,
        /// Its root here.
        now: Root,
        /// The first field in which the writer's last state differs from the right one, if it is
        /// there to be looked at.
        difference: Option<Box<StateDifference>>,
    },
}

/// Why a capsule cannot be replayed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CapsuleError {
    /// The bytes are no capsule.
    #[error("capsule: {0}")]
    Decode(wire::DecodeError),
    /// The bytes are of another version.
    #[error("capsule: of another version than this program's")]
    OtherVersion,
    /// Its genesis is none.
    #[error("capsule: {0}")]
    Genesis(GenesisError),
    /// Its state is none, or one of another sim.
    #[error("capsule: {0}")]
    State(StateRestoreError),
    /// The state is of another sim than the genesis.
    #[error("capsule: the state is of another sim than the genesis")]
    OtherSim,
    /// The writer's roots or last state do not belong to the turns.
    #[error("capsule: the writer's own roots and state do not fit the turns")]
    Writer,
    /// Its turns do not follow each other, or are not certified.
    #[error("capsule: turn {height}: {why}")]
    Turns {
        /// The height of the turn.
        height: Height,
        /// What is wrong with it.
        why: Unsound,
    },
}

impl CapsuleError {
    /// Returns the engine of the capsule's state, if that is why it cannot be replayed here.
    #[must_use]
    pub const fn other_engine(&self) -> Option<u32> {
        match self {
            Self::State(StateRestoreError::OtherEngine(found)) => Some(*found),
            _ => None,
        }
    }
}

impl Capsule {
    /// Encodes the capsule as it is kept in a file.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        wire::encode(&(MARK, self))
    }

    /// Says whether these bytes begin a capsule's file.
    #[must_use]
    pub fn is_capsule(bytes: &[u8]) -> bool {
        bytes.starts_with(&wire::encode(&MARK))
    }

    /// Reads what [`Capsule::encode`] made.
    ///
    /// # Errors
    /// [`CapsuleError::Decode`] and [`CapsuleError::OtherVersion`].
    pub fn decode(bytes: &[u8]) -> Result<Self, CapsuleError> {
        let known = Self::is_capsule(bytes);
        // Before it comes the length of the text, which other versions may have longer.
        let marked = bytes.get(1..).is_some_and(|rest| rest.starts_with(NAME.as_bytes()));
        if marked && !known {
            return Err(CapsuleError::OtherVersion);
        }
        let (mark, capsule): (String, Self) =
            wire::decode(bytes, CAPSULE_BYTES_MAX).map_err(CapsuleError::Decode)?;
        if mark == MARK { Ok(capsule) } else { Err(CapsuleError::OtherVersion) }
    }

    /// Returns the genesis, and the world at the beginning.
    ///
    /// # Errors
    /// When it is none.
    pub fn begin(&self, tools: &Tools) -> Result<(Genesis, World), CapsuleError> {
        let genesis = Genesis::decode(&self.genesis).map_err(CapsuleError::Genesis)?;
        let world =
            World::from_snapshot(&self.snapshot, self.root, tools).map_err(CapsuleError::State)?;
        if world.sim() == genesis.id() { Ok((genesis, world)) } else { Err(CapsuleError::OtherSim) }
    }

    /// Returns the writer's own last state; nothing if there is none.
    ///
    /// # Errors
    /// When it is not the state of the writer's last root.
    pub fn end(&self, tools: &Tools) -> Result<Option<World>, CapsuleError> {
        let Some(end) = &self.end else {
            return Ok(None);
        };
        let root = self.roots.last().copied().unwrap_or(self.root);
        World::from_snapshot(end, root, tools).map(Some).map_err(CapsuleError::State)
    }

    /// Applies the turns to the state, here, on one thread.
    ///
    /// Certificates are checked against the validators in the state itself. Whether that state is
    /// the sim's is shown by the second header after it, which states its root; only for genesis it
    /// is known by itself.
    ///
    /// # Errors
    /// When there is nothing that can be replayed.
    pub fn replay(&self, tools: &Tools) -> Result<ReplayVerdict, CapsuleError> {
        let (_, world) = self.begin(tools)?;
        let end = self.end(tools)?;
        let first = world.height();
        let mut course = Course::new(world);
        let (mut compared, mut wrong) = (None, None);
        let mut own = self.roots.iter();
        let mut difference = None;
        for (turn, certificate) in &self.turns {
            match course.check(turn, certificate) {
                Ok(()) => {}
                Err(Unsound::Root { of, stated, found }) => {
                    return Ok(ReplayVerdict::Differs { of, own: found, stated });
                }
                Err(why) => return Err(CapsuleError::Turns { height: turn.header.height, why }),
            }
            compared = turn.header.height.minus(ROOT_LAG).filter(|of| *of >= first);
            let applied = course.follow(turn, &Serial, &mut ());
            let had = own.next().copied();
            if let Some(had) = had.filter(|had| *had != applied.root) {
                wrong.get_or_insert((applied.height, had, applied.root));
            }
            if let Some(end) = end.as_ref().filter(|end| end.height() == applied.height) {
                difference = differ(end, course.world()).map(Box::new);
            }
        }
        if own.next().is_some() {
            return Err(CapsuleError::Writer);
        }
        Ok(match wrong {
            Some((of, had, now)) => ReplayVerdict::Unrepeatable { of, had, now, difference },
            None => ReplayVerdict::Same { compared },
        })
    }
}

/// Returns the first difference of a snapshot, as [`World::snapshot`] encodes it, and a world's state.
/// Returns nothing if there is none, or if the bytes are no state.
#[must_use]
pub fn differ_from(snapshot: &[u8], right: &World) -> Option<StateDifference> {
    let EncodedSnapshot { manifest, contents } = wire::decode(snapshot, SNAPSHOT_BYTES_MAX).ok()?;
    let content = |key: &LeafKey| {
        let place = manifest.leaves.iter().position(|leaf| leaf.key == *key)?;
        contents.get(place).cloned()
    };
    difference((&manifest, &content), (&right.manifest(), &|key| right.leaf(key)))
}

/// Returns the first difference of two worlds' states.
#[must_use]
pub fn differ(left: &World, right: &World) -> Option<StateDifference> {
    difference(
        (&left.manifest(), &|key| left.leaf(key)),
        (&right.manifest(), &|key| right.leaf(key)),
    )
}
