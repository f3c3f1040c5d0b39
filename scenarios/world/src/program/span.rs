//! Times and names on the command line.

use std::time::Duration;

use metatopia_world::Class;
pub(crate) use metatopia_world::story::span;

/// A time as [`span`] reads it.
pub(crate) fn written(span: Duration) -> String {
    format!("{}ms", span.as_millis())
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
    use super::{class, span, written};
    use metatopia_world::Class;
    use std::time::Duration;

    #[test]
    fn a_time_is_written_as_it_is_read() {
        for millis in [0, 500, 120_000] {
            let read = Duration::from_millis(millis);
            assert_eq!(span(&written(read)), Ok(read));
        }
    }

    #[test]
    fn a_class_is_found_by_its_name() {
        assert_eq!(class("bit-flip"), Ok(Class::BitFlip));
        assert!(class("bitflip").is_err_and(|why| why.contains("bit-flip")));
    }
}
