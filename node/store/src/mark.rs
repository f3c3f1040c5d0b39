//! What is known of a log without reading it: where it begins, and how far it is durable.
//!
//! A log that begins later than with its first record could not be told from one that lost its
//! beginning, nor a log that was cut from one whose last records never reached the disk. So both are
//! written down, in a file of its own that is replaced as a whole: the mark.

use metatopia_types::{Digest, SimId};

use crate::{
    Disk, DiskError, FileName, Position, ReadDisk, ScanError,
    chain::{Chain, HASH_BYTES},
    index::LogStart,
    sealed::{Seal, SealedFileError},
};

/// The version of marks this program writes, and the only one it reads.
pub(crate) const MARK_VERSION: u32 = 1;

pub(crate) const SEAL: Seal = Seal {
    mark: b"mtopmark",
    version: MARK_VERSION,
    context: "metatopia log mark v1",
    field_bytes: 32 + 8 + 8 + HASH_BYTES + 8 + HASH_BYTES + 1,
};

/// What is known of a log without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) sim: SimId,
    /// Segments before this one are gone, or may go.
    pub(crate) start: LogStart,
    /// Everything before this is durable, so it must be there.
    pub(crate) end: Position,
    /// The hash of the record that ends there.
    pub(crate) tip: Chain,
    /// Records behind `end` were lost, and nobody has taken note of it yet.
    pub(crate) records_lost: bool,
}

impl Mark {
    pub(crate) fn write(&self, disk: &mut dyn Disk) -> Result<(), DiskError> {
        let bytes = SEAL.close(&[
            self.sim.bytes(),
            &self.start.segment.to_le_bytes(),
            &self.start.position.0.to_le_bytes(),
            &self.start.before.0,
            &self.end.0.to_le_bytes(),
            &self.tip.0,
            &[u8::from(self.records_lost)],
        ]);
        disk.write_new(FileName::MARK, &bytes)
    }

    /// The mark of the log of `sim`; none if nothing was noted yet.
    pub(crate) fn read(disk: &dyn ReadDisk, sim: SimId) -> Result<Option<Self>, ScanError> {
        let file = FileName::MARK;
        let fields = match SEAL.read_file(disk, file) {
            Ok(Some(fields)) => fields,
            Ok(None) => return Ok(None),
            Err(SealedFileError::Disk(error)) => return Err(error.into()),
            Err(SealedFileError::Damaged(damaged)) => return Err(ScanError::Damaged(damaged)),
            Err(SealedFileError::Version(found)) => return Err(ScanError::Version { file, found }),
        };
        let number =
            |at: usize| u64::from_le_bytes(fields[at..at + 8].try_into().expect("a range of 8"));
        let chain =
            |at: usize| Chain(fields[at..at + HASH_BYTES].try_into().expect("a range of a hash"));
        let found = SimId(Digest(fields[..32].try_into().expect("a range of 32")));
        if found != sim {
            return Err(ScanError::ForeignSim { file, found, expected: sim });
        }
        Ok(Some(Self {
            sim,
            start: LogStart {
                segment: number(32),
                position: Position(number(40)),
                before: chain(48),
            },
            end: Position(number(64)),
            tip: chain(72),
            records_lost: fields[88] != 0,
        }))
    }
}
