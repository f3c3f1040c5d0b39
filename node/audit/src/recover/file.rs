//! The file of a recovery, with the signatures that it has so far.

use metatopia_types::{
    Ed25519, PublicKey, SignedRecovery, Verify as _, limits::VALIDATORS_MAX, wire,
    wire::DecodeError,
};

/// Largest file of a recovery in bytes: a recovery of less than 200, and 96 for each signature.
pub const RECOVERY_BYTES_MAX: usize = 512 + 100 * VALIDATORS_MAX;

/// The text that these files begin with.
const MARK: &str = "metatopia recovery v1";

/// Returns the bytes of the file.
#[must_use]
pub fn encode(signed: &SignedRecovery) -> Vec<u8> {
    wire::encode(&(MARK, signed))
}

/// Reads what [`encode`] made. It verifies no signature; see [`decode_signed`].
///
/// # Errors
/// When the bytes are of another kind or version, or too many.
pub fn decode(bytes: &[u8]) -> Result<SignedRecovery, DecodeError> {
    let (mark, signed): (String, SignedRecovery) = wire::decode(bytes, RECOVERY_BYTES_MAX)?;
    if mark == MARK { Ok(signed) } else { Err(DecodeError::Malformed) }
}

/// The reason why a file does not hold a recovery that can be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RecoveryFileError {
    /// The bytes are no recovery.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// A signature is not its signer's.
    #[error("the signature of {0} is wrong")]
    Forged(PublicKey),
}

/// Reads what [`encode`] made, and verifies that every signature is its signer's.
///
/// # Errors
/// See [`RecoveryFileError`].
pub fn decode_signed(bytes: &[u8]) -> Result<SignedRecovery, RecoveryFileError> {
    let signed = decode(bytes)?;
    let message = signed.recovery.sign_bytes();
    let forged = |(key, signature): &(&PublicKey, &_)| !Ed25519.verify(key, &message, signature);
    match signed.signatures.iter().find(forged) {
        Some((key, _)) => Err(RecoveryFileError::Forged(*key)),
        None => Ok(signed),
    }
}

#[cfg(test)]
mod tests {
    use metatopia_types::{Digest, HeaderId, Height, Recovery, Root, SigningKey, SimId};

    use super::*;

    fn signed(signers: u8) -> SignedRecovery {
        let recovery = Recovery {
            sim: SimId(Digest([1; 32])),
            engine: u32::MAX,
            number: u32::MAX,
            height: Height(u64::MAX),
            header: HeaderId(Digest::ZERO),
            roots: [Root(Digest::ZERO); 2],
        };
        let mut signed = SignedRecovery::new(recovery);
        (0..signers).for_each(|n| signed.sign(&SigningKey::from_seed([n; 32])));
        signed
    }

    #[test]
    fn a_file_of_all_servers_there_may_be_is_read_back_and_a_longer_one_is_not() {
        let all = signed(VALIDATORS_MAX as u8);
        assert_eq!(decode(&encode(&all)), Ok(all));
        let found = RECOVERY_BYTES_MAX + 1;
        let oversize = DecodeError::Oversize { found, limit: RECOVERY_BYTES_MAX };
        assert_eq!(decode(&vec![0; found]), Err(oversize));
    }

    #[test]
    fn a_signature_of_somebody_else_is_found() {
        let whole = signed(2);
        assert_eq!(decode_signed(&encode(&whole)), Ok(whole.clone()));
        let mut forged = whole;
        let key = *forged.signatures.keys().next().expect("two signers");
        let other = *forged.signatures.values().last().expect("two signers");
        forged.signatures.insert(key, other);
        assert_eq!(decode_signed(&encode(&forged)), Err(RecoveryFileError::Forged(key)));
    }

    #[test]
    fn another_kind_of_file_is_none() {
        let other = wire::encode(&("metatopia recovery v2", signed(1)));
        assert_eq!(decode(&other), Err(DecodeError::Malformed));
    }
}
