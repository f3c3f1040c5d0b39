//! What may be wrong with the application of simulated servers, one line for each.

use std::collections::BTreeMap;

use metatopia_types::{ActId, Digest, Header, Height, PublicKey, Round, SignedEnvelope};

use super::ledger::LedgerState;
use super::setting::Flaw;

/// Acts of a turn that a server with another limit carries out.
const OTHER_LIMIT: usize = 1;

/// An act that nobody can apply, if there is such a flaw: one in so many.
const POISON_EVERY: u8 = 16;

/// The flaw of one server's application, if it has one.
#[derive(Debug, Default)]
pub(super) struct Flaws {
    flaw: Option<Flaw>,
    seat: usize,
    /// Acts in the order in which they came.
    arrived: Vec<ActId>,
    /// The rounds of certificates.
    rounds: BTreeMap<Height, Round>,
}

impl Flaws {
    pub(super) fn new(flaw: Option<Flaw>, seat: usize) -> Self {
        Self { flaw, seat, ..Self::default() }
    }

    pub(super) fn accept_everything(&self) -> bool {
        self.flaw == Some(Flaw::AcceptsEverything)
    }

    /// May the last sequence number of a lane be used once more?
    pub(super) fn lane_is_open_at_its_end(&self) -> bool {
        self.flaw == Some(Flaw::LaneOffByOne)
    }

    pub(super) fn note_arrival(&mut self, act: ActId) {
        if self.flaw == Some(Flaw::ArrivalOrder) {
            self.arrived.push(act);
        }
    }

    pub(super) fn note_round(&mut self, height: Height, round: Round) {
        if self.flaw == Some(Flaw::CertificateRound) {
            self.rounds.insert(height, round);
        }
    }

    /// Can this server not go on after a turn with these acts?
    pub(super) fn poisoned(&self, acts: &[SignedEnvelope]) -> bool {
        let poison = |act: &SignedEnvelope| act.id().0.0[0].is_multiple_of(POISON_EVERY);
        self.flaw == Some(Flaw::NotTotal) && acts.iter().any(poison)
    }

    /// Is this act, the one with this number in its turn, not carried out here?
    pub(super) fn leaves_out(&self, number: usize) -> bool {
        self.flaw == Some(Flaw::LimitPerServer) && self.seat == 1 && number >= OTHER_LIMIT
    }

    /// Something that goes into the state beside what should.
    pub(super) fn stain(&self, height: Height, acts: &[SignedEnvelope]) -> Vec<Digest> {
        let ids = acts.iter().map(SignedEnvelope::id);
        match self.flaw {
            Some(Flaw::Diverges { seat, from }) if seat == self.seat && height >= from => {
                vec![Digest::ZERO]
            }
            Some(Flaw::Unordered) => {
                let salt = [u8::try_from(self.seat).unwrap_or(0)];
                let key =
                    |id: &ActId| Digest::of("metatopia flaw v1", &[&id.0.0, &salt[..]].concat());
                let mut keyed: Vec<_> = ids.map(|id| (key(&id), id.0)).collect();
                keyed.sort();
                keyed.into_iter().map(|(_, id)| id).collect()
            }
            Some(Flaw::ArrivalOrder) => {
                let place = |id: &ActId| self.arrived.iter().position(|known| known == id);
                let mut placed: Vec<_> = ids.map(|id| (place(&id), id.0)).collect();
                placed.sort();
                placed.into_iter().map(|(_, id)| id).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The header by which it is found who missed its turn.
    pub(super) fn closing(&self, header: &Header) -> Header {
        let round = self.rounds.get(&header.height).copied().unwrap_or(header.round);
        // Whoever leads that round is taken for the builder.
        let same = round == header.round;
        let proposer = if same { header.proposer } else { PublicKey::default() };
        Header { round, proposer, ..header.clone() }
    }

    /// The state as it is written down.
    pub(super) fn written(&self, state: &LedgerState) -> LedgerState {
        let mut state = state.clone();
        if self.flaw == Some(Flaw::LeafMissing) {
            state.lanes.pop_first();
        }
        state
    }
}
