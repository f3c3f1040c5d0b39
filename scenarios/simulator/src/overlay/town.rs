//! Thousands of members of an overlay in one process: clocks, connections and frames, all from a seed.

mod traffic;

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet, BinaryHeap},
    sync::Arc,
    time::Duration,
};

use metatopia_raynet::{
    LookupAnswer, Overlay, OverlayConfig, OverlayCounts, OverlayInput, OverlayMessage,
    SignedSiteRecord, SiteAbout, SiteEndpoint, SiteEpoch, SiteName, SiteRecord, TilePoint,
    limits::RECORD_LIFE_MS_MAX, pace::CYCLE,
};
use metatopia_types::{Digest, Height, Millis, Now, PublicKey};

use super::{
    land::{OverlayLand, beacon},
    liars::{Lie, OverlayLiar},
    truth::OverlayTruth,
};
use crate::{Dice, SignatureKind};

/// The wall clock at the beginning.
const DAWN_MS: u64 = 1_800_000_000_000;

/// What happens at a time.
#[derive(Debug)]
enum Happening {
    Wake(usize),
    Input(usize, OverlayInput),
    /// A frame, on the connection that was opened then.
    Frame(usize, usize, u64, Vec<u8>),
}

/// One member, with its connections: since when each of them is open.
#[derive(Debug, Default)]
struct TownMember {
    machine: Option<Overlay>,
    liar: Option<OverlayLiar>,
    connections: BTreeMap<usize, u64>,
    wake_at: u64,
}

/// The simulated overlay.
#[derive(Debug)]
pub struct OverlayTown {
    /// The land that its sites have.
    pub land: Arc<OverlayLand>,
    /// The dice of the scene.
    pub dice: Dice,
    /// How many frames of a million are lost.
    pub loss_ppm: u32,
    /// Evidence that members found, by member.
    pub evidence: BTreeMap<usize, usize>,
    /// Answers to lookups, by number.
    pub found: BTreeMap<u64, LookupAnswer>,
    /// Does the host have the map?
    pub has_office: bool,
    seed: u64,
    now: u64,
    order: u64,
    queue: BinaryHeap<Reverse<(u64, u64)>>,
    happenings: BTreeMap<u64, Happening>,
    members: Vec<TownMember>,
    lives: BTreeSet<usize>,
    /// Members that left in order.
    left: BTreeSet<usize>,
    /// How often each member began anew.
    births: Vec<u64>,
    gone: OverlayCounts,
}

/// Returns the key of a member in the overlay. Its first bytes are its number.
#[must_use]
pub fn member_key(member: usize) -> PublicKey {
    let mut key = Digest::of("metatopia simulated member v1", &(member as u64).to_le_bytes()).0;
    key[..4].copy_from_slice(&(member as u32).to_le_bytes());
    PublicKey(key)
}

fn number_of(key: PublicKey) -> usize {
    let mut bytes = [0; 4];
    bytes.copy_from_slice(&key.0[..4]);
    u32::from_le_bytes(bytes) as usize
}

/// Returns how a member is reached.
#[must_use]
pub fn member_endpoint(member: usize) -> SiteEndpoint {
    let [a, b, c, d] = (member as u32).wrapping_mul(2_654_435_761).to_be_bytes();
    SiteEndpoint { peer: member_key(member), address: format!("{a}.{b}.{c}.{d}:4001") }
}

impl OverlayTown {
    /// Returns a town of so many sites, none of which lives yet.
    #[must_use]
    pub fn new(sites: usize, seed: u64) -> Self {
        let mut dice = Dice::new(seed, "overlay land");
        let land = Arc::new(OverlayLand::draw(sites, &mut dice));
        Self::on(land, seed)
    }

    /// Returns a town on this land.
    #[must_use]
    pub fn on(land: Arc<OverlayLand>, seed: u64) -> Self {
        let members: Vec<TownMember> = land.grants.iter().map(|_| TownMember::default()).collect();
        Self {
            dice: Dice::new(seed, "overlay scene"),
            loss_ppm: 0,
            evidence: BTreeMap::new(),
            found: BTreeMap::new(),
            has_office: true,
            seed,
            now: 0,
            order: 0,
            queue: BinaryHeap::new(),
            happenings: BTreeMap::new(),
            births: vec![0; members.len()],
            members,
            lives: BTreeSet::new(),
            left: BTreeSet::new(),
            gone: OverlayCounts::default(),
            land,
        }
    }

    fn at(&self) -> Now {
        let monotonic = Duration::from_micros(self.now);
        Now { monotonic, wall: Millis(DAWN_MS + self.now / 1_000) }
    }

    /// Returns the simulated time.
    #[must_use]
    pub const fn now(&self) -> Duration {
        Duration::from_micros(self.now)
    }

    /// Returns the record of a site at its present birth.
    #[must_use]
    pub fn record(&self, site: usize) -> SignedSiteRecord {
        let grant = &self.land.grants[site];
        let epoch = SiteEpoch { grant: grant.epoch, record: self.births[site] };
        let record = SiteRecord {
            world: self.land.world,
            sim: grant.sim,
            square: grant.square,
            endpoints: vec![member_endpoint(site)],
            clients: 0,
            about: SiteAbout { label: format!("site {site}"), licence: "CC-BY-SA-4.0".to_owned() },
            epoch,
            expires: self.at().wall.plus(RECORD_LIFE_MS_MAX),
        };
        record.sign(&*beacon(site))
    }

    /// Begins a member, with its own shelf of the map and these first contacts.
    pub fn begin(&mut self, member: usize, contacts: &[usize]) {
        self.births[member] += 1;
        let seed = (self.seed, member as u64, self.births[member]);
        let mut bytes = Vec::new();
        for part in [seed.0, seed.1, seed.2] {
            bytes.extend(part.to_le_bytes());
        }
        let config = OverlayConfig {
            world: self.land.world,
            peer: member_key(member),
            vantage: self.land.middles[member],
            extent: self.land.extent,
            seed: blake3::derive_key("metatopia simulated member v1", &bytes),
            cycle: CYCLE,
            map_from: Height(1),
            scheme: SignatureKind::StandIn.verifier(),
            land: Arc::clone(&self.land) as _,
        };
        self.members[member].machine = Some(Overlay::new(config, self.at()));
        self.lives.insert(member);
        let shelf = self.land.shelf(self.land.middles[member]).map(|shelf| shelf.proof.clone());
        if let Some(proof) = shelf {
            self.input(member, OverlayInput::Shelf(proof));
        }
        let record = self.record(member);
        self.input(member, OverlayInput::Own(Box::new(record)));
        self.introduce(member, contacts);
    }

    /// Tells a member of first contacts.
    pub fn introduce(&mut self, member: usize, contacts: &[usize]) {
        let contacts = contacts.iter().map(|contact| member_endpoint(*contact)).collect();
        self.input(member, OverlayInput::Contacts(contacts));
    }

    /// Makes a liar of a member that lives.
    pub fn corrupt(&mut self, member: usize, lie: Lie) {
        let dice = Dice::new(self.seed ^ member as u64, "overlay liar");
        let liar = OverlayLiar::new(lie, self.record(member), beacon(member), dice);
        self.members[member].liar = Some(liar);
    }

    /// Says whether a member tells the truth.
    #[must_use]
    pub fn is_honest(&self, member: usize) -> bool {
        self.members[member].liar.is_none()
    }

    /// Ends the process of a member in order: its system closes its connections, and refuses others.
    pub fn leave(&mut self, member: usize) {
        self.left.insert(member);
        self.end(member);
    }

    /// Ends a member, without a word to anybody. Its peers notice within a cycle.
    pub fn kill(&mut self, member: usize) {
        self.left.remove(&member);
        self.end(member);
    }

    fn end(&mut self, member: usize) {
        self.lives.remove(&member);
        let member_state = core::mem::take(&mut self.members[member]);
        if let Some(machine) = &member_state.machine {
            self.gone.frames += machine.counts().frames;
            self.gone.bytes += machine.counts().bytes;
        }
        for peer in member_state.connections.into_keys() {
            self.members[peer].connections.remove(&member);
            let cycle = CYCLE.as_micros() as u64;
            let after = if self.left.contains(&member) {
                self.travel(member, peer)
            } else {
                cycle / 5 + self.dice.below(cycle * 4 / 5)
            };
            self.later(after, Happening::Input(peer, OverlayInput::Down(member_key(member))));
        }
    }

    /// Returns the members that live, ascending.
    #[must_use]
    pub fn living(&self) -> Vec<usize> {
        self.lives.iter().copied().collect()
    }

    /// Says whether a member lives.
    #[must_use]
    pub fn lives(&self, member: usize) -> bool {
        self.lives.contains(&member)
    }

    /// Returns the machine of a member that lives.
    #[must_use]
    pub fn machine(&self, member: usize) -> Option<&Overlay> {
        self.members[member].machine.as_ref()
    }

    /// Returns what is true now.
    #[must_use]
    pub fn truth(&self) -> OverlayTruth {
        OverlayTruth::of(self.land.extent, &self.land.middles, |site| self.lives(site))
    }

    /// Returns the name of a site.
    #[must_use]
    pub fn name(&self, site: usize) -> SiteName {
        SiteName::of(self.land.grants[site].sim)
    }

    fn later(&mut self, after: u64, happening: Happening) {
        self.order += 1;
        self.queue.push(Reverse((self.now + after, self.order)));
        self.happenings.insert(self.order, happening);
    }

    /// Lets so much time pass.
    pub fn run(&mut self, span: Duration) {
        let until = self.now + span.as_micros() as u64;
        while let Some(Reverse((at, order))) = self.queue.peek().copied() {
            if at > until {
                break;
            }
            self.queue.pop();
            self.now = at;
            match self.happenings.remove(&order) {
                Some(Happening::Wake(member)) if self.members[member].wake_at == at => {
                    self.input(member, OverlayInput::Wake);
                }
                Some(Happening::Input(member, input)) => self.input(member, input),
                Some(Happening::Frame(from, to, open, bytes))
                    if self.members[to].connections.get(&from) == Some(&open) =>
                {
                    let from = member_key(from);
                    self.input(to, OverlayInput::Frame { from, bytes });
                }
                _ => {}
            }
        }
        self.now = until;
    }

    /// Lets a member handle something, and does what it wants.
    pub fn input(&mut self, member: usize, input: OverlayInput) {
        let now = self.at();
        if self.is_answered_by_liar(member, &input) {
            return;
        }
        let Some(machine) = self.members[member].machine.as_mut() else { return };
        machine.handle(now, input);
        let mut effects = Vec::new();
        while let Some(effect) = machine.poll() {
            effects.push(effect);
        }
        let due = machine.deadline().as_micros() as u64 + 1;
        if self.members[member].wake_at != due {
            self.members[member].wake_at = due.max(self.now + 1);
            let after = self.members[member].wake_at - self.now;
            self.later(after, Happening::Wake(member));
        }
        for effect in effects {
            self.effect(member, effect);
        }
    }

    /// Lets a liar say what it wants to a frame. Returns whether its honest part does not hear of it.
    fn is_answered_by_liar(&mut self, member: usize, input: &OverlayInput) -> bool {
        let cycle = self.now / CYCLE.as_micros() as u64;
        let (Some(liar), OverlayInput::Frame { from, bytes }) =
            (&mut self.members[member].liar, input)
        else {
            return false;
        };
        let Ok(message) = OverlayMessage::decode(bytes) else { return false };
        let (said, is_all) = liar.hears(cycle, &message);
        let from = number_of(*from);
        for message in said {
            self.post(member, from, message.encode());
        }
        is_all
    }

    /// Returns what all members counted together.
    #[must_use]
    pub fn counts(&self) -> OverlayCounts {
        let mut sum = self.gone;
        for machine in self.members.iter().filter_map(|member| member.machine.as_ref()) {
            let counts = machine.counts();
            sum.frames += counts.frames;
            sum.bytes += counts.bytes;
            sum.signatures += counts.signatures;
            sum.shelves += counts.shelves;
            sum.choices += counts.choices;
            sum.buried += counts.buried;
            sum.refused += counts.refused;
            sum.rationed += counts.rationed;
        }
        sum
    }

    /// Returns a digest of all members.
    #[must_use]
    pub fn digest(&self) -> Digest {
        let mut bytes = Vec::new();
        for member in &self.lives {
            if let Some(machine) = self.machine(*member) {
                bytes.extend(machine.digest().0);
            }
        }
        Digest::of("metatopia simulated overlay v1", &bytes)
    }

    /// Draws a point of the extent.
    pub fn draw_point(&mut self) -> TilePoint {
        let extent = self.land.extent;
        let width = extent.high.x.abs_diff(extent.low.x);
        let mut draw = |low: i32| low.wrapping_add_unsigned(self.dice.below(width.into()) as u32);
        TilePoint { x: draw(extent.low.x), y: draw(extent.low.y) }
    }
}
