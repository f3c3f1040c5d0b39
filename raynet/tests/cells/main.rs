//! Estimators of cells against an independent Delaunay: a site is a neighbour if some point is as near
//! to it as to one's own, and nearer to nobody.

use metatopia_math::Stream;
use metatopia_raynet::{CellEstimator, ExactPlane, Extent, Rays, TilePoint};

/// Random sets that are compared.
const SETS: u64 = 100_000;

/// Finds neighbours without cutting anything: along the line half-way to each site, every other site
/// leaves an interval, whose ends are fractions. The site is a neighbour if something of it is left
/// within the extent.
fn by_intervals(extent: Extent, at: [i64; 2], others: &[[i64; 2]]) -> Vec<usize> {
    let relative = |other: &[i64; 2]| [i128::from(other[0] - at[0]), i128::from(other[1] - at[1])];
    let mut found = Vec::new();
    for (index, other) in others.iter().enumerate() {
        let d = relative(other);
        let square = d[0] * d[0] + d[1] * d[1];
        if square == 0 || others[..index].contains(other) {
            continue;
        }
        // Points of the line, in half tiles: d + t * (-d.y, d.x), for t = p / q.
        let mut limits = Limits::new();
        for e in others.iter().map(relative) {
            let length = e[0] * e[0] + e[1] * e[1];
            let (slope, room) = (e[1] * d[0] - e[0] * d[1], length - (e[0] * d[0] + e[1] * d[1]));
            if length != 0 {
                limits.keep(slope, room);
            }
        }
        let gap = |from: i64, to: i64| 2 * i128::from(to - from);
        limits.keep(-d[1], gap(at[0], i64::from(extent.high.x)) - d[0]);
        limits.keep(d[1], gap(i64::from(extent.low.x), at[0]) + d[0]);
        limits.keep(d[0], gap(at[1], i64::from(extent.high.y)) - d[1]);
        limits.keep(-d[0], gap(i64::from(extent.low.y), at[1]) + d[1]);
        if limits.has_length() {
            found.push(index);
        }
    }
    found
}

/// What is left of a line: fractions with positive denominators.
struct Limits {
    low: Option<(i128, i128)>,
    high: Option<(i128, i128)>,
    is_empty: bool,
}

impl Limits {
    const fn new() -> Self {
        Self { low: None, high: None, is_empty: false }
    }

    /// Keeps the `t` with `slope * t <= room`.
    fn keep(&mut self, slope: i128, room: i128) {
        let less = |one: (i128, i128), other: (i128, i128)| one.0 * other.1 < other.0 * one.1;
        match slope {
            0 => self.is_empty |= room < 0,
            1.. => {
                let bound = (room, slope);
                if self.high.is_none_or(|high| less(bound, high)) {
                    self.high = Some(bound);
                }
            }
            _ => {
                let bound = (-room, -slope);
                if self.low.is_none_or(|low| less(low, bound)) {
                    self.low = Some(bound);
                }
            }
        }
    }

    fn has_length(&self) -> bool {
        let is_long = match (self.low, self.high) {
            (Some(low), Some(high)) => low.0 * high.1 < high.0 * low.1,
            _ => true,
        };
        is_long && !self.is_empty
    }
}

/// Draws a set of sites: spread out, crowded, on few lines, or on a grid.
fn draw(stream: &mut Stream) -> (Extent, [i64; 2], Vec<[i64; 2]>) {
    let width = 1_i64 << (3 + stream.below(20));
    let step = [1, 1, 1, width / 4, width / 8][stream.below(5) as usize].max(1);
    let one = |stream: &mut Stream| {
        let at = (stream.below(2 * width as u64) as i64 - width) / step * step;
        at.clamp(-width, width - 1)
    };
    let count = stream.below(40) as usize;
    let at = [one(stream), one(stream)];
    let others = (0..count).map(|_| [one(stream), one(stream)]).collect();
    let edge = width as i32;
    let extent =
        Extent { low: TilePoint { x: -edge, y: -edge }, high: TilePoint { x: edge, y: edge } };
    (if stream.below(2) == 0 { extent } else { wide() }, at, others)
}

/// An extent in which the oracle's products still fit: far beyond all sites that are drawn.
fn wide() -> Extent {
    let edge = 1 << 29;
    Extent { low: TilePoint { x: -edge, y: -edge }, high: TilePoint { x: edge, y: edge } }
}

#[test]
fn exact_cells_have_the_neighbours_of_an_independent_delaunay() {
    for seed in 0..SETS {
        let mut stream = Stream::new(&[5; 32], "sets", &[seed]);
        let (extent, at, others) = draw(&mut stream);
        let expected = by_intervals(extent, at, &others);
        let mut found = ExactPlane { extent }.neighbours(at, &others, usize::MAX);
        // Of several at one place, either may be named.
        for index in &mut found {
            let place = others[*index];
            *index = others.iter().position(|other| *other == place).expect("it is among them");
        }
        found.sort_unstable();
        assert_eq!(found, expected, "seed {seed}: {at:?} among {others:?} in {extent:?}");
    }
}

#[test]
fn those_beside_a_neighbour_are_neighbours_of_it() {
    let cells = ExactPlane { extent: wide() };
    for seed in 0..500 {
        let mut stream = Stream::new(&[6; 32], "beside", &[seed]);
        // So far apart that no four of them lie on one circle but by a chance that these seeds do not take.
        let mut place = || [0, 1].map(|_| stream.below(1 << 29) as i64);
        let (at, others): (_, Vec<[i64; 2]>) = (place(), (0..20).map(|_| place()).collect());
        let point = TilePoint { x: at[0] as i32, y: at[1] as i32 };
        for which in cells.neighbours(at, &others, usize::MAX) {
            let mut rest = others.clone();
            rest[which] = at;
            let theirs = cells.neighbours(others[which], &rest, usize::MAX);
            for beside in cells.beside(point, &others, which) {
                assert!(theirs.contains(&beside), "seed {seed}: {beside} beside {which}");
            }
        }
    }
}

#[test]
fn cells_at_the_ends_of_the_plane_are_exact_too() {
    let (low, high) = (i64::from(i32::MIN), i64::from(i32::MAX));
    let corners = [[low, low], [low, high], [high, low], [high, high]];
    let cells = ExactPlane { extent: Extent::PLANE };
    assert_eq!(cells.neighbours([0, 0], &corners, 24), [0, 1, 2, 3]);
    assert_eq!(cells.neighbours([low, low], &corners[1..], 24), [0, 1]);
    // The meeting points of almost parallel lines lie far outside.
    let needles = [[high, 1], [high, 0], [high, -1], [low, 1], [low, 0], [low, -1]];
    let found = cells.neighbours([0, 0], &needles, 24);
    assert!(found.contains(&1) && found.contains(&4), "{found:?}");
    let mut stream = Stream::new(&[6; 32], "ends", &[]);
    for _ in 0..2_000 {
        let mut draw = || [low + stream.below(1 << 32) as i64, low + stream.below(1 << 32) as i64];
        let (at, others) = (draw(), (0..30).map(|_| draw()).collect::<Vec<_>>());
        // Neighbours are mutual.
        for index in cells.neighbours(at, &others, usize::MAX) {
            let mut back = others.clone();
            back[index] = at;
            let mutual = cells.neighbours(others[index], &back, usize::MAX);
            assert!(mutual.contains(&index), "{at:?} and {:?} among {others:?}", others[index]);
        }
    }
}

#[test]
fn few_sites_and_sites_on_a_line_have_the_cells_that_they_should() {
    let cells = ExactPlane { extent: Extent::PLANE };
    assert_eq!(cells.choose([3, 3], &[], 10, 24), Vec::<usize>::new());
    assert_eq!(cells.choose([3, 3], &[[3, 3]], 10, 24), [0], "a view is filled up even with it");
    assert_eq!(cells.choose([3, 3], &[[9, 3]], 10, 24), [0]);
    let line: Vec<[i64; 2]> = (-20..20).filter(|x| *x != 0).map(|x| [7 * x, 3 * x]).collect();
    assert_eq!(cells.neighbours([0, 0], &line, 24), [19, 20]);
}

#[test]
fn a_view_over_its_limit_loses_those_that_can_be_spared_best() {
    let cells = ExactPlane { extent: Extent::PLANE };
    // Forty on a ring, none of which hides another one.
    let ring: Vec<[i64; 2]> = (0..40)
        .map(|index: i64| {
            let (x, y) = (index % 10 - 5, (index / 10) % 4);
            match y {
                0 => [x * 20, 100],
                1 => [x * 20 + 1, -100],
                2 => [100, x * 20 + 1],
                _ => [-101, x * 20],
            }
        })
        .collect();
    for most in [24, 12, 8, 4] {
        let kept = cells.neighbours([0, 0], &ring, most);
        assert!(kept.len() <= most && kept.len() >= 4, "{most}: {kept:?}");
        let in_quadrants = |sign_x: i64, sign_y: i64| {
            kept.iter().any(|index| ring[*index][0] * sign_x >= 0 && ring[*index][1] * sign_y >= 0)
        };
        assert!(
            [(1, 1), (1, -1), (-1, 1), (-1, -1)].into_iter().all(|(x, y)| in_quadrants(x, y)),
            "{kept:?}"
        );
    }
}

#[test]
fn rays_find_almost_what_exact_cells_have_and_volumes_agree() {
    let (mut found, mut all) = (0, 0);
    let rays = Rays::new(&[7; 32], 1_000, [-1_000, -1_000], [1_000, 1_000]);
    let extent =
        Extent { low: TilePoint { x: -1_000, y: -1_000 }, high: TilePoint { x: 1_000, y: 1_000 } };
    for seed in 0..100 {
        let mut stream = Stream::new(&[8; 32], "rays", &[seed]);
        let mut draw = || stream.below(1_800) as i64 - 900;
        let others: Vec<[i64; 2]> = (0..30).map(|_| [draw(), draw()]).collect();
        let exact = ExactPlane { extent }.neighbours([0, 0], &others, usize::MAX);
        let near = rays.neighbours([0, 0], &others, usize::MAX);
        assert!(near.iter().all(|index| exact.contains(index)), "seed {seed}");
        found += near.len();
        all += exact.len();
    }
    assert!(found * 100 >= all * 97, "{found} of {all}");
    // A cell that is a square of 200 by 200, of the whole 2,000 by 2,000.
    let square = [[200, 0], [0, 200], [-200, 0], [0, -200]];
    let share = rays.volume([0, 0], &[]) / rays.volume([0, 0], &square);
    assert!((97..=103).contains(&share), "100 times as large: {share}");
}
