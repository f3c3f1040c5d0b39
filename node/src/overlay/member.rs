//! The loop of one member of an overlay.

use std::{
    collections::BTreeMap,
    fmt, io,
    sync::Arc,
    time::{Duration, Instant},
};

use libp2p::Multiaddr;
use metatopia_client_driver::NodeUrl;
use metatopia_raynet::{
    LookupAnswer, LookupOutcome, Overlay, OverlayConfig, OverlayCounts, OverlayEffect,
    OverlayInput, Shelf, SignedSiteRecord, SiteEndpoint, TilePoint,
};
use metatopia_transport::{
    figures::TransportFigures,
    overlay::{self, DiscoverySetup, OverlayEvent, OverlayEvents, OverlayHandle},
    peers::StartPeersError,
};
use metatopia_types::{PublicKey, SigningKey, SimId};
use tokio::{
    sync::{mpsc, oneshot, watch},
    time::{MissedTickBehavior, timeout},
};

use super::{
    address::SiteAddress,
    contacts::ContactFile,
    finds::{FoundMembers, kept_contacts},
    map_file::MapFile,
    old_shelves::OldShelves,
    reach::{self, DialBacks, ReachCheck, ReachFound},
    shelves::WantedShelf,
    speaker::SiteSpeaker,
};
use crate::{clock::SystemClock, keys, metrics::OverlayFigures};

/// The most questions that may wait for the loop.
pub const MEMBER_QUESTIONS_MAX: usize = 64;

/// The most lookups that begin in a second. Each of them asks some members, who read 128 frames a second of
/// one member; a stranger who asks by HTTP must not use that up.
pub const LOOKUPS_PER_SECOND_MAX: u32 = 64;

/// The most points whose shelves are to be fetched, and the most shelves that were.
pub const SHELVES_UNDER_WAY_MAX: usize = 128;

/// The time between two looks at what is due seldom: the own record, and the file of contacts.
const BEAT: Duration = Duration::from_secs(1);

/// The time between two writes of the file of contacts.
const CONTACTS: Duration = Duration::from_secs(30);

/// The time after which the map about the own ground is fetched again while nobody has it.
const OWN_SHELF_MISSING: Duration = Duration::from_secs(2);

/// The time in which a question is answered: a lookup asks at most 32 sites on each of its ways.
const ANSWER: Duration = Duration::from_secs(60);

/// Makes the speaker of a site, from the address that is listened on.
pub type MakeSpeaker = Box<dyn FnOnce(&Multiaddr) -> SiteSpeaker + Send>;

/// What a member begins with.
pub struct MemberSetup {
    /// How the machine is set up. Its `peer` is the public part of `key`.
    pub config: OverlayConfig,
    /// The member's own key.
    pub key: SigningKey,
    /// Where the overlay is spoken.
    pub listen: Multiaddr,
    /// Whether members in the local network are called and answered.
    pub lan: bool,
    /// Whether this member is here for a moment only, and told to nobody.
    pub is_guest: bool,
    /// First contacts, besides those of the file.
    pub contacts: Vec<SiteEndpoint>,
    /// Where good contacts are kept, if they are.
    pub file: Option<ContactFile>,
    /// Where the map is kept, if it is.
    pub map: Option<MapFile>,
    /// Makes the speaker of the own site, if there is one, from the address that is listened on.
    pub speaker: Option<MakeSpeaker>,
    /// Takes points whose shelves are wanted, and gives shelves; none if nobody fetches any.
    pub shelves: Option<(mpsc::Sender<WantedShelf>, mpsc::Receiver<Vec<u8>>)>,
    /// The time after which the map about the own ground is fetched again.
    pub refresh: Duration,
    /// Where what is counted is published.
    pub published: Arc<OverlayFigures>,
}

impl fmt::Debug for MemberSetup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MemberSetup of {:?} at {}", self.config, self.listen)
    }
}

/// What a member knows of the map.
#[derive(Debug, Clone)]
pub struct MapView {
    /// Shelves that were proved.
    pub shelves: Vec<Arc<Shelf>>,
    /// Sites that were met, and the own one: their records were checked.
    pub sites: Vec<SignedSiteRecord>,
    /// The servers that speak for the own site.
    pub own: Vec<SiteEndpoint>,
    /// Addresses of others that one may begin with.
    pub contacts: Vec<SiteEndpoint>,
    /// How many others a session is up with.
    pub up: usize,
    /// How many members that nobody named were found, and are kept.
    pub found: usize,
    /// What the machine has counted.
    pub counts: OverlayCounts,
    /// The names of the Voronoi neighbours.
    pub neighbours: Vec<metatopia_raynet::SiteName>,
    /// All sites that it speaks with are in one network.
    pub one_door: bool,
}

/// A question to the loop.
#[derive(Debug)]
enum MemberQuestion {
    Find { point: TilePoint, reply: oneshot::Sender<LookupAnswer> },
    Map { reply: oneshot::Sender<MapView> },
    Reach { ports: Vec<u16>, reply: oneshot::Sender<ReachFound> },
    Shelf(Vec<u8>),
}

/// Asks a member. The member's loop ends once the last of these is gone.
#[derive(Debug, Clone)]
pub struct OverlayMember {
    questions: mpsc::Sender<MemberQuestion>,
    /// Where the sites that were met let clients in.
    pub met: watch::Receiver<Vec<NodeUrl>>,
    /// The key of the member.
    pub key: PublicKey,
    /// Where the overlay is spoken, with the port that the system gave.
    pub address: Multiaddr,
}

impl OverlayMember {
    /// Asks who owns a point. None says that too much waits already, or that it took too long.
    pub async fn find(&self, point: TilePoint) -> Option<LookupAnswer> {
        let (reply, answer) = oneshot::channel();
        self.questions.try_send(MemberQuestion::Find { point, reply }).ok()?;
        timeout(ANSWER, answer).await.ok()?.ok()
    }

    /// Returns what the member knows of the map.
    pub async fn map(&self) -> Option<MapView> {
        let (reply, answer) = oneshot::channel();
        self.questions.try_send(MemberQuestion::Map { reply }).ok()?;
        timeout(ANSWER, answer).await.ok()?.ok()
    }

    /// Has two members dial these TCP ports. None says that the last check was just now.
    pub async fn reach(&self, ports: Vec<u16>) -> Option<ReachFound> {
        let (reply, answer) = oneshot::channel();
        self.questions.try_send(MemberQuestion::Reach { ports, reply }).ok()?;
        timeout(ANSWER, answer).await.ok()?.ok()
    }

    /// Hands in the proof of a shelf.
    pub async fn learn(&self, proof: Vec<u8>) {
        // Whoever stops needs no map.
        let _ = self.questions.send(MemberQuestion::Shelf(proof)).await;
    }
}

/// The loop and all that it works with.
struct MemberTask {
    world: SimId,
    overlay: Overlay,
    clock: SystemClock,
    handle: OverlayHandle,
    events: OverlayEvents,
    questions: mpsc::Receiver<MemberQuestion>,
    wanted: Option<mpsc::Sender<WantedShelf>>,
    proofs: Option<mpsc::Receiver<Vec<u8>>>,
    speaker: Option<SiteSpeaker>,
    file: Option<ContactFile>,
    map: Option<MapFile>,
    found: FoundMembers,
    /// Lookups under way, with when each began.
    lookups: BTreeMap<u64, (oneshot::Sender<LookupAnswer>, Instant)>,
    next_lookup: u64,
    /// Lookups that began since the last beat.
    begun: u32,
    /// Servers of the land office, as its own record says.
    office: Vec<NodeUrl>,
    /// Where the sites that were met let clients in.
    met: watch::Sender<Vec<NodeUrl>>,
    /// What is dialled for others, and the check of the own ports.
    dial_backs: DialBacks,
    check: ReachCheck,
    written: Instant,
    own_shelf: Option<Instant>,
    old_shelves: OldShelves,
    refresh: Duration,
    /// What the transport counts, and where that is published.
    figures: (Arc<TransportFigures>, Arc<OverlayFigures>),
}

/// Starts a member: opens its swarm, and runs its loop until `stop` is true or nobody can ask any more.
///
/// # Errors
/// When its address cannot be listened on, or its local networks are not known.
pub async fn start(
    setup: MemberSetup,
    stop: watch::Receiver<bool>,
) -> Result<OverlayMember, StartPeersError> {
    let MemberSetup { config, key, listen, contacts, file, map, speaker, shelves, .. } = setup;
    let network = config.world.to_string();
    let discovery = DiscoverySetup { network, lan: setup.lan, is_guest: setup.is_guest };
    let clock = SystemClock::default();
    let figures = Arc::new(setup.published.go_on());
    let (handle, events) =
        overlay::start(keys::peer_keypair(&key), (&listen, discovery), Arc::clone(&figures))
            .await?;
    assert_eq!(handle.local(), config.peer, "the machine is set up with its member's key");
    let (ask, questions) = mpsc::channel(MEMBER_QUESTIONS_MAX);
    let (tell_met, met) = watch::channel(Vec::new());
    let (key, address) = (config.peer, handle.address().clone());
    let member = OverlayMember { questions: ask, met, key, address };
    let speaker = speaker.map(|make| make(handle.address()));
    let (wanted, proofs) = shelves.unzip();
    let world = config.world;
    let mut overlay = Overlay::new(config, clock.now());
    let kept = file.as_ref().map(ContactFile::read).unwrap_or_default();
    // The machine tries them all; of too many the first ones go, so the best come last, and behind them those
    // that the operator named.
    let first: Vec<SiteEndpoint> = kept.into_iter().rev().chain(contacts).collect();
    overlay.handle(clock.now(), OverlayInput::Contacts(first.clone()));
    for proof in map.iter().flat_map(MapFile::read) {
        overlay.handle(clock.now(), OverlayInput::Shelf(proof));
    }
    let task = MemberTask {
        world,
        overlay,
        clock,
        handle,
        events,
        questions,
        wanted,
        proofs,
        speaker,
        file,
        map,
        found: FoundMembers::new(first, Instant::now()),
        lookups: BTreeMap::new(),
        next_lookup: 0,
        begun: 0,
        office: Vec::new(),
        met: tell_met,
        dial_backs: DialBacks::new(Instant::now()),
        check: ReachCheck::default(),
        written: Instant::now(),
        own_shelf: None,
        old_shelves: OldShelves::default(),
        refresh: setup.refresh,
        figures: (figures, setup.published),
    };
    tokio::spawn(task.run(stop));
    Ok(member)
}

impl MemberTask {
    async fn run(mut self, mut stop: watch::Receiver<bool>) {
        let mut beat = tokio::time::interval(BEAT);
        beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            self.carry_out().await;
            let due = self.clock.instant(self.overlay.deadline());
            let input = tokio::select! {
                () = told_to_stop(&mut stop) => break,
                event = self.events.recv() => match event {
                    Some(event) => self.event(event),
                    None => return,
                },
                question = self.questions.recv() => match question {
                    Some(question) => self.question(question),
                    None => break,
                },
                Some(proof) = next_proof(&mut self.proofs) => Some(OverlayInput::Shelf(proof)),
                () = tokio::time::sleep_until(due.into()) => Some(OverlayInput::Wake),
                _ = beat.tick() => self.beat().await,
            };
            if let Some(input) = input {
                self.overlay.handle(self.clock.now(), input);
            }
        }
        self.keep_contacts();
        self.keep_map();
        let Self { handle, events, .. } = self;
        handle.leave().await;
        drop(events);
        // Whoever waits for the end of this may listen at the same port then.
        handle.ended().await;
    }

    /// Carries out all effects of the machine.
    async fn carry_out(&mut self) {
        while let Some(effect) = self.overlay.poll() {
            match effect {
                OverlayEffect::Dial { peer, address } => {
                    // An address that is none is dialled as it is, and fails.
                    let overlay =
                        address.parse::<SiteAddress>().map(|site| site.overlay.to_string());
                    self.handle.dial(peer, &overlay.unwrap_or(address)).await;
                }
                OverlayEffect::Close(peer) => self.handle.close(peer),
                OverlayEffect::Send { to, frame } => {
                    if let Err(error) = self.handle.send(to, frame.into()) {
                        tracing::debug!(member = %to, %error, "frame not sent");
                    }
                }
                OverlayEffect::Found(answer) => self.found(*answer),
                OverlayEffect::Evidence(evidence) => {
                    tracing::warn!(
                        ?evidence,
                        "two signed things of the world contradict each other"
                    );
                }
                OverlayEffect::ShelfWanted(point) => self.want(point),
                OverlayEffect::DialBack { from, said } => {
                    let own = (&mut self.dial_backs, &mut self.check);
                    reach::hear(own, &self.handle, (from, said));
                }
            }
        }
    }

    /// Asks for the shelf about a point. If too many are wanted already, the machine asks again.
    fn want(&self, point: TilePoint) {
        if let Some(wanted) = &self.wanted {
            let _full = wanted.try_send(WantedShelf { point, office: self.office.clone() });
        }
    }

    fn found(&mut self, answer: LookupAnswer) {
        let Some((reply, began)) = self.lookups.remove(&answer.id) else { return };
        let ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let is_owned = matches!(answer.outcome, LookupOutcome::Owned { .. });
        tracing::debug!(point = ?answer.point, hops = answer.hops, ms, is_owned, "lookup answered");
        // Whoever asked may be gone.
        let _ = reply.send(answer);
    }

    fn question(&mut self, question: MemberQuestion) -> Option<OverlayInput> {
        match question {
            // Whoever asked is told that too much waits, as the way for the answer is gone.
            MemberQuestion::Find { .. } if self.begun >= LOOKUPS_PER_SECOND_MAX => None,
            MemberQuestion::Find { point, reply } => {
                self.begun += 1;
                self.next_lookup += 1;
                let id = self.next_lookup;
                self.lookups.insert(id, (reply, Instant::now()));
                Some(OverlayInput::Lookup { id, point })
            }
            MemberQuestion::Map { reply } => {
                let _gone = reply.send(self.view());
                None
            }
            MemberQuestion::Reach { ports, reply } => {
                self.check.begin(&self.handle, &ports, reply);
                None
            }
            MemberQuestion::Shelf(proof) => Some(OverlayInput::Shelf(proof)),
        }
    }

    fn view(&self) -> MapView {
        let overlay = &self.overlay;
        let mut sites: BTreeMap<_, SignedSiteRecord> = BTreeMap::new();
        let own = self.overlay.own();
        let met = overlay.neighbours().chain(overlay.long_links()).chain(overlay.samples());
        for record in own.into_iter().chain(met) {
            sites.entry(record.name()).or_insert_with(|| record.clone());
        }
        let own = self.speaker.iter().flat_map(|speaker| speaker.endpoints.iter().cloned());
        MapView {
            shelves: overlay.land().shelves().cloned().collect(),
            sites: sites.into_values().collect(),
            own: own.collect(),
            contacts: overlay.good_contacts(),
            up: self.handle.up(),
            found: self.found.kept().count(),
            counts: overlay.counts(),
            neighbours: overlay.neighbours().map(SignedSiteRecord::name).collect(),
            one_door: overlay.has_one_door(),
        }
    }

    /// Returns what the machine is told of an event. Members that were found are told later.
    fn event(&mut self, event: OverlayEvent) -> Option<OverlayInput> {
        Some(match event {
            OverlayEvent::Up(member) => OverlayInput::Up(member),
            OverlayEvent::Frame { from, bytes } => {
                OverlayInput::Frame { from, bytes: bytes.into() }
            }
            OverlayEvent::Down(member) => OverlayInput::Down(member),
            OverlayEvent::Closed(member) => OverlayInput::Closed(member),
            OverlayEvent::DialFailed(member) => {
                self.found.lost(member);
                OverlayInput::DialFailed(member)
            }
            OverlayEvent::Found { member, address } => {
                tracing::debug!(%member, %address, "a member was found");
                self.found.note(member, &address);
                return None;
            }
        })
    }

    /// Hands members that were found to the machine, and seeks some if nobody is there.
    async fn meet_found(&mut self) {
        let now = Instant::now();
        for contacts in self.found.hand_on(now, self.overlay.neighbours().count()) {
            self.overlay.handle(self.clock.now(), contacts);
            self.carry_out().await;
        }
        if self.found.is_sought(now, self.handle.up() == 0) {
            self.handle.seek().await;
        }
    }

    /// Does what is due seldom. Returns the new record of the own site, if it is time for one.
    async fn beat(&mut self) -> Option<OverlayInput> {
        self.begun = 0;
        self.check.finish();
        self.meet_found().await;
        self.figures.1.take(&self.figures.0, self.handle.up());
        if self.written.elapsed() >= CONTACTS {
            self.written = Instant::now();
            self.keep_contacts();
        }
        self.keep_map();
        self.note_met();
        let now = self.clock.now();
        let old = self.old_shelves.next(self.overlay.land(), (Instant::now(), now.wall));
        if let Some(point) = old {
            self.want(point);
        }
        let corner = self.speaker.as_ref().map(SiteSpeaker::corner)?;
        let grant = self.overlay.land().grant_at(corner).cloned();
        let pause = if grant.is_some() { self.refresh } else { OWN_SHELF_MISSING };
        if self.own_shelf.is_none_or(|asked| asked.elapsed() >= pause) {
            self.own_shelf = Some(Instant::now());
            self.want(corner);
        }
        let record = self.speaker.as_mut()?.speak(now, grant.as_ref())?;
        Some(OverlayInput::Own(Box::new(record)))
    }

    /// Notes where the sites that were met let clients in, and where the land office does.
    fn note_met(&mut self) {
        let overlay = &self.overlay;
        let met = overlay.neighbours().chain(overlay.long_links()).chain(overlay.samples());
        let (mut urls, mut office) = (Vec::new(), Vec::new());
        for signed in met {
            let endpoints = signed.record.endpoints.iter();
            let of = endpoints.filter_map(|at| at.address.parse::<SiteAddress>().ok()?.clients);
            let of: Vec<NodeUrl> = of.collect();
            if signed.record.sim == self.world {
                office.clone_from(&of);
            }
            urls.extend(of);
        }
        // A land office that is not among them now may be where it was.
        if !office.is_empty() {
            self.office = office;
        }
        urls.sort();
        urls.dedup();
        self.met.send_if_modified(|known| {
            let is_news = *known != urls;
            *known = urls;
            is_news
        });
    }

    /// Writes the map if it is news. A server that stops does not wait for this task, so it is done at once.
    fn keep_map(&mut self) {
        if let Some(map) = &mut self.map {
            map.write(self.overlay.land().shelves(), self.clock.now().monotonic);
        }
    }

    /// Writes the contacts that answered lately. A member that knows nobody keeps what it had.
    fn keep_contacts(&self) {
        let good = kept_contacts(self.overlay.good_contacts(), &self.found);
        let Some(file) = self.file.as_ref().filter(|_| !good.is_empty()) else { return };
        let written: io::Result<()> = file.write(&good);
        if let Err(error) = written {
            tracing::warn!(%error, "the contacts of the overlay are not kept");
        }
    }
}

/// Waits until this member shall stop. A sender that is gone has not said so.
async fn told_to_stop(stop: &mut watch::Receiver<bool>) {
    if stop.wait_for(|stop| *stop).await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// Waits for the next shelf that was fetched; for ever, if nobody fetches any.
async fn next_proof(proofs: &mut Option<mpsc::Receiver<Vec<u8>>>) -> Option<Vec<u8>> {
    match proofs {
        Some(open) => match open.recv().await {
            Some(proof) => Some(proof),
            None => {
                *proofs = None;
                None
            }
        },
        None => std::future::pending().await,
    }
}
