//! Going on after this server's own state turned out to be wrong.
//!
//! Only the states were wrong: what was decided, and what this server signed, is in its log and
//! stays. So the state machine computes the states again, from a certified one, and agreement takes
//! these in their place. A record says so, lest a restart should believe the old notes.

use metatopia_types::{Height, Now};

use super::{Agreement, StepContext};
use crate::{AgreementInput, AppliedTurn, Decision, Host, Record};

impl Agreement {
    /// Returns the decided turn that is void here, if agreement halted because of one. Its header
    /// states what more than two thirds of the voting power hold for the state.
    #[must_use]
    pub fn contested(&self) -> Option<&Decision> {
        self.contested.as_ref().map(|(_, decision)| decision)
    }

    /// Replaces wrong states by right ones: `states` has one for each height, from the first wrong
    /// height up to the last one that was reported as applied. Agreement goes on if it had halted
    /// because of a state. With `silent` it signs nothing more in this life and only follows.
    ///
    /// # Panics
    /// If there is a gap between them.
    pub fn heal(&mut self, now: Now, host: &mut dyn Host, states: &[AppliedTurn], silent: bool) {
        let Some(first) = states.first() else {
            return;
        };
        self.outbox.append(Record::Healed { from: first.height });
        self.forget_states(first.height);
        states.iter().for_each(|state| self.note_state(state));
        self.halted = false;
        if silent {
            (self.silent, self.signs) = (true, false);
            self.core.set_signing(false);
        }
        if let Some((from, decision)) = self.contested.take() {
            self.catch_up.again(from, decision);
        }
        let cx = &mut StepContext { now, host };
        self.begin(cx);
        self.run(cx);
        self.outbox.close();
        self.assert_invariants();
    }

    /// Forgets what was noted of the states from this height on.
    pub(super) fn forget_states(&mut self, from: Height) {
        self.chain.forget_states(from);
        drop(self.logged_roots.split_off(&from));
    }

    /// Takes an input of a halted agreement, which keeps track of its peers and of what is durable
    /// and ignores all else.
    pub(super) fn on_halted(&mut self, input: AgreementInput) {
        match input {
            AgreementInput::PeerUp(peer) => self.peers.up(peer),
            AgreementInput::PeerDown(peer) => self.peers.down(peer),
            AgreementInput::Synced(to) => self.outbox.synced(to),
            AgreementInput::Muted(muted) => self.muted = muted,
            _ => {}
        }
    }
}
