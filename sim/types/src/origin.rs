//! Origins: how things are named in a world of many sims.

use core::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::{ObjectId, ParseIdError, SimId};

/// The origin of a thing: the sim of its birth, and its number there. It is the same wherever the thing
/// is, while its number is another one in each sim.
///
/// Its text is the sim's 64 hexadecimal digits, a slash, and the number, as in `00..2a/7`. One origin
/// has one text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Origin {
    /// The sim in which it was made.
    pub sim: SimId,
    /// Its number there, from its birth on.
    pub number: ObjectId,
}

/// Why a text is no origin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ParseOriginError {
    /// Nothing stands between the sim and the number.
    #[error("no slash stands between the sim and the number")]
    Slash,
    /// What stands before the slash names no sim.
    #[error("the sim: {0}")]
    Sim(ParseIdError),
    /// What stands behind the slash is no number, or is written in another way than ours.
    #[error("what stands behind the slash is no number without signs and leading zeros")]
    Number,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.sim, self.number)
    }
}

impl FromStr for Origin {
    type Err = ParseOriginError;

    fn from_str(text: &str) -> Result<Self, ParseOriginError> {
        let (sim, number) = text.split_once('/').ok_or(ParseOriginError::Slash)?;
        let sim = sim.parse().map_err(ParseOriginError::Sim)?;
        // The parser of the standard library takes `+7` and `007` too.
        let is_plain = number == "0" || number.starts_with(|c: char| matches!(c, '1'..='9'));
        let number = number.parse().ok().filter(|_| is_plain);
        Ok(Self { sim, number: ObjectId(number.ok_or(ParseOriginError::Number)?) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Digest;

    const SIM: &str = "4242424242424242424242424242424242424242424242424242424242424242";

    fn parsed(text: &str) -> Result<Origin, ParseOriginError> {
        text.parse()
    }

    #[test]
    fn an_origin_and_its_text_stand_for_one_another() {
        for number in [0, 1, 7, 10, 1 << 52, u64::MAX] {
            let sim = SimId(Digest([0x42; 32]));
            let origin = Origin { sim, number: ObjectId(number) };
            assert_eq!(origin.to_string(), format!("{SIM}/{number}"));
            assert_eq!(parsed(&origin.to_string()), Ok(origin));
        }
    }

    #[test]
    fn any_other_text_is_refused_with_its_reason() {
        assert_eq!(parsed(SIM), Err(ParseOriginError::Slash));
        assert_eq!(parsed("7"), Err(ParseOriginError::Slash));
        let short = ParseIdError::Length { expected: 64, found: 2 };
        assert_eq!(parsed("42/7"), Err(ParseOriginError::Sim(short)));
        let upper = format!("{}/7", SIM.replace('4', "A"));
        assert_eq!(parsed(&upper), Err(ParseOriginError::Sim(ParseIdError::Digit { at: 0 })));
        for number in ["", "+7", "-7", "007", "00", " 7", "7 ", "7/7", "18446744073709551616"] {
            let text = format!("{SIM}/{number}");
            assert_eq!(parsed(&text), Err(ParseOriginError::Number), "{text}");
        }
    }
}
