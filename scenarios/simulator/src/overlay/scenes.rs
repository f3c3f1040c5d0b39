//! What is played with a simulated overlay, and what is measured of it.

use std::collections::BTreeSet;

use metatopia_raynet::{OverlayCounts, pace::CYCLE};

use super::{
    census::{self, WHOLE},
    liars::{Lie, is_genuine},
    rows::{OverlayBound, OverlayRow, OverlayUnit},
    starts::{dig, found, join, warm},
    town::{OverlayTown, member_endpoint},
};

/// Routes that are followed for one figure.
const ROUTES: usize = 1_000;

/// Lookups that are played for one figure.
const LOOKUPS: usize = 400;

/// Cycles of the counts at rest.
const REST: u64 = 16;

/// Cycles until a site is at rest after its last change, with some to spare.
const CALM: u32 = 14;

/// Cycles of a warm start, in which long links are found.
const WARM: u32 = 6;

/// Stands for a goal that was never reached.
const NEVER: u64 = 99;

/// What happens to a town.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OverlayScene {
    /// Sites that know five others each find their neighbours, and come to rest.
    Rest,
    /// So many of a million die at once.
    Kill(u64),
    /// All sites in a disc of this share of the area die at once.
    Hole(u64),
    /// So many of a million leave in each cycle, and as many come.
    Churn(u64),
    /// So many frames of a million are lost.
    Loss(u64),
    /// So many sites of a million lie.
    Forgers(u64),
    /// So many more sites, of a million, join at once.
    Join(u64),
}

/// A scene with its size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OverlayPlay {
    /// What happens to the sites.
    pub scene: OverlayScene,
    /// How many sites there are.
    pub sites: usize,
    /// Cycles of the beginning, or of the churn; none takes what the promises are about.
    pub cycles: Option<u32>,
    /// Do sites know their neighbours at the beginning, instead of anybody?
    pub is_warm: bool,
}

/// What came of a scene.
#[derive(Debug, Clone)]
pub struct OverlayPlayed {
    /// What was measured, in order.
    pub rows: Vec<OverlayRow>,
    /// The digest of all members at the end.
    pub digest: metatopia_types::Digest,
}

/// The rows of one run.
struct RowLedger {
    scene: String,
    sites: usize,
    seed: u64,
    rows: Vec<OverlayRow>,
}

impl RowLedger {
    fn put(&mut self, figure: &'static str, value: u64, unit: OverlayUnit, bound: OverlayBound) {
        let (scene, sites, seed) = (self.scene.clone(), self.sites, self.seed);
        self.rows.push(OverlayRow { scene, figure, sites, seed, value, unit, bound });
    }

    fn share(&mut self, figure: &'static str, value: u64, least: u64) {
        self.put(figure, value, OverlayUnit::Share, OverlayBound::AtLeast(least));
    }
}

impl OverlayScene {
    /// Returns its name, with its share in percent.
    #[must_use]
    pub fn name(self) -> String {
        let percent = |ppm: u64| super::rows::written(ppm * 100);
        match self {
            Self::Rest => "rest".to_owned(),
            Self::Kill(ppm) => format!("kill {}%", percent(ppm)),
            Self::Hole(ppm) => format!("hole {}%", percent(ppm)),
            Self::Churn(ppm) => format!("churn {}%", percent(ppm)),
            Self::Loss(ppm) => format!("loss {}%", percent(ppm)),
            Self::Forgers(ppm) => format!("forgers {}%", percent(ppm)),
            Self::Join(ppm) => format!("join {}%", percent(ppm)),
        }
    }
}

impl OverlayPlay {
    /// Plays the scene.
    #[must_use]
    pub fn play(&self, seed: u64) -> OverlayPlayed {
        let (scene, sites) = (self.scene.name(), self.sites);
        let mut ledger = RowLedger { scene, sites, seed, rows: Vec::new() };
        let mut town = OverlayTown::new(sites, seed);
        match self.scene {
            OverlayScene::Rest => {
                self.begin(&mut town, sites);
                self.rest(&mut town, &mut ledger);
            }
            OverlayScene::Kill(ppm) => {
                self.begin(&mut town, sites);
                for member in town.living() {
                    if town.dice.below(WHOLE) < ppm {
                        town.kill(member);
                    }
                }
                if self.is_warm {
                    outlive(&mut town, &mut ledger);
                } else {
                    recover(&mut town, &mut ledger, [5, 7, 12]);
                }
            }
            OverlayScene::Hole(ppm) => {
                self.begin(&mut town, sites);
                dig(&mut town, ppm);
                recover(&mut town, &mut ledger, [10, 18, 18]);
            }
            OverlayScene::Churn(ppm) => {
                self.begin(&mut town, sites);
                churn(&mut town, &mut ledger, ppm, self.cycles.unwrap_or(100));
            }
            OverlayScene::Loss(ppm) => {
                town.loss_ppm = ppm as u32;
                found(&mut town, sites);
                town.run(CYCLE * self.cycles.unwrap_or(12));
                let truth = town.truth();
                ledger.share("neighbours", census::neighbours(&town, &truth), 999_000);
            }
            OverlayScene::Forgers(ppm) => self.lie(&mut town, &mut ledger, ppm),
            OverlayScene::Join(ppm) => {
                let before = (sites as u64 * WHOLE / (WHOLE + ppm)) as usize;
                self.begin(&mut town, before);
                for member in before..sites {
                    join(&mut town, member);
                }
                town.run(CYCLE * 3);
                let truth = town.truth();
                ledger.share(
                    "neighbours after 3 cycles",
                    census::neighbours(&town, &truth),
                    999_000,
                );
            }
        }
        OverlayPlayed { rows: ledger.rows, digest: town.digest() }
    }

    /// Lets the first sites find each other.
    fn begin(&self, town: &mut OverlayTown, count: usize) {
        if self.is_warm {
            warm(town, count);
        } else {
            found(town, count);
        }
        let usual = match (self.is_warm, self.sites) {
            (true, _) => WARM,
            (false, 5_000..) => 15,
            (false, _) => 10,
        };
        let cycles = if matches!(self.scene, OverlayScene::Churn(_)) { None } else { self.cycles };
        town.run(CYCLE * cycles.unwrap_or(usual));
    }

    fn rest(&self, town: &mut OverlayTown, ledger: &mut RowLedger) {
        let truth = town.truth();
        ledger.share("neighbours from 5 contacts", census::neighbours(town, &truth), 999_500);
        let found = town.counts();
        let per_site = |sum: u64| sum * WHOLE / self.sites as u64;
        ledger.put(
            "messages to find them, in all",
            per_site(found.frames),
            OverlayUnit::Messages,
            OverlayBound::Open,
        );
        town.run(CYCLE * CALM);
        let before = town.counts();
        town.run(CYCLE * REST as u32);
        let after = town.counts();
        let rate = |of: fn(&OverlayCounts) -> u64| per_site(of(&after) - of(&before)) / REST;
        let most = |value: u64| OverlayBound::AtMost(value * WHOLE);
        ledger.put(
            "messages at rest",
            rate(|counts| counts.frames),
            OverlayUnit::Messages,
            most(3),
        );
        ledger.put("bytes at rest", rate(|counts| counts.bytes), OverlayUnit::Bytes, most(800));
        ledger.put(
            "signatures checked at rest",
            rate(|counts| counts.signatures),
            OverlayUnit::Count,
            OverlayBound::Open,
        );
        let routes = census::routes(town, &truth, ROUTES);
        ledger.share("routes at rest", routes.arrived, WHOLE);
        ledger.put(
            "hops, mean",
            routes.hops_milli * 1_000,
            OverlayUnit::Hops,
            OverlayBound::AtMost(5_500_000),
        );
        ledger.put("hops, most", routes.hops_max * WHOLE, OverlayUnit::Hops, most(15));
        let lookups = census::lookups(town, LOOKUPS);
        ledger.share("lookups answered truly", lookups.arrived, WHOLE);
        ledger.put(
            "sites asked, mean",
            lookups.hops_milli * 1_000,
            OverlayUnit::Hops,
            OverlayBound::AtMost(6_500_000),
        );
        ledger.put("sites asked, most", lookups.hops_max * WHOLE, OverlayUnit::Hops, most(16));
    }

    fn lie(&self, town: &mut OverlayTown, ledger: &mut RowLedger, ppm: u64) {
        found(town, self.sites);
        for (index, member) in town.living().into_iter().enumerate() {
            if town.dice.below(WHOLE) < ppm {
                town.corrupt(member, Lie::ALL[index % Lie::ALL.len()]);
            }
        }
        town.run(CYCLE * self.cycles.unwrap_or(15));
        let truth = town.truth();
        ledger.share("honest neighbours", census::neighbours(town, &truth), 995_000);
        ledger.share(
            "honest lookups answered truly",
            census::lookups(town, LOOKUPS).arrived,
            990_000,
        );
        let forged = forged(town) * WHOLE;
        ledger.put("forged records in views", forged, OverlayUnit::Count, OverlayBound::AtMost(0));
        let honest = town.living().into_iter().filter(|member| town.is_honest(*member));
        let honest: Vec<usize> = honest.collect();
        let told = honest.iter().filter(|member| town.evidence.contains_key(member)).count();
        let told = told as u64 * WHOLE / honest.len().max(1) as u64;
        ledger.share("honest members with evidence", told, 990_000);
    }
}

/// Counts what there is five cycles after deaths.
fn outlive(town: &mut OverlayTown, ledger: &mut RowLedger) {
    town.run(CYCLE * 5);
    let truth = town.truth();
    let routes = census::routes(town, &truth, ROUTES);
    ledger.share("routes 5 cycles after", routes.arrived, 999_000);
    let hops = routes.hops_milli * 1_000;
    ledger.put("hops 5 cycles after, mean", hops, OverlayUnit::Hops, OverlayBound::Open);
    let known = census::neighbours(town, &truth);
    ledger.put("neighbours 5 cycles after", known, OverlayUnit::Share, OverlayBound::Open);
}

/// Counts cycles until routes arrive, most neighbours are known, and all of them are.
fn recover(town: &mut OverlayTown, ledger: &mut RowLedger, bounds: [u64; 3]) {
    let truth = town.truth();
    let mut reached = [NEVER; 3];
    for cycle in 1..=bounds[2] {
        town.run(CYCLE);
        let known = census::neighbours(town, &truth);
        let routes = census::routes(town, &truth, ROUTES).arrived;
        let goals = [routes >= 990_000, known >= 999_000, known == WHOLE];
        for (goal, at) in goals.into_iter().zip(&mut reached) {
            *at = if goal { cycle.min(*at) } else { NEVER };
        }
        if !reached.contains(&NEVER) && cycle >= bounds[0] {
            break;
        }
    }
    let names = [
        "cycles until 99% of routes arrive",
        "cycles until 99.9% of neighbours are known",
        "cycles until all neighbours are known",
    ];
    for ((name, at), bound) in names.into_iter().zip(reached).zip(bounds) {
        ledger.put(name, at * WHOLE, OverlayUnit::Cycles, OverlayBound::AtMost(bound * WHOLE));
    }
}

fn churn(town: &mut OverlayTown, ledger: &mut RowLedger, ppm: u64, cycles: u32) {
    let count = (town.living().len() as u64 * ppm / WHOLE).max(1);
    let mut absent: Vec<usize> = Vec::new();
    let (mut known, mut arrived, mut missing) = (WHOLE, WHOLE, [0; 3]);
    for _ in 0..cycles {
        let coming = core::mem::take(&mut absent);
        let newcomers: BTreeSet<usize> = coming.iter().copied().collect();
        for _ in 0..count {
            let living = town.living();
            let leaving = living[town.dice.index(living.len())];
            town.leave(leaving);
            absent.push(leaving);
        }
        for member in coming {
            join(town, member);
        }
        town.run(CYCLE);
        let truth = town.truth();
        known = known.min(census::neighbours(town, &truth));
        arrived = arrived.min(census::routes(town, &truth, ROUTES).arrived);
        let now = census::missing(town, &truth, &newcomers);
        for (most, now) in missing.iter_mut().zip(now) {
            *most = now.max(*most);
        }
    }
    ledger.share("neighbours, at worst", known, 995_000);
    ledger.share("routes, at worst", arrived, 999_000);
    let names = [
        "missing in views of newcomers, at worst",
        "newcomers missing in views, at worst",
        "others missing in views, at worst",
    ];
    for (name, share) in names.into_iter().zip(missing) {
        ledger.put(name, share, OverlayUnit::Share, OverlayBound::Open);
    }
}

/// Counts records in views of honest members that are not what their sites say.
fn forged(town: &OverlayTown) -> u64 {
    let mut count = 0;
    for member in town.living().into_iter().filter(|member| town.is_honest(*member)) {
        let Some(machine) = town.machine(member) else { continue };
        let records = machine.neighbours().chain(machine.long_links()).chain(machine.samples());
        for record in records {
            let site = town.land.site_of(record.record.sim);
            count += u64::from(site.is_none_or(|site| !is_genuine(record, &member_endpoint(site))));
        }
    }
    count
}
