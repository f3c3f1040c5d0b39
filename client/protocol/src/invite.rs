//! Invites: what somebody who is in gives to somebody who wants to follow a sim with a node.
//!
//! An invite says which sim, from which certified header on its past may be believed, where servers
//! are, and what it grants. The issuer's signature covers all of it. Servers count for themselves
//! how often an invite was taken up.

use alloc::{string::String, vec::Vec};

use metatopia_types::{
    Certificate, CertificateError, Digest, Header, Millis, NodeContact, PublicKey, Sign, Signature,
    SimId, ValidatorSet, ValidatorSetError, Verify, wire,
};
use serde::{Deserialize, Serialize};

use crate::ADDRESS_BYTES_MAX;

/// Largest encoded invite: with 31 validators, a certificate of 31 signatures takes 3 KiB, their
/// keys 1.2 KiB, eight addresses 1 KiB and the rest less than 1 KiB.
pub const INVITE_BYTES_MAX: usize = 8 * 1_024;

/// Addresses in an invite.
pub const INVITE_ADDRESSES_MAX: usize = 8;

/// Nodes that one invite may let in.
pub const INVITE_USES_MAX: u32 = 1_024;

/// The longest time for which an invite is good, from the moment at which it is taken up, in milliseconds: 30
/// days. Servers remember invites until they expire.
pub const INVITE_VALID_MAX_MS: u64 = 30 * 24 * 60 * 60 * 1_000;

/// What an invite lets its holder do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Grant {
    /// Follow the sim and serve its clients, without a vote.
    Follow,
    /// As well, be shown to the admins as one who would vote.
    StandBy,
}

/// The way into a sim, for a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invite {
    /// A decided header: what came before it need not be proved to who trusts the issuer. It names
    /// the sim, and the same validators for its own height and the next.
    pub header: Header,
    /// For the header.
    pub certificate: Certificate,
    /// The validators that the header names.
    pub validators: ValidatorSet,
    /// Where nodes of the sim are, such as `http://127.0.0.1:8080`.
    pub addresses: Vec<String>,
    /// What it lets its holder do.
    pub grant: Grant,
    /// Nodes that each server lets in by it.
    pub uses: u32,
    /// The moment from which nobody is let in by it any more.
    pub expires: Millis,
    /// Who gives it: an admin, or a server of the sim.
    pub issuer: PublicKey,
    /// Random, so that two invites that say the same are counted apart.
    pub nonce: u64,
}

/// An invite with its issuer's signature.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignedInvite {
    /// What is signed.
    pub invite: Invite,
    /// The signature by the issuer.
    pub signature: Signature,
}

/// Why an invite is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InviteError {
    /// A list or number is out of its bounds.
    #[error("it has {0}")]
    Bounds(&'static str),
    /// The validators are no set.
    #[error("its validators are no set: {0}")]
    Validators(#[from] ValidatorSetError),
    /// The header is of other validators, or changes them.
    #[error("its header names other validators than it brings")]
    OtherValidators,
    /// The certificate is for another header.
    #[error("its certificate is for another header")]
    OtherHeader,
    /// The certificate proves nothing.
    #[error("its certificate proves nothing: {0}")]
    Certificate(#[from] CertificateError),
    /// The signature is not the issuer's.
    #[error("it is not signed by its issuer {0}")]
    Signature(PublicKey),
    /// It was good until then.
    #[error("it expired {} s ago", .now.0.saturating_sub(.at.0) / 1_000)]
    Expired {
        /// When it did.
        at: Millis,
        /// What time it is.
        now: Millis,
    },
}

impl Invite {
    /// The sim that it leads to.
    #[must_use]
    pub const fn sim(&self) -> SimId {
        self.header.sim
    }

    /// Returns the digest that the issuer signs and that names the invite.
    #[must_use]
    pub fn id(&self) -> Digest {
        Digest::of("metatopia invite v1", &wire::encode(self))
    }

    /// Signs it; `key` is that of `issuer`.
    #[must_use]
    pub fn sign(self, key: &dyn Sign) -> SignedInvite {
        let signature = key.sign(&self.id().0);
        SignedInvite { invite: self, signature }
    }

    fn check_bounds(&self) -> Result<(), InviteError> {
        let long = self.addresses.iter().any(|address| address.len() > ADDRESS_BYTES_MAX);
        let bad = [
            (self.addresses.is_empty(), "no address"),
            (self.addresses.len() > INVITE_ADDRESSES_MAX, "too many addresses"),
            (long, "an address that is too long"),
            (self.uses == 0 || self.uses > INVITE_USES_MAX, "an impossible number of uses"),
        ];
        match bad.into_iter().find(|(is_bad, _)| *is_bad) {
            Some((_, what)) => Err(InviteError::Bounds(what)),
            None => Ok(()),
        }
    }
}

impl SignedInvite {
    /// Checks that the invite is within its bounds, still good at `now`, and signed by its issuer. A server
    /// needs no other check, because it knows itself whether the issuer may invite.
    ///
    /// # Errors
    /// See [`InviteError`]. The cheap questions come first.
    pub fn check_issued(&self, now: Millis, scheme: &dyn Verify) -> Result<(), InviteError> {
        self.invite.check_bounds()?;
        if self.invite.expires <= now {
            return Err(InviteError::Expired { at: self.invite.expires, now });
        }
        let issuer = self.invite.issuer;
        if !scheme.verify(&issuer, &self.invite.id().0, &self.signature) {
            return Err(InviteError::Signature(issuer));
        }
        Ok(())
    }

    /// Checks what [`SignedInvite::check_issued`] checks, and that the checkpoint holds. A node that begins
    /// at the checkpoint needs both.
    ///
    /// # Errors
    /// See [`InviteError`].
    pub fn check(&self, now: Millis, scheme: &dyn Verify) -> Result<(), InviteError> {
        let Invite { header, certificate, validators, .. } = &self.invite;
        self.check_issued(now, scheme)?;
        validators.check()?;
        if header.validators != validators.id() || header.next_validators != header.validators {
            return Err(InviteError::OtherValidators);
        }
        if (certificate.height, certificate.header) != (header.height, header.id()) {
            return Err(InviteError::OtherHeader);
        }
        Ok(certificate.verify(header.sim, validators, scheme)?)
    }
}

/// A node's wish to follow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JoinRequest {
    /// The invite that gives the right.
    pub invite: SignedInvite,
    /// What it would vote with, if its invite grants that it stands by.
    pub applicant: Option<Applicant>,
}

/// A follower that would vote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Applicant {
    /// What it would sign votes with.
    pub key: PublicKey,
    /// Where its node is reached.
    pub contact: NodeContact,
}

/// Why a node is not let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum JoinRefusal {
    /// The invite leads to another sim.
    #[error("the invite is for sim {0}")]
    OtherSim(SimId),
    /// The invite is malformed or not signed by its issuer.
    #[error("the invite proves nothing")]
    Invalid,
    /// The invite's time is over.
    #[error("the invite has expired")]
    Expired,
    /// Its issuer is neither an admin nor a server.
    #[error("its issuer {0} is neither an admin nor a server of the sim")]
    Issuer(PublicKey),
    /// As many nodes as it may let in have come.
    #[error("the invite was used {0} times, which is as often as it may be")]
    Used(u32),
    /// The invite does not grant to stand by.
    #[error("the invite grants to follow, not to stand by for a vote")]
    Grant,
    /// There is no room, or the node takes no followers.
    #[error("the node has no room for another follower")]
    Full,
    /// The invite is good for longer than invites may be.
    #[error("the invite is good for more than 30 days from now, longer than invites may be")]
    TooLong,
}
