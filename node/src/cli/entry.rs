//! An act in the log of a sim, as commands print it.

use std::fmt;

use serde::Serialize;

/// The place of an act, and its outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct ActEntry {
    /// The id of the act.
    pub(super) act: String,
    /// The key of the act's author.
    pub(super) author: String,
    /// The lane of the author that the act is in.
    pub(super) lane: u64,
    /// The place of the act in its lane.
    pub(super) seq: u64,
    /// The height of the act's turn.
    pub(super) height: u64,
    /// The place of the act in its turn.
    pub(super) index: u32,
    /// The outcome: `ok`, or `refused: ` and the rule; nothing if the node has forgotten it.
    pub(super) outcome: Option<String>,
    /// Says whether a certified state proves the outcome. If not, only the node says it.
    pub(super) proven: bool,
}

impl ActEntry {
    /// Returns the rule that refused the act, if one did.
    pub(super) fn refusal(&self) -> Option<&str> {
        self.outcome.as_deref()?.strip_prefix("refused: ")
    }
}

impl fmt::Display for ActEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let outcome = match (&self.outcome, self.proven) {
            (Some(outcome), true) => format!("{outcome} (proved)"),
            (Some(outcome), false) => format!("{outcome} (the node says)"),
            (None, _) => "forgotten".to_owned(),
        };
        writeln!(f, "height   {}", self.height)?;
        writeln!(f, "place    {}", self.index)?;
        writeln!(f, "outcome  {outcome}")?;
        writeln!(f, "act      {}", self.act)?;
        write!(f, "receipt  metatopia receipt {} {} {}", self.author, self.lane, self.seq)
    }
}

#[cfg(test)]
mod tests {
    use metatopia_types::{Outcome, Refusal};

    use super::*;

    fn entry(outcome: Outcome) -> ActEntry {
        ActEntry {
            act: "aa".into(),
            author: "bb".into(),
            lane: 5,
            seq: 2,
            height: 40,
            index: 0,
            outcome: Some(outcome.to_string()),
            proven: true,
        }
    }

    #[test]
    fn the_fields_of_the_json_are_the_documented_ones() {
        let json = serde_json::to_string(&entry(Outcome::Ok)).unwrap();
        assert_eq!(
            json,
            r#"{"act":"aa","author":"bb","lane":5,"seq":2,"height":40,"index":0,"outcome":"ok","proven":true}"#
        );
    }

    #[test]
    fn a_refusal_names_the_rule() {
        assert_eq!(entry(Outcome::Ok).refusal(), None);
        let refused = entry(Outcome::Refused(Refusal::OutOfReach));
        assert_eq!(refused.refusal(), Some("the object is out of reach"));
    }

    #[test]
    fn people_are_told_how_to_ask_for_it_again() {
        let text = entry(Outcome::Ok).to_string();
        assert!(text.contains("height   40\n"), "{text}");
        assert!(text.contains("outcome  ok (proved)\n"), "{text}");
        assert!(text.ends_with("metatopia receipt bb 5 2"), "{text}");
    }
}
