//! The charter of the sim, for commands that need it.

use std::time::Duration;

use metatopia_client_driver::{DriveError, ProofError};
use metatopia_sim::Charter;

use super::room::TextClient;
use crate::{LineKind, TextClientError};

/// Time for one question.
const ANSWER: Duration = Duration::from_secs(5);

/// Returns the charter; admins may have changed it since the genesis. Nothing, if none is proved in time, as
/// while the node fetches a state or the sim stands still.
///
/// # Errors
/// When the node shows one that does not hold, or the session is over.
pub(super) async fn proved(room: &mut TextClient) -> Result<Option<Charter>, TextClientError> {
    match room.driver.prove_charter(ANSWER).await {
        Ok((_, charter)) => Ok(Some(charter)),
        Err(error) if may_pass(&error) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Returns the charter; nothing, with a word why, if none is proved in time.
///
/// # Errors
/// As [`proved`].
pub(super) async fn needed(room: &mut TextClient) -> Result<Option<Charter>, TextClientError> {
    let charter = proved(room).await?;
    if charter.is_none() {
        let why = "The node does not prove the rules of the ground now; try again later.";
        room.tell(LineKind::Refused, why)?;
    }
    Ok(charter)
}

/// Says whether a node that failed to prove something so may prove it later.
pub(super) const fn may_pass(error: &ProofError) -> bool {
    matches!(
        error,
        ProofError::Unknown | ProofError::Pruned(_) | ProofError::Drive(DriveError::NoAnswer(_))
    )
}

#[cfg(test)]
mod tests {
    use metatopia_types::Height;

    use super::*;

    /// Whoever looked around while the sim stood still was out of the world after five seconds.
    #[test]
    fn a_node_that_has_no_proof_for_now_ends_no_session_but_a_wrong_proof_does() {
        assert!(may_pass(&ProofError::Unknown) && may_pass(&ProofError::Pruned(Height(7))));
        assert!(may_pass(&DriveError::NoAnswer(ANSWER).into()));
        assert!(!may_pass(&ProofError::Other("outcomes of other acts")));
        assert!(!may_pass(&DriveError::NotOpen.into()));
    }
}
