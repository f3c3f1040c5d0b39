//! What a server keeps on its disk, and what may leave the server once the log is durable.
//!
//! Every effect of a replica leaves through [`Durability`]. So one place holds the rule that no vote
//! and no receipt leaves before the records that it relies on are durable.

pub mod keeper;
pub(crate) mod outbox;
pub(crate) mod records;
pub(crate) mod turns;

use std::collections::VecDeque;

use metatopia_consensus::{Message, Recipients, Record, RecordPosition};

use crate::{ClientId, Effect, PeerMessage, SessionEffect, durable::outbox::Outbox};

/// The effects of one server, in order, and those that wait for its log.
#[derive(Debug, Default)]
pub(crate) struct Durability {
    /// Messages of agreement that wait for the log.
    outbox: Outbox<Effect>,
    /// Effects that tell somebody about decided turns, and wait for the log.
    decided_outbox: Outbox<Effect>,
    /// The place up to which the log must be durable before anything about the decided turns leaves.
    barrier: RecordPosition,
    /// Whether the log cannot grow.
    muted: bool,
    /// Whether this replica has ended. Then it hears of no sync any more.
    ended: bool,
    /// What the sessions send, until the end of the input.
    mail: Vec<SessionEffect>,
    effects: VecDeque<Effect>,
}

impl Durability {
    /// Emits an effect that waits for nothing.
    pub(crate) fn emit(&mut self, effect: Effect) {
        self.effects.push_back(effect);
    }

    /// Emits an effect that tells somebody about decided turns, once the log is durable up to the
    /// barrier.
    pub(crate) fn publish(&mut self, effect: Effect) {
        if self.ended {
            // What waits for the log never leaves. A goodbye tells nothing about turns, and a client
            // without one would wait for ever.
            let goodbye = matches!(effect, Effect::CloseClient { .. });
            return self.effects.extend(goodbye.then_some(effect));
        }
        self.effects.extend(self.decided_outbox.pass(self.barrier, effect));
    }

    /// Emits an effect once the log is durable up to `after`.
    fn release(&mut self, after: RecordPosition, effect: Effect) {
        self.effects.extend(self.outbox.pass(after, effect));
    }

    /// Emits a snapshot of a repaired state, once the decisions that led to it are durable.
    pub(crate) fn release_at_barrier(&mut self, effect: Effect) {
        self.release(self.barrier, effect);
    }

    /// Sends a message of agreement once the log is durable up to `after`.
    pub(crate) fn send(&mut self, to: Recipients, message: Message, after: RecordPosition) {
        let to = match to {
            Recipients::All => None,
            Recipients::One(peer) => Some(peer),
        };
        let frame = PeerMessage::Agreement(message).encode();
        self.release(after, Effect::ToPeer { to, frame });
    }

    /// Appends a record to the log. A decision can be found there by its height.
    pub(crate) fn append(&mut self, record: &Record, at: RecordPosition) {
        let tag = match record {
            Record::Decided(certificate) => Some(certificate.height.0),
            _ => None,
        };
        self.emit(Effect::Append { at, tag, payload: record.encode() });
    }

    /// Raises the barrier: what is published from now on leaves once this decision is durable.
    pub(crate) fn raise_barrier(&mut self, after: RecordPosition) {
        // The quorum stands without our own precommit: nothing about this turn, or about one before it,
        // has to wait for our log.
        if after == RecordPosition::START {
            self.barrier = after;
            self.effects.extend(self.decided_outbox.free());
        }
        self.barrier = self.barrier.max(after);
    }

    /// Emits the effects that waited for the log up to this place.
    pub(crate) fn synced(&mut self, position: RecordPosition) {
        self.effects.extend(self.outbox.synced(position));
        self.effects.extend(self.decided_outbox.synced(position));
    }

    /// Notes whether the log can grow.
    pub(crate) const fn mute(&mut self, muted: bool) {
        self.muted = muted;
    }

    /// Returns whether the log cannot grow.
    pub(crate) const fn is_muted(&self) -> bool {
        self.muted
    }

    /// Ends this replica: another one continues, with another state.
    pub(crate) fn end(&mut self) {
        self.ended = true;
        let held = self.decided_outbox.free();
        held.into_iter().for_each(|effect| self.publish(effect));
    }

    /// Returns whether this replica has ended.
    pub(crate) const fn has_ended(&self) -> bool {
        self.ended
    }

    /// Keeps what the sessions send until [`Self::publish_mail`].
    pub(crate) fn mail(&mut self, letters: impl IntoIterator<Item = SessionEffect>) {
        self.mail.extend(letters);
    }

    /// Publishes what the sessions send, and returns the clients whose connections are closed by it.
    pub(crate) fn publish_mail(&mut self) -> Vec<ClientId> {
        let mut closed = Vec::new();
        for letter in core::mem::take(&mut self.mail) {
            self.publish(match letter {
                SessionEffect::Send { client, delivery, frame } => {
                    Effect::ToClient { client, delivery, frame }
                }
                SessionEffect::Slow { client } => Effect::SlowClient { client },
                SessionEffect::Close { client, why } => {
                    closed.push(client);
                    Effect::CloseClient { client, why }
                }
            });
        }
        closed
    }

    /// Returns the next effect.
    pub(crate) fn poll(&mut self) -> Option<Effect> {
        self.effects.pop_front()
    }
}
