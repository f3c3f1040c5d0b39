//! What a server pays for a dispatch of a neighbour: `cargo run --release --example dispatch`.
#![allow(clippy::disallowed_types, clippy::disallowed_methods, reason = "an example that measures")]

use std::time::Instant;

use metatopia_types::{
    Certificate, Digest, Dispatch, DispatchedState, Ed25519, Header, Height, Round, Said, Sign,
    SigningKey, SimId, StateProof, Validator, ValidatorSet, leaf_hash, limits::PARCEL_BYTES_MAX,
    limits::ROOT_LAG, merkle, said_key,
};

const ROUNDS: u32 = 200;

/// Returns a dispatch of so many servers, with certificates as short as they may be, and who signed it.
fn dispatch(servers: u8, parcel: usize) -> (Dispatch, ValidatorSet) {
    let keys: Vec<SigningKey> = (1..=servers).map(|n| SigningKey::from_seed([n; 32])).collect();
    let member = |key: &SigningKey| Validator { key: key.public(), power: 1 };
    let set = ValidatorSet::new(keys.iter().map(member).collect(), |_| true).expect("a set");
    let said = Said { height: Height(7), open: true, ..Said::nothing() };
    let (key, content) = (said_key(SimId(Digest([2; 32]))), said.encode());
    let hash = Digest(*blake3::hash(&content).as_bytes());
    // A state of a thousand leaves.
    let mut leaves = vec![Digest([9; 32]); 1_000];
    leaves[500] = leaf_hash(&key, &hash);
    let place = merkle::Proof::of(&leaves, 500).expect("a leaf");
    let header = Header {
        sim: SimId(Digest([1; 32])),
        height: said.height.plus(ROOT_LAG),
        root: metatopia_types::Root(merkle::root(&leaves)),
        validators: set.id(),
        next_validators: set.id(),
        ..Header::unstated()
    };
    let mut certificate = Certificate {
        height: header.height,
        round: Round(0),
        header: header.id(),
        signatures: Vec::new(),
    };
    for key in &keys {
        let signed = certificate.vote(key.public()).sign_bytes(header.sim);
        certificate.signatures.push((key.public(), key.sign(&signed)));
    }
    let certificate = certificate.thinned(&set);
    let said = StateProof { key, content, place };
    let parcels = vec![vec![7; parcel]];
    let state = DispatchedState { header, certificate, said, parcels };
    (Dispatch { links: Vec::new(), state: Some(state) }, set)
}

fn main() {
    for (servers, parcel) in
        [(1, 200), (4, 200), (4, PARCEL_BYTES_MAX), (31, 200), (31, PARCEL_BYTES_MAX)]
    {
        let (dispatch, set) = dispatch(servers, parcel);
        let bytes = dispatch.blob().0;
        let began = Instant::now();
        for _ in 0..ROUNDS {
            let read = Dispatch::decode(&bytes).expect("a dispatch");
            let known = (Height(0), &set);
            let (from, to) = (SimId(Digest([1; 32])), SimId(Digest([2; 32])));
            read.prove(from, to, known, &Ed25519).expect("it is certified");
        }
        let each = began.elapsed() / ROUNDS;
        println!("{servers} servers, a parcel of {parcel} B: {} B, {each:?}", bytes.len());
    }
}
