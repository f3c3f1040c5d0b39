//! Retries of a follower that some servers have not let in.

use std::collections::BTreeSet;

use super::{Driver, LoopState};
use crate::{
    joining::JoinAnswer,
    routes::{FollowStatus, RefusingServer},
};

impl Driver {
    /// Asks the sim's servers that this node is not connected with to let it in. A server or
    /// standby asks nobody.
    pub(super) fn retry_joins(&mut self, state: &LoopState) {
        let own = self.config.agreement.signer.public();
        let now = self.clock.now().monotonic;
        if let Some(join_requests) = &mut self.join_requests {
            let contacts = &state.peer_set.contacts;
            let missed = contacts.keys().filter(|server| !state.up.contains_key(*server));
            let missed = match contacts.contains_key(&own) {
                true => BTreeSet::new(),
                false => missed.copied().collect(),
            };
            join_requests.update_missing(now, missed, &state.announcements);
        }
    }

    /// Handles the answer to a request, and dials the server if it lets this node in.
    pub(super) async fn join_answered(&mut self, state: &mut LoopState, answer: JoinAnswer) {
        let now = self.clock.now().monotonic;
        let requests = self.join_requests.as_mut();
        let admitted = requests.and_then(|requests| requests.apply_answer(now, answer));
        if let Some((server, address)) = admitted {
            state.peer_set.admitted_at.insert(server, address);
            self.connect(state).await;
        }
        self.retry_joins(state);
    }

    /// Returns how this node follows, for the status; none if it has no invite, or is a server.
    pub(super) fn follows(&self, state: &LoopState) -> Option<FollowStatus> {
        let join_requests = self.join_requests.as_ref()?;
        let contacts = &state.peer_set.contacts;
        if contacts.contains_key(&self.config.agreement.signer.public()) {
            return None;
        }
        let connected = contacts.keys().filter(|server| state.up.contains_key(*server)).count();
        let refused = join_requests
            .refused()
            .map(|(server, why)| RefusingServer { server, why: why.to_string() });
        Some(FollowStatus { servers: contacts.len(), connected, refused: refused.collect() })
    }
}
