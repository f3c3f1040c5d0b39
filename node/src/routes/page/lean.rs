//! Scripts without their comments: a fifth of what a first visit would download.
//!
//! Only lines that hold nothing but comments are emptied, so that every line keeps its number. The
//! page's own sources are whole at `/source`. Third-party files stay as they were published.

use std::borrow::Cow;

/// Where third-party files are.
const VENDORED: &str = "vendor/";

/// Returns the content of a file as it is served.
pub(super) fn lean<'a>(path: &str, content: Cow<'a, [u8]>) -> Cow<'a, [u8]> {
    if !path.ends_with(".js") || path.starts_with(VENDORED) {
        return content;
    }
    match std::str::from_utf8(&content) {
        Ok(text) => Cow::Owned(without_comments(text).into_bytes()),
        Err(_) => content,
    }
}

/// Empties the lines that are comments. A text that spans lines could hold what looks like one; the
/// page has no such texts, and a test says so.
fn without_comments(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut within = false;
    for line in text.lines() {
        let trimmed = line.trim();
        if within {
            if let Some((_, rest)) = trimmed.split_once("*/") {
                within = false;
                kept.push_str(rest);
            }
        } else if trimmed.starts_with("/*") && !trimmed.contains("*/") {
            within = true;
        } else if !is_comment(trimmed) {
            kept.push_str(line);
        }
        kept.push('\n');
    }
    kept
}

fn is_comment(trimmed: &str) -> bool {
    let block = trimmed.starts_with("/*") && trimmed.find("*/") == trimmed.len().checked_sub(2);
    trimmed.starts_with("//") || block
}

#[cfg(test)]
mod tests {
    use super::{super::tree::Files, *};

    fn scripts() -> impl Iterator<Item = (String, String)> {
        Files::iter().filter(|path| path.ends_with(".js") && !path.starts_with(VENDORED)).map(
            |path| {
                let file = Files::get(&path).unwrap();
                (path.into_owned(), String::from_utf8(file.data.into_owned()).unwrap())
            },
        )
    }

    #[test]
    fn lines_of_comments_are_emptied_and_code_keeps_its_place() {
        let text = "// a\nlet x = 1; // b\n  /** @type {X} */\n/*\n * c\n */\n/** d */ f();\n/*\n*/ g();\n";
        let kept = "\nlet x = 1; // b\n\n\n\n\n/** d */ f();\n\n g();\n";
        assert_eq!(without_comments(text), kept);
    }

    #[test]
    fn other_files_and_those_of_third_parties_stay_as_they_are() {
        for path in ["page.css", "vendor/x/index.js"] {
            let content = Cow::Borrowed(&b"// a\n"[..]);
            assert_eq!(lean(path, content.clone()), content);
        }
        assert_eq!(*lean("a.js", Cow::Borrowed(b"// a\n")), *b"\n");
    }

    #[test]
    fn no_text_of_the_page_spans_lines() {
        let mut seen = 0;
        for (path, text) in scripts() {
            for (number, line) in (1..).zip(text.lines()) {
                seen += 1;
                let ticks = line.matches('`').count();
                let comment = is_comment(line.trim()) || line.trim().starts_with('*');
                assert!(comment || ticks % 2 == 0, "{path}:{number} leaves a text open");
                assert!(!line.ends_with('\\'), "{path}:{number} goes on in the next line");
            }
        }
        assert!(seen > 3_000, "only {seen} lines were found");
    }

    #[test]
    fn comments_are_a_good_part_of_the_scripts() {
        let (mut before, mut after) = (0, 0);
        for (path, text) in scripts() {
            before += text.len();
            after += lean(&path, Cow::Borrowed(text.as_bytes())).len();
        }
        assert!(after * 10 < before * 9, "{before} bytes became {after}");
    }
}
