//! Where somebody wants to go on the map of a world.

use alloc::string::{String, ToString as _};

use metatopia_types::TilePoint;

/// A place on the map of a world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// Whatever sim owns this point.
    Point(TilePoint),
    /// The sim of this name, or whose id begins so.
    Named(String),
}

impl Destination {
    /// Reads a destination: two numbers are a point, in tiles of 32 m, and anything else is a name.
    #[must_use]
    pub fn read(typed: &str) -> Self {
        let mut words = typed.split_whitespace().map(str::parse::<i32>);
        match (words.next(), words.next(), words.next()) {
            (Some(Ok(x)), Some(Ok(y)), None) => Self::Point(TilePoint { x, y }),
            _ => Self::Named(typed.trim().to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_numbers_are_a_point_and_anything_else_is_a_name() {
        assert_eq!(Destination::read(" 9  -2 "), Destination::Point(TilePoint { x: 9, y: -2 }));
        for name in ["garden", "Room 9", "9", "9 2 1", "2147483648 0", "9.5 2"] {
            assert_eq!(Destination::read(name), Destination::Named(name.to_string()), "{name}");
        }
    }
}
