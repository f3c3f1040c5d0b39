//! The attacks, one module each.

mod delayed_act;
mod half_open;
mod hostile;
mod land;
mod lanes;
mod lone_world;
mod packages;
mod pings;
mod players;
mod processor;
mod school;
mod scripts;
mod seats;
mod siege;
mod speech;
mod takeover;
mod worst_call;
mod worst_compile;
mod yardstick;

use std::path::PathBuf;

use tokio::runtime::Runtime;

pub(crate) use self::hostile::rage;
use crate::{
    cluster::{PlazaCluster, TrustedSources},
    finding::Finding,
};

/// Milliseconds of one core that a turn may take, of the 50 that it has. What is promised is judged in
/// release. A dev build has half as much again: it shows that nothing gets much worse.
const TURN_MS_MAX: f64 = if cfg!(debug_assertions) { 24.0 } else { 16.0 };

/// How the attacks are played.
#[derive(Debug)]
pub(crate) struct Play {
    /// The program under attack.
    pub(crate) program: PathBuf,
    /// A few seconds for each attack; the bounds are judged all the same.
    pub(crate) short: bool,
    /// Decides what is left to chance.
    pub(crate) seed: u64,
}

/// One attack of the bench.
pub(crate) struct Attack {
    /// The name of the attack.
    pub(crate) name: &'static str,
    /// What it does, for people.
    pub(crate) about: &'static str,
    /// Plays it. An error says why nothing could be measured.
    pub(crate) play: fn(&Play) -> Result<Vec<Finding>, String>,
}

/// Every attack, in the order in which they are played.
pub(crate) const ATTACKS: &[Attack] = &[
    Attack {
        name: "school",
        about: "200 people behind one address come at once",
        play: school::play,
    },
    Attack { name: "seats", about: "1,024 fresh keys hold all seats", play: seats::play },
    Attack { name: "players", about: "fresh keys log in without end", play: players::play },
    Attack { name: "speech", about: "one speaks where scripts listen", play: speech::play },
    Attack { name: "pings", about: "one session sends nothing but pings", play: pings::play },
    Attack { name: "half_open", about: "silent peers while servers heal", play: half_open::play },
    Attack {
        name: "lanes",
        about: "one server of four opens lanes and renews them",
        play: lanes::play,
    },
    Attack {
        name: "invites",
        about: "one server of four signs invites without end, and redeems them",
        play: siege::invites,
    },
    Attack {
        name: "turns",
        about: "one server of four fills its turns, and asks for turns without end",
        play: siege::turns,
    },
    Attack {
        name: "worst_call",
        about: "the longest call of a script that `script check` passes",
        play: worst_call::play,
    },
    Attack {
        name: "worst_compile",
        about: "the source that takes longest to compile, or to refuse",
        play: worst_compile::play,
    },
    Attack {
        name: "scripts",
        about: "64 keys attach all they may, and every script works to its limit",
        play: scripts::play,
    },
    Attack {
        name: "packages",
        about: "no attack: 1,000 scripts of the shipped packages, each awake once a second",
        play: packages::play,
    },
    Attack {
        name: "takeover",
        about: "free keys against an admin who comes by every ten days",
        play: takeover::play,
    },
    Attack {
        name: "land",
        about: "ten thousand keys want land, and one friend of theirs has some",
        play: land::play,
    },
    Attack {
        name: "delayed_act",
        about: "a lying node keeps an act, and hands it in much later",
        play: delayed_act::play,
    },
    Attack { name: "hostile", about: "fifty clients at ten times their rate", play: hostile::play },
];

/// Plays an attack on four new servers.
fn on_servers(
    play: &Play,
    trust: TrustedSources,
    attack: impl AsyncFnOnce(&PlazaCluster) -> Result<Vec<Finding>, String>,
) -> Result<Vec<Finding>, String> {
    let runtime = Runtime::new().map_err(|error| format!("no runtime: {error}"))?;
    runtime.block_on(async {
        let cluster = PlazaCluster::start(&play.program, trust).await?;
        let findings = attack(&cluster).await;
        let stopped = cluster.stop().await;
        let findings = findings?;
        stopped.map(|()| findings)
    })
}
