//! Checkpoints: what a client knew of a sim's validators at one height, as a short text.

use alloc::string::String;
use core::{fmt, str::FromStr};

use metatopia_types::{Height, Millis, ParseIdError, SimId, ValidatorsId};

/// What every checkpoint in text begins with; the number is the version.
const CHECKPOINT_MARK: &str = "mtc1";

/// Longest text of a checkpoint: two digests of 64 digits, two numbers of at most 20, the mark, and four
/// points between them.
pub const CHECKPOINT_TEXT_MAX: usize = 2 * 64 + 2 * 20 + 4 + 4;

/// Who voted at one height of a sim, by digest, and when that was.
///
/// Whoever begins with genesis follows changes of the validators up to the present, and servers that
/// stopped voting long ago could sign another present. With a checkpoint, the changes must lead through
/// the validators that it names, so only these and those who came later can vouch for anything after it.
/// It holds no signatures: it is worth as much as whoever gave it, oneself or a friend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrustCheckpoint {
    /// The sim that it is of.
    pub sim: SimId,
    /// The height at which they voted.
    pub height: Height,
    /// What names the validators in headers.
    pub validators: ValidatorsId,
    /// The time of the header of that height.
    pub time: Millis,
}

/// Why a text is no checkpoint.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CheckpointError {
    /// Another number of parts, or another mark.
    #[error("no checkpoint: it has not the form {CHECKPOINT_MARK}.SIM.HEIGHT.VALIDATORS.TIME")]
    Form,
    /// Longer than any checkpoint.
    #[error("no checkpoint: {0} characters are more than {CHECKPOINT_TEXT_MAX}")]
    TooLong(usize),
    /// A digest that is none.
    #[error("no checkpoint: {0}")]
    Id(#[from] ParseIdError),
    /// A number that is none.
    #[error("no checkpoint: {0:?} is no number")]
    Number(String),
}

impl fmt::Display for TrustCheckpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { sim, height, validators, time } = self;
        write!(f, "{CHECKPOINT_MARK}.{sim}.{height}.{validators}.{}", time.0)
    }
}

impl FromStr for TrustCheckpoint {
    type Err = CheckpointError;

    fn from_str(text: &str) -> Result<Self, CheckpointError> {
        if text.len() > CHECKPOINT_TEXT_MAX {
            return Err(CheckpointError::TooLong(text.len()));
        }
        let mut parts = text.split('.');
        let mut part = || parts.next().ok_or(CheckpointError::Form);
        let (mark, sim, height, validators, time) = (part()?, part()?, part()?, part()?, part()?);
        if mark != CHECKPOINT_MARK || parts.next().is_some() {
            return Err(CheckpointError::Form);
        }
        let number = |text: &str| text.parse().map_err(|_| CheckpointError::Number(text.into()));
        Ok(Self {
            sim: sim.parse()?,
            height: Height(number(height)?),
            validators: validators.parse()?,
            time: Millis(number(time)?),
        })
    }
}
