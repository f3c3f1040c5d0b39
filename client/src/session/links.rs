//! Following set changes: what was signed by servers that are not known yet waits until they are.

use alloc::boxed::Box;

use metatopia_protocol::{Answer, Question, ViewProof};
use metatopia_types::{ActId, Receipt};

use super::Session;
use crate::{Distrust, sight::ProvenTiles};

/// Proofs of views that wait for set changes to be followed: three seconds of them. Later ones are
/// as good, so more are not kept.
pub const UNCHECKED_MAX: usize = 16;

impl Session {
    /// Keeps a receipt until set changes were followed, one for each act that waits for its receipt:
    /// an act that is sent again brings its receipt again.
    pub(super) fn receipt_waits(&mut self, act: ActId, receipt: Box<Receipt>) {
        let pending = &self.pending;
        self.unproven.retain(|(known, _)| *known != act && pending.contains_key(known));
        self.unproven.push((act, receipt));
        self.follow();
    }

    /// Keeps the proof of a view until set changes were followed.
    pub(super) fn proof_waits(&mut self, shown: ProvenTiles, proof: Box<ViewProof>) {
        if self.unchecked.len() < UNCHECKED_MAX {
            self.unchecked.push((shown, proof));
        }
        self.follow();
    }

    /// Asks for set changes, unless that was asked already.
    pub(super) fn follow(&mut self) {
        if self.links.is_none() {
            let after = self.light.newest().minus(1).unwrap_or_default();
            self.links = self.ask(Question::Links { after });
        }
    }

    pub(super) fn linked(&mut self, answer: &Answer) {
        // A node that is busy is asked again with the next receipt or proof.
        let Answer::Links(links) = answer else {
            return;
        };
        let known = self.light.newest();
        for link in links {
            if link.header.height < self.light.newest() {
                continue;
            }
            if let Err(distrust) = self.light.follow(link) {
                return self.distrust(distrust);
            }
        }
        let receipts = core::mem::take(&mut self.unproven);
        let proofs = core::mem::take(&mut self.unchecked);
        let header = self.headers.unproven.take();
        // Old changes lead nowhere, whatever they are: a liar would be asked for ever.
        if self.light.newest() == known {
            let receipts = receipts.iter().map(|(_, receipt)| receipt.header.height);
            let proofs = proofs.iter().map(|(_, proof)| proof.header.height);
            let header = header.iter().map(|found| found.0.height);
            // Nobody knows of a change, so these servers never were of the sim.
            if let Some(height) = receipts.chain(proofs).chain(header).next() {
                self.distrust(Distrust::OtherValidators(height));
            }
            return;
        }
        if let Some(found) = header {
            let (header, certificate) = *found;
            self.believe_header(header, certificate);
        }
        for (act, receipt) in receipts {
            self.receipt(act, receipt);
        }
        for (shown, proof) in proofs {
            self.believe_view(shown, proof);
        }
    }
}
