//! Times and names on the command line.

use std::time::Duration;

use metatopia_world::Class;

/// Reads a time such as `120s`, `500ms`, `2m` or `1h`.
///
/// # Errors
/// Anything else, with what it should have been.
pub(crate) fn span(word: &str) -> Result<Duration, String> {
    let digits = word.find(|c: char| !c.is_ascii_digit()).unwrap_or(word.len());
    let (number, unit) = word.split_at(digits);
    let number: u64 = number.parse().map_err(|_| wrong(word))?;
    let millis = match unit {
        "ms" => Some(number),
        "s" => number.checked_mul(1_000),
        "m" => number.checked_mul(60_000),
        "h" => number.checked_mul(3_600_000),
        _ => return Err(wrong(word)),
    };
    millis.map(Duration::from_millis).ok_or_else(|| wrong(word))
}

fn wrong(word: &str) -> String {
    format!("{word} is no time: write a number and ms, s, m or h, such as 120s")
}

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
    fn a_time_has_a_number_and_a_unit() {
        for (word, millis) in
            [("120s", 120_000), ("500ms", 500), ("2m", 120_000), ("1h", 3_600_000)]
        {
            let read = Duration::from_millis(millis);
            assert_eq!(span(word), Ok(read), "{word}");
            assert_eq!(span(&written(read)), Ok(read), "{word}");
        }
        for word in
            ["", "120", "s", "1.5s", "-1s", "99999999999999999999s", "18446744073709551615h"]
        {
            assert!(span(word).is_err(), "{word}");
        }
    }

    #[test]
    fn a_class_is_found_by_its_name() {
        assert_eq!(class("bit-flip"), Ok(Class::BitFlip));
        assert!(class("bitflip").is_err_and(|why| why.contains("bit-flip")));
    }
}
