//! Counts of a simulated overlay against the truth: neighbours that are known, routes that arrive.

use std::{collections::BTreeSet, time::Duration};

use metatopia_raynet::{LookupOutcome, OverlayInput, SiteName, TilePoint, pace::CYCLE};

use super::{town::OverlayTown, truth::OverlayTruth};

/// A share of a million.
pub type Ppm = u64;

/// All of a million.
pub const WHOLE: Ppm = 1_000_000;

/// How many routes arrived, and how long they were.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RouteCensus {
    /// Routes that ended at the true site.
    pub arrived: Ppm,
    /// Hops of a route on average, in thousandths.
    pub hops_milli: u64,
    /// Hops of the longest route.
    pub hops_max: u64,
    /// Members on a route, in thousandths, that were dead.
    pub dead_milli: u64,
}

/// Returns the share of true neighbours that honest members have in their views.
#[must_use]
pub fn neighbours(town: &OverlayTown, truth: &OverlayTruth) -> Ppm {
    let (mut known, mut all) = (0_u64, 0_u64);
    for member in town.living().into_iter().filter(|member| town.is_honest(*member)) {
        let Some(machine) = town.machine(member) else { continue };
        let view: Vec<SiteName> = machine.neighbours().map(|record| record.name()).collect();
        for other in truth.neighbours(member).into_iter().filter(|other| town.is_honest(*other)) {
            all += 1;
            known += u64::from(view.contains(&town.name(other)));
        }
    }
    (known * WHOLE).checked_div(all).unwrap_or(WHOLE)
}

/// Returns the shares of true neighbours that are missing: in views of newcomers, newcomers in views of
/// others, and others in views of others.
#[must_use]
pub fn missing(town: &OverlayTown, truth: &OverlayTruth, newcomers: &BTreeSet<usize>) -> [Ppm; 3] {
    let (mut missing, mut all) = ([0_u64; 3], 0_u64);
    for member in town.living() {
        let Some(machine) = town.machine(member) else { continue };
        let view: BTreeSet<SiteName> = machine.neighbours().map(|record| record.name()).collect();
        for other in truth.neighbours(member) {
            all += 1;
            if !view.contains(&town.name(other)) {
                let kind = match (newcomers.contains(&member), newcomers.contains(&other)) {
                    (true, _) => 0,
                    (false, true) => 1,
                    (false, false) => 2,
                };
                missing[kind] += 1;
            }
        }
    }
    missing.map(|count| (count * WHOLE).checked_div(all).unwrap_or(0))
}

/// Follows routes through the views of members, greedily from random members to random points. Dead
/// members are passed over, as a dial that fails would show.
pub fn routes(town: &mut OverlayTown, truth: &OverlayTruth, count: usize) -> RouteCensus {
    let living = town.living();
    let (mut arrived, mut hops, mut longest, mut dead) = (0, 0, 0, 0);
    let by_name: std::collections::BTreeMap<SiteName, usize> =
        (0..town.land.grants.len()).map(|site| (town.name(site), site)).collect();
    for _ in 0..count {
        let mut here = living[town.dice.index(living.len())];
        let point = town.draw_point();
        let goal = truth.nearest(point, |site| town.name(site).0);
        let mut steps = 0;
        while let Some(machine) = town.machine(here) {
            let nearer = machine.nearer(point, usize::MAX);
            let sites: Vec<usize> = nearer.iter().map(|record| by_name[&record.name()]).collect();
            let passed = sites.iter().position(|site| town.lives(*site));
            dead += passed.unwrap_or(sites.len()) as u64;
            let Some(next) = passed else { break };
            here = sites[next];
            steps += 1;
        }
        arrived += u64::from(goal == Some(here));
        hops += steps;
        longest = longest.max(steps);
    }
    let count = count as u64;
    RouteCensus {
        arrived: arrived * WHOLE / count,
        hops_milli: hops * 1_000 / count,
        hops_max: longest,
        dead_milli: dead * 1_000 / count,
    }
}

/// Has honest members look random points up, lets them find the answers, and counts those that are
/// true: the owner with an address of it, or that the point is nobody's.
pub fn lookups(town: &mut OverlayTown, count: usize) -> RouteCensus {
    let living: Vec<usize> =
        town.living().into_iter().filter(|member| town.is_honest(*member)).collect();
    let mut asked: Vec<TilePoint> = Vec::new();
    town.found.clear();
    for id in 0..count {
        let (member, mut point) = (living[town.dice.index(living.len())], town.draw_point());
        if id % 2 == 0 {
            // Half of the points are somebody's.
            let owner = living[town.dice.index(living.len())];
            point = town.land.middles[owner];
        }
        asked.push(point);
        town.input(member, OverlayInput::Lookup { id: id as u64, point });
        town.run(Duration::from_millis(5));
    }
    town.run(CYCLE * 4);
    let (mut arrived, mut hops, mut longest) = (0, 0, 0);
    for (id, point) in asked.into_iter().enumerate() {
        let Some(answer) = town.found.get(&(id as u64)) else { continue };
        let owner =
            town.land.shelf(point).and_then(|shelf| shelf.grant_at(point)).map(|grant| grant.sim);
        let is_true = match &answer.outcome {
            LookupOutcome::Owned { grant, endpoints } => {
                let lives = town.land.site_of(grant.sim).is_some_and(|site| town.lives(site));
                owner == Some(grant.sim) && (!lives || !endpoints.is_empty())
            }
            LookupOutcome::Nobodys => owner.is_none(),
            LookupOutcome::Unproved | LookupOutcome::Busy => false,
        };
        arrived += u64::from(is_true);
        hops += u64::from(answer.hops);
        longest = longest.max(u64::from(answer.hops));
    }
    let count = count as u64;
    RouteCensus {
        arrived: arrived * WHOLE / count,
        hops_milli: hops * 1_000 / count,
        hops_max: longest,
        dead_milli: 0,
    }
}
