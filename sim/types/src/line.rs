//! Lines of text that people are shown.

/// Says whether this is one line of text, without control characters and without marks that turn the
/// direction of what follows.
#[must_use]
pub fn is_line(text: &str) -> bool {
    let turns = |c: char| matches!(c, '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    !text.chars().any(|c| c.is_control() || turns(c) || matches!(c, '\u{2028}' | '\u{2029}'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_turns_nothing_and_ends_nowhere() {
        assert!(is_line("Jo\u{eb}lle van \u{411}") && is_line(""));

        for turning in ['\n', '\u{7}', '\u{200e}', '\u{202e}', '\u{2066}', '\u{2028}'] {
            assert!(!is_line(&format!("a{turning}b")), "{turning:?}");
        }
    }
}
