//! What a reader of the sources relies on: documentation says more than the name beside it.

use metatopia_tests::sources;

/// Words that a documentation has at least.
const WORDS_MIN: usize = 3;

/// Words that are no verb in the third person, and no noun that a function gives.
const NO_BEGINNINGS: &[&str] = &[
    "After", "All", "Are", "As", "At", "Before", "Below", "Did", "For", "From", "How", "If", "In",
    "It", "Like", "Of", "Once", "Since", "So", "Until", "What", "When", "Where", "Whether",
    "Which", "While", "Who", "Whoever", "Whom", "Whose", "Why", "With",
];

/// Words that may stand before `fn`, behind the visibility.
const MODIFIERS: &[&str] = &["default", "const", "async", "unsafe", "extern", "\"C\""];

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

/// Returns whether a line of code begins a function.
fn begins_function(line: &str) -> bool {
    let rest = match line.strip_prefix("pub") {
        Some(rest) => match rest.strip_prefix('(') {
            Some(scope) => scope.split_once(')').map_or("", |(_, rest)| rest),
            None => rest,
        },
        None => line,
    };
    rest.split_whitespace().find(|word| !MODIFIERS.contains(word)) == Some("fn")
}

/// Returns whether the lines behind a documentation are those of a function. Attributes and comments may stand
/// between. The story above a test is no documentation.
fn begin_function<'a>(lines: impl Iterator<Item = &'a str>) -> bool {
    let mut open = 0_usize;
    for line in lines {
        if line.starts_with("#[test]") || line.starts_with("#[tokio::test") {
            return false;
        }
        if open > 0 || line.starts_with("#[") {
            open = (open + line.matches('[').count()).saturating_sub(line.matches(']').count());
        } else if !line.starts_with("//") {
            return begins_function(line);
        }
    }
    false
}

/// Returns each documentation of a function: the number of its first line, and its text.
fn documentation_of_functions(source: &str) -> Vec<(usize, String)> {
    let mut found = documentation(source);
    found.retain(|(first, _)| {
        let lines = source.lines().skip(first - 1).map(str::trim);
        begin_function(lines.skip_while(|line| line.starts_with("///")))
    });
    found
}

/// Returns whether a documentation begins with a word of [`NO_BEGINNINGS`], or with a question.
fn begins_otherwise(text: &str) -> bool {
    let text = text.trim_start_matches(|c: char| !c.is_alphabetic());
    let word = text.split(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
    let end = text.split_whitespace().find(|word| word.ends_with(['.', '?', '!']));
    NO_BEGINNINGS.contains(&word) || end.is_some_and(|word| word.ends_with('?'))
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

#[test]
fn documentation_of_functions_begins_with_a_verb_or_a_noun() {
    let mut others = Vec::new();
    for (path, source) in sources() {
        for (line, text) in documentation_of_functions(&source) {
            if begins_otherwise(&text) {
                others.push(format!("{path}:{line}: {text}"));
            }
        }
    }
    assert_eq!(
        others,
        Vec::<String>::new(),
        "a reader of a list of functions looks for what each does: begin with a verb in the third person (\"Returns \
         whether ..\", \"Applies ..\"), or with the noun that the function gives (\"The answer to ..\")"
    );
}

#[test]
fn the_documentation_of_a_function_is_found_behind_attributes() {
    let source = [
        "/// How many.",
        "#[expect(",
        "    dead_code,",
        "    reason = \"..\"",
        ")]",
        "// Why.",
        "pub(in crate::a) const fn a() {}",
        "/// Who.",
        "struct B {",
        "    /// When.",
        "    c: fn(),",
        "}",
        "/// Is it?",
        "async fn d() {}",
        "/// A story.",
        "#[test]",
        "fn e() {}",
        "/// The end. Is it?",
        "#[must_use]",
        "pub extern \"C\" fn f() {}",
    ];
    let found = documentation_of_functions(&source.join("\n"));
    let lines: Vec<usize> = found.iter().map(|(line, _)| *line).collect();
    assert_eq!(lines, [1, 13, 18]);
    let others: Vec<bool> = found.iter().map(|(_, text)| begins_otherwise(text)).collect();
    assert_eq!(others, [true, true, false]);
}
