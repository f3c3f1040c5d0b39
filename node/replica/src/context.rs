//! What the machines of a replica are lent while they handle something.

use metatopia_consensus::Agreement;
use metatopia_protocol::ServerMessage;
use metatopia_types::{Now, PublicKey};

use crate::{
    ClientId, Config, Delivery, Effect, PeerMessage, SessionEffect, durable::Durability,
    execution::Execution, sync::Synchronizer,
};

/// What a machine of the front end may read of the rest of its replica, and the collector of its
/// effects.
///
/// A machine changes nothing but itself. It sees no other machine: what it needs of one, it gets as a
/// value.
#[derive(Debug)]
pub(crate) struct ReplicaContext<'a> {
    pub(crate) now: Now,
    pub(crate) config: &'a Config,
    pub(crate) agreement: &'a Agreement,
    pub(crate) execution: &'a Execution,
    /// Whether this server has a state. Without one it serves nobody.
    pub(crate) has_state: bool,
    /// Whether turns are missing here whose acts clients may still send again.
    pub(crate) lacks_turns: bool,
    out: &'a mut Durability,
}

impl<'a> ReplicaContext<'a> {
    pub(crate) fn new(
        now: Now,
        config: &'a Config,
        agreement: &'a Agreement,
        execution: &'a Execution,
        sync: &Synchronizer,
        out: &'a mut Durability,
    ) -> Self {
        let has_state = !sync.has_no_state();
        let lacks_turns = sync.lacks_recent_turns(execution.height());
        Self { now, config, agreement, execution, has_state, lacks_turns, out }
    }

    /// Returns the key of this server.
    pub(crate) fn own_key(&self) -> PublicKey {
        self.config.agreement.signer.public()
    }

    /// Returns whether the log cannot grow.
    pub(crate) const fn is_muted(&self) -> bool {
        self.out.is_muted()
    }

    /// Emits an effect that waits for nothing.
    pub(crate) fn emit(&mut self, effect: Effect) {
        self.out.emit(effect);
    }

    /// Emits a message to one peer, or to all connected peers.
    pub(crate) fn emit_to_peers(&mut self, to: Option<PublicKey>, message: &PeerMessage) {
        self.emit(Effect::ToPeer { to, frame: message.encode() });
    }

    /// Emits an effect that tells somebody about decided turns, once these are durable.
    pub(crate) fn publish(&mut self, effect: Effect) {
        self.out.publish(effect);
    }

    /// Sends a message to a client, once the decided turns are durable.
    pub(crate) fn send(&mut self, client: ClientId, message: &ServerMessage) {
        self.forward(client, metatopia_protocol::encode_server(message));
    }

    /// Sends an encoded message to a client, once the decided turns are durable.
    pub(crate) fn forward(&mut self, client: ClientId, frame: Vec<u8>) {
        self.mail([SessionEffect::Send { client, delivery: Delivery::Reliable, frame }]);
    }

    /// Passes on what sessions send, once the decided turns are durable.
    pub(crate) fn mail(&mut self, letters: impl IntoIterator<Item = SessionEffect>) {
        self.out.mail(letters);
    }
}
