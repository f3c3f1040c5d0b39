//! Headers that carry their own hash: a mark, a version, fields, and 16 bytes of blake3 over these.

use crate::{
    Cause, Damage, Damaged, DiskError, FileName, ReadDisk,
    chain::HASH_BYTES,
    disk::{ReadWholeError, read_whole},
};

/// A file that is one header may have so many bytes in a later version, so that its version can be
/// told.
const LATER_BYTES_MAX: u64 = 4_096;

pub(crate) const MARK_BYTES: usize = 8;
/// Mark and version, before the fields.
pub(crate) const PROLOGUE_BYTES: usize = MARK_BYTES + 4;

/// A kind of header; `context` separates its hash from all others.
pub(crate) struct Seal {
    pub(crate) mark: &'static [u8; MARK_BYTES],
    pub(crate) version: u32,
    pub(crate) context: &'static str,
    pub(crate) field_bytes: usize,
}

/// Why a header was not accepted.
pub(crate) enum SealError {
    Damaged { offset: u64, damage: Damage },
    Version(u32),
}

/// Why a file that should be one header was not accepted.
pub(crate) enum SealedFileError {
    Disk(DiskError),
    Damaged(Damaged),
    Version(u32),
}

impl Seal {
    /// The fields of a file that is one header and nothing else; none if there is no such file.
    pub(crate) fn read_file(
        &self,
        disk: &dyn ReadDisk,
        file: FileName,
    ) -> Result<Option<Vec<u8>>, SealedFileError> {
        let damaged =
            |offset, damage| Err(SealedFileError::Damaged(Damaged { file, offset, damage }));
        let expected = self.bytes() as u64;
        let bytes = match read_whole(disk, file, LATER_BYTES_MAX) {
            Ok(bytes) => bytes,
            Err(ReadWholeError::Disk(error)) if error.cause == Cause::NotFound => return Ok(None),
            Err(ReadWholeError::Disk(error)) => return Err(SealedFileError::Disk(error)),
            Err(ReadWholeError::TooLong(found)) => {
                return damaged(expected, Damage::Length { found, expected });
            }
        };
        let fields = match self.open(&bytes) {
            Ok(fields) => fields.to_vec(),
            Err(SealError::Version(found)) => return Err(SealedFileError::Version(found)),
            Err(SealError::Damaged { offset, damage }) => return damaged(offset, damage),
        };
        let found = bytes.len() as u64;
        if found != expected {
            return damaged(expected, Damage::Length { found, expected });
        }
        Ok(Some(fields))
    }

    /// Bytes of the whole header.
    pub(crate) const fn bytes(&self) -> usize {
        PROLOGUE_BYTES + self.field_bytes + HASH_BYTES
    }

    pub(crate) fn close(&self, fields: &[&[u8]]) -> Vec<u8> {
        let mut header = Vec::with_capacity(self.bytes());
        header.extend_from_slice(self.mark);
        header.extend_from_slice(&self.version.to_le_bytes());
        for field in fields {
            header.extend_from_slice(field);
        }
        let hash = self.hash(&header);
        header.extend_from_slice(&hash);
        assert_eq!(header.len(), self.bytes(), "a header has one length");
        header
    }

    /// The fields of the header that `bytes` begins with.
    pub(crate) fn open<'a>(&self, bytes: &'a [u8]) -> Result<&'a [u8], SealError> {
        let damaged = |offset, damage| Err(SealError::Damaged { offset, damage });
        if bytes.len() >= MARK_BYTES && !bytes.starts_with(self.mark) {
            return damaged(0, Damage::Mark);
        }
        let found = bytes
            .get(MARK_BYTES..PROLOGUE_BYTES)
            .map(|version| u32::from_le_bytes(version.try_into().expect("a range of 4")));
        let sealed = |version: u32| {
            let end = PROLOGUE_BYTES + self.field_bytes;
            let (header, hash) = (bytes.get(..end)?, bytes.get(end..self.bytes())?);
            let mut header = header.to_vec();
            header[MARK_BYTES..PROLOGUE_BYTES].copy_from_slice(&version.to_le_bytes());
            (self.hash(&header) == hash).then_some(&bytes[PROLOGUE_BYTES..end])
        };
        match found {
            Some(found) if found != self.version => match sealed(self.version) {
                // A header of this version, but for the version: that is damage, not another version.
                Some(_) => damaged(MARK_BYTES as u64, Damage::Header),
                None => Err(SealError::Version(found)),
            },
            _ if bytes.len() < self.bytes() => {
                let (found, expected) = (bytes.len() as u64, self.bytes() as u64);
                damaged(0, Damage::Length { found, expected })
            }
            _ => {
                sealed(self.version).ok_or(SealError::Damaged { offset: 0, damage: Damage::Header })
            }
        }
    }

    fn hash(&self, header: &[u8]) -> [u8; HASH_BYTES] {
        let hash = blake3::derive_key(self.context, header);
        hash[..HASH_BYTES].try_into().expect("a range of 16")
    }
}
