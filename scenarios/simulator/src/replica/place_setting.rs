//! The sim that simulated replicas run: its keys, its genesis, and how servers are set up.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use metatopia_client::LightClient;
use metatopia_consensus::{self as consensus, Base, Patience};
use metatopia_oracle::Founding;
use metatopia_replica::keeper::{HISTORY_TURNS, History};
use metatopia_replica::{self as replica, BEHIND_TURNS, Config, RECALL_HEIGHTS, Replica, base_of};
use metatopia_scenarios::{Place, plaza};
use metatopia_sim::{
    Applied, Controls, ENGINE, Genesis, InjectedPanics, Serial, Tools, Window, World,
};
use metatopia_types::{
    Act, Digest, Envelope, Height, Lane, Millis, NodeContact, PublicKey, Round, Seq, Sign,
    SignedEnvelope, SimId, Turn, Verify,
    limits::{EXPIRY_HEIGHTS_MAX, TICKS_PER_SECOND},
    wire,
};

use super::shared::SharedWork;
use crate::agreement::{ByzantineBehaviour, SignatureKind, VillainContext};
use crate::watched::founding;

/// Numbers keys of players, far from those of servers. The first is the admin.
const PLAYER_KEYS: u64 = 1_000_000;

/// Players of whom liars make acts up, by their numbers.
const FORGED_PLAYERS: u64 = 100_000;

/// Which acts panic when they are applied: the same on every server, as a bug of the engine is.
pub type Trap = fn(&Envelope) -> bool;

/// A bit of one server's state that flips, after a turn, in the server's first life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flip {
    /// The seat of the server.
    pub seat: usize,
    /// After the turn of this height.
    pub height: Height,
    /// Does it flip whenever that turn is applied? Memory does not, a wrong program does.
    pub lasting: bool,
}

/// A server whose operator does not want the sim well. Nobody visits it, and no law is held against it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rogue {
    /// The seat of the server.
    pub seat: usize,
    /// Does its pool open every lane that there may be, whoever they are kept for?
    pub opens_all_lanes: bool,
}

/// Which rules the world of the server in a seat breaks, in a turn that a certificate of this round
/// decided.
pub type ControlsFn = fn(usize, Round) -> Controls;

/// What all servers of one simulated sim have in common.
pub struct ReplicaSetting {
    /// What all dice are thrown from.
    pub seed: u64,
    /// The id of the sim.
    pub sim: SimId,
    /// The kind of its signatures.
    pub scheme: SignatureKind,
    /// The scheme that checks signatures.
    pub verifier: Arc<dyn Verify>,
    /// The key in each seat, ascending; seats that were added have any.
    pub keys: Vec<Arc<dyn Sign>>,
    /// Seats whose server has the key of another one, which runs besides.
    pub copies: Vec<(usize, usize)>,
    /// Those of them that somebody starts later, from what is on the disk of the other one.
    pub copied_later: BTreeSet<usize>,
    /// So many of the first seats vote at genesis.
    pub founders: usize,
    /// Turns between snapshots.
    pub snapshot_turns: u64,
    /// Turns behind the others from which on a server fetches a state.
    pub behind_turns: u64,
    /// How much of the past servers keep.
    pub history_turns: u64,
    /// Does the first server keep all of it?
    pub archive: bool,
    /// How long servers wait for what.
    pub patience: Patience,
    /// Acts that panic.
    pub trap: Option<Trap>,
    /// Bits that flip.
    pub flips: Vec<Flip>,
    /// Rules that worlds break.
    pub broken: Option<ControlsFn>,
    /// Rules that what is around them breaks.
    pub controls: replica::Controls,
    /// The server whose operator hands it acts and says things in its name.
    pub rogue: Option<Rogue>,
    /// Servers that lie to the others, and how.
    pub liars: Vec<(usize, ByzantineBehaviour)>,
    /// After so many turns one server, another one each time, goes on from a snapshot of its state.
    pub restore_every: Option<u64>,
    /// What servers calculated, if they share that.
    shared: Option<RefCell<SharedWork>>,
    genesis: Genesis,
    encoded: Arc<Vec<u8>>,
    beginning: World,
}

impl std::fmt::Debug for ReplicaSetting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Setting")
            .field("seed", &self.seed)
            .field("place", &self.genesis.name)
            .field("scheme", &self.scheme)
            .field("seats", &self.keys.len())
            .field("founders", &self.founders)
            .field("snapshot_turns", &self.snapshot_turns)
            .field("history_turns", &self.history_turns)
            .field("archive", &self.archive)
            .field("behind_turns", &self.behind_turns)
            .field("flips", &self.flips)
            .field("copies", &self.copies)
            .field("copied_later", &self.copied_later)
            .finish_non_exhaustive()
    }
}

impl ReplicaSetting {
    /// A sim at `place` of `founders` servers, with seats for `seats`. Its admin is player 0.
    ///
    /// # Panics
    /// When the place breaks a rule of a genesis.
    #[must_use]
    pub fn new(
        place: &Place,
        scheme: SignatureKind,
        founders: usize,
        seats: usize,
        seed: u64,
    ) -> Self {
        Self::found(place, scheme, (founders, seats), seed, None)
    }

    /// The same, with room for so few avatars that a small crowd takes it.
    ///
    /// # Panics
    /// When the place breaks a rule of a genesis.
    #[must_use]
    pub fn narrow(
        place: &Place,
        scheme: SignatureKind,
        (founders, seats): (usize, usize),
        seed: u64,
        avatars: u32,
    ) -> Self {
        Self::found(place, scheme, (founders, seats), seed, Some(avatars))
    }

    fn found(
        place: &Place,
        scheme: SignatureKind,
        (founders, seats): (usize, usize),
        seed: u64,
        avatars: Option<u32>,
    ) -> Self {
        let (verifier, keys) = (scheme.verifier(), scheme.keys(seats));
        let founding: BTreeMap<PublicKey, NodeContact> =
            (0..founders).map(|seat| (keys[seat].public(), contact(seat))).collect();
        let admins = BTreeSet::from([scheme.key(PLAYER_KEYS).public()]);
        let mut genesis = place.genesis(founding, admins);
        let room = &mut genesis.parameters.avatars_max;
        *room = avatars.unwrap_or(*room);
        let tools = Tools::new(Arc::clone(&verifier));
        let beginning = World::genesis(&genesis, &tools).expect("a place for a story");
        Self {
            seed,
            sim: genesis.id(),
            scheme,
            verifier,
            keys,
            copies: Vec::new(),
            copied_later: BTreeSet::new(),
            founders,
            snapshot_turns: replica::SNAPSHOT_TURNS,
            behind_turns: BEHIND_TURNS,
            history_turns: HISTORY_TURNS,
            archive: true,
            patience: Patience::default(),
            trap: None,
            flips: Vec::new(),
            broken: None,
            controls: replica::Controls::default(),
            rogue: None,
            liars: Vec::new(),
            restore_every: None,
            shared: None,
            encoded: Arc::new(genesis.encode()),
            genesis,
            beginning,
        }
    }

    /// A plaza of four servers.
    ///
    /// # Panics
    /// Never: the plaza is part of the program.
    #[must_use]
    pub fn plaza(scheme: SignatureKind, seed: u64) -> Self {
        let place = plaza::place();
        Self::new(&place, scheme, 4, 4, seed)
    }

    /// A seat more, for a server that is none of the sim's to begin with. Returns its number.
    pub fn add_seat(&mut self) -> usize {
        let seat = self.keys.len();
        self.keys.push(self.scheme.key(seat as u64));
        seat
    }

    /// A seat more, for a second process with the key of the server in `original`. Returns its
    /// number.
    pub fn add_copy(&mut self, original: usize) -> usize {
        let seat = self.keys.len();
        self.keys.push(Arc::clone(&self.keys[original]));
        self.copies.push((seat, original));
        seat
    }

    /// The same for a process that somebody starts later, from what is then on the other's disk.
    pub fn add_later_copy(&mut self, original: usize) -> usize {
        let seat = self.add_copy(original);
        self.copied_later.insert(seat);
        seat
    }

    /// Does the server with this name run twice?
    #[must_use]
    pub fn runs_twice(&self, name: &PublicKey) -> bool {
        self.copies.iter().any(|(copy, _)| self.name(*copy) == *name)
    }

    /// Seats of servers that may do what they want, and those of their copies.
    pub fn shunned(&self) -> impl Iterator<Item = usize> + '_ {
        let liars =
            self.liars.iter().map(|(seat, _)| *seat).chain(self.rogue.map(|rogue| rogue.seat));
        liars.chain(self.copies.iter().flat_map(|(copy, original)| [*copy, *original]))
    }

    /// The name of the server in `seat`.
    #[must_use]
    pub fn name(&self, seat: usize) -> PublicKey {
        self.keys[seat].public()
    }

    /// The key of a player; player 0 is the admin.
    #[must_use]
    pub fn player(&self, number: u64) -> Arc<dyn Sign> {
        self.scheme.key(PLAYER_KEYS + number)
    }

    /// What worlds of this sim use.
    #[must_use]
    pub fn tools(&self) -> Tools {
        Tools::new(Arc::clone(&self.verifier))
    }

    /// The world before the first turn.
    #[must_use]
    pub fn beginning(&self) -> World {
        self.beginning.clone()
    }

    /// Where agreement starts from before the first turn.
    ///
    /// # Panics
    /// Never: a world at genesis knows its first validators.
    #[must_use]
    pub fn base(&self) -> Base {
        base_of(&self.beginning)
    }

    /// What whoever watches the sim knows of it. Who may change the set is in the state.
    #[must_use]
    pub fn founding(&self) -> Founding {
        founding(self, &self.verifier, self.keys.len(), &self.base())
    }

    /// Least time between two turns, in milliseconds.
    #[must_use]
    pub fn turn_length(&self) -> u64 {
        let ticks = u64::from(self.genesis.parameters.ticks_per_turn);
        (ticks * 1_000 / TICKS_PER_SECOND).max(1)
    }

    /// Somebody who knows nothing but the genesis.
    ///
    /// # Panics
    /// Never: a world at genesis knows its first validators.
    #[must_use]
    pub fn light(&self) -> LightClient {
        let set = self.beginning.validators(Height(1));
        let set = set.expect("a world at genesis knows its first validators");
        LightClient::new(self.sim, Height(1), set.clone(), Arc::clone(&self.verifier))
    }

    /// How the server in `seat` is set up in one of its lives.
    #[must_use]
    pub fn config(&self, seat: usize, wall: Millis) -> Config {
        let turn_length = self.turn_length();
        let life = wire::encode(&(self.seed, seat as u64, wall));
        Config {
            sim: self.sim,
            genesis: Arc::clone(&self.encoded),
            agreement: consensus::AgreementConfig {
                sim: self.sim,
                engine: ENGINE,
                turn_length,
                signer: Arc::clone(&self.keys[seat]),
                scheme: Arc::clone(&self.verifier),
                // The log says whether this server may sign.
                fresh_key: false,
                silent: false,
                patience: self.patience,
            },
            turns_per_second: u32::try_from(1_000 / turn_length).unwrap_or(1).max(1),
            snapshot_turns: self.snapshot_turns,
            behind_turns: self.behind_turns,
            repairs: Vec::new(),
            seed: Digest::of("metatopia simulated life v1", &life).0,
        }
    }

    /// The sim begins with so many lanes open, as if the turns of all servers had opened equal shares
    /// of them for people of whom nothing is known.
    pub fn open_lanes(&mut self, count: usize) {
        let last_valid = Height(EXPIRY_HEIGHTS_MAX);
        let lanes = (0..count).map(|number| {
            let mut author = [0x55; 32];
            author[..8].copy_from_slice(&(number as u64).to_le_bytes());
            let opener = self.name(number % self.founders);
            let window = Window { seq: Seq(1), last_valid, opener };
            ((PublicKey(author), Lane(1)), window)
        });
        let lanes = lanes.collect();
        self.beginning.open_lanes(lanes);
    }

    /// From now on servers share what they calculate.
    pub(crate) fn share_work(&mut self) {
        self.shared = Some(RefCell::default());
    }

    /// May servers not know of acts that are still valid?
    #[must_use]
    pub const fn is_forgetful(&self) -> bool {
        self.history_turns < RECALL_HEIGHTS
    }

    /// And does nobody keep all of the past?
    #[must_use]
    pub const fn forgets(&self) -> bool {
        self.is_forgetful() && !self.archive
    }

    /// How much of the past the server in `seat` keeps.
    #[must_use]
    pub const fn history(&self, seat: usize) -> History {
        let all = seat == 0 && self.archive;
        if all { History::Whole } else { History::Turns(self.history_turns) }
    }

    /// The world of the server in `seat` breaks the rules that it is to break, in a turn that a
    /// certificate of this round decided.
    pub(crate) fn break_rules(&self, seat: usize, certified: Round, world: &mut World) {
        if let Some(broken) = self.broken {
            world.break_rules(broken(seat, certified));
        }
    }

    /// The replica breaks the rules that it is to break.
    pub(crate) fn broken_replica(&self, seat: usize, mut replica: Replica) -> Replica {
        let rogue = self.rogue.filter(|rogue| rogue.seat == seat);
        let opens_all_lanes = rogue.is_some_and(|rogue| rogue.opens_all_lanes);
        replica.break_rules(replica::Controls { opens_all_lanes, ..self.controls });
        replica
    }

    /// Does the server in `seat` go on from a snapshot after this turn?
    #[must_use]
    pub fn restores(&self, seat: usize, height: Height) -> bool {
        self.restore_every.is_some_and(|every| {
            let every = every.max(1);
            let turn = usize::try_from(height.0 / every).unwrap_or(0);
            height.0.is_multiple_of(every) && turn % self.keys.len() == seat
        })
    }

    /// Applies a decided turn, or takes what came of it at a server with the same state.
    pub(crate) fn apply_shared(&self, world: &mut World, turn: &Arc<Turn>) -> Applied {
        match &self.shared {
            Some(shared) => shared.borrow_mut().apply(world, turn, |world| self.apply(world, turn)),
            None => self.apply(world, turn),
        }
    }

    /// Applies a decided turn, with whatever panics in it.
    #[must_use]
    pub fn apply(&self, world: &mut World, turn: &Turn) -> Applied {
        if let Some(trap) = self.trap {
            let acts = turn.body.acts().iter();
            let panic_in = acts.filter(|act| trap(&act.envelope)).map(|act| act.id()).collect();
            world.inject(InjectedPanics { panic_in });
        }
        world.apply(turn, &Serial)
    }
}

impl VillainContext for ReplicaSetting {
    fn sim(&self) -> SimId {
        self.sim
    }

    fn key(&self, seat: usize) -> &dyn Sign {
        &*self.keys[seat]
    }

    fn founders(&self) -> usize {
        self.founders
    }

    fn turn_length(&self) -> u64 {
        Self::turn_length(self)
    }

    fn act(&self, player: u64, seq: u64, last_valid: Height, act: Act) -> SignedEnvelope {
        let (key, lane) = (self.player(FORGED_PLAYERS + player), Lane(seq));
        let (sim, author) = (self.sim, key.public());
        Envelope { sim, author, lane, seq: Seq(1), last_valid, act }.sign(&*key)
    }
}

/// Where the server in `seat` is reached, in a world without addresses.
#[must_use]
pub(crate) fn contact(seat: usize) -> NodeContact {
    NodeContact { peer_id: format!("seat-{seat}"), address: format!("/seat/{seat}") }
}
