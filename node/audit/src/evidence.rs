//! Finds evidence in what servers keep, and checks it: two signatures that no honest server gives, and two
//! certified headers of one height that no honest sim gives.

mod file;
mod search;
#[cfg(test)]
mod tests;
mod twins;

use std::fmt;

use metatopia_types::{Evidence, HeaderId, VoteKind};
use serde::Serialize;

pub use self::{
    file::{EVIDENCE_BYTES_MAX, EvidenceFault, EvidenceFile, EvidenceFileError},
    search::{EvidenceSearchError, search},
    twins::{
        TwinBasis, TwinFault, TwinFile, TwinFileError, TwinHeader, TwinHeaders, TwinLine, TwinLost,
        TwinProof, TwinsFound, search_twins,
    },
};

/// One piece of evidence, and whether it holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EvidenceLine {
    accused: String,
    height: u64,
    round: u32,
    /// `prevotes`, `precommits` or `proposals`.
    what: &'static str,
    /// The two turns; nothing is a vote for none.
    turns: [Option<String>; 2],
    holds: bool,
    error: Option<String>,
}

impl EvidenceLine {
    /// Returns the line of a piece of evidence and its check.
    #[must_use]
    pub fn of(evidence: &Evidence, checked: Result<(), EvidenceFault>) -> Self {
        let (accused, height) = evidence.accused();
        let text = |id: HeaderId| id.to_string();
        let (round, what, turns) = match evidence {
            Evidence::Votes(a, b) => {
                let what = match a.message.kind {
                    VoteKind::Prevote => "prevotes",
                    VoteKind::Precommit => "precommits",
                };
                (a.message.round, what, [a.message.header.map(text), b.message.header.map(text)])
            }
            Evidence::Proposals(a, b) => {
                let turns = [Some(text(a.message.header)), Some(text(b.message.header))];
                (a.message.round, "proposals", turns)
            }
        };
        let (accused, height, round) = (accused.to_string(), height.0, round.0);
        let error = checked.err().map(|why| why.to_string());
        Self { accused, height, round, what, turns, holds: error.is_none(), error }
    }
}

impl fmt::Display for EvidenceLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { accused, height, round, what, .. } = self;
        write!(f, "{accused} signed two {what} at height {height}, round {round}")?;
        for turn in &self.turns {
            write!(f, "\n  for {}", turn.as_deref().unwrap_or("no turn"))?;
        }
        match &self.error {
            Some(error) => write!(f, "\n  DOES NOT HOLD: {error}"),
            None => Ok(()),
        }
    }
}
