//! What changed between two texts, for the page that shows versions of a source.

use core::ops::Range;

use serde::{Deserialize, Serialize};
use similar::{
    DiffTag,
    algorithms::{Capture, Compact, Replace, myers},
};

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

/// Compares by one algorithm of the library. Its interface for texts can do with any of them, and made the module
/// 0.55 MB larger.
fn compared(ComparedTexts { before, after }: &ComparedTexts) -> Vec<ComparedLine> {
    let before: Vec<&str> = before.lines().collect();
    let after: Vec<&str> = after.lines().collect();
    let capture = Replace::new(Capture::new());
    let mut found = Compact::new(capture, &before[..], &after[..]);
    let done = myers::diff(&mut found, &before[..], 0..before.len(), &after[..], 0..after.len());
    done.expect("what only collects does not fail");
    let mut lines = Vec::new();
    let mut put = |sign, all: &[&str], range: Range<usize>| {
        lines.extend(all[range].iter().map(|text| ComparedLine { sign, text: (*text).to_owned() }));
    };
    for op in found.into_inner().into_inner().into_grouped_ops(AROUND).into_iter().flatten() {
        if op.tag() == DiffTag::Equal {
            put("=", &before, op.old_range());
        } else {
            put("-", &before, op.old_range());
            put("+", &after, op.new_range());
        }
    }
    lines
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
