//! Private words: seals what one person tells another, and opens what others told her.
//!
//! The author makes a passing key for each session and reader. With the reader's key it gives the shared key, by
//! X25519, and XChaCha20-Poly1305 encrypts the words with it. The keys that sign acts are points of the same
//! curve, so nobody publishes another key (Thormarker, "On using the same key pair for Ed25519 and an X25519
//! based KEM"). Who tells what is said by the signature of the act; the reader checks it before anything is
//! shown, and that the commitment binds the author to the very words, so that all that is shown can be reported.
//!
//! It draws no random numbers: whoever makes a [`Correspondence`] brings them.

use alloc::{
    boxed::Box,
    collections::BTreeMap,
    string::{String, ToString as _},
    vec,
    vec::Vec,
};

use chacha20poly1305::{
    KeyInit as _, XChaCha20Poly1305, XNonce,
    aead::{Aead as _, Payload},
};
use metatopia_protocol::ToldMessage;
use metatopia_types::{
    Act, Blob, Digest, Ed25519, Height, OpenedWords, PublicKey, ReportSubject, SealedWords,
    Sign as _, SigningKey, SimId, agreement_point, class_of_words, is_told, limits::CHAT_BYTES_MAX,
    wire, words_commitment,
};
use x25519_dalek::{X25519_BASEPOINT_BYTES, x25519};
use zeroize::Zeroizing;

/// Private words that a client keeps in the clear, so that they can be reported.
pub const OPENED_KEPT: usize = 64;

/// Shared keys that a client keeps: those of so many sessions of others.
pub const SHARED_KEYS_MAX: usize = 64;

/// Why words are not sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SealWordsError {
    /// They are no words that could be said.
    #[error("private words are one line of 1 to {CHAT_BYTES_MAX} bytes")]
    Words,
    /// Nobody could open what is sealed for this key.
    #[error("that is nobody's key")]
    Key,
}

/// Why sealed words cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenWordsError {
    /// They were told to somebody else, or in another sim, or these are no sealed words.
    #[error("they were told to somebody else")]
    NotOurs,
    /// Their author did not sign that they are told.
    #[error("their author did not sign them")]
    Unsigned,
    /// They were sealed for somebody else or by somebody else, or were changed.
    #[error("the seal is broken")]
    Broken,
    /// Their author could deny them, so they are not shown.
    #[error("their author is not bound to them")]
    Unbound,
}

/// Words that somebody told, in the clear.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrivateWords {
    /// The number by which this client calls them: it counts what came, whatever a node says.
    pub number: u64,
    /// Their number in the sim, as the node says.
    pub place: u64,
    /// The turn that brought them.
    pub height: Height,
    /// Who told them.
    pub by: PublicKey,
    /// The author's name, as the node says.
    pub name: String,
    /// Milliseconds of governance time since they were told, as the node says.
    pub ago: u64,
    /// What was told.
    pub text: String,
    /// What proves it to moderators.
    proof: Box<OpenedWords>,
}

/// What one person and others tell each other privately in one sim.
pub struct Correspondence {
    sim: SimId,
    own: PublicKey,
    agreement: Zeroizing<[u8; 32]>,
    /// What nobody else knows, for the passing keys of this session.
    random: Zeroizing<[u8; 32]>,
    /// How often words were sealed.
    sealed: u64,
    /// The keys by which words of others are opened, by the passing keys of their authors.
    shared: BTreeMap<[u8; 32], Zeroizing<[u8; 32]>>,
    /// The last words that were opened, by number.
    opened: BTreeMap<u64, PrivateWords>,
    /// How many words came.
    came: u64,
    /// The greatest number in the sim of words that came, also of those that cannot be read.
    newest: Option<u64>,
}

impl core::fmt::Debug for Correspondence {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Correspondence of {} in {}", self.own, self.sim)
    }
}

impl Correspondence {
    /// Begins with what a person is known by. `random` must be used for nothing else.
    #[must_use]
    pub fn new(sim: SimId, key: &SigningKey, random: [u8; 32]) -> Self {
        Self {
            sim,
            own: key.public(),
            agreement: key.agreement(),
            random: Zeroizing::new(random),
            sealed: 0,
            shared: BTreeMap::new(),
            opened: BTreeMap::new(),
            came: 0,
            newest: None,
        }
    }

    /// Goes on in another sim, where nothing was told yet.
    pub fn move_to(&mut self, sim: SimId) {
        self.sim = sim;
        self.newest = None;
        self.opened.clear();
    }

    /// Forgets what was opened, so that it is told again.
    pub fn forget(&mut self) {
        self.opened.clear();
    }

    /// Seals words for a reader. Returns the act of telling, and the blob with the sealed words.
    ///
    /// # Errors
    /// See [`SealWordsError`].
    pub fn seal(&mut self, to: &PublicKey, text: &str) -> Result<(Act, Vec<Blob>), SealWordsError> {
        if !is_told(text) {
            return Err(SealWordsError::Words);
        }
        let class = class_of_words(text.len()).ok_or(SealWordsError::Words)?;
        let point = agreement_point(to).ok_or(SealWordsError::Key)?;
        let passing_secret = self.passing_secret(to);
        let passing = x25519(*passing_secret, X25519_BASEPOINT_BYTES);
        let key =
            shared_key(&passing_secret, point, (&passing, &point)).ok_or(SealWordsError::Key)?;
        let nonce = self.next_nonce(text);
        let opening = opening(&key, &nonce);
        let commitment = words_commitment(self.sim, (&self.own, to), &opening, text);
        let mut padded = Zeroizing::new(vec![0; class]);
        padded[..text.len()].copy_from_slice(text.as_bytes());
        let bound = bound(self.sim, (&self.own, to), &passing, &commitment);
        let payload = Payload { msg: &padded, aad: &bound };
        let encrypted = cipher(&key).encrypt(XNonce::from_slice(&nonce), payload);
        let encrypted = encrypted.map_err(|_| SealWordsError::Words)?;
        let blob = Blob(SealedWords { passing, nonce, commitment, encrypted }.encode());
        Ok((Act::Tell { to: *to, sealed: blob.id() }, vec![blob]))
    }

    /// Opens words that came, and remembers them. Words that came before, as a mailbox repeats them, are nothing.
    ///
    /// # Errors
    /// See [`OpenWordsError`].
    pub fn take(&mut self, told: &ToldMessage) -> Result<Option<&PrivateWords>, OpenWordsError> {
        if self.opened.values().any(|known| known.proof.act == told.act) {
            return Ok(None);
        }
        let words = self.open(told);
        // What nobody told here is an invention of the node.
        if !matches!(words, Err(OpenWordsError::NotOurs | OpenWordsError::Unsigned)) {
            self.newest = self.newest.max(Some(told.number));
        }
        let words = words?;
        if self.opened.len() >= OPENED_KEPT {
            self.opened.pop_first();
        }
        self.came = self.came.saturating_add(1);
        let words = PrivateWords { number: self.came, ..words };
        Ok(Some(self.opened.entry(self.came).or_insert(words)))
    }

    /// Opens words that came, after checking who told them to whom.
    fn open(&mut self, told: &ToldMessage) -> Result<PrivateWords, OpenWordsError> {
        let envelope = &told.act.envelope;
        let meant = Act::Tell { to: self.own, sealed: Blob(told.sealed.clone()).id() };
        if envelope.sim != self.sim || envelope.act != meant {
            return Err(OpenWordsError::NotOurs);
        }
        if !told.act.verify(&Ed25519) {
            return Err(OpenWordsError::Unsigned);
        }
        let (text, opening) = self.decrypt(&envelope.author, &told.sealed)?;
        let (act, sealed) = (told.act.clone(), told.sealed.clone());
        Ok(PrivateWords {
            number: 0,
            place: told.number,
            height: told.height,
            by: envelope.author,
            name: told.name.clone(),
            ago: told.ago,
            text: text.clone(),
            proof: Box::new(OpenedWords { act, sealed, opening, text }),
        })
    }

    /// Decrypts sealed words of an author. Returns them, with what opens their commitment. It checks no signature.
    ///
    /// # Errors
    /// See [`OpenWordsError`].
    pub fn decrypt(
        &mut self,
        by: &PublicKey,
        sealed: &[u8],
    ) -> Result<(String, Digest), OpenWordsError> {
        let sealed = SealedWords::decode(sealed).ok_or(OpenWordsError::NotOurs)?;
        let key = self.key_of(&sealed.passing).ok_or(OpenWordsError::Broken)?;
        let bound = bound(self.sim, (by, &self.own), &sealed.passing, &sealed.commitment);
        let payload = Payload { msg: &sealed.encrypted, aad: &bound };
        let padded = cipher(&key).decrypt(XNonce::from_slice(&sealed.nonce), payload);
        let padded = Zeroizing::new(padded.map_err(|_| OpenWordsError::Broken)?);
        // No line has a zero in it.
        let end = padded.iter().position(|byte| *byte == 0).unwrap_or(padded.len());
        let text = core::str::from_utf8(&padded[..end]).map_err(|_| OpenWordsError::Unbound)?;
        let opening = opening(&key, &sealed.nonce);
        let commitment = words_commitment(self.sim, (by, &self.own), &opening, text);
        if commitment != sealed.commitment || !is_told(text) {
            return Err(OpenWordsError::Unbound);
        }
        Ok((text.to_string(), opening))
    }

    /// Returns a report about words that came, with the blob that proves them; nothing if they are not
    /// remembered.
    #[must_use]
    pub fn report(&self, number: u64, words: String) -> Option<(Act, Vec<Blob>)> {
        let told = self.opened.get(&number)?;
        let blob = Blob(wire::encode(&*told.proof));
        let about = ReportSubject::Words { by: told.by, opened: blob.id() };
        Some((Act::FileReport { about, words }, vec![blob]))
    }

    /// Returns the greatest number in the sim of the words that came, also of those that cannot be read; nothing
    /// if none came.
    #[must_use]
    pub const fn newest_place(&self) -> Option<u64> {
        self.newest
    }

    /// Returns the secret of the passing key for a reader. It depends on the own key as well, so that it stays
    /// secret if the random numbers are none.
    fn passing_secret(&self, to: &PublicKey) -> Zeroizing<[u8; 32]> {
        let parts = [&self.random[..], &self.agreement[..], &self.sim.0.0, &to.0].concat();
        let bytes = Zeroizing::new(parts);
        Zeroizing::new(Digest::of("metatopia private words passing key v1", &bytes).0)
    }

    /// Returns the nonce of the next words. Other words have another one, whatever else is the same.
    fn next_nonce(&mut self, text: &str) -> [u8; 24] {
        self.sealed = self.sealed.saturating_add(1);
        let bytes = Zeroizing::new(wire::encode(&(&self.random[..], self.sealed, text)));
        let Digest(long) = Digest::of("metatopia private words nonce v1", &bytes);
        let mut nonce = [0; 24];
        nonce.copy_from_slice(&long[..24]);
        nonce
    }

    /// Returns the key by which words with this passing key are opened.
    fn key_of(&mut self, passing: &[u8; 32]) -> Option<Zeroizing<[u8; 32]>> {
        if let Some(key) = self.shared.get(passing) {
            return Some(key.clone());
        }
        let own = agreement_point(&self.own)?;
        let key = shared_key(&self.agreement, *passing, (passing, &own))?;
        if self.shared.len() >= SHARED_KEYS_MAX {
            self.shared.clear();
        }
        self.shared.insert(*passing, key.clone());
        Some(key)
    }
}

/// Returns the key that a secret number shares with a point; nothing of a point that shares the same one with
/// all numbers.
fn shared_key(
    secret: &[u8; 32],
    point: [u8; 32],
    (passing, reader): (&[u8; 32], &[u8; 32]),
) -> Option<Zeroizing<[u8; 32]>> {
    let agreed = Zeroizing::new(x25519(*secret, point));
    if *agreed == [0; 32] {
        return None;
    }
    let parts = Zeroizing::new([&agreed[..], passing, reader].concat());
    Some(Zeroizing::new(Digest::of("metatopia private words shared key v1", &parts).0))
}

/// Returns what opens the commitment of words. Nobody finds the key by it.
fn opening(key: &[u8; 32], nonce: &[u8; 24]) -> Digest {
    let parts = Zeroizing::new([&key[..], nonce].concat());
    Digest::of("metatopia private words opening v1", &parts)
}

/// Returns what is encrypted for nobody and yet cannot be changed.
fn bound(
    sim: SimId,
    (by, to): (&PublicKey, &PublicKey),
    passing: &[u8; 32],
    commitment: &Digest,
) -> Vec<u8> {
    wire::encode(&(sim, by, to, passing, commitment))
}

fn cipher(key: &[u8; 32]) -> XChaCha20Poly1305 {
    XChaCha20Poly1305::new(key.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_whose_author_could_deny_them_are_not_read() {
        let sim = SimId(Digest([7; 32]));
        let (author, reader) = (SigningKey::from_seed([3; 32]), SigningKey::from_seed([2; 32]));
        let (by, to) = (author.public(), reader.public());
        let secret = [9; 32];
        let passing = x25519(secret, X25519_BASEPOINT_BYTES);
        let point = agreement_point(&to).expect("a key");
        let key = shared_key(&secret, point, (&passing, &point)).expect("a point");
        let seal = |says: &[u8], committed: &str| {
            let nonce = [5; 24];
            let commitment = words_commitment(sim, (&by, &to), &opening(&key, &nonce), committed);
            let bound = bound(sim, (&by, &to), &passing, &commitment);
            let mut padded = [0; 64];
            padded[..says.len()].copy_from_slice(says);
            let payload = Payload { msg: &padded, aad: &bound };
            let encrypted = cipher(&key).encrypt(XNonce::from_slice(&nonce), payload);
            let encrypted = encrypted.expect("few bytes");
            SealedWords { passing, nonce, commitment, encrypted }.encode()
        };
        let mut reads = Correspondence::new(sim, &reader, [0; 32]);
        let mut read = |sealed: Vec<u8>| reads.decrypt(&by, &sealed).map(|(text, _)| text);
        assert_eq!(read(seal(b"or else", "or else")), Ok("or else".to_string()));
        assert_eq!(read(seal(b"or else", "you are welcome")), Err(OpenWordsError::Unbound));
        // Nor is what nobody could say.
        assert_eq!(read(seal(b"two\nlines", "two\nlines")), Err(OpenWordsError::Unbound));
        assert_eq!(read(seal(b"", "")), Err(OpenWordsError::Unbound));
        assert_eq!(read(seal(&[0xff], "?")), Err(OpenWordsError::Unbound));
    }
}
