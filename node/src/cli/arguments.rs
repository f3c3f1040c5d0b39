//! Values on the command line, and how people write them.

use std::time::Duration;

use metatopia_sim::is_line;
use metatopia_types::{Height, Lane, ScriptId, Seq};

use super::failure::Failure;

/// The longest duration that is accepted: a day. No command waits longer on purpose.
const DURATION_MAX: Duration = Duration::from_secs(86_400);

/// The longest time that an invite can be valid: a year.
const INVITE_DURATION_MAX: Duration = Duration::from_secs(365 * 86_400);

/// Reads a duration of at most a day, such as `500ms`, `30s` or `1h 30m`.
///
/// # Errors
/// A sentence that says how durations are written.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    at_most(DURATION_MAX, "a day, 24h", text)
}

/// Reads a duration of more than nothing and at most a year, such as `7d`.
///
/// # Errors
/// A sentence that says how durations are written.
pub(crate) fn days(text: &str) -> Result<Duration, String> {
    let duration = at_most(INVITE_DURATION_MAX, "a year, 365d", text)?;
    if duration.is_zero() { Err("a duration must be above 0s".to_owned()) } else { Ok(duration) }
}

fn at_most(most: Duration, name: &str, text: &str) -> Result<Duration, String> {
    let duration = humantime::parse_duration(text).map_err(|_| {
        format!("a duration looks like 500ms, 30s, 2m or 1h, and is at most {name}")
    })?;
    if duration <= most { Ok(duration) } else { Err(format!("a duration is at most {name}")) }
}

/// Checks that a text is a line of at most so many bytes. The text itself is not told again: it may be long, and may
/// turn the line in which it is told.
///
/// # Errors
/// What is wrong with it; `what` names the text.
pub(crate) fn check_line(what: &str, text: &str, most: usize) -> Result<(), Failure> {
    let wrong = text.char_indices().find(|(_, char)| !is_line(char.encode_utf8(&mut [0; 4])));
    if let Some((at, char)) = wrong {
        let message = format!(
            "{what} has U+{:04X} at byte {at}, which ends or turns a line, or controls a terminal",
            u32::from(char)
        );
        return Err(Failure::usage(message).hint("leave it out"));
    }
    match text.len() {
        length if length > most => {
            let message = format!("{what} has {length} bytes, and at most {most} are taken");
            Err(Failure::usage(message).hint("say it in fewer words"))
        }
        _ => Ok(()),
    }
}

macro_rules! counters {
    ($($name:ident -> $type:ident;)*) => {$(
        pub(crate) fn $name(text: &str) -> Result<$type, std::num::ParseIntError> {
            text.parse().map($type)
        }
    )*};
}

counters! {
    height -> Height;
    lane -> Lane;
    seq -> Seq;
    script -> ScriptId;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reason of 64 KiB with a sign that turns a line was told again whole, and which sign it was was not told.
    #[test]
    fn a_text_that_is_no_line_is_told_by_its_sign_and_not_again() {
        let text = format!("loud\u{202e}{}", "x".repeat(65_536));
        let told = check_line("the reason", &text, 200).unwrap_err().to_string();
        let why =
            "the reason has U+202E at byte 4, which ends or turns a line, or controls a terminal";
        assert_eq!(told, format!("{why}; leave it out"));
        let told = check_line("the reason", &"x".repeat(201), 200).unwrap_err().to_string();
        assert!(
            told.starts_with("the reason has 201 bytes, and at most 200 are taken; "),
            "{told}"
        );
        assert_eq!(check_line("the reason", "", 200), Ok(()));
    }

    #[test]
    fn durations_have_units_and_an_end() {
        assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(duration("30s"), Ok(Duration::from_secs(30)));
        assert_eq!(duration("2m"), Ok(Duration::from_secs(120)));
        assert_eq!(duration("24h"), Ok(DURATION_MAX));
        assert_eq!(duration("1h 30m"), Ok(Duration::from_secs(5_400)));
        for text in ["", "30", "s", "2d", "-1s", "25h", "99999999999999999999s"] {
            assert!(duration(text).is_err(), "{text}");
        }
        assert!(duration(&format!("{}h", u64::MAX)).is_err());
    }

    #[test]
    fn longer_times_are_written_in_days() {
        assert_eq!(days("7d"), Ok(Duration::from_secs(7 * 86_400)));
        assert_eq!(days("30m"), Ok(Duration::from_secs(1_800)));
        for text in ["0d", "366d", "d", "-1d", "7"] {
            assert!(days(text).is_err(), "{text}");
        }
    }
}
