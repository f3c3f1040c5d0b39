//! Reading what people type about profiles and buddies.

use alloc::{
    format,
    string::{String, ToString as _},
    vec::Vec,
};

use metatopia_types::Profile;

use super::{ParseError, printable};

/// What somebody types about a profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProfileCommand {
    /// Tell of one's own.
    Own,
    /// Tell of the person of this name or key.
    Of(String),
    /// Say this line of oneself; none if it is empty.
    Line(String),
    /// These are one's pronouns; none if that is empty.
    Pronouns(String),
    /// Show the picture in this file.
    Picture(String),
    /// Show no picture any more.
    NoPicture,
    /// Say nothing of oneself any more.
    Clear,
}

/// What somebody types about whom she likes to find.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BuddyCommand {
    /// Put the person of this name or key on the list.
    Add(String),
    /// Take the person of this name or key off it.
    Remove(String),
    /// List who is on it.
    List,
}

/// Reads what follows `profile`.
pub(super) fn parse(rest: &str) -> Result<ProfileCommand, ParseError> {
    let (word, more) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let more = more.trim();
    Ok(match word.to_lowercase().as_str() {
        "" => ProfileCommand::Own,
        "line" => ProfileCommand::Line(more.to_string()),
        "pronouns" => ProfileCommand::Pronouns(more.to_string()),
        "picture" if more.is_empty() => {
            return Err(ParseError::Missing("profile picture", "the name of a PNG or JPEG file"));
        }
        "picture" => ProfileCommand::Picture(more.trim_matches('"').to_string()),
        "no" if more.eq_ignore_ascii_case("picture") => ProfileCommand::NoPicture,
        "clear" if more.is_empty() => ProfileCommand::Clear,
        _ => ProfileCommand::Of(rest.trim_matches('"').trim().to_string()),
    })
}

/// Reads a line that begins with `buddy`, `unbuddy` or `buddies`.
pub(super) fn parse_buddy(first: &str, rest: &str) -> Result<BuddyCommand, ParseError> {
    let name = rest.trim_matches('"').trim().to_string();
    match first {
        "buddies" => Ok(BuddyCommand::List),
        "unbuddy" if name.is_empty() => Err(ParseError::Missing("unbuddy", "a name or a key")),
        "unbuddy" => Ok(BuddyCommand::Remove(name)),
        _ if name.is_empty() => Err(ParseError::Missing("buddy", "a name or a key")),
        _ => Ok(BuddyCommand::Add(name)),
    }
}

/// Returns a profile in sentences. What its owner wrote is printable.
#[must_use]
pub fn profile_lines(profile: &Profile) -> Vec<String> {
    let mut lines = Vec::new();
    if !profile.line.is_empty() {
        lines.push(printable(&profile.line));
    }
    if !profile.pronouns.is_empty() {
        lines.push(format!("Pronouns: {}.", printable(&profile.pronouns)));
    }
    if let Some(picture) = &profile.picture {
        lines.push(format!("Picture {}.., which the page shows.", &picture.to_string()[..8]));
    }
    if lines.is_empty() {
        lines.push("Nothing is said.".to_string());
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_type_what_they_say_of_themselves_and_whose_profile_they_read() {
        for (typed, read) in [
            ("", ProfileCommand::Own),
            ("Ada Lovelace", ProfileCommand::Of("Ada Lovelace".into())),
            ("\"line\"", ProfileCommand::Of("line".into())),
            ("line I build mills.", ProfileCommand::Line("I build mills.".into())),
            ("line", ProfileCommand::Line(String::new())),
            ("pronouns she/her", ProfileCommand::Pronouns("she/her".into())),
            ("picture \"my face.png\"", ProfileCommand::Picture("my face.png".into())),
            ("no picture", ProfileCommand::NoPicture),
            ("clear", ProfileCommand::Clear),
        ] {
            assert_eq!(parse(typed), Ok(read), "{typed}");
        }
        assert!(matches!(parse("picture"), Err(ParseError::Missing("profile picture", _))));
        assert_eq!(parse_buddy("buddy", "Bob"), Ok(BuddyCommand::Add("Bob".into())));
        assert_eq!(
            parse_buddy("unbuddy", "\"Old Bob\""),
            Ok(BuddyCommand::Remove("Old Bob".into()))
        );
        assert_eq!(parse_buddy("buddies", ""), Ok(BuddyCommand::List));
        assert!(parse_buddy("buddy", "").is_err() && parse_buddy("unbuddy", "").is_err());
    }
}
