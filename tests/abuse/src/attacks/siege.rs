//! One server of four lies, in the simulated world: whole servers, a network and disks, in a time of
//! their own. Each siege is played twice by the same seeds, with the liar's doings and without; what is
//! judged is how many turns later honest people got what they wanted, at worst.

use std::time::Duration;

use metatopia_simulator::replica::{Besieged, Siege};

use super::Play;
use crate::finding::Finding;

/// Turns later, at most: the liar is one, and two are under way when an act comes.
const BOUND: u32 = 3;

/// Worlds of the long form and of the short one.
const SEEDS: [u64; 2] = [8, 1];

/// What was seen over all seeds.
#[derive(Default)]
struct Sum {
    later: u64,
    waits: [u64; 3],
    joined: u64,
    alone: u64,
    own_acts: u64,
    spent: u64,
    turns: u64,
    visits: u64,
    wrong: Vec<String>,
}

impl Sum {
    fn add(&mut self, seed: u64, beside: &Besieged, alone: &Besieged) {
        self.later = self.later.max(beside.later_than(alone));
        for (most, wait) in self.waits.iter_mut().zip(beside.waits) {
            *most = (*most).max(wait);
        }
        self.joined = self.joined.max(beside.joined);
        let without = alone.waits.iter().chain([&alone.joined]).copied().max().unwrap_or(0);
        self.alone = self.alone.max(without);
        self.own_acts += beside.own_acts;
        self.spent += beside.spent;
        self.turns += beside.turns;
        self.visits += beside.visits;
        for (which, world) in [("with", beside), ("without", alone)] {
            let refused = (world.refused > 0).then(|| format!("{} were refused", world.refused));
            let faults = world.faults.iter().cloned().chain(refused);
            self.wrong.extend(faults.map(|what| format!("seed {seed} {which}: {what}")));
        }
        if beside.own_acts <= alone.own_acts && beside.spent == 0 {
            self.wrong.push(format!("seed {seed}: the liar did nothing"));
        }
    }
}

/// Plays a siege, of so many seconds of the world in the short form and in the long one.
fn play(play: &Play, siege: Siege, name: &'static str, [short, long]: [u64; 2]) -> Finding {
    let [many, few] = SEEDS;
    let (seeds, seconds) = if play.short { (few, short) } else { (many, long) };
    let time = Duration::from_secs(seconds);
    let mut sum = Sum::default();
    for seed in play.seed..play.seed + seeds {
        let world = |on| siege.play(seed, time, on);
        sum.add(seed, &world(true), &world(false));
    }
    let Sum { later, waits, joined, alone, own_acts, spent, turns, visits, wrong } = sum;
    let did = match siege {
        Siege::Lanes => format!("{own_acts} acts in the liar's turns"),
        Siege::Invites => format!("{spent} nodes let in by the liar's invites"),
        Siege::Turns => format!("{own_acts} acts in the liar's turns, {spent} questions"),
    };
    let mut note = format!(
        "whole servers, {turns} turns, {did}: strangers, players, stewards within {waits:?} turns, \
         nodes within {joined}, {visits} visits; {alone} at most without"
    );
    for what in &wrong {
        note += "; ";
        note += what;
    }
    let finding = Finding::at_most(name, later as f64, f64::from(BOUND), "turns");
    finding.unless(!wrong.is_empty()).noted(note)
}

pub(super) fn lanes(all: &Play) -> Finding {
    play(all, Siege::Lanes, "lanes", [16, 40])
}

pub(super) fn invites(all: &Play) -> Result<Vec<Finding>, String> {
    Ok(vec![play(all, Siege::Invites, "invites", [8, 20])])
}

pub(super) fn turns(all: &Play) -> Result<Vec<Finding>, String> {
    Ok(vec![play(all, Siege::Turns, "turns", [4, 20])])
}
