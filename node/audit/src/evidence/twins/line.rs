//! The lines that tell of two headers of one height.

use std::fmt;

use metatopia_types::ValidatorsId;
use serde::Serialize;

use super::{TwinBasis, TwinFault, TwinHeaders, TwinProof};

/// Two headers of one height, and whether they hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TwinLine {
    sim: String,
    height: u64,
    headers: [String; 2],
    rounds: [u32; 2],
    /// The set that certified both, and its voting power.
    validators: Option<String>,
    total: Option<u64>,
    /// Who signed both, with the voting power of them all.
    both: Vec<String>,
    power: Option<u64>,
    /// Whether each of them broke the rule of one vote a round.
    one_round: bool,
    /// Whether the file proves who votes.
    proved: bool,
    changes: usize,
    holds: bool,
    error: Option<String>,
}

impl TwinLine {
    /// Returns the line of two headers and their check.
    #[must_use]
    pub fn of(twins: &TwinHeaders, checked: Result<TwinProof, TwinFault>) -> Self {
        let [one, other] = &twins.headers;
        let rounds = [one.certificate.round.0, other.certificate.round.0];
        let (proof, error) = match checked {
            Ok(proof) => (Some(proof), None),
            Err(why) => (None, Some(why.to_string())),
        };
        let both = proof.iter().flat_map(|proof| &proof.both);
        Self {
            sim: twins.sim.to_string(),
            height: one.header.height.0,
            headers: [one.header.id().to_string(), other.header.id().to_string()],
            rounds,
            validators: proof.as_ref().map(|proof| proof.validators.to_string()),
            total: proof.as_ref().map(|proof| proof.total),
            both: both.map(|member| member.key.to_string()).collect(),
            power: proof.as_ref().map(TwinProof::power),
            one_round: rounds[0] == rounds[1],
            proved: proof.is_some() && matches!(twins.basis, TwinBasis::Head(_)),
            changes: twins.links.len(),
            holds: error.is_none(),
            error,
        }
    }

    /// Returns the line of two headers of this log, whose set its server believed in.
    #[must_use]
    pub fn of_own(twins: &TwinHeaders) -> Self {
        let believed: Option<ValidatorsId> = match twins.check(&[]) {
            Err(TwinFault::Unproved { validators, .. }) => Some(validators),
            _ => None,
        };
        Self::of(twins, twins.check(believed.as_slice()))
    }
}

impl fmt::Display for TwinLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { sim, height, headers, rounds, both, .. } = self;
        write!(f, "sim {sim} certified two headers of height {height}")?;
        for (header, round) in headers.iter().zip(rounds) {
            write!(f, "\n  {header} in round {round}")?;
        }
        if let Some(error) = &self.error {
            return write!(f, "\n  DOES NOT HOLD: {error}");
        }
        if let (Some(power), Some(total)) = (self.power, self.total) {
            let servers = both.len();
            write!(
                f,
                "\n  signed by {servers} servers both times, with {power} of {total} votes:"
            )?;
        }
        both.iter().try_for_each(|key| write!(f, "\n    {key}"))?;
        if !self.one_round {
            let what = "more than a third broke their word, but the file does not show which";
            write!(f, "\n  in two rounds: {what}")?;
        }
        let validators = self.validators.as_deref().unwrap_or("unknown");
        match (self.proved, self.changes) {
            (true, changes) => write!(
                f,
                "\n  who votes is proved from the genesis of that sim, set changes: {changes}"
            ),
            (false, _) => {
                write!(f, "\n  who votes is not proved: set {validators} is taken as it was given")
            }
        }
    }
}
