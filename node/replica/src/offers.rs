//! Snapshots that are kept for whoever wants to replay the sim, and turns as they are asked for.

use std::collections::VecDeque;

use metatopia_consensus::Decision;
use metatopia_protocol::{
    Answer, LEAVES_PER_QUESTION_MAX, SNAPSHOT_PART_BYTES, SnapshotOffer, TURNS_ANSWER_BYTES,
    TURNS_PER_ANSWER_MAX,
};
use metatopia_sim::Manifest;
use metatopia_types::{Certificate, Height, Root, Turn, limits::ROOT_LAG, wire};

/// Snapshots kept at once: the newest may not be certified yet, the one before is offered, and one
/// more may still be on its way to somebody.
pub const OFFERS_MAX: usize = 3;

/// A state that can be fetched.
#[derive(Debug)]
struct Kept {
    height: Height,
    root: Root,
    /// See [`World::snapshot`](metatopia_sim::World::snapshot).
    bytes: Vec<u8>,
    /// Where in them the content of each leaf begins, and how long it is.
    leaves: Vec<(usize, usize)>,
}

/// The newest snapshots, in memory.
#[derive(Debug, Default)]
pub(crate) struct Offers(VecDeque<Kept>);

impl Offers {
    /// Keeps the state after a height, with its root, as a world gives it.
    pub(crate) fn keep(&mut self, height: Height, root: Root, state: Vec<u8>) {
        let leaves = leaves(&state).unwrap_or_default();
        self.0.push_back(Kept { height, root, bytes: state, leaves });
        if self.0.len() > OFFERS_MAX {
            self.0.pop_front();
        }
    }

    /// What is kept, the newest first.
    pub(crate) fn kept(&self) -> impl Iterator<Item = (Height, Root, &[u8])> {
        self.0.iter().rev().map(|kept| (kept.height, kept.root, kept.bytes.as_slice()))
    }

    /// States from this height on are not what was thought.
    pub(crate) fn forget_from(&mut self, height: Height) {
        self.0.retain(|kept| kept.height < height);
    }

    /// The height that states the root of the newest state for which one below `next` does.
    pub(crate) fn stated(&self, next: Height) -> Option<Height> {
        let mut stated = self.0.iter().rev().map(|kept| kept.height.plus(ROOT_LAG));
        stated.find(|stated| *stated < next)
    }

    /// Offers the state whose root this decision states. Nothing if it states another one: then it
    /// is this server that is wrong.
    pub(crate) fn offer(&self, decision: &Decision) -> Option<Answer> {
        let header = &decision.turn.header;
        let of = |kept: &&Kept| kept.height.plus(ROOT_LAG) == header.height;
        let kept = self.0.iter().find(of).filter(|kept| kept.root == header.root)?;
        Some(Answer::Snapshot(Box::new(SnapshotOffer {
            height: kept.height,
            bytes: kept.bytes.len() as u64,
            header: header.clone(),
            certificate: decision.certificate.clone(),
        })))
    }

    /// A piece of the state of that height.
    pub(crate) fn part(&self, height: Height, part: u32) -> Option<Answer> {
        let kept = self.0.iter().find(|kept| kept.height == height)?;
        let part = kept.bytes.chunks(SNAPSHOT_PART_BYTES).nth(part as usize)?;
        Some(Answer::SnapshotPart(part.to_vec()))
    }

    /// These leaves of the state of that height: as many as an answer may have, or only the first.
    /// Nothing if the question names too many, or one that there is not.
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

/// Where the contents of the leaves are in a state as [`World::snapshot`] gives it: the manifest
/// comes first, then their number, then each with its length before it.
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

/// As many of these decisions, which follow each other, as an answer may have: all together
/// [`TURNS_ANSWER_BYTES`] long, or only the first.
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
