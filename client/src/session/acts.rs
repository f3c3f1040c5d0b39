//! Acts under way: signed, sent, sent again, and done with once there is a receipt or a refusal.

use alloc::{boxed::Box, vec::Vec};
use core::time::Duration;

use metatopia_protocol::{Answer, ClientMessage, Submission, SubmitRefusal, encode_client};
use metatopia_types::{Act, ActId, Blob, Envelope, Height, Outcome, Receipt, Seq, limits};

use super::{Output, Session, SessionEvent};
use crate::Distrust;

/// Acts without a receipt that a client keeps; more are refused here, before they cost anybody.
pub const PENDING_MAX: usize = 256;

/// An act without a receipt is sent again after this long: ten turns at the usual pace. Two would
/// do on an idle machine, but repeats under load only make more of it.
const RESEND: Duration = Duration::from_millis(500);

/// How far ahead an act's last valid height is set: half a minute, so that an act that got lost is
/// known to be lost soon, and a stall of some seconds costs nothing.
const VALID_FOR: u64 = limits::EXPIRY_HEIGHTS_MAX / 2;

/// Why an act is not sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SubmitError {
    /// Too many acts wait for their receipts.
    #[error("{PENDING_MAX} acts wait for their receipts already")]
    TooManyPending,
    /// No node let us in yet, so nobody could say anything about the height that acts are valid until.
    #[error("the session was never open")]
    NeverOpen,
}

/// An act that waits to be signed.
pub(super) struct UnsignedAct {
    seq: Seq,
    act: Act,
    blobs: Vec<Blob>,
}

pub(super) struct PendingAct {
    submission: Submission,
    pub(super) resend_at: Duration,
    /// How often it was sent.
    sends: u32,
}

impl Session {
    /// Signs an act and sends it, now or once the session is open. Gives its place in the lane.
    ///
    /// An act is valid up to a height that is reckoned from a header that was verified, never from one
    /// that a node claims: a node that lies about the height could keep the act, and have it carried
    /// out much later. Until there is such a header, and while [`Session::trust_age`] has to be accepted,
    /// the act waits; [`SessionEvent::Signed`] tells when it was signed. [`Session::act_at`] names one
    /// that did not have to wait.
    ///
    /// # Errors
    /// See [`SubmitError`].
    pub fn submit(
        &mut self,
        now: Duration,
        act: Act,
        blobs: Vec<Blob>,
    ) -> Result<Seq, SubmitError> {
        self.now = now;
        if !self.welcomed {
            return Err(SubmitError::NeverOpen);
        }
        if self.pending() >= PENDING_MAX {
            return Err(SubmitError::TooManyPending);
        }
        let seq = self.next_seq;
        self.next_seq = seq.plus(1);
        let unsigned = UnsignedAct { seq, act, blobs };
        match self.signing_height().filter(|_| self.unsigned.is_empty()) {
            Some(height) => {
                self.sign(height, unsigned);
            }
            None => {
                self.unsigned.push_back(unsigned);
                self.sign_or_seek();
            }
        }
        Ok(seq)
    }

    /// Returns the act at this place of the lane, if it is signed and has no receipt yet.
    #[must_use]
    pub fn act_at(&self, seq: Seq) -> Option<ActId> {
        self.order.get(&seq).copied()
    }

    /// Returns the last height at which an act that has no receipt yet is valid.
    #[must_use]
    pub fn last_valid(&self, act: &ActId) -> Option<Height> {
        Some(self.pending.get(act)?.submission.act.envelope.last_valid)
    }

    /// Sends an act no more.
    pub fn give_up(&mut self, act: &ActId) {
        self.forget(act);
    }

    /// Signs the acts that wait, if there is a header to reckon from; else looks for one.
    pub(super) fn sign_or_seek(&mut self) {
        if self.unsigned.is_empty() || self.trust_age().is_some() {
            return;
        }
        let Some(height) = self.signing_height() else {
            return self.seek_header();
        };
        while let Some(unsigned) = self.unsigned.pop_front() {
            let seq = unsigned.seq;
            let act = self.sign(height, unsigned);
            self.event(SessionEvent::Signed { seq, act });
        }
    }

    /// Signs an act for some time after a verified height, and sends it if the session is open.
    fn sign(&mut self, height: Height, UnsignedAct { seq, act, blobs }: UnsignedAct) -> ActId {
        let envelope = Envelope {
            sim: self.light.sim(),
            author: self.key.public(),
            lane: self.lane,
            seq,
            last_valid: height.plus(VALID_FOR),
            act,
        };
        let act = envelope.sign(&*self.key);
        let id = act.id();
        if matches!(act.envelope.act, Act::Login { .. }) {
            self.attendance.comes(id);
        }
        let submission = Submission { act, blobs };
        let mut sends = 0;
        if self.open {
            sends = 1;
            self.send(&ClientMessage::Submit(Box::new(submission.clone())));
        }
        self.order.insert(seq, id);
        let resend_at = self.now.saturating_add(RESEND);
        self.pending.insert(id, PendingAct { submission, resend_at, sends });
        id
    }

    pub(super) fn resend(&mut self, now: Duration, which: impl Fn(&PendingAct) -> bool) {
        // In the order of the lane: a later act that is decided first shuts out the earlier ones.
        for id in self.order.values() {
            let Some(pending) = self.pending.get_mut(id).filter(|pending| which(pending)) else {
                continue;
            };
            pending.resend_at = now + RESEND;
            pending.sends = pending.sends.saturating_add(1);
            let message = ClientMessage::Submit(Box::new(pending.submission.clone()));
            self.out.push_back(Output::Send(encode_client(&message)));
        }
    }

    pub(super) fn receipt(&mut self, act: ActId, receipt: Box<Receipt>) {
        let Some(pending) = self.pending.get(&act) else {
            return;
        };
        let header = &receipt.header;
        let (height, index) = (header.height, receipt.place.index);
        match self.light.receipt(&pending.submission.act, &receipt) {
            Ok(()) => {
                self.verified(&receipt.header);
                if let Some(pending) = self.forget(&act) {
                    self.decided(act, &pending.submission.act.envelope);
                }
                self.event(SessionEvent::Receipted { act, height, index });
            }
            Err(Distrust::OtherValidators(_)) => self.receipt_waits(act, receipt),
            Err(distrust) => self.distrust(distrust),
        }
    }

    /// Handles a receipt that was asked for, because the one of its act got lost. It may be that of the
    /// login.
    pub(super) fn receipt_found(&mut self, answer: &Answer) {
        let Answer::Receipt(found) = answer else {
            return;
        };
        let act = found.act.id();
        if self.attendance.is_latest_login(act)
            && self.light.receipt(&found.act, &found.receipt).is_ok()
        {
            self.decided(act, &found.act.envelope);
            if let Some(outcome) = found.outcome {
                self.ruled(act, outcome);
            }
        }
    }

    /// Notes that an act of the client is certainly in a decided turn.
    fn decided(&mut self, id: ActId, envelope: &Envelope) {
        match envelope.act {
            Act::Login { .. } => self.attendance.came(id, envelope.seq),
            Act::Leave => self.attendance.left(envelope.seq),
            _ => return,
        }
        self.sight.set_present(self.attendance.is_present());
    }

    /// Notes what the node says became of an act.
    pub(super) fn ruled(&mut self, act: ActId, outcome: Outcome) {
        self.attendance.ruled(act, outcome);
        self.sight.set_present(self.attendance.is_present());
    }

    pub(super) fn refused(&mut self, act: ActId, why: SubmitRefusal) {
        let again = self.pending.get(&act).is_some_and(|pending| pending.sends > 1);
        // No room here and now is no answer for an act that may have been taken when it was sent
        // before, here or elsewhere: it stays until there is a receipt, or a reason that lasts.
        if again && !why.is_lasting() {
            return;
        }
        if self.forget(&act).is_some() {
            self.event(SessionEvent::Refused { act, why });
        }
    }

    fn forget(&mut self, act: &ActId) -> Option<PendingAct> {
        let pending = self.pending.remove(act)?;
        self.order.remove(&pending.submission.act.envelope.seq);
        Some(pending)
    }
}
