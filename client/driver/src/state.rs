//! Fetching the whole state of a sim, checked.

use std::time::Duration;

use metatopia_client::{DownloadError, SnapshotDownload};
use metatopia_protocol::{Answer, Question};
use metatopia_sim::{Tools, World};
use tokio::time::{Instant, sleep};

use super::{ClientDriver, DriveError, ProofError};

/// A node that is busy is asked again after this long.
const AGAIN: Duration = Duration::from_millis(250);

/// Snapshots that are begun: nodes forget one when newer ones are there.
const BEGINNINGS_MAX: u32 = 4;

/// Why the state was not had.
#[derive(Debug, thiserror::Error)]
pub enum FetchStateError {
    /// The node's answers prove nothing, or none came.
    #[error(transparent)]
    Proof(#[from] ProofError),
    /// The snapshot is none.
    #[error("the node's snapshot: {0}")]
    Download(#[from] DownloadError),
}

impl ClientDriver {
    /// Fetches the newest state whose root is certified. `told` learns how many bytes of how many have
    /// come; each answer is waited for so long. The world goes on by `tools`.
    ///
    /// # Errors
    /// See [`FetchStateError`].
    pub async fn fetch_state(
        &mut self,
        tools: &Tools,
        wait: Duration,
        mut told: impl FnMut(u64, u64),
    ) -> Result<World, FetchStateError> {
        for _ in 0..BEGINNINGS_MAX {
            // A young sim has no certified root yet, and has one within a few turns.
            let offered = self.ask_until_known(Question::Snapshot, wait).await?;
            let Answer::Snapshot(offer) = offered else {
                break;
            };
            self.believe(&offer.header, &offer.certificate, wait).await?;
            let mut download = SnapshotDownload::new(*offer)?;
            loop {
                let (height, part) = (download.height(), download.next_part());
                let question = Question::SnapshotPart { height, part };
                let Answer::SnapshotPart(bytes) =
                    self.ask_patiently(question, wait).await.map_err(ProofError::from)?
                else {
                    // The node has a newer one by now.
                    break;
                };
                let world = download.part(&bytes, tools)?;
                told(download.received(), download.bytes());
                if let Some(world) = world {
                    return Ok(world);
                }
            }
        }
        Err(ProofError::Unknown.into())
    }

    /// Asks until the node has time for an answer; the last answer when time is up.
    async fn ask_patiently(
        &mut self,
        question: Question,
        wait: Duration,
    ) -> Result<Answer, DriveError> {
        let deadline = Instant::now() + wait;
        loop {
            let answer = self.ask(question.clone(), wait).await?;
            if !matches!(answer, Answer::Busy) || Instant::now() + AGAIN > deadline {
                return Ok(answer);
            }
            sleep(AGAIN).await;
        }
    }
}
