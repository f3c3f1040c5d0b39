//! Lines of source on a terminal.

use metatopia_scripting::read_source;

/// Returns a line without what would act on a terminal, or change how the line reads. Tabs stay.
pub(in crate::cli) fn shown(line: &str) -> String {
    line.chars().map(|c| if is_hidden(c) { char::REPLACEMENT_CHARACTER } else { c }).collect()
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
    fn tabs_stay_and_escapes_go() {
        assert_eq!(shown("\ta\tb"), "\ta\tb");
        assert!(!shown("a\u{1b}[2J\u{202e}b").contains(['\u{1b}', '\u{202e}']));
    }
}
