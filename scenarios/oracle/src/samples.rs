//! A sim of four servers, for tests.

use std::sync::Arc;

use metatopia_types::{
    Digest, Ed25519, Header, HeaderId, Height, Millis, Root, Round, Sign, SignedEnvelope,
    SigningKey, SimId, Turn, TurnBody, ValidatorsId,
};

use crate::founding::Founding;

pub(crate) const SIM: SimId = SimId(Digest([7; 32]));

pub(crate) fn key(seat: u8) -> SigningKey {
    SigningKey::from_seed([seat + 1; 32])
}

pub(crate) fn founding() -> Founding {
    Founding {
        sim: SIM,
        verifier: Arc::new(Ed25519),
        names: (0..4).map(|seat| key(seat).public()).collect(),
        powers: vec![1; 4],
        admin: Some(key(0).public()),
        root: Root(Digest::ZERO),
        time: Millis(0),
        turn_length: 50,
    }
}

/// A turn without acts.
pub(crate) fn turn(height: u64, time: u64, previous: HeaderId) -> Turn {
    with_acts(height, time, previous, Vec::new())
}

pub(crate) fn with_acts(
    height: u64,
    time: u64,
    previous: HeaderId,
    acts: Vec<SignedEnvelope>,
) -> Turn {
    let body = TurnBody::new(acts, Vec::new()).expect("a few acts are a body");
    let ((acts, act_count), (blobs, blob_count)) = (body.acts_root(), body.blobs_root());
    let header = Header {
        sim: SIM,
        engine: 1,
        height: Height(height),
        previous,
        proposer: key(0).public(),
        round: Round(0),
        time: Millis(time),
        acts,
        act_count,
        blobs,
        blob_count,
        root: Root(Digest::ZERO),
        validators: ValidatorsId(Digest::ZERO),
        next_validators: ValidatorsId(Digest::ZERO),
        reserved: Digest::ZERO,
    };
    Turn { header, body }
}
