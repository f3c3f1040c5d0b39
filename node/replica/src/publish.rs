//! What is published after a turn: receipts, outcomes, views, proofs and chat for the clients, and the
//! contacts of the servers for the driver.

use std::collections::BTreeMap;

use metatopia_consensus::Decision;
use metatopia_protocol::{ChatMessage, Goodbye, ServerMessage, Watching};
use metatopia_sim::{Applied, NEARBY, WorldObject};
use metatopia_types::{Height, NodeContact, PublicKey, Receipt, limits::ROOT_LAG, merkle};

use crate::{ActStage, ClientId, Delivery, Effect, Replica, mempool::Origin, views::ViewFault};

impl Replica {
    /// Publishes the receipts of a decided turn to the clients that handed in its acts.
    pub(crate) fn publish_receipts(&mut self, decision: &Decision) {
        let mut leaves = None;
        for (index, act) in decision.turn.body.acts().iter().enumerate() {
            let id = act.id();
            let Some(client) = self.ledger.unreceipted.remove(&id) else {
                continue;
            };
            let leaves = leaves.get_or_insert_with(|| decision.turn.body.act_leaves());
            let place = merkle::Proof::of(leaves, index);
            let place = place.expect("every act of a decided turn has a place in its Merkle tree");
            let receipt = Box::new(Receipt {
                header: decision.turn.header.clone(),
                certificate: decision.certificate.clone(),
                place,
            });
            let message = ServerMessage::Receipt { act: id, receipt };
            self.sessions.send(client, Delivery::Reliable, &message);
            self.awaiting_outcome.insert(id, client);
            let stage = ActStage::Decided { height: decision.height() };
            self.effects.push_back(Effect::Traced { act: id, stage });
        }
    }

    /// Refuses the acts that no turn can take any more.
    pub(crate) fn refuse_stale_acts(&mut self) {
        for gone in self.ledger.mempool.drop_stale(&self.ledger.windows, &self.ledger.register) {
            if let Origin::Client(client) = gone.origin {
                let (act, why) = (gone.act, gone.why);
                let message = ServerMessage::Refused { act, why };
                self.sessions.send(client, Delivery::Reliable, &message);
                let stage = ActStage::Refused(why);
                self.effects.push_back(Effect::Traced { act, stage });
            }
        }
    }

    /// Publishes the outcomes of a turn to the clients that wait for them.
    pub(crate) fn publish_outcomes(&mut self, decision: &Decision, result: &Applied) {
        let height = result.height;
        for (act, outcome) in decision.turn.body.acts().iter().zip(&result.outcomes) {
            let act = act.id();
            if let Some(client) = self.awaiting_outcome.remove(&act) {
                let outcome = *outcome;
                let message = ServerMessage::Outcome { act, height, outcome };
                self.sessions.send(client, Delivery::Reliable, &message);
                let stage = ActStage::Applied { outcome };
                self.effects.push_back(Effect::Traced { act, stage });
            }
        }
    }

    /// Publishes the servers to keep connections with, if they changed.
    pub(crate) fn publish_contacts(&mut self) {
        let world = self.world.as_deref().expect("contacts are read from a world at hand");
        let roster = world.roster();
        let all = roster.members().iter().chain(roster.standbys());
        let contacts: BTreeMap<PublicKey, NodeContact> =
            all.map(|(key, member)| (*key, member.contact.clone())).collect();
        if contacts != self.contacts {
            let before = std::mem::replace(&mut self.contacts, contacts.clone());
            // Followers come first: a server that becomes a follower is in one of the two lists all the
            // time, so that the driver does not end its connection.
            self.keep_former_servers(before);
            self.effects.push_back(Effect::Contacts(contacts));
            self.update_endpoint_servers();
        }
    }

    /// Starts or stops the views of a client.
    pub(crate) fn watch(&mut self, client: ClientId, watching: Option<&Watching>) {
        if let Some(key) = self.sessions.key(client) {
            let fault = self.views.watch(client, key, watching).err();
            self.end_for(client, fault);
        }
    }

    /// Ends the session of a client that broke a rule of views.
    pub(crate) fn end_for(&mut self, client: ClientId, fault: Option<ViewFault>) {
        if fault.is_some() {
            self.sessions.end(client, Goodbye::BadFrame);
        }
    }

    /// Publishes the views after a turn, and the proofs of earlier ones.
    pub(crate) fn publish_views(&mut self, result: &Applied) {
        let world = self.world.as_deref();
        let world = world.expect("views are published with the world that the turn was applied to");
        for (client, frame) in self.views.turn(world, result) {
            self.sessions.forward(client, Delivery::Reliable, frame);
        }
        // On a server that lags, the header that proves this turn is decided already.
        self.publish_proofs(result.height);
    }

    /// Publishes proofs of the views of a height, if the header that states its root is decided.
    pub(crate) fn publish_proofs(&mut self, of: Height) {
        let Some(decision) = self.agreement.decision(of.plus(ROOT_LAG)) else {
            return;
        };
        let (header, certificate) = (&decision.turn.header, &decision.certificate);
        for (client, frame) in self.views.prove(of, header, certificate) {
            self.sessions.forward(client, Delivery::Reliable, frame);
        }
    }

    /// Publishes the chat of a turn to every session whose avatar can hear it.
    pub(crate) fn publish_chat(&mut self, result: &Applied) {
        for line in &result.chat {
            let hearers: Vec<_> = {
                let world = self.world.as_deref();
                let world =
                    world.expect("chat is published with the world that the turn was applied to");
                let hearing = world.parameters().hearing;
                let hears = |key| {
                    let avatar = world.avatar(&key).and_then(|id| world.object(id));
                    let near = |seen: WorldObject| seen.position.distance(line.place) <= hearing;
                    line.channel != NEARBY || avatar.is_some_and(near)
                };
                self.sessions
                    .open()
                    .filter(|(_, key)| hears(*key))
                    .map(|(client, _)| client)
                    .collect()
            };
            let message = ServerMessage::Heard(ChatMessage {
                height: line.height,
                channel: line.channel,
                speaker: line.speaker,
                name: line.name.clone(),
                text: line.text.clone(),
            });
            for client in hearers {
                self.sessions.send(client, Delivery::Reliable, &message);
            }
        }
    }
}
