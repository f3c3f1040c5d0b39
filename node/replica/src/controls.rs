//! Switches that break one rule each.

use metatopia_sim::{Applied, FirstLogins, Register, Since, Standing, Standings};
use metatopia_types::{Height, Outcome, PublicKey, Refusal, SimId};

/// What is broken in a server. A node has no way to say so; with the feature `controls` the simulated
/// world does, to show that it would see the rule missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(not(feature = "controls"), expect(unreachable_pub, reason = "public with a feature"))]
pub struct Controls {
    /// A turn in which an act crashed counts as one that nobody can apply.
    pub crashes_are_final: bool,
    /// Turns that were missing, and came, are not put back.
    pub nothing_is_put_back: bool,
    /// Turns are judged by the number of all lanes only: reserves are a custom of honest pools.
    pub lanes_unjudged: bool,
    /// This server has not that custom: it opens whatever such a rule would let it.
    pub opens_all_lanes: bool,
    /// This server tells in its turns whatever its couriers bring of neighbours, believed or not.
    pub tells_unheard: bool,
}

impl Controls {
    /// Returns whether this turn counts as one that was not applied.
    pub(crate) fn gives_up(self, result: &Applied) -> bool {
        let crashed = Outcome::Refused(Refusal::Crashed);
        self.crashes_are_final && result.outcomes.contains(&crashed)
    }
}

/// A sim in which everybody counts as a steward, so that nothing is kept for those.
pub(crate) struct NoReserves<'a>(pub(crate) &'a Register);

impl Standings for NoReserves<'_> {
    fn sim(&self) -> SimId {
        self.0.sim()
    }

    fn since(&self, key: &PublicKey) -> Option<Since> {
        self.0.since(key)
    }

    fn first_logins(&self) -> &FirstLogins {
        self.0.first_logins()
    }

    fn standing(&self, _: &PublicKey, _: Height) -> Standing {
        Standing::Steward
    }
}
