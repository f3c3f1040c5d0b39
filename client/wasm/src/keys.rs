//! Keys, signatures and hashes, over plain bytes.

use metatopia_types::{
    Digest, Ed25519, HeaderId, PublicKey, Puzzle, Sign as _, Signature, SigningKey, SimId,
    Verify as _,
};

use crate::CallError;

/// Cuts the first `N` bytes off.
pub(crate) fn cut<'a, const N: usize>(
    input: &'a [u8],
    what: &str,
) -> Result<(&'a [u8; N], &'a [u8]), CallError> {
    let short = || CallError::input(format_args!("{} bytes hold no {what} of {N}", input.len()));
    input.split_first_chunk().ok_or_else(short)
}

/// The public key of a secret: 32 bytes for 32 bytes.
///
/// # Errors
/// When the input has another length.
pub fn public_key(secret: &[u8]) -> Result<Vec<u8>, CallError> {
    match cut::<32>(secret, "secret")? {
        (secret, []) => Ok(SigningKey::from_seed(*secret).public().0.to_vec()),
        _ => Err(CallError::input("a secret has 32 bytes")),
    }
}

/// The signature, 64 bytes, of a message that comes after the secret's 32 bytes.
///
/// # Errors
/// When the input is shorter than a secret.
pub fn sign(input: &[u8]) -> Result<Vec<u8>, CallError> {
    let (secret, message) = cut::<32>(input, "secret")?;
    Ok(SigningKey::from_seed(*secret).sign(message).to_bytes().to_vec())
}

/// One byte, 1 if the signature is the key's: the input is a key of 32 bytes, a signature of 64, and
/// the message.
///
/// # Errors
/// When the input is shorter than key and signature.
pub fn verify(input: &[u8]) -> Result<Vec<u8>, CallError> {
    let (key, rest) = cut::<32>(input, "key")?;
    let (signature, message) = cut::<64>(rest, "signature")?;
    let signature = Signature::from_bytes(*signature);
    Ok(vec![u8::from(Ed25519.verify(&PublicKey(*key), message, &signature))])
}

/// Tries `count` numbers as the work of a first login: 8 bytes, little-endian, if one solves it, else
/// none. The input is the sim's id, the key and the header's id, 32 bytes each, then how many tries it
/// takes on average and the first number to try, 8 bytes each, little-endian.
///
/// # Errors
/// When the input has another length.
pub fn work(input: &[u8], count: u32) -> Result<Vec<u8>, CallError> {
    let (sim, rest) = cut::<32>(input, "sim")?;
    let (key, rest) = cut::<32>(rest, "key")?;
    let (header, rest) = cut::<32>(rest, "header")?;
    let (tries, rest) = cut::<8>(rest, "number of tries")?;
    let (from, []) = cut::<8>(rest, "number")? else {
        return Err(CallError::input("more bytes than a puzzle has"));
    };
    let [sim, header] = [sim, header].map(|id| Digest(*id));
    let tries = u64::from_le_bytes(*tries);
    let puzzle = Puzzle::new(SimId(sim), &PublicKey(*key), &HeaderId(header), tries);
    let found = puzzle.solve(u64::from_le_bytes(*from), u64::from(count));
    Ok(found.map_or_else(Vec::new, |nonce| nonce.to_le_bytes().to_vec()))
}

/// BLAKE3 of bytes: 32 bytes.
#[must_use]
pub fn hash(bytes: &[u8]) -> Vec<u8> {
    blake3::hash(bytes).as_bytes().to_vec()
}
