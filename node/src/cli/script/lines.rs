//! Lines of source on a terminal.

use metatopia_scripting::read_source;

/// Returns a line without what would act on a terminal, or change how the line reads. Tabs stay.
pub(in crate::cli) fn shown(line: &str) -> String {
    line.chars().map(|c| if is_hidden(c) { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// Returns a word of a command line as a shell reads it: in quotes, if it has spaces or other signs.
pub(in crate::cli) fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+=:@%,\\".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// Says whether the rules of packages refuse a character.
fn is_hidden(c: char) -> bool {
    let refused = || read_source(c.to_string().into_bytes()).is_err();
    c.is_control() && c != '\t' || !c.is_ascii() && refused()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_words_with_signs_of_the_shell_are_quoted() {
        assert_eq!(quoted("places/my-place.v2"), "places/my-place.v2");
        assert_eq!(quoted("My Place"), "'My Place'");
        assert_eq!(quoted("Ada's"), "'Ada'\\''s'");
        assert_eq!(quoted(""), "''");
    }

    #[test]
    fn tabs_stay_and_escapes_go() {
        assert_eq!(shown("\ta\tb"), "\ta\tb");
        assert!(!shown("a\u{1b}[2J\u{202e}b").contains(['\u{1b}', '\u{202e}']));
    }
}
