//! Which of many sites border on one's own: Voronoi neighbours, behind one trait.

mod exact;
mod rays;

pub use exact::ExactPlane;
pub use rays::Rays;

/// Finds the Voronoi neighbours of a point among others. All coordinates are within those of an `i32`.
pub trait CellEstimator<const D: usize> {
    /// Returns the places in `others` of those that border on the cell of `at`, ascending; at most
    /// `most` of them. A point at the same place as `at` is no neighbour.
    fn neighbours(&self, at: [i64; D], others: &[[i64; D]], most: usize) -> Vec<usize>;

    /// Returns the neighbours, at most `hard`, and fills them up to `soft` with the nearest of the
    /// others. Ascending.
    fn choose(&self, at: [i64; D], others: &[[i64; D]], soft: usize, hard: usize) -> Vec<usize> {
        let mut chosen = self.neighbours(at, others, hard);
        if chosen.len() < soft {
            for index in by_distance(at, others) {
                if chosen.len() >= soft {
                    break;
                }
                if let Err(place) = chosen.binary_search(&index) {
                    chosen.insert(place, index);
                }
            }
        }
        chosen
    }
}

/// Returns the places in `others`, the nearest first.
fn by_distance<const D: usize>(at: [i64; D], others: &[[i64; D]]) -> Vec<usize> {
    let mut order: Vec<(u128, usize)> = others
        .iter()
        .enumerate()
        .map(|(index, other)| (distance_squared(at, *other), index))
        .collect();
    order.sort_unstable();
    order.into_iter().map(|(_, index)| index).collect()
}

fn distance_squared<const D: usize>(at: [i64; D], other: [i64; D]) -> u128 {
    let pairs = at.iter().zip(&other);
    let squares = pairs.map(|(from, to)| {
        let apart = u128::from(from.abs_diff(*to));
        apart.saturating_mul(apart)
    });
    squares.fold(0, u128::saturating_add)
}
