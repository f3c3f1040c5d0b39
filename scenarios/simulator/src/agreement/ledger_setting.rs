//! What a simulated sim has whose servers run agreement and a [`LedgerDouble`] only: powers, flaws, and
//! rules that its servers break.

use std::collections::BTreeMap;
use std::sync::Arc;

use metatopia_consensus::{AgreementConfig, AgreementControls, Base, Patience, Record};
use metatopia_oracle::Founding;
use metatopia_store::LogControls;
use metatopia_types::{
    Digest, Height, Member, NodeContact, PublicKey, Roster, SimId, ValidatorSet,
};

use super::flaws::Flaws;
use super::ledger::{LedgerDouble, LedgerState, led_by};
use crate::clock::DAWN;
use crate::setting::ClusterSetting;
use crate::signatures::SignatureKind;

/// The rules that simulated servers run.
pub const ENGINE: u32 = 1;

/// Records that a broken server leaves out of its log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unlogged {
    /// It promised a turn for the next height.
    Promises,
    /// Its own votes, and that time was up: what led to them.
    OwnVotes,
}

impl Unlogged {
    /// Returns whether the server `name` leaves this record out.
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

/// The sim that voters run.
pub type AgreementSetting = ClusterSetting<LedgerSetting>;

/// What a sim has whose servers run agreement and a ledger only.
#[derive(Debug, Default)]
pub struct LedgerSetting {
    /// The voting power of founders; 1 for those past the end.
    pub powers: Vec<u32>,
    /// What is wrong with the application of some servers.
    pub flaw: Option<Flaw>,
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

impl AgreementSetting {
    /// Returns a sim of `founders` servers, with seats for `seats`.
    #[must_use]
    pub fn new(scheme: SignatureKind, founders: usize, seats: usize) -> Self {
        Self {
            sim: SimId(Digest::of("metatopia simulated sim v1", b"agreement")),
            scheme,
            verifier: scheme.verifier(),
            keys: scheme.keys(seats),
            founders,
            copies: Vec::new(),
            liars: Vec::new(),
            turn_length: 1,
            patience: Patience::default(),
            nobodies: 1,
            own: LedgerSetting::default(),
        }
    }

    /// The voting power of a founder.
    #[must_use]
    pub fn power(&self, seat: usize) -> u32 {
        self.own.powers.get(seat).copied().unwrap_or(1)
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

    /// Returns what the oracle knows of the sim.
    #[must_use]
    pub fn founding(&self) -> Founding {
        let admin = Some(self.player(0).public());
        Founding { admin, ..self.founding_from(&self.genesis_base()) }
    }

    /// Returns where agreement starts before the first turn.
    #[must_use]
    pub fn genesis_base(&self) -> Base {
        Base::genesis(DAWN, self.genesis_state().root(), &self.genesis_set())
    }

    /// Returns who votes first.
    #[must_use]
    pub fn genesis_set(&self) -> ValidatorSet {
        let state = self.genesis_state();
        let set = state.roster.newest_set();
        self.own.leaders.as_ref().map_or_else(|| set.clone(), |leaders| led_by(set, leaders))
    }

    /// The application of the server in `seat`, going on from `state`.
    #[must_use]
    pub fn ledger(&self, seat: usize, state: LedgerState) -> LedgerDouble {
        let (admin, verifier) = (self.player(0).public(), Arc::clone(&self.verifier));
        let mut ledger = LedgerDouble::new(self.sim, admin, verifier, state);
        ledger.leaders = self.own.leaders.clone();
        ledger.flaws = Flaws::new(self.own.flaw, seat);
        ledger
    }

    /// Returns how the server in `seat` is set up.
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
}
