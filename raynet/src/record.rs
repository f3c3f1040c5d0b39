//! Site records: what a site says of itself, signed by a beacon of its grant.

use core::fmt;

use metatopia_types::{
    Digest, Millis, PublicKey, Sign, Signature, SimId, Square, SquareError, Verify, wire,
};
use serde::{Deserialize, Serialize};

use crate::{LandGrant, TilePoint, limits, pace};

/// The name of a site in gossip: the first bytes of its sim's id. Two sims of one name cannot be told
/// apart there, and whoever is met first keeps the name; to find such a sim takes 2^64 tries.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SiteName(pub [u8; 8]);

impl SiteName {
    /// Returns the name of a sim.
    #[must_use]
    pub fn of(sim: SimId) -> Self {
        let mut name = [0; 8];
        name.copy_from_slice(&sim.bytes()[..8]);
        Self(name)
    }
}

impl fmt::Debug for SiteName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", u64::from_be_bytes(self.0))
    }
}

/// Which of the records of a site is newer: first by its grant, then by its own count.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct SiteEpoch {
    /// The epoch of the grant that names the beacon.
    pub grant: u64,
    /// The number of the record under that grant.
    pub record: u64,
}

/// A server that speaks for a site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteEndpoint {
    /// Its key in the overlay.
    pub peer: PublicKey,
    /// Where it is reached, in the form of the transport.
    pub address: String,
}

/// What people read about a site. Nobody proves it; the sim's own state does, to those who go there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteAbout {
    /// What the sim is called; at most [`limits::SITE_LABEL_BYTES_MAX`] bytes.
    pub label: String,
    /// The licence of what is built there, as an SPDX expression.
    pub licence: String,
}

/// What a site says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteRecord {
    /// The world that it is part of.
    pub world: SimId,
    /// The sim that it is.
    pub sim: SimId,
    /// The ground that it lies on.
    pub square: Square,
    /// Who speaks for it; at most [`limits::SITE_ENDPOINTS_MAX`].
    pub endpoints: Vec<SiteEndpoint>,
    /// How many people are there.
    pub clients: u32,
    /// What people read about it.
    pub about: SiteAbout,
    /// Its epoch. A site makes one record for each.
    pub epoch: SiteEpoch,
    /// When it ends, at most [`limits::RECORD_LIFE_MS_MAX`] ahead.
    pub expires: Millis,
}

/// A site record with the signature of a beacon.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignedSiteRecord {
    /// What the site says.
    pub record: SiteRecord,
    /// The beacon that signed it.
    pub beacon: PublicKey,
    /// The signature of that beacon.
    pub signature: Signature,
}

/// What gossip says of a site before anybody asks for its record. It proves nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteTip {
    /// The name of the site.
    pub name: SiteName,
    /// The epoch of its newest record.
    pub epoch: SiteEpoch,
    /// The first bytes of the record's digest: another record of the same epoch is evidence.
    pub mark: [u8; 4],
    /// Where it is said to be.
    pub square: Square,
}

/// Why a record is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SiteRecordError {
    /// It is of another world.
    #[error("it is a record of world {0}")]
    World(SimId),
    /// Its square is none.
    #[error("it names no square: {0}")]
    Square(#[from] SquareError),
    /// It has no endpoints, or too many.
    #[error("it has {0} endpoints, and may have 1 to {max}", max = limits::SITE_ENDPOINTS_MAX)]
    Endpoints(usize),
    /// An address is too long.
    #[error("an address has {0} bytes, and may have {max}", max = limits::SITE_ADDRESS_BYTES_MAX)]
    Address(usize),
    /// What it is called is too long.
    #[error("what it is called has {0} bytes, and may have {max}", max = limits::SITE_LABEL_BYTES_MAX)]
    Label(usize),
    /// The licence is too long.
    #[error("its licence has {0} bytes, and may have {max}", max = limits::SITE_LICENCE_BYTES_MAX)]
    Licence(usize),
    /// It ended already.
    #[error("it ended {0} ms ago")]
    Expired(u64),
    /// It ends too late, so it is from the future.
    #[error("it ends in {0} ms, and a record lives for {max} ms", max = limits::RECORD_LIFE_MS_MAX)]
    Future(u64),
    /// The map grants that square to nobody, or to another sim.
    #[error("the map does not grant this square to {0}")]
    Land(SimId),
    /// It is of an older or newer grant than the map's.
    #[error("it is of epoch {found} of the grant, and the map says {granted}")]
    GrantEpoch {
        /// What the record says.
        found: u64,
        /// What the certified map says.
        granted: u64,
    },
    /// The signer is no beacon of the grant.
    #[error("{0} is no beacon of this grant")]
    Beacon(PublicKey),
    /// The signature is not the beacon's.
    #[error("the signature is not that of {0}")]
    Signature(PublicKey),
}

impl SiteRecord {
    /// Returns what is signed.
    #[must_use]
    pub fn sign_bytes(&self) -> [u8; 32] {
        blake3::derive_key("metatopia site record v1", &wire::encode(self))
    }

    /// Signs the record with the key of a beacon.
    #[must_use]
    pub fn sign(self, beacon: &dyn Sign) -> SignedSiteRecord {
        let signature = beacon.sign(&self.sign_bytes());
        SignedSiteRecord { record: self, beacon: beacon.public(), signature }
    }
}

impl SignedSiteRecord {
    /// Returns the name of the site.
    #[must_use]
    pub fn name(&self) -> SiteName {
        SiteName::of(self.record.sim)
    }

    /// Returns the middle of the site's square; nothing if it is no square.
    #[must_use]
    pub fn middle(&self) -> Option<TilePoint> {
        TilePoint::middle(self.record.square)
    }

    /// Returns what gossip says of it.
    #[must_use]
    pub fn tip(&self) -> SiteTip {
        let SiteRecord { epoch, square, .. } = self.record;
        let [first, second, third, fourth, ..] = self.digest().0;
        SiteTip { name: self.name(), epoch, mark: [first, second, third, fourth], square }
    }

    /// Returns the digest of all of it, by which two are told apart.
    #[must_use]
    pub fn digest(&self) -> Digest {
        Digest::of("metatopia signed site record v1", &wire::encode(self))
    }

    /// Says whether this peer speaks for the site.
    #[must_use]
    pub fn is_spoken_for_by(&self, peer: &PublicKey) -> bool {
        self.record.endpoints.iter().any(|endpoint| endpoint.peer == *peer)
    }

    /// Checks what can be checked without the map.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn check_form(&self, world: SimId, now: Millis) -> Result<(), SiteRecordError> {
        self.check_shape(world)?;
        let expires = self.record.expires;
        if expires <= now {
            return Err(SiteRecordError::Expired(now.since(expires)));
        }
        let ahead = expires.since(now);
        if ahead > limits::RECORD_LIFE_MS_MAX.saturating_add(pace::CLOCK_SKEW_MS) {
            return Err(SiteRecordError::Future(ahead));
        }
        Ok(())
    }

    /// Checks what can be checked at any time.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn check_shape(&self, world: SimId) -> Result<(), SiteRecordError> {
        let SiteRecord { endpoints, about, square, .. } = &self.record;
        if self.record.world != world {
            return Err(SiteRecordError::World(self.record.world));
        }
        square.check()?;
        if !(1..=limits::SITE_ENDPOINTS_MAX).contains(&endpoints.len()) {
            return Err(SiteRecordError::Endpoints(endpoints.len()));
        }
        let longest = endpoints.iter().map(|endpoint| endpoint.address.len()).max().unwrap_or(0);
        if longest > limits::SITE_ADDRESS_BYTES_MAX {
            return Err(SiteRecordError::Address(longest));
        }
        if about.label.len() > limits::SITE_LABEL_BYTES_MAX {
            return Err(SiteRecordError::Label(about.label.len()));
        }
        if about.licence.len() > limits::SITE_LICENCE_BYTES_MAX {
            return Err(SiteRecordError::Licence(about.licence.len()));
        }
        Ok(())
    }

    /// Checks the record against the grant that a certified map has for its square.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn check_grant(
        &self,
        grant: Option<&LandGrant>,
        scheme: &dyn Verify,
    ) -> Result<(), SiteRecordError> {
        let SiteRecord { sim, square, epoch, .. } = &self.record;
        let grant = grant.filter(|grant| grant.sim == *sim && grant.square == *square);
        let grant = grant.ok_or(SiteRecordError::Land(*sim))?;
        if grant.epoch != epoch.grant {
            return Err(SiteRecordError::GrantEpoch { found: epoch.grant, granted: grant.epoch });
        }
        if !grant.beacons.contains(&self.beacon) {
            return Err(SiteRecordError::Beacon(self.beacon));
        }
        if !scheme.verify(&self.beacon, &self.record.sign_bytes(), &self.signature) {
            return Err(SiteRecordError::Signature(self.beacon));
        }
        Ok(())
    }
}
