//! The validators of a world's land office, and what their signatures prove about the map.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, PoisonError, RwLock},
};

use metatopia_protocol::ValidatorSetLink;
use metatopia_raynet::{ProveLand, Shelf, ShelfError};
use metatopia_types::{
    Ed25519, GenesisHead, GenesisHeadError, Height, LandProof, LandProofError, Link, LinkError,
    ProvedLand, SimId, ValidatorSet, ValidatorSetError, ValidatorsId, follow,
};

/// The most changes of validators that are followed. With more, the oldest proofs are of no use any more,
/// and whoever comes anew begins at the genesis of the land office all the same.
pub const OFFICE_LINKS_MAX: usize = 1_024;

/// The land office of a world, as far as its validators are followed. The world's id names its head, and
/// the head names the first validators, so nobody has to be trusted.
pub struct OfficeSets {
    world: SimId,
    head: GenesisHead,
    followed: RwLock<FollowedSets>,
}

#[derive(Debug, Clone)]
struct FollowedSets {
    sets: BTreeMap<ValidatorsId, ValidatorSet>,
    links: Vec<Link>,
    /// The newest change, and who votes after it.
    newest: (Height, ValidatorsId),
}

/// Says why a head is not of a land office, or a change is not believed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OfficeSetsError {
    /// The head is of another sim.
    #[error("it is the head of sim {found}, and the world is {world}")]
    OtherWorld {
        /// The world that was meant.
        world: SimId,
        /// Whose head it is.
        found: SimId,
    },
    /// The sim founds no world.
    #[error("sim {0} is no land office")]
    NoOffice(SimId),
    /// The head is malformed.
    #[error(transparent)]
    Head(#[from] GenesisHeadError),
    /// A change of validators is not certified.
    #[error(transparent)]
    Link(#[from] LinkError),
    /// A set is malformed.
    #[error(transparent)]
    Set(#[from] ValidatorSetError),
    /// There are too many changes.
    #[error("more than {OFFICE_LINKS_MAX} changes of validators")]
    Many,
}

impl fmt::Debug for OfficeSets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OfficeSets of {}", self.world)
    }
}

impl OfficeSets {
    /// Begins with the first validators of a land office.
    ///
    /// # Errors
    /// When the head is another sim's, or founds no world.
    pub fn new(world: SimId, head: GenesisHead) -> Result<Self, OfficeSetsError> {
        let found = head.id();
        if found != world {
            return Err(OfficeSetsError::OtherWorld { world, found });
        }
        if head.office.is_none() {
            return Err(OfficeSetsError::NoOffice(world));
        }
        let first = head.check()?;
        let newest = (Height(0), first.id());
        let sets = BTreeMap::from([(first.id(), first)]);
        let followed = RwLock::new(FollowedSets { sets, links: Vec::new(), newest });
        Ok(Self { world, head, followed })
    }

    /// Returns the world.
    #[must_use]
    pub const fn world(&self) -> SimId {
        self.world
    }

    /// Returns the head of the land office's genesis.
    #[must_use]
    pub const fn head(&self) -> &GenesisHead {
        &self.head
    }

    fn read<T>(&self, by: impl FnOnce(&FollowedSets) -> T) -> T {
        by(&self.followed.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the height of the newest change of validators that is known; 0 if none is.
    #[must_use]
    pub fn newest(&self) -> Height {
        self.read(|followed| followed.newest.0)
    }

    /// Says whether this set is known.
    #[must_use]
    pub fn knows(&self, set: ValidatorsId) -> bool {
        self.read(|followed| followed.sets.contains_key(&set))
    }

    /// Returns all changes of validators, for others to follow.
    #[must_use]
    pub fn links(&self) -> Vec<Link> {
        self.read(|followed| followed.links.clone())
    }

    /// Follows further changes. Older ones are passed over.
    ///
    /// # Errors
    /// At the first change that those who voted before it have not certified. Those before it count.
    pub fn follow(&self, links: &[Link]) -> Result<(), OfficeSetsError> {
        let mut followed = self.followed.write().unwrap_or_else(PoisonError::into_inner);
        for link in links {
            let (height, id) = followed.newest;
            if link.header.height <= height {
                continue;
            }
            if followed.links.len() >= OFFICE_LINKS_MAX {
                return Err(OfficeSetsError::Many);
            }
            let members = followed.sets.get(&id).expect("the newest set is kept");
            let after = Height(link.header.height.0.saturating_add(1));
            let next = follow([link], self.world, (height, members), after, &Ed25519)?;
            followed.newest = (link.header.height, next.id());
            followed.sets.insert(next.id(), next);
            followed.links.push(link.clone());
        }
        Ok(())
    }

    /// Follows changes as a server answers with them.
    ///
    /// # Errors
    /// As [`OfficeSets::follow`].
    pub fn follow_answer(&self, links: Vec<ValidatorSetLink>) -> Result<(), OfficeSetsError> {
        let link = |ValidatorSetLink { header, certificate, next }: ValidatorSetLink| {
            let next = next.members().to_vec();
            Link { header, certificate, next }
        };
        self.follow(&links.into_iter().map(link).collect::<Vec<_>>())
    }

    /// Returns what a proof shows.
    ///
    /// # Errors
    /// See [`LandProofError`].
    pub fn prove(&self, proof: &[u8]) -> Result<ProvedLand, LandProofError> {
        let decoded = LandProof::decode(proof)?;
        self.read(|followed| decoded.open(self.world, |id| followed.sets.get(&id), &Ed25519))
    }
}

impl ProveLand for OfficeSets {
    fn open(&self, proof: &[u8]) -> Result<Arc<Shelf>, ShelfError> {
        let ProvedLand { block, height, time, grants } =
            self.prove(proof).map_err(|_| ShelfError::Proof)?;
        let (world, proof) = (self.world, proof.to_vec());
        Ok(Arc::new(Shelf { world, block, height, time, grants, proof }))
    }
}

#[cfg(test)]
mod tests {
    use metatopia_types::{
        Certificate, Digest, Header, OfficeFounding, Round, Sign as _, SigningKey, Square,
        Validator, Vote, VoteKind,
    };

    use super::*;

    fn key(n: u8) -> SigningKey {
        SigningKey::from_seed([n; 32])
    }

    fn head(office: bool) -> GenesisHead {
        let square = Square { x: 0, y: 0, doublings: 2 };
        let founding =
            OfficeFounding { square, holder: key(1).public(), beacons: vec![key(2).public()] };
        GenesisHead {
            engine: 1,
            rules: Digest::ZERO,
            site: None,
            office: office.then_some(founding),
            parent: None,
            admins: vec![key(1).public()],
            validators: vec![key(3).public()],
            rest: Digest::ZERO,
        }
    }

    fn set(n: u8) -> ValidatorSet {
        let member = Validator { key: key(n).public(), power: 1 };
        ValidatorSet::new(vec![member], |_| true).unwrap()
    }

    /// A change at this height from the validator `old` to `new`, signed by `signer`.
    fn link(world: SimId, height: u64, (old, new, signer): (u8, u8, u8)) -> Link {
        let (validators, next_validators) = (set(old).id(), set(new).id());
        let height = Height(height);
        let header =
            Header { sim: world, height, validators, next_validators, ..Header::unstated() };
        let (round, id, voter) = (Round(0), header.id(), key(signer).public());
        let vote = Vote { kind: VoteKind::Precommit, height, round, header: Some(id), voter };
        let signatures = vec![(voter, vote.sign(world, &key(signer)).signature)];
        let certificate = Certificate { height, round, header: id, signatures };
        Link { header, certificate, next: set(new).members().to_vec() }
    }

    #[test]
    fn a_land_office_is_believed_by_its_id_alone() {
        let (office, plain) = (head(true), head(false));
        let world = office.id();
        assert!(OfficeSets::new(world, office.clone()).is_ok());
        let other = OfficeSets::new(plain.id(), office).unwrap_err();
        assert_eq!(other, OfficeSetsError::OtherWorld { world: plain.id(), found: world });
        let none = OfficeSets::new(plain.id(), plain.clone()).unwrap_err();
        assert_eq!(none, OfficeSetsError::NoOffice(plain.id()));
    }

    #[test]
    fn validators_are_followed_by_the_signatures_of_those_before_them() {
        let office = head(true);
        let world = office.id();
        let sets = OfficeSets::new(world, office).unwrap();
        let good = [link(world, 5, (3, 4, 3)), link(world, 9, (4, 5, 4))];
        sets.follow(&good).unwrap();
        assert_eq!((sets.newest(), sets.links().len()), (Height(9), 2));
        assert!([3, 4, 5].iter().all(|n| sets.knows(set(*n).id())));
        // Whoever tells old changes again, or all of them, changes nothing.
        sets.follow(&good).unwrap();
        assert_eq!(sets.links().len(), 2);

        let forged = sets.follow(&[link(world, 12, (5, 6, 6))]).unwrap_err();
        assert!(matches!(forged, OfficeSetsError::Link(LinkError::Certificate { .. })), "{forged}");
        let skipped = sets.follow(&[link(world, 12, (7, 6, 7))]).unwrap_err();
        assert_eq!(skipped, OfficeSetsError::Link(LinkError::Missing(Height(12))));
        assert!(!sets.knows(set(6).id()));
    }

    #[test]
    fn bytes_that_are_no_proof_open_no_shelf() {
        let office = head(true);
        let sets = OfficeSets::new(office.id(), office).unwrap();
        for bytes in [Vec::new(), vec![0; 100], vec![0xff; 4_001]] {
            assert_eq!(sets.open(&bytes), Err(ShelfError::Proof));
        }
    }

    #[test]
    fn more_changes_than_are_followed_are_refused() {
        let office = head(true);
        let world = office.id();
        let sets = OfficeSets::new(world, office).unwrap();
        let many: Vec<Link> = (0..=OFFICE_LINKS_MAX as u64)
            .map(|n| link(world, n + 1, if n % 2 == 0 { (3, 4, 3) } else { (4, 3, 4) }))
            .collect();
        assert_eq!(sets.follow(&many), Err(OfficeSetsError::Many));
        assert_eq!(sets.links().len(), OFFICE_LINKS_MAX);
    }
}
