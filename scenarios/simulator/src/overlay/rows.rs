//! The table of figures: what was measured beside what is promised.

use std::fmt;

/// The unit of a value. All of them are counted in millionths, so that no float takes part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OverlayUnit {
    /// A share of one.
    Share,
    /// Cycles until something is reached.
    Cycles,
    /// Sites asked on a way.
    Hops,
    /// Frames a site and cycle.
    Messages,
    /// Bytes a site and cycle.
    Bytes,
    /// Microseconds of a processor.
    Micros,
    /// A number of things.
    Count,
}

/// What is promised of a value, in millionths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OverlayBound {
    /// Not less than this.
    AtLeast(u64),
    /// Not more than this.
    AtMost(u64),
    /// Nothing: for comparison.
    Open,
}

/// One row of the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OverlayRow {
    /// What was played.
    pub scene: String,
    /// What was measured.
    pub figure: &'static str,
    /// How many sites there were.
    pub sites: usize,
    /// The seed; of several, the one of the worst value.
    pub seed: u64,
    /// The value, in millionths.
    pub value: u64,
    /// What the value counts.
    pub unit: OverlayUnit,
    /// What is promised.
    pub bound: OverlayBound,
}

impl OverlayRow {
    /// Says whether the promise is kept.
    #[must_use]
    pub const fn is_kept(&self) -> bool {
        match self.bound {
            OverlayBound::AtLeast(least) => self.value >= least,
            OverlayBound::AtMost(most) => self.value <= most,
            OverlayBound::Open => true,
        }
    }

    /// Says whether this row is worse than another one of the same figure.
    #[must_use]
    pub const fn is_worse_than(&self, other: &Self) -> bool {
        match self.bound {
            OverlayBound::AtLeast(_) => self.value < other.value,
            OverlayBound::AtMost(_) | OverlayBound::Open => self.value > other.value,
        }
    }
}

impl OverlayUnit {
    /// Returns the word for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Share => "share",
            Self::Cycles => "cycles",
            Self::Hops => "hops",
            Self::Messages => "messages",
            Self::Bytes => "bytes",
            Self::Micros => "us",
            Self::Count => "count",
        }
    }
}

impl fmt::Display for OverlayBound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtLeast(least) => write!(f, ">= {}", written(*least)),
            Self::AtMost(most) => write!(f, "<= {}", written(*most)),
            Self::Open => f.write_str("-"),
        }
    }
}

/// Writes millionths as a decimal fraction without zeros at its end.
#[must_use]
pub fn written(millionths: u64) -> String {
    let text = format!("{}.{:06}", millionths / 1_000_000, millionths % 1_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Keeps the worst row of each figure of each scene, in the order of the first ones.
#[must_use]
pub fn worst(rows: Vec<OverlayRow>) -> Vec<OverlayRow> {
    let mut kept: Vec<OverlayRow> = Vec::new();
    for row in rows {
        let same = |other: &&mut OverlayRow| other.scene == row.scene && other.figure == row.figure;
        match kept.iter_mut().find(same) {
            Some(other) if row.is_worse_than(other) => *other = row,
            Some(_) => {}
            None => kept.push(row),
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::{OverlayBound, OverlayRow, OverlayUnit, worst, written};

    fn row(seed: u64, value: u64, bound: OverlayBound) -> OverlayRow {
        let (scene, figure, unit) = ("rest".to_owned(), "neighbours", OverlayUnit::Share);
        OverlayRow { scene, figure, sites: 10, seed, value, unit, bound }
    }

    #[test]
    fn the_worst_of_several_seeds_counts() {
        let least = OverlayBound::AtLeast(999_500);
        let rows = vec![row(1, 999_900, least), row(2, 999_400, least), row(3, 1_000_000, least)];
        let kept = worst(rows);
        assert_eq!((kept.len(), kept[0].seed, kept[0].is_kept()), (1, 2, false));
        let most = OverlayBound::AtMost(3_000_000);
        assert_eq!(worst(vec![row(1, 2, most), row(2, 3, most)])[0].seed, 2);
    }

    #[test]
    fn values_are_written_without_zeros_at_the_end() {
        assert_eq!([999_500, 1_000_000, 2_340_000, 0].map(written), ["0.9995", "1", "2.34", "0"]);
    }
}
