//! A town: sims side by side, each with servers that sign, and the dispatches that it can show.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::{Arc, LazyLock},
};

use metatopia_math::{Fx, Vec2};
use metatopia_sim::{
    Applied, Area, ENGINE, Genesis, Parameters, Register, Serial, Tools, World, WorldObject,
};
use metatopia_types::{
    Act, Blob, BorderDeparture, BorderOrder, Certificate, Digest, Dispatch, DispatchedState,
    Ed25519, Envelope, Header, HeaderId, Height, Lane, Link, Look, Millis, ObjectId, Origin,
    Outcome, Parcel, PublicKey, Root, Round, Seq, SetChange, Sign, Signature, SignedEnvelope,
    SigningKey, SimId, Site, Square, StateProof, Traveller, Turn, TurnBody, ValidatorSet,
    limits::ROOT_LAG, said_key,
};

pub(crate) const ADMIN: u8 = 250;

/// All keys of these tests, by their numbers: to make a key takes as long as many turns.
static PUBLIC: LazyLock<Vec<PublicKey>> =
    LazyLock::new(|| (0..=u8::MAX).map(|n| key(n).public()).collect());

/// The same keys, to sign with.
static KEYS: LazyLock<BTreeMap<PublicKey, SigningKey>> =
    LazyLock::new(|| (0..=u8::MAX).map(|n| (public(n), key(n))).collect());

fn key(n: u8) -> SigningKey {
    SigningKey::from_seed([n; 32])
}

pub(crate) fn public(n: u8) -> PublicKey {
    PUBLIC[usize::from(n)]
}

pub(crate) fn at(x: i32, y: i32) -> Vec2 {
    Vec2::new(Fx::from_int(x), Fx::from_int(y))
}

/// The world that all of them lie in.
pub(crate) fn world_id() -> SimId {
    SimId(Digest::of("a test's world", b"town"))
}

/// What a state says to each neighbour, with its proof and its parcels.
struct SaidState {
    root: Root,
    said: BTreeMap<SimId, (StateProof, Vec<Vec<u8>>)>,
}

impl SaidState {
    fn of(world: &World) -> Self {
        let neighbours = world.borders().into_iter().map(|border| border.neighbour);
        let said = |to: SimId| {
            let proof = world.proof(&said_key(to)).expect("a border has its leaf");
            (to, (proof, world.parcels(to).map(<[u8]>::to_vec).collect()))
        };
        Self { root: world.root(), said: neighbours.map(said).collect() }
    }
}

/// A sim that is played, turn after turn.
pub(crate) struct Place {
    pub(crate) world: World,
    pub(crate) genesis: Genesis,
    /// The clock of its servers: no two sims agree.
    pub(crate) time: u64,
    last: HeaderId,
    seqs: BTreeMap<(PublicKey, u64), u64>,
    pending: Vec<SignedEnvelope>,
    blobs: Vec<Blob>,
    /// What the states say that no header proves yet.
    states: VecDeque<SaidState>,
    /// Every change of who votes.
    pub(crate) links: Vec<Link>,
    /// The newest header with its certificate, and the state that it proves.
    proved: Option<(Header, Certificate, SaidState)>,
    acts: Vec<SignedEnvelope>,
    /// Another server, which was restored a while ago and applies the same turns.
    pub(crate) twin: Option<World>,
    /// The standing of all players, as a server keeps it that never stopped.
    register: Register,
}

/// Returns the genesis of a sim of 64 m at so many squares to the east, with so many servers.
pub(crate) fn genesis(column: i32, servers: u8) -> Genesis {
    let square = Square { x: 2 * column, y: 0, doublings: 0 };
    let first = 100 + 10 * u8::try_from(column).expect("a few columns");
    let mut parameters = Parameters { ground: Area::of_square(square), ..Parameters::default() };
    parameters.avatar.spawn = at(if column == 0 { 26 } else { -26 }, 0);
    parameters.avatar.speed = Fx::from_int(8);
    parameters.things_from_servers = 1;
    Genesis {
        name: format!("place {column}"),
        site: Some(Site { world: world_id(), square }),
        admins: BTreeSet::from([public(ADMIN)]),
        validators: (first..first + servers).map(|n| (public(n), Default::default())).collect(),
        parameters,
        licence: "AGPL-3.0-or-later".to_owned(),
        asset_licence: "CC-BY-SA-4.0".to_owned(),
        ..Genesis::empty()
    }
}

impl Place {
    pub(crate) fn new(genesis: Genesis, time: u64) -> Self {
        let tools = Tools::new(Arc::new(Ed25519));
        let world = World::genesis(&genesis, &tools).expect("a genesis");
        let register = Register::of(&world);
        Self {
            world,
            genesis,
            time,
            last: HeaderId::BEFORE_FIRST,
            seqs: BTreeMap::new(),
            pending: Vec::new(),
            blobs: Vec::new(),
            states: VecDeque::new(),
            links: Vec::new(),
            proved: None,
            acts: Vec::new(),
            twin: None,
            register,
        }
    }

    pub(crate) fn id(&self) -> SimId {
        self.world.sim()
    }

    /// Adds an act to the next turn. Whoever applies a turn leaves signatures to those who judged it.
    pub(crate) fn act(&mut self, author: PublicKey, lane: u64, act: Act) -> SignedEnvelope {
        let seq = self.seqs.entry((author, lane)).or_default();
        *seq += 1;
        let envelope = Envelope {
            sim: self.world.sim(),
            author,
            lane: Lane(lane),
            seq: Seq(*seq),
            last_valid: self.world.height().plus(100),
            act,
        };
        let act = SignedEnvelope { envelope, signature: Signature::from_bytes([0; 64]) };
        self.pending.push(act.clone());
        act
    }

    pub(crate) fn login(&mut self, person: PublicKey) {
        // A name belongs to one player of a sim.
        let name = format!("walker {}", &person.to_string()[..12]);
        self.act(person, 1, Act::login(name, Look::default()));
    }

    /// Adds an act that names a blob.
    pub(crate) fn with_blob(&mut self, author: PublicKey, act: Act, blob: Blob) -> SignedEnvelope {
        self.blobs.push(blob);
        self.act(author, 1, act)
    }

    /// Adds what the admin, who is logged in, says is an order about a border.
    pub(crate) fn blob_order(&mut self, blob: Blob) -> SignedEnvelope {
        self.with_blob(public(ADMIN), Act::Border { order: blob.id() }, blob)
    }

    /// Adds an order of the admin.
    pub(crate) fn order(&mut self, order: &BorderOrder) -> SignedEnvelope {
        self.blob_order(order.blob())
    }

    /// Has the admin remove the last server from those who vote.
    pub(crate) fn remove_server(&mut self) {
        let members = self.world.roster().members();
        let key = *members.keys().next_back().expect("a server");
        self.act(public(ADMIN), 1, Act::SetChange(SetChange::Remove { key }));
    }

    /// Goes on with what a server reads from a snapshot after a crash.
    pub(crate) fn restore(&mut self) {
        let (root, tools) = (self.world.root(), self.world.tools().clone());
        let restored = World::from_snapshot(&self.world.snapshot(), root, &tools);
        let restored = restored.expect("what was just written");
        assert_eq!(restored.indexes(), self.world.indexes());
        self.world = restored;
    }

    /// Starts another server from a snapshot, which goes on beside this one.
    pub(crate) fn start_twin(&mut self) {
        let (root, tools) = (self.world.root(), self.world.tools().clone());
        let restored = World::from_snapshot(&self.world.snapshot(), root, &tools);
        self.twin = Some(restored.expect("what was just written"));
    }

    /// Returns who proposes the next turn.
    pub(crate) fn proposer(&self) -> PublicKey {
        let height = self.world.height().plus(1);
        self.world.validators(height).expect("a set").proposer(height, Round(0))
    }

    /// Adds what the proposer of the next turn heard of a neighbour.
    pub(crate) fn hear(&mut self, neighbour: SimId, dispatch: &Dispatch) -> SignedEnvelope {
        let (proposer, blob) = (self.proposer(), dispatch.blob());
        self.with_blob(proposer, Act::Hear { neighbour, dispatch: blob.id() }, blob)
    }

    /// Plays a turn of so many milliseconds.
    pub(crate) fn play(&mut self, ms: u64) -> Applied {
        self.time += ms;
        let height = self.world.height().plus(1);
        let set = self.world.validators(height).expect("a set").clone();
        let next = self.world.validators(height.plus(1)).expect("a set").clone();
        let acts = core::mem::take(&mut self.pending);
        let body = TurnBody::new(acts, core::mem::take(&mut self.blobs)).expect("a small turn");
        self.acts = body.acts().to_vec();
        let root = if height.0 > ROOT_LAG {
            self.states.front().expect("the state of two turns ago").root
        } else {
            self.world.root()
        };
        let header = Header {
            sim: self.world.sim(),
            engine: ENGINE,
            height,
            previous: self.last,
            proposer: set.proposer(height, Round(0)),
            time: Millis(self.time),
            root,
            validators: set.id(),
            next_validators: next.id(),
            ..Header::unstated()
        };
        let turn = Turn::of(header, body);
        let applied = self.world.apply(&turn, &Serial);
        if let Some(twin) = &mut self.twin {
            twin.apply(&turn, &Serial);
            assert_eq!(twin.root(), self.world.root(), "a restored server after {height}");
        }
        self.last = turn.id();
        // A server that was just started judges the next turn as one that never stopped.
        self.register.renew(&turn, &self.world);
        assert_eq!(self.register, Register::of(&self.world), "standings after {height}");
        let certificate = self.certify(&turn.header, &set);
        if set.id() != next.id() {
            let (header, certificate) = (turn.header.clone(), certificate.clone());
            self.links.push(Link { header, certificate, next: next.members().to_vec() });
        }
        if height.0 > ROOT_LAG {
            let state = self.states.pop_front().expect("the state of two turns ago");
            self.proved = Some((turn.header, certificate, state));
        }
        self.states.push_back(SaidState::of(&self.world));
        applied
    }

    /// Plays so many turns of 50 ms.
    pub(crate) fn idle(&mut self, turns: u64) {
        (0..turns).for_each(|_| drop(self.play(50)));
    }

    /// Signs a header as a quorum of a set.
    pub(crate) fn certify(&self, header: &Header, set: &ValidatorSet) -> Certificate {
        let mut certificate = Certificate {
            height: header.height,
            round: Round(0),
            header: header.id(),
            signatures: Vec::new(),
        };
        let mut power = 0;
        for member in set.members() {
            if power >= set.quorum() {
                break;
            }
            let signed = certificate.vote(member.key).sign_bytes(header.sim);
            let signature = KEYS[&member.key].sign(&signed);
            certificate.signatures.push((member.key, signature));
            power += u64::from(member.power);
        }
        certificate
    }

    /// Returns the newest dispatch to a neighbour, who followed the validator sets up to a height.
    pub(crate) fn dispatch(&self, to: SimId, followed: Height) -> Option<Dispatch> {
        let (header, certificate, state) = self.proved.as_ref()?;
        let (said, parcels) = state.said.get(&to)?.clone();
        let is_new =
            |link: &&Link| link.header.height > followed && link.header.height < header.height;
        Some(Dispatch {
            links: self.links.iter().filter(is_new).cloned().collect(),
            state: Some(DispatchedState {
                header: header.clone(),
                certificate: certificate.clone(),
                said,
                parcels,
            }),
        })
    }

    /// Returns what became of an act of the turn that was played last.
    pub(crate) fn outcome(&self, act: &SignedEnvelope) -> Outcome {
        let outcomes = self.world.outcomes(self.world.height()).expect("the last turn's");
        let found = outcomes.iter().find(|(id, _)| *id == act.id());
        found.map(|(_, outcome)| *outcome).expect("the act is in the last turn")
    }

    /// Returns who sits on a thing.
    pub(crate) fn sitter(&self, thing: ObjectId) -> Option<ObjectId> {
        let joints = self.world.joints();
        let mut ends = joints.iter().filter(|joint| joint.a == Some(thing)).map(|joint| joint.b);
        ends.find(|end| self.world.object(*end).is_some_and(|end| end.player.is_some()))
    }

    /// Returns where a person's avatar is.
    pub(crate) fn place_of(&self, person: &PublicKey) -> Option<Vec2> {
        Some(self.world.object(self.world.avatar(person)?)?.position)
    }

    /// The height up to which the sim followed a neighbour.
    pub(crate) fn followed(&self, neighbour: SimId) -> Height {
        self.world.border(&neighbour).expect("a border").followed
    }
}

/// Returns sims side by side from west to east, with borders open between those that touch, whose clocks are
/// days apart.
pub(crate) fn town(columns: i32, servers: u8) -> Vec<Place> {
    let start = |column: i32| 1_700_000_000_000 + 100_000_000 * column as u64;
    let geneses = (0..columns).map(|column| genesis(column, servers));
    let at_start = |(column, genesis)| Place::new(genesis, start(column));
    open_all((0..).zip(geneses).map(at_start).collect())
}

/// Returns sims of these geneses side by side, with borders open.
pub(crate) fn town_of(geneses: Vec<Genesis>) -> Vec<Place> {
    let start = |column: u64| 1_700_000_000_000 + 100_000_000 * column;
    open_all((0..).zip(geneses).map(|(n, genesis)| Place::new(genesis, start(n))).collect())
}

/// Returns where the portal of a sim is that leads to the next one on its eastern side, or on its western
/// one.
pub(crate) fn portal_to(is_east: bool) -> Vec2 {
    if is_east { at(20, 2) } else { at(-20, -2) }
}

/// Returns where the portal is from one sim to the next one; none if their squares, of two tiles, touch.
fn portal(own: &Genesis, other: &Genesis) -> Option<Vec2> {
    let x = |genesis: &Genesis| genesis.site.expect("a site").square.x;
    ((x(own) - x(other)).abs() != 2).then(|| portal_to(x(own) < x(other)))
}

/// Opens the borders between sims that follow each other.
fn open_all(mut town: Vec<Place>) -> Vec<Place> {
    for place in &mut town {
        place.login(public(ADMIN));
        place.play(50);
    }
    for west in 0..town.len().saturating_sub(1) {
        for (own, other) in [(west, west + 1), (west + 1, west)] {
            let head = Box::new(town[other].genesis.head());
            let portal = portal(&town[own].genesis, &town[other].genesis);
            let act = town[own].order(&BorderOrder::Open { head, offices: Vec::new(), portal });
            town[own].play(50);
            assert_eq!(town[own].outcome(&act), Outcome::Ok);
        }
    }
    town.iter_mut().for_each(|place| place.idle(3));
    town
}

/// Has a sim hear the newest word of another in its next turn.
pub(crate) fn tell(town: &mut [Place], from: usize, to: usize) -> Option<SignedEnvelope> {
    let (sender, receiver) = (town[from].id(), town[to].id());
    let followed = town[to].followed(sender);
    let dispatch = town[from].dispatch(receiver, followed)?;
    Some(town[to].hear(sender, &dispatch))
}

/// Plays a turn of every sim, in which it hears its neighbours.
pub(crate) fn step(town: &mut [Place], ms: u64) {
    for n in 0..town.len() {
        for other in [n.checked_sub(1), Some(n + 1)].into_iter().flatten() {
            if other < town.len() {
                tell(town, other, n);
            }
        }
        town[n].play(ms);
    }
}

/// Plays a turn of every sim, in which it hears those beside it, or does not as `hears` says.
pub(crate) fn step_around<I: Iterator<Item = usize>>(
    town: &mut [Place],
    beside: impl Fn(usize) -> I,
    mut hears: impl FnMut(usize) -> bool,
) {
    for n in 0..town.len() {
        for other in beside(n) {
            if hears(other) {
                tell(town, other, n);
            }
        }
        town[n].play(50);
    }
}

/// Returns in how many places a person is: with an avatar, or departed and not taken.
pub(crate) fn places(town: &[Place], person: &PublicKey) -> usize {
    let here = town.iter().filter(|place| place.world.avatar(person).is_some()).count();
    here + under_way(town, Traveller::Person(*person))
}

/// Returns in how many places a thing is: here in a sim, or departed and not taken.
pub(crate) fn places_of_thing(town: &[Place], origin: Origin) -> usize {
    let is_it = |thing: &WorldObject| thing.origin == origin && thing.player.is_none();
    let here: usize = town.iter().map(|place| place.world.objects().filter(is_it).count()).sum();
    let stowed = |place: &Place| place.world.all_luggage().filter(|it| it.origin == origin).count();
    here + town.iter().map(stowed).sum::<usize>() + under_way(town, Traveller::Thing(origin))
}

/// Returns how many departures of somebody or something are not taken.
fn under_way(town: &[Place], traveller: Traveller) -> usize {
    let mut away = 0;
    for own in town {
        for other in town.iter().filter(|other| other.id() != own.id()) {
            let Some(border) = own.world.border(&other.id()) else { continue };
            let there = &other.world.border(&own.id()).expect("both sides are open").crossing;
            let listed = border.crossing.said.departures.iter();
            let parcels: Vec<&[u8]> = own.world.parcels(other.id()).collect();
            // What somebody holds is in the parcel with her.
            let has = |departure: &&BorderDeparture| {
                let found = parcels.iter().find(|bytes| Parcel::digest(bytes) == departure.parcel);
                let parcel = Parcel::decode(found.expect("it has a parcel")).expect("a parcel");
                let mut things = parcel.things().map(|thing| Traveller::Thing(thing.origin));
                departure.traveller == traveller || things.any(|thing| thing == traveller)
            };
            for departure in listed.filter(has) {
                let verdicts = &there.said.verdicts;
                let verdict = verdicts.iter().find(|v| v.number == departure.number);
                away += usize::from(match verdict {
                    Some(verdict) => verdict.refused.is_some(),
                    None => departure.number >= there.said.in_next,
                });
            }
        }
    }
    away
}

/// Has a person walk in a direction in whatever sim she is, and ask for passes wherever she may go.
pub(crate) fn drive(town: &mut [Place], person: PublicKey, heading: Vec2) {
    let at: Vec<bool> = town.iter().map(|place| place.world.avatar(&person).is_some()).collect();
    for n in 0..town.len() {
        if at[n] {
            town[n].act(person, 1, Act::Walk { heading });
        } else {
            let beside = [n.checked_sub(1), Some(n + 1)].into_iter().flatten();
            for from in beside.filter(|from| at.get(*from) == Some(&true)) {
                let from = town[from].id();
                town[n].act(person, 1, Act::Approach { from, work: None });
            }
        }
    }
}
