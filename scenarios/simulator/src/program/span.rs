//! Times, numbers and names on the command line.

use std::time::Duration;

use metatopia_simulator::Class;
pub(crate) use metatopia_simulator::story::span;

/// A time as [`span`] reads it.
pub(crate) fn written(span: Duration) -> String {
    format!("{}ms", span.as_millis())
}

/// The longest life of a world: 8 minutes of a core for agreement, some hours for whole servers. What
/// the oracle remembers of it grows with it.
pub(crate) const LIFE_MAX: Duration = Duration::from_secs(24 * 3_600);

/// Reads how long a world lives.
///
/// # Errors
/// No time, none at all, or more than [`LIFE_MAX`].
pub(crate) fn life(word: &str) -> Result<Duration, String> {
    let span = span(word)?;
    if (Duration::from_secs(1)..=LIFE_MAX).contains(&span) {
        return Ok(span);
    }
    Err(format!("{word} is no life of a world: from 1s to {}h", LIFE_MAX.as_secs() / 3_600))
}

/// Reads a seed.
///
/// # Errors
/// Anything but a number of 64 bits.
pub(crate) fn seed(word: &str) -> Result<u64, String> {
    let read = word.parse();
    read.map_err(|_| format!("{word} is no seed: write a whole number from 0 to {}", u64::MAX))
}

/// Reads the name of a class of faults.
///
/// # Errors
/// Any other word, with all names.
pub(crate) fn class(word: &str) -> Result<Class, String> {
    let found = Class::ALL.iter().find(|class| class.name() == word);
    found.copied().ok_or_else(|| {
        let names: Vec<&str> = Class::ALL.iter().map(|class| class.name()).collect();
        format!("{word} is no class of faults; there are {}", names.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::{LIFE_MAX, class, life, seed, span, written};
    use metatopia_simulator::Class;
    use std::time::Duration;

    #[test]
    fn a_time_is_written_as_it_is_read() {
        for millis in [0, 500, 120_000] {
            let read = Duration::from_millis(millis);
            assert_eq!(span(&written(read)), Ok(read));
        }
    }

    #[test]
    fn a_world_lives_for_a_second_at_least_and_a_day_at_most() {
        assert_eq!(life("1s"), Ok(Duration::from_secs(1)));
        assert_eq!(life("24h"), Ok(LIFE_MAX));
        for word in ["0s", "999ms", "86401s", "2d"] {
            assert!(life(word).is_err_and(|why| why.starts_with(word)), "{word}");
        }
    }

    #[test]
    fn a_seed_is_any_number_of_64_bits() {
        assert_eq!(seed("18446744073709551615"), Ok(u64::MAX));
        for word in ["-1", "x", "18446744073709551616", ""] {
            assert!(seed(word).is_err_and(|why| why.contains("0 to")), "{word}");
        }
    }

    #[test]
    fn a_class_is_found_by_its_name() {
        assert_eq!(class("bit-flip"), Ok(Class::BitFlip));
        assert!(class("bitflip").is_err_and(|why| why.contains("bit-flip")));
    }
}
