//! Values on the command line, and how they are written.

use std::time::Duration;

use metatopia_types::{Height, Lane, ScriptId, Seq};

/// Longest duration that is taken: a day. Nothing here waits longer on purpose.
const DURATION_MAX: Duration = Duration::from_secs(86_400);

/// Reads `500ms`, `30s`, `2m` or `1h`.
///
/// # Errors
/// A sentence that says how durations are written.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, unit) = text.split_at(digits);
    let bad = || "a duration looks like 500ms, 30s, 2m or 1h".to_owned();
    let number: u64 = number.parse().map_err(|_| bad())?;
    let ms = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return Err(bad()),
    };
    let duration = number.checked_mul(ms).map(Duration::from_millis);
    match duration {
        Some(duration) if duration <= DURATION_MAX => Ok(duration),
        _ => Err("at most a day, 24h".to_owned()),
    }
}

/// Longest time that an invite may be good: a year.
const DAYS_MAX: u64 = 365;

/// Reads what [`duration`] reads, and days such as `7d`.
///
/// # Errors
/// A sentence that says how durations are written.
pub(crate) fn days(text: &str) -> Result<Duration, String> {
    let Some(days) = text.strip_suffix('d') else {
        return duration(text).map_err(|why| format!("{why}; or in days, like 7d"));
    };
    match days.parse::<u64>() {
        Ok(days @ 1..=DAYS_MAX) => Ok(Duration::from_secs(days * 86_400)),
        _ => Err(format!("1d to {DAYS_MAX}d")),
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

    #[test]
    fn durations_have_units_and_an_end() {
        assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(duration("30s"), Ok(Duration::from_secs(30)));
        assert_eq!(duration("2m"), Ok(Duration::from_secs(120)));
        assert_eq!(duration("24h"), Ok(DURATION_MAX));
        for text in ["", "30", "s", "1d", "-1s", "1.5s", "25h", "99999999999999999999s"] {
            assert!(duration(text).is_err(), "{text}");
        }
        assert!(duration(&format!("{}h", u64::MAX)).is_err());
    }

    #[test]
    fn longer_times_are_written_in_days() {
        assert_eq!(days("7d"), Ok(Duration::from_secs(7 * 86_400)));
        assert_eq!(days("30m"), Ok(Duration::from_secs(1_800)));
        for text in ["0d", "366d", "d", "-1d", "1.5d", "7"] {
            assert!(days(text).is_err(), "{text}");
        }
    }
}
