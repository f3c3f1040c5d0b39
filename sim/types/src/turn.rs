//! Turns: what the servers agree on at one height.

use alloc::{
    collections::{BTreeMap, BTreeSet},
    vec::Vec,
};

use serde::{Deserialize, Serialize};

use crate::{
    Act, ActId, BlobId, ClubOrder, Digest, GovernOrder, HeaderId, Height, Millis, PublicKey,
    ReportSubject, Root, Round, SignedEnvelope, SimId, ValidatorsId, limits, merkle, wire,
};

/// Commits to a whole turn, and to the state two turns before it. Small enough to check anywhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// The id of the sim.
    pub sim: SimId,
    /// The exact rules: math, physics, gas table, host API.
    pub engine: u32,
    /// The height of the turn.
    pub height: Height,
    /// The header before it; [`HeaderId::BEFORE_FIRST`] at height 1.
    pub previous: HeaderId,
    /// Who built it.
    pub proposer: PublicKey,
    /// The round it was built in. It is stated here because the round of a certificate is not
    /// agreed on: two honest servers may decide one value in different rounds.
    pub round: Round,
    /// The time, by the rule `previous < time`, and never far ahead of an honest clock.
    pub time: Millis,
    /// Merkle root over the encoded signed envelopes.
    pub acts: Digest,
    /// Number of acts.
    pub act_count: u32,
    /// Merkle root over the blobs' ids.
    pub blobs: Digest,
    /// Number of blobs.
    pub blob_count: u32,
    /// Root of the state after turn `height - ROOT_LAG` (of genesis where that is not positive).
    pub root: Root,
    /// Who votes at this height.
    pub validators: ValidatorsId,
    /// Who votes at the next height.
    pub next_validators: ValidatorsId,
    /// A field for a commitment of later engines, so that the shape of headers need never change. It is all
    /// zero, and a turn that states anything else is void.
    pub reserved: Digest,
}

impl Header {
    /// Returns a header that states nothing, of height 0 and with zeros for all digests. Tests and
    /// measurements begin with it; no server says it, and none believes it.
    #[doc(hidden)]
    #[must_use]
    pub const fn unstated() -> Self {
        let nothing = Digest::ZERO;
        Self {
            sim: SimId(nothing),
            engine: 0,
            height: Height(0),
            previous: HeaderId::BEFORE_FIRST,
            proposer: PublicKey([0; 32]),
            round: Round(0),
            time: Millis(0),
            acts: nothing,
            act_count: 0,
            blobs: nothing,
            blob_count: 0,
            root: Root(nothing),
            validators: ValidatorsId(nothing),
            next_validators: ValidatorsId(nothing),
            reserved: nothing,
        }
    }

    /// The value the servers agree on.
    #[must_use]
    pub fn id(&self) -> HeaderId {
        HeaderId(Digest::of("metatopia header v1", &wire::encode(self)))
    }
}

/// Bytes that acts name by hash: chat, source files.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Blob(#[serde(with = "wire::bytes")] pub Vec<u8>);

impl Blob {
    /// The hash that acts name.
    #[must_use]
    pub fn id(&self) -> BlobId {
        BlobId(Digest::of("metatopia blob v1", &self.0))
    }
}

impl core::fmt::Debug for Blob {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Blob of {} B", self.0.len())
    }
}

/// The acts and blobs of a turn, in canonical order.
///
/// Words that were forgotten have left a **hole**: their bytes are gone, and the act that names them still
/// says their hash. So whoever has the header checks such a body as any other, and nobody can apply it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnBody {
    acts: Vec<SignedEnvelope>,
    blobs: Vec<Blob>,
    /// The places of the acts whose blobs are gone, ascending. Of several acts that name one, the first.
    holes: Vec<u16>,
}

/// How the acts of a turn name a blob.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Naming {
    /// The place of the first act that names it.
    first: u16,
    /// Whether all acts that name it are of kinds whose words can be forgotten.
    forgettable: bool,
}

/// Why acts and blobs are not a turn's body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BodyError {
    /// More acts than a turn may carry.
    #[error("{0} acts where at most {max} are allowed", max = limits::ACTS_PER_TURN_MAX)]
    TooManyActs(usize),
    /// An envelope that is too long.
    #[error("act {id} has {bytes} bytes where at most {max} are allowed", max = limits::ENVELOPE_BYTES_MAX)]
    LongAct {
        /// The id of the act.
        id: ActId,
        /// Its encoded length.
        bytes: usize,
    },
    /// All acts together are too long.
    #[error("{0} bytes of acts where at most {max} are allowed", max = limits::ACTS_BYTES_MAX)]
    LongActs(usize),
    /// Acts are not strictly ascending by id: out of order, or one is there twice.
    #[error("act {0} is out of order or there twice")]
    ActOrder(ActId),
    /// More blobs than a turn may carry, or too many bytes of them.
    #[error("{count} blobs of {bytes} bytes are above the limits of a turn")]
    TooManyBlobs {
        /// How many there are.
        count: usize,
        /// Their bytes together.
        bytes: usize,
    },
    /// Blobs are not strictly ascending by id.
    #[error("blob {0} is out of order or there twice")]
    BlobOrder(BlobId),
    /// What was heard of neighbours takes more than half of the blobs that a turn may have.
    #[error("{0} bytes of dispatches where at most {max} are allowed", max = limits::DISPATCHES_BYTES_MAX)]
    LongDispatches(usize),
    /// A blob that no act of this turn names: free bytes to grind a digest with.
    #[error("blob {0} is named by no act of the turn")]
    StrayBlob(BlobId),
    /// A blob is said to be forgotten that cannot be, or is there, or is said so twice or out of order.
    #[error("act number {0} of the turn names no words that could be forgotten")]
    BadHole(u16),
}

impl TurnBody {
    /// Sorts acts and blobs, drops repeated ones and blobs that no act names.
    ///
    /// # Errors
    /// When a limit is exceeded.
    pub fn new(mut acts: Vec<SignedEnvelope>, mut blobs: Vec<Blob>) -> Result<Self, BodyError> {
        acts.sort_by_cached_key(SignedEnvelope::id);
        acts.dedup_by(|later, act| later.envelope == act.envelope);
        let named: BTreeSet<BlobId> = acts.iter().filter_map(blob_of).collect();
        blobs.sort_by_cached_key(Blob::id);
        blobs.dedup();
        blobs.retain(|blob| named.contains(&blob.id()));
        let body = Self { acts, blobs, holes: Vec::new() };
        body.check()?;
        Ok(body)
    }

    /// Returns whether the bytes of all blobs are there. Only such a body can be proposed, decided and
    /// applied.
    #[must_use]
    pub const fn is_whole(&self) -> bool {
        self.holes.is_empty()
    }

    /// Returns the ids of the blobs whose bytes were forgotten.
    pub fn forgotten(&self) -> impl Iterator<Item = BlobId> {
        let acts = self.holes.iter().filter_map(|place| self.acts.get(usize::from(*place)));
        acts.filter_map(blob_of)
    }

    /// Returns the body without the words of those acts, or nothing if it has no bytes of them. Other people
    /// who said the same in the same turn lose it as well: the bytes are one blob.
    ///
    /// Bytes that an act of another kind names stay, and so do words without a byte.
    #[must_use]
    pub fn without(&self, is_forgotten: impl Fn(&SignedEnvelope) -> bool) -> Option<Self> {
        let gone = self.acts.iter().filter(|act| is_forgotten(act)).filter_map(forgettable_blob);
        let gone: BTreeSet<BlobId> = gone.collect();
        if gone.is_empty() {
            return None;
        }
        let (naming, mut body) = (self.naming(), self.clone());
        body.blobs.retain(|blob| {
            let id = blob.id();
            let named = naming.get(&id).filter(|named| named.forgettable && gone.contains(&id));
            let hole = named.filter(|_| !blob.0.is_empty());
            body.holes.extend(hole.map(|named| named.first));
            hole.is_none()
        });
        body.holes.sort_unstable();
        (body.holes.len() > self.holes.len()).then_some(body)
    }

    /// Returns how the acts name blobs.
    fn naming(&self) -> BTreeMap<BlobId, Naming> {
        let mut naming = BTreeMap::new();
        for (first, act) in (0..).zip(&self.acts) {
            let Some(id) = blob_of(act) else { continue };
            let named = naming.entry(id).or_insert(Naming { first, forgettable: true });
            named.forgettable &= forgettable_blob(act).is_some();
        }
        naming
    }

    /// The acts, ascending by id.
    #[must_use]
    pub fn acts(&self) -> &[SignedEnvelope] {
        &self.acts
    }

    /// The blobs, ascending by id.
    #[must_use]
    pub fn blobs(&self) -> &[Blob] {
        &self.blobs
    }

    /// Merkle leaves over the acts, in order.
    #[must_use]
    pub fn act_leaves(&self) -> Vec<Digest> {
        self.acts.iter().map(|act| merkle::leaf(&wire::encode(act))).collect()
    }

    /// The root and count that a header states for the acts.
    #[must_use]
    pub fn acts_root(&self) -> (Digest, u32) {
        (merkle::root(&self.act_leaves()), count(self.acts.len()))
    }

    /// The root and count that a header states for the blobs.
    #[must_use]
    pub fn blobs_root(&self) -> (Digest, u32) {
        let mut ids: Vec<BlobId> = self.blobs.iter().map(Blob::id).collect();
        if !self.is_whole() {
            ids.extend(self.forgotten());
            ids.sort_unstable();
        }
        let leaves: Vec<Digest> = ids.iter().map(|id| merkle::leaf(id.bytes())).collect();
        (merkle::root(&leaves), count(ids.len()))
    }

    /// Checks order and limits, because a body from the wire has not been through [`TurnBody::new`].
    ///
    /// # Errors
    /// The first rule that is broken.
    pub fn check(&self) -> Result<(), BodyError> {
        if self.acts.len() > limits::ACTS_PER_TURN_MAX {
            return Err(BodyError::TooManyActs(self.acts.len()));
        }
        let mut total = 0;
        let mut last = None;
        for act in &self.acts {
            let (id, bytes) = (act.id(), wire::length(act));
            if bytes > limits::ENVELOPE_BYTES_MAX {
                return Err(BodyError::LongAct { id, bytes });
            }
            if last >= Some(id) {
                return Err(BodyError::ActOrder(id));
            }
            last = Some(id);
            total += bytes;
        }
        if total > limits::ACTS_BYTES_MAX {
            return Err(BodyError::LongActs(total));
        }
        self.check_blobs()
    }

    fn check_blobs(&self) -> Result<(), BodyError> {
        let bytes = self.blobs.iter().map(|blob| blob.0.len()).sum();
        let long = self.blobs.iter().any(|blob| blob.0.len() > limits::BLOB_BYTES_MAX);
        if self.blobs.len() > limits::BLOBS_PER_TURN_MAX || bytes > limits::BLOBS_BYTES_MAX || long
        {
            return Err(BodyError::TooManyBlobs { count: self.blobs.len(), bytes });
        }
        let named: BTreeSet<BlobId> = self.acts.iter().filter_map(blob_of).collect();
        let mut last = None;
        for id in self.blobs.iter().map(Blob::id) {
            if last >= Some(id) {
                return Err(BodyError::BlobOrder(id));
            }
            if !named.contains(&id) {
                return Err(BodyError::StrayBlob(id));
            }
            last = Some(id);
        }
        self.check_holes()?;
        self.check_dispatches()
    }

    /// Checks that nothing is missing but words that can be forgotten.
    fn check_holes(&self) -> Result<(), BodyError> {
        if self.is_whole() {
            return Ok(());
        }
        let (naming, mut last) = (self.naming(), None);
        let there: BTreeSet<BlobId> = self.blobs.iter().map(Blob::id).collect();
        for place in self.holes.iter().copied() {
            let act = self.acts.get(usize::from(place)).filter(|_| last < Some(place));
            let id = act.and_then(forgettable_blob).filter(|id| !there.contains(id));
            let first = Naming { first: place, forgettable: true };
            if id.and_then(|id| naming.get(&id)) != Some(&first) {
                return Err(BodyError::BadHole(place));
            }
            last = Some(place);
        }
        Ok(())
    }

    /// Checks that what was heard of neighbours leaves room for what people say and publish.
    fn check_dispatches(&self) -> Result<(), BodyError> {
        let dispatch = |act: &SignedEnvelope| match act.envelope.act {
            Act::Hear { dispatch, .. } => Some(dispatch),
            _ => None,
        };
        let heard: BTreeSet<BlobId> = self.acts.iter().filter_map(dispatch).collect();
        if heard.is_empty() {
            return Ok(());
        }
        let heard = self.blobs.iter().filter(|blob| heard.contains(&blob.id()));
        match heard.map(|blob| blob.0.len()).sum() {
            bytes if bytes > limits::DISPATCHES_BYTES_MAX => Err(BodyError::LongDispatches(bytes)),
            _ => Ok(()),
        }
    }
}

fn count(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}

/// Returns the blob of the same turn that an act names, if it is of a kind that names one, and the most bytes
/// that such a blob has. Servers take an act with this blob and with no other.
#[must_use]
pub const fn named_blob(act: &Act) -> Option<(BlobId, usize)> {
    Some(match act {
        Act::Say { body, .. } | Act::Club(ClubOrder::Say { body, .. }) => {
            (*body, limits::CHAT_BYTES_MAX)
        }
        Act::Publish { source } => (*source, limits::BLOB_BYTES_MAX),
        Act::PublishPiece { piece } => (*piece, limits::PACKAGE_PIECE_BYTES_MAX),
        Act::Land { order } => (*order, limits::LAND_ORDER_BYTES_MAX),
        Act::Hear { dispatch, .. } => (*dispatch, limits::BLOB_BYTES_MAX),
        Act::Border { order } => (*order, limits::BORDER_ORDER_BYTES_MAX),
        Act::Tell { sealed, .. } => (*sealed, limits::SEALED_BYTES_MAX),
        Act::SetProfile { profile } => (*profile, limits::SENT_PROFILE_BYTES_MAX),
        Act::FileReport { about: ReportSubject::Words { opened, .. }, .. } => {
            (*opened, limits::OPENED_BYTES_MAX)
        }
        Act::Govern(GovernOrder::SetHouseRules { text: Some(text) }) => {
            (*text, limits::HOUSE_RULES_BYTES_MAX)
        }
        _ => return None,
    })
}

fn blob_of(act: &SignedEnvelope) -> Option<BlobId> {
    named_blob(&act.envelope.act).map(|(blob, _)| blob)
}

/// Returns the blob of an act whose bytes can be forgotten: words and pictures, and nothing that the state
/// follows from. Another kind of words is one line here.
#[must_use]
pub fn forgettable_blob(act: &SignedEnvelope) -> Option<BlobId> {
    match act.envelope.act {
        Act::Say { body: blob, .. }
        | Act::Club(ClubOrder::Say { body: blob, .. })
        | Act::Tell { sealed: blob, .. }
        | Act::SetProfile { profile: blob }
        | Act::FileReport { about: ReportSubject::Words { opened: blob, .. }, .. } => Some(blob),
        _ => None,
    }
}

/// A header with the body it commits to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    /// What is agreed on.
    pub header: Header,
    /// What it commits to.
    pub body: TurnBody,
}

impl Turn {
    /// The turn with this body: the header is completed by what it states of the body.
    #[must_use]
    pub fn of(header: Header, body: TurnBody) -> Self {
        let ((acts, act_count), (blobs, blob_count)) = (body.acts_root(), body.blobs_root());
        Self { header: Header { acts, act_count, blobs, blob_count, ..header }, body }
    }

    /// The header's digest.
    #[must_use]
    pub fn id(&self) -> HeaderId {
        self.header.id()
    }

    /// Returns the turn without the words of those acts, or nothing if it has none: see [`TurnBody::without`].
    #[must_use]
    pub fn without(&self, is_forgotten: impl Fn(&SignedEnvelope) -> bool) -> Option<Self> {
        let body = self.body.without(is_forgotten)?;
        Some(Self { header: self.header.clone(), body })
    }

    /// Checks that the header commits to this very body, and that the body is in order.
    ///
    /// # Errors
    /// What is wrong with the body; a header that commits to another body is `None`.
    pub fn check_body(&self) -> Result<(), Option<BodyError>> {
        self.body.check().map_err(Some)?;
        let stated = (
            (self.header.acts, self.header.act_count),
            (self.header.blobs, self.header.blob_count),
        );
        if stated == (self.body.acts_root(), self.body.blobs_root()) { Ok(()) } else { Err(None) }
    }
}
