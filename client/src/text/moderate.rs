//! Reading what moderators type about people.

use alloc::{
    format,
    string::{String, ToString as _},
};

use metatopia_protocol::span;
use metatopia_types::{GovernOrder, PublicKey, limits::REASON_BYTES_MAX};

/// What a moderator types about a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModerateCommand {
    /// Whom it is about: a name or a key.
    pub whom: String,
    /// What is to be done.
    pub measure: ModerateMeasure,
}

/// What a moderator does about a person. Seconds say for how long; without them it is for good.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModerateMeasure {
    /// Take the voice.
    Mute(Option<u32>, String),
    /// Give the voice back.
    Unmute,
    /// End the session; another one may begin.
    Kick,
    /// Shut the key out.
    Ban(Option<u32>, String),
    /// Let the key in again.
    Unban,
    /// Take away what the person says of herself.
    Unprofile,
}

/// Why a moderator's line is not understood. It says how it is meant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModerateLineError {
    /// Nobody is named, or there is more than the order takes.
    #[error("that is `{0} NAME`, or a key in place of the name")]
    Whom(&'static str),
    /// A mute or a ban is in another form.
    #[error(
        "that is `{0} NAME`, `{0} NAME for 2 hours` or `{0} NAME for 2 hours because WORDS`, with a name of \
         several words between quotes"
    )]
    Form(&'static str),
    /// The time is none.
    #[error(
        "`{0}` is no time; `for 90 seconds`, `for 10 minutes`, `for 2 hours` and `for 7 days` are"
    )]
    Time(String),
    /// Too many words for a reason.
    #[error("{0} bytes are too many for a reason; at most {REASON_BYTES_MAX}")]
    TooLong(usize),
}

/// The words of moderators.
const VERBS: [&str; 6] = ["mute", "unmute", "kick", "ban", "unban", "unprofile"];

/// Reads a moderator's line after its first word; nothing if that word is none of theirs.
pub(super) fn parse(first: &str, rest: &str) -> Option<Result<ModerateCommand, ModerateLineError>> {
    let verb = VERBS.into_iter().find(|verb| *verb == first)?;
    Some(match verb {
        "mute" => timed(verb, rest, ModerateMeasure::Mute),
        "ban" => timed(verb, rest, ModerateMeasure::Ban),
        "unmute" => plain(verb, rest, ModerateMeasure::Unmute),
        "kick" => plain(verb, rest, ModerateMeasure::Kick),
        "unprofile" => plain(verb, rest, ModerateMeasure::Unprofile),
        _ => plain(verb, rest, ModerateMeasure::Unban),
    })
}

/// Reads whom an order without time and reason is about.
fn plain(
    verb: &'static str,
    rest: &str,
    measure: ModerateMeasure,
) -> Result<ModerateCommand, ModerateLineError> {
    let (whom, more) = whom(rest).ok_or(ModerateLineError::Whom(verb))?;
    let whom = whom.to_string();
    if more.is_empty() {
        Ok(ModerateCommand { whom, measure })
    } else {
        Err(ModerateLineError::Whom(verb))
    }
}

/// Reads whom a mute or a ban is about, for how long and why.
fn timed(
    verb: &'static str,
    rest: &str,
    measure: fn(Option<u32>, String) -> ModerateMeasure,
) -> Result<ModerateCommand, ModerateLineError> {
    let form = || ModerateLineError::Form(verb);
    let (whom, more) = whom(rest).ok_or_else(form)?;
    let (time, reason) = match after(more, "because") {
        Some(reason) => ("", reason),
        None => more.split_once(" because ").unwrap_or((more, "")),
    };
    let seconds = match (time.trim(), after(time, "for")) {
        ("", _) => None,
        (_, Some(span)) => Some(seconds(span)?),
        (_, None) => return Err(form()),
    };
    let reason = reason.trim().to_string();
    if reason.len() > REASON_BYTES_MAX {
        return Err(ModerateLineError::TooLong(reason.len()));
    }
    Ok(ModerateCommand { whom: whom.to_string(), measure: measure(seconds, reason) })
}

/// Returns whom a line is about, and what follows. A name of several words stands between quotes.
pub(super) fn whom(line: &str) -> Option<(&str, &str)> {
    let quoted = line.strip_prefix('"').and_then(|rest| rest.split_once('"'));
    let (whom, more) =
        quoted.or_else(|| line.split_once(char::is_whitespace)).unwrap_or((line, ""));
    let whom = whom.trim();
    (!whom.is_empty() && !whom.starts_with('"')).then_some((whom, more.trim()))
}

/// Returns what follows the first word of a line, if it is this one.
pub(super) fn after<'a>(line: &'a str, word: &str) -> Option<&'a str> {
    let rest = line.trim().strip_prefix(word)?;
    (rest.is_empty() || rest.starts_with(char::is_whitespace)).then(|| rest.trim())
}

/// Reads a span of time of at least a second.
pub(super) fn seconds(typed: &str) -> Result<u32, ModerateLineError> {
    let digits = typed.len() - typed.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, unit) = typed.split_at(digits);
    let unit: u32 = match unit.trim().to_lowercase().as_str() {
        "s" | "second" | "seconds" => 1,
        "m" | "minute" | "minutes" => 60,
        "h" | "hour" | "hours" => 3_600,
        "d" | "day" | "days" => 86_400,
        _ => 0,
    };
    let span = number.parse::<u32>().ok().and_then(|number| number.checked_mul(unit));
    span.filter(|span| *span > 0).ok_or_else(|| ModerateLineError::Time(typed.to_string()))
}

impl ModerateMeasure {
    /// Returns the order to do this about somebody.
    #[must_use]
    pub fn order(self, key: PublicKey) -> GovernOrder {
        match self {
            Self::Mute(seconds, reason) => GovernOrder::Mute { key, seconds, reason },
            Self::Unmute => GovernOrder::Unmute { key },
            Self::Kick => GovernOrder::Kick { key },
            Self::Ban(seconds, reason) => GovernOrder::Ban { key, seconds, reason },
            Self::Unban => GovernOrder::Unban { key },
            Self::Unprofile => GovernOrder::Unprofile { key },
        }
    }

    /// Returns the sentence for what was done about somebody of this name and key.
    #[must_use]
    pub fn told(&self, name: &str, key: &PublicKey) -> String {
        let lasts = |seconds: &Option<u32>| match seconds {
            Some(seconds) => format!("for {}", span(u64::from(*seconds).saturating_mul(1_000))),
            None => "for good".to_string(),
        };
        match self {
            Self::Mute(seconds, _) => {
                format!("{name} is muted {}; `unmute {key}` ends it.", lasts(seconds))
            }
            Self::Unmute => format!("{name} may speak again."),
            Self::Kick => format!("The session of {name} is over; another one may begin."),
            Self::Ban(seconds, _) => {
                format!("{name} is banned {}; `unban {key}` ends it.", lasts(seconds))
            }
            Self::Unban => format!("{name} may come in again."),
            Self::Unprofile => format!("The profile of {name} is gone, until a newer one comes."),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<ModerateCommand, ModerateLineError> {
        let (first, rest) = line.split_once(' ').unwrap_or((line, ""));
        parse(first, rest.trim()).expect("a word of moderators")
    }

    #[test]
    fn moderators_type_whom_for_how_long_and_why() {
        let because = |words: &str| words.to_string();
        for (line, whom, measure) in [
            ("mute bob", "bob", ModerateMeasure::Mute(None, String::new())),
            ("mute bob for 90 seconds", "bob", ModerateMeasure::Mute(Some(90), String::new())),
            (
                "ban \"Old Bob\" for 2h because he shouts for hours",
                "Old Bob",
                ModerateMeasure::Ban(Some(7_200), because("he shouts for hours")),
            ),
            ("ban bob because spam", "bob", ModerateMeasure::Ban(None, because("spam"))),
            ("ban bob for 1 day", "bob", ModerateMeasure::Ban(Some(86_400), String::new())),
            ("kick bob", "bob", ModerateMeasure::Kick),
            ("unmute \"Old Bob\"", "Old Bob", ModerateMeasure::Unmute),
            ("unban bob", "bob", ModerateMeasure::Unban),
            ("unprofile bob", "bob", ModerateMeasure::Unprofile),
        ] {
            let whom = whom.to_string();
            assert_eq!(read(line), Ok(ModerateCommand { whom, measure }), "{line}");
        }
        assert_eq!(parse("say", "ban bob"), None);
    }

    #[test]
    fn a_line_of_moderators_that_is_none_says_how_it_is_meant() {
        for wrong in ["kick", "kick bob for 2 hours", "kick \"Old Bob"] {
            assert_eq!(read(wrong), Err(ModerateLineError::Whom("kick")), "{wrong}");
        }
        for wrong in ["ban", "ban bob now", "ban \"\" for 2 hours", "ban bob forever"] {
            assert_eq!(read(wrong), Err(ModerateLineError::Form("ban")), "{wrong}");
        }
        for time in ["", "ever", "0 days", "2 moons", "5000000 days", "2"] {
            let wrong = format!("mute bob for {time}");
            assert_eq!(read(&wrong), Err(ModerateLineError::Time(time.to_string())), "{wrong}");
        }
        let long = format!("ban bob because {}", "x".repeat(REASON_BYTES_MAX + 1));
        assert_eq!(read(&long), Err(ModerateLineError::TooLong(REASON_BYTES_MAX + 1)));
        let told = ModerateLineError::Form("ban").to_string();
        assert!(told.contains("`ban NAME for 2 hours because WORDS`"), "{told}");
    }

    #[test]
    fn what_a_moderator_did_is_told_with_what_ends_it() {
        let key = PublicKey([7; 32]);
        let told = ModerateMeasure::Ban(Some(7_200), String::new()).told("Bob", &key);
        assert_eq!(told, format!("Bob is banned for 2 hours; `unban {key}` ends it."));
        let told = ModerateMeasure::Mute(None, String::new()).told("Bob", &key);
        assert_eq!(told, format!("Bob is muted for good; `unmute {key}` ends it."));
    }
}
