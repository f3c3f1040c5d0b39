//! A follower that is not let in by every server.

use std::collections::BTreeSet;

use super::{Driver, Memory};
use crate::{
    http::{Follows, Refused},
    joining::Met,
};

impl Driver {
    /// Asks the sim's servers that this node is not connected with to let it in; none of them, once it
    /// is a server or standby itself.
    pub(super) fn knock(&mut self, memory: &Memory) {
        let own = self.config.agreement.signer.public();
        let now = self.clock.now().monotonic;
        if let Some(knocks) = &mut self.knocks {
            let contacts = &memory.neighbours.contacts;
            let missed = contacts.keys().filter(|server| !memory.up.contains_key(*server));
            let missed = match contacts.contains_key(&own) {
                true => BTreeSet::new(),
                false => missed.copied().collect(),
            };
            knocks.see(now, missed, &memory.words);
        }
    }

    /// A server answered: whoever lets this node in is dialled where it says.
    pub(super) async fn knocked(&mut self, memory: &mut Memory, met: Met) {
        let now = self.clock.now().monotonic;
        let takes = self.knocks.as_mut().and_then(|knocks| knocks.take(now, met));
        if let Some((server, address)) = takes {
            memory.neighbours.told.insert(server, address);
            self.connect(memory).await;
        }
        self.knock(memory);
    }

    /// How it follows, for people; nothing of a node that came by no invite, or is a server.
    pub(super) fn follows(&self, memory: &Memory) -> Option<Follows> {
        let knocks = self.knocks.as_ref()?;
        let contacts = &memory.neighbours.contacts;
        if contacts.contains_key(&self.config.agreement.signer.public()) {
            return None;
        }
        let connected = contacts.keys().filter(|server| memory.up.contains_key(*server)).count();
        let refused =
            knocks.refused().map(|(server, why)| Refused { server, why: why.to_string() });
        Some(Follows { servers: contacts.len(), connected, refused: refused.collect() })
    }
}
