//! Snapshots: all that a region is, in bytes that another machine goes on from.
//!
//! A snapshot begins with [`MAGIC`] and the number of its format, and ends with the digest of all before.
//! Between them is the canonical encoding of the tier's name, which says its version, of the parameters,
//! the bodies, the contacts and the joints, behind its length in four bytes, the lowest first; and after it
//! the state of the tier.

use core::fmt;

use metatopia_types::{Digest, wire};
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::body::Body;
use crate::contact::Contact;
use crate::fixed::{Q20, Vector};
use crate::joint::Joint;
use crate::limits::BODIES_MAX;
use crate::region::{OutOfBounds, Region};
use crate::restore::RestoreRegionError;
use crate::surroundings::Surroundings;
use crate::tier::{NEWTON1, TierMaker, TierStateError, TooManyForTier};

/// What each snapshot begins with.
const MAGIC: &[u8] = b"region";

/// The format of the bytes.
const FORMAT: u8 = 1;

/// The bytes of the digest at the end.
const SEAL: usize = 32;

/// A reason why bytes are not a snapshot of a region.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegionSnapshotError {
    /// The bytes begin otherwise, or there are too few of them.
    #[error("these bytes are no snapshot of a region")]
    Foreign,
    /// Another program wrote them.
    #[error("a snapshot of format {0}, and this program reads format {FORMAT}")]
    Format(u8),
    /// Some bytes are not as they were written, or are missing.
    #[error("the snapshot is damaged: its digest is not that of its bytes")]
    Damaged,
    /// The digest is right, but what it is of is no region.
    #[error("the snapshot is sealed and holds no region")]
    Malformed,
    /// What moves the bodies is not at hand, or has another version.
    #[error("{tier} moves the bodies of the snapshot, and this program has {known}")]
    Tier {
        /// The name and the version that the snapshot says.
        tier: String,
        /// Those that are at hand.
        known: String,
    },
    /// This parameter of the region is out of range.
    #[error("the {0} of the region is out of range")]
    Parameter(&'static str),
    /// The bodies, contacts or joints are none that a region has.
    #[error(transparent)]
    State(#[from] RestoreRegionError),
    /// A body is outside of the bounds.
    #[error(transparent)]
    Outside(#[from] OutOfBounds),
    /// The tier does not take its state.
    #[error(transparent)]
    TierState(#[from] TierStateError),
    /// The tier does not move so many bodies.
    #[error(transparent)]
    TooMany(#[from] TooManyForTier),
}

/// The parameters of a region as they are encoded: bounds, gravity, sleep, least speed of a hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SurroundingsForm {
    pub(crate) low: Vector,
    pub(crate) high: Vector,
    pub(crate) gravity: Vector,
    pub(crate) sleeping: bool,
    pub(crate) hit_speed: Option<Q20>,
}

/// What is encoded of a region beside the state of its tier, in this order.
type SnapshotContent = (String, SurroundingsForm, BodyList, Vec<Contact>, Vec<Joint>);

/// Bodies that are read into room for all of them: serde begins with room for 1 MiB, and moves the bodies
/// when there are more.
#[derive(PartialEq, Serialize)]
#[serde(transparent)]
struct BodyList(Vec<Body>);

impl<'de> Deserialize<'de> for BodyList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(BodyListVisitor).map(Self)
    }
}

struct BodyListVisitor;

impl<'de> Visitor<'de> for BodyListVisitor {
    type Value = Vec<Body>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("bodies")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Vec<Body>, A::Error> {
        // The count may be a lie: what is beyond the limit gets room as it comes, and is refused later.
        let count = sequence.size_hint().unwrap_or_default().min(BODIES_MAX);
        let mut bodies = Vec::with_capacity(count);
        while let Some(body) = sequence.next_element()? {
            bodies.push(body);
        }
        Ok(bodies)
    }
}

impl Region {
    /// Returns all that the region is, in bytes. [`Region::from_snapshot`] makes a region of them that goes on
    /// with the same bits.
    ///
    /// Not in it is what the last step reported, such as [`Region::frozen`], and which bodies changed since
    /// [`Region::take_changes`]: of a region from a snapshot, all have.
    #[must_use]
    pub fn snapshot(&self) -> Vec<u8> {
        let content = (
            self.tier_name(),
            SurroundingsForm::from(self.surroundings),
            self.bodies(),
            self.contacts(),
            self.joints(),
        );
        let content = wire::encode(&content);
        let length = u32::try_from(content.len()).expect("a region has less than 4 GiB");
        let state = self.tier_state().unwrap_or_default();
        let mut bytes =
            [MAGIC, &[FORMAT], length.to_le_bytes().as_slice(), &content, &state].concat();
        let seal = seal(&bytes);
        bytes.extend(seal.0);
        bytes
    }

    /// Returns the digest that the [snapshot](Region::snapshot) ends with: two regions that have the same one
    /// go on alike.
    #[must_use]
    pub fn digest(&self) -> Digest {
        let bytes = self.snapshot();
        let mut digest = Digest::ZERO;
        digest.0.copy_from_slice(&bytes[bytes.len() - SEAL..]);
        digest
    }

    /// Makes a region of a snapshot of one without a tier. It goes on with the same bits as the one that the
    /// snapshot was taken from.
    ///
    /// # Errors
    /// Returns [`RegionSnapshotError`]. Every number is checked, and what is allocated is in proportion to
    /// the bytes, but for room for as many bodies as they say, of [`BODIES_MAX`] at most.
    pub fn from_snapshot(bytes: &[u8]) -> Result<Self, RegionSnapshotError> {
        Self::from_snapshot_with(bytes, &[])
    }

    /// Makes a region of a snapshot of one without a tier, or with one that these makers make.
    ///
    /// # Errors
    /// Returns [`RegionSnapshotError`], as [`Region::from_snapshot`] does.
    pub fn from_snapshot_with(
        bytes: &[u8],
        makers: &[&dyn TierMaker],
    ) -> Result<Self, RegionSnapshotError> {
        let (content, state) = opened(bytes)?;
        // One region has one snapshot, so no longer forms of numbers are taken.
        let content: Result<SnapshotContent, _> = wire::decode(content, content.len());
        let (tier, surroundings, BodyList(bodies), contacts, joints) =
            content.map_err(|_| RegionSnapshotError::Malformed)?;
        let surroundings =
            Surroundings::try_from(surroundings).map_err(RegionSnapshotError::Parameter)?;
        let mut region = Self::restore(bodies, contacts)?.with_joints(joints)?;
        region.surroundings = surroundings;
        let region = region.with_bounds(surroundings.bounds)?;
        if tier == NEWTON1 {
            return if state.is_empty() { Ok(region) } else { Err(RegionSnapshotError::Malformed) };
        }
        let names = makers.iter().map(|maker| maker.begin().name());
        match makers.iter().find(|maker| maker.begin().name() == tier) {
            Some(maker) => Ok(region.with_tier(maker.restore(state)?)?),
            None => {
                let known = [NEWTON1].into_iter().chain(names).collect::<Vec<_>>().join("; ");
                Err(RegionSnapshotError::Tier { tier, known })
            }
        }
    }
}

/// Returns the content of a snapshot and the state of the tier, if the digest is that of its bytes.
fn opened(bytes: &[u8]) -> Result<(&[u8], &[u8]), RegionSnapshotError> {
    let rest = bytes.strip_prefix(MAGIC).ok_or(RegionSnapshotError::Foreign)?;
    let (format, rest) = rest.split_first().ok_or(RegionSnapshotError::Foreign)?;
    if *format != FORMAT {
        return Err(RegionSnapshotError::Format(*format));
    }
    let (content, found) = rest.split_last_chunk::<SEAL>().ok_or(RegionSnapshotError::Damaged)?;
    if seal(&bytes[..bytes.len() - SEAL]) != Digest(*found) {
        return Err(RegionSnapshotError::Damaged);
    }
    let cut = content.split_first_chunk::<4>().and_then(|(length, rest)| {
        rest.split_at_checked(usize::try_from(u32::from_le_bytes(*length)).ok()?)
    });
    cut.ok_or(RegionSnapshotError::Malformed)
}

/// Returns the digest of a snapshot without its end.
fn seal(bytes: &[u8]) -> Digest {
    Digest::of("metatopia-physics snapshot", bytes)
}
