//! How many acts, receipts and bytes of answers one key may have here, over all its sessions.
//!
//! The rations are of turns, and not of the clock as a `SteadyRate` is: a server that is busy with its
//! turns gives less.

/// Acts that one key may hand in for each turn, over all its sessions here. At 20 turns a second
/// that is 40 a second, four times what a busy player does; checking the signatures of 50 keys
/// that all do so costs a server a tenth of a core (2,000 at about 45 us).
pub const ACTS_PER_TURN: u32 = 2;

/// Acts that a key may hand in at once after it was quiet: as many as may wait for a turn.
pub const ACTS_BURST: u32 = 64;

/// Acts of the ration that an act with a wrong signature costs. Checking it takes as long as checking
/// a good one, and is of no use to anybody. No honest program sends one.
pub const FORGERY_ACTS: u32 = 16;

/// Receipts of acts decided before that one key may have again for each turn. Clients hand in such
/// acts anew until they have their receipts, so that one that is not sent now is sent later.
pub const RECEIPTS_AGAIN_PER_TURN: u32 = 1;

/// Receipts that a key may have again at once: of all acts that a client keeps while it is away.
pub const RECEIPTS_AGAIN_BURST: u32 = 256;

/// Bytes of answers that one key may have for each turn, over all its sessions here: 2.5 MB a second
/// at 20 turns, so that ten minutes of a plaza with fifty players come in some twenty seconds.
/// Beside ten who take all of it, receipts came as soon as beside ten who got half (measured by
/// `hostile` of the bench of attacks).
pub const ANSWER_BYTES_PER_TURN: u64 = 128 * 1_024;

/// Bytes of answers that a key may have at once after it was quiet; a question beyond it is answered
/// with [`Busy`](metatopia_protocol::Answer::Busy).
pub const ANSWER_BYTES_BURST: u64 = 8 * 1_024 * 1_024;

/// What one key may have before the next turn.
#[derive(Debug)]
pub(super) struct KeyRations {
    /// Acts that it may hand in; below none after a forged one.
    acts: i32,
    /// Receipts that it may have again.
    receipts: u32,
    /// Bytes of answers that it had, less what turns since then allow.
    answered: u64,
}

impl KeyRations {
    /// The rations of a key that was quiet.
    pub(super) const FULL: Self =
        Self { acts: ACTS_BURST.cast_signed(), receipts: RECEIPTS_AGAIN_BURST, answered: 0 };

    /// Adds what a turn allows.
    pub(super) fn turn(&mut self) {
        self.add_acts(ACTS_PER_TURN);
        self.receipts =
            self.receipts.saturating_add(RECEIPTS_AGAIN_PER_TURN).min(RECEIPTS_AGAIN_BURST);
        self.answered = self.answered.saturating_sub(ANSWER_BYTES_PER_TURN);
    }

    /// Says whether one more act may be handed in, and counts it if so.
    pub(super) const fn take_act(&mut self) -> bool {
        let may = self.acts > 0;
        if may {
            self.acts -= 1;
        }
        may
    }

    /// Gives back an act that cost nothing.
    pub(super) fn give_back_act(&mut self) {
        self.add_acts(1);
    }

    /// Charges for an act with a wrong signature, which counted as one act already.
    pub(super) const fn charge_forgery(&mut self) {
        self.acts = self.acts.saturating_sub_unsigned(FORGERY_ACTS - 1);
    }

    /// Says whether one more receipt may be had again, and counts it if so.
    pub(super) const fn take_receipt(&mut self) -> bool {
        let may = self.receipts > 0;
        if may {
            self.receipts -= 1;
        }
        may
    }

    /// Charges for an answer of so many bytes.
    pub(super) const fn charge_answer(&mut self, bytes: u64) {
        self.answered = self.answered.saturating_add(bytes);
    }

    /// Says whether the key had as many answers as it may for now.
    pub(super) const fn is_sated(&self) -> bool {
        self.answered > ANSWER_BYTES_BURST
    }

    fn add_acts(&mut self, acts: u32) {
        self.acts = self.acts.saturating_add_unsigned(acts).min(ACTS_BURST.cast_signed());
    }
}
