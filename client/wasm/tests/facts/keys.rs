//! Keys and hashes are those of the servers.

use metatopia_types::{
    Digest, Ed25519, HeaderId, PublicKey, Puzzle, Sign as _, Signature, SigningKey, SimId,
    Verify as _,
};
use metatopia_wasm::keys;

const SECRET: [u8; 32] = [42; 32];

#[test]
fn what_is_signed_here_is_good_there() {
    let key = keys::public_key(&SECRET).unwrap();
    assert_eq!(key, SigningKey::from_seed(SECRET).public().0);

    let signature = keys::sign(&[&SECRET[..], b"words"].concat()).unwrap();
    let bytes = signature.clone().try_into().unwrap();
    let key = PublicKey(key.try_into().unwrap());
    assert!(Ed25519.verify(&key, b"words", &Signature::from_bytes(bytes)));

    let told = |words: &[u8]| [&key.0[..], &signature, words].concat();
    assert_eq!(keys::verify(&told(b"words")), Ok(vec![1]));
    assert_eq!(keys::verify(&told(b"other")), Ok(vec![0]));
}

#[test]
fn weak_keys_are_refused_as_the_servers_do() {
    // The identity as key and as R, with S = 0: lax verifiers take it for a signature of anything.
    let mut weak = vec![0; 32 + 64];
    (weak[0], weak[32]) = (1, 1);
    assert_eq!(keys::verify(&weak), Ok(vec![0]));
}

#[test]
fn bytes_are_hashed_as_blobs_are() {
    assert_eq!(keys::hash(b""), *blake3::hash(b"").as_bytes());
}

#[test]
fn inputs_of_another_length_are_faults() {
    for length in [0, 31, 33] {
        assert_eq!(keys::public_key(&vec![1; length]).unwrap_err().code, "input");
    }
    assert_eq!(keys::sign(&[1; 31]).unwrap_err().code, "input");
    assert_eq!(keys::verify(&[1; 95]).unwrap_err().code, "input");
}

#[test]
fn work_that_is_found_here_is_good_there() {
    let (sim, key, header) = ([1; 32], PublicKey([2; 32]), [3; 32]);
    let puzzle = Puzzle::new(SimId(Digest(sim)), &key, &HeaderId(Digest(header)), 1_000);
    let input = |from: u64| {
        let numbers = [1_000_u64.to_le_bytes(), from.to_le_bytes()].concat();
        [&sim[..], &key.0, &header, &numbers].concat()
    };

    let found = keys::work(&input(0), 100_000).unwrap();
    let nonce = u64::from_le_bytes(found.try_into().expect("eight bytes"));

    assert_eq!(puzzle.solve(0, 100_000), Some(nonce));
    assert_eq!(keys::work(&input(0), nonce as u32), Ok(Vec::new()));
    assert!(keys::work(&input(0)[1..], 1).is_err());
    assert!(keys::work(&[&input(0)[..], &[0]].concat(), 1).is_err());
}
