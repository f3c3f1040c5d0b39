//! Effects on their way out, and the one rule they share: what we signed is durable before anybody
//! hears of it.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use metatopia_types::PublicKey;

use crate::config::Controls;
use crate::{Decision, Effect, Message, Position, Record, To};

/// Does a message say something that binds us?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bond {
    /// It does, or may: it waits for the log.
    Signed,
    /// It does not.
    Free,
}

/// The effects that were not polled yet, and how far the log has grown.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    effects: VecDeque<Effect>,
    appended: u64,
    /// The place that the last [`Effect::Sync`] named, or that was reported durable.
    asked: u64,
    /// The furthest place that an effect waits for.
    needed: u64,
    /// While the log of a height is read again: the records that it holds already.
    replay: Option<BTreeSet<[u8; 32]>>,
    controls: Controls,
}

impl Outbox {
    pub(crate) fn new(controls: Controls) -> Self {
        Self { controls, ..Self::default() }
    }

    /// Appends a record; while the log is read again only if it is not there yet. (The core says
    /// again what it said in its first life, and more if the crash came before it could.)
    pub(crate) fn append(&mut self, record: Record) {
        let known = self.replay.as_mut();
        if known.is_some_and(|known| !known.insert(digest(&record))) {
            return;
        }
        self.appended = self.appended.saturating_add(1);
        let at = Position(self.appended);
        self.effects.push_back(Effect::Append { record, at });
    }

    fn place(&mut self, bond: Bond) -> Position {
        match bond {
            Bond::Signed => self.barrier(),
            Bond::Free => Position::START,
        }
    }

    /// All that is appended now must be durable first.
    fn barrier(&mut self) -> Position {
        if self.controls.no_barrier {
            return Position::START;
        }
        self.needed = self.appended;
        Position(self.appended)
    }

    pub(crate) fn send(&mut self, to: To, message: Message, bond: Bond) {
        let after = self.place(bond);
        self.effects.push_back(Effect::Send { to, message, after });
    }

    pub(crate) fn answer(&mut self, to: PublicKey, message: Message, bond: Bond) {
        self.send(To::One(to), message, bond);
    }

    pub(crate) fn decided(&mut self, decision: Arc<Decision>, bond: Bond) {
        let after = self.place(bond);
        let after = if self.controls.early_receipts { Position::START } else { after };
        self.effects.push_back(Effect::Decided { decision, after });
    }

    pub(crate) fn push(&mut self, effect: Effect) {
        self.effects.push_back(effect);
    }

    /// The log is durable up to here.
    pub(crate) fn synced(&mut self, to: Position) {
        self.asked = self.asked.max(to.0);
    }

    /// Asks for one sync if something waits for it: one for all that a step has said.
    pub(crate) fn close(&mut self) {
        if self.needed > self.asked {
            self.asked = self.appended;
            self.effects.push_back(Effect::Sync(Position(self.appended)));
        }
    }

    pub(crate) fn poll(&mut self) -> Option<Effect> {
        self.effects.pop_front()
    }

    pub(crate) fn begin_replay(&mut self, records: &[Record]) {
        self.replay = Some(records.iter().map(digest).collect());
    }

    pub(crate) fn end_replay(&mut self) {
        self.replay = None;
    }

    pub(crate) fn is_replaying(&self) -> bool {
        self.replay.is_some()
    }

    /// Records appended so far.
    pub(crate) fn appended(&self) -> u64 {
        self.appended
    }
}

fn digest(record: &Record) -> [u8; 32] {
    *blake3::hash(&record.encode()).as_bytes()
}
