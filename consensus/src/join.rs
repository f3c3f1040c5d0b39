//! How a stranger comes to believe a recent state without replaying what led to it.

use metatopia_types::{
    Certificate, Header, Height, LinkError, Millis, Root, SimId, Trust, ValidatorSet, Verify,
    certified, follow,
    limits::{ROOT_LAG, SET_LAG},
    wire,
};
use serde::{Deserialize, Serialize};

use crate::{
    Base, Link,
    limits::{JOIN_PACK_BYTES_MAX, LINKS_MAX},
};

/// What a server gives to one that joins: proof of the root of the state after `headers[0]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JoinPack {
    /// Every change of the members since genesis, ascending by height.
    pub links: Vec<Link>,
    /// The header of the state's height and the two after it; the last one states the root.
    pub headers: [Header; ROOT_LAG as usize + 1],
    /// Signed for the last of them.
    pub certificate: Certificate,
}

/// A proved state: what to fetch, and what must come out of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// The height of the state.
    pub height: Height,
    /// Its root: the state to fetch.
    pub root: Root,
    /// The time of its header.
    pub time: Millis,
    pack: JoinPack,
}

/// Why a join pack is not believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum JoinPackError {
    /// More links than a pack may have.
    #[error("{0} set changes where at most {LINKS_MAX} are allowed")]
    TooManyLinks(usize),
    /// A set change or the last header is not believed.
    #[error(transparent)]
    Link(#[from] LinkError),
    /// The last headers do not follow each other.
    #[error("the header of height {0} does not follow the one before it")]
    Chain(Height),
    /// The sets that came out of the state are not those the headers name.
    #[error("the state gives other validators for height {0}")]
    OtherSet(Height),
}

impl JoinPack {
    /// The number of the encoding. A pack outlives its sim: a successor shows it to whoever asks for the
    /// proof of its parent, so it says by itself how it is read.
    pub const FORMAT: u8 = 1;

    /// Encodes the pack for a file or another sim.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        wire::encode_format(Self::FORMAT, self)
    }

    /// Decodes a pack from a file or another sim. The pack is not verified yet.
    ///
    /// # Errors
    /// Bytes that are too many, are of another format, are no join pack, or are one in another than its
    /// canonical form.
    pub fn decode(bytes: &[u8]) -> Result<Self, wire::DecodeError> {
        wire::decode_format(Self::FORMAT, bytes, JOIN_PACK_BYTES_MAX)
    }

    /// Walks the set changes from `trust` to the last header.
    ///
    /// Old keys can sign another history, so a trust of long ago is worth little: take a recent
    /// checkpoint from somebody you know.
    ///
    /// # Errors
    /// See [`JoinPackError`].
    pub fn verify(
        &self,
        sim: SimId,
        trust: &Trust,
        scheme: &dyn Verify,
    ) -> Result<Checkpoint, JoinPackError> {
        let [state, _, last] = &self.headers;
        let members = members_at(&self.links, sim, trust, last.height, scheme)?;
        certified(sim, last, &self.certificate, &members, scheme)?;
        for pair in self.headers.windows(2) {
            let follows =
                pair[1].height == pair[0].height.plus(1) && pair[1].previous == pair[0].id();
            if !follows {
                return Err(JoinPackError::Chain(pair[1].height));
            }
        }
        Ok(Checkpoint {
            height: state.height,
            root: last.root,
            time: state.time,
            pack: self.clone(),
        })
    }
}

/// Returns who votes at `height`, by following these member changes from `trust`.
///
/// # Errors
/// See [`JoinPackError`]: each change must be certified by those who voted before it.
pub fn members_at(
    links: &[Link],
    sim: SimId,
    trust: &Trust,
    height: Height,
    scheme: &dyn Verify,
) -> Result<ValidatorSet, JoinPackError> {
    if links.len() > LINKS_MAX {
        return Err(JoinPackError::TooManyLinks(links.len()));
    }
    let from = (trust.height, &trust.validators);
    Ok(follow(links, sim, from, height, scheme)?)
}

impl Checkpoint {
    /// Returns where agreement starts from. The state must be there and must say who votes at the
    /// next [`SET_LAG`] heights.
    ///
    /// # Errors
    /// [`JoinPackError::OtherSet`] if the headers name others: then it is not that state.
    pub fn base(&self, sets: [ValidatorSet; SET_LAG as usize]) -> Result<Base, JoinPackError> {
        let [state, next, last] = &self.pack.headers;
        let named = [next.validators, last.validators, last.next_validators];
        for ((ahead, set), named) in (1..).zip(&sets).zip(named) {
            if set.id() != named {
                return Err(JoinPackError::OtherSet(self.height.plus(ahead)));
            }
        }
        let links = self.pack.links.iter();
        Ok(Base {
            height: self.height,
            header: state.id(),
            time: state.time,
            roots: [next.root, last.root],
            sets,
            links: links.filter(|link| link.header.height <= self.height).cloned().collect(),
            voice: false,
        })
    }
}
