//! What a node answers, checked: receipts, outcomes and turns that need not be taken on trust.

use std::time::Duration;

use metatopia_client::{Distrust, LightClient, ProvenOrders};
use metatopia_protocol::{Answer, Question};
use metatopia_types::{
    ActId, Certificate, Header, Height, LandProof, Lane, Outcome, ProvedLand, PublicKey, Seq,
    SignedEnvelope, TilePoint, Turn, ValidatorSet,
};
use tokio::time::{Instant, sleep};

use super::{ClientDriver, DriveError};

/// The pause before something is asked for again that is not there yet: a turn takes as long.
pub(super) const NOT_YET: Duration = Duration::from_millis(50);

/// Set changes are followed at most so many times for one header.
const FOLLOW_MAX: usize = 256;

/// Why nothing was proved.
#[derive(Debug, thiserror::Error)]
pub enum ProofError {
    /// The session failed.
    #[error(transparent)]
    Drive(#[from] DriveError),
    /// The node's answer is not what its signatures and hashes say.
    #[error("the node's answer proves nothing: {0}")]
    Distrust(#[from] Distrust),
    /// The node's answer is about something else than was asked.
    #[error("the node answered about something else: {0}")]
    Other(&'static str),
    /// The node does not have it, or not any more.
    #[error("the node does not have it, or not any more")]
    Unknown,
    /// The node has removed the turns that would show it.
    #[error("the node has removed what is below height {0}; ask an archive")]
    Pruned(Height),
}

impl ProofError {
    /// Returns the error that this answer stands for.
    pub(super) fn instead(answer: &Answer) -> Self {
        match answer {
            Answer::Pruned { oldest } => Self::Pruned(*oldest),
            _ => Self::Unknown,
        }
    }
}

/// An act that is proved to be in a decided turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProvenAct {
    /// The act with its signature.
    pub act: SignedEnvelope,
    /// In this turn.
    pub height: Height,
    /// At this place.
    pub index: u32,
    /// What became of it, as the node says; see [`ClientDriver::prove_outcome`].
    pub outcome: Option<Outcome>,
}

impl ClientDriver {
    /// Asks for the receipt of an act, and checks it.
    ///
    /// # Errors
    /// See [`ProofError`].
    pub async fn prove_receipt(
        &mut self,
        (author, lane, seq): (PublicKey, Lane, Seq),
        wait: Duration,
    ) -> Result<ProvenAct, ProofError> {
        let answer = self.ask(Question::Receipt { author, lane, seq }, wait).await?;
        let Answer::Receipt(found) = answer else {
            return Err(ProofError::instead(&answer));
        };
        let envelope = &found.act.envelope;
        if (envelope.author, envelope.lane, envelope.seq) != (author, lane, seq) {
            return Err(ProofError::Other("another act"));
        }
        self.checked(wait, |light| light.receipt(&found.act, &found.receipt)).await?;
        let (height, index) = (found.receipt.header.height, found.receipt.place.index);
        Ok(ProvenAct { act: found.act, height, index, outcome: found.outcome })
    }

    /// Proves the outcome of the act at a place of a turn, from the state that is certified two
    /// turns later. Waits for that.
    ///
    /// # Errors
    /// See [`ProofError`]; [`ProofError::Unknown`] if it was not there in time, or is forgotten.
    pub async fn prove_outcome(
        &mut self,
        (height, index): (Height, u32),
        act: ActId,
        wait: Duration,
    ) -> Result<Outcome, ProofError> {
        let question = Question::Outcomes { height };
        let answer = self.ask_until_known(question, wait).await?;
        let Answer::Outcomes(found) = answer else {
            return Err(ProofError::instead(&answer));
        };
        let (proof, header, certificate) = &*found;
        let outcomes =
            self.checked(wait, |light| light.outcomes(height, proof, header, certificate)).await?;
        match outcomes.get(index as usize) {
            Some((id, outcome)) if *id == act => Ok(*outcome),
            _ => Err(ProofError::Other("outcomes of other acts")),
        }
    }

    /// Asks a land office who holds a point of its world: the shelf about it, with the proof to show to
    /// others. Waits for a certified state.
    ///
    /// # Errors
    /// See [`ProofError`]; [`ProofError::Unknown`] also of a sim that is no land office.
    pub async fn prove_land(
        &mut self,
        point: TilePoint,
        wait: Duration,
    ) -> Result<(LandProof, ProvedLand), ProofError> {
        let answer = self.ask_until_known(Question::Land { point }, wait).await?;
        let Answer::Land(proof) = answer else {
            return Err(ProofError::instead(&answer));
        };
        let proved = self.checked(wait, |light| light.land(point, &proof)).await?;
        Ok((*proof, proved))
    }

    /// Asks for a page of what was ordered in the sim, with the last order below a number, and checks it.
    /// Waits for a certified state.
    ///
    /// # Errors
    /// See [`ProofError`].
    pub async fn prove_orders(
        &mut self,
        below: u64,
        wait: Duration,
    ) -> Result<ProvenOrders, ProofError> {
        let answer = self.ask_until_known(Question::Orders { below }, wait).await?;
        let Answer::Orders(page) = answer else {
            return Err(ProofError::instead(&answer));
        };
        self.checked(wait, |light| light.orders(below, &page)).await
    }

    /// Fetches a decided turn, checked to the last byte. Waits for it.
    ///
    /// # Errors
    /// See [`ProofError`]; [`ProofError::Unknown`] if it was not there in time.
    pub async fn prove_turn(
        &mut self,
        height: Height,
        wait: Duration,
    ) -> Result<(Turn, Certificate), ProofError> {
        let answer = self.ask_until_known(Question::Turn { height }, wait).await?;
        let Answer::Turn(found) = answer else {
            return Err(ProofError::instead(&answer));
        };
        let (turn, certificate) = *found;
        if turn.header.height != height {
            return Err(ProofError::Other("another height"));
        }
        self.believe(&turn.header, &certificate, wait).await?;
        turn.check_body().map_err(|_| ProofError::Other("a body that its header does not name"))?;
        Ok((turn, certificate))
    }

    /// Returns a height that was decided a moment ago, as the node says.
    ///
    /// # Errors
    /// See [`ProofError`].
    pub async fn decided(&mut self, wait: Duration) -> Result<Height, ProofError> {
        let snapshot = self.ask_until_known(Question::Snapshot, wait).await?;
        let Answer::Snapshot(offer) = snapshot else {
            return Err(ProofError::Unknown);
        };
        Ok(offer.header.height)
    }

    /// Returns who votes at a height of which something was proved.
    #[must_use]
    pub fn validators(&self, height: Height) -> Option<ValidatorSet> {
        self.light.set(height).ok().cloned()
    }

    /// Checks that this header is decided.
    ///
    /// # Errors
    /// See [`ProofError`].
    pub async fn believe(
        &mut self,
        header: &Header,
        certificate: &Certificate,
        wait: Duration,
    ) -> Result<(), ProofError> {
        self.checked(wait, |light| light.believe(header, certificate)).await
    }

    /// Asks until the node knows; the last answer when time is up.
    pub(super) async fn ask_until_known(
        &mut self,
        question: Question,
        wait: Duration,
    ) -> Result<Answer, ProofError> {
        let deadline = Instant::now() + wait;
        loop {
            let answer = self.ask(question.clone(), wait).await?;
            if !matches!(answer, Answer::Unknown) || Instant::now() + NOT_YET > deadline {
                return Ok(answer);
            }
            sleep(NOT_YET).await;
        }
    }

    /// Checks something, after following set changes if it is of validators not known yet.
    pub(crate) async fn checked<T>(
        &mut self,
        wait: Duration,
        check: impl Fn(&LightClient) -> Result<T, Distrust>,
    ) -> Result<T, ProofError> {
        for _ in 0..FOLLOW_MAX {
            match check(&self.light) {
                Ok(checked) => return Ok(checked),
                Err(distrust @ Distrust::OtherValidators(_)) => {
                    if !self.follow(wait).await? {
                        return Err(distrust.into());
                    }
                }
                Err(distrust) => return Err(distrust.into()),
            }
        }
        Err(ProofError::Other("set changes without end"))
    }

    /// Follows further set changes; false when there are none.
    async fn follow(&mut self, wait: Duration) -> Result<bool, ProofError> {
        let after = self.light.newest().minus(1).unwrap_or_default();
        let answer = self.ask(Question::Links { after }, wait).await?;
        let Answer::Links(links) = answer else {
            return Err(ProofError::Unknown);
        };
        for link in &links {
            self.light.follow(link)?;
        }
        Ok(!links.is_empty())
    }
}
