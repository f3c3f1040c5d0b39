//! Profiles: decides whether a person shows others what she says of herself.

use metatopia_types::{BlobId, PublicKey, Refusal, SentProfile};

use super::{
    changes::StateChange,
    context::{ActContext, ActResult},
};
use crate::rules::{KeepRank, KeptProfile};

/// A profile that takes the place of what was kept of its owner.
pub(super) struct NewProfile {
    pub(super) key: PublicKey,
    pub(super) rank: KeepRank,
    pub(super) kept: KeptProfile,
    /// The picture; empty if it is the one that is kept, or none.
    pub(super) picture: Vec<u8>,
}

impl ActContext<'_> {
    /// Says whether an act takes the author's profile away: who is muted may do that.
    pub(super) fn clears_profile(&self, profile: BlobId) -> bool {
        let blob = self.executor.blobs.get(&profile);
        let sent = blob.and_then(|blob| SentProfile::decode(&blob.0));
        sent.is_some_and(|sent| sent.signed.profile.is_empty())
    }

    /// Decides whether the author's profile is shown.
    pub(super) fn set_profile(&self, profile: BlobId) -> ActResult {
        let player = self.renewed_player()?;
        let blob = self.executor.blobs.get(&profile).ok_or(Refusal::NoBlob)?;
        let sent = SentProfile::decode(&blob.0).ok_or(Refusal::BadProfile)?;
        let (key, rank) = (self.author(), KeepRank::of(&player));
        let kept = self.state.with_profile(&key, rank, (profile, &sent))?;
        // A signature is dear, so it comes last.
        if !self.counts.is_checked {
            return Err(Refusal::TooOften);
        }
        if !sent.signed.verify(&*self.executor.tools.verify) {
            return Err(Refusal::BadProfile);
        }
        let set = NewProfile { key, rank, kept, picture: sent.picture };
        Ok(vec![StateChange::Player(key, player), StateChange::Profile(Box::new(set))])
    }
}
