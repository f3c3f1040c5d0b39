//! Mistakes in sources as people and programs read them.

use metatopia_scenarios::Mistake;
use serde::Serialize;

use super::lines::shown;
use crate::cli::{console::Console, exit::Exit, failure::Failure};

/// A mistake in the form that programs read.
#[derive(Debug, Serialize)]
struct SourceMistake<'a> {
    file: &'a str,
    line: usize,
    column: usize,
    message: &'a str,
}

#[derive(Debug, Serialize)]
struct SourceMistakes<'a> {
    path: &'a str,
    ok: bool,
    mistakes: Vec<SourceMistake<'a>>,
}

/// Prints the mistakes of a file or folder, each with its line if `text_of` knows the file. Returns the
/// failure of the command that found them.
///
/// # Errors
/// Fails when nothing can be printed.
pub(super) fn tell<'a>(
    path: &str,
    mistakes: &[Mistake],
    text_of: impl Fn(&str) -> Option<&'a str>,
    console: Console,
) -> Result<Failure, Failure> {
    if console.is_json() {
        let mistakes = mistakes.iter().map(line).collect();
        console.json(&SourceMistakes { path, ok: false, mistakes })?;
        return Ok(Failure::quiet(Exit::Failed));
    }
    for mistake in mistakes {
        console.line(&explain(mistake, text_of(&mistake.file)))?;
    }
    let count = mistakes.len();
    let word = if count == 1 { "mistake" } else { "mistakes" };
    Ok(Failure::failed(format!("{path} has {count} {word}")))
}

fn line(mistake: &Mistake) -> SourceMistake<'_> {
    let Mistake { file, line, column, message } = mistake;
    SourceMistake { file, line: *line, column: *column, message }
}

/// Characters that are shown of a line.
const LINE_SHOWN_MAX: usize = 160;

/// Returns the part of a line that is shown, and the column of a mark in it. A long line is cut around the column.
fn cut(text: &str, column: usize) -> (String, usize) {
    let count = text.chars().count();
    if count <= LINE_SHOWN_MAX {
        return (text.to_owned(), column);
    }
    let from = column.saturating_sub(LINE_SHOWN_MAX / 2).min(count - LINE_SHOWN_MAX);
    let part: String = text.chars().skip(from).take(LINE_SHOWN_MAX).collect();
    let (before, after) = (if from > 0 { "..." } else { "" }, from + LINE_SHOWN_MAX < count);
    let after = if after { "..." } else { "" };
    // A mark past the end of the line stands right behind it.
    let marked = column.min(count + 1).saturating_sub(from);
    let marked = if column == 0 { 0 } else { marked + before.len() };
    (format!("{before}{part}{after}"), marked)
}

/// Returns the complaint, the line that it is about, and a mark under the column.
pub(super) fn explain(mistake: &Mistake, source: Option<&str>) -> String {
    let Mistake { line, column, .. } = mistake;
    let text = line.checked_sub(1).and_then(|before| source?.lines().nth(before));
    let Some(text) = text else {
        return shown(&mistake.to_string());
    };
    let gutter = " ".repeat(line.to_string().len());
    let (text, column) = cut(text, *column);
    // What is hidden in a line must not act on the terminal. Tabs stay tabs, so that the mark stands where
    // the terminal puts the character.
    let mut said = format!("{}\n {line} | {}", shown(&mistake.to_string()), shown(&text));
    if column > 0 {
        let before = text.chars().take(column - 1);
        let blank: String = before.map(|c| if c == '\t' { c } else { ' ' }).collect();
        said.push_str(&format!("\n {gutter} | {blank}^"));
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(line: usize, column: usize) -> Mistake {
        Mistake { line, column, ..Mistake::in_file("a.rhai", "oh no") }
    }

    #[test]
    fn the_mark_stands_under_the_column() {
        let source = Some("let a = 1;\n\tlet b = ;\n");
        let said = explain(&at(2, 10), source);
        assert_eq!(said, "a.rhai:2:10: oh no\n 2 | \tlet b = ;\n   | \t        ^");
    }

    #[test]
    fn a_complaint_about_a_line_or_file_has_no_mark() {
        assert_eq!(explain(&at(1, 0), Some("x\n")), "a.rhai:1: oh no\n 1 | x");
        assert_eq!(explain(&at(0, 0), Some("x\n")), "a.rhai: oh no");
        assert_eq!(explain(&at(9, 1), Some("x\n")), "a.rhai:9:1: oh no");
        assert_eq!(explain(&at(1, 1), None), "a.rhai:1:1: oh no");
    }

    #[test]
    fn a_mark_past_the_end_of_a_line_stands_behind_it() {
        assert_eq!(explain(&at(1, 3), Some("xy")), "a.rhai:1:3: oh no\n 1 | xy\n   |   ^");
        assert_eq!(explain(&at(1, 99), Some("xy")).lines().count(), 3);
    }

    /// A line of 40 KB filled the terminal twice.
    #[test]
    fn a_long_line_is_cut_around_the_column() {
        let source = format!("{}oh{}", "a".repeat(20_000), "b".repeat(20_000));
        for (column, begins, ends) in [
            (1, " 1 | aaa", "aaa..."),
            (20_001, " 1 | ...aaa", "bbb..."),
            (40_002, " 1 | ...bbb", "bbb"),
            (90_000, " 1 | ...bbb", "bbb"),
        ] {
            let said = explain(&at(1, column), Some(&source));
            let lines: Vec<&str> = said.lines().skip(1).collect();
            assert!(lines[0].starts_with(begins) && lines[0].ends_with(ends), "{said}");
            assert!(lines.iter().all(|line| line.len() < 200), "{said}");
            let marked = lines[1].find('^').and_then(|place| lines[0].get(place..));
            let expected = source.get(column - 1..).and_then(|rest| rest.get(..1));
            assert_eq!(marked.and_then(|rest| rest.get(..1)), expected, "{said}");
        }
    }

    #[test]
    fn what_is_hidden_in_a_line_does_not_reach_the_terminal() {
        let said = explain(&at(1, 1), Some("a\u{1b}[2Jb"));
        assert!(!said.contains('\u{1b}'), "{said:?}");
    }
}
