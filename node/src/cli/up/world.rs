//! The directory of a world that `up` keeps: one directory per server, and the admin's key.

mod making;

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
};

use libp2p::{Multiaddr, PeerId, multiaddr::Protocol};
use metatopia_raynet::SiteEndpoint;
use metatopia_scenarios::{Place, plaza};
use metatopia_sim::{FirstLogin, Genesis};
use metatopia_transport::{gateway::GatewayLimits, networks::Networks, overlay::is_loopback};
use metatopia_types::{NodeContact, PublicKey, Sign as _, SimId};
use serde::{Deserialize, Serialize};

use super::reach::Reach;
use crate::{
    atomic_file::replace,
    cli::{
        Failure,
        numbers::number_of,
        ports::{self, Ports},
        sources::open_directory,
    },
    config::{self, ConfigError, Limits, PeerConfig, WrittenConfig},
    engine::{self, OtherEngine},
    keys,
    overlay::{OverlayFolder, address::SiteAddress, folder::OverlayFolderError},
};

/// Servers of a new world: the fewest of which one may lie or vanish.
pub(in crate::cli) const SERVERS: usize = 4;

/// The version of this layout.
const FORMAT: u32 = 1;

/// Says that the directory is a world, and which; written last.
pub(in crate::cli) const MARK: &str = "world.toml";
/// The folder that a server makes when it runs for the first time.
const LOG: &str = "log";
const LOCK: &str = "up.lock";
/// The key of the sim's admin.
pub(in crate::cli) const ADMIN_KEY: &str = "admin.key";
/// The genesis, in every server's directory, so that each can be verified alone.
pub(in crate::cli) const GENESIS: &str = "genesis";
/// A server's configuration, in its directory.
pub(in crate::cli) const CONFIG: &str = "metatopia.toml";

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WorldMarker {
    format: u32,
    sim: String,
    servers: usize,
}

/// One server's place in a world.
#[derive(Clone, Debug)]
pub(in crate::cli) struct WorldServer {
    /// The path of its directory.
    pub(in crate::cli) path: PathBuf,
    /// The key it votes with.
    pub(in crate::cli) key: PublicKey,
    peer_id: PeerId,
}

impl WorldServer {
    /// Its configuration file.
    pub(in crate::cli) fn config(&self) -> PathBuf {
        self.path.join(CONFIG)
    }

    /// Returns the file that the node logs to.
    pub(in crate::cli) fn log(&self) -> PathBuf {
        self.path.join("node.log")
    }
}

/// A world on this disk, held by this process.
#[derive(Debug)]
pub(in crate::cli) struct LocalWorld {
    path: PathBuf,
    sim: SimId,
    genesis: Genesis,
    servers: Vec<WorldServer>,
    /// Held as long as this lives, so that no two processes start servers here.
    _lock: File,
}

/// What a world begins with.
pub(in crate::cli) struct Beginning {
    pub(in crate::cli) genesis: Genesis,
    /// The snapshot that a successor begins with, as a file.
    pub(in crate::cli) state: Option<Vec<u8>>,
}

/// The keys that a sim is founded with.
#[derive(Clone, Debug)]
pub(in crate::cli) struct Founders {
    /// The first validators.
    pub(in crate::cli) validators: BTreeMap<PublicKey, NodeContact>,
    /// The first admin.
    pub(in crate::cli) admin: PublicKey,
    /// Keys of servers that sign the addresses of the sim; none of a sim that lies in no world.
    pub(in crate::cli) beacons: Vec<PublicKey>,
}

/// Makes a beginning out of the first keys.
pub(in crate::cli) trait Make:
    FnOnce(Founders) -> Result<Beginning, Failure>
{
}

impl<F> Make for F where F: FnOnce(Founders) -> Result<Beginning, Failure> {}

impl LocalWorld {
    /// Opens the world at `path`, or makes a plaza of `count` servers if there is nothing yet, with a
    /// genesis that is changed before it is kept.
    ///
    /// # Errors
    /// When there is something else, when it is in use, or when the disk fails; names the path.
    pub(in crate::cli) fn open_or_create_with(
        path: &Path,
        count: usize,
        change: impl FnOnce(&mut Genesis),
    ) -> Result<Self, Failure> {
        Self::open_or_found(path, count, &plaza::place(), change)
    }

    /// Opens the world at `path`, or founds one of `count` servers at this place if there is nothing
    /// yet, with a genesis that is changed before it is kept.
    ///
    /// # Errors
    /// When there is something else, when it is in use, or when the disk fails; names the path.
    pub(in crate::cli) fn open_or_found(
        path: &Path,
        count: usize,
        place: &Place,
        change: impl FnOnce(&mut Genesis),
    ) -> Result<Self, Failure> {
        let make = |Founders { validators, admin, .. }: Founders| {
            let mut genesis = place.genesis(validators, BTreeSet::from([admin]));
            change(&mut genesis);
            Ok(Beginning { genesis, state: None })
        };
        match entries(path)? {
            names if names.is_empty() || making::is_unfinished(path, count, false)? => {
                making::create(path, count, false, make)?;
            }
            names if !names.contains(&OsString::from(MARK)) => {
                if making::is_unfinished(path, usize::MAX, true)? {
                    return Err(cut_off(path));
                }
                let message = format!("{} is not empty and holds no {MARK}", path.display());
                return Err(Failure::usage(message)
                    .hint("it is no world of `metatopia up`; name another place by --data-dir"));
            }
            _ => {}
        }
        Self::open(path)
    }

    /// Opens the world that is kept at `path`.
    ///
    /// # Errors
    /// When there is none, when it is in use, or when the disk fails; names the path.
    pub(in crate::cli) fn open(path: &Path) -> Result<Self, Failure> {
        let lock = lock(path)?;
        let mark = read_mark(path)?;
        let servers: Vec<WorldServer> =
            (0..mark.servers).map(|n| seat(path, n)).collect::<Result<_, _>>()?;
        let bytes =
            fs::read(servers[0].path.join(GENESIS)).map_err(|e| disk(&servers[0].path, &e))?;
        engine::check(&servers[0].path, &bytes)
            .map_err(|other| OtherEngine { name: path.display().to_string(), ..other })?;
        servers.iter().try_for_each(|server| open_directory(&server.path).map(drop))?;
        let genesis = Genesis::decode(&bytes)
            .map_err(|error| Failure::unverified(format!("{}: {error}", path.display())))?;
        let sim = genesis.id();
        let voters: BTreeSet<PublicKey> = servers.iter().map(|seat| seat.key).collect();
        if sim.to_string() != mark.sim || !genesis.validators.keys().eq(&voters) {
            let message = format!("the files in {} are of different worlds", path.display());
            return Err(Failure::unverified(message).hint("put back what was exchanged"));
        }
        Ok(Self { path: path.to_owned(), sim, genesis, servers, _lock: lock })
    }

    /// Makes a sim of `count` servers with new keys, and a new key for an admin, where nothing is yet but what a
    /// run that was cut off left there. The servers of a sim that lies in a world, or founds one, have keys for
    /// the overlay too.
    ///
    /// # Errors
    /// When there is something else, when the disk fails, or what `make` says; names the path.
    pub(in crate::cli) fn create(
        path: &Path,
        count: usize,
        in_world: bool,
        make: impl Make,
    ) -> Result<(), Failure> {
        making::check_free(path, count, in_world)?;
        making::create(path, count, in_world, make)
    }

    /// Marks a sim that lies in a world as made, if that is all that it lacks: the run that made it, or founded
    /// it for another square, was cut off.
    ///
    /// # Errors
    /// When the disk fails, or another process is at it.
    pub(in crate::cli) fn finish(path: &Path) -> Result<(), Failure> {
        let unmarked = || {
            let found = making::unmarked(path)?;
            Ok::<_, Failure>(found.filter(|(genesis, _)| genesis.site.is_some()))
        };
        if unmarked()?.is_none() {
            return Ok(());
        }
        let _lock = lock(path)?;
        // Another run may have finished it, or founded it for another square, before this one had the lock.
        match unmarked()? {
            Some((genesis, count)) => write_mark(path, &genesis, count),
            None => Ok(()),
        }
    }

    /// Says whether a server of it has run. Its turns are of this genesis, and of no other one.
    pub(in crate::cli) fn has_run(&self) -> bool {
        self.servers.iter().any(|server| server.path.join(LOG).exists())
    }

    /// Replaces the genesis of a sim that no server has run yet.
    ///
    /// # Errors
    /// When the disk fails.
    ///
    /// # Panics
    /// When a server has run: nobody could read its turns any more.
    pub(in crate::cli) fn refound(self, genesis: Genesis) -> Result<Self, Failure> {
        assert!(!self.has_run(), "the genesis of {} is replaced after a turn", self.path.display());
        let write =
            |file: &Path, bytes: &[u8]| replace(file, bytes).map_err(|error| disk(file, &error));
        // Without its mark the directory is none of `metatopia up` until all files fit again.
        let mark = self.path.join(MARK);
        fs::remove_file(&mark).map_err(|error| disk(&mark, &error))?;
        for server in &self.servers {
            write(&server.path.join(GENESIS), &genesis.encode())?;
        }
        write_mark(&self.path, &genesis, self.servers.len())?;
        Ok(Self { sim: genesis.id(), genesis, ..self })
    }

    pub(in crate::cli) const fn genesis(&self) -> &Genesis {
        &self.genesis
    }

    pub(in crate::cli) fn path(&self) -> &Path {
        &self.path
    }

    pub(in crate::cli) const fn sim(&self) -> SimId {
        self.sim
    }

    /// Returns who may log in for the first time, as the world was founded.
    pub(in crate::cli) fn first_login(&self) -> FirstLogin {
        self.genesis.parameters.first_login
    }

    /// Returns the name that it was founded with.
    pub(in crate::cli) fn name(&self) -> &str {
        &self.genesis.name
    }

    /// Returns whether the sim was founded from this place. Whom a first login lets in, and who may
    /// publish, count only where the place says it, because else the founding command chose it.
    pub(in crate::cli) fn is_of(&self, place: &Place) -> bool {
        let Genesis { validators, admins, parameters, .. } = self.genesis.clone();
        let mut genesis = place.genesis(validators, admins);
        if place.first_login().is_none() {
            genesis.parameters.first_login = parameters.first_login;
        }
        if place.publishers().is_none() {
            genesis.parameters.publishers = parameters.publishers;
        }
        genesis.parameters.first_login_tries = parameters.first_login_tries;
        genesis.id() == self.sim
    }

    pub(in crate::cli) fn servers(&self) -> &[WorldServer] {
        &self.servers
    }

    /// Checks that the world has as many servers as were asked for, if a number was.
    pub(in crate::cli) fn check_count(&self, wanted: Option<usize>) -> Result<(), Failure> {
        let found = self.servers.len();
        if wanted.is_none_or(|wanted| wanted == found) {
            return Ok(());
        }
        let named = number_of(found, "server", "servers");
        let message = format!("the world in {} has {named}", self.path.display());
        Err(Failure::usage(message)
            .hint("leave out --servers, or name another place by --data-dir"))
    }

    /// Writes the configuration files for these ports. What somebody has set in them stays.
    pub(in crate::cli) fn configure(&self, ports: &[Ports], reach: &Reach) -> Result<(), Failure> {
        self.configure_beside(ports, reach, &[]).map(drop)
    }

    /// Writes the configuration files as [`LocalWorld::configure`] does, where other servers of this
    /// machine take these ports. Returns the ports of the overlay.
    pub(in crate::cli) fn configure_beside(
        &self,
        ports: &[Ports],
        reach: &Reach,
        taken: &[u16],
    ) -> Result<Vec<u16>, Failure> {
        let alone = reach.is_loopback();
        let overlay = self.overlay_addresses(ports, reach, taken)?;
        for (index, (seat, own)) in self.servers.iter().zip(ports).enumerate() {
            let others = self.servers.iter().zip(ports).enumerate().filter(|(n, _)| *n != index);
            let peer = |(_, (seat, ports)): (usize, (&WorldServer, &Ports))| PeerConfig {
                key: seat.key,
                peer_id: seat.peer_id,
                address: ports.p2p_address(),
            };
            let config = WrittenConfig {
                data_dir: Path::new("."),
                genesis: Path::new(GENESIS),
                http_listen: own.http_address(),
                client_listen: own.client_address(),
                // On one machine everybody comes from one address.
                clients_per_ip_max: alone.then_some(GatewayLimits::default().clients_max),
                p2p_listen: own.p2p_address(),
                overlay_listen: overlay.get(index).cloned(),
                overlay_lan: (reach.is_lan() && !overlay.is_empty()).then_some(true),
                peers: others.map(peer).collect(),
                // Whoever comes from elsewhere is rationed by source.
                limits: alone.then(|| Limits { trusted_sources: Some(Networks::loopback()) }),
            };
            config.write(&seat.config(), "up")?;
        }
        self.tell_endpoints(ports, reach, &overlay)?;
        Ok(overlay.iter().filter_map(port_of).collect())
    }

    /// Returns where each server speaks in the overlay of the sim's world: where its configuration says,
    /// or at a free port. Nothing for a sim that lies in no world.
    fn overlay_addresses(
        &self,
        ports: &[Ports],
        reach: &Reach,
        taken: &[u16],
    ) -> Result<Vec<Multiaddr>, Failure> {
        if self.genesis.site.is_none() && self.genesis.office.is_none() {
            return Ok(Vec::new());
        }
        let is_taken = |port| taken.contains(&port) || ports.iter().any(|other| other.has(port));
        let free = ports::free(reach.listen(), self.servers.len(), is_taken)?;
        // Other ports may be other ones at each start, and one of them be the overlay's of last time.
        // One of this machine alone is of no use once others are let in.
        let is_clear = |address: &Multiaddr| {
            port_of(address).is_some_and(|port| !is_taken(port))
                && (reach.is_loopback() || !is_loopback(address))
        };
        let address = |(seat, port): (&WorldServer, u16)| {
            let set = match config::read(&seat.config()) {
                Ok(layer) => layer.overlay_listen.filter(is_clear),
                Err(ConfigError::Read { .. } | ConfigError::Text(_)) => None,
                Err(error) => return Err(error.into()),
            };
            Ok(set.unwrap_or_else(|| Multiaddr::from(reach.own()).with(Protocol::Tcp(port))))
        };
        self.servers.iter().zip(free).map(address).collect()
    }

    /// Tells each server which servers speak for the sim in its world.
    fn tell_endpoints(
        &self,
        ports: &[Ports],
        reach: &Reach,
        overlay: &[Multiaddr],
    ) -> Result<(), Failure> {
        let mut endpoints = Vec::new();
        for ((seat, ports), overlay) in self.servers.iter().zip(ports).zip(overlay) {
            let folder = OverlayFolder::at(&seat.path);
            let peer = folder.member_key().map_err(|error| folder_failure(&error))?.public();
            let clients = reach.origin(ports).as_str().parse().ok();
            let address = SiteAddress { overlay: overlay.clone(), clients }.to_string();
            endpoints.push(SiteEndpoint { peer, address });
        }
        for seat in self.servers.iter().filter(|_| !endpoints.is_empty()) {
            let file = OverlayFolder::at(&seat.path).endpoints();
            file.replace(&endpoints).map_err(|error| disk(&seat.path, &error))?;
        }
        Ok(())
    }
}

/// Returns the TCP port of an address.
fn port_of(address: &Multiaddr) -> Option<u16> {
    address.iter().find_map(|part| match part {
        Protocol::Tcp(port) => Some(port),
        _ => None,
    })
}

/// Returns the failure of a command that finds what another one was about to make.
fn cut_off(path: &Path) -> Failure {
    let message = format!("the command that was making a sim in {} was cut off", path.display());
    Failure::refused(message)
        .hint("run the same command again, with as many servers, or name another directory")
}

pub(in crate::cli) fn folder_failure(error: &OverlayFolderError) -> Failure {
    Failure::failed(error.to_string())
}

fn write_mark(path: &Path, genesis: &Genesis, count: usize) -> Result<(), Failure> {
    let mark = WorldMarker { format: FORMAT, sim: genesis.id().to_string(), servers: count };
    let (file, text) = (path.join(MARK), toml::to_string(&mark).expect("strings and numbers"));
    let text = format!("# A world of `metatopia up`.\n{text}");
    replace(&file, text.as_bytes()).map_err(|error| disk(&file, &error))
}

/// Returns how many servers the world of a directory has, or `None` if `metatopia up` did not make the
/// directory.
///
/// # Errors
/// When what says so is not understood.
pub(in crate::cli) fn kept_servers(path: &Path) -> Result<Option<usize>, Failure> {
    if !path.join(MARK).exists() {
        return Ok(None);
    }
    read_mark(path).map(|mark| Some(mark.servers))
}

/// The directory of one server of a world.
pub(in crate::cli) fn server_path(path: &Path, index: usize) -> PathBuf {
    path.join(format!("server-{index}"))
}

fn seat(path: &Path, index: usize) -> Result<WorldServer, Failure> {
    let path = server_path(path, index);
    let key = keys::load(&path.join("vote.key"))?.public();
    let node = keys::load(&path.join("node.key"))?;
    let peer_id = keys::peer_keypair(&node).public().to_peer_id();
    Ok(WorldServer { path, key, peer_id })
}

fn entries(path: &Path) -> Result<Vec<OsString>, Failure> {
    match fs::read_dir(path) {
        Ok(found) => found
            .map(|entry| entry.map(|entry| entry.file_name()))
            .collect::<io::Result<_>>()
            .map_err(|error| disk(path, &error)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(disk(path, &error)),
    }
}

fn lock(path: &Path) -> Result<File, Failure> {
    let file = path.join(LOCK);
    let lock = File::create(&file).map_err(|error| disk(&file, &error))?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(TryLockError::WouldBlock) => {
            let message = format!("another process is at the sim in {}", path.display());
            Err(Failure::failed(message)
                .hint("`metatopia up` may run it: stop that first, or name another directory"))
        }
        Err(TryLockError::Error(error)) => Err(disk(&file, &error)),
    }
}

fn read_mark(path: &Path) -> Result<WorldMarker, Failure> {
    let file = path.join(MARK);
    let text = fs::read_to_string(&file).map_err(|error| disk(&file, &error))?;
    let bad = |why: String| {
        let message = format!("{} is not understood: {why}", file.display());
        Failure::usage(message).hint("another version made it; name another directory")
    };
    let mark: WorldMarker =
        toml::from_str(&text).map_err(|error| bad(error.message().to_owned()))?;
    if mark.format != FORMAT || mark.servers == 0 {
        return Err(bad(format!("format {}, where this program knows {FORMAT}", mark.format)));
    }
    Ok(mark)
}

fn disk(path: &Path, error: &io::Error) -> Failure {
    Failure::failed(format!("{}: {error}", path.display()))
}

#[cfg(test)]
pub(in crate::cli) mod tests;
