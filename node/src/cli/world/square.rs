//! Squares of a world on the command line: sides in metres, corners in tiles.

use std::{fmt, str::FromStr};

use metatopia_types::{
    Square, TilePoint, holds,
    limits::{SQUARE_DOUBLINGS_MAX, SQUARE_TILES_MIN},
};

/// Metres of a tile's side.
const TILE_METRES: i32 = 32;

/// A side of a square.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Edge {
    East,
    North,
    West,
    South,
}

/// Reads the side of a square in metres.
pub(super) fn side(text: &str) -> Result<u8, String> {
    let metres: Result<i32, _> = text.parse();
    let fits = |doublings: &u8| {
        let tiles = SQUARE_TILES_MIN.checked_shl(u32::from(*doublings));
        metres.as_ref().is_ok_and(|metres| tiles == metres.checked_div(TILE_METRES))
            && metres.as_ref().is_ok_and(|metres| metres % TILE_METRES == 0)
    };
    (0..=SQUARE_DOUBLINGS_MAX)
        .find(fits)
        .ok_or_else(|| "a side has 64, 128, 256, 512 or 1024 metres".to_owned())
}

/// Returns the square of this size that holds a point.
pub(super) fn around(point: TilePoint, doublings: u8) -> Square {
    let tiles = SQUARE_TILES_MIN << doublings.min(SQUARE_DOUBLINGS_MAX);
    let down = |coordinate: i32| coordinate - coordinate.rem_euclid(tiles);
    Square { x: down(point.x), y: down(point.y), doublings }
}

/// Returns the squares of this size that touch a square at one of its edges, the most western or
/// southern first. None if corners would be no multiples of the side, or if the plane ends at that edge.
pub(super) fn beside(square: Square, edge: Edge, doublings: u8) -> Vec<Square> {
    let own = square.side().unwrap_or_default();
    let tiles = SQUARE_TILES_MIN << doublings.min(SQUARE_DOUBLINGS_MAX);
    let TilePoint { x, y } = TilePoint::corner(square);
    // A point of the first tile outside of the edge, and the step along the edge.
    let (outside, step) = match edge {
        Edge::East => (x.checked_add(own).map(|x| TilePoint { x, y }), (0, 1)),
        Edge::West => (x.checked_sub(1).map(|x| TilePoint { x, y }), (0, 1)),
        Edge::North => (y.checked_add(own).map(|y| TilePoint { x, y }), (1, 0)),
        Edge::South => (y.checked_sub(1).map(|y| TilePoint { x, y }), (1, 0)),
    };
    // Beyond the end of the plane there is no land.
    let Some(start) = outside else { return Vec::new() };
    let mut found: Vec<Square> = Vec::new();
    for along in (0..own).step_by(usize::try_from(tiles.min(own)).unwrap_or(1).max(1)) {
        let point = TilePoint { x: start.x + along * step.0, y: start.y + along * step.1 };
        let one = around(point, doublings);
        // A larger square may reach over the edge.
        let is_apart =
            !holds(one, TilePoint::corner(square)) && !holds(square, TilePoint::corner(one));
        if is_apart && !found.contains(&one) {
            found.push(one);
        }
    }
    found
}

/// A square as people write it: `X:Y:SIDE`, with the side in metres.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) struct WrittenSquare(pub(in crate::cli) Square);

impl fmt::Display for WrittenSquare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for WrittenSquare {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "a square looks like 8:0:256, with the side in metres".to_owned();
        let parts: Vec<&str> = text.split(':').collect();
        let [x, y, length] = parts[..] else { return Err(wrong()) };
        let number = |text: &str| text.parse().map_err(|_| wrong());
        let square = Square { x: number(x)?, y: number(y)?, doublings: side(length)? };
        square.check().map_err(|error| error.to_string())?;
        Ok(Self(square))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn square(text: &str) -> Square {
        text.parse::<WrittenSquare>().unwrap().0
    }

    fn written(squares: Vec<Square>) -> Vec<String> {
        squares.into_iter().map(|square| WrittenSquare(square).to_string()).collect()
    }

    #[test]
    fn squares_beside_touch_an_edge_and_are_aligned() {
        let own = square("0:0:256");
        assert_eq!(written(beside(own, Edge::East, 2)), ["8:0:256"]);
        assert_eq!(written(beside(own, Edge::West, 2)), ["-8:0:256"]);
        assert_eq!(written(beside(own, Edge::North, 2)), ["0:8:256"]);
        assert_eq!(written(beside(own, Edge::South, 2)), ["0:-8:256"]);
        assert_eq!(written(beside(own, Edge::East, 1)), ["8:0:128", "8:4:128"]);
        // A larger one that holds the square itself is none beside it.
        assert_eq!(written(beside(own, Edge::East, 3)), [""; 0]);
        assert_eq!(written(beside(own, Edge::West, 3)), ["-16:0:512"]);
        // Claims beside sims at the ends of the plane ended with a panic.
        let [high, low] = ["2147483640:2147483640:256", "-2147483648:-2147483648:256"].map(square);
        for (own, edges) in [(high, [Edge::East, Edge::North]), (low, [Edge::West, Edge::South])] {
            for edge in edges {
                assert_eq!(written(beside(own, edge, 2)), [""; 0], "{edge:?}");
            }
        }
        assert_eq!(written(beside(high, Edge::West, 2)), ["2147483632:2147483640:256"]);
        let corners = ["-2147483648:-2147483640:128", "-2147483644:-2147483640:128"];
        assert_eq!(written(beside(low, Edge::North, 1)), corners);
        assert_eq!(written(beside(low, Edge::East, 4)), [""; 0]);
    }

    #[test]
    fn a_square_is_written_and_read_with_its_side_in_metres() {
        for text in ["0:0:64", "-32:64:1024", "8:0:256"] {
            assert_eq!(WrittenSquare(square(text)).to_string(), text);
        }
        for text in ["", "0:0", "1:0:64", "0:0:100", "0:0:2048", "0:0:-64", "x:0:64"] {
            assert!(text.parse::<WrittenSquare>().is_err(), "{text}");
        }
    }
}
