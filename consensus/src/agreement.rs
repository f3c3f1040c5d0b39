//! The agreement machine of one sim on one server.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use metatopia_types::{Digest, Height, Now, PublicKey, Round, ValidatorSet};

use crate::{Base, Config, Decision, Effect, Host, Input, JoinPack, Record};

/// Orders turns together with the other servers of a sim.
#[derive(Debug)]
pub struct Agreement {
    config: Config,
    base: Base,
    effects: VecDeque<Effect>,
}

/// Why a log is not one that an agreement wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// A turn is decided whose bytes are missing.
    #[error("the log decides height {0} without the turn's bytes")]
    NoTurn(Height),
    /// Heights are decided or applied out of order.
    #[error("the log jumps to height {0}")]
    Gap(Height),
}

impl Agreement {
    /// Starts from `base` and what the log holds after it; records of earlier heights are skipped.
    /// All records are durable. Effects follow: poll them.
    ///
    /// # Errors
    /// See [`OpenError`].
    pub fn open(
        config: Config,
        base: Base,
        records: impl IntoIterator<Item = Record>,
        now: Now,
        host: &mut dyn Host,
    ) -> Result<Self, OpenError> {
        let _ = (records.into_iter().count(), now, host);
        Ok(Self {
            config,
            base,
            effects: VecDeque::new(),
        })
    }

    /// Something happened. Then poll the effects and look at the deadline.
    pub fn handle(&mut self, now: Now, host: &mut dyn Host, input: Input) {
        let _ = (now, host, input);
    }

    /// The next thing to do.
    pub fn poll(&mut self) -> Option<Effect> {
        self.effects.pop_front()
    }

    /// When to hand in [`Input::Wake`], in monotonic time.
    #[must_use]
    pub fn deadline(&self) -> Option<Duration> {
        None
    }

    /// A digest of what this machine knows, for traces.
    #[must_use]
    pub fn digest(&self) -> Digest {
        Digest::ZERO
    }

    /// The height that is being agreed on.
    #[must_use]
    pub fn height(&self) -> Height {
        self.base.height.plus(1)
    }

    /// The round of that height; none before it begins.
    #[must_use]
    pub fn round(&self) -> Option<Round> {
        None
    }

    /// Who proposes in that round.
    #[must_use]
    pub fn proposer(&self) -> Option<PublicKey> {
        None
    }

    /// The last decision; none right after the base.
    #[must_use]
    pub fn tip(&self) -> Option<&Arc<Decision>> {
        None
    }

    /// The decision of a height, while it is in memory.
    #[must_use]
    pub fn decision(&self, _height: Height) -> Option<&Arc<Decision>> {
        None
    }

    /// Who votes at a height from a little before the last decided one to a little after it.
    #[must_use]
    pub fn validators(&self, _height: Height) -> Option<&Arc<ValidatorSet>> {
        None
    }

    /// Does this server vote at the height that is being agreed on?
    #[must_use]
    pub fn is_voting(&self) -> bool {
        let _ = &self.config;
        false
    }

    /// Where to start from next time, for a recently applied height.
    #[must_use]
    pub fn base(&self, _height: Height) -> Option<Base> {
        None
    }

    /// What somebody needs to believe the state after a recent height, at least two below the tip.
    #[must_use]
    pub fn join_pack(&self, _height: Height) -> Option<JoinPack> {
        None
    }
}
