//! How an agreement is set up.

use std::sync::Arc;

use metatopia_types::{Sign, SimId, Verify};

use crate::Patience;

/// What does not change while an agreement lives.
#[derive(Clone)]
pub struct AgreementConfig {
    /// The sim whose turns are agreed on.
    pub sim: SimId,
    /// The rules that this server runs.
    pub engine: u32,
    /// Least time between two turns, in milliseconds; at least 1. The same on all servers.
    pub turn_length: u64,
    /// Signs what this server says. Its public key is the server's name.
    pub signer: Arc<dyn Sign>,
    /// Checks what others say.
    pub scheme: Arc<dyn Verify>,
    /// Whether this key never signed anything in this sim before this log began. If it did, and the log does
    /// not say what it signed, the server stays silent until it cannot contradict itself.
    pub fresh_key: bool,
    /// Whether the server must sign nothing in this life, whatever its log allows. It follows then.
    pub silent: bool,
    /// How long it waits for what.
    pub patience: Patience,
}

impl AgreementConfig {
    /// Returns the settings of a server of `sim` that runs `engine`, with the default patience.
    #[must_use]
    pub fn new(
        sim: SimId,
        engine: u32,
        turn_length: u64,
        signer: Arc<dyn Sign>,
        scheme: Arc<dyn Verify>,
        fresh_key: bool,
    ) -> Self {
        let (silent, patience) = (false, Patience::default());
        Self { sim, engine, turn_length, signer, scheme, fresh_key, silent, patience }
    }
}

impl core::fmt::Debug for AgreementConfig {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Config")
            .field("sim", &self.sim)
            .field("engine", &self.engine)
            .field("turn_length", &self.turn_length)
            .field("server", &self.signer.public())
            .field("fresh_key", &self.fresh_key)
            .field("silent", &self.silent)
            .field("patience", &self.patience)
            .finish_non_exhaustive()
    }
}

/// Switches that break one rule each. A node has no way to set them; with the feature `controls` the
/// simulated world turns them on, to show that it would see the rule missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(not(feature = "controls"), expect(unreachable_pub, reason = "public with a feature"))]
pub struct AgreementControls {
    /// Messages leave before the log is durable.
    pub no_barrier: bool,
    /// Turns are voted for without their bytes in the log.
    pub turns_not_logged: bool,
    /// While the log is read again, turns are judged as well.
    pub eager_replay: bool,
    /// While the log is read again, the core does not know our own votes in it.
    pub no_index: bool,
    /// Nobody proposes before a height begins.
    pub no_promises: bool,
    /// Two fifths of the voting power are a quorum.
    pub small_quorum: bool,
    /// A fresh turn is prevoted for, whatever was precommitted before.
    pub lock_ignored: bool,
    /// What others prevote is not in the log.
    pub lock_not_logged: bool,
    /// Our own votes are not in the log, nor the time-outs that led to them.
    pub votes_not_logged: bool,
    /// Clients are told of a decision before it is durable.
    pub early_receipts: bool,
    /// Nobody is given what was decided.
    pub no_help: bool,
    /// The voters of the height before vote.
    pub stale_set: bool,
    /// The time of a turn is held against our clock whenever it is judged.
    pub time_judged_again: bool,
    /// A restart forgets what is waited for.
    pub timers_lost: bool,
    /// Evidence is thrown away.
    pub evidence_ignored: bool,
    /// Who asks for the rest of a turn throws away what it has of that.
    pub parts_dropped: bool,
    /// Who lost its log never signs again.
    pub stays_silent: bool,
}
