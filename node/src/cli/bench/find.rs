//! Measures how long it takes to find who owns a point of a small world.

use std::{path::Path, time::Duration};

use metatopia_client_driver::NodeUrl;
use metatopia_load::figure::{Bound, Figure};
use metatopia_types::{Digest, SimId, TilePoint};
use tokio::time::Instant;

use crate::cli::{
    Failure,
    console::Console,
    up::grid::{SQUARE_TILES, on_grid},
    world::find::by_node,
};

/// Squares on a side of the grid.
const SIDE: u32 = 4;

/// The promised time of one in a hundred, in milliseconds.
const P99_MS: u64 = 300;

/// Tiles around the grid in which points are drawn as well: they are nobody's.
const AROUND: i32 = 4;

/// A sim of the grid with its nodes.
type AskedSim = (SimId, Vec<NodeUrl>);

/// Returns the point of this number: in the grid, or a little outside of it.
fn point(number: u32) -> TilePoint {
    let [a, b, c, d, ..] = Digest::of("points of a bench", &number.to_le_bytes()).0;
    let wide = i32::from(SIDE as u16) * SQUARE_TILES + 2 * AROUND;
    let draw = |bytes| i32::from(u16::from_le_bytes(bytes)) % wide - AROUND;
    TilePoint { x: draw([a, b]), y: draw([c, d]) }
}

/// Returns the place in the list of the sim that lies about a point, if one does.
fn owner_of(point: TilePoint) -> Option<usize> {
    let side = usize::try_from(SIDE).ok()?;
    let at = |tile: i32| usize::try_from(tile.div_euclid(SQUARE_TILES)).ok();
    let (column, row) = (at(point.x)?, at(point.y)?);
    (column < side && row < side).then_some(row * side + column)
}

/// Starts a grid, asks about so many points, one after the other and each by another sim's server, and checks
/// proofs and answers.
pub(super) async fn measure(
    path: &Path,
    points: u32,
    console: Console,
) -> Result<Vec<Figure>, Failure> {
    console.note("starting 16 sims");
    on_grid(path, (SIDE, SIDE), (None, 1), console, async |sims: Vec<AskedSim>| {
        let nodes: Vec<&NodeUrl> = sims.iter().flat_map(|(_, nodes)| nodes.first()).collect();
        for node in &nodes {
            // Each server has found its way once before time is taken.
            by_node(node, None, TilePoint::default()).await?;
        }
        console.note(&format!("asking about {points} points"));
        let (mut times, mut wrong) = (Vec::new(), 0);
        for (number, node) in (0..points).zip(nodes.iter().cycle()) {
            let (at, began) = (point(number), Instant::now());
            let grant = by_node(node, None, at).await?.grant;
            times.push(began.elapsed());
            let owner = owner_of(at).map(|place| sims[place].0);
            wrong += u64::from(grant.map(|grant| grant.sim) != owner);
        }
        Ok(figures(times, wrong))
    })
    .await
}

fn figures(mut times: Vec<Duration>, wrong: u64) -> Vec<Figure> {
    times.sort_unstable();
    let tenths = |percent: usize| {
        let place = (times.len() * percent).div_ceil(100).saturating_sub(1);
        times.get(place).map(|time| u64::try_from(time.as_micros() / 100).unwrap_or(u64::MAX))
    };
    let figure = |name, percent, bound| Figure::tenths(name, tenths(percent), "ms", bound);
    vec![
        Figure::new("points", times.len() as u64, "points", Bound::None),
        figure("world find p50", 50, Bound::None),
        figure("world find p99", 99, Bound::AtMost(P99_MS)),
        figure("world find, the slowest", 100, Bound::None),
        Figure::new("answers that were wrong", wrong, "points", Bound::AtMost(0)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_drawn_in_the_grid_and_around_it() {
        let all: Vec<TilePoint> = (0..300).map(point).collect();
        assert_eq!(all, (0..300).map(point).collect::<Vec<_>>(), "the same each time");
        let owners: std::collections::BTreeSet<_> = all.iter().map(|at| owner_of(*at)).collect();
        assert_eq!(owners.len(), 17, "all sims, and nobody");
        assert_eq!(owner_of(TilePoint { x: 8, y: 31 }), Some(13));
        assert_eq!(owner_of(TilePoint { x: -1, y: 0 }), None);
        assert_eq!(owner_of(TilePoint { x: 32, y: 0 }), None);
    }

    #[test]
    fn a_slow_answer_or_a_wrong_one_fails() {
        let ms = Duration::from_millis;
        let failed = |times: Vec<Duration>, wrong| -> Vec<&str> {
            figures(times, wrong).iter().filter(|f| f.fails()).map(|f| f.figure).collect()
        };
        let mut times = vec![ms(10); 100];
        assert!(failed(times.clone(), 0).is_empty());
        times[0] = ms(9_000);
        assert!(failed(times.clone(), 0).is_empty(), "one in a hundred may be slow");
        times[1] = ms(9_000);
        assert_eq!(failed(times, 1), ["world find p99", "answers that were wrong"]);
    }
}
