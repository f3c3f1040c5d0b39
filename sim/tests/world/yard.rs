//! A small yard to test in: a crate, a wall, and things with scripts written in Rust.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use metatopia_math::{Fx, Vec2};
use metatopia_physics::{BodySpec, Motion, Shape};
use metatopia_scripting::{
    Call, Draft, EventKind, Handler, Package, PackageAuthor, ScriptError, ScriptOutput, ScriptState,
};
use metatopia_sim::{
    Applied, ENGINE, ForkJoin, Genesis, ObjectSpec, Register, ScriptSpec, Serial, Tools, World,
};
use metatopia_types::{
    Act, AssetLicence, Blob, Digest, Ed25519, Envelope, Header, HeaderId, Lane, Look, Millis,
    NodeContact, ObjectId, Outcome, PackageId, PublicKey, Round, Seq, Sign, Signature,
    SignedEnvelope, SigningKey, Turn, TurnBody, limits::EXPIRY_HEIGHTS_MAX,
};

pub(crate) const T0: u64 = 1_700_000_000_000;

/// A key that only depends on `n`.
pub(crate) fn key(n: u8) -> SigningKey {
    SigningKey::from_seed([n; 32])
}

pub(crate) fn public(n: u8) -> PublicKey {
    key(n).public()
}

/// What a script in Rust does with an event.
pub(crate) type Reaction = fn(&Call<'_>) -> Result<ScriptOutput, ScriptError>;

struct Port {
    package: PackageId,
    kinds: Vec<EventKind>,
    reaction: Reaction,
}

impl Handler for Port {
    fn package(&self) -> PackageId {
        self.package
    }

    fn handles(&self, kind: EventKind) -> bool {
        self.kinds.contains(&kind)
    }

    fn call(&self, call: &Call<'_>) -> Result<ScriptOutput, ScriptError> {
        (self.reaction)(call)
    }
}

/// Returns a package of one file that keeps all rules.
pub(crate) fn package(name: &str, source: &str) -> Package {
    Package::build(Draft {
        name: name.to_owned(),
        version: "1.0.0".to_owned(),
        api: 1,
        entry: "main.rhai".to_owned(),
        files: BTreeMap::from([("main.rhai".to_owned(), source.as_bytes().to_vec())]),
        licence: "AGPL-3.0-or-later".to_owned(),
        authors: vec![PackageAuthor { name: "A Tester".to_owned(), key: None }],
        ..Draft::default()
    })
    .unwrap_or_else(|error| panic!("package {name}: {error}"))
}

/// Builds the genesis of a yard.
pub(crate) struct Builder {
    pub(crate) genesis: Genesis,
    ports: BTreeMap<PackageId, Arc<dyn Handler>>,
}

impl Builder {
    /// Four validators (keys 201 to 204), the admin 100, and nothing on the ground.
    pub(crate) fn new() -> Self {
        let contact = |n: u8| NodeContact {
            peer_id: format!("peer{n}"),
            address: format!("/ip4/127.0.0.1/tcp/{n}"),
        };
        let genesis = Genesis {
            name: "yard".to_owned(),
            admins: BTreeSet::from([public(100)]),
            validators: (201..=204).map(|n| (public(n), contact(n))).collect(),
            licence: "AGPL-3.0-or-later".to_owned(),
            asset_licence: "CC-BY-SA-4.0".to_owned(),
            ..Genesis::empty()
        };
        Self { genesis, ports: BTreeMap::new() }
    }

    /// A package whose source nobody runs: `reaction` stands for it.
    pub(crate) fn port(
        &mut self,
        name: &str,
        kinds: &[EventKind],
        reaction: Reaction,
    ) -> PackageId {
        let package = self.package(name, "fn on_start() {}\n");
        let kinds = kinds.to_vec();
        self.ports.insert(package, Arc::new(Port { package, kinds, reaction }));
        package
    }

    /// A package that runs from its source.
    pub(crate) fn package(&mut self, name: &str, source: &str) -> PackageId {
        let package = package(name, source);
        self.genesis.packages.insert(package.id(), package.encode());
        package.id()
    }

    /// A thing of one square metre; gives its id.
    pub(crate) fn thing(
        &mut self,
        motion: Motion,
        at: (i32, i32),
        scripts: &[PackageId],
    ) -> ObjectId {
        let half = Vec2::new(Fx::HALF, Fx::HALF);
        let place = Vec2::new(Fx::from_int(at.0), Fx::from_int(at.1));
        let mut body = BodySpec::new(Shape::Rect { half }, motion, place);
        body.mass = Fx::from_int(30);
        body.linear_damping = Fx::from_int(3);
        body.angular_damping = Fx::from_int(3);
        self.genesis.objects.push(ObjectSpec {
            kind: "thing".to_owned(),
            name: format!("thing {}", self.genesis.objects.len() + 1),
            owner: None,
            look: Look::default(),
            text: String::new(),
            body,
            scripts: scripts
                .iter()
                .map(|package| ScriptSpec { package: *package, state: ScriptState::default() })
                .collect(),
            licence: AssetLicence::default(),
            spawner: None,
            seat: None,
        });
        ObjectId(self.genesis.objects.len() as u64)
    }

    pub(crate) fn tools(&self) -> Tools {
        Tools { stand_ins: self.ports.clone(), ..Tools::new(Arc::new(Ed25519)) }
    }

    pub(crate) fn build(&self) -> Yard {
        let world = World::genesis(&self.genesis, &self.tools())
            .unwrap_or_else(|error| panic!("genesis: {error}"));
        Yard::of(world)
    }
}

impl Yard {
    /// A yard that goes on from this world, which is at height 0.
    pub(crate) fn of(world: World) -> Self {
        Self {
            world,
            seqs: BTreeMap::new(),
            pending: Vec::new(),
            blobs: Vec::new(),
            log: Vec::new(),
            turn_ms: 50,
        }
    }
}

/// A yard being played in, one turn after the other.
pub(crate) struct Yard {
    pub(crate) world: World,
    seqs: BTreeMap<(u8, u64), u64>,
    pending: Vec<SignedEnvelope>,
    blobs: Vec<Blob>,
    pub(crate) log: Vec<Turn>,
    /// Time that one turn takes.
    pub(crate) turn_ms: u64,
}

impl Yard {
    /// Adds an act of player `n` in lane 1 to the next turn; gives the act.
    pub(crate) fn act(&mut self, n: u8, act: Act) -> SignedEnvelope {
        self.act_in(n, 1, act)
    }

    pub(crate) fn act_in(&mut self, n: u8, lane: u64, act: Act) -> SignedEnvelope {
        let seq = self.seqs.entry((n, lane)).or_default();
        *seq += 1;
        let envelope = Envelope {
            sim: self.world.sim(),
            author: public(n),
            lane: Lane(lane),
            seq: Seq(*seq),
            last_valid: self.world.height().plus(EXPIRY_HEIGHTS_MAX),
            act,
        };
        let signed = envelope.sign(&key(n));
        self.pending.push(signed.clone());
        signed
    }

    /// Adds an act of any key, which nobody signed: who applies a turn leaves signatures to those
    /// who judged it.
    pub(crate) fn unsigned(&mut self, author: PublicKey, seq: u64, act: Act) {
        let (sim, lane, seq) = (self.world.sim(), Lane(1), Seq(seq));
        let last_valid = self.world.height().plus(1);
        let envelope = Envelope { sim, author, lane, seq, last_valid, act };
        self.pending.push(SignedEnvelope { envelope, signature: Signature::from_bytes([0; 64]) });
    }

    pub(crate) fn login(&mut self, n: u8) -> SignedEnvelope {
        self.act(n, Act::login(format!("player {n}"), Look::default()))
    }

    pub(crate) fn say(&mut self, n: u8, channel: u8, text: &str) -> SignedEnvelope {
        let blob = Blob(text.as_bytes().to_vec());
        let body = blob.id();
        self.blobs.push(blob);
        self.act(n, Act::Say { channel, body })
    }

    /// Adds an act that names a blob.
    pub(crate) fn act_with(&mut self, n: u8, act: Act, blob: Blob) -> SignedEnvelope {
        self.blobs.push(blob);
        self.act(n, act)
    }

    /// Adds an act that publishes these bytes.
    pub(crate) fn publish(&mut self, n: u8, bytes: Vec<u8>) -> SignedEnvelope {
        let blob = Blob(bytes);
        let source = blob.id();
        self.blobs.push(blob);
        self.act(n, Act::Publish { source })
    }

    /// Adds an act with this blob, which is an order for a land office.
    pub(crate) fn order(&mut self, n: u8, blob: Blob) -> SignedEnvelope {
        let order = blob.id();
        self.blobs.push(blob);
        self.act(n, Act::Land { order })
    }

    /// Adds an act of any key with this order, which nobody signed.
    pub(crate) fn unsigned_order(&mut self, author: PublicKey, seq: u64, blob: Blob) {
        let order = blob.id();
        self.blobs.push(blob);
        self.unsigned(author, seq, Act::Land { order });
    }

    /// The turn that the acts so far make.
    pub(crate) fn turn(&mut self) -> Turn {
        let acts = core::mem::take(&mut self.pending);
        let body = TurnBody::new(acts, core::mem::take(&mut self.blobs)).expect("a small turn");
        let height = self.world.height().plus(1);
        let header = Header {
            sim: self.world.sim(),
            engine: ENGINE,
            height,
            previous: self.log.last().map_or(HeaderId::BEFORE_FIRST, Turn::id),
            proposer: self
                .world
                .validators(height)
                .map(|set| set.proposer(height, Round(0)))
                .expect("a set for the next height"),
            time: Millis(T0 + self.turn_ms * height.0),
            ..Header::unstated()
        };
        Turn::of(header, body)
    }

    /// Applies the acts so far as a turn.
    pub(crate) fn play(&mut self) -> Applied {
        self.play_with(&Serial)
    }

    pub(crate) fn play_with(&mut self, exec: &dyn ForkJoin) -> Applied {
        let turn = self.turn();
        let is_login = |act: &SignedEnvelope| matches!(act.envelope.act, Act::Login { .. });
        let few = (1..=32).contains(&turn.body.acts().iter().filter(|act| is_login(act)).count());
        let register = few.then(|| Register::of(&self.world));
        let applied = self.world.apply(&turn, exec);
        // A server that was just started judges the next turn as one that never stopped.
        if let Some(mut register) = register {
            register.renew(&turn, &self.world);
            assert_eq!(
                register,
                Register::of(&self.world),
                "standings after {}",
                turn.header.height
            );
        }
        self.log.push(turn);
        applied
    }

    /// Applies so many turns without acts; gives the last one's result.
    pub(crate) fn idle(&mut self, turns: u64) -> Applied {
        let mut last = self.play();
        (1..turns).for_each(|_| last = self.play());
        last
    }

    /// Returns what became of an act of the turn that was played last.
    pub(crate) fn outcome(&self, act: &SignedEnvelope) -> Outcome {
        let outcomes = self.world.outcomes(self.world.height()).expect("the last turn's");
        let found = outcomes.iter().find(|(id, _)| *id == act.id());
        found.map(|(_, outcome)| *outcome).expect("the act is in the last turn")
    }

    /// Plays one act alone; gives what became of it.
    pub(crate) fn try_act(&mut self, n: u8, act: Act) -> Outcome {
        let act = self.act(n, act);
        self.play();
        self.outcome(&act)
    }

    pub(crate) fn avatar(&self, n: u8) -> ObjectId {
        self.world.avatar(&public(n)).unwrap_or_else(|| panic!("player {n} is not here"))
    }

    /// Lets a player walk to so near a place, from wherever the dice let it appear.
    pub(crate) fn walk_to(&mut self, n: u8, to: Vec2) {
        for _ in 0..400 {
            let way = to.saturating_sub(self.position(self.avatar(n)));
            if way.length() <= Fx::HALF {
                self.act(n, Act::Walk { heading: Vec2::ZERO });
                self.idle(10);
                return;
            }
            self.act(n, Act::Walk { heading: way });
            self.play();
        }
        panic!("player {n} does not come to {to:?}");
    }

    /// Checks that the state is what its leaves say, and that a server that joins now has the same.
    #[track_caller]
    pub(crate) fn check_leaves(&self) {
        let root = self.world.root();
        assert_eq!(root, self.world.rehash());
        let tools = Tools::new(Arc::new(Ed25519));
        let again = World::from_snapshot(&self.world.snapshot(), root, &tools);
        let again = again.expect("its own snapshot");
        assert_eq!(again.root(), root);
        // Two servers with other indexes go on in other ways.
        for (index, read) in self.world.indexes().into_iter().zip(again.indexes()) {
            assert_eq!(index, read);
        }
    }

    pub(crate) fn position(&self, id: ObjectId) -> Vec2 {
        self.world.object(id).unwrap_or_else(|| panic!("object {id} is gone")).position
    }
}

/// Runs jobs in an order that a seed decides.
pub(crate) struct Shuffled(pub(crate) u64);

impl ForkJoin for Shuffled {
    fn run(&self, count: usize, job: &(dyn Fn(usize) + Sync)) {
        let mut order: Vec<usize> = (0..count).collect();
        let key = Digest::of("shuffled jobs", &self.0.to_le_bytes());
        metatopia_math::Stream::new(&key.0, "jobs", &[count as u64]).shuffle(&mut order);
        order.into_iter().for_each(job);
    }
}

/// Runs jobs from the last to the first.
pub(crate) struct Backwards;

impl ForkJoin for Backwards {
    fn run(&self, count: usize, job: &(dyn Fn(usize) + Sync)) {
        (0..count).rev().for_each(job);
    }
}

pub(crate) fn vec2(x: i32, y: i32) -> Vec2 {
    Vec2::new(Fx::from_int(x), Fx::from_int(y))
}
