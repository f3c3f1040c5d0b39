//! Succession: takes the last proven state of a sim whose servers are gone, and founds a sim that begins
//! with it.

use std::collections::{BTreeMap, BTreeSet};

use metatopia_consensus::{Base, JoinPack, JoinPackError};
use metatopia_sim::{ENGINE, ForkJoin, Genesis, Parent, RULES, World};
use metatopia_store::{IdentityError, ReadDisk, ScanError, read_identity, scan};
use metatopia_types::{
    Ed25519, Height, NodeContact, OfficeFounding, PublicKey, SimId, Site, Trust, ValidatorSetError,
    limits::ROOT_LAG, wire::DecodeError,
};

use crate::{
    SimStart,
    kept_state::{KeptStateError, ServerFiles},
};

/// The last state of a sim, as a successor begins with it.
#[derive(Debug)]
pub struct LastState {
    /// The base of agreement with this state.
    pub base: Base,
    /// The state to carry on.
    pub world: World,
    /// The proof that the root is the sim's, if there is one.
    pub proof: Option<JoinPack>,
    /// The picture of the sim, which no state holds; empty if the parent's genesis is not at hand.
    pub picture: Vec<u8>,
}

/// The reason why a proof does not show that a state is the parent's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParentProofError {
    /// The proof is malformed.
    #[error("it is malformed: {0}")]
    Decode(#[from] DecodeError),
    /// The chain of certificates does not hold.
    #[error(transparent)]
    Chain(#[from] JoinPackError),
    /// The genesis is that of another sim.
    #[error("the genesis is that of another sim than the parent")]
    OtherSim,
    /// The genesis names no set of validators.
    #[error("the genesis names no set of validators: {0}")]
    Validators(#[from] ValidatorSetError),
    /// The proof is for another state.
    #[error("it is for another state than the parent's")]
    OtherState,
}

/// The reason why a log gives no state for a successor.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SucceedError {
    /// The identity of the directory is damaged.
    #[error(transparent)]
    Identity(#[from] IdentityError),
    /// The genesis is of another sim than the log.
    #[error("the genesis is that of sim {0}")]
    OtherGenesis(SimId),
    /// The log is damaged.
    #[error(transparent)]
    Scan(#[from] ScanError),
    /// The log is too short: the header of a turn proves the state two turns before it.
    #[error("{tip} turns: too few to prove a state")]
    TooFewTurns {
        /// The last decided turn.
        tip: Height,
    },
    /// The state could not be computed.
    #[error(transparent)]
    State(#[from] KeptStateError),
    /// The turns that prove the state are missing.
    #[error("its last turns are missing")]
    NoProof,
    /// The proof of the state does not hold.
    #[error("its certificates: {0}")]
    Proof(#[from] ParentProofError),
}

/// Returns the last state that the log of a server proves.
///
/// # Errors
/// See [`SucceedError`].
pub fn last_state(
    disk: &dyn ReadDisk,
    start: &SimStart,
    exec: &dyn ForkJoin,
) -> Result<LastState, SucceedError> {
    let sim = start.genesis.id();
    if read_identity(disk)?.is_some_and(|identity| identity.sim != sim) {
        return Err(SucceedError::OtherGenesis(sim));
    }
    let index = scan(disk, sim)?.index;
    let server = ServerFiles { start, disk, index: &index, exec };
    let tip = server.tip();
    let proven = tip.minus(ROOT_LAG).filter(|height| *height > Height(0));
    let kept = server.after(proven.ok_or(SucceedError::TooFewTurns { tip })?)?;
    let proof = kept.proof().ok_or(SucceedError::NoProof)?;
    check_proof(&parent_of(&kept.world, Some(&proof)), &start.genesis)?;
    let picture = start.genesis.picture.clone();
    Ok(LastState { base: kept.base(false), world: kept.world, proof: Some(proof), picture })
}

impl LastState {
    /// Returns the state as the genesis of a successor names it.
    #[must_use]
    pub fn parent(&self) -> Parent {
        parent_of(&self.world, self.proof.as_ref())
    }

    /// Returns the genesis of a successor. Rules, licences and site are the parent's; objects, packages and
    /// lands come with the state. With these beacons the servers of a land office sign where they are.
    #[must_use]
    pub fn successor(
        &self,
        name: String,
        validators: BTreeMap<PublicKey, NodeContact>,
        admins: BTreeSet<PublicKey>,
        beacons: Vec<PublicKey>,
    ) -> Genesis {
        let charter = self.world.charter();
        let (site, office) = self.land(&validators, &admins, beacons);
        Genesis {
            name,
            engine: ENGINE,
            rules: RULES,
            parameters: charter.parameters.clone(),
            admins,
            validators,
            packages: BTreeMap::new(),
            objects: Vec::new(),
            joints: Vec::new(),
            lands: Vec::new(),
            floor_plan: charter.floor_plan.clone(),
            introduction: charter.introduction.clone(),
            picture: self.picture.clone(),
            licence: charter.licence.clone(),
            asset_licence: charter.asset_licence.clone(),
            site,
            office,
            parent: Some(self.parent()),
        }
    }

    /// Returns where the successor lies: where its parent did. That of a land office is one as well, so it
    /// founds a world with the grants of the old one.
    fn land(
        &self,
        validators: &BTreeMap<PublicKey, NodeContact>,
        admins: &BTreeSet<PublicKey>,
        beacons: Vec<PublicKey>,
    ) -> (Option<Site>, Option<OfficeFounding>) {
        let Some(site) = self.world.charter().site.filter(|site| site.world == self.world.sim())
        else {
            return (self.world.charter().site, None);
        };
        let holder = admins.iter().chain(validators.keys()).next().copied();
        let square = site.square;
        let office = holder.map(|holder| OfficeFounding { square, holder, beacons });
        (None, office)
    }
}

fn parent_of(world: &World, proof: Option<&JoinPack>) -> Parent {
    Parent {
        sim: world.sim(),
        height: world.height(),
        root: world.root(),
        proof: proof.map(JoinPack::encode).unwrap_or_default(),
    }
}

/// Checks that the parent's servers signed for its root. The genesis names the first of them.
///
/// # Errors
/// See [`ParentProofError`].
pub fn check_proof(parent: &Parent, genesis: &Genesis) -> Result<(), ParentProofError> {
    if genesis.id() != parent.sim {
        return Err(ParentProofError::OtherSim);
    }
    let pack = JoinPack::decode(&parent.proof)?;
    let trust = Trust { height: Height(0), validators: genesis.first_validators()? };
    let checkpoint = pack.verify(parent.sim, &trust, &Ed25519)?;
    let same = checkpoint.height == parent.height && checkpoint.root == parent.root;
    if same { Ok(()) } else { Err(ParentProofError::OtherState) }
}

#[cfg(test)]
mod tests {
    use metatopia_sim::Serial;

    use super::*;
    use crate::fixture::{TURNS, decided_records, genesis, memory_log, start_of, steps};

    fn last_of(records: usize) -> Result<LastState, SucceedError> {
        let disk = memory_log(&decided_records()[..records]);
        last_state(&disk, &start_of(genesis()), &Serial)
    }

    #[test]
    fn the_last_proven_state_is_two_turns_before_the_end_and_begins_a_successor() {
        let last = last_of(2 * TURNS).unwrap();
        let height = TURNS as u64 - ROOT_LAG;
        assert_eq!(last.world.height(), Height(height));
        assert_eq!(last.world.root(), steps()[height as usize - 1].world.root());
        assert_eq!(check_proof(&last.parent(), &genesis()), Ok(()));
        let validators = genesis().validators;
        let (name, none) = ("plaza again".to_owned(), BTreeSet::new());
        let successor = last.successor(name, validators, none, Vec::new());
        let world = World::succeed(&successor, &last.world, &crate::tools()).unwrap();
        assert_eq!((world.height(), world.sim()), (Height(0), successor.id()));
        assert_eq!(world.objects().count(), last.world.objects().count());
    }

    #[test]
    fn a_proof_of_another_state_or_sim_does_not_hold() {
        let mut parent = last_of(2 * TURNS).unwrap().parent();
        let mut other = genesis();
        other.name = "elsewhere".into();
        assert_eq!(check_proof(&parent, &other), Err(ParentProofError::OtherSim));
        parent.height = parent.height.plus(1);
        assert_eq!(check_proof(&parent, &genesis()), Err(ParentProofError::OtherState));
        let format = parent.proof[0];
        parent.proof[0] = 77;
        let unknown = DecodeError::Format { found: 77, known: format };
        assert_eq!(check_proof(&parent, &genesis()), Err(ParentProofError::Decode(unknown)));
        parent.proof[0] = format;
        parent.proof.pop();
        let malformed = check_proof(&parent, &genesis());
        assert!(matches!(malformed, Err(ParentProofError::Decode(_))), "{malformed:?}");
    }

    #[test]
    fn the_successor_of_a_land_office_is_one_on_the_same_square() {
        let square = metatopia_types::Square { x: -2, y: 4, doublings: 0 };
        let validators = genesis().validators;
        let key = *validators.keys().next().unwrap();
        let mut founding = Genesis {
            name: "office".to_owned(),
            validators: validators.clone(),
            licence: "AGPL-3.0-or-later".to_owned(),
            asset_licence: "CC0-1.0".to_owned(),
            office: Some(OfficeFounding { square, holder: key, beacons: vec![key] }),
            ..Genesis::empty()
        };
        founding.parameters.ground = metatopia_sim::Area::of_square(square);
        let world = start_of(founding).first_state.unwrap();
        let set = world.validators(Height(1)).unwrap();
        let base = Base::genesis(metatopia_types::Millis(0), world.root(), set);
        let last = LastState { base, world, proof: None, picture: Vec::new() };

        let admins = BTreeSet::from([PublicKey([9; 32])]);
        let (name, beacons) = ("office again".to_owned(), vec![PublicKey([8; 32])]);
        let successor = last.successor(name, validators, admins, beacons.clone());

        let office = successor.office.clone().unwrap();
        assert_eq!((successor.site, office.square), (None, square));
        // Keys of servers stood there, with which no record of a site is signed: nobody found the new office.
        assert_eq!((office.holder, office.beacons), (PublicKey([9; 32]), beacons));
        let world = World::succeed(&successor, &last.world, &crate::tools()).unwrap();
        assert_eq!(world.grants().map(|grant| grant.sim).collect::<Vec<_>>(), [successor.id()]);
    }

    #[test]
    fn a_log_of_two_turns_proves_no_state() {
        let error = last_of(2 * 2).unwrap_err();
        assert_eq!(error, SucceedError::TooFewTurns { tip: Height(2) });
        assert_eq!(last_of(2 * 3).unwrap().world.height(), Height(1));
    }

    #[test]
    fn a_genesis_of_another_sim_is_refused() {
        let mut other = genesis();
        other.name = "elsewhere".into();
        let (start, disk) = (start_of(other), memory_log(&decided_records()));
        let error = last_state(&disk, &start, &Serial).unwrap_err();
        assert_eq!(error, SucceedError::OtherGenesis(start.genesis.id()));
    }
}
