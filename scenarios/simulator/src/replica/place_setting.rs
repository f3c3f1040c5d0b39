//! What a simulated sim has whose servers are whole replicas: its place, its past, what goes wrong in
//! their worlds, and how they are set up.

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
    Applied, Controls, CrossingBug, ENGINE, Genesis, InjectedPanics, Serial, Tools, Window, World,
};
use metatopia_types::{
    Digest, Envelope, Height, Lane, Millis, NodeContact, PublicKey, Round, Seq, Sign, Turn,
    limits::{EXPIRY_HEIGHTS_MAX, TICKS_PER_SECOND},
    wire,
};

use super::shared::SharedWork;
use crate::setting::ClusterSetting;
use crate::signatures::SignatureKind;
use crate::villain::ByzantineBehaviour;

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

/// The sim that whole servers run.
pub type ReplicaSetting = ClusterSetting<PlaceSetting>;

/// What a sim has whose servers are whole replicas.
pub struct PlaceSetting {
    /// What all dice are thrown from.
    pub seed: u64,
    /// Copies that somebody starts later, from what is on the disk of the other one.
    pub copied_later: BTreeSet<usize>,
    /// Turns between snapshots.
    pub snapshot_turns: u64,
    /// Turns behind the others from which on a server fetches a state.
    pub behind_turns: u64,
    /// How much of the past servers keep.
    pub history_turns: u64,
    /// Does the first server keep all of it?
    pub archive: bool,
    /// Acts that panic.
    pub trap: Option<Trap>,
    /// Bits that flip.
    pub flips: Vec<Flip>,
    /// Rules that worlds break.
    pub broken: Option<ControlsFn>,
    /// The rule of crossing that all worlds break besides.
    pub crossing_bug: Option<CrossingBug>,
    /// Rules that what is around them breaks.
    pub controls: replica::Controls,
    /// The server whose operator hands it acts and says things in its name.
    pub rogue: Option<Rogue>,
    /// After so many turns one server, another one each time, goes on from a snapshot of its state.
    pub restore_every: Option<u64>,
    /// What servers calculated, if they share that.
    shared: Option<RefCell<SharedWork>>,
    genesis: Genesis,
    encoded: Arc<Vec<u8>>,
    beginning: World,
}

impl std::fmt::Debug for PlaceSetting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PlaceSetting")
            .field("seed", &self.seed)
            .field("place", &self.genesis.name)
            .field("snapshot_turns", &self.snapshot_turns)
            .field("history_turns", &self.history_turns)
            .field("archive", &self.archive)
            .field("behind_turns", &self.behind_turns)
            .field("flips", &self.flips)
            .field("copied_later", &self.copied_later)
            .finish_non_exhaustive()
    }
}

impl PlaceSetting {
    fn new(genesis: Genesis, beginning: World, seed: u64) -> Self {
        Self {
            seed,
            copied_later: BTreeSet::new(),
            snapshot_turns: replica::SNAPSHOT_TURNS,
            behind_turns: BEHIND_TURNS,
            history_turns: HISTORY_TURNS,
            archive: true,
            trap: None,
            flips: Vec::new(),
            broken: None,
            crossing_bug: None,
            controls: replica::Controls::default(),
            rogue: None,
            restore_every: None,
            shared: None,
            encoded: Arc::new(genesis.encode()),
            genesis,
            beginning,
        }
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
        let keys = scheme.keys(seats);
        let founding: BTreeMap<PublicKey, NodeContact> =
            (0..founders).map(|seat| (keys[seat].public(), contact(seat))).collect();
        let admins = BTreeSet::from([scheme.player(0).public()]);
        let mut genesis = place.genesis(founding, admins);
        let room = &mut genesis.parameters.avatars_max;
        *room = avatars.unwrap_or(*room);
        Self::of_genesis(genesis, scheme, keys, seed)
    }

    /// The sim of a genesis, whose servers have the first of these keys, which ascend.
    ///
    /// # Panics
    /// When the genesis breaks a rule.
    #[must_use]
    pub(crate) fn of_genesis(
        genesis: Genesis,
        scheme: SignatureKind,
        keys: Vec<Arc<dyn Sign>>,
        seed: u64,
    ) -> Self {
        let (verifier, founders) = (scheme.verifier(), genesis.validators.len());
        let tools = Tools::new(Arc::clone(&verifier));
        let beginning = World::genesis(&genesis, &tools).expect("a place for a story");
        let ticks = u64::from(genesis.parameters.ticks_per_turn);
        Self {
            sim: genesis.id(),
            scheme,
            verifier,
            keys,
            founders,
            copies: Vec::new(),
            liars: Vec::new(),
            turn_length: (ticks * 1_000 / TICKS_PER_SECOND).max(1),
            patience: Patience::default(),
            nobodies: FORGED_PLAYERS,
            own: PlaceSetting::new(genesis, beginning, seed),
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
        let seat = self.add_seat();
        self.copy_key(seat, original);
        seat
    }

    /// The same for a process that somebody starts later, from what is then on the other's disk.
    pub fn add_later_copy(&mut self, original: usize) -> usize {
        let seat = self.add_copy(original);
        self.own.copied_later.insert(seat);
        seat
    }

    /// Returns whether the server with this name runs twice.
    #[must_use]
    pub fn runs_twice(&self, name: &PublicKey) -> bool {
        self.copies.iter().any(|(copy, _)| self.name(*copy) == *name)
    }

    /// Seats of servers that may do what they want, and those of their copies.
    pub fn shunned(&self) -> impl Iterator<Item = usize> + '_ {
        let liars =
            self.liars.iter().map(|(seat, _)| *seat).chain(self.own.rogue.map(|rogue| rogue.seat));
        liars.chain(self.copies.iter().flat_map(|(copy, original)| [*copy, *original]))
    }

    /// Returns the tools that worlds of this sim use.
    #[must_use]
    pub fn tools(&self) -> Tools {
        Tools::new(Arc::clone(&self.verifier))
    }

    /// The world before the first turn.
    #[must_use]
    pub fn beginning(&self) -> World {
        self.own.beginning.clone()
    }

    /// Returns the genesis of the sim.
    #[must_use]
    pub const fn genesis(&self) -> &Genesis {
        &self.own.genesis
    }

    /// Returns where agreement starts before the first turn.
    ///
    /// # Panics
    /// Never: a world at genesis knows its first validators.
    #[must_use]
    pub fn base(&self) -> Base {
        base_of(&self.own.beginning)
    }

    /// Returns what the oracle knows of the sim. Who may change the set is in the state.
    #[must_use]
    pub fn founding(&self) -> Founding {
        self.founding_from(&self.base())
    }

    /// The light client of somebody who knows nothing but the genesis.
    ///
    /// # Panics
    /// Never: a world at genesis knows its first validators.
    #[must_use]
    pub fn light(&self) -> LightClient {
        let set = self.own.beginning.validators(Height(1));
        let set = set.expect("a world at genesis knows its first validators");
        LightClient::new(self.sim, Height(1), set.clone(), Arc::clone(&self.verifier))
    }

    /// Returns how the server in `seat` is set up in one of its lives.
    #[must_use]
    pub fn config(&self, seat: usize, wall: Millis) -> Config {
        let turn_length = self.turn_length;
        let life = wire::encode(&(self.own.seed, seat as u64, wall));
        Config {
            sim: self.sim,
            genesis: Arc::clone(&self.own.encoded),
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
            snapshot_turns: self.own.snapshot_turns,
            behind_turns: self.own.behind_turns,
            repairs: Vec::new(),
            seed: Digest::of("metatopia simulated life v1", &life).0,
        }
    }

    /// Begins the sim with so many lanes open, as if the turns of all servers had opened equal shares of them
    /// for people of whom nothing is known.
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
        self.own.beginning.open_lanes(lanes);
    }

    /// Has servers share what they calculate from now on.
    pub(crate) fn share_work(&mut self) {
        self.own.shared = Some(RefCell::default());
    }

    /// Returns whether servers may not know of acts that are still valid.
    #[must_use]
    pub const fn is_forgetful(&self) -> bool {
        self.own.history_turns < RECALL_HEIGHTS
    }

    /// Returns whether servers may not know of such acts and nobody keeps all of the past.
    #[must_use]
    pub const fn forgets(&self) -> bool {
        self.is_forgetful() && !self.own.archive
    }

    /// Returns how much of the past the server in `seat` keeps.
    #[must_use]
    pub const fn history(&self, seat: usize) -> History {
        let all = seat == 0 && self.own.archive;
        if all { History::Whole } else { History::Turns(self.own.history_turns) }
    }

    /// The world of the server in `seat` breaks the rules that it is to break, in a turn that a
    /// certificate of this round decided.
    pub(crate) fn break_rules(&self, seat: usize, certified: Round, world: &mut World) {
        let crossing = self.own.crossing_bug;
        if self.own.broken.is_some() || crossing.is_some() {
            let broken = self.own.broken.map(|broken| broken(seat, certified));
            world.break_rules(Controls { crossing, ..broken.unwrap_or_default() });
        }
    }

    /// The replica breaks the rules that it is to break.
    pub(crate) fn broken_replica(&self, seat: usize, mut replica: Replica) -> Replica {
        let rogue = self.own.rogue.filter(|rogue| rogue.seat == seat);
        let opens_all_lanes = rogue.is_some_and(|rogue| rogue.opens_all_lanes);
        let tells_unheard = self.liars.contains(&(seat, ByzantineBehaviour::ForgeHears));
        let controls = self.own.controls;
        replica.break_rules(replica::Controls { opens_all_lanes, tells_unheard, ..controls });
        replica
    }

    /// Returns whether the server in `seat` goes on from a snapshot after this turn.
    #[must_use]
    pub fn restores(&self, seat: usize, height: Height) -> bool {
        self.own.restore_every.is_some_and(|every| {
            let every = every.max(1);
            let turn = usize::try_from(height.0 / every).unwrap_or(0);
            height.0.is_multiple_of(every) && turn % self.keys.len() == seat
        })
    }

    /// Applies a decided turn, or takes what came of it at a server with the same state.
    pub(crate) fn apply_shared(&self, world: &mut World, turn: &Arc<Turn>) -> Applied {
        match &self.own.shared {
            Some(shared) => shared.borrow_mut().apply(world, turn, |world| self.apply(world, turn)),
            None => self.apply(world, turn),
        }
    }

    /// Applies a decided turn, with whatever panics in it.
    #[must_use]
    pub fn apply(&self, world: &mut World, turn: &Turn) -> Applied {
        if let Some(trap) = self.own.trap {
            let acts = turn.body.acts().iter();
            let panic_in = acts.filter(|act| trap(&act.envelope)).map(|act| act.id()).collect();
            world.inject(InjectedPanics { panic_in });
        }
        world.apply(turn, &Serial)
    }
}

/// Returns where the server in `seat` is reached, in a world without addresses.
#[must_use]
pub(crate) fn contact(seat: usize) -> NodeContact {
    NodeContact { peer_id: format!("seat-{seat}"), address: format!("/seat/{seat}") }
}
