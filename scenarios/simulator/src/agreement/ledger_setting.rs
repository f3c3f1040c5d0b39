//! The sim that simulated servers run: its keys, its genesis, and how servers are set up.

use std::collections::BTreeMap;
use std::sync::Arc;

use metatopia_consensus::{AgreementConfig, AgreementControls, Base, Patience, Record};
use metatopia_oracle::Founding;
use metatopia_store::LogControls;
use metatopia_types::{
    Act, Digest, Envelope, Height, Lane, Member, NodeContact, PublicKey, Roster, Seq, Sign,
    SignedEnvelope, SimId, ValidatorSet, Verify,
};

use super::flaws::Flaws;
use super::ledger::{LedgerDouble, LedgerState, led_by};
use crate::clock::DAWN;
use crate::signatures::SignatureKind;
use crate::villain::VillainContext;
use crate::watched::founding;

/// The rules that simulated servers run.
pub const ENGINE: u32 = 1;

/// Numbers keys of players and the admin, far from those of servers.
const PLAYER_KEYS: u64 = 1_000_000;

/// Records that a broken server leaves out of its log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unlogged {
    /// That it promised a turn for the next height.
    Promises,
    /// Its own votes, and that time was up: what led to them.
    OwnVotes,
}

impl Unlogged {
    /// Whether the server `name` leaves this record out.
    pub(crate) fn leaves_out(self, record: &Record, name: PublicKey) -> bool {
        match record {
            Record::Early(_) => self == Self::Promises,
            Record::Vote(vote) => self == Self::OwnVotes && vote.message.voter == name,
            Record::Timeout(_) => self == Self::OwnVotes,
            _ => false,
        }
    }
}

/// What is wrong with an application.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flaw {
    /// One server computes another state from this height on.
    Diverges {
        /// The seat of the server.
        seat: usize,
        /// From which height on.
        from: Height,
    },
    /// Every act is fine, on all servers.
    AcceptsEverything,
}

/// What all servers of one simulated sim have in common.
pub struct AgreementSetting {
    /// The id of the sim.
    pub sim: SimId,
    /// The kind of its signatures.
    pub scheme: SignatureKind,
    /// The scheme that checks signatures.
    pub verifier: Arc<dyn Verify>,
    /// The key in each seat, ascending except for twins.
    pub keys: Vec<Arc<dyn Sign>>,
    /// The admin's key.
    pub admin: Arc<dyn Sign>,
    /// So many of the first seats vote at genesis.
    pub founders: usize,
    /// Their voting power; 1 for those past the end.
    pub powers: Vec<u32>,
    /// What is wrong with the application of some servers.
    pub flaw: Option<Flaw>,
    /// Least time between two turns, in milliseconds.
    pub turn_length: u64,
    /// How long servers wait for what.
    pub patience: Patience,
    /// Rules that servers break.
    pub controls: AgreementControls,
    /// Rules that their logs break.
    pub log_controls: LogControls,
    /// What servers do not write down.
    pub unlogged: Option<Unlogged>,
    /// Who leads, whatever the roster says.
    pub leaders: Option<Vec<PublicKey>>,
    /// After how many turns a server writes its state down and starts from there next time.
    pub snapshot_every: Option<u64>,
}

impl std::fmt::Debug for AgreementSetting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Setting")
            .field("scheme", &self.scheme)
            .field("seats", &self.keys.len())
            .field("founders", &self.founders)
            .field("turn_length", &self.turn_length)
            .field("patience", &self.patience)
            .field("controls", &self.controls)
            .field("log_controls", &self.log_controls)
            .field("leaders", &self.leaders)
            .field("snapshot_every", &self.snapshot_every)
            .finish_non_exhaustive()
    }
}

impl AgreementSetting {
    /// A sim of `founders` servers, with seats for `seats`.
    #[must_use]
    pub fn new(scheme: SignatureKind, founders: usize, seats: usize) -> Self {
        Self {
            sim: SimId(Digest::of("metatopia simulated sim v1", b"agreement")),
            scheme,
            verifier: scheme.verifier(),
            keys: scheme.keys(seats),
            admin: scheme.key(PLAYER_KEYS),
            founders,
            powers: Vec::new(),
            flaw: None,
            turn_length: 1,
            patience: Patience::default(),
            controls: AgreementControls::default(),
            log_controls: LogControls::default(),
            unlogged: None,
            leaders: None,
            snapshot_every: None,
        }
    }

    /// The name of the server in `seat`.
    #[must_use]
    pub fn name(&self, seat: usize) -> PublicKey {
        self.keys[seat].public()
    }

    /// The voting power of a founder.
    #[must_use]
    pub fn power(&self, seat: usize) -> u32 {
        self.powers.get(seat).copied().unwrap_or(1)
    }

    /// The state before the first turn.
    #[must_use]
    pub fn genesis_state(&self) -> LedgerState {
        let member =
            |seat: usize| Member { power: self.power(seat), contact: NodeContact::default() };
        let members: BTreeMap<_, _> =
            (0..self.founders).map(|seat| (self.name(seat), member(seat))).collect();
        let roster = Roster::genesis(members).expect("a sim has founders");
        LedgerState::genesis(self.sim, roster)
    }

    /// What whoever watches the sim knows of it.
    #[must_use]
    pub fn founding(&self) -> Founding {
        let admin = Some(self.admin.public());
        let (seats, base) = (self.keys.len(), self.genesis_base());
        Founding { admin, ..founding(self, &self.verifier, seats, &base) }
    }

    /// Where agreement starts from before the first turn.
    #[must_use]
    pub fn genesis_base(&self) -> Base {
        Base::genesis(DAWN, self.genesis_state().root(), &self.genesis_set())
    }

    /// Who votes first.
    #[must_use]
    pub fn genesis_set(&self) -> ValidatorSet {
        let state = self.genesis_state();
        let set = state.roster.newest_set();
        self.leaders.as_ref().map_or_else(|| set.clone(), |leaders| led_by(set, leaders))
    }

    /// The application of the server in `seat`, going on from `state`.
    #[must_use]
    pub fn ledger(&self, seat: usize, state: LedgerState) -> LedgerDouble {
        let (admin, verifier) = (self.admin.public(), Arc::clone(&self.verifier));
        let mut ledger = LedgerDouble::new(self.sim, admin, verifier, state);
        ledger.leaders = self.leaders.clone();
        ledger.flaws = Flaws::new(self.flaw, seat);
        ledger
    }

    /// How the server in `seat` is set up.
    #[must_use]
    pub fn config(&self, seat: usize, fresh_key: bool) -> AgreementConfig {
        AgreementConfig {
            sim: self.sim,
            engine: ENGINE,
            turn_length: self.turn_length,
            signer: Arc::clone(&self.keys[seat]),
            scheme: Arc::clone(&self.verifier),
            fresh_key,
            silent: false,
            patience: self.patience,
        }
    }

    /// An act of a player; players are numbered from 0. Each act has a lane of its own: acts go to
    /// different servers, and may be decided in any order.
    #[must_use]
    pub fn act(&self, player: u64, number: u64, last_valid: Height, act: Act) -> SignedEnvelope {
        let key = self.scheme.key(PLAYER_KEYS + 1 + player);
        self.envelope(&*key, Lane(number), 1, last_valid, act)
    }

    /// An act of any key.
    #[must_use]
    pub fn envelope(
        &self,
        key: &dyn Sign,
        lane: Lane,
        seq: u64,
        last_valid: Height,
        act: Act,
    ) -> SignedEnvelope {
        let (sim, author) = (self.sim, key.public());
        Envelope { sim, author, lane, seq: Seq(seq), last_valid, act }.sign(key)
    }
}

impl VillainContext for AgreementSetting {
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
        self.turn_length
    }

    fn act(&self, player: u64, seq: u64, last_valid: Height, act: Act) -> SignedEnvelope {
        Self::act(self, player, seq, last_valid, act)
    }
}
