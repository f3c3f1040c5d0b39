//! A trial of real members on loopback, with their swarms, clocks and signatures: how long it takes until
//! each of them knows all its neighbours, and again after half of them died without a word.
//!
//! The land is drawn and its proofs are believed, because no land office takes part.

use std::{
    collections::BTreeSet,
    sync::Arc,
    time::{Duration, Instant},
};

use metatopia_raynet::{
    CellEstimator as _, ExactPlane, Extent, LandGrant, OverlayConfig, PlaneBlock, ProveLand, Shelf,
    ShelfError, SiteAbout, SiteEndpoint, SiteName, TilePoint,
    limits::{GRANTS_PER_SHELF_MAX, VIEW_HARD},
};
use metatopia_transport::peers::StartPeersError;
use metatopia_types::{Digest, Ed25519, Height, Millis, Sign as _, SigningKey, SimId, Square};
use tokio::{runtime::Runtime, sync::watch, time::sleep};

use super::{MapView, MemberSetup, OverlayMember, speaker::SiteSpeaker, start};

/// Contacts that each member begins with.
const CONTACTS: usize = 5;

/// Between two looks at all views.
const LOOK: Duration = Duration::from_millis(50);

/// Tiles between two squares.
const PITCH: i32 = 16;

/// What a trial found.
#[derive(Debug, Clone, Copy)]
pub struct OverlayTrialReport {
    /// The time from the start until all views were whole.
    pub whole: Duration,
    /// The time from the death of half of the members until the views of the others were whole.
    pub healed: Duration,
    /// Frames that were sent, in all.
    pub frames: u64,
    /// Bytes of these frames.
    pub bytes: u64,
    /// Signatures that were checked.
    pub signatures: u64,
}

/// Why a trial has no result.
#[derive(Debug, thiserror::Error)]
pub enum TrialError {
    /// A member could not listen.
    #[error(transparent)]
    Start(#[from] StartPeersError),
    /// There are more members than a drawn shelf holds.
    #[error("{0} members are more than {GRANTS_PER_SHELF_MAX}, or fewer than 4")]
    Count(usize),
    /// The threads for the members that die could not be made.
    #[error("no threads: {0}")]
    Threads(#[from] std::io::Error),
    /// A member does not answer.
    #[error("member {0} does not answer")]
    Silent(usize),
    /// Views are not whole in time.
    #[error("after {0:?}, {1} of {2} members do not know all their neighbours")]
    Late(Duration, usize, usize),
}

/// Land that is believed because it was drawn.
struct DrawnLand(Arc<Shelf>);

impl ProveLand for DrawnLand {
    fn open(&self, proof: &[u8]) -> Result<Arc<Shelf>, ShelfError> {
        if proof == self.0.proof { Ok(Arc::clone(&self.0)) } else { Err(ShelfError::Proof) }
    }
}

fn digest(n: usize) -> Digest {
    Digest::of("a trial of the overlay", &n.to_le_bytes())
}

fn key_of(n: usize) -> SigningKey {
    SigningKey::from_seed(digest(n).0)
}

/// A drawn world: squares, grants and one shelf with all of it.
struct DrawnWorld {
    world: SimId,
    grants: Vec<LandGrant>,
    land: Arc<DrawnLand>,
}

impl DrawnWorld {
    /// Draws squares in rows, each somewhere in a field of its own.
    fn draw(count: usize) -> Self {
        let world = SimId(Digest::of("a trial of the overlay", b"world"));
        let columns = count.isqrt().max(1);
        let grants: Vec<LandGrant> = (0..count)
            .map(|n| {
                let key = key_of(n);
                let [dx, dy, ..] = digest(n).0;
                let moved = |place: usize, by: u8| {
                    let place = i32::try_from(place).unwrap_or_default();
                    place * PITCH + 2 * i32::from(by % 7)
                };
                let square =
                    Square { x: moved(n % columns, dx), y: moved(n / columns, dy), doublings: 0 };
                LandGrant {
                    square,
                    sim: SimId(digest(n)),
                    holder: key.public(),
                    beacons: vec![key.public()],
                    epoch: 1,
                    until: Millis(u64::MAX),
                    shown: Height(0),
                }
            })
            .collect();
        let block = PlaneBlock::around(TilePoint { x: 0, y: 0 }, 20);
        let shelf = Shelf {
            world,
            block,
            height: Height(1),
            time: Millis(0),
            grants: grants.clone(),
            proof: b"drawn".to_vec(),
        };
        Self { world, grants, land: Arc::new(DrawnLand(Arc::new(shelf))) }
    }

    fn middle(&self, n: usize) -> [i64; 2] {
        TilePoint::middle(self.grants[n].square).unwrap_or_default().coordinates()
    }

    /// Returns the true neighbours of a site among those that live.
    fn neighbours(&self, n: usize, living: &[usize]) -> BTreeSet<SiteName> {
        let others: Vec<usize> = living.iter().copied().filter(|other| *other != n).collect();
        let points: Vec<[i64; 2]> = others.iter().map(|other| self.middle(*other)).collect();
        let cells = ExactPlane { extent: Extent::PLANE };
        let found = cells.neighbours(self.middle(n), &points, VIEW_HARD);
        found.into_iter().map(|place| SiteName::of(self.grants[others[place]].sim)).collect()
    }

    fn setup(&self, n: usize, contacts: Vec<SiteEndpoint>, cycle: Duration) -> MemberSetup {
        let key = key_of(n);
        let (world, LandGrant { sim, square, .. }) = (self.world, self.grants[n].clone());
        let (peer, beacon) = (key.public(), key_of(n));
        let config = OverlayConfig {
            world,
            peer,
            vantage: TilePoint::default(),
            extent: Extent::PLANE,
            seed: Digest::of("the seeds of a trial", &n.to_le_bytes()).0,
            cycle,
            map_from: Height(1),
            scheme: Arc::new(Ed25519),
            land: Arc::clone(&self.land) as Arc<dyn ProveLand>,
        };
        let speaker = move |at: &libp2p::Multiaddr| {
            let endpoint = SiteEndpoint { peer, address: at.to_string() };
            let about = SiteAbout { label: String::new(), licence: "CC0-1.0".to_owned() };
            SiteSpeaker::new((world, sim, square), vec![endpoint], about, beacon, Arc::new(|| 0))
        };
        let listen = "/ip4/127.0.0.1/tcp/0".parse().expect("a constant");
        let (file, speaker) = (None, Some(Box::new(speaker) as Box<_>));
        MemberSetup {
            config,
            key,
            listen,
            lan: false,
            is_guest: false,
            contacts,
            file,
            map: None,
            speaker,
            shelves: None,
            refresh: cycle,
            published: Arc::default(),
        }
    }
}

/// Starts `count` members, each with five others as contacts, waits until all views are whole, kills every
/// second member, and waits until the views of the others are whole again.
///
/// # Errors
/// When one of the two takes longer than `most`, or the trial itself fails.
pub async fn run(
    count: usize,
    cycle: Duration,
    most: Duration,
) -> Result<OverlayTrialReport, TrialError> {
    if !(4..=GRANTS_PER_SHELF_MAX).contains(&count) {
        return Err(TrialError::Count(count));
    }
    let drawn = DrawnWorld::draw(count);
    // Those that die have threads of their own: when these end, so do all their tasks and sockets.
    let mortal =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let (_stop, stopped) = watch::channel(false);
    let began = Instant::now();
    let all: Vec<usize> = (0..count).collect();
    let first = async {
        let members = start_all(&drawn, cycle, &mortal, &stopped).await?;
        let whole = wait_whole(&drawn, &members, &all, began, most).await?;
        let report = total(&members, &all).await?;
        Ok::<_, TrialError>((members, OverlayTrialReport { whole, ..report }))
    };
    let first = first.await;
    // This does not wait, as dropping it would.
    mortal.shutdown_background();
    let (members, report) = first?;
    let died = Instant::now();
    let living: Vec<usize> = all.into_iter().filter(|n| !is_mortal(*n)).collect();
    let healed = wait_whole(&drawn, &members, &living, died, most).await?;
    Ok(OverlayTrialReport { healed, ..report })
}

async fn start_all(
    drawn: &DrawnWorld,
    cycle: Duration,
    mortal: &Runtime,
    stopped: &watch::Receiver<bool>,
) -> Result<Vec<OverlayMember>, TrialError> {
    let mut members: Vec<OverlayMember> = Vec::new();
    for n in 0..drawn.grants.len() {
        // Of those that started before.
        let known = (0..CONTACTS.min(n)).map(|k| (n * 7 + k * 11) % n).collect::<BTreeSet<_>>();
        let contact = |other: &usize| SiteEndpoint {
            peer: members[*other].key,
            address: members[*other].address.to_string(),
        };
        let setup = drawn.setup(n, known.iter().map(contact).collect(), cycle);
        let starting = start(setup, stopped.clone());
        let member = if is_mortal(n) {
            mortal.spawn(starting).await.map_err(std::io::Error::from)??
        } else {
            starting.await?
        };
        member.learn(drawn.land.0.proof.clone()).await;
        members.push(member);
    }
    Ok(members)
}

const fn is_mortal(n: usize) -> bool {
    n % 2 == 1
}

async fn views(members: &[OverlayMember], all: &[usize]) -> Result<Vec<MapView>, TrialError> {
    let mut views = Vec::new();
    for n in all {
        views.push(members[*n].map().await.ok_or(TrialError::Silent(*n))?);
    }
    Ok(views)
}

async fn total(members: &[OverlayMember], all: &[usize]) -> Result<OverlayTrialReport, TrialError> {
    let counts = views(members, all).await?.into_iter().map(|view| view.counts);
    let zero = OverlayTrialReport {
        whole: Duration::ZERO,
        healed: Duration::ZERO,
        frames: 0,
        bytes: 0,
        signatures: 0,
    };
    Ok(counts.fold(zero, |sum, counts| OverlayTrialReport {
        frames: sum.frames + counts.frames,
        bytes: sum.bytes + counts.bytes,
        signatures: sum.signatures + counts.signatures,
        ..sum
    }))
}

/// Waits until each member that lives has all its true neighbours in its view, and none that is dead.
async fn wait_whole(
    drawn: &DrawnWorld,
    members: &[OverlayMember],
    living: &[usize],
    began: Instant,
    most: Duration,
) -> Result<Duration, TrialError> {
    let truth: Vec<BTreeSet<SiteName>> =
        living.iter().map(|n| drawn.neighbours(*n, living)).collect();
    let alive: BTreeSet<SiteName> =
        living.iter().map(|n| SiteName::of(drawn.grants[*n].sim)).collect();
    loop {
        let views = views(members, living).await?;
        let is_whole = |(view, truth): (&MapView, &BTreeSet<SiteName>)| {
            let known: BTreeSet<SiteName> = view.neighbours.iter().copied().collect();
            known.is_superset(truth) && known.is_subset(&alive)
        };
        let lack = views.iter().zip(&truth).filter(|pair| !is_whole(*pair)).count();
        if lack == 0 {
            return Ok(began.elapsed());
        }
        if began.elapsed() > most {
            return Err(TrialError::Late(most, lack, living.len()));
        }
        sleep(LOOK).await;
    }
}

/// Returns the setup of one member that knows nobody.
#[cfg(test)]
pub(super) fn alone() -> MemberSetup {
    DrawnWorld::draw(4).setup(0, Vec::new(), Duration::from_secs(1))
}

/// Returns the setup of a member of that world without a site, which knows these members.
#[cfg(test)]
pub(super) fn without_site(n: usize, known: &[&OverlayMember]) -> MemberSetup {
    let contact = |member: &&OverlayMember| SiteEndpoint {
        peer: member.key,
        address: member.address.to_string(),
    };
    let contacts = known.iter().map(contact).collect();
    let setup = DrawnWorld::draw(4).setup(n, contacts, Duration::from_secs(1));
    MemberSetup { speaker: None, ..setup }
}

/// Returns the middle of the square of a site of that world.
#[cfg(test)]
pub(super) fn middle_of(n: usize) -> TilePoint {
    TilePoint::middle(DrawnWorld::draw(4).grants[n].square).expect("a square")
}

/// Hands a member the map of that world.
#[cfg(test)]
pub(super) async fn show_map(member: &OverlayMember) {
    member.learn(DrawnWorld::draw(4).land.0.proof.clone()).await;
}
