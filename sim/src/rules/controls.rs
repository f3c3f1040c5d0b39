//! Switches that break one rule each.

use std::borrow::Cow;

use metatopia_types::{Header, PublicKey, Round};

/// The rules that are broken in a world. A node cannot break any; with the feature `controls` the simulated
/// world does, to show that it would see the rule missing. Numbers stand for what differs from
/// process to process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(not(feature = "controls"), expect(unreachable_pub, reason = "public with a feature"))]
pub struct Controls {
    /// The last sequence of a lane may be decided once more.
    pub lane_off_by_one: bool,
    /// Outcomes are kept in the order of a hash table that was seeded with this.
    pub outcomes_hashed_by: Option<u64>,
    /// Gas of a tick, instead of what the sim's parameters say.
    pub tick_gas: Option<u64>,
    /// What scripts did is merged in the order in which threads happened to be done.
    pub merged_by: Option<u64>,
    /// The leaf of the clock is left out of snapshots.
    pub leaf_missing: bool,
    /// The proposers that missed their rounds are found by this round, which is that of a certificate, instead
    /// of the round that the header states.
    pub certified_in: Option<Round>,
    /// Nothing is reserved for stewards but lanes: they come in like everybody else.
    pub no_reserved_seats: bool,
    /// A rule of crossing that this sim does not keep.
    pub crossing: Option<CrossingBug>,
}

/// A rule of crossing that is broken. What is where is decided by these rules alone, so each of them has to be missed
/// where somebody or something is lost or doubled without it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "controls"), expect(unreachable_pub, reason = "public with a feature"))]
pub enum CrossingBug {
    /// A departure comes home once its deadline has passed by the own clock, whatever the neighbour's clock says.
    HomeByOwnClock,
    /// A departure is taken after its deadline, when its sender may have brought it home.
    TakenLate,
    /// A departure is judged again for as long as it is listed, and the last verdict counts. Its number is passed over.
    NumberPassedOver,
    /// A verdict is forgotten in the turn in which it was given, so its sender never hears of it.
    VerdictForgotten,
    /// A thing that departs stays here as well: it is created over there first, and would be deleted here later.
    CreatedFirst,
    /// A thing departs again before its sender has settled it. People may, if their sender is silent.
    HandedOn,
    /// The list of what came home to a neighbour that gave this sim up is not looked at.
    ListPassedOver,
    /// Words of an epoch that is over are heard after those of the new one, and the list of what came home closes no
    /// number. One of these two rules is enough, so both are broken.
    OldEpochs,
}

impl Controls {
    /// Returns the header by which a turn is closed, which says who built the turn, and who did not.
    pub(crate) fn closing<'a>(&self, header: &'a Header) -> Cow<'a, Header> {
        match self.certified_in.filter(|round| *round != header.round) {
            // Whoever leads that round is taken for the builder.
            Some(round) => {
                let proposer = PublicKey::default();
                Cow::Owned(Header { round, proposer, ..header.clone() })
            }
            None => Cow::Borrowed(header),
        }
    }
}
