//! Corners of a polygon, as builders write them: `0,0 2,0 1,1`.

use alloc::{
    string::{String, ToString as _},
    vec::Vec,
};

use metatopia_math::{Fx, Vec2};
use metatopia_sim::{Polygon, PolygonError};
use metatopia_types::{CornerCountError, OutlineCorners};

/// Why words are no corners of a convex polygon. Corners are counted from one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CornersError {
    /// A word is no corner.
    #[error("{0:?} is no corner; write two numbers with a comma between them, such as 1,0.5")]
    Word(String),
    /// There are too few corners or too many.
    #[error("a polygon has 3 to 8 corners, and those are {0}; write them as 0,0 2,0 1,1")]
    Count(usize),
    /// A corner does not stick out.
    #[error(
        "the polygon is not convex at corner {0}; go around it once, and leave out corners that \
         point inwards or lie on a straight side"
    )]
    NotConvex(usize),
    /// The polygon is too thin.
    #[error("the polygon is too small or too thin at the side from corner {0}; make it wider")]
    Thin(usize),
    /// A corner is too far away.
    #[error("corner {0} is too far from the others; metres are meant")]
    Far(usize),
}

impl CornersError {
    /// Returns the code by which the page knows its words.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Word(_) | Self::Count(_) => "NotCorners",
            Self::NotConvex(_) => "NotConvex",
            Self::Thin(_) | Self::Far(_) => "BadSize",
        }
    }
}

/// Reads one corner: two numbers with a comma between them.
fn corner(word: &str) -> Result<Vec2, CornersError> {
    let both =
        word.split_once(',').and_then(|(x, y)| Some((Fx::parse(x).ok()?, Fx::parse(y).ok()?)));
    both.map(|(x, y)| Vec2::new(x, y)).ok_or_else(|| CornersError::Word(word.to_string()))
}

/// Reads the corners of a convex polygon, in metres, which may go around either way.
///
/// # Errors
/// See [`CornersError`].
pub fn corners(words: &[&str]) -> Result<OutlineCorners, CornersError> {
    let mut points: Vec<Vec2> = words.iter().map(|word| corner(word)).collect::<Result<_, _>>()?;
    let mut outline = counted(&points)?;
    let twice_the_area =
        points.iter().zip(points.iter().cycle().skip(1)).fold(Fx::ZERO, |sum, (from, to)| {
            sum.saturating_add(from.saturating_sub(points[0]).cross(to.saturating_sub(points[0])))
        });
    let is_clockwise = twice_the_area < Fx::ZERO;
    if is_clockwise {
        points.reverse();
        outline = counted(&points)?;
    }
    // As the corners were written. Turned around, a side begins where it ended.
    let count = points.len();
    let number = |n: usize| if is_clockwise { count - n } else { n + 1 };
    let side = |n: usize| if is_clockwise { (2 * count - 2 - n) % count + 1 } else { n + 1 };
    match Polygon::new(&points) {
        Ok(_) => Ok(outline),
        Err(PolygonError::Corners(count)) => Err(CornersError::Count(count)),
        Err(PolygonError::NotConvex(n)) => Err(CornersError::NotConvex(number(n))),
        Err(PolygonError::Thin(n)) => Err(CornersError::Thin(side(n))),
        Err(PolygonError::Far(n)) => Err(CornersError::Far(number(n))),
    }
}

fn counted(points: &[Vec2]) -> Result<OutlineCorners, CornersError> {
    OutlineCorners::new(points).map_err(|CornerCountError(count)| CornersError::Count(count))
}

/// Returns the width and the height of corners.
pub(super) fn spread(corners: &OutlineCorners) -> Vec2 {
    let of = |part: fn(&Vec2) -> Fx| {
        let parts = || corners.points().iter().map(part);
        parts().max().unwrap_or_default().saturating_sub(parts().min().unwrap_or_default())
    };
    Vec2::new(of(|at| at.x), of(|at| at.y))
}
