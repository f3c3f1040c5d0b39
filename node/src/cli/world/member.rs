//! `world join` learns a world, and `world member` takes part in it without a sim.

use std::{fmt, path::PathBuf, sync::Arc, time::Duration};

use clap::{ArgAction, Args};
use libp2p::Multiaddr;
use metatopia_transport::overlay::is_loopback;
use metatopia_types::{SimId, TilePoint};
use serde::Serialize;
use tokio::{signal::unix::SignalKind, sync::watch};

use super::{
    invite::{self, WorldEntrance},
    learned::LearnedWorld,
};
use crate::{
    cli::{console::Console, failure::Failure, numbers::number_of},
    overlay::{
        OverlayFolder, WorldPlace, WorldPlaceSetup,
        folder::{MemberLock, OverlayFolderError},
        successor,
    },
};

/// Arguments of `metatopia world join`.
#[derive(Debug, Args)]
pub(in crate::cli) struct JoinWorldArgs {
    /// An invite of `metatopia world invite`, or the address of a node that takes part in the world, such as
    /// http://127.0.0.1:8080.
    #[arg(value_name = "INVITE|URL")]
    by: WorldEntrance,
    /// The directory that keeps a key, the land office and contacts.
    dir: PathBuf,
    /// The world that it must be: 64 hexadecimal digits [default: the one that the invite or the node names].
    #[arg(long, value_name = "ID")]
    world: Option<SimId>,
}

/// A world that was joined.
#[derive(Debug, Serialize)]
struct JoinedWorld {
    world: String,
    member: String,
    contacts: usize,
    /// The height of the land office from which on a map counts for this member.
    map_from: u64,
    data_dir: String,
}

impl fmt::Display for JoinedWorld {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { world, member, contacts, map_from, data_dir } = self;
        writeln!(f, "joined world {world} as {member}")?;
        writeln!(f, "no map from before height {map_from} of its land office counts here")?;
        let contacts = number_of(*contacts, "contact is", "contacts are");
        writeln!(f, "{contacts} kept in {data_dir}\n")?;
        write!(f, "find who owns a point with: metatopia world find 0 0 --data-dir {data_dir}")
    }
}

pub(super) async fn join(args: JoinWorldArgs, console: Console) -> Result<(), Failure> {
    use metatopia_types::Sign as _;
    let learned = match &args.by {
        WorldEntrance::Node(node) => LearnedWorld::from(node, args.world).await?,
        WorldEntrance::Invite(invite) => invite::learn(invite, args.world).await?.1,
    };
    let world = learned.sets.world();
    let folder = keep(&args, &learned)?;
    let key = folder.member_key()?;
    console.show(&JoinedWorld {
        world: world.to_string(),
        member: key.public().to_string(),
        contacts: folder.contacts().read().len(),
        map_from: folder.map_from()?.0,
        data_dir: args.dir.display().to_string(),
    })
}

/// Keeps a world that was learned. Beside a server that runs, only the successor of the world that it is in is
/// added: all else would be written over the server's own files.
///
/// # Errors
/// As [`folder_for`], or when another process is the member of the directory.
fn keep(args: &JoinWorldArgs, learned: &LearnedWorld) -> Result<OverlayFolder, Failure> {
    let newest = OverlayFolder::at(&args.dir);
    let _worlds = newest.lock_worlds()?;
    let _member = match newest.lock() {
        Ok(lock) => Some(lock),
        Err(in_use @ OverlayFolderError::InUse { .. }) => {
            let kept = newest.office()?.map(|sets| sets.world());
            if kept == Some(learned.sets.world()) {
                return Ok(newest);
            }
            if !kept.is_some_and(|kept| carries_on(learned, kept)) {
                return Err(in_use.into());
            }
            None
        }
        Err(error) => return Err(error.into()),
    };
    let folder = folder_for(args, learned)?;
    folder.member_key()?;
    learned.keep(&folder)?;
    Ok(folder)
}

/// Says whether a node says that a world carries on another one, itself or by worlds in between.
fn carries_on(learned: &LearnedWorld, other: SimId) -> bool {
    let is_told = learned.parents.iter().any(|head| head.id() == other);
    learned.sets.parent() == Some(other) || is_told
}

/// Returns the folder in which a world is kept that was learned. One directory is of one world, and of those
/// that carry it on.
///
/// # Errors
/// When the directory is of another world. Anybody can found an office that calls itself a successor, so nobody
/// is moved to one whose id was not typed.
fn folder_for(args: &JoinWorldArgs, learned: &LearnedWorld) -> Result<OverlayFolder, Failure> {
    let folder = OverlayFolder::at(&args.dir);
    let world = learned.sets.world();
    let Some(other) = folder.office()?.filter(|known| known.world() != world) else {
        return Ok(folder);
    };
    let message = format!("{} is of world {}", args.dir.display(), other.world());
    if !carries_on(learned, other.world()) {
        return Err(Failure::refused(message).hint("name another directory"));
    }
    if args.world.is_none() {
        let message = format!("{message}, and world {world} says that it carries that on");
        return Err(Failure::refused(message)
            .hint("if its admins say so too, name the id by --world; or name another directory"));
    }
    successor::folder_for(&args.dir, learned).map_err(|error| Failure::refused(error.to_string()))
}

/// Arguments of `metatopia world member`.
#[derive(Debug, Args)]
pub(in crate::cli) struct MemberArgs {
    /// The directory of `metatopia world join`.
    dir: PathBuf,
    /// Where the overlay is spoken, such as /ip4/0.0.0.0/tcp/8083 [default: any port, on loopback if all
    /// contacts are there].
    #[arg(long, value_name = "MULTIADDRESS")]
    listen: Option<Multiaddr>,
    /// Find members in the local network by mDNS, and be found there.
    #[arg(long)]
    lan: bool,
    /// The point that it looks from, in tiles of 32 m.
    #[arg(
        long,
        action = ArgAction::Set,
        num_args = 2,
        value_names = ["X", "Y"],
        allow_negative_numbers = true
    )]
    near: Option<Vec<i32>>,
}

/// How a member without a site takes part.
#[derive(Debug)]
pub(super) struct MemberPlan {
    /// Where the overlay is spoken; none for what suits its contacts.
    pub(super) listen: Option<Multiaddr>,
    /// Whether members in the local network are called and answered.
    pub(super) lan: bool,
    /// Whether it is here for a moment only.
    pub(super) is_guest: bool,
    /// Where it looks from.
    pub(super) vantage: TilePoint,
}

impl MemberPlan {
    /// Returns the plan of a command that asks, and ends.
    pub(super) const fn guest(vantage: TilePoint, lan: bool) -> Self {
        Self { listen: None, lan, is_guest: true, vantage }
    }
}

/// A member that runs in this process, and the directory that is its own meanwhile.
pub(super) struct LocalMember {
    pub(super) place: WorldPlace,
    _lock: MemberLock,
}

/// Starts a member without a site in a directory of `world join`.
///
/// # Errors
/// When the directory is of no world or another process's, or the address cannot be listened on.
pub(super) async fn start(
    dir: &std::path::Path,
    plan: MemberPlan,
    stop: watch::Receiver<bool>,
) -> Result<LocalMember, Failure> {
    let folder = OverlayFolder::at(dir);
    let sets = folder.office().map_err(|error| Failure::failed(error.to_string()))?;
    let Some(sets) = sets else {
        let message = format!("{} holds no world", dir.display());
        return Err(Failure::not_found(message).hint("`metatopia world join INVITE DIR` makes one"));
    };
    let lock = folder.lock()?;
    let contacts = folder.contacts().read();
    let is_here =
        |address: &str| address.starts_with("/ip4/127.") || address.starts_with("/ip6/::1/");
    let MemberPlan { listen, lan, is_guest, vantage } = plan;
    let any = match !lan && contacts.iter().all(|contact| is_here(&contact.address)) {
        true => "/ip4/127.0.0.1/tcp/0",
        false => "/ip4/0.0.0.0/tcp/0",
    };
    let listen = listen.unwrap_or_else(|| any.parse().expect("a constant"));
    if lan && is_loopback(&listen) {
        return Err(Failure::usage(format!("nobody in the local network reaches {listen}"))
            .hint("leave out --listen, or name an address that others reach"));
    }
    let setup = WorldPlaceSetup {
        listen,
        lan,
        is_guest,
        clients: None,
        site: None,
        vantage,
        ports: Vec::new(),
        refresh: Duration::from_secs(60),
        published: Arc::default(),
    };
    let place = WorldPlace::start(setup, sets, &folder, Vec::new(), stop).await;
    let place = place.map_err(|error| Failure::failed(error.to_string()))?;
    Ok(LocalMember { place, _lock: lock })
}

/// A member that runs.
#[derive(Debug, Serialize)]
struct MemberLine {
    world: String,
    member: String,
    overlay: String,
}

impl fmt::Display for MemberLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { world, member, overlay } = self;
        write!(f, "{member} takes part in world {world} at {overlay}; Ctrl-C stops it")
    }
}

pub(super) async fn run(args: MemberArgs, console: Console) -> Result<(), Failure> {
    let failed = |error| Failure::failed(format!("cannot wait for signals: {error}"));
    let mut interrupt = tokio::signal::unix::signal(SignalKind::interrupt()).map_err(failed)?;
    let mut terminate = tokio::signal::unix::signal(SignalKind::terminate()).map_err(failed)?;
    let (stop, stopped) = watch::channel(false);
    let vantage = match args.near.as_deref() {
        Some([x, y]) => TilePoint { x: *x, y: *y },
        _ => TilePoint::default(),
    };
    let plan = MemberPlan { listen: args.listen, lan: args.lan, is_guest: false, vantage };
    let LocalMember { place, _lock } = start(&args.dir, plan, stopped).await?;
    console.show(&MemberLine {
        world: place.sets().world().to_string(),
        member: place.member().key.to_string(),
        overlay: place.member().address.to_string(),
    })?;
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
    stop.send_replace(true);
    // Until the loop has said goodbye and written its contacts.
    let _ended = tokio::time::timeout(Duration::from_secs(2), stop.closed()).await;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        overlay::{
            OfficeSets,
            learned::learned_of_tests,
            office::{office_of_tests, successor_of_tests},
        },
        scratch::Scratch,
    };

    /// Only `world member` held the lock, so `world join` and `world find` wrote over the files of a server.
    #[test]
    fn beside_a_server_that_runs_only_the_successor_of_its_world_is_joined() {
        let scratch = Scratch::new("join-beside");
        let join = |office: &OfficeSets| {
            let by = WorldEntrance::Node("http://127.0.0.1:9".parse().expect("an address"));
            let args = JoinWorldArgs { by, dir: scratch.0.clone(), world: Some(office.world()) };
            keep(&args, &learned_of_tests(office, &[]))
        };
        let newest = || OverlayFolder::at(&scratch.0).office().expect("files").map(|o| o.world());
        let old = office_of_tests();
        let new = successor_of_tests(&old);
        join(&old).expect("nothing is there yet");
        let server = OverlayFolder::at(&scratch.0).lock().expect("nobody takes part");
        join(&old).expect("the server is in that world");
        join(&new).expect("it is added beside");
        assert_eq!(newest(), Some(new.world()));
        join(&new).expect("it is there");
        let refused = join(&old).expect_err("nothing but a successor is added");
        assert!(refused.message.starts_with("another process takes part"), "{refused}");
        drop(server);
        let refused = join(&old).expect_err("one directory is of one world");
        assert!(refused.message.contains("name another directory"), "{refused}");
    }
}
