//! Invites that let nobody in: what is wrong with each, and what whoever reads it must say.

use std::collections::BTreeMap;

use metatopia_protocol::{Grant, InviteError, JoinRefusal, SignedInvite};
use metatopia_types::{
    Certificate, Digest, Header, PublicKey, Sign, SimId, Validator, ValidatorSet, Vote, VoteKind,
};

use super::place_setting::ReplicaSetting;

/// An invite whose time is over was good until a day ago: no clock is that wrong.
const DAY_MS: u64 = 24 * 3_600_000;

/// Numbers the keys of whoever makes invites up, far from those of people.
const FORGER_KEYS: u64 = 30_000;

/// Servers of a sim that a forger made up.
const FORGED_SERVERS: u64 = 4;

/// What is wrong with an invite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BadInvite {
    /// Its time is over.
    Expired,
    /// As many came by it as may.
    UsedUp,
    /// Who issued it is nobody in the sim.
    Stranger,
    /// Somebody changed it after it was signed.
    Altered,
    /// It leads to a sim with the same servers, and another name.
    OtherSim,
    /// The certificate of its checkpoint does not hold.
    Uncertified,
    /// Its checkpoint is of servers that there never were, and they certify it.
    Forged,
}

impl BadInvite {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Expired,
        Self::UsedUp,
        Self::Stranger,
        Self::Altered,
        Self::OtherSim,
        Self::Uncertified,
        Self::Forged,
    ];

    /// Makes a bad one of a good invite of the admin's.
    #[must_use]
    pub fn spoil(self, setting: &ReplicaSetting, good: SignedInvite) -> SignedInvite {
        let SignedInvite { mut invite, signature } = good;
        let admin = setting.player(0);
        match self {
            Self::Expired => {
                invite.expires.0 = invite.header.time.0.saturating_sub(DAY_MS);
            }
            Self::UsedUp => invite.uses = 1,
            Self::Stranger => {
                let nobody = setting.player(FORGER_KEYS);
                invite.issuer = nobody.public();
                return invite.sign(&*nobody);
            }
            Self::Altered => {
                invite.grant = match invite.grant {
                    Grant::Follow => Grant::StandBy,
                    Grant::StandBy => Grant::Follow,
                };
                return SignedInvite { invite, signature };
            }
            Self::OtherSim => {
                invite.header.sim = SimId(Digest::ZERO);
                // A server that runs twice has one key.
                let servers = setting.keys.iter().map(|key| (key.public(), &**key));
                let servers: BTreeMap<PublicKey, &dyn Sign> = servers.collect();
                let votes = |name: &PublicKey| invite.validators.get(name).is_some();
                let voters = servers.into_iter().filter(|(name, _)| votes(name));
                let voters: Vec<&dyn Sign> = voters.map(|(_, key)| key).collect();
                invite.certificate = certify(&invite.header, &voters);
            }
            Self::Uncertified => {
                let signatures = &mut invite.certificate.signatures;
                let mut others: Vec<_> = signatures.iter().map(|(_, signed)| *signed).collect();
                others.rotate_left(1);
                signatures.iter_mut().zip(others).for_each(|((_, signed), other)| *signed = other);
            }
            Self::Forged => {
                let keys = (1..=FORGED_SERVERS).map(|n| setting.player(FORGER_KEYS + n));
                let keys: Vec<_> = keys.collect();
                let member = |key: &dyn Sign| Validator { key: key.public(), power: 1 };
                let members = keys.iter().map(|key| member(&**key)).collect();
                let set = ValidatorSet::new(members, |_| true).expect("four keys of power 1");
                (invite.header.validators, invite.header.next_validators) = (set.id(), set.id());
                invite.validators = set;
                let voters: Vec<&dyn Sign> = keys.iter().map(|key| &**key).collect();
                invite.certificate = certify(&invite.header, &voters);
            }
        }
        invite.sign(&*admin)
    }

    /// Returns whether the holder of the invite found what can be found without any server.
    #[must_use]
    pub const fn is_found(self, checked: &Result<(), InviteError>) -> bool {
        match self {
            Self::Expired => matches!(checked, Err(InviteError::Expired { .. })),
            Self::Altered => matches!(checked, Err(InviteError::Signature(_))),
            Self::Uncertified => matches!(checked, Err(InviteError::Certificate(_))),
            Self::UsedUp | Self::Stranger | Self::OtherSim | Self::Forged => checked.is_ok(),
        }
    }

    /// Returns how a server must refuse a node that comes by the invite, or `None` if only the node can know
    /// what is wrong.
    #[must_use]
    pub const fn refusal(self, signed: &SignedInvite) -> Option<JoinRefusal> {
        let invite = &signed.invite;
        Some(match self {
            Self::Expired => JoinRefusal::Expired,
            Self::UsedUp => JoinRefusal::Used(invite.uses),
            Self::Stranger => JoinRefusal::Issuer(invite.issuer),
            Self::Altered => JoinRefusal::Invalid,
            Self::OtherSim => JoinRefusal::OtherSim(invite.sim()),
            Self::Uncertified | Self::Forged => return None,
        })
    }
}

/// Certifies a header by these voters.
fn certify(header: &Header, voters: &[&dyn Sign]) -> Certificate {
    let (height, id, round) = (header.height, header.id(), header.round);
    let sign = |key: &&dyn Sign| {
        let (kind, voter) = (VoteKind::Precommit, key.public());
        let vote = Vote { kind, height, round, header: Some(id), voter };
        (voter, vote.sign(header.sim, *key).signature)
    };
    let mut signatures: Vec<_> = voters.iter().map(sign).collect();
    signatures.sort_by_key(|(voter, _)| *voter);
    Certificate { height, round, header: id, signatures }
}
