//! Keys, signatures and digests, over plain bytes.

use metatopia_types::{Digest, Ed25519, PublicKey, Sign as _, Signature, SigningKey, Verify as _};

use crate::Fault;

/// Cuts the first `N` bytes off.
pub(crate) fn cut<'a, const N: usize>(
    input: &'a [u8],
    what: &str,
) -> Result<(&'a [u8; N], &'a [u8]), Fault> {
    let short = || Fault::input(format_args!("{} bytes hold no {what} of {N}", input.len()));
    input.split_first_chunk().ok_or_else(short)
}

/// The public key of a secret: 32 bytes for 32 bytes.
///
/// # Errors
/// When the input has another length.
pub fn public_key(secret: &[u8]) -> Result<Vec<u8>, Fault> {
    match cut::<32>(secret, "secret")? {
        (secret, []) => Ok(SigningKey::from_seed(*secret).public().0.to_vec()),
        _ => Err(Fault::input("a secret has 32 bytes")),
    }
}

/// The signature, 64 bytes, of a message that comes after the secret's 32 bytes.
///
/// # Errors
/// When the input is shorter than a secret.
pub fn sign(input: &[u8]) -> Result<Vec<u8>, Fault> {
    let (secret, message) = cut::<32>(input, "secret")?;
    Ok(SigningKey::from_seed(*secret).sign(message).to_bytes().to_vec())
}

/// One byte, 1 if the signature is the key's: the input is a key of 32 bytes, a signature of 64, and
/// the message.
///
/// # Errors
/// When the input is shorter than key and signature.
pub fn verify(input: &[u8]) -> Result<Vec<u8>, Fault> {
    let (key, rest) = cut::<32>(input, "key")?;
    let (signature, message) = cut::<64>(rest, "signature")?;
    let signature = Signature::from_bytes(*signature);
    Ok(vec![u8::from(Ed25519.verify(&PublicKey(*key), message, &signature))])
}

/// BLAKE3 of bytes: 32 bytes.
#[must_use]
pub fn hash(bytes: &[u8]) -> Vec<u8> {
    blake3::hash(bytes).as_bytes().to_vec()
}

/// BLAKE3 in its key derivation mode, as ids are made: 32 bytes. The input's first `context` bytes
/// name what is hashed.
///
/// # Errors
/// When the name is longer than the input, or no text.
pub fn digest(input: &[u8], context: usize) -> Result<Vec<u8>, Fault> {
    let (name, bytes) =
        input.split_at_checked(context).ok_or_else(|| Fault::input("no name of that length"))?;
    let name = str::from_utf8(name).map_err(Fault::input)?;
    Ok(Digest::of(name, bytes).0.to_vec())
}
