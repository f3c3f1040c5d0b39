//! An honest server for tests: a plaza that runs, and what it shows of it, so that tests can spoil
//! one thing at a time.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use metatopia_client::LightClient;
use metatopia_math::{Fx, Vec2};
use metatopia_protocol::{NeighbourLeaf, SIGHT, TileLeaf, TileName, TileUpdate, View, ViewProof};
use metatopia_scenarios::plaza;
use metatopia_sim::{ENGINE, Genesis, PlacedTiles, Serial, Tile, TileEntry, Tools, World};
use metatopia_types::*;

/// The numbers of the first members.
const MEMBERS: [u8; 4] = [200, 201, 202, 203];

pub(crate) fn key(n: u8) -> SigningKey {
    SigningKey::from_seed([n; 32])
}

pub(crate) fn set(members: &[u8]) -> ValidatorSet {
    let member = |n: &u8| Validator { key: key(*n).public(), power: 1 };
    ValidatorSet::new(members.iter().map(member).collect(), |_| true).expect("a set")
}

/// What the state was after one turn.
struct Record {
    tiles: BTreeMap<TileName, BTreeMap<ObjectId, Vec<u8>>>,
    placed: PlacedTiles,
    root: Root,
    tick: Tick,
}

/// What a server knows about who watches.
#[derive(Default)]
pub(crate) struct Watcher {
    pub(crate) had: BTreeMap<TileName, Height>,
    pub(crate) number: u32,
}

pub(crate) struct Stand {
    world: World,
    members: Vec<u8>,
    history: BTreeMap<Height, Record>,
    headers: BTreeMap<Height, Header>,
    seq: Seq,
}

impl Stand {
    /// A plaza with four servers, at height 0.
    pub(crate) fn new() -> Self {
        Self::with(0)
    }

    /// The same, with a tile so full that it is several leaves.
    pub(crate) fn crowded() -> Self {
        Self::with(300)
    }

    /// The genesis of the plaza that is not crowded.
    pub(crate) fn genesis() -> Genesis {
        let contact = |n: u8| (key(n).public(), NodeContact::default());
        let mut genesis = plaza::genesis(MEMBERS.map(contact).into(), BTreeSet::new());
        // No story depends on where the dice let the visitor appear.
        genesis.parameters.avatar.spawn_radius = Fx::from_ratio(1, 4);
        genesis
    }

    fn with(extra: u32) -> Self {
        let mut genesis = Self::genesis();
        let mut bench = genesis.objects[0].clone();
        bench.text = "x".repeat(250);
        bench.scripts.clear();
        for n in 0..extra {
            // Far from the plaza, in a tile of their own, one metre apart.
            let place = |n: u32| Fx::from_int(i32::try_from(n).expect("few") + 193);
            bench.body.pose.position = Vec2::new(place(n % 30), place(n / 30));
            genesis.objects.push(bench.clone());
        }
        Self::of(&genesis)
    }

    /// A sim of this genesis, at height 0, with the members of the plaza.
    pub(crate) fn of(genesis: &Genesis) -> Self {
        let world = World::genesis(genesis, &Tools::new(Arc::new(Ed25519))).expect("a plaza");
        let (members, history, headers) = (MEMBERS.to_vec(), BTreeMap::new(), BTreeMap::new());
        let mut stand = Self { world, members, history, headers, seq: Seq(1) };
        stand.record();
        stand
    }

    pub(crate) fn sim(&self) -> SimId {
        self.world.sim()
    }

    pub(crate) fn height(&self) -> Height {
        self.world.height()
    }

    pub(crate) fn light(&self) -> LightClient {
        LightClient::new(self.sim(), Height(1), set(&self.members), Arc::new(Ed25519))
    }

    pub(crate) fn world(&self) -> &World {
        &self.world
    }

    /// Returns the key of the visitor, who walks about here.
    pub(crate) fn visitor() -> SigningKey {
        key(1)
    }

    /// Every tile that has something in it or is, or was, in sight of the visitor.
    pub(crate) fn tiles(&self) -> Vec<TileName> {
        self.tiles_at(self.height())
    }

    /// The same, at an earlier height.
    pub(crate) fn tiles_at(&self, height: Height) -> Vec<TileName> {
        self.history[&height].tiles.keys().copied().collect()
    }

    /// Returns the tiles that have something in them.
    pub(crate) fn full(&self) -> Vec<TileName> {
        self.tiles().into_iter().filter(|tile| !self.entries(*tile).is_empty()).collect()
    }

    /// The one in which the visitor stands.
    pub(crate) fn own(&self) -> TileName {
        let me = self.world.avatar(&Self::visitor().public()).expect("the visitor came");
        name(self.world.entry(me).expect("an avatar").0)
    }

    /// A full one next to it.
    pub(crate) fn beside(&self) -> TileName {
        let own = self.own();
        let touches = |tile: &TileName| (tile.x - own.x).abs() <= 1 && (tile.y - own.y).abs() <= 1;
        let mut full = self.full().into_iter();
        full.find(|tile| *tile != own && touches(tile)).expect("something stands near the visitor")
    }

    /// Returns what is in a tile at the present height, in the state's encoding.
    pub(crate) fn entries(&self, tile: TileName) -> Vec<Vec<u8>> {
        let entries = self.history[&self.height()].tiles.get(&tile);
        entries.into_iter().flat_map(|tile| tile.values().cloned()).collect()
    }

    /// One turn with these acts of the visitor.
    pub(crate) fn turn(&mut self, acts: &[Act]) {
        let author = Self::visitor();
        let height = self.height().plus(1);
        let mut signed = Vec::new();
        for act in acts {
            let (lane, seq, last_valid) = (Lane(1), self.seq, height.plus(100));
            self.seq = seq.plus(1);
            let (sim, act) = (self.sim(), act.clone());
            let envelope = Envelope { sim, author: author.public(), lane, seq, last_valid, act };
            signed.push(envelope.sign(&author));
        }
        self.decide(signed);
    }

    /// One turn with these acts; gives the receipt of the first.
    pub(crate) fn decide(&mut self, acts: Vec<SignedEnvelope>) -> Option<Receipt> {
        let body = TurnBody::new(acts, Vec::new()).expect("a body");
        let place = merkle::Proof::of(&body.act_leaves(), 0);
        let turn = Turn::of(self.header(self.height().plus(1)), body);
        self.world.apply(&turn, &Serial);
        let certificate = certificate(&turn.header, &self.members);
        let receipt =
            place.map(|place| Receipt { header: turn.header.clone(), certificate, place });
        self.headers.insert(turn.header.height, turn.header);
        self.record();
        receipt
    }

    pub(crate) fn turns(&mut self, count: u32) {
        (0..count).for_each(|_| self.turn(&[]));
    }

    /// Logs the visitor in and lets it walk east.
    pub(crate) fn enter(&mut self) {
        let login = Act::login("Ada".into(), Look::default());
        self.turn(&[login]);
        let heading = Vec2::new(Fx::ONE, Fx::ZERO);
        self.turn(&[Act::Walk { heading }]);
    }

    /// The header of the next turn, but for its body.
    fn header(&self, height: Height) -> Header {
        let stated = height.minus(limits::ROOT_LAG).unwrap_or_default();
        let before = height.minus(1).unwrap_or_default();
        let set = set(&self.members).id();
        Header {
            sim: self.sim(),
            engine: ENGINE,
            height,
            previous: self.headers.get(&before).map_or(HeaderId::BEFORE_FIRST, Header::id),
            proposer: key(self.members[0]).public(),
            time: Millis(1_700_000_000_000 + 50 * height.0),
            root: self.history[&stated].root,
            validators: set,
            next_validators: set,
            ..Header::unstated()
        }
    }

    fn record(&mut self) {
        let world = &self.world;
        let full = world.objects().map(|seen| Tile::of(seen.position));
        let avatar = world.avatar(&Self::visitor().public()).and_then(|me| world.place(me));
        let near = avatar.map(|at| Tile::around(at, SIGHT));
        let mut all: BTreeSet<Tile> = full.chain(near.into_iter().flatten()).collect();
        let before = self.history.last_key_value().map(|(_, record)| record.tiles.keys());
        all.extend(before.into_iter().flatten().map(tile));
        let mut tiles = BTreeMap::new();
        for tile in &all {
            let entries = world.entries(*tile).map(|(id, bytes)| (id, bytes.to_vec())).collect();
            tiles.insert(name(*tile), entries);
        }
        let (placed, root, tick) = (world.place_tiles(&all), world.root(), world.tick());
        self.history.insert(world.height(), Record { tiles, placed, root, tick });
    }

    /// Returns what is sent to somebody who watches these tiles, at the present height.
    pub(crate) fn view(&self, watcher: &mut Watcher, tiles: &[TileName]) -> View {
        let height = self.height();
        let updates = tiles.iter().map(|tile| {
            let since = watcher.had.insert(*tile, height);
            self.update(*tile, since)
        });
        let updates = updates.collect();
        watcher.number += 1;
        View {
            number: watcher.number,
            height,
            tick: self.history[&height].tick,
            me: self.world.avatar(&Self::visitor().public()),
            tiles: updates,
            left: Vec::new(),
            near: Vec::new(),
            far: Vec::new(),
            gestures: Vec::new(),
        }
    }

    fn update(&self, tile: TileName, since: Option<Height>) -> TileUpdate {
        let none = BTreeMap::new();
        let now = self.history[&self.height()].tiles.get(&tile).unwrap_or(&none);
        let before = since.and_then(|since| self.history[&since].tiles.get(&tile)).unwrap_or(&none);
        let (mut entries, mut moved) = (Vec::new(), Vec::new());
        for (id, bytes) in now.iter().filter(|(id, bytes)| before.get(id) != Some(bytes)) {
            let followed = before.get(id).and_then(|old| {
                let (new, old) = (decode(bytes), decode(old));
                let same = new.object == old.object;
                new.body.movement_since(&old.body).filter(|_| same)
            });
            match followed {
                Some(movement) => moved.push((*id, movement)),
                None => entries.push(bytes.clone()),
            }
        }
        let gone = before.keys().filter(|id| !now.contains_key(id)).copied().collect();
        TileUpdate { tile, since, entries, moved, gone, more: false }
    }

    /// The proof of these tiles at a height at least two turns ago, signed by all servers.
    pub(crate) fn proof(&self, of: Height, tiles: &[TileName]) -> ViewProof {
        let header = self.headers[&of.plus(limits::ROOT_LAG)].clone();
        let certificate = certificate(&header, &self.members);
        let tiles: Vec<Tile> = tiles.iter().map(tile).collect();
        let shown = self.history[&of].placed.show(&tiles);
        let leaf = |leaf: metatopia_sim::PlacedLeaf| TileLeaf {
            tile: name(leaf.tile),
            prefix: leaf.prefix,
            place: leaf.place,
            hash: leaf.hash,
        };
        let other = |leaf: metatopia_sim::AdjacentLeaf| NeighbourLeaf {
            key: leaf.key,
            content: leaf.content,
            place: leaf.place,
        };
        ViewProof {
            of,
            header,
            certificate,
            leaves: shown.leaves.into_iter().map(leaf).collect(),
            beside: shown.beside.into_iter().map(other).collect(),
            places: shown.places,
        }
    }
}

fn tile(name: &TileName) -> Tile {
    Tile { x: name.x.into(), y: name.y.into() }
}

fn name(tile: Tile) -> TileName {
    let narrow = |n: i64| i32::try_from(n).expect("a tile of the plaza");
    TileName { x: narrow(tile.x), y: narrow(tile.y) }
}

pub(crate) fn decode(entry: &[u8]) -> TileEntry {
    TileEntry::decode(entry).expect("an entry of a world")
}

/// The signatures of these servers for a header.
pub(crate) fn certificate(header: &Header, signers: &[u8]) -> Certificate {
    let (height, round) = (header.height, Round(0));
    let mut certificate =
        Certificate { height, round, header: header.id(), signatures: Vec::new() };
    certificate.signatures = signers
        .iter()
        .map(|n| {
            let bytes = certificate.vote(key(*n).public()).sign_bytes(header.sim);
            (key(*n).public(), key(*n).sign(&bytes))
        })
        .collect();
    certificate
}
