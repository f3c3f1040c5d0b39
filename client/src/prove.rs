//! What was seen, proved: copies against a root, and the root's header against its signatures.

use alloc::{collections::BTreeSet, vec::Vec};

use metatopia_protocol::{TileName, ViewProof};
use metatopia_types::{Header, Height, ObjectId, PublicKey, limits};

use crate::{Distrust, LightClient, sight::ProvenTiles};

/// Turns after the last one that was proved from which proofs are late: two seconds.
pub const LATE_TURNS: u64 = 40;

/// What was seen is in a state whose root more than two thirds of the voting power signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProvenSight {
    /// Copies as they were after the turn of this height.
    pub of: Height,
    /// States the root after that turn.
    pub header: Header,
    /// Who signed it.
    pub signers: Vec<PublicKey>,
    /// How many could have.
    pub members: u32,
    /// Tiles whose copies are exactly the state's, those without entries too.
    pub tiles: Vec<TileName>,
    /// Tiles in sight that are not proved this time: their copies were of an earlier turn, or they
    /// are hidden.
    pub lagging: Vec<TileName>,
    /// The objects in the proved tiles.
    pub objects: BTreeSet<ObjectId>,
}

/// Why what is seen is not proved at this moment, though nothing is known to be wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnprovenSight {
    /// No proofs were asked for.
    #[error("no proofs were asked for")]
    Unasked,
    /// None came yet.
    #[error("no proof came yet")]
    NoneYet,
    /// The newest proof is old.
    #[error("the newest proof is of turn {of}, what is seen of turn {height}")]
    Late {
        /// What was proved last.
        of: Height,
        /// What is seen.
        height: Height,
    },
    /// Some tiles are left out of the newest proof.
    #[error("{} of {all} tiles in sight are not proved with turn {of}", lagging.len())]
    Lagging {
        /// What was proved.
        of: Height,
        /// The tiles that were left out.
        lagging: Vec<TileName>,
        /// All tiles in sight.
        all: usize,
    },
    /// The copies of that turn are forgotten: the proof came too late.
    #[error("the proof of turn {0} came when its copies were forgotten")]
    Forgotten(Height),
    /// Copies that were begun at another server are not this server's; all are fetched anew.
    #[error("copies that were begun elsewhere are fetched anew")]
    Anew,
}

impl LightClient {
    /// Believes what a proof shows, if its header was decided.
    ///
    /// # Errors
    /// See [`Distrust`]; [`Distrust::OtherValidators`] may mean that set changes are missing.
    pub fn view(&self, shown: &ProvenTiles, proof: &ViewProof) -> Result<ProvenSight, Distrust> {
        let ViewProof { header, certificate, .. } = proof;
        if header.height != shown.of.plus(limits::ROOT_LAG) {
            return Err(Distrust::OtherHeight { header: header.height, turn: shown.of });
        }
        self.believe_now(header, certificate)?;
        let members = self.set(header.height)?.members().len();
        Ok(ProvenSight {
            of: shown.of,
            header: header.clone(),
            signers: certificate.signatures.iter().map(|(key, _)| *key).collect(),
            members: u32::try_from(members).unwrap_or(u32::MAX),
            tiles: shown.tiles.clone(),
            lagging: shown.lagging.clone(),
            objects: shown.objects.clone(),
        })
    }
}
