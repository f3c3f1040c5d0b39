//! What first logins cost a sim that remembers as many players as it can.
//!
//! Played in this process. Everybody is a regular here after a day, so that nobody is forgotten until the
//! last place is taken; from then on each first login has somebody forgotten.

use std::{collections::BTreeMap, time::Duration};

use metatopia_scenarios::plaza;
use metatopia_sim::{
    Serial,
    limits::{ARRIVALS_PER_TURN_MAX, PLAYERS_MAX},
};
use metatopia_types::{Act, Digest, Look, NodeContact, PublicKey};

use crate::{
    attacks::{TURN_MS_MAX, lone_world::LoneWorld, processor, yardstick::Yardstick},
    finding::Finding,
};

/// Turns that are measured.
const TURNS: u64 = 100;

fn key(n: u64) -> PublicKey {
    PublicKey(Digest::of("a passer-by", &n.to_le_bytes()).0)
}

/// Fills a sim, and measures a turn of 64 first logins.
pub(super) fn play() -> Result<Finding, String> {
    let servers: BTreeMap<_, _> =
        (1..=4).map(|n| (PublicKey([n; 32]), NodeContact::default())).collect();
    let mut genesis = plaza::genesis(servers, [PublicKey([9; 32])].into());
    genesis.parameters.seen_days = 1;
    let mut sim = LoneWorld::found(&genesis, 50)?;
    let mut next = 0;
    while sim.world.player_count() < PLAYERS_MAX {
        pass_by(&mut sim, &mut next);
    }
    let yardstick = Yardstick::at_start();
    let full = measure(&mut sim, |sim| pass_by(sim, &mut next));
    let players = sim.world.player_count();
    let quiet = measure(&mut sim, |sim| {
        let turn = sim.turn(Vec::new(), Vec::new());
        sim.world.apply(&turn, &Serial);
    });
    let note = format!("a turn of {ARRIVALS_PER_TURN_MAX} first logins among {players} players");
    let finding = Finding::at_most_ms("players", full, TURN_MS_MAX, yardstick.at_end());
    Ok(finding.beside(quiet).noted(note))
}

/// Gives the mean of some turns, in milliseconds of one thread.
fn measure(sim: &mut LoneWorld, mut turn: impl FnMut(&mut LoneWorld)) -> f64 {
    let begin = processor::time();
    (0..TURNS).for_each(|_| turn(sim));
    let spent: Duration = processor::time().saturating_sub(begin);
    spent.as_secs_f64() * 1_000.0 / TURNS as f64
}

/// Plays a turn in which as many as can come in, and leave again.
fn pass_by(sim: &mut LoneWorld, next: &mut u64) {
    let mut acts = Vec::new();
    for _ in 0..ARRIVALS_PER_TURN_MAX {
        *next += 1;
        let login = Act::login(format!("passer-by {next}"), Look::default());
        acts.extend([login, Act::Leave].map(|act| sim.act(key(*next), act)));
    }
    let turn = sim.turn(acts, Vec::new());
    sim.world.apply(&turn, &Serial);
}
