//! What a sim is by now, from a leaf that more than two thirds of the voting power signed.

use metatopia_protocol::CharterAnswer;
use metatopia_sim::Charter;
use metatopia_types::{Height, limits::LEAF_BYTES_MAX, wire};

use crate::{Distrust, LightClient};

/// The leaf that holds the charter.
const LEAF: &str = "parameters";

impl LightClient {
    /// Returns the charter after the turn of the height that comes with it. Admins may have changed it since
    /// the genesis, and the land office that the sim follows may be another one.
    ///
    /// # Errors
    /// See [`Distrust`]; [`Distrust::OtherValidators`] may mean that set changes are missing.
    pub fn charter(&self, answer: &CharterAnswer) -> Result<(Height, Charter), Distrust> {
        let CharterAnswer { header, certificate, charter } = answer;
        self.believe_now(header, certificate)?;
        charter.verify(header.root)?;
        if charter.key.0 != LEAF {
            return Err(Distrust::NotCharter);
        }
        let charter =
            wire::decode(&charter.content, LEAF_BYTES_MAX).map_err(|_| Distrust::NotCharter)?;
        let height = header.height.minus(metatopia_types::limits::ROOT_LAG).unwrap_or_default();
        Ok((height, charter))
    }
}
