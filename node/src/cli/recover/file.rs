//! A recovery in a file, which goes from operator to operator.

use std::{fs, io::ErrorKind, path::Path};

use metatopia_types::{
    Ed25519, SignedRecovery, Verify as _, limits::VALIDATORS_MAX, wire, wire::DecodeError,
};

use crate::cli::failure::Failure;

/// Largest file: a recovery of less than 200 bytes, and 96 for each signature.
const RECOVERY_BYTES_MAX: usize = 512 + 100 * VALIDATORS_MAX;

/// What these files begin with.
const MARK: &str = "metatopia recovery v1";

pub(super) fn encode(signed: &SignedRecovery) -> Vec<u8> {
    wire::encode(&(MARK, signed))
}

/// Reads what [`encode`] made.
///
/// # Errors
/// Bytes of another kind or version, or too many.
fn decode(bytes: &[u8]) -> Result<SignedRecovery, DecodeError> {
    let (mark, signed): (String, SignedRecovery) = wire::decode(bytes, RECOVERY_BYTES_MAX)?;
    if mark == MARK { Ok(signed) } else { Err(DecodeError::Malformed) }
}

/// Reads a file. Every signature in it must be its signer's.
///
/// # Errors
/// When it cannot be read, or is not what it should be.
pub(super) fn read(path: &Path) -> Result<SignedRecovery, Failure> {
    let name = path.display();
    let bytes = fs::read(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => Failure::not_found(format!("there is no {name}")),
        _ => Failure::failed(format!("cannot read {name}: {error}")),
    })?;
    let signed = decode(&bytes)
        .map_err(|error| Failure::unverified(format!("{name} is no recovery: {error}")))?;
    let message = signed.recovery.sign_bytes();
    let forged =
        signed.signatures.iter().find(|(key, found)| !Ed25519.verify(key, &message, found));
    match forged {
        Some((key, _)) => {
            Err(Failure::unverified(format!("{name}: the signature of {key} is wrong")))
        }
        None => Ok(signed),
    }
}

/// Puts the signatures of several files together.
///
/// # Errors
/// When one cannot be read, or they are about different things.
pub(super) fn gather<'a>(
    paths: impl IntoIterator<Item = &'a Path>,
) -> Result<SignedRecovery, Failure> {
    let mut all: Option<SignedRecovery> = None;
    for path in paths {
        let one = read(path)?;
        match &mut all {
            None => all = Some(one),
            Some(all) if all.recovery == one.recovery => all.signatures.extend(one.signatures),
            Some(_) => {
                let message =
                    format!("{} holds another recovery than those before", path.display());
                return Err(Failure::usage(message).hint("see `metatopia recover show`"));
            }
        }
    }
    all.ok_or_else(|| Failure::usage("no recovery is given"))
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
            header: HeaderId::default(),
            roots: [Root::default(); 2],
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
    fn another_kind_of_file_is_none() {
        let other = wire::encode(&("metatopia recovery v2", signed(1)));
        assert_eq!(decode(&other), Err(DecodeError::Malformed));
    }
}
