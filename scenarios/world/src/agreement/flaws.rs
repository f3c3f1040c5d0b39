//! What may be wrong with the application of simulated servers, one line for each.

use std::collections::BTreeMap;

use metatopia_types::{Digest, Header, Height, PublicKey, Round, SignedEnvelope};

use super::ledger::LedgerState;
use super::setting::Flaw;

/// An act that nobody can apply, if there is such a flaw: one in so many.
const POISON_EVERY: u8 = 16;

/// The flaw of one server's application, if it has one.
#[derive(Debug, Default)]
pub(super) struct Flaws {
    flaw: Option<Flaw>,
    seat: usize,
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

    /// Something that goes into the state beside what should.
    pub(super) fn stain(&self, height: Height) -> Vec<Digest> {
        match self.flaw {
            Some(Flaw::Diverges { seat, from }) if seat == self.seat && height >= from => {
                vec![Digest::ZERO]
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
