//! What was agreed: a turn with its proof.

use std::sync::Arc;

use metatopia_types::{Certificate, HeaderId, Height, Turn};
use serde::{Deserialize, Serialize};

/// A decided turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    /// More than two thirds of the voting power signed for the turn. Another server may hold
    /// another certificate for the same turn.
    pub certificate: Certificate,
    /// The turn. Shared, because the log, the state machine and the network all want it.
    #[serde(with = "shared")]
    pub turn: Arc<Turn>,
}

impl Decision {
    /// Returns the turn's height.
    #[must_use]
    pub fn height(&self) -> Height {
        self.certificate.height
    }

    /// Returns the id of the decided turn.
    #[must_use]
    pub fn id(&self) -> HeaderId {
        self.certificate.header
    }
}

/// A shared value is written like the value itself.
pub(crate) mod shared {
    use std::sync::Arc;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(crate) fn serialize<T: Serialize, S: Serializer>(
        value: &Arc<T>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        value.as_ref().serialize(serializer)
    }

    pub(crate) fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Arc<T>, D::Error> {
        T::deserialize(deserializer).map(Arc::new)
    }
}
