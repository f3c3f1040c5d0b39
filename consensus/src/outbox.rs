//! Effects on their way out, and the one rule they share: what we signed is durable before anybody
//! hears of it.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use metatopia_types::PublicKey;

use crate::config::AgreementControls;
use crate::{AgreementEffect, Decision, Message, Recipients, Record, RecordPosition};

/// Whether a message says something that binds this server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DurabilityNeed {
    /// It does, or may: it waits for the log.
    Signed,
    /// It does not.
    Free,
}

/// The effects that were not polled yet, and how far the log has grown.
#[derive(Debug, Default)]
pub(crate) struct EffectQueue {
    effects: VecDeque<AgreementEffect>,
    appended: u64,
    /// The place that the last [`AgreementEffect::Sync`] named, or that was reported durable.
    asked: u64,
    /// The furthest place that an effect waits for.
    needed: u64,
    /// While the log of a height is read again: the records that it holds already.
    replay: Option<BTreeSet<[u8; 32]>>,
    controls: AgreementControls,
}

impl EffectQueue {
    pub(crate) fn new(controls: AgreementControls) -> Self {
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
        let at = RecordPosition(self.appended);
        self.effects.push_back(AgreementEffect::Append { record, at });
    }

    fn place(&mut self, bond: DurabilityNeed) -> RecordPosition {
        match bond {
            DurabilityNeed::Signed => self.barrier(),
            DurabilityNeed::Free => RecordPosition::START,
        }
    }

    /// Makes every later effect wait until all that is appended now is durable.
    fn barrier(&mut self) -> RecordPosition {
        if self.controls.no_barrier {
            return RecordPosition::START;
        }
        self.needed = self.appended;
        RecordPosition(self.appended)
    }

    pub(crate) fn send(&mut self, to: Recipients, message: Message, bond: DurabilityNeed) {
        let after = self.place(bond);
        self.effects.push_back(AgreementEffect::Send { to, message, after });
    }

    pub(crate) fn answer(&mut self, to: PublicKey, message: Message, bond: DurabilityNeed) {
        self.send(Recipients::One(to), message, bond);
    }

    pub(crate) fn decided(&mut self, decision: Arc<Decision>, bond: DurabilityNeed) {
        let after = self.place(bond);
        let after = if self.controls.early_receipts { RecordPosition::START } else { after };
        self.effects.push_back(AgreementEffect::Decided { decision, after });
    }

    pub(crate) fn push(&mut self, effect: AgreementEffect) {
        self.effects.push_back(effect);
    }

    /// Releases the effects that waited for the log to be durable up to here.
    pub(crate) fn synced(&mut self, to: RecordPosition) {
        self.asked = self.asked.max(to.0);
    }

    /// Asks for one sync if something waits for it: one for all that a step has said.
    pub(crate) fn close(&mut self) {
        if self.needed > self.asked {
            self.asked = self.appended;
            self.effects.push_back(AgreementEffect::Sync(RecordPosition(self.appended)));
        }
    }

    pub(crate) fn poll(&mut self) -> Option<AgreementEffect> {
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
