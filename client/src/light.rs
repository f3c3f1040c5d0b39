//! The light client: believes headers that more than two thirds of the right servers signed.

use alloc::{boxed::Box, sync::Arc, vec::Vec};

use metatopia_protocol::ValidatorSetLink;
use metatopia_types::{
    ActId, Certificate, CertificateError, Header, Height, LandProof, LandProofError, Outcome,
    ProvedLand, Receipt, ReceiptError, SignedEnvelope, SimId, StateProof, StateProofError,
    TilePoint, ValidatorSet, ValidatorSetError, Verify, limits, wire,
};

use crate::{
    TrustCheckpoint,
    sight::{Disproof, SightError},
};

/// Sets that are remembered; older receipts are asked for anew. 1,024 sets of 31 take 1.2 MiB.
pub const SETS_MAX: usize = 1_024;

/// Follows one sim's validators from a set it trusts.
#[derive(Clone)]
pub struct LightClient {
    sim: SimId,
    scheme: Arc<dyn Verify>,
    sets: Vec<(Height, ValidatorSet)>,
    checkpoint: Option<TrustCheckpoint>,
}

impl core::fmt::Debug for LightClient {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "LightClient of {} with {} sets", self.sim, self.sets.len())
    }
}

/// Why something is not believed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Distrust {
    /// The header is of another sim.
    #[error("the header is of sim {0}")]
    OtherSim(SimId),
    /// Older than the first trusted set.
    #[error("height {0} is older than what this client trusts")]
    TooOld(Height),
    /// Older than the checkpoint, where what is so by now was asked for.
    #[error("height {0} is from before the checkpoint that this client began with")]
    Behind(Height),
    /// The header names validators that are not the known ones of that height.
    #[error("height {0} has validators that this client does not know")]
    OtherValidators(Height),
    /// The certificate is for another header.
    #[error("the certificate of height {0} is for another header")]
    OtherHeader(Height),
    /// The next set is malformed.
    #[error("the set after height {0} is malformed: {1}")]
    BadSet(Height, ValidatorSetError),
    /// The next set is not the one that the header names.
    #[error("the set offered after height {0} is not the one its header names")]
    OtherSet(Height),
    /// A change that is older than the newest known.
    #[error("the set change of height {0} is not newer than the known ones")]
    NotNewer(Height),
    /// The certificate proves nothing.
    #[error("certificate: {0}")]
    Certificate(#[from] CertificateError),
    /// The receipt proves nothing.
    #[error("receipt: {0}")]
    Receipt(#[from] ReceiptError),
    /// The state proof proves nothing.
    #[error("state: {0}")]
    State(#[from] StateProofError),
    /// The header does not commit to the state after that turn.
    #[error("header {header} does not commit to the state after turn {turn}")]
    OtherHeight {
        /// The header's height.
        header: Height,
        /// The turn asked about.
        turn: Height,
    },
    /// The leaf holds no outcomes.
    #[error("the leaf holds no outcomes")]
    NotOutcomes,
    /// A shelf of the map proves nothing.
    #[error("land: {0}")]
    Land(Box<LandProofError>),
    /// A shelf of the map is about other ground.
    #[error("the shelf does not hold the point ({}, {})", point.x, point.y)]
    OtherGround {
        /// The point asked about.
        point: TilePoint,
    },
    /// The leaves hold no orders, or not those that were asked for.
    #[error("the leaves hold no orders, or not the last ones below {0}")]
    NotOrders(u64),
    /// A server asks again who this is, within one connection.
    #[error("it asks for a second proof of the key in one connection")]
    SecondChallenge,
    /// What is shown as the charter is another leaf, or none.
    #[error("what it shows is not the charter of the sim")]
    NotCharter,
    /// What is shown as profiles is another leaf, or none.
    #[error("what it shows is not what people say of themselves")]
    NotProfiles,
    /// What is shown does not fit together.
    #[error("what is in sight: {0}")]
    View(#[from] SightError),
    /// What was shown is not in the certified state.
    #[error("what was in sight is not so: {0}")]
    Shown(#[from] Box<Disproof>),
}

impl LightClient {
    /// Trusts `first` to vote from `from` on: the genesis set from height 1, or a checkpoint's.
    #[must_use]
    pub fn new(sim: SimId, from: Height, first: ValidatorSet, scheme: Arc<dyn Verify>) -> Self {
        Self { sim, scheme, sets: [(from, first)].into(), checkpoint: None }
    }

    /// Believes nothing from the checkpoint's height on that does not come from the validators that it
    /// names, or from those who followed them. A checkpoint of another sim changes nothing.
    #[must_use]
    pub fn with_checkpoint(self, checkpoint: TrustCheckpoint) -> Self {
        let checkpoint = Some(checkpoint).filter(|checkpoint| checkpoint.sim == self.sim);
        Self { checkpoint, ..self }
    }

    /// Returns the checkpoint that it began with.
    #[must_use]
    pub const fn checkpoint(&self) -> Option<&TrustCheckpoint> {
        self.checkpoint.as_ref()
    }

    /// The sim it follows.
    #[must_use]
    pub const fn sim(&self) -> SimId {
        self.sim
    }

    /// Returns the scheme by which signatures are checked.
    #[must_use]
    pub fn scheme(&self) -> &dyn Verify {
        &*self.scheme
    }

    /// Returns the height from which the newest known set votes.
    #[must_use]
    pub fn newest(&self) -> Height {
        self.sets.last().map_or(Height(0), |(from, _)| *from)
    }

    /// Returns who votes at `height`, as far as is known.
    ///
    /// # Errors
    /// [`Distrust::TooOld`] before the first trusted set.
    pub fn set(&self, height: Height) -> Result<&ValidatorSet, Distrust> {
        let known = self.sets.iter().rev().find(|(from, _)| *from <= height);
        known.map(|(_, set)| set).ok_or(Distrust::TooOld(height))
    }

    /// Checks that the validator set of this height leads through the checkpoint.
    fn pass_checkpoint(&self, height: Height) -> Result<(), Distrust> {
        let reached = self.checkpoint.as_ref().filter(|checkpoint| checkpoint.height <= height);
        let Some(checkpoint) = reached else {
            return Ok(());
        };
        match self.set(checkpoint.height) {
            Ok(set) if set.id() != checkpoint.validators => Err(Distrust::OtherValidators(height)),
            // So many changes later that it is forgotten: each of them passed here.
            Ok(_) | Err(_) => Ok(()),
        }
    }

    /// Checks that this header is decided.
    ///
    /// # Errors
    /// See [`Distrust`]. [`Distrust::OtherValidators`] may mean that set changes are missing: ask
    /// for links after [`Self::newest`].
    pub fn believe(&self, header: &Header, certificate: &Certificate) -> Result<(), Distrust> {
        if header.sim != self.sim {
            return Err(Distrust::OtherSim(header.sim));
        }
        let set = self.set(header.height)?;
        if header.validators != set.id() {
            return Err(Distrust::OtherValidators(header.height));
        }
        self.pass_checkpoint(header.height)?;
        if (certificate.height, certificate.header) != (header.height, header.id()) {
            return Err(Distrust::OtherHeader(header.height));
        }
        Ok(certificate.verify(self.sim, set, &*self.scheme)?)
    }

    /// Says whether a height is from before the checkpoint.
    #[must_use]
    pub fn is_behind(&self, height: Height) -> bool {
        self.checkpoint.as_ref().is_some_and(|checkpoint| height < checkpoint.height)
    }

    /// Checks that this header is decided and not older than the checkpoint. Servers that voted before the
    /// checkpoint may have sold their keys since, so what they sign says nothing about the present.
    ///
    /// # Errors
    /// See [`Self::believe`]; [`Distrust::Behind`] of a server that may only be slow.
    pub fn believe_now(&self, header: &Header, certificate: &Certificate) -> Result<(), Distrust> {
        if self.is_behind(header.height) {
            return Err(Distrust::Behind(header.height));
        }
        self.believe(header, certificate)
    }

    /// Follows a change of the set.
    ///
    /// # Errors
    /// See [`Distrust`]; nothing changed then.
    pub fn follow(&mut self, link: &ValidatorSetLink) -> Result<(), Distrust> {
        let height = link.header.height;
        if height < self.newest() {
            return Err(Distrust::NotNewer(height));
        }
        self.believe(&link.header, &link.certificate)?;
        link.next.check().map_err(|error| Distrust::BadSet(height, error))?;
        if link.next.id() != link.header.next_validators {
            return Err(Distrust::OtherSet(height));
        }
        if self.sets.len() >= SETS_MAX {
            self.sets.remove(0);
        }
        self.sets.push((height.plus(1), link.next.clone()));
        Ok(())
    }

    /// Checks that the act is in a decided turn.
    ///
    /// # Errors
    /// See [`Distrust`].
    pub fn receipt(&self, act: &SignedEnvelope, receipt: &Receipt) -> Result<(), Distrust> {
        let height = receipt.header.height;
        let set = self.set(height)?;
        if receipt.header.validators != set.id() {
            return Err(Distrust::OtherValidators(height));
        }
        self.pass_checkpoint(height)?;
        Ok(receipt.verify(self.sim, act, set, &*self.scheme)?)
    }

    /// The acts of the turn of height `turn` with their outcomes, by place, out of the certified
    /// state after it.
    ///
    /// # Errors
    /// See [`Distrust`].
    pub fn outcomes(
        &self,
        turn: Height,
        proof: &StateProof,
        header: &Header,
        certificate: &Certificate,
    ) -> Result<Vec<(ActId, Outcome)>, Distrust> {
        if header.height != turn.plus(limits::ROOT_LAG) {
            return Err(Distrust::OtherHeight { header: header.height, turn });
        }
        self.believe(header, certificate)?;
        proof.verify(header.root)?;
        if proof.key != metatopia_sim::World::outcomes_key(turn) {
            return Err(Distrust::NotOutcomes);
        }
        wire::decode(&proof.content, limits::LEAF_BYTES_MAX).map_err(|_| Distrust::NotOutcomes)
    }

    /// The grants of the shelf about a point, if the sim is the land office of a world. None of them may
    /// hold the point: then it is nobody's.
    ///
    /// # Errors
    /// See [`Distrust`].
    pub fn land(&self, point: TilePoint, proof: &LandProof) -> Result<ProvedLand, Distrust> {
        // First who may sign at that height; the proof itself names its validators by their digest alone.
        self.believe_now(&proof.header, &proof.certificate)?;
        let set = self.set(proof.header.height)?;
        let proved = proof.open(self.sim, |id| (id == set.id()).then_some(set), &*self.scheme);
        let proved = proved.map_err(|error| Distrust::Land(Box::new(error)))?;
        if proved.block.contains(point) { Ok(proved) } else { Err(Distrust::OtherGround { point }) }
    }
}
