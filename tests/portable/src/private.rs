//! Reading private words: the same words in every build, and how long that takes in a tab.

use metatopia_client::{Correspondence, OpenWordsError, SealWordsError};
use metatopia_types::{Digest, PublicKey, Sign as _, SigningKey, SimId, limits::CHAT_BYTES_MAX};

use crate::Report;

/// So many words are read: the bound of a tab is stated for a thousand.
const COUNT: u32 = 1_000;

/// Why private words could not be read.
#[derive(Debug, thiserror::Error)]
enum PrivateWordsError {
    #[error(transparent)]
    Seal(#[from] SealWordsError),
    #[error(transparent)]
    Open(#[from] OpenWordsError),
    #[error("an act that tells words names no blob")]
    NoBlob,
    #[error("they were other words")]
    Others,
}

/// Words that were sealed once, to be read many times over.
struct SealedOnce {
    by: PublicKey,
    sealed: Vec<u8>,
    text: String,
    sim: SimId,
    reader: SigningKey,
}

impl SealedOnce {
    /// Seals the longest words that can be told.
    fn new() -> Result<Self, PrivateWordsError> {
        let (sim, text) = (SimId(Digest([7; 32])), "w".repeat(CHAT_BYTES_MAX));
        let (author, reader) = (SigningKey::from_seed([1; 32]), SigningKey::from_seed([2; 32]));
        let mut desk = Correspondence::new(sim, &author, [3; 32]);
        let (_, blobs) = desk.seal(&reader.public(), &text)?;
        let sealed = blobs.into_iter().next().ok_or(PrivateWordsError::NoBlob)?.0;
        Ok(Self { by: author.public(), sealed, text, sim, reader })
    }

    fn desk(&self) -> Correspondence {
        Correspondence::new(self.sim, &self.reader, [0; 32])
    }

    fn read(&self, desk: &mut Correspondence) -> Result<(), PrivateWordsError> {
        let (words, _) = desk.decrypt(&self.by, &self.sealed)?;
        if words == self.text { Ok(()) } else { Err(PrivateWordsError::Others) }
    }

    /// Reads the words so often, by one desk or by a new one each time.
    fn read_all(is_known: bool) -> Report {
        let mut text = String::new();
        let outcome = Self::new().and_then(|words| {
            text.push_str(&format!("{}\n", Digest::of("sealed words", &words.sealed)));
            let mut desk = words.desk();
            for _ in 0..COUNT {
                words.read(&mut desk)?;
                if !is_known {
                    desk = words.desk();
                }
            }
            Ok(COUNT)
        });
        Report::new(text, outcome)
    }
}

/// Reads a thousand private words of one session of their author: one key is agreed on, and kept.
#[must_use]
pub fn letters() -> Report {
    SealedOnce::read_all(true)
}

/// Reads a thousand private words as if each were of another session: a key is agreed on for each.
#[must_use]
pub fn strangers() -> Report {
    SealedOnce::read_all(false)
}
