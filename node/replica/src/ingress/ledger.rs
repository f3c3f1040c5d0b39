//! The host of agreement: it judges turns, and fills the next turn with acts.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use metatopia_consensus::{ActCheckError, Host, VoidAct};
use metatopia_sim::{ActFault as SimFault, Judging, LaneWindows, Register, Standings};
use metatopia_types::{ActId, Height, PublicKey, SignedEnvelope, SimId, Turn, TurnBody, Verify};

use crate::{
    ClientId,
    controls::{Controls, NoReserves},
    ingress::courier::Courier,
    mempool::{ActSource, Mempool},
};

#[cfg(test)]
mod tests;

/// Signatures of acts that were good in a turn that was judged, so that the same turn in a later
/// round costs nothing: four times the acts of the largest turn.
const JUDGED_MAX: usize = 4 * metatopia_types::limits::ACTS_PER_TURN_MAX;

/// The mempool, and the lane windows after the last decided turn.
pub(super) struct Ledger {
    sim: SimId,
    /// The key of this server, which proposes the turns that are built here.
    server: PublicKey,
    scheme: Arc<dyn Verify>,
    /// The class of each author, by the last applied turns.
    pub(super) register: Register,
    /// The acts that wait for a turn.
    pub(super) mempool: Mempool,
    /// What was heard of neighbours, and waits for a turn of this server.
    pub(super) courier: Courier,
    /// The lane windows, which say which acts may still be decided.
    pub(super) windows: LaneWindows,
    /// Clients whose act is decided, and that have no receipt yet.
    pub(super) unreceipted: BTreeMap<ActId, ClientId>,
    judged: RefCell<BTreeSet<[u8; 32]>>,
    pub(super) controls: Controls,
}

impl core::fmt::Debug for Ledger {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Ledger after {} with {} acts waiting", self.windows.height(), self.mempool.len())
    }
}

impl Ledger {
    /// Returns a ledger after the last turn of `windows`.
    #[must_use]
    pub(super) fn new(
        server: PublicKey,
        scheme: Arc<dyn Verify>,
        windows: LaneWindows,
        register: Register,
        courier: Courier,
    ) -> Self {
        Self {
            sim: register.sim(),
            courier,
            server,
            scheme,
            register,
            mempool: Mempool::default(),
            windows,
            unreceipted: BTreeMap::new(),
            judged: RefCell::new(BTreeSet::new()),
            controls: Controls::default(),
        }
    }

    /// Breaks the rules of acts from now on.
    #[cfg(feature = "controls")]
    pub(super) const fn break_rules(&mut self, controls: Controls) {
        self.controls = controls;
    }

    fn is_signed(&self, act: &SignedEnvelope) -> bool {
        if self.mempool.has_checked(act) {
            return true;
        }
        // The digest covers the signature too: what was good once is good again.
        let digest = *blake3::hash(&metatopia_types::wire::encode(act)).as_bytes();
        let mut judged = self.judged.borrow_mut();
        if judged.contains(&digest) {
            return true;
        }
        let good = act.verify(&*self.scheme);
        if good {
            if judged.len() >= JUDGED_MAX {
                judged.clear();
            }
            judged.insert(digest);
        }
        good
    }
}

impl Host for Ledger {
    fn decided(&mut self, turn: &Turn) {
        self.windows.record(turn);
        self.courier.decided(turn);
        for (act, source) in self.mempool.take_decided(turn) {
            if let ActSource::Client(client) = source {
                self.unreceipted.insert(act, client);
            }
        }
    }

    fn knows(&self, height: Height) -> bool {
        self.register.first_logins().basis(height).is_some()
    }

    fn judge(&self, turn: &Turn) -> Result<(), VoidAct> {
        let Turn { header, .. } = turn;
        // All servers judge a turn by the same state, or they would not agree.
        self.register.basis(header.height);
        let none = NoReserves(&self.register);
        let standings: &dyn Standings =
            if self.controls.lanes_unjudged { &none } else { &self.register };
        let judging = Judging { standings, proposer: Some(header.proposer) };
        let mut admission = self.windows.admission(header.height, None, judging);
        for act in admission.in_order(turn.body.acts()) {
            let void = |fault| VoidAct { act: act.id(), fault };
            if act.envelope.sim != self.sim {
                return Err(void(ActCheckError::Sim));
            }
            admission.admit(&act.envelope).map_err(|fault| void(translate(fault)))?;
            if !self.is_signed(act) {
                return Err(void(ActCheckError::Signature));
            }
        }
        Ok(())
    }

    fn body(&mut self, height: Height, after: Option<&Turn>) -> TurnBody {
        let none = NoReserves(&self.register);
        let standings: &dyn Standings =
            if self.controls.opens_all_lanes { &none } else { &self.register };
        let judging = Judging { standings, proposer: Some(self.server) };
        let hears = self.courier.hears(height);
        self.mempool.body(height, after, &self.windows, judging, hears)
    }
}

fn translate(fault: SimFault) -> ActCheckError {
    match fault {
        SimFault::OtherSim(_) => ActCheckError::Sim,
        SimFault::Expired { last_valid, .. } => ActCheckError::Expired(last_valid),
        SimFault::TooFarAhead { last_valid, .. } => ActCheckError::Ahead(last_valid),
        SimFault::Signature => ActCheckError::Signature,
        SimFault::UnknownAct(number) => ActCheckError::UnknownAct(number),
        SimFault::TooLong(_)
        | SimFault::Replayed(_)
        | SimFault::TooManyLanes(_)
        | SimFault::Full(_) => ActCheckError::Lane,
        SimFault::NoLogin
        | SimFault::Closed
        | SimFault::NoWork
        | SimFault::NoTicket
        | SimFault::NotProposer
        | SimFault::HeardTwice(_)
        | SimFault::FirstLoginsFull(_) => ActCheckError::Stranger,
    }
}
