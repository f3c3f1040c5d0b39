//! What views cost: bytes a second for each client, and time on the server, in a plaza full of
//! walkers.
//!
//! ```text
//! cargo run --release -p metatopia-simulator --example views -- [walkers] [seconds] [bytes a second]
//! ```

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::{Duration, Instant},
};

use metatopia_math::{Fx, Stream, Vec2};
use metatopia_protocol::{
    BYTES_PER_SECOND, PROOF_TURNS, ServerMessage, TileName, View, Watching, decode_server,
};
use metatopia_replica::{ClientId, views::Views};
use metatopia_scenarios::plaza;
use metatopia_sim::{ENGINE, Serial, Tile, Tools, World};
use metatopia_types::{
    Act, Certificate, Ed25519, Envelope, Header, Lane, Look, Millis, NodeContact, Seq, Sign,
    Signature, SignedEnvelope, SigningKey, Turn, TurnBody, wire,
};

/// Turns of a second.
const TURNS: u64 = 20;

/// Seconds that are not counted: everybody arrives and gets the whole tiles.
const ARRIVAL: u64 = 10;

struct Plaza {
    world: World,
    walkers: Vec<SigningKey>,
    servers: Vec<SigningKey>,
    dice: Stream,
    seq: u64,
}

impl Plaza {
    fn new(walkers: u64) -> Self {
        let key = |kind: u8, n: u64| {
            let mut seed = [kind; 32];
            seed[..8].copy_from_slice(&n.to_le_bytes());
            SigningKey::from_seed(seed)
        };
        let servers: Vec<SigningKey> = (0..4).map(|n| key(2, n)).collect();
        let contacts = servers.iter().map(|key| (key.public(), NodeContact::default()));
        let genesis = plaza::genesis(contacts.collect(), BTreeSet::new());
        let world = World::genesis(&genesis, &Tools::new(Arc::new(Ed25519))).expect("the plaza");
        let walkers = (0..walkers).map(|n| key(1, n)).collect();
        Self { world, walkers, servers, dice: Stream::new(&[7; 32], "walks", &[]), seq: 0 }
    }

    /// Arrives within the first second, and then takes another way about once a second.
    fn acts(&mut self) -> Vec<SignedEnvelope> {
        let height = self.world.height().plus(1);
        self.seq += 1;
        let mut acts = Vec::new();
        for (n, key) in (0_u64..).zip(&self.walkers) {
            let arrives = height.0 == 1 + n % TURNS;
            if !arrives && self.dice.below(TURNS) > 0 {
                continue;
            }
            let mut part = || self.dice.fx_between(Fx::from_int(-1), Fx::ONE);
            let act = match arrives {
                true => Act::login(format!("walker {n}"), Look::default()),
                false => Act::Walk { heading: Vec2::new(part(), part()) },
            };
            let (sim, author, lane) = (self.world.sim(), key.public(), Lane(1));
            let (seq, last_valid) = (Seq(self.seq), height.plus(10));
            acts.push(Envelope { sim, author, lane, seq, last_valid, act }.sign(key));
        }
        acts
    }

    fn turn(&mut self) -> Turn {
        let body = TurnBody::new(self.acts(), Vec::new()).expect("a small turn");
        let height = self.world.height().plus(1);
        let header = Header {
            sim: self.world.sim(),
            engine: ENGINE,
            height,
            proposer: self.servers[0].public(),
            time: Millis(1_700_000_000_000 + 50 * height.0),
            root: self.world.root(),
            ..Header::unstated()
        };
        Turn::of(header, body)
    }

    fn certificate(&self, header: &Header) -> Certificate {
        let (height, round, header) = (header.height, header.round, header.id());
        let signatures =
            self.servers.iter().map(|key| (key.public(), Signature::from_bytes([7; 64])));
        Certificate { height, round, header, signatures: signatures.collect() }
    }
}

/// Sums over all clients.
#[derive(Default)]
struct Sums {
    views: usize,
    proofs: usize,
    moved: usize,
    entries: usize,
    full: usize,
    tiles: usize,
    busy: Duration,
    slowest: Duration,
}

impl Sums {
    fn count(
        &mut self,
        frame: &[u8],
        world: &World,
        sight: &mut BTreeSet<TileName>,
    ) -> Option<View> {
        match decode_server(frame) {
            Ok(ServerMessage::View(view)) => {
                self.views += frame.len();
                for update in &view.tiles {
                    self.moved += wire::encode(&update.moved).len();
                    self.entries += wire::encode(&update.entries).len();
                    sight.insert(update.tile);
                }
                sight.retain(|tile| !view.left.contains(tile));
                let tile = |name: &TileName| Tile { x: name.x.into(), y: name.y.into() };
                let whole = sight.iter().flat_map(|name| world.entries(tile(name)));
                self.full += whole.map(|(_, entry)| entry.len()).sum::<usize>();
                self.tiles += sight.len();
                Some(*view)
            }
            _ => {
                self.proofs += frame.len();
                None
            }
        }
    }
}

fn main() {
    let mut words = std::env::args().skip(1).map(|word| word.parse().expect("a number"));
    let walkers: u64 = words.next().unwrap_or(50);
    let seconds: u64 = words.next().unwrap_or(20);
    let bytes_per_second =
        words.next().map_or(*BYTES_PER_SECOND.end(), |bytes| u32::try_from(bytes).unwrap_or(0));
    let mut plaza = Plaza::new(walkers);
    let mut views = Views::new(plaza.world.height(), TURNS as u32);
    for (n, key) in (0..).zip(&plaza.walkers) {
        let watching =
            Watching { bytes_per_second, turns_apart: 1, proofs: true, at: None, have: Vec::new() };
        views.watch(ClientId(n), key.public(), Some(&watching)).expect("nothing is had");
    }
    let (mut sums, mut sight) = (Sums::default(), BTreeMap::new());
    let mut arrival = 0;
    for turn in 0..(ARRIVAL + seconds) * TURNS {
        if turn == ARRIVAL * TURNS {
            arrival = sums.views + sums.proofs;
            sums = Sums::default();
        }
        let decided = plaza.turn();
        let applied = plaza.world.apply(&decided, &Serial);
        let certificate = plaza.certificate(&decided.header);
        let since = Instant::now();
        let mut frames = views.turn(&plaza.world, &applied);
        if applied.height.0.is_multiple_of(PROOF_TURNS) {
            frames.extend(views.prove(applied.height, &decided.header, &certificate));
        }
        let took = since.elapsed();
        sums.busy += took;
        sums.slowest = sums.slowest.max(took);
        for (client, frame) in frames {
            let sight = sight.entry(client).or_default();
            if let Some(view) = sums.count(&frame, &plaza.world, sight) {
                views.seen(client, view.number).expect("it was sent");
            }
        }
    }
    let each = |bytes: usize| bytes as f64 / walkers as f64 / seconds as f64;
    let turns = (seconds * TURNS) as f64;
    println!("{walkers} walkers, each a client with {bytes_per_second} bytes a second at most");
    println!(
        "arrival                {:9.0} bytes each in {ARRIVAL} s",
        arrival as f64 / walkers as f64
    );
    println!("views                  {:9.0} bytes a second each", each(sums.views));
    println!("  of it movements      {:9.0}", each(sums.moved));
    println!("  of it whole entries  {:9.0}", each(sums.entries));
    println!("proofs                 {:9.0} bytes a second each", each(sums.proofs));
    println!("all                    {:9.0}", each(sums.views + sums.proofs));
    println!("full states instead    {:9.0}", each(sums.full));
    println!("tiles in sight         {:9.1}", sums.tiles as f64 / turns / walkers as f64);
    let micros = sums.busy.as_secs_f64() * 1e6 / turns;
    println!(
        "server                 {micros:9.0} us a turn, {:.1} us per client and turn",
        micros / walkers as f64
    );
    println!("slowest turn           {:9.0} us", sums.slowest.as_secs_f64() * 1e6);
}
