//! Numbers and places in sentences.

use alloc::{borrow::ToOwned as _, format, string::String};
use core::fmt;

use metatopia_math::{Fx, Vec2};

/// Returns a count with what is counted: the first form after 1, and the second one after every other number.
pub fn number_of<N: From<u8> + PartialEq + fmt::Display>(
    count: N,
    one: &str,
    many: &str,
) -> String {
    format!("{count} {}", if count == N::from(1) { one } else { many })
}

/// Returns a number with the digits that people would write: those of its fixed point say what nobody typed.
#[must_use]
pub fn in_words(number: Fx) -> String {
    let text = format!("{number:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Returns where a place is, from the middle of its sim: `3.0 east, 12.5 south`.
#[must_use]
pub fn coordinates(place: Vec2) -> String {
    let along = |metres: Fx, ahead: &str, behind: &str| {
        let text = format!("{metres:.1}");
        match text.strip_prefix('-') {
            Some(metres) => format!("{metres} {behind}"),
            None => format!("{text} {ahead}"),
        }
    };
    format!("{}, {}", along(place.x, "east", "west"), along(place.y, "north", "south"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A grid of one square had 1 sims, and `mine` told of 1 scripts.
    #[test]
    fn one_of_a_kind_is_named_in_the_singular() {
        let servers = |count: u32| number_of(count, "server", "servers");
        assert_eq!(
            [0, 1, 2, 11].map(servers),
            ["0 servers", "1 server", "2 servers", "11 servers"]
        );
    }

    /// People were told that they stand at -122.5 east.
    #[test]
    fn a_place_is_told_without_signs_by_the_directions_of_the_compass() {
        let at = |x: i64, y: i64| Vec2::new(Fx::from_ratio(x, 100), Fx::from_ratio(y, 100));
        assert_eq!(coordinates(at(-12_250, 300)), "122.5 west, 3.0 north");
        assert_eq!(coordinates(at(0, -1_000)), "0.0 east, 10.0 south");
        assert_eq!(coordinates(at(-3, -4)), "0.0 east, 0.0 north", "hardly any way");
    }

    #[test]
    fn a_number_has_no_digits_that_say_nothing() {
        let words = |n, of| in_words(Fx::from_ratio(n, of));
        assert_eq!([words(2, 1), words(1, 8), words(10, 1)], ["2", "0.125", "10"]);
    }
}
