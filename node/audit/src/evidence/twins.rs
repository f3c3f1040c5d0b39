//! Two certified headers of one height: what closes a border for good, with all that a stranger needs to
//! check it.

mod line;
mod search;
#[cfg(test)]
mod tests;

use metatopia_types::{
    Certificate, Ed25519, GenesisHead, GenesisHeadError, Header, HeaderId, Height, Link, LinkError,
    Round, SimId, Validator, ValidatorSet, ValidatorSetError, ValidatorsId, certified, follow,
    wire, wire::DecodeError,
};
use serde::{Deserialize, Serialize};

pub use self::{
    line::TwinLine,
    search::{TwinLost, TwinsFound, search_twins},
};
use super::EVIDENCE_BYTES_MAX;

/// The text that these files begin with, whatever their version.
const KIND: &str = "metatopia two headers v";

/// The text that files of this version begin with.
const MARK: &str = "metatopia two headers v1";

/// A header with the certificate that came with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TwinHeader {
    /// The header that was certified.
    pub header: Header,
    /// The signatures of those who vote at its height.
    pub certificate: Certificate,
}

/// Where the validators come from who are said to vote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum TwinBasis {
    /// The head of the sim's genesis: its digest is the sim's id, so the file proves who votes.
    Head(Box<GenesisHead>),
    /// The members that the sim next door had followed: the file proves nothing of them.
    Given {
        /// The height after whose turn they vote.
        after: Height,
        /// Who votes then, ascending by key.
        members: Vec<Validator>,
    },
}

/// Two headers of one height that one sim certified.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TwinHeaders {
    /// The sim that certified both.
    pub sim: SimId,
    /// Who votes to begin with.
    pub basis: TwinBasis,
    /// The changes of who votes from there to the height of the headers, ascending.
    pub links: Vec<Link>,
    /// The two headers.
    pub headers: [TwinHeader; 2],
}

/// The file of such pairs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TwinFile {
    /// The pairs, by sims and heights.
    pub twins: Vec<TwinHeaders>,
}

/// The reason why bytes are no file of two headers.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TwinFileError {
    /// The bytes are malformed, or too many.
    #[error("no file of two headers: {0}; fetch it again from whoever wrote it")]
    Decode(#[from] DecodeError),
    /// Another version wrote the file.
    #[error("a file of two headers of another version; verify it with the program that wrote it")]
    OtherVersion,
}

/// The reason why two headers show nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TwinFault {
    /// A header is of another sim than the pair.
    #[error("a header is of sim {found}, and the pair is about sim {sim}")]
    OtherSim {
        /// The sim that the pair is about.
        sim: SimId,
        /// The sim that the header names.
        found: SimId,
    },
    /// The headers are of two heights, as those of every sim are.
    #[error("the headers are of two heights, {first} and {second}")]
    Heights {
        /// The height of the first.
        first: Height,
        /// The height of the second.
        second: Height,
    },
    /// Both headers are the same one.
    #[error("both headers are {0}: that is one turn, certified as it should be")]
    SameHeader(HeaderId),
    /// The head of the genesis is that of another sim.
    #[error("the genesis in the file is that of sim {found}, and the pair is about sim {sim}")]
    OtherHead {
        /// The sim that the pair is about.
        sim: SimId,
        /// The sim that the head is of.
        found: SimId,
    },
    /// The head of the genesis is of no sim.
    #[error("the genesis in the file: {0}")]
    Head(#[from] GenesisHeadError),
    /// The given members are no set.
    #[error("the validators that the file gives: {0}")]
    Members(#[from] ValidatorSetError),
    /// The given members vote only after the height of the headers.
    #[error(
        "the validators that the file gives vote after height {after}, which is not below {height}"
    )]
    Late {
        /// The height after which they vote.
        after: Height,
        /// The height of the headers.
        height: Height,
    },
    /// A change of who votes does not hold.
    #[error("a set change in the file does not hold: {0}")]
    Change(LinkError),
    /// One of the headers is not certified by those who vote.
    #[error("a header is not certified: {0}")]
    Header(LinkError),
    /// The members are given, and nobody said to believe in them.
    #[error(
        "the validators of height {height} are given by the file and not proved; ask a node of that sim who voted \
         then, by `metatopia sim show --node URL --at {height}`, and if it is set {validators}, say so by --validators"
    )]
    Unproved {
        /// The height of the headers.
        height: Height,
        /// The digest of the set that certified both.
        validators: ValidatorsId,
    },
}

/// What two headers of one height prove.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TwinProof {
    /// The height of both headers.
    pub height: Height,
    /// The digests of the headers.
    pub headers: [HeaderId; 2],
    /// The rounds in which they were certified.
    pub rounds: [Round; 2],
    /// The digest of the set that certified both.
    pub validators: ValidatorsId,
    /// Who signed both.
    pub both: Vec<Validator>,
    /// The voting power of the whole set.
    pub total: u64,
}

impl TwinProof {
    /// Returns the voting power of those who signed both: more than a third of all.
    #[must_use]
    pub fn power(&self) -> u64 {
        self.both.iter().map(|member| u64::from(member.power)).sum()
    }
}

impl TwinBasis {
    /// Returns who votes after which height.
    ///
    /// # Errors
    /// When the head is of no sim or of another one, or the members are no set.
    pub fn voters(&self, sim: SimId) -> Result<(Height, ValidatorSet), TwinFault> {
        match self {
            Self::Head(head) if head.id() != sim => {
                Err(TwinFault::OtherHead { sim, found: head.id() })
            }
            Self::Head(head) => Ok((Height(0), head.check()?)),
            Self::Given { after, members } => {
                Ok((*after, ValidatorSet::new(members.clone(), |_| true)?))
            }
        }
    }
}

impl TwinHeaders {
    /// Checks the pair by itself: one sim, one height, two digests, and both certified by those who vote.
    /// `believed` are the sets that whoever asks believes in, for a pair whose set is only given.
    ///
    /// # Errors
    /// See [`TwinFault`].
    pub fn check(&self, believed: &[ValidatorsId]) -> Result<TwinProof, TwinFault> {
        let [one, other] = &self.headers;
        let headers = [one.header.id(), other.header.id()];
        for TwinHeader { header, .. } in &self.headers {
            if header.sim != self.sim {
                return Err(TwinFault::OtherSim { sim: self.sim, found: header.sim });
            }
        }
        let height = one.header.height;
        if height != other.header.height {
            return Err(TwinFault::Heights { first: height, second: other.header.height });
        }
        if headers[0] == headers[1] {
            return Err(TwinFault::SameHeader(headers[0]));
        }
        let (after, first) = self.basis.voters(self.sim)?;
        if after >= height {
            return Err(TwinFault::Late { after, height });
        }
        // A change that is passed over would be in the file for nothing.
        if let Some(link) = self.links.iter().find(|link| link.header.height <= after) {
            return Err(TwinFault::Change(LinkError::Order(link.header.height)));
        }
        let set = follow(&self.links, self.sim, (after, &first), height, &Ed25519)
            .map_err(TwinFault::Change)?;
        for TwinHeader { header, certificate } in &self.headers {
            certified(self.sim, header, certificate, &set, &Ed25519).map_err(TwinFault::Header)?;
        }
        let validators = set.id();
        let is_given = matches!(self.basis, TwinBasis::Given { .. });
        if is_given && !believed.contains(&validators) {
            return Err(TwinFault::Unproved { height, validators });
        }
        let rounds = [one.certificate.round, other.certificate.round];
        Ok(TwinProof {
            height,
            headers,
            rounds,
            validators,
            both: self.signers_of_both(&set),
            total: set.total_power(),
        })
    }

    /// Returns the members of a set whose signatures are in both certificates.
    fn signers_of_both(&self, set: &ValidatorSet) -> Vec<Validator> {
        let signed = |member: &&Validator| {
            let has = |twin: &TwinHeader| {
                twin.certificate.signatures.iter().any(|(key, _)| *key == member.key)
            };
            self.headers.iter().all(has)
        };
        set.members().iter().filter(signed).copied().collect()
    }
}

impl TwinFile {
    /// Says whether bytes begin as a file of two headers does, of any version.
    #[must_use]
    pub fn is_at(bytes: &[u8]) -> bool {
        wire::decode_first::<String>(bytes).is_ok_and(|mark| mark.starts_with(KIND))
    }

    /// Returns the bytes of the file.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        wire::encode(&(MARK, self))
    }

    /// Reads what [`TwinFile::encode`] made. It checks none of the pairs.
    ///
    /// # Errors
    /// When the bytes are of another kind or version, or too many.
    pub fn decode(bytes: &[u8]) -> Result<Self, TwinFileError> {
        let mark = wire::decode_first::<String>(bytes).map_err(TwinFileError::Decode)?;
        if mark.starts_with(KIND) && mark != MARK {
            return Err(TwinFileError::OtherVersion);
        }
        let (mark, file): (String, Self) = wire::decode(bytes, EVIDENCE_BYTES_MAX)?;
        let is_this = mark == MARK;
        if is_this { Ok(file) } else { Err(DecodeError::Malformed.into()) }
    }
}
