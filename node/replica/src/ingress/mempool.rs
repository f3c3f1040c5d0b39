//! Acts that wait for a turn: bounded, fair between authors, and checked before they are kept.

mod relay;

use std::collections::BTreeMap;

use metatopia_protocol::{Submission, SubmitRefusal};
use metatopia_sim::{
    ActFault, Judging, LaneWindows, Standing, Standings,
    limits::{PUBLISHED_BYTES_PER_TURN_MAX, PUBLISHES_PER_TURN_MAX},
};
use metatopia_types::{
    Act, ActId, Blob, Envelope, Height, Lane, PublicKey, Seq, SignedEnvelope, SimId, Turn,
    TurnBody, Verify, limits, named_blob, wire,
};

pub use self::relay::{
    AGAIN_TURNS, FOLLOWER_RELAYED_PER_SECOND, HANDED_AGAIN_MAX, HANDED_OVER_MAX, RELAYED_PER_SECOND,
};
pub(crate) use self::relay::{HANDED_OVER_AHEAD, RELAYED_AHEAD};
use crate::ClientId;

/// Acts of one author that may wait: six seconds of a client that acts ten times a second.
pub const AUTHOR_PENDING_MAX: usize = 64;

/// Acts of strangers ([`Standing`]) that may wait per connection: one login and what
/// is sent right behind it.
pub const STRANGER_PENDING_MAX: usize = 16;

/// Bytes of all waiting acts with their blobs.
pub const POOL_BYTES_MAX: usize = 16 * 1_024 * 1_024;

/// Bytes of them that only acts of stewards ([`Standing`]) may fill: as many as all of them may have
/// waiting, of half the largest size.
pub const STEWARD_BYTES: usize = 4 * 1_024 * 1_024;

/// Bytes of the rest that only acts of regulars and stewards may fill: as much as 64 authors may have
/// waiting, of the largest size. Who is a player has logged in once, and such keys cost little.
pub const REGULAR_BYTES: usize = 4 * 1_024 * 1_024;

/// Bytes of the rest that acts of strangers may not fill, who cost nothing at all where anybody may
/// log in: as much as 32 players may have waiting.
pub const PLAYER_BYTES: usize = 2 * 1_024 * 1_024;

const _: () = assert!(
    PLAYER_BYTES >= 32 * AUTHOR_PENDING_MAX * limits::ENVELOPE_BYTES_MAX
        && REGULAR_BYTES >= 64 * AUTHOR_PENDING_MAX * limits::ENVELOPE_BYTES_MAX
);

/// Bytes of waiting source, of all authors but stewards: half a megabyte more than the turns of two
/// seconds take.
pub const SOURCE_BYTES_MAX: usize = 3 * 1_024 * 1_024;

/// Bytes of source that a turn is proposed with, as many as it compiles.
const TURN_SOURCE_BYTES: usize = PUBLISHED_BYTES_PER_TURN_MAX as usize;

/// Who handed an act to this server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ActSource {
    /// A client of this server, which waits for the receipt.
    Client(ClientId),
    /// Another server, whose client waits for the receipt.
    Server,
}

#[derive(Debug)]
struct Pending {
    submission: Submission,
    bytes: usize,
    source: ActSource,
    /// The height at which the act was handed on last; none if it was not.
    handed_on: Option<Height>,
    /// The bucket of strangers that the act counts in, even if another source hands it in later.
    bucket: Option<ActSource>,
}

/// The facts that admission needs. All of them follow from decided turns.
#[derive(Clone, Copy)]
pub struct Gate<'a> {
    /// The id of the sim.
    pub sim: SimId,
    /// The height under way.
    pub height: Height,
    /// The lane windows after the last decided turn.
    pub windows: &'a LaneWindows,
    /// The class of each author.
    pub standings: &'a dyn Standings,
    /// The scheme that checks signatures.
    pub scheme: &'a dyn Verify,
}

impl core::fmt::Debug for Gate<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Gate at {}", self.height)
    }
}

/// The waiting acts.
#[derive(Debug, Default)]
pub struct Mempool {
    pending: BTreeMap<ActId, Pending>,
    authors: BTreeMap<PublicKey, BTreeMap<(Lane, Seq), ActId>>,
    strangers: BTreeMap<ActSource, usize>,
    bytes: usize,
    /// The authors of waiting source, each with its bytes: one package an author.
    sources: BTreeMap<PublicKey, usize>,
    /// The bytes of all that source.
    source_bytes: usize,
    /// The author that the next turn begins with, so that no author is always last.
    next_author: PublicKey,
    /// The author whose acts are handed on next.
    next_handed_on: PublicKey,
    /// How many acts were not handed on yet.
    not_handed_on: usize,
}

/// An act that left the pool without being decided.
#[derive(Debug, PartialEq, Eq)]
pub struct Departure {
    /// The id of the act.
    pub act: ActId,
    /// Who waits for the act.
    pub source: ActSource,
    /// Why it can never be decided.
    pub why: SubmitRefusal,
}

impl Mempool {
    /// Returns how many acts wait.
    #[must_use]
    pub fn len(&self) -> usize {
        self.pending.len()
    }

    /// Returns the bytes of all acts with their blobs, at most [`POOL_BYTES_MAX`].
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns whether no act waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }

    /// Returns whether this very act, signature and all, is here. Then its signature has been checked.
    #[must_use]
    pub fn has_checked(&self, act: &SignedEnvelope) -> bool {
        self.pending.get(&act.id()).is_some_and(|pending| pending.submission.act == *act)
    }

    /// Takes an act. One that waits already stays, and counts as the newer source's.
    ///
    /// # Errors
    /// Why it is refused. Checks go from cheap to dear, the signature last.
    pub fn admit(
        &mut self,
        submission: Submission,
        source: ActSource,
        gate: Gate<'_>,
    ) -> Result<ActId, SubmitRefusal> {
        let bytes = self.check_shape(&submission, gate)?;
        let id = submission.act.id();
        if let Some(pending) = self.pending.get_mut(&id) {
            if matches!(source, ActSource::Client(_)) {
                pending.source = source;
            }
            return Ok(id);
        }
        self.check_lanes(&submission.act.envelope, gate)?;
        let standing = gate.standings.standing(&submission.act.envelope.author, gate.height);
        self.check_quota(&submission.act, source, standing, bytes)?;
        let stranger = standing == Standing::Stranger;
        if !submission.act.verify(gate.scheme) {
            return Err(SubmitRefusal::BadSignature);
        }
        let envelope = &submission.act.envelope;
        let place = (envelope.lane, envelope.seq);
        let lanes = self.authors.entry(envelope.author).or_default();
        if lanes.contains_key(&place) {
            // Another act of the author in the same place: only one of them can be decided.
            return Err(SubmitRefusal::Replayed(envelope.seq.0));
        }
        lanes.insert(place, id);
        if carries_source(&envelope.act) {
            self.sources.insert(envelope.author, bytes);
            self.source_bytes += bytes;
        }
        if stranger {
            *self.strangers.entry(source).or_default() += 1;
        }
        self.bytes += bytes;
        let bucket = stranger.then_some(source);
        let handed_on = (source == ActSource::Server).then_some(gate.height);
        self.not_handed_on += usize::from(handed_on.is_none());
        self.pending.insert(id, Pending { submission, bytes, source, handed_on, bucket });
        Ok(id)
    }

    fn check_shape(&self, submission: &Submission, gate: Gate<'_>) -> Result<usize, SubmitRefusal> {
        let envelope = &submission.act.envelope;
        let bytes = wire::length(&submission.act);
        if bytes > limits::ENVELOPE_BYTES_MAX {
            return Err(SubmitRefusal::TooLong(u32::try_from(bytes).unwrap_or(u32::MAX)));
        }
        if envelope.sim != gate.sim {
            return Err(SubmitRefusal::OtherSim(envelope.sim));
        }
        let judging = Judging { standings: gate.standings, proposer: None };
        match gate.windows.admission(gate.height, None, judging).check(envelope) {
            Err(ActFault::NoLogin) if self.follows_first(envelope) => {}
            judged => judged.map_err(refusal)?,
        }
        // What a server heard of a neighbour goes into its own turn, and into no other.
        if matches!(envelope.act, Act::Hear { .. }) {
            return Err(SubmitRefusal::BadBlob);
        }
        match (named_blob(&envelope.act), submission.blobs.as_slice()) {
            (None, []) => Ok(bytes),
            (Some((id, max)), [blob]) if blob.id() == id && blob.0.len() <= max => {
                Ok(bytes + blob.0.len())
            }
            _ => Err(SubmitRefusal::BadBlob),
        }
    }

    /// Checks that the author may open the lane of this act beside those that its waiting acts will
    /// open. Acts beyond would wait in vain for up to a minute.
    fn check_lanes(&self, envelope: &Envelope, gate: Gate<'_>) -> Result<(), SubmitRefusal> {
        let Some(waiting) = self.authors.get(&envelope.author) else {
            return Ok(());
        };
        let is_open = |lane| gate.windows.get(&(envelope.author, lane)).is_some();
        let mut in_lane = waiting.range((envelope.lane, Seq(0))..=(envelope.lane, Seq(u64::MAX)));
        if in_lane.next().is_some() || is_open(envelope.lane) {
            return Ok(());
        }
        let judging = Judging { standings: gate.standings, proposer: None };
        let mut admission = gate.windows.admission(gate.height, None, judging);
        let mut last = None;
        for ((lane, _), id) in waiting {
            if last.replace(*lane) != Some(*lane) && !is_open(*lane) {
                // One that no turn can take now opens no lane.
                let _opened = admission.admit(&self.pending[id].submission.act.envelope);
            }
        }
        admission.check(envelope).map_err(refusal)
    }

    fn check_quota(
        &self,
        act: &SignedEnvelope,
        source: ActSource,
        standing: Standing,
        bytes: usize,
    ) -> Result<(), SubmitRefusal> {
        let stranger = standing == Standing::Stranger;
        let of_author = self.authors.get(&act.envelope.author).map_or(0, BTreeMap::len);
        let of_strangers = self.strangers.get(&source).copied().unwrap_or(0);
        // Strangers that other servers vouch for share no bucket: their own server counted them.
        let crowded = stranger
            && matches!(source, ActSource::Client(_))
            && of_strangers >= STRANGER_PENDING_MAX;
        if of_author >= AUTHOR_PENDING_MAX || crowded {
            return Err(SubmitRefusal::QuotaExceeded);
        }
        if carries_source(&act.envelope.act) {
            if stranger || self.sources.contains_key(&act.envelope.author) {
                return Err(SubmitRefusal::QuotaExceeded);
            }
            let is_steward = standing == Standing::Steward;
            if !is_steward && self.source_bytes.saturating_add(bytes) > SOURCE_BYTES_MAX {
                return Err(SubmitRefusal::Full);
            }
        }
        let bytes_max = match standing {
            Standing::Steward => POOL_BYTES_MAX,
            Standing::Regular => POOL_BYTES_MAX - STEWARD_BYTES,
            Standing::Player => POOL_BYTES_MAX - STEWARD_BYTES - REGULAR_BYTES,
            Standing::Stranger => POOL_BYTES_MAX - STEWARD_BYTES - REGULAR_BYTES - PLAYER_BYTES,
        };
        if self.bytes.saturating_add(bytes) > bytes_max {
            return Err(SubmitRefusal::Full);
        }
        Ok(())
    }

    /// Returns whether an act waits that brings in the author, and that this act of the same lane may follow in one
    /// turn.
    fn follows_first(&self, envelope: &Envelope) -> bool {
        let Some(lanes) = self.authors.get(&envelope.author) else {
            return false;
        };
        let before = (envelope.lane, Seq(0))..(envelope.lane, envelope.seq);
        lanes.range(before).any(|(_, id)| {
            let pending = &self.pending[id];
            pending.submission.act.envelope.act.brings_in()
        })
    }

    /// Returns acts for a turn of `height`: one of each author in rotation, stewards first, a lane's
    /// acts in order, without those of `after`, until a limit of a turn is reached. What the server itself
    /// `hears` of neighbours comes first.
    pub fn body(
        &mut self,
        height: Height,
        after: Option<&Turn>,
        windows: &LaneWindows,
        judging: Judging<'_>,
        hears: Vec<(SignedEnvelope, Blob)>,
    ) -> TurnBody {
        let mut admission = windows.admission(height, after, judging);
        let mut queues: Vec<(PublicKey, Vec<ActId>)> = self
            .authors
            .range(self.next_author..)
            .chain(self.authors.range(..self.next_author))
            .map(|(author, lanes)| (*author, lanes.values().rev().copied().collect()))
            .collect();
        // Whoever the sim needs has a place in each turn, however many others act. The sort is
        // stable, so the rotation stays.
        queues.sort_by_key(|(author, _)| {
            judging.standings.standing(author, height) < Standing::Steward
        });
        let (mut acts, mut blobs) = (Vec::new(), Vec::<Blob>::new());
        let (mut act_bytes, mut blob_bytes) = (0, 0);
        for (act, blob) in hears {
            if admission.admit(&act.envelope).is_ok() {
                act_bytes += wire::length(&act);
                blob_bytes += blob.0.len();
                acts.push(act);
                blobs.push(blob);
            }
        }
        let (mut sources, mut source_bytes) = (0, 0);
        // The first author whose source found no room: the next turn begins there.
        let mut passed_over = None;
        'full: while !queues.is_empty() {
            for (author, queue) in &mut queues {
                let Some(pending) = queue.pop().and_then(|id| self.pending.get(&id)) else {
                    continue;
                };
                let Submission { act, blobs: named } = &pending.submission;
                let extra: usize = named.iter().map(|blob| blob.0.len()).sum();
                let bytes = wire::length(act);
                let of_source = source_bytes_of(&act.envelope.act, extra);
                if let Some(more) = of_source
                    && (sources >= PUBLISHES_PER_TURN_MAX
                        || (sources > 0 && source_bytes + more > TURN_SOURCE_BYTES))
                {
                    // It waits, and with it what its author did afterwards: a lane is decided in order.
                    passed_over.get_or_insert(*author);
                    queue.clear();
                    continue;
                }
                let full = acts.len() >= limits::ACTS_PER_TURN_MAX
                    || act_bytes + bytes > limits::ACTS_BYTES_MAX
                    || blob_bytes + extra > limits::BLOBS_BYTES_MAX;
                if full {
                    self.next_author = *author;
                    passed_over = None;
                    break 'full;
                }
                if admission.admit(&act.envelope).is_err() {
                    continue;
                }
                // Only source that the turn takes uses up its room for source.
                if let Some(more) = of_source {
                    sources += 1;
                    source_bytes += more;
                }
                act_bytes += bytes;
                blob_bytes += extra;
                acts.push(act.clone());
                blobs.extend(named.iter().cloned());
            }
            queues.retain(|(_, queue)| !queue.is_empty());
        }
        self.next_author = passed_over.unwrap_or(self.next_author);
        TurnBody::new(acts, blobs).expect("limits were counted while taking")
    }

    /// Removes the acts of a decided turn, and returns them with their sources.
    pub fn take_decided(&mut self, turn: &Turn) -> Vec<(ActId, ActSource)> {
        turn.body
            .acts()
            .iter()
            .map(SignedEnvelope::id)
            .filter_map(|id| self.remove(&id).map(|source| (id, source)))
            .collect()
    }

    /// Removes the acts that no turn can take any more, and returns them.
    pub fn drop_stale(
        &mut self,
        windows: &LaneWindows,
        standings: &dyn Standings,
    ) -> Vec<Departure> {
        let judging = Judging { standings, proposer: None };
        let admission = windows.admission(windows.height().plus(1), None, judging);
        let stale: Vec<(ActId, SubmitRefusal)> = self
            .pending
            .iter()
            .filter_map(|(id, pending)| {
                let envelope = &pending.submission.act.envelope;
                let fault = admission.check(envelope).err()?;
                let waits = match fault {
                    // Lanes run out of room and get it back, and so do turns: such an act may wait.
                    ActFault::TooManyLanes(_)
                    | ActFault::Full(_)
                    | ActFault::FirstLoginsFull(_) => true,
                    ActFault::NoLogin => self.follows_first(envelope),
                    _ => false,
                };
                (!waits).then(|| (*id, refusal(fault)))
            })
            .collect();
        stale
            .into_iter()
            .filter_map(|(act, why)| self.remove(&act).map(|source| Departure { act, source, why }))
            .collect()
    }

    /// Returns the source of a waiting act.
    #[must_use]
    pub fn source(&self, act: &ActId) -> Option<ActSource> {
        self.pending.get(act).map(|pending| pending.source)
    }

    /// Returns a waiting act with its blobs.
    #[must_use]
    pub fn submission(&self, act: &ActId) -> Option<&Submission> {
        self.pending.get(act).map(|pending| &pending.submission)
    }

    /// Returns every waiting act.
    pub fn acts(&self) -> impl Iterator<Item = &SignedEnvelope> {
        self.pending.values().map(|pending| &pending.submission.act)
    }

    fn remove(&mut self, id: &ActId) -> Option<ActSource> {
        let pending = self.pending.remove(id)?;
        self.bytes -= pending.bytes;
        self.not_handed_on -= usize::from(pending.handed_on.is_none());
        let envelope = &pending.submission.act.envelope;
        if carries_source(&envelope.act) {
            self.source_bytes -= self.sources.remove(&envelope.author).unwrap_or(0);
        }
        if let Some(lanes) = self.authors.get_mut(&envelope.author) {
            lanes.remove(&(envelope.lane, envelope.seq));
            if lanes.is_empty() {
                self.authors.remove(&envelope.author);
            }
        }
        if let Some(bucket) = pending.bucket
            && let Some(count) = self.strangers.get_mut(&bucket)
        {
            *count = count.saturating_sub(1);
            if *count == 0 {
                self.strangers.remove(&bucket);
            }
        }
        Some(pending.source)
    }
}

fn refusal(fault: ActFault) -> SubmitRefusal {
    match fault {
        ActFault::OtherSim(sim) => SubmitRefusal::OtherSim(sim),
        ActFault::TooLong(bytes) => {
            SubmitRefusal::TooLong(u32::try_from(bytes).unwrap_or(u32::MAX))
        }
        ActFault::Expired { last_valid, height } => SubmitRefusal::Expired { last_valid, height },
        ActFault::TooFarAhead { last_valid, height } => {
            SubmitRefusal::TooFarAhead { last_valid, height }
        }
        ActFault::Replayed(seq) => SubmitRefusal::Replayed(seq.0),
        ActFault::TooManyLanes(_) => SubmitRefusal::TooManyLanes,
        ActFault::Full(_) | ActFault::FirstLoginsFull(_) => SubmitRefusal::Full,
        ActFault::NoLogin => SubmitRefusal::NeedsLogin,
        ActFault::Closed => SubmitRefusal::NobodyNew,
        ActFault::NoWork => SubmitRefusal::NeedsWork,
        ActFault::NoTicket => SubmitRefusal::NeedsTicket,
        ActFault::UnknownAct(number) => SubmitRefusal::UnknownAct(number),
        ActFault::Signature => SubmitRefusal::BadSignature,
        // The mempool holds no such acts: whoever proposes a turn adds its own.
        ActFault::NotProposer | ActFault::HeardTwice(_) => SubmitRefusal::BadBlob,
    }
}

/// Says whether an act comes with a blob that is much longer than words. Orders for a land office have the
/// same bounds as source: a certified header is no shorter.
const fn carries_source(act: &Act) -> bool {
    matches!(act, Act::Publish { .. } | Act::PublishPiece { .. } | Act::Land { .. })
}

/// Returns for how many bytes of source an act counts whose blobs have so many, or `None` if it brings none. Of a
/// package in pieces only the state knows how much a turn compiles, so it has the turn to itself.
const fn source_bytes_of(act: &Act, blobs: usize) -> Option<usize> {
    match act {
        Act::Assemble { .. } => Some(TURN_SOURCE_BYTES),
        _ if carries_source(act) => Some(blobs),
        _ => None,
    }
}
