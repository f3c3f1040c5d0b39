//! Land: decides what people order of a land office.

use metatopia_types::{BlobId, LandOrder, Refusal};

use super::context::{ActContext, ActResult};

impl ActContext<'_> {
    /// Decides an order for the land office.
    pub(super) fn land(&self, order: BlobId) -> ActResult {
        self.renewed_player()?;
        let blob = self.executor.blobs.get(&order).ok_or(Refusal::NoBlob)?;
        LandOrder::decode(&blob.0).map_err(|_| Refusal::BadOrder)?;
        Err(Refusal::NoLandOffice)
    }
}
