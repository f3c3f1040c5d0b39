//! Dispatches: what a sim says to a neighbour, with all that the neighbour needs to believe it.

use alloc::{collections::BTreeMap, vec::Vec};

use serde::{Deserialize, Serialize};

use super::said::{Said, SaidError, said_key};
use crate::{
    Blob, Certificate, Digest, Header, Height, Link, LinkError, Parcel, SimId, StateProof,
    ValidatorSet, Verify, certified, follow, limits,
    wire::{self, DecodeError},
};

/// The number of the format in which this program writes and reads dispatches.
pub const DISPATCH_FORMAT: u8 = 1;

/// Something to believe of a neighbour. It is a blob, which [`Act::Hear`](crate::Act::Hear) names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dispatch {
    /// Changes of who votes there, ascending; those that are known are passed over. At most
    /// [`limits::DISPATCH_LINKS_MAX`]: with more, they come before the rest in dispatches of their own.
    pub links: Vec<Link>,
    /// What it says; none if the dispatch is of links only.
    pub state: Option<DispatchedState>,
}

/// What a sim says after turn h, as header h + [`limits::ROOT_LAG`] proves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DispatchedState {
    /// The header whose root is that of the state after turn h.
    pub header: Header,
    /// Signed by the validators of the header's height.
    pub certificate: Certificate,
    /// The leaf [`said_key`] of the state after turn h.
    pub said: StateProof,
    /// The parcels of its departures that fit, each as [`Parcel::encode`] made it, in the order of their
    /// numbers. They are found by their digests.
    #[serde(with = "wire::pieces")]
    pub parcels: Vec<Vec<u8>>,
}

/// What a dispatch tells that was not known before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Worth {
    /// Nothing but that time has passed.
    Time,
    /// Who votes there.
    Links,
    /// Something that the neighbour says for the first time.
    News,
    /// Another state of the height that was heard last, certified as well: the border closes for good.
    Fork,
}

/// Why a dispatch is not heard.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, thiserror::Error,
)]
pub enum HearRefusal {
    /// Only a server of the sim says what it heard.
    #[error("only a server of this sim says what it heard of a neighbour")]
    NotServer,
    /// There is no border to that sim.
    #[error("there is no border to that sim")]
    NoBorder,
    /// The neighbour signed two states of one height, so nothing is believed of it any more.
    #[error("the neighbour signed two states of one height; nothing is believed of it any more")]
    Frozen,
    /// The blob is no dispatch, or is of another format.
    #[error("that is no dispatch of a format that is known here")]
    NoDispatch,
    /// More set changes or parcels than one dispatch may bring.
    #[error("the dispatch brings more set changes or parcels than one may")]
    TooMuch,
    /// A set change or the header is not certified by those who vote there, as far as is known here.
    #[error("it is not certified by those who vote there, as far as is known here")]
    NotCertified,
    /// The proof is of another leaf than that for this sim.
    #[error("the proof is of another leaf than what the neighbour says to this sim")]
    OtherLeaf,
    /// The leaf is not in the state that the header states.
    #[error("the leaf is not in the state that the header states")]
    NotProved,
    /// The neighbour writes in a format that this engine cannot read.
    #[error("the neighbour writes in a format that this engine cannot read; update the sim")]
    OtherFormat,
    /// What the neighbour says breaks a rule.
    #[error("what the neighbour says breaks a rule")]
    BadSaid,
    /// It is no later than what was heard last, or says the same too soon.
    #[error("it tells nothing that is not known here")]
    NothingNew,
    /// It is of validators to whom no change leads: strangers, or the neighbour's servers have forgotten a change.
    #[error(
        "no change leads from the validators that this sim follows to those who signed; where the neighbour's servers \
         have forgotten one, no border to it can be open"
    )]
    Unfollowed,
}

/// What a dispatch proves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProvedSaid {
    /// The height of the header.
    pub at: Height,
    /// The digest of the header.
    pub header: crate::HeaderId,
    /// What the neighbour says.
    pub said: Said,
    /// The parcels, by their digests.
    pub parcels: BTreeMap<Digest, Vec<u8>>,
}

impl Dispatch {
    /// Returns the blob that the act names.
    #[must_use]
    pub fn blob(&self) -> Blob {
        Blob(wire::encode_format(DISPATCH_FORMAT, self))
    }

    /// Decodes the bytes of such a blob.
    ///
    /// # Errors
    /// When they are too many, of another format, or no dispatch.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        wire::decode_format(DISPATCH_FORMAT, bytes, limits::BLOB_BYTES_MAX)
    }

    /// Returns the height after which the returned validators vote, and what the neighbour says to `to`.
    /// `known` are the validators who vote there after the turn of a height.
    ///
    /// # Errors
    /// See [`HearRefusal`]: what needs no signature to be refused is refused first.
    pub fn prove(
        &self,
        neighbour: SimId,
        to: SimId,
        known: (Height, &ValidatorSet),
        scheme: &dyn Verify,
    ) -> Result<((Height, ValidatorSet), Option<ProvedSaid>), HearRefusal> {
        if self.links.len() > limits::DISPATCH_LINKS_MAX {
            return Err(HearRefusal::TooMuch);
        }
        let bad = |why| match why {
            LinkError::Missing(_) => HearRefusal::Unfollowed,
            _ => HearRefusal::NotCertified,
        };
        let Some(state) = &self.state else {
            let last = self.links.last().ok_or(HearRefusal::NothingNew)?.header.height;
            if last <= known.0 {
                return Err(HearRefusal::NothingNew);
            }
            let set = follow(&self.links, neighbour, known, last.plus(1), scheme).map_err(bad)?;
            return Ok(((last, set), None));
        };
        let said = state.check(to)?;
        let at = state.header.height;
        let before = at.minus(1).unwrap_or_default();
        if before < known.0 {
            return Err(HearRefusal::NothingNew);
        }
        let set = follow(&self.links, neighbour, known, at, scheme).map_err(bad)?;
        certified(neighbour, &state.header, &state.certificate, &set, scheme).map_err(bad)?;
        let parcels = state.parcels.iter().map(|bytes| (Parcel::digest(bytes), bytes.clone()));
        let (header, parcels) = (state.header.id(), parcels.collect());
        Ok(((before, set), Some(ProvedSaid { at, header, said, parcels })))
    }
}

impl DispatchedState {
    /// Checks all that needs no signature, and returns what is said.
    fn check(&self, to: SimId) -> Result<Said, HearRefusal> {
        if self.parcels.len() > limits::DEPARTURES_MAX {
            return Err(HearRefusal::TooMuch);
        }
        if self.said.key != said_key(to) {
            return Err(HearRefusal::OtherLeaf);
        }
        self.said.verify(self.header.root).map_err(|_| HearRefusal::NotProved)?;
        let said = Said::decode(&self.said.content).map_err(|why| match why {
            SaidError::Decode(DecodeError::Format { .. }) => HearRefusal::OtherFormat,
            _ => HearRefusal::BadSaid,
        })?;
        // The state after a turn says which turn that was, so a proof by a later header of the same root
        // makes it no younger. Before its first turn a sim says nothing.
        let is_of_turn = said.height > Height(0);
        if !is_of_turn || said.height.plus(limits::ROOT_LAG) != self.header.height {
            return Err(HearRefusal::BadSaid);
        }
        Ok(said)
    }
}
