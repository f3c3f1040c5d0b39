//! Invites that a server keeps for the holders of short ones. They are encrypted, so that only the
//! holders can read them.
//!
//! A short invite is a server's address, a hash and a secret ([`ShortInvite`]). Under the hash the
//! server keeps the whole invite, encrypted with a stream of bytes that the secret makes. The
//! server gives that to anybody who names the hash. Neither the server nor anybody who listens on
//! the way learns the secret. The holder checks the answer against the hash, so the server can
//! withhold an invite, but cannot replace it.

use std::{
    fmt, fs, io,
    path::{Path, PathBuf},
    str::FromStr,
};

use metatopia_client_driver::NodeUrl;
use metatopia_protocol::{INVITE_BYTES_MAX, SignedInvite};
use metatopia_types::{Digest, Millis, wire};

use crate::atomic_file;

/// The folder in the data directory, with a file for each invite, named by its hash.
const FOLDER: &str = "invites";

/// The most invites that are kept at once. Then no more are accepted until one has expired.
pub const DEPOSITS_MAX: usize = 256;

/// The most characters of a short invite: what a code in a terminal of 80 columns and a line of
/// chat hold.
pub const SHORT_CHARS_MAX: usize = 200;

/// The bytes of a secret: so many that nobody can guess it.
const SECRET_BYTES: usize = 16;

/// Bytes of a hash.
const HASH_BYTES: usize = 32;

/// The bytes of the time in front of an encrypted invite.
const EXPIRY_BYTES: usize = 8;

/// The secret that decrypts one invite.
pub type Secret = [u8; SECRET_BYTES];

/// The beginnings of a short invite, by the scheme of its server's address.
const MARKS: [(&str, &str); 2] = [("metatopia2/", "http://"), ("metatopia2s/", "https://")];

/// Encrypts bytes, or decrypts them: adds a stream that only the secret makes. Each secret is used
/// once.
fn cover(secret: &Secret, bytes: &mut [u8]) {
    let mut stream = vec![0; bytes.len()];
    let mut hasher = blake3::Hasher::new_derive_key("metatopia invite cover v1");
    hasher.update(secret).finalize_xof().fill(&mut stream);
    bytes.iter_mut().zip(stream).for_each(|(byte, other)| *byte ^= other);
}

fn hash(encoded: &[u8]) -> Digest {
    Digest::of("metatopia short invite v1", encoded)
}

/// The invites that one server keeps.
#[derive(Clone, Debug, Default)]
pub struct InviteStore(Option<PathBuf>);

impl InviteStore {
    /// Returns the invites in this data directory.
    #[must_use]
    pub fn at(data_dir: &Path) -> Self {
        Self(Some(data_dir.join(FOLDER)))
    }

    /// Keeps an invite, and forgets those that have expired. Returns the invite's hash.
    ///
    /// # Errors
    /// Returns what the system said, or that there are [`DEPOSITS_MAX`] already.
    pub fn keep(&self, invite: &SignedInvite, secret: &Secret, now: Millis) -> io::Result<Digest> {
        self.keep_encoded(&wire::encode(invite), invite.invite.expires, (secret, now))
    }

    fn keep_encoded(
        &self,
        encoded: &[u8],
        expires: Millis,
        (secret, now): (&Secret, Millis),
    ) -> io::Result<Digest> {
        let Some(folder) = &self.0 else {
            return Err(io::ErrorKind::Unsupported.into());
        };
        atomic_file::create_folder(folder)?;
        let mut kept = 0;
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            match expiry(&fs::read(&path)?) {
                Some(expires) if expires > now => kept += 1,
                _ => fs::remove_file(&path)?,
            }
        }
        if kept >= DEPOSITS_MAX {
            let why = format!("{DEPOSITS_MAX} invites are kept already, and none has expired");
            return Err(io::Error::other(why));
        }
        let hash = hash(encoded);
        let mut bytes = expires.0.to_le_bytes().to_vec();
        bytes.extend_from_slice(encoded);
        cover(secret, &mut bytes[EXPIRY_BYTES..]);
        atomic_file::replace(&folder.join(hash.to_string()), &bytes)?;
        Ok(hash)
    }

    /// Returns the encrypted invite of this hash, unless it has expired.
    #[must_use]
    pub fn find(&self, hash: &Digest, now: Millis) -> Option<Vec<u8>> {
        let path = self.0.as_ref()?.join(hash.to_string());
        let mut bytes = fs::read(path).ok()?;
        expiry(&bytes).filter(|expires| *expires > now)?;
        Some(bytes.split_off(EXPIRY_BYTES))
    }
}

fn expiry(bytes: &[u8]) -> Option<Millis> {
    let first = bytes.first_chunk::<EXPIRY_BYTES>()?;
    Some(Millis(u64::from_le_bytes(*first)))
}

/// The text to hand on: where the invite is, what it hashes to, and what decrypts it.
#[derive(Clone, PartialEq, Eq)]
pub struct ShortInvite {
    /// A server that keeps it.
    pub server: NodeUrl,
    /// The hash of the encrypted invite.
    pub hash: Digest,
    /// The secret that decrypts it.
    pub secret: Secret,
}

impl fmt::Debug for ShortInvite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ShortInvite({} at {})", self.hash, self.server)
    }
}

/// Says why a text is no short invite, or why an answer is not the invite that it names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ShortInviteError {
    /// The text does not hold the mark.
    #[error("no invite: it has neither `metatopia2/` nor `metatopia2s/` in it")]
    NoMark,
    /// A part of the text is missing, or changed.
    #[error("no invite: a part of it is missing or was changed")]
    Parts,
    /// The server's answer does not have the hash.
    #[error("the server's invite does not have the hash of this one")]
    Other,
}

impl ShortInvite {
    /// Decrypts the server's answer.
    ///
    /// # Errors
    /// Fails when the answer is not the invite that was handed on.
    pub fn uncover(&self, mut covered: Vec<u8>) -> Result<SignedInvite, ShortInviteError> {
        cover(&self.secret, &mut covered);
        if hash(&covered) != self.hash {
            return Err(ShortInviteError::Other);
        }
        wire::decode(&covered, INVITE_BYTES_MAX).map_err(|_| ShortInviteError::Other)
    }
}

impl fmt::Display for ShortInvite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let server = self.server.to_string();
        let (mark, host) = MARKS
            .iter()
            .find_map(|(mark, scheme)| Some((mark, server.strip_prefix(scheme)?)))
            .expect("an address of a node has one of the two schemes");
        f.write_str(mark)?;
        let bytes = self.secret.iter().chain(&self.hash.0);
        bytes.clone().try_for_each(|byte| write!(f, "{byte:02x}"))?;
        write!(f, "/{}", host.trim_end_matches('/'))
    }
}

impl FromStr for ShortInvite {
    type Err = ShortInviteError;

    fn from_str(text: &str) -> Result<Self, ShortInviteError> {
        // Codes for cameras are smaller in capitals.
        let text = text.trim().to_ascii_lowercase();
        let (scheme, rest) = MARKS
            .iter()
            .find_map(|(mark, scheme)| Some((scheme, text.split_once(mark)?.1)))
            .ok_or(ShortInviteError::NoMark)?;
        let (digits, host) = rest.split_once('/').ok_or(ShortInviteError::Parts)?;
        let at = 2 * SECRET_BYTES;
        let whole = digits.is_ascii() && digits.len() == at + 2 * HASH_BYTES;
        if !whole || text.len() > SHORT_CHARS_MAX {
            return Err(ShortInviteError::Parts);
        }
        let mut secret = [0; SECRET_BYTES];
        for (byte, pair) in secret.iter_mut().zip(digits.as_bytes()[..at].chunks(2)) {
            let pair = str::from_utf8(pair).map_err(|_| ShortInviteError::Parts)?;
            *byte = u8::from_str_radix(pair, 16).map_err(|_| ShortInviteError::Parts)?;
        }
        let hash = digits[at..].parse().map_err(|_| ShortInviteError::Parts)?;
        let server = format!("{scheme}{host}").parse().map_err(|_| ShortInviteError::Parts)?;
        Ok(Self { server, hash, secret })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_invite_survives_text_and_capitals_and_has_at_most_200_characters() {
        let hash = Digest::of("a test", b"");
        for server in ["http://192.168.1.20:8080/", "http://[2001:db8::1]:65535/"] {
            let short = ShortInvite { server: server.parse().unwrap(), hash, secret: [0xfe; 16] };
            let text = short.to_string();
            assert!(text.len() <= SHORT_CHARS_MAX, "{text}");
            assert_eq!(text.parse(), Ok(short.clone()));
            assert_eq!(text.to_uppercase().parse(), Ok(short.clone()));
            assert_eq!(format!(" see {text}\n").parse(), Ok(short));
        }
    }

    #[test]
    fn what_lacks_a_part_is_refused() {
        let hash = Digest::of("a test", b"");
        let server: NodeUrl = "http://192.168.1.20:8080/".parse().unwrap();
        let text = ShortInvite { server, hash, secret: [1; 16] }.to_string();
        assert_eq!("welcome".parse::<ShortInvite>(), Err(ShortInviteError::NoMark));
        let long = format!("{text}{}", "0".repeat(SHORT_CHARS_MAX));
        let without_host = &text[..text.rfind('/').unwrap() + 1];
        for bad in [&text[..60], without_host, &text.replacen("01", "0", 1), &long] {
            assert_eq!(bad.parse::<ShortInvite>(), Err(ShortInviteError::Parts), "{bad}");
        }
    }

    #[test]
    fn invites_are_kept_until_they_expire_and_no_more_than_there_may_be() {
        let dir = std::env::temp_dir().join(format!("metatopia-deposits-{}", std::process::id()));
        let deposits = InviteStore::at(&dir);
        let keep = |n: usize, expires, now| {
            deposits.keep_encoded(&n.to_le_bytes(), Millis(expires), (&[1; 16], Millis(now)))
        };
        let all: Vec<_> = (0..DEPOSITS_MAX).map(|n| keep(n, 100, 0).unwrap()).collect();
        assert!(keep(DEPOSITS_MAX, 100, 99).is_err());
        let mut found = deposits.find(&all[7], Millis(99)).unwrap();
        cover(&[1; 16], &mut found);
        assert_eq!(found, 7_usize.to_le_bytes());
        assert_eq!(deposits.find(&all[7], Millis(100)), None);
        assert_eq!(deposits.find(&hash(b"another"), Millis(0)), None);

        keep(DEPOSITS_MAX, 200, 100).unwrap();

        assert_eq!(fs::read_dir(dir.join(FOLDER)).unwrap().count(), 1, "the expired are gone");
        fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn covered_bytes_tell_nothing_and_come_back_by_their_secret_alone() {
        let plain = vec![0; 100];
        let mut covered = plain.clone();
        cover(&[1; 16], &mut covered);
        assert!(covered.iter().filter(|byte| **byte == 0).count() < 5);
        let mut other = covered.clone();
        cover(&[2; 16], &mut other);
        assert_ne!(other, plain);
        cover(&[1; 16], &mut covered);
        assert_eq!(covered, plain);
    }
}
