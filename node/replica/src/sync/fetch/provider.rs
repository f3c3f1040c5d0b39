//! One provider: how far it is asked, and what may be wrong with it.

use std::time::Duration;

use metatopia_consensus::JoinPackError;
use metatopia_protocol::{SnapshotOffer, ValidatorSetLink};
use metatopia_sim::StateRestoreError;
use metatopia_types::{Height, LeafKey, wire::DecodeError};

/// Why a provider is asked for nothing more.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProviderFault {
    /// It left questions unanswered.
    #[error("it does not answer")]
    Silent,
    /// It had too much to do each time that it was asked.
    #[error("it has too much to do to give anything")]
    Busy,
    /// An answer to something else than was asked.
    #[error("it answers another question than it was asked")]
    Unasked,
    /// A header or set change that is not certified.
    #[error("what it calls decided is not: {0}")]
    Undecided(#[from] JoinPackError),
    /// A turn that its header does not name.
    #[error("its turn {0} holds something else than was decided")]
    OtherBody(Height),
    /// Set changes that are not in order.
    #[error("its set changes are out of order at height {0}")]
    Order(Height),
    /// Set changes that do not lead from genesis to what is trusted.
    #[error("its set changes lead from genesis to other validators")]
    OtherPast,
    /// An offer that makes no sense.
    #[error("it offers a snapshot that cannot be one")]
    Offer,
    /// A header that the certified one does not follow.
    #[error("its header of height {0} is not the one that was decided")]
    OtherHeader(Height),
    /// A manifest that is none.
    #[error("its manifest is none: {0}")]
    NoManifest(DecodeError),
    /// A manifest of another state.
    #[error("its manifest is not the certified one: {0}")]
    Manifest(StateRestoreError),
    /// A leaf that is not the one in the manifest.
    #[error("its leaf {0} does not hash to what the manifest says")]
    Leaf(LeafKey),
}

/// How a provider stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProviderState {
    /// It is being asked what it has.
    Asked,
    /// It gives what it has.
    Giving,
    /// It does not have the state that is being fetched, or not any more.
    Lacking,
    /// It cannot be reached.
    Down,
    /// It is asked for nothing more.
    Dropped,
}

#[derive(Debug)]
pub(super) enum ProviderStage {
    /// Its set changes are asked for, from after this height.
    Links {
        after: Height,
    },
    /// It is asked for an offer.
    Offer,
    /// Its offer is believed.
    Ready(Box<SnapshotOffer>),
    Dropped,
}

#[derive(Debug)]
pub(super) struct Provider {
    pub(super) stage: ProviderStage,
    pub(super) down: bool,
    /// Not asked before.
    pub(super) rests: Option<Duration>,
    pub(super) silences: u32,
    /// Answers in a row that it has too much to do.
    pub(super) busies: u32,
    /// States that it offered and that were given up.
    pub(super) in_vain: u32,
    /// It was asked for set changes again, because its offer needs newer ones.
    pub(super) walked_again: bool,
    /// It does not have the state of this height.
    pub(super) lacks: Option<Height>,
    /// Its set changes of before what is trusted.
    pub(super) past: Vec<ValidatorSetLink>,
    /// Bytes of leaves that it gave.
    pub(super) bytes: u64,
}

impl Provider {
    pub(super) fn new(after: Height) -> Self {
        Self {
            stage: ProviderStage::Links { after },
            down: false,
            rests: None,
            silences: 0,
            busies: 0,
            in_vain: 0,
            walked_again: false,
            lacks: None,
            past: Vec::new(),
            bytes: 0,
        }
    }

    /// Returns whether the provider may be asked, now or later.
    pub(super) fn is_asked(&self) -> bool {
        !self.down && !matches!(self.stage, ProviderStage::Dropped)
    }

    pub(super) fn offer(&self) -> Option<&SnapshotOffer> {
        match &self.stage {
            ProviderStage::Ready(offer) if !self.down => Some(offer),
            _ => None,
        }
    }

    /// Returns whether an offer of the provider may still come.
    pub(super) fn waits_to_offer(&self) -> bool {
        self.is_asked() && self.offer().is_none()
    }

    /// Returns the bytes of the state of this height, as far as the provider says anything of it.
    pub(super) fn length(&self, height: Height) -> u64 {
        let offer = self.offer().filter(|offer| offer.height == height);
        offer.map_or(u64::MAX, |offer| offer.bytes)
    }

    pub(super) fn state(&self) -> ProviderState {
        match &self.stage {
            ProviderStage::Dropped => ProviderState::Dropped,
            _ if self.down => ProviderState::Down,
            ProviderStage::Ready(_) if self.lacks.is_some() => ProviderState::Lacking,
            ProviderStage::Ready(_) => ProviderState::Giving,
            ProviderStage::Links { .. } | ProviderStage::Offer => ProviderState::Asked,
        }
    }
}
