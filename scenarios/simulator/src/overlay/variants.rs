//! For comparison, two other algorithms on the same land with the same deaths: RayNet as its
//! specification says, and one that only tells neighbours of neighbours. Both exchange at once, in
//! rounds, and are told nothing by a transport, so they are better off than they would be outside.

use std::collections::{BTreeMap, BTreeSet};

use metatopia_raynet::{CellEstimator, ExactPlane, TilePoint};

use super::{
    census::{Ppm, WHOLE},
    land::OverlayLand,
    truth::OverlayTruth,
};
use crate::Dice;

/// Descriptors in each view of the specification.
const VIEW: usize = 10;

/// Rays of a cell of the specification. It wants 1,000; 300 find as many neighbours within a percent.
const RAYS: usize = 300;

/// Which algorithm is played.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OverlayVariant {
    /// Random contacts at the start, cells by rays that are drawn once, links by a power of distance,
    /// and nothing about failures.
    Specified,
    /// A perfect start, then neighbours tell neighbours when theirs change; no samples, no long links.
    Deterministic,
}

/// A run of a variant.
#[derive(Debug)]
pub struct VariantRun<'a> {
    variant: OverlayVariant,
    land: &'a OverlayLand,
    dice: Dice,
    near: Vec<Vec<usize>>,
    far: Vec<Vec<usize>>,
    told: Vec<Vec<usize>>,
    dead: BTreeSet<usize>,
    rays: Vec<(f64, f64)>,
}

impl<'a> VariantRun<'a> {
    /// Returns a run on this land.
    #[must_use]
    pub fn new(variant: OverlayVariant, land: &'a OverlayLand, seed: u64) -> Self {
        let mut dice = Dice::new(seed, "overlay variant");
        let count = land.middles.len();
        let step = core::f64::consts::TAU / RAYS as f64;
        let shift = dice.below(1_000) as f64 / 1_000.0;
        let rays = (0..RAYS).map(|ray| ((ray as f64 + shift) * step).sin_cos()).collect();
        let mut near = vec![Vec::new(); count];
        match variant {
            OverlayVariant::Specified => {
                for (member, view) in near.iter_mut().enumerate() {
                    while view.len() < 5.min(count - 1) {
                        let other = dice.index(count);
                        if other != member && !view.contains(&other) {
                            view.push(other);
                        }
                    }
                }
            }
            OverlayVariant::Deterministic => {
                let truth = OverlayTruth::of(land.extent, &land.middles, |_| true);
                for (member, view) in near.iter_mut().enumerate() {
                    *view = truth.neighbours(member);
                }
            }
        }
        let far = if variant == OverlayVariant::Specified {
            near.clone()
        } else {
            vec![Vec::new(); count]
        };
        Self { variant, land, dice, told: near.clone(), near, far, dead: BTreeSet::new(), rays }
    }

    /// Kills so many of a million.
    pub fn kill(&mut self, ppm: u64) {
        for member in 0..self.near.len() {
            if self.dice.below(WHOLE) < ppm {
                self.dead.insert(member);
            }
        }
    }

    /// Plays a round: every living member acts once.
    pub fn round(&mut self) {
        for member in 0..self.near.len() {
            if self.dead.contains(&member) {
                continue;
            }
            match self.variant {
                OverlayVariant::Specified => self.specified(member),
                OverlayVariant::Deterministic => self.deterministic(member),
            }
        }
    }

    fn specified(&mut self, member: usize) {
        if let Some(other) = self.living(member, true) {
            let (mine, theirs) = (self.links_to_send(member), self.links_to_send(other));
            self.keep_links(other, member, &mine);
            self.keep_links(member, other, &theirs);
        }
        if let Some(other) = self.living(member, false) {
            let (mine, theirs) = (self.half_of_view(member), self.half_of_view(other));
            self.keep_view(other, member, &mine);
            self.keep_view(member, other, &theirs);
        }
    }

    /// Draws a partner. A dead one is dropped, and another one drawn; the specification has no more.
    fn living(&mut self, member: usize, is_far: bool) -> Option<usize> {
        for _ in 0..2 {
            let view = if is_far { &mut self.far[member] } else { &mut self.near[member] };
            if view.is_empty() {
                return None;
            }
            let index = self.dice.index(view.len());
            let other = view[index];
            if !self.dead.contains(&other) {
                return Some(other);
            }
            view.swap_remove(index);
        }
        None
    }

    fn half_of_view(&mut self, member: usize) -> Vec<usize> {
        let mut view = self.near[member].clone();
        while view.len() > VIEW / 2 {
            view.swap_remove(self.dice.index(view.len()));
        }
        view
    }

    /// Returns the links that a member cares least about: all but half a view, drawn by distance.
    fn links_to_send(&mut self, member: usize) -> Vec<usize> {
        let at = self.land.middles[member];
        let mut links = self.far[member].clone();
        for _ in 0..(VIEW / 2).min(links.len()) {
            let weights: Vec<f64> =
                links.iter().map(|link| 1.0 / self.apart(at, *link).max(1.0)).collect();
            let mut drawn =
                weights.iter().sum::<f64>() * self.dice.below(1 << 30) as f64 / f64::from(1 << 30);
            let found = weights.iter().position(|weight| {
                drawn -= weight;
                drawn < 0.0
            });
            links.swap_remove(found.unwrap_or(links.len() - 1));
        }
        links
    }

    fn apart(&self, at: TilePoint, member: usize) -> f64 {
        at.distance_squared(self.land.middles[member]) as f64
    }

    fn keep_links(&mut self, member: usize, from: usize, told: &[usize]) {
        let mut links: Vec<usize> = told.to_vec();
        links.push(from);
        links.extend(self.far[member].iter().copied());
        let mut seen = BTreeSet::new();
        links.retain(|link| *link != member && seen.insert(*link));
        links.truncate(VIEW);
        self.far[member] = links;
    }

    fn keep_view(&mut self, member: usize, from: usize, told: &[usize]) {
        let mut candidates: BTreeSet<usize> = told.iter().copied().collect();
        candidates.insert(from);
        candidates.extend(self.near[member].iter().chain(&self.far[member]).copied());
        candidates.remove(&member);
        let candidates: Vec<usize> = candidates.into_iter().collect();
        self.near[member] = self.by_rays(member, &candidates);
    }

    /// Ranks candidates once, by how much the cell would grow without each.
    fn by_rays(&self, member: usize, candidates: &[usize]) -> Vec<usize> {
        let at = self.land.middles[member];
        let places = candidates.iter().map(|candidate| {
            let to = self.land.middles[*candidate];
            (f64::from(to.x) - f64::from(at.x), f64::from(to.y) - f64::from(at.y))
        });
        let places: Vec<(f64, f64)> = places.collect();
        let mut gains = vec![0.0; candidates.len()];
        let far = f64::from(self.land.extent.high.x.abs_diff(self.land.extent.low.x));
        for (y, x) in &self.rays {
            let (mut first, mut second) = ((far, usize::MAX), far);
            for (index, (to_x, to_y)) in places.iter().enumerate() {
                let ahead = x * to_x + y * to_y;
                let length =
                    if ahead > 0.0 { (to_x * to_x + to_y * to_y) / (2.0 * ahead) } else { far };
                if length < first.0 {
                    (second, first) = (first.0, (length, index));
                } else if length < second {
                    second = length;
                }
            }
            if let Some(gain) = gains.get_mut(first.1) {
                *gain += second * second - first.0 * first.0;
            }
        }
        let mut order: Vec<usize> = (0..candidates.len()).collect();
        order.sort_by(|one, other| gains[*other].total_cmp(&gains[*one]).then(one.cmp(other)));
        order.into_iter().take(VIEW).map(|index| candidates[index]).collect()
    }

    /// Tells all neighbours of each other when the own view changed since it did so last.
    fn deterministic(&mut self, member: usize) {
        let dead = &self.dead;
        self.near[member].retain(|other| !dead.contains(other));
        let view = self.near[member].clone();
        if view == self.told[member] {
            return;
        }
        self.told[member].clone_from(&view);
        for other in &view {
            let mut candidates: BTreeSet<usize> =
                view.iter().chain(&self.near[*other]).copied().collect();
            candidates.insert(member);
            candidates.remove(other);
            let candidates: Vec<usize> = candidates.into_iter().collect();
            let places: Vec<[i64; 2]> =
                candidates.iter().map(|site| self.land.middles[*site].coordinates()).collect();
            let cells = ExactPlane { extent: self.land.extent };
            let kept =
                cells.neighbours(self.land.middles[*other].coordinates(), &places, usize::MAX);
            self.near[*other] = kept.into_iter().map(|index| candidates[index]).collect();
        }
    }

    /// Returns the shares of true neighbours that are known, and of routes that arrive.
    pub fn census(&mut self, routes: usize) -> (Ppm, Ppm) {
        let dead = self.dead.clone();
        let truth =
            OverlayTruth::of(self.land.extent, &self.land.middles, |site| !dead.contains(&site));
        let living: Vec<usize> =
            (0..self.near.len()).filter(|member| !dead.contains(member)).collect();
        let (mut known, mut all) = (0_u64, 0_u64);
        for member in &living {
            for other in truth.neighbours(*member) {
                all += 1;
                known += u64::from(self.near[*member].contains(&other));
            }
        }
        let mut arrived = 0;
        for _ in 0..routes {
            let mut here = living[self.dice.index(living.len())];
            let width = u64::from(self.land.extent.high.x.abs_diff(self.land.extent.low.x));
            let mut draw = |low: i32| low.wrapping_add_unsigned(self.dice.below(width) as u32);
            let point =
                TilePoint { x: draw(self.land.extent.low.x), y: draw(self.land.extent.low.y) };
            let order: fn(usize) -> [u8; 8] = |site| (site as u64).to_be_bytes();
            let distance =
                |site: usize| (self.land.middles[site].distance_squared(point), order(site));
            loop {
                let next = self.near[here].iter().chain(&self.far[here]).copied();
                let next =
                    next.filter(|other| !dead.contains(other)).min_by_key(|other| distance(*other));
                match next.filter(|next| distance(*next) < distance(here)) {
                    Some(next) => here = next,
                    None => break,
                }
            }
            arrived += u64::from(truth.nearest(point, order) == Some(here));
        }
        ((known * WHOLE).checked_div(all).unwrap_or(WHOLE), arrived * WHOLE / routes.max(1) as u64)
    }
}

/// Plays both variants: a start, then the death of so many of a million. Returns for each its name, the
/// shares of neighbours and routes before, and those so many rounds after.
#[must_use]
pub fn compare(
    sites: usize,
    seed: u64,
    ppm: u64,
    rounds: [u32; 2],
) -> BTreeMap<&'static str, [(Ppm, Ppm); 2]> {
    let mut dice = Dice::new(seed, "overlay land");
    let land = OverlayLand::draw(sites, &mut dice);
    let variants = [
        ("specified", OverlayVariant::Specified),
        ("deterministic", OverlayVariant::Deterministic),
    ];
    let play = |(name, variant)| {
        let mut run = VariantRun::new(variant, &land, seed);
        (0..rounds[0]).for_each(|_| run.round());
        let before = run.census(1_000);
        run.kill(ppm);
        (0..rounds[1]).for_each(|_| run.round());
        (name, [before, run.census(1_000)])
    };
    variants.into_iter().map(play).collect()
}
