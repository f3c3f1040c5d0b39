//! Land: who holds which square of a world, and what people order of its land office.

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::{
    Blob, Certificate, Digest, GenesisHead, Header, Height, Link, Millis, PublicKey, Sign,
    Signature, SimId, Square, Verify, limits,
    wire::{self, DecodeError},
};

/// Who holds a square, as the land office says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LandGrant {
    /// The ground that it grants.
    pub square: Square,
    /// The sim that lies there.
    pub sim: SimId,
    /// Who may give it away.
    pub holder: PublicKey,
    /// Keys that sign the addresses of the sim; at most [`limits::BEACONS_MAX`].
    pub beacons: Vec<PublicKey>,
    /// Rises whenever the beacons or the sim change.
    pub epoch: u64,
    /// When it ends, by the office's governance time.
    pub until: Millis,
    /// The height of the newest certified header that its sim showed; 0 if it showed none.
    pub shown: Height,
}

/// What somebody orders of the land office. It is a blob, which [`Act::Land`](crate::Act::Land) names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LandOrder {
    /// Claims the square that a genesis names, for its sim. The author becomes the holder, and must be
    /// one of the sim's first admins.
    Claim {
        /// The head whose id is the sim's, and whose site is the square.
        head: GenesisHead,
        /// Keys that sign the sim's addresses, 1 to [`limits::BEACONS_MAX`].
        beacons: Vec<PublicKey>,
        /// The holder of land beside it, or an admin, who vouches for the author.
        sponsor: Option<LandSponsor>,
    },
    /// Shows that the sim of a square runs, so that the grant goes on. Its holder and its beacons may.
    Renew {
        /// The square that it is about.
        square: Square,
        /// Changes of who votes since the header that was shown last; older ones are passed over. At
        /// most [`limits::RENEWAL_LINKS_MAX`]: with more, renew in steps.
        links: Vec<Link>,
        /// A header of the sim, newer than the one that was shown last.
        header: Header,
        /// Signed by the validators of its height.
        certificate: Certificate,
    },
    /// Replaces the beacons. The epoch rises.
    SetBeacons {
        /// The square that it is about.
        square: Square,
        /// Keys that sign the sim's addresses, 1 to [`limits::BEACONS_MAX`].
        beacons: Vec<PublicKey>,
    },
    /// Gives the square to another holder.
    Give {
        /// The square that it is about.
        square: Square,
        /// Who holds it from now on.
        holder: PublicKey,
    },
    /// Gives the square back to nobody.
    Release {
        /// The square that it is about.
        square: Square,
    },
    /// Takes a square back whose sim never showed a header. Only an admin may.
    TakeBack {
        /// The square that it is about.
        square: Square,
    },
    /// Passes the square to the successor of its sim. The epoch rises.
    Succeed {
        /// The square that it is about.
        square: Square,
        /// The successor's, which names the sim as its parent and the same site.
        head: GenesisHead,
    },
}

impl LandOrder {
    /// Returns the blob that the act names.
    #[must_use]
    pub fn blob(&self) -> Blob {
        Blob(wire::encode(self))
    }

    /// Decodes the bytes of such a blob.
    ///
    /// # Errors
    /// When they are too many, or no order.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        wire::decode(bytes, limits::LAND_ORDER_BYTES_MAX)
    }
}

/// The word of somebody who vouches for a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LandSponsor {
    /// The key of whoever vouches.
    pub holder: PublicKey,
    /// The signature by `holder` over the world, the sim, the square and the claimer.
    pub signature: Signature,
}

impl LandSponsor {
    /// Vouches for the claim of a square.
    #[must_use]
    pub fn new(
        key: &dyn Sign,
        world: SimId,
        sim: SimId,
        square: Square,
        claimer: &PublicKey,
    ) -> Self {
        let signature = key.sign(&sponsored(world, sim, square, claimer));
        Self { holder: key.public(), signature }
    }

    /// Checks whether the sponsor vouches for this very claim.
    #[must_use]
    pub fn verify(
        &self,
        world: SimId,
        sim: SimId,
        square: Square,
        claimer: &PublicKey,
        scheme: &dyn Verify,
    ) -> bool {
        scheme.verify(&self.holder, &sponsored(world, sim, square, claimer), &self.signature)
    }
}

/// Returns what a sponsor signs.
fn sponsored(world: SimId, sim: SimId, square: Square, claimer: &PublicKey) -> [u8; 32] {
    let claim = wire::encode(&(world, sim, square, claimer));
    Digest::of("metatopia land sponsor v1", &claim).0
}
