//! Turns by their id, and the parts of turns that are not whole yet.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use metatopia_types::{HeaderId, Height, PublicKey, Turn, limits::TURN_BYTES_MAX, wire};

use crate::limits::{ASSEMBLIES_PER_PEER_MAX, PART_BYTES, PARTS_MAX};
use crate::{Part, Want};

/// Cuts a turn into parts.
pub(crate) fn parts(turn: &Turn) -> Vec<Part> {
    let bytes = wire::encode(turn);
    let total = bytes.len().div_ceil(PART_BYTES);
    assert!(total <= PARTS_MAX, "a turn keeps its limits");
    let header = turn.id();
    let cut = bytes.chunks(PART_BYTES).zip(0_u8..);
    cut.map(|(bytes, index)| Part {
        height: turn.header.height,
        header,
        index,
        total: u8::try_from(total).expect("at most PARTS_MAX"),
        bytes: bytes.to_vec(),
    })
    .collect()
}

/// Whole turns of the open height and the next ones, and what peers have sent of others.
///
/// Parts are put together for each peer apart, so that a peer that sends wrong ones spoils its own
/// only.
#[derive(Debug, Default)]
pub(crate) struct TurnStore {
    turns: BTreeMap<HeaderId, StoredTurn>,
    assemblies: BTreeMap<(PublicKey, HeaderId), Assembly>,
}

#[derive(Debug)]
struct StoredTurn {
    turn: Arc<Turn>,
    /// Whether its bytes are in the log. Then this server vouches for it, and it stays until its height is
    /// over.
    logged: bool,
    /// Who sent it, unless it is ours.
    from: Option<PublicKey>,
}

#[derive(Debug)]
struct Assembly {
    height: Height,
    total: u8,
    parts: BTreeMap<u8, Vec<u8>>,
}

impl Assembly {
    fn is_whole(&self) -> bool {
        self.parts.len() == usize::from(self.total)
    }

    /// Returns the turn, if the parts are those of the turn with this id and the body is the
    /// header's own.
    fn turn(&self, header: HeaderId) -> Option<Turn> {
        let parts: Vec<&[u8]> = self.parts.values().map(Vec::as_slice).collect();
        let bytes = parts.concat();
        let turn: Turn = wire::decode(&bytes, TURN_BYTES_MAX).ok()?;
        let same = turn.id() == header && turn.header.height == self.height;
        (same && has_own_body(&turn)).then_some(turn)
    }
}

/// Returns whether the header commits to this body and all bytes of the body are there. If not, somebody
/// changed the body, and the header's builder is not to blame. A turn of which words were forgotten cannot be
/// applied, so it counts as none here.
pub(crate) fn has_own_body(turn: &Turn) -> bool {
    let header = &turn.header;
    turn.body.is_whole()
        && turn.body.acts_root() == (header.acts, header.act_count)
        && turn.body.blobs_root() == (header.blobs, header.blob_count)
}

impl TurnStore {
    pub(crate) fn turn(&self, header: HeaderId) -> Option<&Arc<Turn>> {
        self.turns.get(&header).map(|stored| &stored.turn)
    }

    /// Keeps a turn that is ours, or that a certificate came with.
    pub(crate) fn keep(&mut self, turn: Arc<Turn>) {
        let stored = StoredTurn { turn, logged: false, from: None };
        self.turns.entry(stored.turn.id()).or_insert(stored);
    }

    /// Keeps a turn that the log holds.
    pub(crate) fn keep_logged(&mut self, turn: Arc<Turn>) {
        let header = turn.id();
        self.keep(turn);
        self.mark_logged(header);
    }

    /// Marks the turn's bytes as logged. Returns true if they were not in the log before.
    pub(crate) fn mark_logged(&mut self, header: HeaderId) -> bool {
        let stored = self.turns.get_mut(&header);
        stored.is_some_and(|stored| !core::mem::replace(&mut stored.logged, true))
    }

    /// Adds a part; true if a turn is whole now.
    pub(crate) fn add(&mut self, from: PublicKey, part: Part) -> bool {
        if self.turns.contains_key(&part.header) || !is_well_formed(&part) {
            return false;
        }
        let key = (from, part.header);
        let full = self.of(from) >= ASSEMBLIES_PER_PEER_MAX;
        if full && !self.assemblies.contains_key(&key) && !self.forget_one_of(from) {
            return false;
        }
        let assembly = self.assemblies.entry(key).or_insert_with(|| Assembly {
            height: part.height,
            total: part.total,
            parts: BTreeMap::new(),
        });
        if (assembly.height, assembly.total) != (part.height, part.total) {
            return false;
        }
        assembly.parts.insert(part.index, part.bytes);
        if !assembly.is_whole() {
            return false;
        }
        let whole = self.assemblies.remove(&key);
        let Some(turn) = whole.and_then(|assembly| assembly.turn(part.header)) else {
            return false;
        };
        self.assemblies.retain(|(_, id), _| *id != part.header);
        let stored = StoredTurn { turn: Arc::new(turn), logged: false, from: Some(from) };
        self.turns.insert(part.header, stored);
        true
    }

    /// Turns and pieces of turns that a peer has put here and nobody vouches for.
    fn of(&self, from: PublicKey) -> usize {
        let begun = self.assemblies.keys().filter(|(peer, _)| *peer == from);
        let whole = self.turns.values().filter(|s| s.from == Some(from) && !s.logged);
        begun.count() + whole.count()
    }

    /// Returns the most that [`Self::of`] counts of one peer.
    pub(crate) fn most_of_a_peer(&self) -> usize {
        let begun = self.assemblies.keys().map(|(peer, _)| *peer);
        let whole = self.turns.values().filter_map(|stored| stored.from);
        let peers: BTreeSet<PublicKey> = begun.chain(whole).collect();
        peers.into_iter().map(|peer| self.of(peer)).max().unwrap_or(0)
    }

    /// Makes room by dropping what this peer has put here for the highest height: the lower ones
    /// are needed first.
    fn forget_one_of(&mut self, from: PublicKey) -> bool {
        let begun = self.assemblies.iter();
        let begun = begun.filter(|((peer, _), _)| *peer == from);
        let begun = begun.map(|((_, id), assembly)| (assembly.height, *id));
        let whole = self.turns.iter();
        let whole = whole.filter(|(_, s)| s.from == Some(from) && !s.logged);
        let whole = whole.map(|(id, stored)| (stored.turn.header.height, *id));
        let Some((_, id)) = begun.chain(whole).max() else {
            return false;
        };
        self.assemblies.remove(&(from, id));
        self.turns.remove(&id);
        true
    }

    /// Returns which parts of a turn came from this peer, one bit for each.
    pub(crate) fn have(&self, from: PublicKey, header: HeaderId) -> u64 {
        let parts = self.assemblies.get(&(from, header)).map(|a| &a.parts);
        let indices = parts.into_iter().flat_map(BTreeMap::keys);
        indices.fold(0, |bits, index| bits | 1 << index)
    }

    /// Forgets all parts of a turn that is not whole.
    pub(crate) fn drop_parts(&mut self, header: HeaderId) {
        self.assemblies.retain(|(_, id), _| *id != header);
    }

    /// Returns the parts that answer a want.
    pub(crate) fn answer(&self, want: &Want) -> Vec<Part> {
        let Some(turn) = self.turn(want.header) else {
            return Vec::new();
        };
        let mut parts = parts(turn);
        parts.retain(|part| want.have >> part.index & 1 == 0);
        parts
    }

    /// Forgets everything up to this height.
    pub(crate) fn retire(&mut self, height: Height) {
        self.turns.retain(|_, s| s.turn.header.height > height);
        self.assemblies.retain(|_, a| a.height > height);
    }
}

/// Returns whether index, count and length fit each other. Then the parts of a turn cannot be longer than a
/// turn.
fn is_well_formed(part: &Part) -> bool {
    let (index, total) = (usize::from(part.index), usize::from(part.total));
    let last = index + 1 == total;
    let fits = if last {
        (1..=PART_BYTES).contains(&part.bytes.len())
    } else {
        part.bytes.len() == PART_BYTES
    };
    index < total && total <= PARTS_MAX && fits
}
