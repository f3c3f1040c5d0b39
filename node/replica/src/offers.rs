//! Snapshots that are kept for whoever wants to replay the sim, and turns as they are asked for.

use std::collections::VecDeque;

use metatopia_consensus::Decision;
use metatopia_protocol::{Answer, SNAPSHOT_PART_BYTES, SnapshotOffer, TURNS_PER_ANSWER_MAX};
use metatopia_types::{
    Certificate, Height, Root, Turn,
    limits::{ROOT_LAG, TURN_BYTES_MAX},
    wire,
};

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
}

/// The newest snapshots, in memory.
#[derive(Debug, Default)]
pub(crate) struct Offers(VecDeque<Kept>);

impl Offers {
    /// Keeps the state after a height, with its root, as a world gives it.
    pub(crate) fn keep(&mut self, height: Height, root: Root, state: Vec<u8>) {
        self.0.push_back(Kept { height, root, bytes: state });
        if self.0.len() > OFFERS_MAX {
            self.0.pop_front();
        }
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
}

/// As many of these decisions, which follow each other, as an answer may have: all together
/// [`TURN_BYTES_MAX`] long, or only the first.
pub(crate) fn turns<'a>(decisions: impl Iterator<Item = &'a Decision>) -> Answer {
    let mut turns: Vec<(Turn, Certificate)> = Vec::new();
    let mut left = TURN_BYTES_MAX;
    for decision in decisions.take(TURNS_PER_ANSWER_MAX) {
        let entry = (decision.turn.as_ref(), &decision.certificate);
        match left.checked_sub(wire::encode(&entry).len()) {
            Some(rest) => left = rest,
            None if turns.is_empty() => left = 0,
            None => break,
        }
        turns.push((entry.0.clone(), entry.1.clone()));
    }
    Answer::Turns(turns)
}
