//! Files that are a header and content: the header says what the file holds, how long it is and what
//! it hashes to, so damage is found before anybody decodes it.

use crate::{
    Damage, Damaged, FileName, ReadDisk,
    disk::{ReadWholeError, read_whole},
    sealed::{Seal, SealError, SealedFileError},
};

const LENGTH_BYTES: usize = 8;
const CONTENT_HASH_BYTES: usize = 32;

/// What a header says of the content, after what the file holds.
pub(crate) const CONTENT_FIELD_BYTES: usize = LENGTH_BYTES + CONTENT_HASH_BYTES;

/// A kind of file; its seal has [`CONTENT_FIELD_BYTES`] more than say what the file holds.
pub(crate) struct ContentFile {
    pub(crate) seal: Seal,
    /// Separates the hash of its content from all others.
    pub(crate) context: &'static str,
    /// The longest content, in bytes.
    pub(crate) bytes_max: u64,
}

impl ContentFile {
    fn header(&self, holds: &[u8], content: &[u8]) -> Vec<u8> {
        let length = (content.len() as u64).to_le_bytes();
        self.seal.close(&[holds, &length, &blake3::derive_key(self.context, content)])
    }

    /// The whole file.
    pub(crate) fn close(&self, holds: &[u8], content: &[u8]) -> Vec<u8> {
        let mut file = self.header(holds, content);
        file.extend_from_slice(content);
        file
    }

    /// The content of `file`, which must hold what its name says.
    pub(crate) fn load(
        &self,
        disk: &dyn ReadDisk,
        file: FileName,
        holds: &[u8],
    ) -> Result<Vec<u8>, SealedFileError> {
        match read_whole(disk, file, self.bytes_max + self.seal.bytes() as u64) {
            Ok(bytes) => self.open(file, holds, bytes),
            Err(ReadWholeError::Disk(error)) => Err(SealedFileError::Disk(error)),
            Err(ReadWholeError::TooLong(found)) => {
                let (offset, expected) = (self.bytes_max, self.bytes_max);
                let damage = Damage::Length { found, expected };
                Err(SealedFileError::Damaged(Damaged { file, offset, damage }))
            }
        }
    }

    /// The content of such a file's bytes.
    pub(crate) fn open(
        &self,
        file: FileName,
        holds: &[u8],
        mut bytes: Vec<u8>,
    ) -> Result<Vec<u8>, SealedFileError> {
        let damaged =
            |offset, damage| Err(SealedFileError::Damaged(Damaged { file, offset, damage }));
        let header_bytes = self.seal.bytes();
        let fields = match self.seal.open(&bytes) {
            Ok(fields) => fields,
            Err(SealError::Version(found)) => return Err(SealedFileError::Version(found)),
            Err(SealError::Damaged { offset, damage }) => return damaged(offset, damage),
        };
        let (length, hash) = fields[holds.len()..].split_at(LENGTH_BYTES);
        let length = u64::from_le_bytes(length.try_into().expect("a range of 8"));
        let expected = length.saturating_add(header_bytes as u64);
        let found = bytes.len() as u64;
        if found != expected {
            return damaged(found.min(expected), Damage::Length { found, expected });
        }
        if blake3::derive_key(self.context, &bytes[header_bytes..]) != *hash {
            return damaged(header_bytes as u64, Damage::Content);
        }
        let content = bytes.split_off(header_bytes);
        if self.header(holds, &content) != bytes {
            // A whole file under the name of another.
            return damaged(0, Damage::Header);
        }
        Ok(content)
    }
}
