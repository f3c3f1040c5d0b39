//! What people say of themselves, out of a state that is certified.

use std::{collections::BTreeMap, time::Duration};

use metatopia_client::{OwnProfile, check_picture_of};
use metatopia_protocol::{Answer, PROFILES_PER_QUESTION_MAX, Question};
use metatopia_sim::KeptProfile;
use metatopia_types::{Height, Profile, PublicKey, SentProfile, SignedProfile};
use tokio::time::{Instant, sleep};

use super::{ClientDriver, DriveError, ProofError, proof::NOT_YET};

impl ClientDriver {
    /// Proves what these people say of themselves after the turn of a height, or, if that takes too long, a while
    /// before. A node can leave somebody out, and add nothing.
    ///
    /// # Errors
    /// See [`ProofError`].
    pub async fn prove_profiles(
        &mut self,
        of: &[PublicKey],
        after: Height,
        wait: Duration,
    ) -> Result<BTreeMap<PublicKey, KeptProfile>, ProofError> {
        let deadline = Instant::now() + wait;
        let mut found = BTreeMap::new();
        for some in of.chunks(PROFILES_PER_QUESTION_MAX) {
            let question = Question::Profiles { of: some.to_vec() };
            let proven = loop {
                let answer = self.ask_until_known(question.clone(), wait).await?;
                let Answer::Profiles(answer) = answer else {
                    return Err(ProofError::instead(&answer));
                };
                let proven = self.checked(wait, |light| light.profiles(&answer)).await?;
                if proven.height >= after || Instant::now() + NOT_YET > deadline {
                    break proven;
                }
                sleep(NOT_YET).await;
            };
            found.extend(proven.kept.into_iter().filter(|(key, _)| some.contains(key)));
        }
        Ok(found)
    }

    /// Fetches the picture that a profile names; nothing if the node has none that is shown.
    ///
    /// # Errors
    /// See [`DriveError`].
    pub async fn picture(
        &mut self,
        profile: &Profile,
        wait: Duration,
    ) -> Result<Option<Vec<u8>>, DriveError> {
        if profile.picture.is_none() {
            return Ok(None);
        }
        match self.ask(Question::Picture { of: profile.key }, wait).await? {
            Answer::Picture(picture) if check_picture_of(profile, &picture).is_ok() => {
                Ok(Some(picture))
            }
            _ => Ok(None),
        }
    }

    /// Fetches the person's own profile as another device of hers sent it; nothing if its picture is gone.
    ///
    /// # Errors
    /// See [`DriveError`].
    pub async fn own_profile(
        &mut self,
        signed: &SignedProfile,
        wait: Duration,
    ) -> Result<Option<OwnProfile>, DriveError> {
        let picture = self.picture(&signed.profile, wait).await?.unwrap_or_default();
        let sent = SentProfile { signed: signed.clone(), picture };
        Ok(OwnProfile::of(sent, &metatopia_types::Ed25519).ok())
    }
}
