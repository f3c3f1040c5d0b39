//! Reading what people type about reports, and telling of them.

use alloc::{
    format,
    string::{String, ToString as _},
};

use metatopia_protocol::{ReportEntry, span};
use metatopia_types::{Ruling, limits::REPORT_BYTES_MAX};

use super::printable;

/// What somebody types about reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReportCommand {
    /// Tell moderators of a person or a thing: its name, and what is wrong.
    File(String, String),
    /// Tell moderators of private words: their number, and what is wrong.
    FileWords(u64, String),
    /// Take a report back.
    Withdraw(u64),
    /// List one's own reports, and for moderators all that are open.
    List,
    /// Rule on a report, as a moderator.
    Decide(u64, Ruling, String),
}

/// Why a line about reports is not understood. It says how it is meant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReportLineError {
    /// A report names nothing, or says nothing about it.
    #[error(
        "that is `report NAME WORDS`, `report \"LONG NAME\" WORDS`, \
         `report words NUMBER WORDS`, or `report withdraw NUMBER`"
    )]
    Form,
    /// A ruling names no report, or none of the two rulings.
    #[error("that is `decide NUMBER upheld WORDS` or `decide NUMBER dismissed WORDS`")]
    Ruling,
    /// Too many words for one report.
    #[error("{0} bytes are too many for a report; at most {REPORT_BYTES_MAX}")]
    TooLong(usize),
}

/// Reads a line that begins with `report`, `reports` or `decide`.
pub(super) fn parse(first: &str, rest: &str) -> Result<ReportCommand, ReportLineError> {
    match first {
        "reports" => Ok(ReportCommand::List),
        "decide" => decide(rest).ok_or(ReportLineError::Ruling),
        _ => file(rest),
    }
}

fn file(rest: &str) -> Result<ReportCommand, ReportLineError> {
    let (name, words, is_quoted) = name_and_rest(rest).ok_or(ReportLineError::Form)?;
    if name.eq_ignore_ascii_case("withdraw") && !is_quoted {
        let number = words.parse().map_err(|_| ReportLineError::Form)?;
        return Ok(ReportCommand::Withdraw(number));
    }
    if name.eq_ignore_ascii_case("words") && !is_quoted {
        let (number, words, _) = name_and_rest(words).ok_or(ReportLineError::Form)?;
        let number = number.parse().map_err(|_| ReportLineError::Form)?;
        return Ok(ReportCommand::FileWords(number, short_enough(words)?));
    }
    Ok(ReportCommand::File(name.to_string(), short_enough(words)?))
}

/// Returns the words of a report.
fn short_enough(words: &str) -> Result<String, ReportLineError> {
    let is_short = words.len() <= REPORT_BYTES_MAX;
    if is_short { Ok(words.to_string()) } else { Err(ReportLineError::TooLong(words.len())) }
}

/// Returns a name, what follows it, and whether the name stands between quotes, as one of several words does.
/// Nothing if one of them is missing.
pub(super) fn name_and_rest(line: &str) -> Option<(&str, &str, bool)> {
    let quoted = line.strip_prefix('"').and_then(|rest| rest.split_once('"'));
    let (name, rest) = quoted.or_else(|| line.split_once(char::is_whitespace))?;
    let (name, rest) = (name.trim(), rest.trim());
    (!name.is_empty() && !rest.is_empty()).then_some((name, rest, quoted.is_some()))
}

fn decide(rest: &str) -> Option<ReportCommand> {
    let (number, rest) = rest.split_once(char::is_whitespace)?;
    let rest = rest.trim();
    let (word, reason) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let ruling = Ruling::of(&word.to_lowercase())?;
    Some(ReportCommand::Decide(number.parse().ok()?, ruling, reason.trim().to_string()))
}

/// Returns the line of a report.
#[must_use]
pub fn report_line(entry: &ReportEntry) -> String {
    let ReportEntry { report, by, by_name, name, words, ago, ruling, opened, .. } = entry;
    let by = match printable(by_name) {
        name if name.is_empty() => format!("{}..", &by.to_string()[..8]),
        name => name,
    };
    let (name, words, ago) = (printable(name), printable(words), span(*ago));
    let told =
        opened.as_ref().map(|text| format!(", who told them privately \"{}\"", printable(text)));
    let told = told.unwrap_or_default();
    let head = format!("Report {report} by {by} about {name}{told}, {ago} ago: {words}");
    match ruling {
        None => format!("{head} (open)"),
        Some(given) if given.reason.is_empty() => format!("{head} ({})", given.ruling.word()),
        Some(given) => format!("{head} ({}: {})", given.ruling.word(), printable(&given.reason)),
    }
}

#[cfg(test)]
mod tests {
    use metatopia_protocol::RulingEntry;
    use metatopia_types::{Height, ObjectId, PublicKey, ReportSubject};

    use super::*;

    #[test]
    fn a_report_is_typed_with_a_name_and_words_and_everything_else_says_how_it_is_meant() {
        let read = |line: &str| parse("report", line);
        let filed =
            |name: &str, words: &str| Ok(ReportCommand::File(name.to_string(), words.to_string()));
        assert_eq!(read("bob he shouts"), filed("bob", "he shouts"));
        assert_eq!(read("\"old door\" it is shut"), filed("old door", "it is shut"));
        assert_eq!(read("withdraw 3"), Ok(ReportCommand::Withdraw(3)));
        let threat = ReportCommand::FileWords(12, "a threat".to_string());
        assert_eq!(read("words 12 a threat"), Ok(threat));
        assert_eq!(read("\"words\" 12 a threat"), filed("words", "12 a threat"));
        assert_eq!(read("\"withdraw\" it is odd"), filed("withdraw", "it is odd"));
        for wrong in ["", "bob", "\"old door\"", "withdraw bob", "words 12", "words bob hello"] {
            assert_eq!(read(wrong), Err(ReportLineError::Form), "{wrong}");
        }
        let long = format!("bob {}", "x".repeat(REPORT_BYTES_MAX + 1));
        assert_eq!(read(&long), Err(ReportLineError::TooLong(REPORT_BYTES_MAX + 1)));
        assert_eq!(parse("reports", ""), Ok(ReportCommand::List));
    }

    #[test]
    fn a_ruling_is_typed_with_a_number_and_one_of_two_words() {
        let read = |line: &str| parse("decide", line);
        let reason = "no walls".to_string();
        let upheld = ReportCommand::Decide(3, Ruling::Upheld, reason);
        assert_eq!(read("3 upheld no walls"), Ok(upheld));
        let dismissed = ReportCommand::Decide(3, Ruling::Dismissed, String::new());
        assert_eq!(read("3 Dismissed"), Ok(dismissed));
        for wrong in ["", "3", "3 maybe", "three upheld"] {
            assert_eq!(read(wrong), Err(ReportLineError::Ruling), "{wrong}");
        }
    }

    #[test]
    fn a_report_is_told_with_who_what_and_how_it_was_decided() {
        let open = ReportEntry {
            report: 3,
            by: PublicKey([1; 32]),
            by_name: String::new(),
            about: ReportSubject::Thing(ObjectId(7)),
            name: "wall".to_string(),
            accused: None,
            words: "it blocks\u{1b} the door".to_string(),
            ago: 120_000,
            ruling: None,
            opened: None,
        };
        let head = "Report 3 by 01010101.. about wall, 2 minutes ago: it blocks  the door";
        assert_eq!(report_line(&open), format!("{head} (open)"));
        let (by, ruling, height) = (PublicKey([2; 32]), Ruling::Upheld, Height(9));
        let given = RulingEntry { by, ruling, reason: "no walls".to_string(), height };
        let decided = ReportEntry { ruling: Some(given), ..open.clone() };
        assert_eq!(report_line(&decided), format!("{head} (upheld: no walls)"));
        let opened = Some("or else".to_string());
        let line = report_line(&ReportEntry { opened, ..open });
        assert!(line.contains("about wall, who told them privately \"or else\", "), "{line}");
    }
}
