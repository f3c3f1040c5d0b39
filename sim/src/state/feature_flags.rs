//! Feature flags: names that scripts ask for, each of which is on from an agreed height.
//!
//! Every server switches a flag on at the same turn, so a market can open at once for everybody, and a script can
//! be published days before what is new in it shows.

use std::{collections::BTreeMap, fmt, str::FromStr};

use metatopia_types::Height;
use serde::{Deserialize, Serialize};

use crate::limits::{FLAG_NAME_BYTES_MAX, FLAGS_MAX};

/// What a list without flags is called.
const NO_FLAGS: &str = "none";

/// The flags of a sim by their names, each with the first turn in which it is on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FeatureFlags(pub BTreeMap<String, Height>);

/// Why a list of flags is none that a sim may have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FeatureFlagsError {
    /// There are too many.
    #[error("{0} flags where at most {FLAGS_MAX} are allowed")]
    TooMany(usize),
    /// A name is none that a flag may have.
    #[error(
        "{0:?} is no name of a flag: write 1 to {FLAG_NAME_BYTES_MAX} small letters, digits and \
         underscores, a letter first"
    )]
    Name(String),
}

/// The text is no list of flags.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "flags are written NAME:HEIGHT, with commas between them, or {NO_FLAGS}; +NAME:HEIGHT adds or moves \
     one, and +NAME:{NO_FLAGS} takes one away"
)]
pub struct FlagsTextError;

impl FeatureFlags {
    /// Says whether a flag is on in the turn of this height. A flag that nobody named is off.
    #[must_use]
    pub fn is_on(&self, name: &str, height: Height) -> bool {
        self.0.get(name).is_some_and(|from| *from <= height)
    }

    /// Returns the list that a text makes of this one: another list, or this one with a change after a plus.
    /// A whole list may be longer than an act.
    ///
    /// # Errors
    /// When the text is neither.
    pub fn changed_by(&self, text: &str) -> Result<Self, FlagsTextError> {
        let Some(change) = text.strip_prefix('+') else { return text.parse() };
        let mut flags = self.clone();
        match change.split_once(':') {
            Some((name, NO_FLAGS)) => {
                flags.0.remove(name);
            }
            _ => flags.0.extend(change.parse::<Self>()?.0),
        }
        Ok(flags)
    }

    /// Returns the flags of a sim that begins anew in place of one of this height: what is on stays on, and what waits
    /// waits for as many turns as it would have.
    #[must_use]
    pub fn after(&self, height: Height) -> Self {
        let left = |(name, from): (&String, &Height)| {
            (name.clone(), Height(from.0.saturating_sub(height.0)))
        };
        Self(self.0.iter().map(left).collect())
    }

    /// Checks number and names.
    ///
    /// # Errors
    /// The first rule that is broken.
    pub fn check(&self) -> Result<(), FeatureFlagsError> {
        if self.0.len() > FLAGS_MAX {
            return Err(FeatureFlagsError::TooMany(self.0.len()));
        }
        let wrong = self.0.keys().find(|name| !is_flag_name(name));
        wrong.map_or(Ok(()), |name| Err(FeatureFlagsError::Name(name.clone())))
    }
}

fn is_flag_name(name: &str) -> bool {
    let known = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    // `none` is what a list without flags is called.
    name.len() <= FLAG_NAME_BYTES_MAX
        && name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.bytes().all(known)
        && name != NO_FLAGS
}

impl fmt::Display for FeatureFlags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str(NO_FLAGS);
        }
        for (n, (name, from)) in self.0.iter().enumerate() {
            let comma = if n == 0 { "" } else { "," };
            write!(f, "{comma}{name}:{from}")?;
        }
        Ok(())
    }
}

impl FromStr for FeatureFlags {
    type Err = FlagsTextError;

    fn from_str(text: &str) -> Result<Self, FlagsTextError> {
        if text == NO_FLAGS {
            return Ok(Self::default());
        }
        let mut flags = BTreeMap::new();
        for part in text.split(',') {
            let (name, from) = part.trim().split_once(':').ok_or(FlagsTextError)?;
            let from = from.parse().map_err(|_| FlagsTextError)?;
            if flags.insert(name.to_owned(), Height(from)).is_some() {
                return Err(FlagsTextError);
            }
            // A longer list is refused whole, and nobody makes it much longer than that.
            if flags.len() > FLAGS_MAX {
                break;
            }
        }
        Ok(Self(flags))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_read_as_it_is_written() {
        for text in ["none", "fair:0", "fair:0,night_market:12000"] {
            let flags: FeatureFlags = text.parse().expect(text);
            assert_eq!(flags.to_string(), text);
            assert_eq!(flags.check(), Ok(()));
        }
        for text in ["", "fair", "fair:", "fair:-1", "fair:soon", "fair:1,fair:2", "fair:1,"] {
            assert_eq!(text.parse::<FeatureFlags>(), Err(FlagsTextError), "{text}");
        }
    }

    #[test]
    fn a_change_after_a_plus_leaves_the_other_flags() {
        let flags: FeatureFlags = "fair:5".parse().expect("one flag");
        let changed = |text: &str| flags.changed_by(text).map(|flags| flags.to_string());
        assert_eq!(changed("+market:9").as_deref(), Ok("fair:5,market:9"));
        assert_eq!(changed("+fair:7").as_deref(), Ok("fair:7"));
        assert_eq!(changed("+fair:none").as_deref(), Ok("none"));
        assert_eq!(changed("+tide:none").as_deref(), Ok("fair:5"));
        assert_eq!(changed("market:9").as_deref(), Ok("market:9"));
        assert_eq!(changed("+market"), Err(FlagsTextError));
    }

    #[test]
    fn a_sim_that_begins_anew_counts_the_turns_that_were_left() {
        let flags: FeatureFlags = "fair:5,market:9".parse().expect("two flags");
        assert_eq!(flags.after(Height(7)).to_string(), "fair:0,market:2");
    }

    #[test]
    fn a_flag_is_on_from_its_height_on() {
        let flags: FeatureFlags = "fair:5".parse().expect("one flag");
        assert!(!flags.is_on("fair", Height(4)));
        assert!(flags.is_on("fair", Height(5)));
        assert!(flags.is_on("fair", Height(6)));
        assert!(!flags.is_on("market", Height(6)));
    }

    #[test]
    fn names_and_number_have_limits() {
        let named = |name: &str| FeatureFlags(BTreeMap::from([(name.to_owned(), Height(1))]));
        assert_eq!(named(&"x".repeat(FLAG_NAME_BYTES_MAX)).check(), Ok(()));
        let long = "x".repeat(FLAG_NAME_BYTES_MAX + 1);
        for name in ["", "Fair", "9th", "a b", "none", long.as_str()] {
            assert_eq!(named(name).check(), Err(FeatureFlagsError::Name(name.to_owned())));
        }
        let many =
            |count: usize| FeatureFlags((0..count).map(|n| (format!("f{n}"), Height(1))).collect());
        assert_eq!(many(FLAGS_MAX).check(), Ok(()));
        assert_eq!(many(FLAGS_MAX + 1).check(), Err(FeatureFlagsError::TooMany(FLAGS_MAX + 1)));
        let text = many(FLAGS_MAX + 9).to_string();
        let read: FeatureFlags = text.parse().expect("a list");
        assert_eq!(read.check(), Err(FeatureFlagsError::TooMany(FLAGS_MAX + 1)));
    }
}
