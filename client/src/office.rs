//! The land office of a world, as far as its validators are followed, and what their signatures prove
//! about the map.

use std::{collections::BTreeMap, fmt};

use metatopia_types::{
    Ed25519, GenesisHead, GenesisHeadError, Height, LandGrant, LandProof, LandProofError, Link,
    LinkError, Millis, ProvedLand, SimId, TilePoint, ValidatorSet, ValidatorSetError, ValidatorsId,
    follow,
};

/// The most changes of validators that are followed. With more, the oldest proofs are of no use any more,
/// and whoever comes anew begins at the genesis of the land office all the same.
pub const OFFICE_LINKS_MAX: usize = 1_024;

/// The land office of a world. The world's id names its head, and the head names the first validators, so
/// nobody has to be trusted.
#[derive(Clone)]
pub struct LandOffice {
    world: SimId,
    head: GenesisHead,
    sets: BTreeMap<ValidatorsId, ValidatorSet>,
    links: Vec<Link>,
    /// The newest change, and who votes after it.
    newest: (Height, ValidatorsId),
}

/// Says why a head is not of a land office, or a change is not believed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LandOfficeError {
    /// The head is of another sim.
    #[error("it is the head of sim {found}, and the world is {world}")]
    OtherWorld {
        /// The world that was meant.
        world: SimId,
        /// The sim whose head it is.
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

impl fmt::Debug for LandOffice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LandOffice of {}", self.world)
    }
}

impl LandOffice {
    /// Begins with the first validators of a land office.
    ///
    /// # Errors
    /// When the head is another sim's, or founds no world.
    pub fn new(world: SimId, head: GenesisHead) -> Result<Self, LandOfficeError> {
        let found = head.id();
        if found != world {
            return Err(LandOfficeError::OtherWorld { world, found });
        }
        if head.office.is_none() {
            return Err(LandOfficeError::NoOffice(world));
        }
        let first = head.check()?;
        let newest = (Height(0), first.id());
        let sets = BTreeMap::from([(first.id(), first)]);
        Ok(Self { world, head, sets, links: Vec::new(), newest })
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

    /// Returns the height of the newest change of validators that is known; 0 if none is.
    #[must_use]
    pub const fn newest(&self) -> Height {
        self.newest.0
    }

    /// Says whether this set is known.
    #[must_use]
    pub fn knows(&self, set: ValidatorsId) -> bool {
        self.sets.contains_key(&set)
    }

    /// Returns all changes of validators, for others to follow.
    #[must_use]
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// Follows further changes. Older ones are passed over.
    ///
    /// # Errors
    /// At the first change that those who voted before it have not certified. Those before it count.
    pub fn follow(&mut self, links: &[Link]) -> Result<(), LandOfficeError> {
        for link in links {
            let (height, id) = self.newest;
            if link.header.height <= height {
                continue;
            }
            if self.links.len() >= OFFICE_LINKS_MAX {
                return Err(LandOfficeError::Many);
            }
            let members = self.sets.get(&id).expect("the newest set is kept");
            let after = Height(link.header.height.0.saturating_add(1));
            let next = follow([link], self.world, (height, members), after, &Ed25519)?;
            self.newest = (link.header.height, next.id());
            self.sets.insert(next.id(), next);
            self.links.push(link.clone());
        }
        Ok(())
    }

    /// Returns what a proof shows.
    ///
    /// # Errors
    /// See [`LandProofError`].
    pub fn prove(&self, proof: &[u8]) -> Result<ProvedLand, LandProofError> {
        LandProof::decode(proof)?.open(self.world, |id| self.sets.get(&id), &Ed25519)
    }

    /// Returns the map that several proofs show together. Shelves of two ages may be about the same ground:
    /// the newest one says who holds it.
    ///
    /// # Errors
    /// See [`LandProofError`]: of the first proof that does not hold.
    pub fn prove_map<'a>(
        &self,
        proofs: impl IntoIterator<Item = &'a [u8]>,
    ) -> Result<ProvedMap, LandProofError> {
        let shelves = proofs.into_iter().map(|proof| self.prove(proof));
        shelves.collect::<Result<Vec<_>, _>>().map(ProvedMap::of)
    }
}

/// A part of a world's map, all of which was proved.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProvedMap {
    /// What is granted, in the order of the squares.
    pub grants: Vec<LandGrant>,
    /// The time of the oldest shelf that alone says who holds some ground; none of an empty map.
    pub oldest: Option<Millis>,
    /// The height of that shelf.
    pub height: Option<Height>,
}

impl ProvedMap {
    fn of(shelves: Vec<ProvedLand>) -> Self {
        let holds = |shelf: &ProvedLand, grant: &LandGrant| {
            let corner = TilePoint::corner(grant.square);
            let about = shelves.iter().filter(|other| other.block.contains(corner));
            about.map(|other| other.height).max() == Some(shelf.height)
        };
        let of = |shelf| {
            let shelf: &ProvedLand = shelf;
            shelf.grants.iter().filter(move |grant| holds(shelf, grant)).cloned()
        };
        let mut grants: Vec<LandGrant> = shelves.iter().flat_map(of).collect();
        grants.sort_by_key(|grant| grant.square);
        grants.dedup();
        let said = |shelf: &&ProvedLand| {
            let newer = shelves.iter().filter(|other| other.height > shelf.height);
            !shelf.block.is_covered_by(newer.map(|other| other.block))
        };
        let oldest = shelves.iter().filter(said).map(|shelf| (shelf.time, shelf.height)).min();
        let (oldest, height) = oldest.unzip();
        Self { grants, oldest, height }
    }
}

#[cfg(test)]
mod tests {
    use metatopia_types::{
        Certificate, Digest, Header, OfficeFounding, PlaneBlock, Round, Sign as _, SigningKey,
        Square, Validator, Vote, VoteKind,
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
        assert!(LandOffice::new(world, office.clone()).is_ok());
        let other = LandOffice::new(plain.id(), office).unwrap_err();
        assert_eq!(other, LandOfficeError::OtherWorld { world: plain.id(), found: world });
        let none = LandOffice::new(plain.id(), plain.clone()).unwrap_err();
        assert_eq!(none, LandOfficeError::NoOffice(plain.id()));
    }

    #[test]
    fn validators_are_followed_by_the_signatures_of_those_before_them() {
        let office = head(true);
        let world = office.id();
        let mut sets = LandOffice::new(world, office).unwrap();
        let good = [link(world, 5, (3, 4, 3)), link(world, 9, (4, 5, 4))];
        sets.follow(&good).unwrap();
        assert_eq!((sets.newest(), sets.links().len()), (Height(9), 2));
        assert!([3, 4, 5].iter().all(|n| sets.knows(set(*n).id())));
        // Whoever tells old changes again, or all of them, changes nothing.
        sets.follow(&good).unwrap();
        assert_eq!(sets.links().len(), 2);

        let forged = sets.follow(&[link(world, 12, (5, 6, 6))]).unwrap_err();
        assert!(matches!(forged, LandOfficeError::Link(LinkError::Certificate { .. })), "{forged}");
        let skipped = sets.follow(&[link(world, 12, (7, 6, 7))]).unwrap_err();
        assert_eq!(skipped, LandOfficeError::Link(LinkError::Missing(Height(12))));
        assert!(!sets.knows(set(6).id()));
    }

    /// A shelf of the whole plane, or of its first quarter, at this height.
    fn shelf(quarter: bool, height: u64, grants: Vec<LandGrant>) -> ProvedLand {
        let plane = PlaneBlock::PLANE;
        let block = if quarter { PlaneBlock::around(TilePoint { x: 0, y: 0 }, 31) } else { plane };
        ProvedLand { block, height: Height(height), time: Millis(height * 50), grants }
    }

    fn grant(x: i32, y: i32, holder: u8) -> LandGrant {
        LandGrant {
            square: Square { x, y, doublings: 2 },
            sim: SimId(Digest([holder; 32])),
            holder: key(holder).public(),
            beacons: vec![key(holder).public()],
            epoch: 1,
            until: Millis(9),
            shown: Height(0),
        }
    }

    #[test]
    fn the_newest_shelf_about_a_square_says_who_holds_it() {
        let (old, gone, far) = (grant(8, 8, 1), grant(16, 8, 2), grant(-8, -8, 3));
        let new = grant(8, 8, 4);
        let shelves = vec![
            shelf(false, 5, vec![old, gone, far.clone()]),
            shelf(true, 9, vec![new.clone()]),
            shelf(true, 9, vec![new.clone()]),
        ];
        let map = ProvedMap::of(shelves);
        assert_eq!(map.grants, [far, new]);
        assert_eq!((map.oldest, map.height), (Some(Millis(250)), Some(Height(5))));
        assert_eq!(ProvedMap::of(Vec::new()), ProvedMap::default());
    }

    /// The first shelf of a world was about the whole plane. Once it was cut, that one stayed for ever, and the
    /// map was told to be as old as it.
    #[test]
    fn a_shelf_whose_ground_newer_ones_share_makes_no_map_old() {
        let quarter = |x, y, height| {
            let block = PlaneBlock::around(TilePoint { x, y }, 31);
            ProvedLand { block, ..shelf(true, height, Vec::new()) }
        };
        let quarters = [quarter(0, 0, 9), quarter(-1, 0, 7), quarter(0, -1, 8), quarter(-1, -1, 9)];
        let shelves = |count| {
            let plane = shelf(false, 5, Vec::new());
            [plane].into_iter().chain(quarters.iter().take(count).cloned()).collect()
        };
        assert_eq!(ProvedMap::of(shelves(4)).height, Some(Height(7)));
        assert_eq!(
            ProvedMap::of(shelves(3)).height,
            Some(Height(5)),
            "one quarter is of the plane"
        );
    }

    #[test]
    fn bytes_that_are_no_proof_open_no_shelf() {
        let office = head(true);
        let sets = LandOffice::new(office.id(), office).unwrap();
        for bytes in [Vec::new(), vec![0; 100], vec![0xff; 4_001]] {
            assert!(sets.prove(&bytes).is_err());
        }
    }

    #[test]
    fn more_changes_than_are_followed_are_refused() {
        let office = head(true);
        let world = office.id();
        let mut sets = LandOffice::new(world, office).unwrap();
        let many: Vec<Link> = (0..=OFFICE_LINKS_MAX as u64)
            .map(|n| link(world, n + 1, if n % 2 == 0 { (3, 4, 3) } else { (4, 3, 4) }))
            .collect();
        assert_eq!(sets.follow(&many), Err(LandOfficeError::Many));
        assert_eq!(sets.links().len(), OFFICE_LINKS_MAX);
    }
}
