//! What people say of themselves, from leaves that more than two thirds of the voting power signed.

use alloc::{collections::BTreeMap, vec::Vec};

use metatopia_protocol::ProfilesAnswer;
use metatopia_sim::KeptProfile;
use metatopia_types::{
    Height, PROFILES_LEAF, PublicKey,
    limits::{LEAF_BYTES_MAX, ROOT_LAG},
    wire,
};

use crate::{Distrust, LightClient};

/// What people say of themselves, proved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProvenProfiles {
    /// What they say after the turn of this height.
    pub height: Height,
    /// What the sim keeps of each of them; also of some others, who are in the same leaves.
    pub kept: BTreeMap<PublicKey, KeptProfile>,
}

impl LightClient {
    /// Returns what people say of themselves. A server can leave somebody out, and add nothing.
    ///
    /// # Errors
    /// See [`Distrust`]; [`Distrust::OtherValidators`] may mean that set changes are missing.
    pub fn profiles(&self, answer: &ProfilesAnswer) -> Result<ProvenProfiles, Distrust> {
        let ProfilesAnswer { header, certificate, leaves } = answer;
        self.believe_now(header, certificate)?;
        let mut kept = BTreeMap::new();
        for leaf in leaves {
            leaf.verify(header.root)?;
            let rest = leaf.key.0.strip_prefix(PROFILES_LEAF).ok_or(Distrust::NotProfiles)?;
            if !rest.is_empty() && !rest.starts_with('/') {
                return Err(Distrust::NotProfiles);
            }
            let entries: Vec<(PublicKey, KeptProfile)> =
                wire::decode(&leaf.content, LEAF_BYTES_MAX).map_err(|_| Distrust::NotProfiles)?;
            kept.extend(entries);
        }
        Ok(ProvenProfiles { height: header.height.minus(ROOT_LAG).unwrap_or_default(), kept })
    }
}
