//! The land office of the own world, shared by all who check proofs of its map.

use std::sync::{Arc, PoisonError, RwLock};

use metatopia_client::{LandOffice, LandOfficeError, ProvedMap};
use metatopia_protocol::ValidatorSetLink;
use metatopia_raynet::{ProveLand, Shelf, ShelfError};
use metatopia_types::{
    GenesisHead, Height, LandProof, LandProofError, Link, PlaneBlock, ProvedLand, SimId,
    ValidatorsId,
};

/// The land office of a world, which several tasks follow together.
#[derive(Debug)]
pub struct OfficeSets {
    world: SimId,
    head: GenesisHead,
    office: RwLock<LandOffice>,
}

impl OfficeSets {
    /// Begins with the first validators of a land office.
    ///
    /// # Errors
    /// When the head is another sim's, or founds no world.
    pub fn new(world: SimId, head: GenesisHead) -> Result<Self, LandOfficeError> {
        let office = LandOffice::new(world, head.clone())?;
        Ok(Self { world, head, office: RwLock::new(office) })
    }

    /// Returns the world.
    #[must_use]
    pub const fn world(&self) -> SimId {
        self.world
    }

    /// Returns the land office that this one carries on, if it is a successor.
    #[must_use]
    pub fn parent(&self) -> Option<SimId> {
        self.head.parent.map(|parent| parent.sim)
    }

    /// Returns the head of the land office's genesis.
    #[must_use]
    pub const fn head(&self) -> &GenesisHead {
        &self.head
    }

    fn read<T>(&self, by: impl FnOnce(&LandOffice) -> T) -> T {
        by(&self.office.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the height of the newest change of validators that is known; 0 if none is.
    #[must_use]
    pub fn newest(&self) -> Height {
        self.read(LandOffice::newest)
    }

    /// Says whether this set is known.
    #[must_use]
    pub fn knows(&self, set: ValidatorsId) -> bool {
        self.read(|office| office.knows(set))
    }

    /// Returns all changes of validators, for others to follow.
    #[must_use]
    pub fn links(&self) -> Vec<Link> {
        self.read(|office| office.links().to_vec())
    }

    /// Follows further changes. Older ones are passed over.
    ///
    /// # Errors
    /// As [`LandOffice::follow`].
    pub fn follow(&self, links: &[Link]) -> Result<(), LandOfficeError> {
        self.office.write().unwrap_or_else(PoisonError::into_inner).follow(links)
    }

    /// Follows changes as a server answers with them.
    ///
    /// # Errors
    /// As [`LandOffice::follow`].
    pub fn follow_answer(&self, links: Vec<ValidatorSetLink>) -> Result<(), LandOfficeError> {
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
        self.read(|office| office.prove(proof))
    }

    /// Returns the map that several proofs show together.
    ///
    /// # Errors
    /// As [`LandOffice::prove_map`].
    pub fn prove_map(&self, proofs: &[Vec<u8>]) -> Result<ProvedMap, LandProofError> {
        self.read(|office| office.prove_map(proofs.iter().map(Vec::as_slice)))
    }
}

impl ProveLand for OfficeSets {
    fn open(&self, proof: &[u8]) -> Result<Arc<Shelf>, ShelfError> {
        let ProvedLand { block, height, time, grants } =
            self.prove(proof).map_err(|_| ShelfError::Proof)?;
        let (world, proof) = (self.world, proof.to_vec());
        Ok(Arc::new(Shelf { world, block, height, time, grants, proof }))
    }

    fn about(&self, proof: &[u8]) -> Option<(PlaneBlock, Height)> {
        LandProof::decode(proof).ok()?.about()
    }
}

/// Returns the land office of a world that tests make up.
#[cfg(test)]
pub(crate) fn office_of_tests() -> OfficeSets {
    founded_by_tests(None)
}

/// Returns the proof of a map that is one shelf, at this height, by a land office that tests made up.
#[cfg(test)]
pub(crate) fn land_proof_of_tests(
    office: &OfficeSets,
    grants: &[metatopia_types::LandGrant],
    (height, time): (Height, metatopia_types::Millis),
) -> Vec<u8> {
    use metatopia_types::{
        Certificate, Digest, Header, Root, Round, Sign as _, SigningKey, StateProof, Vote,
        VoteKind, leaf_hash, limits::ROOT_LAG, merkle, shelf_key, wire,
    };
    let (key, voter) = (shelf_key(&[]), SigningKey::from_seed([3; 32]));
    let content = wire::encode(&grants.to_vec());
    let leaf = leaf_hash(&key, &Digest(*blake3::hash(&content).as_bytes()));
    let tree = merkle::Tree::of(vec![leaf]);
    let set = office.head().check().expect("a head of tests");
    let (height, round) = (height.plus(ROOT_LAG), Round(0));
    let (root, validators) = (Root(tree.root()), set.id());
    let sim = office.world();
    let header = Header { sim, height, time, root, validators, ..Header::unstated() };
    let (kind, by) = (VoteKind::Precommit, voter.public());
    let vote = Vote { kind, height, round, header: Some(header.id()), voter: by };
    let signatures = vec![(by, vote.sign(sim, &voter).signature)];
    let certificate = Certificate { height, round, header: header.id(), signatures };
    let place = tree.proof(0).expect("the only leaf");
    LandProof { header, certificate, shelf: StateProof { key, content, place } }.encode()
}

/// Returns a land office that carries on this one.
#[cfg(test)]
pub(crate) fn successor_of_tests(office: &OfficeSets) -> OfficeSets {
    let root = metatopia_types::Root(metatopia_types::Digest::ZERO);
    let (sim, height) = (office.world(), Height(9));
    founded_by_tests(Some(metatopia_types::HeadParent { sim, height, root }))
}

#[cfg(test)]
fn founded_by_tests(parent: Option<metatopia_types::HeadParent>) -> OfficeSets {
    use metatopia_sim::Genesis;
    use metatopia_types::{OfficeFounding, PublicKey, Sign as _, SigningKey, Square};
    let key = |n| SigningKey::from_seed([n; 32]).public();
    let (holder, beacons): (PublicKey, _) = (key(1), vec![key(2)]);
    let square = Square { x: 0, y: 0, doublings: 2 };
    let genesis = Genesis {
        office: Some(OfficeFounding { square, holder, beacons }),
        admins: [holder].into(),
        validators: [(key(3), Default::default())].into(),
        ..Genesis::empty()
    };
    let head = GenesisHead { parent, ..genesis.head() };
    OfficeSets::new(head.id(), head).expect("it founds a world")
}
