//! A few members on a small land, with a network that loses nothing and takes 20 ms.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use metatopia_raynet::{
    Extent, LandGrant, LookupAnswer, Overlay, OverlayConfig, OverlayEffect, OverlayEvidence,
    OverlayInput, OverlayMessage, PlaneBlock, ProveLand, Shelf, ShelfError, SignedSiteRecord,
    SiteAbout, SiteEndpoint, SiteEpoch, SiteName, SiteRecord, TilePoint,
};
use metatopia_types::{
    Digest, Height, Millis, Now, PublicKey, Sign, Signature, SimId, Square, Verify, wire,
};

pub(crate) const CYCLE: Duration = Duration::from_secs(4);
pub(crate) const DAWN: Millis = Millis(1_800_000_000_000);

/// The keyed hash that stands for a signature here.
#[derive(Debug)]
pub(crate) struct Hashed(pub(crate) PublicKey);

fn hashed(key: &PublicKey, message: &[u8]) -> Signature {
    let mut bytes = [0; 64];
    blake3::Hasher::new_keyed(&key.0).update(message).finalize_xof().fill(&mut bytes);
    Signature::from_bytes(bytes)
}

impl Sign for Hashed {
    fn public(&self) -> PublicKey {
        self.0
    }

    fn sign(&self, message: &[u8]) -> Signature {
        hashed(&self.0, message)
    }
}

impl Verify for Hashed {
    fn verify(&self, key: &PublicKey, message: &[u8], signature: &Signature) -> bool {
        hashed(key, message) == *signature
    }

    fn is_key(&self, _: &PublicKey) -> bool {
        true
    }
}

pub(crate) fn key(number: usize) -> PublicKey {
    PublicKey(Digest::of("a test's key", &(number as u64).to_le_bytes()).0)
}

pub(crate) fn beacon(number: usize) -> Hashed {
    Hashed(key(1_000_000 + number))
}

pub(crate) fn sim(number: usize) -> SimId {
    SimId(Digest::of("a test's sim", &(number as u64).to_le_bytes()))
}

pub(crate) fn world() -> SimId {
    SimId(Digest::of("a test's world", b""))
}

pub(crate) fn endpoint(number: usize) -> SiteEndpoint {
    SiteEndpoint { peer: key(number), address: format!("10.{}.{}.1:1", number / 250, number % 250) }
}

pub(crate) fn square(x: i32, y: i32) -> Square {
    Square { x, y, doublings: 0 }
}

pub(crate) fn grant(number: usize, square: Square) -> LandGrant {
    let beacons = vec![beacon(number).public()];
    let until = Millis(u64::MAX);
    LandGrant {
        square,
        sim: sim(number),
        holder: key(0),
        beacons,
        epoch: 1,
        until,
        shown: Height(0),
    }
}

/// Makes a shelf with a proof that [`Drawn`] believes.
pub(crate) fn shelf(block: PlaneBlock, height: u64, grants: Vec<LandGrant>) -> Arc<Shelf> {
    let content = wire::encode(&(world(), block, Height(height), &grants));
    let mut proof = content.clone();
    proof.extend(blake3::derive_key("a test's shelf", &content));
    let (world, height, time) = (world(), Height(height), Millis(0));
    Arc::new(Shelf { world, block, height, time, grants, proof })
}

/// Believes every shelf that was made here.
#[derive(Debug)]
pub(crate) struct Drawn;

impl ProveLand for Drawn {
    fn open(&self, proof: &[u8]) -> Result<Arc<Shelf>, ShelfError> {
        let (content, mark) = proof.split_last_chunk::<32>().ok_or(ShelfError::Proof)?;
        if blake3::derive_key("a test's shelf", content) != *mark {
            return Err(ShelfError::Proof);
        }
        type Parts = (SimId, PlaneBlock, Height, Vec<LandGrant>);
        let parts = wire::decode::<Parts>(content, content.len()).map_err(|_| ShelfError::Proof)?;
        Ok(shelf(parts.1, parts.2.0, parts.3))
    }

    fn about(&self, proof: &[u8]) -> Option<(PlaneBlock, Height)> {
        let (content, _) = proof.split_last_chunk::<32>()?;
        type Parts = (SimId, PlaneBlock, Height, Vec<LandGrant>);
        let parts = wire::decode::<Parts>(content, content.len()).ok()?;
        Some((parts.1, parts.2))
    }
}

/// Puts grants on shelves of at most 16 each, beginning with the quarters of the plane.
pub(crate) fn shelves(grants: &[LandGrant]) -> Vec<Arc<Shelf>> {
    let mut made = Vec::new();
    for (x, y) in [(0, 0), (-1, 0), (0, -1), (-1, -1)] {
        put(
            PlaneBlock::around(TilePoint { x, y }, PlaneBlock::DOUBLINGS_MAX - 1),
            grants,
            &mut made,
        );
    }
    made
}

fn put(block: PlaneBlock, grants: &[LandGrant], made: &mut Vec<Arc<Shelf>>) {
    let corner = |grant: &&LandGrant| TilePoint { x: grant.square.x, y: grant.square.y };
    let inside = grants.iter().filter(|grant| block.contains(corner(grant)));
    let inside: Vec<LandGrant> = inside.cloned().collect();
    if inside.len() <= 16 {
        made.push(shelf(block, 100, inside));
        return;
    }
    let (half, step) = (block.doublings - 1, 1_i32 << (block.doublings - 1));
    for (x, y) in [(0, 0), (step, 0), (0, step), (step, step)] {
        let corner =
            TilePoint { x: block.corner.x.wrapping_add(x), y: block.corner.y.wrapping_add(y) };
        put(PlaneBlock::around(corner, half), &inside, made);
    }
}

/// Returns a record of a site, for its first epoch.
pub(crate) fn record(number: usize, square: Square) -> SiteRecord {
    SiteRecord {
        world: world(),
        sim: sim(number),
        square,
        endpoints: vec![endpoint(number)],
        clients: 0,
        about: SiteAbout { label: "a place".to_owned(), licence: "CC0-1.0".to_owned() },
        epoch: SiteEpoch { grant: 1, record: 1 },
        expires: DAWN.plus(3_600_000),
    }
}

pub(crate) fn signed(number: usize, square: Square) -> SignedSiteRecord {
    record(number, square).sign(&beacon(number))
}

pub(crate) fn config(number: usize) -> OverlayConfig {
    OverlayConfig {
        world: world(),
        peer: key(number),
        vantage: TilePoint::default(),
        extent: Extent::PLANE,
        seed: key(number).0,
        cycle: CYCLE,
        map_from: Height(1),
        scheme: Arc::new(Hashed(key(0))),
        land: Arc::new(Drawn),
    }
}

/// What a liar says to a message, if it does not let it pass.
pub(crate) type Lies = fn(&SignedSiteRecord, &OverlayMessage) -> Option<OverlayMessage>;

/// A question of a way, with the number of the way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WayAsked {
    pub(crate) way: u64,
    pub(crate) point: TilePoint,
    pub(crate) from: usize,
    pub(crate) to: usize,
    /// It asks for the map.
    pub(crate) map: bool,
}

/// The members, by number, and what is under way between them.
pub(crate) struct Town {
    pub(crate) squares: Vec<Square>,
    pub(crate) shelves: Vec<Arc<Shelf>>,
    pub(crate) members: BTreeMap<usize, Overlay>,
    pub(crate) found: Vec<LookupAnswer>,
    pub(crate) evidence: Vec<(usize, OverlayEvidence)>,
    /// Answers in place of a member to what it is asked.
    pub(crate) liars: BTreeMap<usize, Lies>,
    /// Questions of lookups, in order.
    pub(crate) asked: Vec<WayAsked>,
    now: Duration,
    order: u64,
    queue: BTreeMap<(Duration, u64), (usize, OverlayInput)>,
    up: BTreeSet<(usize, usize)>,
    numbers: BTreeMap<PublicKey, usize>,
}

impl Town {
    /// A town whose land has these squares; nobody lives there yet.
    pub(crate) fn new(squares: Vec<Square>) -> Self {
        let grants: Vec<LandGrant> =
            squares.iter().enumerate().map(|(number, square)| grant(number, *square)).collect();
        let shelves = shelves(&grants);
        let numbers = (0..squares.len()).map(|number| (key(number), number)).collect();
        Self {
            squares,
            shelves,
            members: BTreeMap::new(),
            found: Vec::new(),
            evidence: Vec::new(),
            liars: BTreeMap::new(),
            asked: Vec::new(),
            now: Duration::ZERO,
            order: 0,
            queue: BTreeMap::new(),
            up: BTreeSet::new(),
            numbers,
        }
    }

    /// A town in which each of these sites knows the one before it.
    pub(crate) fn begun(squares: Vec<Square>) -> Self {
        let mut town = Self::new(squares);
        for number in 0..town.squares.len() {
            town.begin(number, &[number.saturating_sub(1)]);
        }
        town
    }

    pub(crate) fn now(&self) -> Now {
        Now { monotonic: self.now, wall: DAWN.plus(self.now.as_millis() as u64) }
    }

    pub(crate) fn name(number: usize) -> SiteName {
        SiteName::of(sim(number))
    }

    pub(crate) fn shelf_of(&self, number: usize) -> Arc<Shelf> {
        let middle = TilePoint::middle(self.squares[number]).expect("a square");
        let found = self.shelves.iter().find(|shelf| shelf.block.contains(middle));
        Arc::clone(found.expect("the shelves cover the plane"))
    }

    /// Begins a member with its shelf, its record and these contacts.
    pub(crate) fn begin(&mut self, number: usize, contacts: &[usize]) {
        self.members.insert(number, Overlay::new(config(number), self.now()));
        self.input(number, OverlayInput::Shelf(self.shelf_of(number).proof.clone()));
        let own = signed(number, self.squares[number]);
        self.input(number, OverlayInput::Own(Box::new(own)));
        let contacts = contacts.iter().map(|contact| endpoint(*contact)).collect();
        self.input(number, OverlayInput::Contacts(contacts));
    }

    pub(crate) fn input(&mut self, number: usize, input: OverlayInput) {
        let now = self.now();
        if let (Some(liar), OverlayInput::Frame { from, bytes }) = (self.liars.get(&number), &input)
        {
            let own = signed(number, self.squares[number]);
            let message = OverlayMessage::decode(bytes).expect("members speak well");
            if let Some(lie) = liar(&own, &message) {
                self.send(number, self.numbers[from], lie.encode());
                return;
            }
        }
        let Some(member) = self.members.get_mut(&number) else { return };
        member.handle(now, input);
        let mut effects = Vec::new();
        while let Some(effect) = member.poll() {
            effects.push(effect);
        }
        for effect in effects {
            self.effect(number, effect);
        }
    }

    fn later(&mut self, after_ms: u64, number: usize, input: OverlayInput) {
        self.order += 1;
        let at = self.now + Duration::from_millis(after_ms);
        self.queue.insert((at, self.order), (number, input));
    }

    fn send(&mut self, from: usize, to: usize, bytes: Vec<u8>) {
        if self.up.contains(&(from, to)) {
            self.later(20, to, OverlayInput::Frame { from: key(from), bytes });
        }
    }

    fn effect(&mut self, number: usize, effect: OverlayEffect) {
        match effect {
            OverlayEffect::Dial { peer, .. } => {
                let lives =
                    self.numbers.get(&peer).filter(|other| self.members.contains_key(other));
                let Some(other) = lives.copied() else {
                    return self.later(500, number, OverlayInput::DialFailed(peer));
                };
                self.up.extend([(number, other), (other, number)]);
                self.later(20, number, OverlayInput::Up(peer));
                self.later(20, other, OverlayInput::Up(key(number)));
            }
            OverlayEffect::Close(peer) => {
                let other = self.numbers[&peer];
                self.up.remove(&(number, other));
                self.up.remove(&(other, number));
                self.later(20, other, OverlayInput::Closed(key(number)));
            }
            OverlayEffect::Send { to, frame } => {
                if let Some(to) = self.numbers.get(&to).copied() {
                    self.note_asked(number, to, &frame);
                    self.send(number, to, frame);
                }
            }
            OverlayEffect::Found(answer) => self.found.push(*answer),
            OverlayEffect::Evidence(evidence) => self.evidence.push((number, *evidence)),
            OverlayEffect::DialBack { .. } => {}
            OverlayEffect::ShelfWanted(point) => {
                let shelf = self.shelves.iter().find(|shelf| shelf.block.contains(point));
                if let Some(proof) = shelf.map(|shelf| shelf.proof.clone()) {
                    self.later(40, number, OverlayInput::Shelf(proof));
                }
            }
        }
    }

    /// Notes a question of a lookup. Probes want one nearer site, and lookups more.
    fn note_asked(&mut self, from: usize, to: usize, frame: &[u8]) {
        let message = OverlayMessage::decode(frame).expect("members speak well");
        if let OverlayMessage::Seek { nonce, point, most: 2.., map } = message {
            self.asked.push(WayAsked { way: nonce, point, from, to, map });
        }
    }

    /// Lets cycles pass.
    pub(crate) fn run(&mut self, cycles: u32) {
        let end = self.now + CYCLE * cycles;
        loop {
            let due =
                self.members.iter().map(|(number, member)| (member.deadline(), *number)).min();
            let next = self.queue.keys().next().copied();
            let at = due.map_or(end, |(at, _)| at).min(next.map_or(end, |(at, _)| at));
            if at >= end {
                break;
            }
            self.now = self.now.max(at);
            match next.filter(|(first, _)| *first <= self.now) {
                Some(first) => {
                    let (number, input) = self.queue.remove(&first).expect("it is there");
                    self.input(number, input);
                }
                None => {
                    if let Some((_, number)) = due {
                        self.input(number, OverlayInput::Wake);
                    }
                }
            }
        }
        self.now = end;
    }

    /// Ends a member. Whoever is connected to it notices at once.
    pub(crate) fn kill(&mut self, number: usize) {
        self.members.remove(&number);
        let peers: Vec<usize> =
            self.up.iter().filter(|(from, _)| *from == number).map(|(_, to)| *to).collect();
        self.up.retain(|(from, to)| *from != number && *to != number);
        for peer in peers {
            self.later(50, peer, OverlayInput::Down(key(number)));
        }
    }

    /// The numbers of a member's neighbours, ascending.
    pub(crate) fn view(&self, number: usize) -> Vec<usize> {
        let names: Vec<SiteName> =
            self.members[&number].neighbours().map(SignedSiteRecord::name).collect();
        (0..self.squares.len()).filter(|other| names.contains(&Self::name(*other))).collect()
    }

    /// The key of somebody who is connected to a member.
    pub(crate) fn met_by(&self, number: usize) -> PublicKey {
        let met = self.up.iter().find(|(from, _)| *from == number);
        key(met.expect("it met somebody").1)
    }

    /// Looks a point up, and returns the answer.
    pub(crate) fn look_up(&mut self, number: usize, point: TilePoint) -> LookupAnswer {
        self.found.clear();
        self.input(number, OverlayInput::Lookup { id: 7, point });
        self.run(6);
        assert_eq!(self.found.len(), 1, "one answer: {:?}", self.found);
        self.found.remove(0)
    }
}

/// A member that no network surrounds: a test plays all others.
pub(crate) struct Lone {
    pub(crate) member: Overlay,
    pub(crate) now: Now,
}

impl Lone {
    /// Member 0 in the middle of the plane, which has all shelves of these grants.
    pub(crate) fn new(grants: &[LandGrant]) -> Self {
        let now = Now { monotonic: Duration::ZERO, wall: DAWN };
        let mut lone = Self { member: Overlay::new(config(0), now), now };
        for shelf in shelves(grants) {
            lone.give(OverlayInput::Shelf(shelf.proof.clone()));
        }
        let own = signed(0, grants[0].square);
        lone.give(OverlayInput::Own(Box::new(own)));
        lone
    }

    /// Gives an input, and returns all effects.
    pub(crate) fn give(&mut self, input: OverlayInput) -> Vec<OverlayEffect> {
        self.member.handle(self.now, input);
        core::iter::from_fn(|| self.member.poll()).collect()
    }

    /// Gives a message, and returns those that are sent.
    pub(crate) fn hear(
        &mut self,
        from: usize,
        message: &OverlayMessage,
    ) -> Vec<(PublicKey, OverlayMessage)> {
        let effects = self.give(OverlayInput::Frame { from: key(from), bytes: message.encode() });
        effects.into_iter().filter_map(said).collect()
    }

    /// Lets a peer name a record, and show it when it is asked.
    pub(crate) fn show(&mut self, from: usize, record: &SignedSiteRecord) -> Vec<OverlayEffect> {
        let layer = metatopia_raynet::GossipLayer::Samples;
        let half = metatopia_raynet::TipExchange { layer, own: None, tips: vec![record.tip()] };
        self.hear(from, &OverlayMessage::Answer(half));
        let bytes = OverlayMessage::Records(vec![record.clone()]).encode();
        self.give(OverlayInput::Frame { from: key(from), bytes })
    }

    pub(crate) fn pass(&mut self, time: Duration) -> Vec<OverlayEffect> {
        self.now.monotonic += time;
        self.now.wall = self.now.wall.plus(time.as_millis() as u64);
        self.give(OverlayInput::Wake)
    }

    /// Lets the member meet a site: its record, and a word of it.
    pub(crate) fn meet(&mut self, number: usize, square: Square) {
        self.give(OverlayInput::Up(key(number)));
        self.hear(number, &exchange(number, square, Vec::new()));
        self.hear(number, &OverlayMessage::Records(vec![signed(number, square)]));
        self.hear(number, &exchange(number, square, Vec::new()));
    }
}

/// The message of an effect that sends one.
pub(crate) fn said(effect: OverlayEffect) -> Option<(PublicKey, OverlayMessage)> {
    let OverlayEffect::Send { to, frame } = effect else { return None };
    Some((to, OverlayMessage::decode(&frame).expect("members speak well")))
}

/// An exchange that a site begins.
pub(crate) fn exchange(
    number: usize,
    square: Square,
    tips: Vec<metatopia_raynet::SiteTip>,
) -> OverlayMessage {
    let own = Some(signed(number, square).tip());
    let layer = metatopia_raynet::GossipLayer::Neighbours;
    OverlayMessage::Exchange(metatopia_raynet::TipExchange { layer, own, tips })
}

/// Squares on a grid with this distance.
pub(crate) fn grid(side: i32, apart: i32) -> Vec<Square> {
    let columns = 0..side;
    columns.flat_map(|x| (0..side).map(move |y| square(x * apart, y * apart))).collect()
}
