//! What a capsule is made of: a state, and the turns after it.

use metatopia_sim::{Capsule, World};
use metatopia_types::{Certificate, Height, Root, Turn, wire};

use super::DecidedTurn;

/// Turns after which a newer state takes the old one's place: half a minute.
pub(super) const TAIL_TURNS: u64 = 600;

/// Encoded bytes of turns after which it does as well.
pub(super) const TAIL_BYTES: usize = 16 * 1_024 * 1_024;

/// A state as it was after a height.
#[derive(Clone, Debug)]
struct StateCopy {
    height: Height,
    root: Root,
    snapshot: Vec<u8>,
}

impl StateCopy {
    fn of(world: &World) -> Self {
        Self { height: world.height(), root: world.root(), snapshot: world.snapshot() }
    }
}

/// A state that was compared with everybody's, and the turns since.
#[derive(Debug)]
pub(super) struct TurnTail {
    base: StateCopy,
    turns: Vec<DecidedTurn>,
    /// Own roots after these turns; the last one was not applied if it showed a mismatch.
    roots: Vec<Root>,
    bytes: usize,
    /// Takes the base's place once its root was compared.
    next: Option<StateCopy>,
}

impl TurnTail {
    pub(super) fn new(world: &World) -> Self {
        Self {
            base: StateCopy::of(world),
            turns: Vec::new(),
            roots: Vec::new(),
            bytes: 0,
            next: None,
        }
    }

    /// The next turn, and the own root after it if it was applied.
    pub(super) fn push(&mut self, turn: Turn, certificate: Certificate, root: Option<Root>) {
        self.bytes = self.bytes.saturating_add(length(&turn));
        self.turns.push((turn, certificate));
        self.roots.extend(root);
    }

    /// Lets old turns go; `checked` is the newest height whose root was compared.
    pub(super) fn cut(&mut self, world: &World, checked: Option<Height>) {
        let since = world.height().0.saturating_sub(self.base.height.0);
        if self.next.is_none() && (since >= TAIL_TURNS || self.bytes >= TAIL_BYTES) {
            self.next = Some(StateCopy::of(world));
        }
        if let Some(base) = self.next.take_if(|next| checked >= Some(next.height)) {
            let before = self.turns.iter();
            let before = before.take_while(|(turn, _)| turn.header.height <= base.height).count();
            self.turns.drain(..before);
            self.roots.drain(..before.min(self.roots.len()));
            self.bytes = self.turns.iter().map(|(turn, _)| length(turn)).sum();
            self.base = base;
        }
    }

    /// `end` is the own state after the last of the roots, if it is to be looked at.
    pub(super) fn capsule(&self, genesis: &[u8], end: Option<Vec<u8>>) -> Capsule {
        Capsule {
            genesis: genesis.to_vec(),
            root: self.base.root,
            snapshot: self.base.snapshot.clone(),
            turns: self.turns.clone(),
            roots: self.roots.clone(),
            end,
        }
    }
}

fn length(turn: &Turn) -> usize {
    wire::length(turn)
}
