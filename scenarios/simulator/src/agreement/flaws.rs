//! What may be wrong with the application of simulated servers, one line for each.

use metatopia_types::{Digest, Height};

use super::ledger_setting::Flaw;

/// The flaw of one server's application, if it has one.
#[derive(Debug, Default)]
pub(super) struct Flaws {
    flaw: Option<Flaw>,
    seat: usize,
}

impl Flaws {
    pub(super) const fn new(flaw: Option<Flaw>, seat: usize) -> Self {
        Self { flaw, seat }
    }

    pub(super) fn accept_everything(&self) -> bool {
        self.flaw == Some(Flaw::AcceptsEverything)
    }

    /// Returns what goes into the state beside what should.
    pub(super) fn stain(&self, height: Height) -> Vec<Digest> {
        match self.flaw {
            Some(Flaw::Diverges { seat, from }) if seat == self.seat && height >= from => {
                vec![Digest::ZERO]
            }
            _ => Vec::new(),
        }
    }
}
