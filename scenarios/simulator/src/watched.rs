//! What the oracle is shown of the disk of a server.

use metatopia_consensus::Decision;
use metatopia_oracle::{Append, LogDisk};
use metatopia_replica::decode_patch;
use metatopia_store::memory::MemoryDisk;
use metatopia_store::{FileKind, FileName, Patches, Write, load_patch};
use metatopia_types::{HeaderId, Height};

use crate::lent::DiskChange;

/// The log on a disk, and what was put back beside it.
pub(crate) struct WatchedDisk<'a>(pub(crate) &'a MemoryDisk);

impl LogDisk for WatchedDisk<'_> {
    fn bytes(&self, segment: u64) -> &[u8] {
        self.0.bytes(FileName::segment(segment)).unwrap_or_default()
    }

    fn durable(&self, segment: u64) -> &[u8] {
        self.0.durable(FileName::segment(segment))
    }

    fn put_back(&self, height: Height) -> Option<HeaderId> {
        let (from, to) = Patches::list(self.0).ok()?.holding(height.0)?;
        let file = FileName::new(FileKind::Patch { from, to });
        if self.0.bytes(file)?.len() != self.0.durable(file).len() {
            return None;
        }
        let turns = decode_patch(&load_patch(self.0, (from, to)).ok()?);
        turns.iter().find(|turn| turn.height() == height).map(Decision::id)
    }
}

/// Returns what a server is about to append to its log; `None` for a write to another file. `kind` is that of
/// agreement's records.
pub(crate) fn append<'a>(write: &'a Write, disk: &MemoryDisk, kind: u8) -> Option<Append<'a>> {
    let FileKind::Segment(segment) = write.file.kind else {
        return None;
    };
    let begun = write.begins.as_ref().map(|begins| begins.header.len());
    let from = begun.unwrap_or_else(|| disk.bytes(write.file).map_or(0, <[u8]>::len));
    Some(Append { segment, from, bytes: &write.bytes, payload: payload(&write.bytes, kind) })
}

/// Returns what a server appended to its log while its disk was lent to it; `None` for another change.
pub(crate) fn appended(change: &DiskChange, kind: u8) -> Option<Append<'_>> {
    let DiskChange::Append { file, from, bytes } = change else {
        return None;
    };
    let FileKind::Segment(segment) = file.kind else {
        return None;
    };
    Some(Append { segment, from: *from, bytes, payload: payload(bytes, kind) })
}

/// The payload of a framed record of this kind. A frame begins with the length of its payload and
/// its kind, and ends with the payload.
fn payload(bytes: &[u8], kind: u8) -> Option<&[u8]> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
    if rest.first() != Some(&kind) {
        return None;
    }
    bytes.get(bytes.len().checked_sub(length)?..)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use metatopia_consensus::Decision;
    use metatopia_oracle::LogDisk as _;
    use metatopia_replica::encode_patch;
    use metatopia_store::memory::{CrashEffect, MemoryDisk};
    use metatopia_store::{FileKind, FileName, Identity, Opening, Store, recover};
    use metatopia_types::{
        Certificate, Digest, Header, Height, PublicKey, Round, SimId, Turn, TurnBody,
    };

    use super::{WatchedDisk, append};

    #[test]
    fn what_is_appended_lies_where_it_is_said_to_be() {
        let mut disk = MemoryDisk::new();
        let mut writer = recover(&mut disk, SimId(Digest::ZERO)).expect("a new log").writer;
        for (kind, text) in [(1, "first"), (2, "second")] {
            let write = writer.append(kind, None, text.as_bytes()).expect("a short record");
            let shown = append(&write, &disk, 2).expect("it goes to the log");
            write.perform(&mut disk).expect("a good disk");

            let log = WatchedDisk(&disk);
            assert_eq!(&log.bytes(shown.segment)[shown.from..], shown.bytes, "{text}");
            let payload = (kind == 2).then_some(text.as_bytes());
            assert_eq!(shown.payload, payload);
        }
        let header = WatchedDisk(&disk).durable(0).len();
        disk.crash(CrashEffect::Lost);
        assert_eq!(WatchedDisk(&disk).bytes(0).len(), header);
    }

    #[test]
    fn turns_that_were_put_back_are_shown_as_long_as_they_can_be_read() {
        let turn = |height| {
            let header = Header { height: Height(height), ..Header::unstated() };
            let turn = Arc::new(Turn { header, body: TurnBody::default() });
            let (header, signatures) = (turn.id(), Vec::new());
            let round = Round(0);
            let certificate = Certificate { height: Height(height), round, header, signatures };
            Decision { certificate, turn }
        };
        let turns = [turn(7), turn(8)];
        let patch = encode_patch(&turns).expect("two turns");
        let identity = Identity { sim: SimId(Digest::ZERO), server: PublicKey([1; 32]) };
        let opened = Store::open(MemoryDisk::new(), Opening::new(identity));
        let mut store = opened.expect("a new log").store;
        store.put_patch(&patch).expect("a good disk");
        let mut disk = store.into_disk();
        let shown =
            |disk: &MemoryDisk| [6, 7, 8, 9].map(|at| WatchedDisk(disk).put_back(Height(at)));

        let both = [None, Some(turns[0].id()), Some(turns[1].id()), None];
        assert_eq!(shown(&disk), both);
        disk.crash(CrashEffect::Lost);
        assert_eq!(shown(&disk), both);
        let file = FileName::new(FileKind::Patch { from: 7, to: 8 });
        assert!(disk.flip(file, 1000));
        assert_eq!(shown(&disk), [None; 4]);
    }
}
