//! What a sim is by now, out of a state that is certified: of a successor it is not in the genesis.

use std::time::Duration;

use metatopia_protocol::{Answer, Question, SNAPSHOT_PART_BYTES, SnapshotOffer};
use metatopia_sim::{Charter, Manifest};
use metatopia_types::{Digest, limits::LEAF_BYTES_MAX, wire};

use super::{ClientDriver, ProofError};

/// The leaf that holds it.
const LEAF: &str = "parameters";

impl ClientDriver {
    /// Proves the sim's charter, from the newest snapshot that the node offers.
    ///
    /// # Errors
    /// See [`ProofError`]. Nothing is taken on trust: the header is certified, the manifest has its
    /// root, and the leaf the hash that the manifest says.
    pub async fn prove_charter(&mut self, wait: Duration) -> Result<Charter, ProofError> {
        let answer = self.ask_until_known(Question::Snapshot, wait).await?;
        let Answer::Snapshot(offer) = answer else {
            return Err(ProofError::instead(&answer));
        };
        self.believe(&offer.header, &offer.certificate, wait).await?;
        let manifest = self.manifest(&offer, wait).await?;
        let other = || ProofError::Other("another state than the header states");
        manifest.check(offer.header.root).map_err(|_| other())?;
        let place = manifest.leaves.iter().position(|leaf| leaf.key.0 == LEAF).ok_or_else(other)?;
        let leaves = vec![u32::try_from(place).map_err(|_| other())?];
        let answer = self.ask(Question::Leaves { height: offer.height, leaves }, wait).await?;
        let Answer::Leaves(contents) = answer else {
            return Err(ProofError::instead(&answer));
        };
        let content = contents.first().ok_or_else(other)?;
        if Digest(blake3::hash(content).into()) != manifest.leaves[place].hash {
            return Err(other());
        }
        wire::decode(content, LEAF_BYTES_MAX).map_err(|_| other())
    }

    /// Fetches the manifest that an offered snapshot begins with. It is not verified yet.
    async fn manifest(
        &mut self,
        offer: &SnapshotOffer,
        wait: Duration,
    ) -> Result<Manifest, ProofError> {
        let (height, mut beginning) = (offer.height, Vec::new());
        for part in 0..=u32::try_from(offer.bytes / SNAPSHOT_PART_BYTES as u64).unwrap_or(u32::MAX)
        {
            let answer = self.ask(Question::SnapshotPart { height, part }, wait).await?;
            let Answer::SnapshotPart(bytes) = answer else {
                return Err(ProofError::instead(&answer));
            };
            beginning.extend(bytes);
            match Manifest::decode_beginning(&beginning) {
                Ok(Some(manifest)) => return Ok(manifest),
                Ok(None) => {}
                Err(_) => break,
            }
        }
        Err(ProofError::Other("something that is no snapshot"))
    }
}
