//! Switches that break one rule each.

use metatopia_sim::Applied;
use metatopia_types::{Outcome, Refusal};

/// What is broken in a server. A node has no way to say so; with the feature `controls` the simulated
/// world does, to show that it would see the rule missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(not(feature = "controls"), expect(unreachable_pub, reason = "public with a feature"))]
pub struct Controls {
    /// A turn in which an act crashed counts as one that nobody can apply.
    pub crashes_are_final: bool,
    /// Turns that were missing, and came, are not put back.
    pub nothing_is_put_back: bool,
}

impl Controls {
    /// Does this turn count as one that was not applied?
    pub(crate) fn gives_up(self, result: &Applied) -> bool {
        let crashed = Outcome::Refused(Refusal::Crashed);
        self.crashes_are_final && result.outcomes.contains(&crashed)
    }
}
