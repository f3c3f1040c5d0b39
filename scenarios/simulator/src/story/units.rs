//! Values with units as stories write them: times, shifts of clocks, shares.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Deserializer, de};

/// Parts per million in a percent.
const PPM_PER_PERCENT: u32 = 10_000;

/// Reads a time such as `120s`, `500ms`, `2m` or `1h`, in whole milliseconds.
///
/// # Errors
/// Anything else, with what it should have been.
pub fn span(word: &str) -> Result<Duration, String> {
    let span = humantime::parse_duration(word).map_err(|_| no_time(word))?;
    let is_whole = span.subsec_nanos().is_multiple_of(1_000_000);
    let is_counted = u64::try_from(span.as_millis()).is_ok();
    if is_whole && is_counted { Ok(span) } else { Err(no_time(word)) }
}

fn no_time(word: &str) -> String {
    format!("{word} is no time: write a number and ms, s, m or h, such as 120s")
}

/// Reads milliseconds with a sign, such as `-1h` or `+250ms`.
fn shift(word: &str) -> Result<i64, String> {
    let wrong = || format!("{word} is no shift: write a sign and a time, such as -1h or +250ms");
    let (sign, rest) = match (word.strip_prefix('-'), word.strip_prefix('+')) {
        (Some(rest), _) => (-1, rest),
        (_, Some(rest)) => (1, rest),
        _ => return Err(wrong()),
    };
    let millis = span(rest).map_err(|_| wrong())?.as_millis();
    i64::try_from(millis).map(|millis| sign * millis).map_err(|_| wrong())
}

/// Reads a share such as `1%` or `0.25%`, in parts per million.
fn share(word: &str) -> Result<u32, String> {
    let wrong = || format!("{word} is no share: write percents up to 100%, such as 1% or 0.25%");
    let number = word.strip_suffix('%').ok_or_else(wrong)?;
    let (whole, parts) = number.split_once('.').unwrap_or((number, "0"));
    let plain = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    if !plain(whole) || !plain(parts) || parts.len() > 4 {
        return Err(wrong());
    }
    let whole: u32 = whole.parse().map_err(|_| wrong())?;
    let parts: u32 = format!("{parts:0<4}").parse().map_err(|_| wrong())?;
    let ppm = whole.checked_mul(PPM_PER_PERCENT).and_then(|ppm| ppm.checked_add(parts));
    ppm.filter(|ppm| *ppm <= crate::CERTAIN_PPM).ok_or_else(wrong)
}

/// Which server something happens to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ServerTarget {
    /// The one in this seat.
    Seat(usize),
    /// Whoever proposes at that moment.
    Proposer,
    /// Any that runs, as the seed says.
    Any,
}

macro_rules! words {
    ($($(#[doc = $doc:literal])+ $name:ident($value:ty) by $read:path, $expects:literal;)+) => {$(
        $(#[doc = $doc])+
        #[derive(Debug, Clone, Copy)]
        pub(super) struct $name(pub(super) $value);

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                struct Reader;
                impl de::Visitor<'_> for Reader {
                    type Value = $name;

                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str($expects)
                    }

                    fn visit_str<E: de::Error>(self, word: &str) -> Result<$name, E> {
                        $read(word).map($name).map_err(E::custom)
                    }
                }
                from.deserialize_any(Reader)
            }
        }
    )+};
}

words! {
    /// A time with its unit.
    Time(Duration) by span, "a time in quotes such as \"300ms\" or \"12s\"";
    /// How far a clock is moved, in milliseconds.
    Shift(i64) by shift, "a shift in quotes such as \"-1h\" or \"+250ms\"";
    /// A share, in parts per million.
    Share(u32) by share, "a share in quotes such as \"1%\"";
}

impl<'de> Deserialize<'de> for ServerTarget {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Reader;
        impl de::Visitor<'_> for Reader {
            type Value = ServerTarget;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the number of a server, \"proposer\" or \"any\"")
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<ServerTarget, E> {
                let seat = usize::try_from(number);
                seat.map(ServerTarget::Seat)
                    .map_err(|_| E::invalid_value(de::Unexpected::Signed(number), &self))
            }

            fn visit_str<E: de::Error>(self, word: &str) -> Result<ServerTarget, E> {
                match word {
                    "proposer" => Ok(ServerTarget::Proposer),
                    "any" => Ok(ServerTarget::Any),
                    _ => Err(E::invalid_value(de::Unexpected::Str(word), &self)),
                }
            }
        }
        from.deserialize_any(Reader)
    }
}

#[cfg(test)]
mod tests {
    use super::{share, shift, span};
    use std::time::Duration;

    #[test]
    fn a_time_has_a_number_and_a_unit() {
        for (word, millis) in
            [("120s", 120_000), ("500ms", 500), ("2m", 120_000), ("1h", 3_600_000)]
        {
            assert_eq!(span(word), Ok(Duration::from_millis(millis)), "{word}");
        }
        for word in ["", "120", "s", "1us", "-1s", "18446744073709552s", "18446744073709551615h"] {
            assert!(span(word).is_err(), "{word}");
        }
    }

    #[test]
    fn a_shift_has_a_sign() {
        assert_eq!((shift("-1h"), shift("+250ms")), (Ok(-3_600_000), Ok(250)));
        for word in ["1h", "--1h", "-1", "+", ""] {
            assert!(shift(word).is_err(), "{word}");
        }
    }

    #[test]
    fn a_share_is_exact_to_a_part_per_million() {
        for (word, ppm) in
            [("0%", 0), ("1%", 10_000), ("0.25%", 2_500), ("0.0001%", 1), ("100%", 1_000_000)]
        {
            assert_eq!(share(word), Ok(ppm), "{word}");
        }
        for word in ["1", "%", ".5%", "1.%", "100.0001%", "0.00001%", "-1%", "+1%", "99999999999%"]
        {
            assert!(share(word).is_err(), "{word}");
        }
    }
}
