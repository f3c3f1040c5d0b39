//! Signatures that cost nothing: anybody could forge them, and nobody here does.

use std::sync::Arc;

use metatopia_types::{
    Certificate, Digest, Header, HeaderId, Height, Millis, PublicKey, Root, Round, Sign, Signature,
    SimId, TurnBody, Validator, ValidatorSet, Verify,
};

pub(crate) fn sim() -> SimId {
    SimId(Digest::of("consensus tests", b"sim"))
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct StandIn;

fn seal(key: &PublicKey, message: &[u8]) -> Signature {
    let hash = blake3::keyed_hash(&key.0, message);
    let mut bytes = [0; 64];
    bytes[..32].copy_from_slice(hash.as_bytes());
    Signature::from_bytes(bytes)
}

impl Verify for StandIn {
    fn verify(&self, key: &PublicKey, message: &[u8], signature: &Signature) -> bool {
        seal(key, message) == *signature
    }

    fn is_key(&self, _: &PublicKey) -> bool {
        true
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Key(pub PublicKey);

impl Sign for Key {
    fn public(&self) -> PublicKey {
        self.0
    }

    fn sign(&self, message: &[u8]) -> Signature {
        seal(&self.0, message)
    }
}

pub(crate) fn key(n: u8) -> PublicKey {
    PublicKey([n + 1; 32])
}

pub(crate) fn signer(n: u8) -> Arc<dyn Sign> {
    Arc::new(Key(key(n)))
}

pub(crate) fn set(members: impl IntoIterator<Item = u8>) -> ValidatorSet {
    let members = members.into_iter().map(|n| Validator { key: key(n), power: 1 });
    ValidatorSet::new(members.collect(), |_| true).unwrap()
}

/// The header of an empty turn.
pub(crate) fn header(height: u64) -> Header {
    let body = TurnBody::default();
    let ((acts, act_count), (blobs, blob_count)) = (body.acts_root(), body.blobs_root());
    Header {
        sim: sim(),
        engine: 1,
        height: Height(height),
        previous: HeaderId(Digest([1; 32])),
        proposer: key(0),
        round: Round(2),
        time: Millis(1_700_000_000_050),
        acts,
        act_count,
        blobs,
        blob_count,
        root: Root(Digest([2; 32])),
        validators: set(0..4).id(),
        next_validators: set(0..5).id(),
        reserved: Digest::ZERO,
    }
}

/// A certificate for this header, of these servers.
pub(crate) fn certify(header: &Header, signers: impl IntoIterator<Item = u8>) -> Certificate {
    let mut certificate = Certificate {
        height: header.height,
        round: Round(0),
        header: header.id(),
        signatures: Vec::new(),
    };
    for n in signers {
        let bytes = certificate.vote(key(n)).sign_bytes(sim());
        certificate.signatures.push((key(n), seal(&key(n), &bytes)));
    }
    certificate
}
