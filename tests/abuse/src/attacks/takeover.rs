//! Free keys wait for a permanent admin who comes by every ten days: they hold all seats, are here every
//! day, and try to bring servers of their own in.
//!
//! Played in this process against the rules of the sim alone. A turn is a minute of governance time, so
//! that months pass in seconds. The figure is the days on which a free key rules, and their bound is none.
//! Afterwards the admin stays away: the keys then must come to power, or nothing was tried.

use std::collections::BTreeMap;

use metatopia_scenarios::plaza;
use metatopia_sim::Serial;
use metatopia_types::{Act, Digest, Emote, Look, NodeContact, PublicKey, SetChange};

use super::{Play, lone_world::LoneWorld};
use crate::finding::Finding;

const NAME: &str = "takeover";

/// Turns of a day, each of a minute.
const DAY: u64 = 24 * 60;

/// The keys do everything that they can so often, in turns.
const EVERY: u64 = 20;

/// The admin comes by so often, in days.
const ADMIN_EVERY: u64 = 10;

/// Days of governance time, keys, and seats of the sim: fewer than there are keys.
const FULL: (u64, u64, u32) = (125, 128, 64);
const SHORT: (u64, u64, u32) = (65, 16, 8);

/// How the admin's visits of the attacked sim went, and who ruled.
#[derive(Default)]
struct Inheritance {
    ruled: u64,
    visits: u64,
    shut_out: u64,
}

const ADMIN: PublicKey = PublicKey([9; 32]);

fn key(n: u64) -> PublicKey {
    PublicKey(Digest::of("a free key", &n.to_le_bytes()).0)
}

pub(super) fn play(play: &Play) -> Result<Vec<Finding>, String> {
    let (days, keys, seats) = if play.short { SHORT } else { FULL };
    let servers: BTreeMap<_, _> =
        (1..=4).map(|n| (PublicKey([n; 32]), NodeContact::default())).collect();
    let mut genesis = plaza::genesis(servers, [ADMIN].into());
    let parameters = &mut genesis.parameters;
    // With a tick a turn a session outlasts the pauses of the keys, and a turn is a millisecond.
    (parameters.avatars_max, parameters.ticks_per_turn) = (seats, 1);
    let alone = u64::from(parameters.admin_days) + 2;
    let mut sim = LoneWorld::found(&genesis, 60_000)?;
    let mut story = Inheritance::default();
    (0..days).for_each(|day| live(&mut sim, keys, day % ADMIN_EVERY == 0, &mut story));
    let (free, outsiders) = (sim.world.present().count(), sim.world.roster().standbys().len());
    let mut later = Inheritance::default();
    let fell = (0..alone).find(|_| {
        live(&mut sim, keys, false, &mut later);
        later.ruled > 0
    });
    let fell = fell.map_or("never".to_owned(), |day| format!("after {day} days more"));
    let note = format!(
        "{keys} keys, {free} on {seats} seats, {days} days; the admin came {} times; without her a \
        key rules {fell}",
        story.visits
    );
    let tried = later.ruled > 0 && free >= seats as usize * 3 / 4;
    let finding = Finding::at_most(NAME, story.ruled as f64, 0.0, "days").noted(note);
    Ok(vec![finding.unless(!tried || outsiders > 0 || story.shut_out > 0)])
}

/// Plays a day.
fn live(sim: &mut LoneWorld, keys: u64, visit: bool, story: &mut Inheritance) {
    let mut ruled = false;
    for minute in 0..DAY {
        let mut acts = Vec::new();
        if minute % EVERY == 0 {
            for n in 0..keys {
                let contact = NodeContact::default();
                let add = SetChange::Add { key: key(keys + n), contact };
                // Who is out tries to come in; who is in keeps the seat.
                let login = Act::login(format!("key {n}"), Look::default());
                for act in [login, Act::Emote(Emote::Wave), Act::SetChange(add)] {
                    acts.push(sim.act(key(n), act));
                }
            }
        }
        let admin = (visit && minute == 5)
            .then(|| sim.act(ADMIN, Act::login("Alice".to_owned(), Look::default())));
        acts.extend(admin.clone());
        let turn = sim.turn(acts, Vec::new());
        sim.world.apply(&turn, &Serial);
        if let Some(admin) = admin {
            let is_in = sim.outcome(&admin).is_some_and(|outcome| outcome.is_done());
            story.visits += 1;
            story.shut_out += u64::from(!is_in);
        }
        ruled |= sim.world.governance().temp_admin.is_some();
    }
    story.ruled += u64::from(ruled);
}
