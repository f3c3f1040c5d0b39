//! Snapshot offers: the newest snapshots, for nodes that fetch a state, and answers that hold turns.

use std::collections::VecDeque;

use metatopia_consensus::Decision;
use metatopia_protocol::{
    Answer, LEAVES_PER_QUESTION_MAX, SNAPSHOT_PART_BYTES, SnapshotOffer, TURNS_ANSWER_BYTES,
    TURNS_PER_ANSWER_MAX,
};
use metatopia_sim::{Manifest, SNAPSHOT_BYTES_MAX};
use metatopia_types::{Certificate, Height, Root, Turn, limits::ROOT_LAG, wire};

/// Snapshots kept at once: the newest may not be certified yet, the one before is offered, and one
/// more may still be on its way to somebody.
pub const OFFERS_MAX: usize = 3;

/// A snapshot that can be fetched.
#[derive(Debug)]
struct OfferedSnapshot {
    height: Height,
    root: Root,
    /// The bytes of [`World::snapshot`](metatopia_sim::World::snapshot).
    bytes: Vec<u8>,
    /// The place of each leaf's content in the bytes, and its length.
    leaves: Vec<(usize, usize)>,
}

/// The newest snapshots, in memory.
#[derive(Debug, Default)]
pub(crate) struct SnapshotOffers(VecDeque<OfferedSnapshot>);

impl SnapshotOffers {
    /// Keeps the encoded state after a height, with its root, and drops the oldest one. A state that
    /// is too long to be offered is not kept, because peers refuse such an offer.
    pub(crate) fn keep(&mut self, height: Height, root: Root, state: Vec<u8>) {
        if state.len() > SNAPSHOT_BYTES_MAX {
            return;
        }
        // A world that breaks rules on purpose may list a leaf that it does not have.
        let leaves = leaves(&state).unwrap_or_default();
        self.0.push_back(OfferedSnapshot { height, root, bytes: state, leaves });
        if self.0.len() > OFFERS_MAX {
            self.0.pop_front();
        }
    }

    /// Returns the snapshots, the newest first.
    pub(crate) fn kept(&self) -> impl Iterator<Item = (Height, Root, &[u8])> {
        self.0.iter().rev().map(|kept| (kept.height, kept.root, kept.bytes.as_slice()))
    }

    /// Drops the snapshots from this height on, because their state was wrong.
    pub(crate) fn forget_from(&mut self, height: Height) {
        self.0.retain(|kept| kept.height < height);
    }

    /// Returns the greatest height below `next` whose header states the root of a snapshot.
    pub(crate) fn stated(&self, next: Height) -> Option<Height> {
        let mut stated = self.0.iter().rev().map(|kept| kept.height.plus(ROOT_LAG));
        stated.find(|stated| *stated < next)
    }

    /// Returns the offer of the snapshot whose root this decision states. Returns none if the decision
    /// states another root: then the snapshot of this server is wrong.
    pub(crate) fn offer(&self, decision: &Decision) -> Option<Answer> {
        let header = &decision.turn.header;
        let of = |kept: &&OfferedSnapshot| kept.height.plus(ROOT_LAG) == header.height;
        let kept = self.0.iter().find(of).filter(|kept| kept.root == header.root)?;
        Some(Answer::Snapshot(Box::new(SnapshotOffer {
            height: kept.height,
            bytes: kept.bytes.len() as u64,
            header: header.clone(),
            certificate: decision.certificate.clone(),
        })))
    }

    /// Returns one part of the snapshot of that height.
    pub(crate) fn part(&self, height: Height, part: u32) -> Option<Answer> {
        let kept = self.0.iter().find(|kept| kept.height == height)?;
        let part = kept.bytes.chunks(SNAPSHOT_PART_BYTES).nth(part as usize)?;
        Some(Answer::SnapshotPart(part.to_vec()))
    }

    /// Returns these leaves of the snapshot of that height: as many as an answer may hold, or only the
    /// first. Returns none if the question names too many leaves, or one that does not exist.
    pub(crate) fn leaves(&self, height: Height, wanted: &[u32]) -> Option<Answer> {
        let kept = self.0.iter().find(|kept| kept.height == height)?;
        if wanted.is_empty() || wanted.len() > LEAVES_PER_QUESTION_MAX {
            return None;
        }
        let (mut contents, mut left) = (Vec::new(), SNAPSHOT_PART_BYTES);
        for leaf in wanted {
            let (start, length) = *kept.leaves.get(usize::try_from(*leaf).ok()?)?;
            match left.checked_sub(length) {
                Some(rest) => left = rest,
                None if contents.is_empty() => left = 0,
                None => break,
            }
            contents.push(kept.bytes.get(start..start.checked_add(length)?)?.to_vec());
        }
        Some(Answer::Leaves(contents))
    }
}

/// Returns the places of the leaves' contents in the bytes of [`World::snapshot`]: the manifest comes
/// first, then the number of leaves, then each content with its length before it.
///
/// [`World::snapshot`]: metatopia_sim::World::snapshot
fn leaves(state: &[u8]) -> Result<Vec<(usize, usize)>, postcard::Error> {
    let (manifest, rest): (Manifest, _) = postcard::take_from_bytes(state)?;
    let (_, mut rest): (u64, _) = postcard::take_from_bytes(rest)?;
    let mut leaves = Vec::with_capacity(manifest.leaves.len());
    for _ in &manifest.leaves {
        let (content, after): (&[u8], _) = postcard::take_from_bytes(rest)?;
        let start = state.len() - after.len() - content.len();
        leaves.push((start, content.len()));
        rest = after;
    }
    Ok(leaves)
}

/// Returns an answer with as many of these consecutive decisions as fit into [`TURNS_ANSWER_BYTES`],
/// or with the first alone.
pub(crate) fn turns<'a>(decisions: impl Iterator<Item = &'a Decision>) -> Answer {
    let mut turns: Vec<(Turn, Certificate)> = Vec::new();
    let mut left = TURNS_ANSWER_BYTES;
    for decision in decisions.take(TURNS_PER_ANSWER_MAX) {
        let entry = (decision.turn.as_ref(), &decision.certificate);
        match left.checked_sub(wire::length(&entry)) {
            Some(rest) => left = rest,
            None if turns.is_empty() => left = 0,
            None => break,
        }
        turns.push((entry.0.clone(), entry.1.clone()));
    }
    Answer::Turns(turns)
}
