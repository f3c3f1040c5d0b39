//! What changed between two texts, for the page that shows versions of a source.

use serde::{Deserialize, Serialize};
use similar::{ChangeTag, TextDiff};

use crate::CallError;

/// Lines that are shown around what changed.
const AROUND: usize = 2;

/// Two texts to compare.
#[derive(Deserialize)]
struct ComparedTexts {
    before: String,
    after: String,
}

/// A line of both texts, of the first alone, or of the second alone.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct ComparedLine {
    /// `=`, `-` or `+`.
    sign: &'static str,
    text: String,
}

/// Compares two texts line by line. The input is JSON: `before` and `after`. The output is JSON: a list of lines
/// with `sign` (`=` in both, `-` in the first alone, `+` in the second alone) and `text`, without those that are
/// more than two lines from any change.
///
/// # Errors
/// When the input has not that form.
pub fn text_changes(input: &[u8]) -> Result<Vec<u8>, CallError> {
    let texts: ComparedTexts = serde_json::from_slice(input).map_err(CallError::input)?;
    let lines = compared(&texts);
    Ok(serde_json::to_vec(&lines).expect("texts become JSON"))
}

fn compared(ComparedTexts { before, after }: &ComparedTexts) -> Vec<ComparedLine> {
    let diff = TextDiff::from_lines(before, after);
    let groups = diff.grouped_ops(AROUND);
    let changes = groups.iter().flatten().flat_map(|op| diff.iter_changes(op));
    let line = |change: similar::Change<&str>| ComparedLine {
        sign: match change.tag() {
            ChangeTag::Equal => "=",
            ChangeTag::Delete => "-",
            ChangeTag::Insert => "+",
        },
        text: change.value().trim_end_matches(['\r', '\n']).to_owned(),
    };
    changes.map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(before: &str, after: &str) -> Vec<String> {
        let texts = ComparedTexts { before: before.to_owned(), after: after.to_owned() };
        let lines = compared(&texts).into_iter();
        lines.map(|ComparedLine { sign, text }| format!("{sign} {text}")).collect()
    }

    #[test]
    fn only_what_is_around_a_change_is_shown() {
        let lines: Vec<String> = (0..40).map(|n| format!("line {n}")).collect();
        let before = lines.join("\n");
        let after = before.replace("line 20\n", "other\n");
        let expected = ["= line 18", "= line 19", "- line 20", "+ other", "= line 21", "= line 22"];
        assert_eq!(shown(&before, &after), expected);
        assert_eq!(shown("a\nb\nc", "a\nx\nb\nc"), ["= a", "+ x", "= b", "= c"]);
    }

    #[test]
    fn two_equal_texts_show_nothing_and_two_that_share_nothing_show_both() {
        assert!(shown("same", "same").is_empty());
        let long = |letter| -> String { (0..9_000).map(|n| format!("{letter}{n}\n")).collect() };
        assert_eq!(shown(&long('a'), &long('b')).len(), 18_000);
    }

    #[test]
    fn what_is_no_pair_of_texts_is_refused() {
        assert!(text_changes(b"{\"before\":\"a\"}").is_err());
    }
}
