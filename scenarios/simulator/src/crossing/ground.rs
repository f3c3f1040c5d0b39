//! Where the crossing is played: two squares of 64 m that touch, with balls on both.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

use metatopia_math::{Fx, Vec2};
use metatopia_scenarios::{Place, parse_package};
use metatopia_sim::{Area, Genesis};
use metatopia_types::{Digest, PublicKey, Sign, SimId, Site, Square};

use super::plan::{CrossingPlan, Narrowness};
use crate::replica::{ReplicaSetting, contact};

const ROLLER: &str = include_str!("../../crossing/roller.rhai");

/// Balls of each sim that roll to and fro by their script.
pub(super) const ROLLERS: usize = 2;

/// Keys of the servers of the two sims are so far apart.
const KEYS_APART: u64 = 1_000;

/// Turns between two snapshots: servers that start go on from some.
const SNAPSHOT_TURNS: u64 = 150;

/// Where the line is from the middle of a sim, in metres.
pub(super) const LINE: i32 = 32;

/// How far avatars reach, in metres: a ball that rolled on is still in reach.
pub(super) const REACH: i32 = 8;

/// The name of one of the two sims.
pub(super) const fn name(sim: usize) -> &'static str {
    if sim == 0 { "west" } else { "east" }
}

/// Returns how one of the two sims is set up.
pub(super) fn setting(plan: &CrossingPlan, sim: usize) -> ReplicaSetting {
    let scheme = plan.scheme;
    let first = KEYS_APART * sim as u64;
    let mut keys: Vec<Arc<dyn Sign>> =
        (first..).take(plan.servers).map(|number| scheme.key(number)).collect();
    keys.sort_by_key(|key| key.public());
    let seed = plan.seed.wrapping_mul(2).wrapping_add(sim as u64);
    let genesis = genesis(plan, sim, &keys);
    // Those who may vote later come after the others, whose keys ascend.
    keys.extend((first..).skip(plan.servers).take(plan.spare).map(|number| scheme.key(number)));
    let mut setting = ReplicaSetting::of_genesis(genesis, scheme, keys, seed);
    let liars = plan.liars.iter().filter(|liar| liar.sim == sim);
    setting.liars = liars.map(|liar| (liar.seat, liar.deed)).collect();
    setting.own.snapshot_turns = SNAPSHOT_TURNS;
    setting.own.crossing_bug = plan.broken;
    setting.share_work();
    setting
}

fn genesis(plan: &CrossingPlan, sim: usize, keys: &[Arc<dyn Sign>]) -> Genesis {
    let servers = keys.iter().enumerate().map(|(seat, key)| (key.public(), contact(seat)));
    let admins = BTreeSet::from([plan.scheme.player(0).public()]);
    let walkers: Vec<u64> = plan.starting(sim).collect();
    let mut genesis = place(sim, walkers.len()).genesis(servers.collect(), admins);
    for (ball, walker) in genesis.objects.iter_mut().skip(ROLLERS).zip(walkers) {
        ball.owner = Some(plan.walker(walker));
    }
    let square = Square { x: 2 * sim as i32, y: 0, doublings: 0 };
    // All things but the last, which is the post.
    let movable = genesis.objects.len().saturating_sub(1);
    let parameters = &mut genesis.parameters;
    parameters.ground = Area::of_square(square);
    parameters.avatar.spawn = Vec2::new(towards(sim, 24), Fx::ZERO);
    parameters.avatar.speed = Fx::from_int(8);
    parameters.avatar.reach = Fx::from_int(REACH);
    parameters.things_from_servers = u32::try_from(plan.servers).unwrap_or(1).min(4);
    if sim == 1 {
        let servers = u32::try_from(plan.servers).unwrap_or(u32::MAX);
        let things = u32::try_from(movable).unwrap_or(u32::MAX);
        match plan.narrow {
            Some(Narrowness::Share) => parameters.border_things = 1,
            Some(Narrowness::Servers) => parameters.things_from_servers = servers + 1,
            Some(Narrowness::Size) => parameters.building.size_max = Fx::from_ratio(1, 4),
            Some(Narrowness::Places) => parameters.building.movable_max = things,
            None => {}
        }
    }
    let world = SimId(Digest::of("metatopia simulated world of two sims", b"crossing"));
    genesis.site = Some(Site { world, square });
    genesis
}

/// Returns so many metres from the middle of a sim towards the other one.
fn towards(sim: usize, metres: i32) -> Fx {
    Fx::from_int(if sim == 0 { metres } else { -metres })
}

/// Returns the way of somebody who walks out of a sim, to the other one.
pub(super) fn outward(sim: usize) -> Vec2 {
    Vec2::new(towards(sim, 1), Fx::ZERO)
}

/// Returns how far a position is from the middle of a sim, towards the other one.
pub(super) fn reached(sim: usize, position: Vec2) -> Fx {
    if sim == 0 { position.x } else { Fx::ZERO.saturating_sub(position.x) }
}

/// Returns a place with balls that roll, one ball for each of these walkers, and far from the line a post: the last
/// thing, which never leaves.
fn place(sim: usize, walkers: usize) -> Place {
    let way = if sim == 0 { 1 } else { -1 };
    let mut text = format!(
        "name = \"{}\"\nlicence = \"AGPL-3.0-or-later\"\nasset_licence = \"CC-BY-SA-4.0\"\n\
         spawn = [{}, 0]\nspawn_radius = 2\n",
        name(sim),
        24 * way
    );
    let mut ball = |x: i32, y: i32, scripts: &str| {
        write!(
            text,
            "\n[[object]]\nkind = \"ball\"\nname = \"ball\"\nat = [{x}, {y}]\ndisc = \"0.3\"\n\
             motion = \"dynamic\"\nmass = 1\nfriction = \"0.3\"\ndamping = 1\n{scripts}\n"
        )
        .expect("a string");
    };
    let script = format!("scripts = [{{ package = \"roller\", state = {{ way = {way} }} }}]");
    for n in 0..ROLLERS as i32 {
        // Those of the two sims roll past each other.
        ball(28 * way, 8 + 4 * n + 2 * sim as i32, &script);
    }
    for n in 0..i32::try_from(walkers).unwrap_or(i32::MAX) {
        ball(21 * way, -2 - 2 * n, "");
    }
    write!(
        text,
        "\n[[object]]\nkind = \"post\"\nname = \"post\"\nat = [{}, 20]\ndisc = \"0.3\"\n",
        -20 * way
    )
    .expect("a string");
    let manifest = "name = \"roller\"\nversion = \"1.0.0\"\napi = 1\nentry = \"roller.rhai\"\n\
                    licence = \"AGPL-3.0-or-later\"\nauthors = [\"The Metatopia authors\"]\n";
    let files = BTreeMap::from([("package.toml", manifest), ("roller.rhai", ROLLER)]);
    let roller = parse_package("crossing", &files).expect("a script that was built in");
    Place::parse("crossing.toml", &text, &[roller]).expect("a place that was built in")
}

impl CrossingPlan {
    /// Returns the numbers of the walkers who begin in a sim. Player 0 is the admin.
    pub(super) fn starting(&self, sim: usize) -> impl Iterator<Item = u64> + use<> {
        (1..=self.walkers).filter(move |number| (*number % 2) as usize == sim)
    }

    /// Returns the key of a walker, the same in both sims.
    pub(super) fn walker(&self, number: u64) -> PublicKey {
        self.scheme.player(number).public()
    }
}
