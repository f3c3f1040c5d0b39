//! `sim succeed` founds a sim that continues another one.

use std::{fmt, path::PathBuf, time::Duration};

use clap::Args;
use metatopia_audit::tools;
use metatopia_replica::encode_snapshot;
use metatopia_sim::{World, is_name};
use metatopia_store::Snapshot;
use metatopia_types::PublicKey;
use serde::Serialize;

use super::{ParentLine, last_state::read_last_state};
use crate::{
    cli::{
        arguments,
        console::Console,
        failure::Failure,
        numbers::number_of,
        up::world::{self as kept, Beginning, Founders, SERVERS},
    },
    overlay::OverlayFolder,
};

#[derive(Debug, Args)]
pub(in crate::cli) struct SucceedArgs {
    /// The data directory of one of the parent's servers or followers, or a snapshot of one.
    snapshot: PathBuf,
    /// The name of the successor.
    #[arg(long, alias = "place-name")]
    name: String,
    /// The directory of the successor, which must be new. `metatopia up --data-dir DIR` runs it.
    #[arg(long, value_name = "DIR")]
    data_dir: PathBuf,
    /// The number of its servers, each with new keys. Others can join later.
    #[arg(long, default_value_t = SERVERS as u32, value_parser = clap::value_parser!(u32).range(1..=31))]
    servers: u32,
    /// How long the successor lives, such as 2h [default: as long as the parent, or for ever]. Its admins
    /// can change this while it lives.
    #[arg(long, value_name = "DURATION", value_parser = arguments::days)]
    ttl: Option<Duration>,
    /// An admin besides the new one, whose key is written to admin.key: 64 hexadecimal digits.
    #[arg(long, value_name = "KEY")]
    admin: Vec<PublicKey>,
    /// The genesis of the parent [default: the file `genesis` in the data directory].
    #[arg(long, value_name = "FILE")]
    genesis: Option<PathBuf>,
}

/// The successor, as the command prints it.
#[derive(Debug, Serialize)]
struct Founded {
    sim: String,
    name: String,
    parent: ParentLine,
    objects: usize,
    players: usize,
    servers: u32,
    data_dir: String,
}

impl fmt::Display for Founded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { sim, name, parent, objects, players, servers, data_dir } = self;
        writeln!(f, "{name} is sim {sim}")?;
        writeln!(f, "it carries on {parent}")?;
        let objects = number_of(*objects, "object", "objects");
        let players = number_of(*players, "player", "players");
        let servers = number_of(*servers, "server", "servers");
        writeln!(f, "{objects} and {players} are as they were\n")?;
        writeln!(f, "run its {servers} with: metatopia up --data-dir {data_dir}")?;
        write!(f, "the key of its new admin is {data_dir}/admin.key")
    }
}

pub(super) fn run(args: &SucceedArgs, console: Console) -> Result<(), Failure> {
    if !is_name(&args.name) {
        return Err(Failure::usage(format!("{:?} is no name for a sim", args.name)));
    }
    console.note(&format!("reading {}", args.snapshot.display()));
    let last = read_last_state(&args.snapshot, args.genesis.as_deref())?;
    if last.proof.is_none() {
        console.warn("no certificate is at hand: others have to take the snapshot's root on trust");
    }
    let mut founded = None;
    let in_world = last.world.charter().site.is_some();
    kept::LocalWorld::create(&args.data_dir, args.servers as usize, in_world, |founders| {
        let Founders { validators, admin, beacons } = founders;
        let admins = args.admin.iter().copied().chain([admin]).collect();
        let mut genesis = last.successor(args.name.clone(), validators, admins, beacons);
        if let Some(ttl) = args.ttl {
            genesis.parameters.ttl_seconds = ttl.as_secs().max(1);
        }
        let world = World::succeed(&genesis, &last.world, &tools())
            .map_err(|error| Failure::usage(error.to_string()))?;
        founded = Some((world, genesis.id()));
        let (height, root) = (last.world.height(), last.world.root());
        let bytes = encode_snapshot(&last.base, &last.world);
        let state = Some(Snapshot { height, root, bytes }.to_file());
        Ok(Beginning { genesis, state })
    })?;
    let (world, sim) = founded.expect("what was made was founded");
    if world.charter().is_office() && args.snapshot.is_dir() {
        for index in 0..args.servers as usize {
            let server = kept::server_path(&args.data_dir, index);
            OverlayFolder::carry_on(&args.snapshot, &server)?;
        }
    }
    let (parent, height) = (last.world.sim(), last.world.height());
    console.note(&format!(
        "if servers of sim {parent} live elsewhere, there are two sims from turn {height} on"
    ));
    console.show(&Founded {
        sim: sim.to_string(),
        name: args.name.clone(),
        parent: ParentLine::of(&last.parent()),
        objects: world.objects().count(),
        players: world.player_count(),
        servers: args.servers,
        data_dir: args.data_dir.display().to_string(),
    })
}
