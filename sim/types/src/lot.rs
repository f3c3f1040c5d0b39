//! Lots: ground of a sim that people take for themselves, and what they order about it.

use alloc::string::String;

use serde::{Deserialize, Serialize};

use crate::{ClubId, GroundArea, LotId, ObjectId, PublicKey};

/// What somebody orders about a lot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LotOrder {
    /// Takes open ground for the author.
    Claim {
        /// The ground that is taken.
        ground: GroundArea,
        /// What the lot is called.
        name: String,
    },
    /// Gives a lot another name.
    Name {
        /// The lot that it is about.
        lot: LotId,
        /// What the lot is called from now on.
        name: String,
    },
    /// Makes another player the holder.
    Give {
        /// The lot that it is about.
        lot: LotId,
        /// The new holder.
        to: PublicKey,
    },
    /// Lets another player build there.
    Open {
        /// The lot that it is about.
        lot: LotId,
        /// The player who may build there from now on.
        to: PublicKey,
    },
    /// Lets a friend build there no longer.
    Shut {
        /// The lot that it is about.
        lot: LotId,
        /// The friend who may build there no longer.
        to: PublicKey,
    },
    /// Gives the ground back to the sim.
    Return {
        /// The lot that it is about.
        lot: LotId,
    },
    /// Sends a thing of somebody else home that stands on the lot.
    SendHome {
        /// The lot that it is about.
        lot: LotId,
        /// The thing, which goes to its owner's own ground, or beside the lot.
        object: ObjectId,
    },
    /// Lets the members of a club build there. A lot is open to one club at a time.
    OpenToClub {
        /// The lot that it is about.
        lot: LotId,
        /// The club whose members may build there from now on.
        club: ClubId,
    },
    /// Lets the members of its club build there no longer.
    ShutToClub {
        /// The lot that it is about.
        lot: LotId,
    },
}

impl LotOrder {
    /// Returns the word by which people give this order.
    #[must_use]
    pub const fn verb(&self) -> &'static str {
        match self {
            Self::Claim { .. } => "claim",
            Self::Name { .. } => "name",
            Self::Give { .. } => "give",
            Self::Open { .. } => "open",
            Self::Shut { .. } => "shut",
            Self::Return { .. } => "return",
            Self::SendHome { .. } => "send home",
            Self::OpenToClub { .. } => "open to club",
            Self::ShutToClub { .. } => "shut to club",
        }
    }

    /// Returns the lot that it is about, if that is there already.
    #[must_use]
    pub const fn lot(&self) -> Option<LotId> {
        match self {
            Self::Claim { .. } => None,
            Self::Name { lot, .. }
            | Self::Give { lot, .. }
            | Self::Open { lot, .. }
            | Self::Shut { lot, .. }
            | Self::Return { lot }
            | Self::SendHome { lot, .. }
            | Self::OpenToClub { lot, .. }
            | Self::ShutToClub { lot } => Some(*lot),
        }
    }
}
