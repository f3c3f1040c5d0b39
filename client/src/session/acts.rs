//! Acts under way: signed, sent, sent again, and done with once there is a receipt or a refusal.

use alloc::{boxed::Box, vec::Vec};
use core::time::Duration;

use metatopia_protocol::{Answer, ClientMessage, Submission, SubmitRefusal, encode_client};
use metatopia_types::{Act, ActId, Blob, Envelope, Outcome, Receipt, Seq, limits};

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
    /// No node let us in yet, so nothing is known about the height that acts are valid until.
    #[error("the session was never open")]
    NeverOpen,
}

pub(super) struct PendingAct {
    submission: Submission,
    pub(super) resend_at: Duration,
    /// How often it was sent.
    sends: u32,
}

impl Session {
    /// Signs an act and sends it, now or once the session is open.
    ///
    /// # Errors
    /// See [`SubmitError`].
    pub fn submit(
        &mut self,
        now: Duration,
        act: Act,
        blobs: Vec<Blob>,
    ) -> Result<(ActId, Seq), SubmitError> {
        if !self.welcomed {
            return Err(SubmitError::NeverOpen);
        }
        if self.pending.len() >= PENDING_MAX {
            return Err(SubmitError::TooManyPending);
        }
        let seq = self.next_seq;
        self.next_seq = seq.plus(1);
        let envelope = Envelope {
            sim: self.light.sim(),
            author: self.key.public(),
            lane: self.lane,
            seq,
            last_valid: self.height.plus(VALID_FOR),
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
        self.pending.insert(id, PendingAct { submission, resend_at: now + RESEND, sends });
        Ok((id, seq))
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
                self.certain = self.certain.max(height);
                self.height = self.height.max(height);
                if let Some(pending) = self.forget(&act) {
                    self.decided(act, &pending.submission.act.envelope);
                }
                self.event(SessionEvent::Receipted { act, height, index });
            }
            Err(Distrust::OtherValidators(_)) => self.receipt_waits(act, receipt),
            Err(distrust) => self.distrust(distrust),
        }
    }

    /// A receipt that was asked for, because the one of its act got lost: is it of the login?
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

    /// An act of ours is in a decided turn, for certain.
    fn decided(&mut self, id: ActId, envelope: &Envelope) {
        match envelope.act {
            Act::Login { .. } => self.attendance.came(id, envelope.seq),
            Act::Leave => self.attendance.left(envelope.seq),
            _ => return,
        }
        self.sight.set_present(self.attendance.is_present());
    }

    /// The node says what became of an act.
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
