//! Titles: who may build on a land.

use core::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::PublicKey;

/// The title to a land: who may build there. Written, it is `open`, `sim` or a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Title {
    /// Everybody may build there.
    Open,
    /// The sim's own: only its admins build there.
    Sim,
    /// This player's, and nobody else but admins builds there.
    Player(PublicKey),
}

impl Title {
    /// Says whether a player who is no admin may build there.
    #[must_use]
    pub fn lets(self, builder: &PublicKey) -> bool {
        match self {
            Self::Open => true,
            Self::Sim => false,
            Self::Player(owner) => owner == *builder,
        }
    }
}

impl fmt::Display for Title {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open => f.write_str("open"),
            Self::Sim => f.write_str("sim"),
            Self::Player(owner) => owner.fmt(f),
        }
    }
}

/// A text that is no title.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("no title to land: write open, sim, or a key of 64 hexadecimal digits")]
pub struct ParseTitleError;

impl FromStr for Title {
    type Err = ParseTitleError;

    fn from_str(text: &str) -> Result<Self, ParseTitleError> {
        match text {
            "open" => Ok(Self::Open),
            "sim" => Ok(Self::Sim),
            key => key.parse().map(Self::Player).map_err(|_| ParseTitleError),
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString as _;

    use super::*;

    #[test]
    fn a_title_is_read_as_it_is_written() {
        for title in [Title::Open, Title::Sim, Title::Player(PublicKey([7; 32]))] {
            assert_eq!(title.to_string().parse(), Ok(title));
        }
        for none in ["", "Open", "everybody", "07"] {
            assert_eq!(none.parse::<Title>(), Err(ParseTitleError), "{none}");
        }
    }
}
