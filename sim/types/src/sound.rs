//! Sounds that things make.

use serde::{Deserialize, Serialize};

/// A short sound that a thing makes. Clients make it of tones and noise, so nothing is fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Sound {
    /// A large bell that rings on.
    Bell,
    /// A small bell.
    Chime,
    /// A switch that is turned.
    Click,
    /// A door on its hinges.
    Creak,
    /// A drum that is struck once.
    Drum,
    /// Three rising notes for somebody who won.
    Fanfare,
    /// A hand on wood.
    Knock,
    /// One note of an instrument: what melodies are made of.
    Note,
    /// A bubble that bursts.
    Pop,
    /// Something that falls into water.
    Splash,
    /// Something heavy that falls.
    Thud,
    /// Something that flies past.
    Whoosh,
}

impl Sound {
    /// All of them, each with its name.
    pub const ALL: [(&str, Self); 12] = [
        ("bell", Self::Bell),
        ("chime", Self::Chime),
        ("click", Self::Click),
        ("creak", Self::Creak),
        ("drum", Self::Drum),
        ("fanfare", Self::Fanfare),
        ("knock", Self::Knock),
        ("note", Self::Note),
        ("pop", Self::Pop),
        ("splash", Self::Splash),
        ("thud", Self::Thud),
        ("whoosh", Self::Whoosh),
    ];

    /// Returns its name, as scripts write it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        Self::ALL[self as usize].0
    }

    /// Returns the sound with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, sound)| *sound)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_sound_has_its_name() {
        for (name, sound) in Sound::ALL {
            assert_eq!((sound.name(), Sound::named(name)), (name, Some(sound)));
        }
        assert_eq!(Sound::named("bang"), None);
    }
}
