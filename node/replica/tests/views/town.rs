//! A town to look at: things that roll, jump between tiles and change their signs, and walkers.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use metatopia_math::{Fx, Vec2};
use metatopia_physics::{BodySpec, Motion, Shape};
use metatopia_replica::views::Views;
use metatopia_scripting::{
    Call, Draft, EventKind, Handler, Package, PackageAuthor, ScriptError, ScriptOutput, ScriptState,
};
use metatopia_sim::{Applied, ENGINE, Genesis, ObjectSpec, ScriptSpec, Serial, Tile, Tools, World};
use metatopia_types::{
    Act, AssetLicence, Certificate, Ed25519, Envelope, Header, Height, Lane, Look, Millis,
    NodeContact, ObjectId, PackageId, PublicKey, Round, Seq, Sign, SignedEnvelope, SigningKey,
    Turn, TurnBody,
};

pub(crate) fn key(n: u8) -> SigningKey {
    SigningKey::from_seed([n; 32])
}

pub(crate) fn at(x: i32, y: i32) -> Vec2 {
    Vec2::new(Fx::from_int(x), Fx::from_int(y))
}

/// A script that jumps to and fro between two tiles, and one that writes the time on itself.
struct Restless(PackageId);

impl Handler for Restless {
    fn package(&self) -> PackageId {
        self.0
    }

    fn handles(&self, kind: EventKind) -> bool {
        kind == EventKind::Tick
    }

    fn call(&self, call: &Call<'_>) -> Result<ScriptOutput, ScriptError> {
        let (tick, id) = (call.view.tick().0, call.object.0);
        let mut part = ScriptOutput { gas: 1, ..ScriptOutput::default() };
        if (tick + id * 7).is_multiple_of(41) {
            part.own.pos = Some(at((tick % 3) as i32 * 24 - 24, id as i32 % 50 - 25));
        }
        if (tick + id).is_multiple_of(29) {
            part.own.text = Some(format!("tick {tick}"));
        }
        Ok(part)
    }
}

fn thing(at: Vec2, half: i32, motion: Motion, scripts: Vec<ScriptSpec>) -> ObjectSpec {
    let half = Vec2::new(Fx::from_ratio(half.into(), 2), Fx::from_ratio(half.into(), 2));
    ObjectSpec {
        kind: "thing".to_owned(),
        name: "a thing with a long name".to_owned(),
        owner: None,
        look: Look::default(),
        text: String::new(),
        body: BodySpec::new(Shape::Rect { half }, motion, at),
        scripts,
        licence: AssetLicence::default(),
        spawner: None,
        seat: None,
    }
}

/// A town with so many things at rest and so many towers, the last one far away.
pub(crate) fn genesis(things: i32, towers: i32) -> (Genesis, Tools) {
    let package = Package::build(Draft {
        name: "restless".to_owned(),
        version: "1.0.0".to_owned(),
        api: 1,
        entry: "main.rhai".to_owned(),
        files: BTreeMap::from([("main.rhai".to_owned(), b"fn on_start() {}\n".to_vec())]),
        licence: "AGPL-3.0-or-later".to_owned(),
        authors: vec![PackageAuthor { name: "A Tester".to_owned(), key: None }],
        ..Draft::default()
    })
    .expect("a package");
    let id = package.id();
    let script = || vec![ScriptSpec { package: id, state: ScriptState::default() }];
    let restless = (0..6).map(|n| thing(at(n * 9 - 27, 40), 1, Motion::Kinematic, script()));
    let grid = (0..things).map(|n| {
        let place = at(n % 24 * 5 - 60, n / 24 * 5 - 60);
        let motion = if n % 3 == 0 { Motion::Dynamic } else { Motion::Static };
        // A crowded town is full of words as well.
        let text = if things > 500 { "words ".repeat(40) } else { String::new() };
        ObjectSpec { text, ..thing(place, 1, motion, Vec::new()) }
    });
    let towers = (1..=towers).map(|n| {
        let x = if n == towers && n > 1 { -600 } else { 150 };
        thing(at(x, n * 4 - 4), 20, Motion::Static, Vec::new())
    });
    let genesis = Genesis {
        name: "town".to_owned(),
        admins: BTreeSet::from([key(100).public()]),
        validators: BTreeMap::from([(key(200).public(), NodeContact::default())]),
        packages: BTreeMap::from([(id, package.encode())]),
        objects: restless.chain(grid).chain(towers).collect(),
        licence: "AGPL-3.0-or-later".to_owned(),
        asset_licence: "CC-BY-SA-4.0".to_owned(),
        ..Genesis::empty()
    };
    let ports: BTreeMap<PackageId, Arc<dyn Handler>> =
        BTreeMap::from([(id, Arc::new(Restless(id)) as Arc<dyn Handler>)]);
    (genesis, Tools { stand_ins: ports, ..Tools::new(Arc::new(Ed25519)) })
}

/// The entries of a tile after some turn.
pub(crate) type Entries = BTreeMap<ObjectId, Vec<u8>>;

/// Every entry after some turn.
pub(crate) type Snapshot = BTreeMap<Tile, Entries>;

/// The turns of a town, its history, and its servers.
pub(crate) struct Town {
    seqs: BTreeMap<u8, u64>,
    acts: Vec<SignedEnvelope>,
    turns: Vec<Turn>,
    pub(crate) servers: Vec<Server>,
    pub(crate) history: BTreeMap<Height, Snapshot>,
    pub(crate) headers: BTreeMap<Height, Header>,
}

/// One server, which may lag.
pub(crate) struct Server {
    pub(crate) world: World,
    pub(crate) views: Views,
    lag: usize,
}

impl Town {
    /// Servers that apply each turn so many turns late; the first one never lags.
    pub(crate) fn new(things: i32, lags: &[usize]) -> Self {
        Self::found(things, 1, lags)
    }

    /// One server, and so many towers.
    pub(crate) fn with_towers(towers: i32) -> Self {
        Self::found(0, towers, &[0])
    }

    /// One server, and discs with these radii far from the middle, which have the first numbers.
    pub(crate) fn with_discs(radii: &[Fx]) -> Self {
        let (mut town, tools) = genesis(0, 0);
        let disc = |(n, radius): (i32, &Fx)| {
            let mut disc = thing(at(150, n * 20), 1, Motion::Static, Vec::new());
            disc.body.shape = Shape::Circle { radius: *radius };
            disc
        };
        town.objects = (0..).zip(radii).map(disc).collect();
        Self::of(&town, &tools, &[0])
    }

    fn found(things: i32, towers: i32, lags: &[usize]) -> Self {
        let (genesis, tools) = genesis(things, towers);
        Self::of(&genesis, &tools, lags)
    }

    fn of(genesis: &Genesis, tools: &Tools, lags: &[usize]) -> Self {
        let world = World::genesis(genesis, tools).expect("a good genesis");
        let server = |lag: &usize| Server {
            world: world.clone(),
            views: Views::new(world.height(), 20),
            lag: *lag,
        };
        Self {
            seqs: BTreeMap::new(),
            acts: Vec::new(),
            turns: Vec::new(),
            servers: lags.iter().map(server).collect(),
            history: BTreeMap::new(),
            headers: BTreeMap::new(),
        }
    }

    pub(crate) fn height(&self) -> Height {
        self.servers[0].world.height()
    }

    pub(crate) fn act(&mut self, n: u8, act: Act) {
        let (sim, last_valid) = (self.servers[0].world.sim(), self.height().plus(100));
        let seq = self.seqs.entry(n).or_default();
        *seq += 1;
        let (author, lane, seq) = (key(n).public(), Lane(1), Seq(*seq));
        let envelope = Envelope { sim, author, lane, seq, last_valid, act };
        self.acts.push(envelope.sign(&key(n)));
    }

    pub(crate) fn login(&mut self, n: u8) {
        self.act(n, Act::login(format!("walker {n}"), Look::default()));
    }

    /// Decides the acts so far as a turn. Gives the frames that the servers send, by server.
    pub(crate) fn play(&mut self) -> Vec<Vec<(metatopia_replica::ClientId, Vec<u8>)>> {
        let turn = self.turn();
        self.turns.push(turn);
        let mut frames = Vec::new();
        for server in &mut self.servers {
            let next = server.world.height().0 as usize;
            let due = next + server.lag < self.turns.len();
            let turn = self.turns.get(next).filter(|_| due);
            frames.push(turn.map(|turn| server.play(turn, &self.headers)).unwrap_or_default());
        }
        let (height, world) = (self.height(), &self.servers[0].world);
        let all = world.objects().filter_map(|seen| Some((seen.id, world.entry(seen.id)?)));
        let mut snapshot = Snapshot::new();
        for (id, (tile, entry)) in all {
            snapshot.entry(tile).or_default().insert(id, entry.to_vec());
        }
        self.history.insert(height, snapshot);
        frames
    }

    fn turn(&mut self) -> Turn {
        let body =
            TurnBody::new(core::mem::take(&mut self.acts), Vec::new()).expect("a small turn");
        let height = self.height().plus(1);
        let world = &self.servers[0].world;
        let header = Header {
            sim: world.sim(),
            engine: ENGINE,
            height,
            proposer: key(200).public(),
            time: Millis(1_700_000_000_000 + 50 * height.0),
            // The root that the header two heights later states; kept here by the state's height.
            root: world.root(),
            ..Header::unstated()
        };
        let (before, turn) = (world.height(), Turn::of(header, body));
        self.headers.insert(before, turn.header.clone());
        turn
    }
}

impl Server {
    fn play(
        &mut self,
        turn: &Turn,
        headers: &BTreeMap<Height, Header>,
    ) -> Vec<(metatopia_replica::ClientId, Vec<u8>)> {
        let applied: Applied = self.world.apply(turn, &Serial);
        let mut frames = self.views.turn(&self.world, &applied);
        let of = Height(applied.height.0.saturating_sub(2));
        if let Some(header) = headers.get(&of) {
            let certificate = Certificate {
                height: of.plus(2),
                round: Round(0),
                header: header.id(),
                signatures: Vec::new(),
            };
            frames.extend(self.views.prove(of, header, &certificate));
        }
        frames
    }

    /// Forgets all clients, and what changed so far.
    pub(crate) fn restart(&mut self) {
        self.views = Views::new(self.world.height(), 20);
    }

    pub(crate) fn avatar(&self, n: u8) -> Option<ObjectId> {
        let key: PublicKey = key(n).public();
        self.world.avatar(&key)
    }
}
