//! What a reader of the sources relies on: documentation says more than the name beside it.

use metatopia_tests::sources;

/// Words that a documentation has at least.
const WORDS_MIN: usize = 3;

/// Returns each documentation of a source: the number of its first line, and its text.
fn documentation(source: &str) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let mut goes_on = false;
    for (number, line) in (1..).zip(source.lines()) {
        let text = line.trim_start().strip_prefix("///").map(str::trim);
        match (text, found.last_mut()) {
            (Some(text), Some((_, all))) if goes_on => {
                all.push(' ');
                all.push_str(text);
            }
            (Some(text), _) => found.push((number, text.to_owned())),
            (None, _) => {}
        }
        goes_on = text.is_some();
    }
    found
}

#[test]
fn no_documentation_has_one_or_two_words() {
    let mut short = Vec::new();
    for (path, source) in sources() {
        for (line, text) in documentation(&source) {
            if text.split_whitespace().count() < WORDS_MIN {
                short.push(format!("{path}:{line}: {text}"));
            }
        }
    }
    assert_eq!(short, Vec::<String>::new(), "say what is not in the name");
}

#[test]
fn a_documentation_of_two_lines_is_one_text() {
    let source = "/// Returns\n/// the sum.\nfn a() {}\n    /// Why.\n    b: u8,\n";
    let expected = [(1, "Returns the sum.".to_owned()), (4, "Why.".to_owned())];
    assert_eq!(documentation(source), expected);
}
