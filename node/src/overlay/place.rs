//! A server's place in its world: starts the member of a sim that lies on a square, or founds a world.

use std::{net::SocketAddr, path::Path, sync::Arc, time::Duration};

use libp2p::{Multiaddr, multiaddr::Protocol};
use metatopia_client::LandOfficeError;
use metatopia_client_driver::NodeUrl;
use metatopia_raynet::{
    Extent, OverlayConfig, ProveLand, Shelf, SiteAbout, SiteEndpoint, TilePoint, pace::CYCLE,
};
use metatopia_sim::Genesis;
use metatopia_transport::peers::StartPeersError;
use metatopia_types::{Ed25519, GenesisHead, Height, Sign as _, SimId, Site, Square, wire};
use tokio::sync::{mpsc, watch};

use super::{
    MapView, MemberSetup, OverlayMember,
    address::SiteAddress,
    answers::{EndpointEntry, FindAnswer, MapAnswer, ReachAnswer, ReachEntry, WorldAnswer, hex},
    folder::{OverlayFolder, OverlayFolderError},
    map_file::MapFile,
    member::{MakeSpeaker, SHELVES_UNDER_WAY_MAX},
    office::OfficeSets,
    renewal::{GrantRenewal, NewestHeight},
    shelves::{OfficeClients, ShelfFetcher},
    speaker::{CountClients, SiteSpeaker, endpoints_of},
    start,
};
use crate::metrics::OverlayFigures;

/// Says why a member of a world does not start.
#[derive(Debug, thiserror::Error)]
pub enum WorldPlaceError {
    /// Its files are of no use.
    #[error(transparent)]
    Folder(#[from] OverlayFolderError),
    /// Its world's land office is not known.
    #[error("the land office of world {0} is not known here; `metatopia world claim` writes it")]
    NoOffice(SimId),
    /// Its files are of another world.
    #[error("the folder `overlay` is of world {found}, and the sim lies in {world}")]
    OtherWorld {
        /// The world of the sim.
        world: SimId,
        /// The world of the folder.
        found: SimId,
    },
    /// The head of the land office is not right.
    #[error(transparent)]
    Office(#[from] LandOfficeError),
    /// Its address cannot be listened on.
    #[error(transparent)]
    Start(#[from] StartPeersError),
}

/// The place of a node in its world.
#[derive(Debug, Clone)]
pub struct WorldPlace {
    member: OverlayMember,
    sets: Arc<OfficeSets>,
    /// The sim that the node serves, if it serves one, and its square.
    site: Option<(SimId, Square)>,
    /// Servers of the land office that are known from the beginning.
    office: Vec<SiteEndpoint>,
    /// What the node listens on by TCP, besides the overlay.
    ports: Vec<(&'static str, u16)>,
    /// Maps that are older do not count for it.
    map_from: Height,
    /// The heads of the offices that the land office carries on, the newest first.
    parents: Arc<[GenesisHead]>,
}

/// What a member of a world begins with, besides its folder.
#[derive(Clone)]
pub struct WorldPlaceSetup {
    /// Where the overlay is spoken.
    pub listen: Multiaddr,
    /// Whether members in the local network are called and answered.
    pub lan: bool,
    /// Whether it is here for a moment only, and told to nobody.
    pub is_guest: bool,
    /// Where clients are let in, if they are.
    pub clients: Option<NodeUrl>,
    /// The sim that it serves and where that lies, what people read about it, and how many are there.
    pub site: Option<(SimId, Square, SiteAbout, CountClients)>,
    /// Where a member without a site looks from.
    pub vantage: TilePoint,
    /// What else the node listens on by TCP, and at which ports.
    pub ports: Vec<(&'static str, u16)>,
    /// The time after which the map about the own square is fetched again.
    pub refresh: Duration,
    /// Where what is counted is published.
    pub published: Arc<OverlayFigures>,
}

impl std::fmt::Debug for WorldPlaceSetup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "WorldPlaceSetup at {}", self.listen)
    }
}

/// Returns the land office of the world that a sim lies in, or founds, the folder for that world, and the
/// square; none if it lies in none. `site` is what the state of the sim says. If that names a world that is not
/// kept here yet, it is the newest one that is kept: the sim follows its land office from there.
///
/// # Errors
/// When no land office is kept, or none of the world in which the sim was founded or of one that carries it on.
pub fn office_of(
    genesis: &Genesis,
    site: Option<Site>,
    data_dir: &Path,
) -> Result<Option<(OverlayFolder, OfficeSets, Square)>, WorldPlaceError> {
    let newest = OverlayFolder::at(data_dir);
    let kept = newest.office()?;
    if let Some(founding) = &genesis.office {
        let own = genesis.id();
        let sets = OfficeSets::new(own, genesis.head())?;
        return Ok(Some(match kept {
            Some(kept) if kept.world() == own => (newest, kept, founding.square),
            // `sim succeed` kept the offices that this one carries on.
            Some(kept) if sets.parent() == Some(kept.world()) => {
                (newest.next(), sets, founding.square)
            }
            _ => (newest, sets, founding.square),
        }));
    }
    let Some(founded) = genesis.site else { return Ok(None) };
    let world = site.map_or(founded.world, |site| site.world);
    if let Some((folder, sets)) = OverlayFolder::of(data_dir, world)? {
        return Ok(Some((folder, sets, founded.square)));
    }
    let sets = kept.ok_or(WorldPlaceError::NoOffice(world))?;
    // Somebody may have joined the newest world for a server that has an old state, or none yet.
    let carries_on = |parent| site.is_none() || parent == founded.world;
    let carries_on = sets.parent().is_some_and(carries_on);
    if !carries_on && OverlayFolder::of(data_dir, founded.world)?.is_none() {
        return Err(WorldPlaceError::OtherWorld { world, found: sets.world() });
    }
    Ok(Some((newest, sets, founded.square)))
}

/// Returns the address of this machine for HTTP, as clients of this machine write it.
#[must_use]
pub fn url_of(http: SocketAddr) -> Option<NodeUrl> {
    (!http.ip().is_unspecified()).then(|| format!("http://{http}").parse().ok())?
}

/// Returns these endpoints, each member once.
fn distinct<'a>(endpoints: impl IntoIterator<Item = &'a SiteEndpoint>) -> Vec<EndpointEntry> {
    let mut entries: Vec<EndpointEntry> = Vec::new();
    for entry in endpoints.into_iter().map(EndpointEntry::from) {
        if entries.iter().all(|other| other.member != entry.member) {
            entries.push(entry);
        }
    }
    entries
}

/// Returns the parts of a map that are no older than that of this height.
fn counted(mut shelves: Vec<Arc<Shelf>>, map_from: Height) -> Vec<Arc<Shelf>> {
    shelves.retain(|shelf| shelf.height >= map_from);
    shelves
}

/// Returns the oldest part of a map: who joins by it believes nothing older.
fn oldest_of(shelves: &[Arc<Shelf>]) -> Option<&Shelf> {
    shelves.iter().map(|shelf| &**shelf).min_by_key(|shelf| (shelf.height, shelf.block))
}

/// Returns the TCP port of an address.
pub fn port_of(address: &Multiaddr) -> Option<u16> {
    address.iter().find_map(|part| match part {
        Protocol::Tcp(port) => Some(port),
        _ => None,
    })
}

impl WorldPlace {
    /// Starts a member with the keys and contacts of its folder. `first` are servers of the land office
    /// to ask first.
    ///
    /// # Errors
    /// See [`WorldPlaceError`].
    pub async fn start(
        setup: WorldPlaceSetup,
        sets: OfficeSets,
        folder: &OverlayFolder,
        first: Vec<NodeUrl>,
        stop: watch::Receiver<bool>,
    ) -> Result<Self, WorldPlaceError> {
        let WorldPlaceSetup { listen, lan, is_guest, clients, site, vantage, .. } = setup;
        let (world, sets) = (sets.world(), Arc::new(sets));
        let key = folder.member_key()?;
        let peer = key.public();
        let beacon = folder.beacon_key()?;
        let mut seed = [0; 32];
        getrandom::fill(&mut seed).expect("the operating system gives random bytes");
        let map_from = folder.map_from()?;
        // The member writes the office too, by the same draft: from its start on it is the only one.
        folder.keep_office(&sets)?;
        let config = OverlayConfig {
            world,
            peer,
            vantage,
            extent: Extent::PLANE,
            seed,
            cycle: CYCLE,
            map_from,
            scheme: Arc::new(Ed25519),
            land: Arc::clone(&sets) as Arc<dyn ProveLand>,
        };
        let place = site.as_ref().map(|(sim, square, ..)| (*sim, *square));
        let (followers, others) = (folder.followers().read(), folder.endpoints().read());
        let speaker = site.zip(beacon).map(|((sim, square, about, count), beacon)| {
            let make = move |at: &Multiaddr| {
                let address = SiteAddress { overlay: at.clone(), clients }.to_string();
                let own = SiteEndpoint { peer, address };
                let endpoints = endpoints_of(own, followers, others);
                SiteSpeaker::new((world, sim, square), endpoints, about, beacon, count)
            };
            Box::new(make) as MakeSpeaker
        });
        let (want, wanted) = mpsc::channel(SHELVES_UNDER_WAY_MAX);
        let (found, proofs) = mpsc::channel(SHELVES_UNDER_WAY_MAX);
        let office = folder.office_servers().read();
        let urls =
            office.iter().filter_map(|server| server.address.parse::<SiteAddress>().ok()?.clients);
        let urls = first.into_iter().chain(urls).collect();
        let fetcher = (Arc::clone(&sets), OfficeClients::default());
        tokio::spawn(ShelfFetcher::new(fetcher, urls, wanted, found).run());
        let member = start(
            MemberSetup {
                config,
                key,
                listen,
                lan,
                is_guest,
                contacts: folder.endpoints().read(),
                file: Some(folder.contacts()),
                map: Some(MapFile::of(folder.clone(), Arc::clone(&sets))),
                speaker,
                shelves: Some((want, proofs)),
                refresh: setup.refresh,
                published: setup.published,
            },
            stop,
        )
        .await?;
        let parents = folder.parents()?.into();
        Ok(Self { member, sets, site: place, office, ports: setup.ports, map_from, parents })
    }

    /// Renews the grant of the sim's square from time to time, if this server has a beacon.
    ///
    /// # Errors
    /// When the beacon's key cannot be read.
    pub fn renew(
        &self,
        folder: &OverlayFolder,
        own: NodeUrl,
        (newest, turns_per_second): (NewestHeight, u64),
    ) -> Result<(), WorldPlaceError> {
        let (Some((sim, square)), Some(beacon)) = (self.site, folder.beacon_key()?) else {
            return Ok(());
        };
        let servers = folder.endpoints().read();
        let place = servers.iter().position(|server| server.peer == self.member.key);
        let office = self
            .office
            .iter()
            .filter_map(|server| server.address.parse::<SiteAddress>().ok()?.clients);
        let renewal = GrantRenewal {
            world: self.sets.world(),
            sim,
            square,
            own,
            office: office.collect(),
            beacon: (beacon, u32::try_from(place.unwrap_or_default()).unwrap_or_default()),
            newest,
            turns_per_second,
            member: self.member.clone(),
        };
        tokio::spawn(renewal.run());
        Ok(())
    }

    /// Returns the member.
    #[must_use]
    pub const fn member(&self) -> &OverlayMember {
        &self.member
    }

    /// Returns the land office of the world.
    #[must_use]
    pub fn sets(&self) -> &OfficeSets {
        &self.sets
    }

    /// Returns what the member knows, without maps that do not count.
    async fn view(&self) -> Option<MapView> {
        let mut view = self.member.map().await?;
        view.shelves = counted(view.shelves, self.map_from);
        Some(view)
    }

    /// Says what this node is in which world.
    pub async fn facts(&self) -> Option<WorldAnswer> {
        let view = self.view().await?;
        let world = self.sets.world();
        let is_office = self.site.is_some_and(|(sim, _)| sim == world);
        let own = view.own.iter().filter(|_| is_office);
        let known = view.sites.iter().filter(|site| site.record.sim == world);
        let told = known.flat_map(|site| &site.record.endpoints);
        let office_servers = distinct(own.chain(told).chain(&self.office));
        let here = SiteEndpoint {
            peer: self.member.key,
            address: SiteAddress { overlay: self.member.address.clone(), clients: None }
                .to_string(),
        };
        let contacts = distinct(view.own.iter().chain([&here]).chain(&view.contacts));
        Some(WorldAnswer {
            world: world.to_string(),
            office: hex(&wire::encode(self.sets.head())),
            links: hex(&wire::encode(&self.sets.links())),
            parents: self.parents.iter().map(|head| hex(&wire::encode(head))).collect(),
            sim: self.site.map(|(sim, _)| sim.to_string()).unwrap_or_default(),
            square: self.site.map(|(_, square)| square.into()),
            member: self.member.key.to_string(),
            up: view.up,
            contacts,
            office_servers,
            map: oldest_of(&view.shelves).map(|shelf| hex(&shelf.proof)).unwrap_or_default(),
        })
    }

    /// Says who owns a point.
    pub async fn find(&self, point: TilePoint) -> Option<FindAnswer> {
        self.member.find(point).await.as_ref().map(FindAnswer::from)
    }

    /// Has others dial back to all that this node listens on by TCP, and says what came of it. None says
    /// that this was asked just now.
    pub async fn reach(&self) -> Option<ReachAnswer> {
        let overlay = port_of(&self.member.address).map(|port| ("overlay", port));
        let listening: Vec<_> = overlay.into_iter().chain(self.ports.iter().copied()).collect();
        let found = self.member.reach(listening.iter().map(|(_, port)| *port).collect()).await?;
        let entry = |(what, port): (&str, u16)| ReachEntry {
            what: what.to_owned(),
            port,
            asked: found.iter().filter(|asked| asked.port == port).cloned().collect(),
        };
        Some(ReachAnswer { ports: listening.into_iter().map(entry).collect() })
    }

    /// Returns the map as far as it is known here.
    pub async fn map(&self) -> Option<MapAnswer> {
        let view = self.view().await?;
        Some(MapAnswer::of(self.sets.world().to_string(), &view))
    }
}

#[cfg(test)]
mod tests {
    use metatopia_types::{Digest, Millis, PlaneBlock};

    use super::*;
    use crate::{
        overlay::office::{office_of_tests, successor_of_tests},
        scratch::Scratch,
    };

    /// Servers took the world from the genesis, whatever the state of their sim said.
    #[test]
    fn a_server_starts_in_the_world_of_its_state_or_in_the_newest_one_from_which_it_follows() {
        let scratch = Scratch::new("office-of");
        let (dir, old) = (&scratch.0, office_of_tests());
        let new = successor_of_tests(&old);
        let square = Square { x: 8, y: 0, doublings: 2 };
        let site = |office: &OfficeSets| Some(Site { world: office.world(), square });
        let genesis = Genesis { site: site(&old), ..Genesis::empty() };
        let started = |state| office_of(&genesis, state, dir).map(|found| found.unwrap().1.world());
        let unknown = started(site(&old)).unwrap_err();
        assert!(matches!(unknown, WorldPlaceError::NoOffice(world) if world == old.world()));

        let folder = OverlayFolder::at(dir);
        folder.keep_office(&old).unwrap();
        assert_eq!(started(None).unwrap(), old.world());
        assert_eq!(started(site(&new)).unwrap(), old.world(), "it follows from there");
        folder.next().keep_office(&new).unwrap();
        assert_eq!(started(site(&new)).unwrap(), new.world());
        assert_eq!(started(site(&old)).unwrap(), old.world());

        // Somebody joined the new world for a new server, which has no state yet.
        folder.next().forget_world().unwrap();
        folder.keep_office(&new).unwrap();
        assert_eq!(started(None).unwrap(), new.world());
        assert_eq!(started(site(&new)).unwrap(), new.world());
        assert_eq!(started(site(&old)).unwrap(), new.world());
        let later = successor_of_tests(&new);
        folder.keep_office(&later).unwrap();
        assert_eq!(started(None).unwrap(), later.world());
        let other = started(site(&old)).unwrap_err();
        assert!(matches!(other, WorldPlaceError::OtherWorld { .. }), "{other}");
    }

    /// The office was kept once the member ran, which keeps it too: one of them renamed the draft of the other
    /// away, and the sim did not start.
    #[tokio::test]
    async fn no_member_runs_until_the_office_of_its_world_is_kept() {
        let scratch = Scratch::new("place-office");
        let folder = OverlayFolder::at(&scratch.0);
        // Nothing can be kept where a folder has the name of the file.
        std::fs::create_dir_all(scratch.0.join("overlay/links")).unwrap();
        let setup = WorldPlaceSetup {
            listen: "/ip4/127.0.0.1/tcp/0".parse().unwrap(),
            lan: false,
            is_guest: true,
            clients: None,
            site: None,
            vantage: TilePoint::default(),
            ports: Vec::new(),
            refresh: Duration::from_secs(60),
            published: Arc::default(),
        };
        let (stop, stopped) = watch::channel(false);
        let place = WorldPlace::start(setup, office_of_tests(), &folder, Vec::new(), stopped);
        let error = place.await.unwrap_err();
        assert!(matches!(error, WorldPlaceError::Folder(_)), "{error}");
        assert!(stop.is_closed(), "no task waits for the end");
    }

    /// A member that had joined by a newer map showed older ones, as lookups never did.
    #[test]
    fn a_map_shows_no_part_that_is_older_than_the_one_by_which_the_member_joined() {
        let shelf = |height| {
            Arc::new(Shelf {
                world: SimId(Digest([1; 32])),
                block: PlaneBlock::PLANE,
                height: Height(height),
                time: Millis(height),
                grants: Vec::new(),
                proof: Vec::new(),
            })
        };
        let shown = counted([4, 5, 6].map(shelf).to_vec(), Height(5));
        assert_eq!(shown.iter().map(|shelf| shelf.height.0).collect::<Vec<_>>(), [5, 6]);
        assert_eq!(oldest_of(&shown).map(|shelf| shelf.height), Some(Height(5)));
    }
}
