//! What a replica keeps on its disk: opens it, writes the log and snapshots, reads old turns back.

use metatopia_consensus::{Base, Decision, Record};
use metatopia_replica::{
    RECORDS_BACK_HEIGHTS, decode_snapshot, find_decisions, payloads_after, recall_from,
    records_after,
};
use metatopia_sim::World;
use metatopia_store::memory::MemoryDisk;
use metatopia_store::{
    Disk, DiskError, FileName, Folder, Identity, LogIndex, LogWriter, OpenError, Opening, Position,
    ReadDisk, RecoverError, ScanError, Snapshot, SnapshotError, Store, SyncRequest,
    newest_snapshot, put_only_snapshot, put_snapshot, quarantine, recover,
};
use metatopia_types::{Height, Round};

use super::setting::Setting;
use crate::machine::FileChange;

/// The kind of agreement's records; the only kind there is.
pub(crate) const AGREEMENT_KIND: u8 = 1;

/// Segments of simulated logs are short, so that logs have several.
pub const SEGMENT_BYTES: u64 = 128 * 1_024;

/// The files of one life of a server.
#[derive(Debug)]
pub(crate) struct Files {
    writer: LogWriter,
    /// What the process sees when it reads: all that it wrote, durable or not.
    mirror: MemoryDisk,
}

/// What a disk holds, ready to go on from.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) files: Files,
    pub(crate) base: Base,
    pub(crate) world: World,
    pub(crate) records: Vec<Record>,
    /// What was found damaged of the log, and put aside.
    pub(crate) damage: Option<String>,
}

impl Files {
    /// Opens the files of the server in `seat`, as the node does. `fresh` says that its key was
    /// never used.
    pub(crate) fn open(
        setting: &Setting,
        seat: usize,
        fresh: bool,
        disk: &mut MemoryDisk,
    ) -> Result<Found, String> {
        let (sim, server) = (setting.sim, setting.name(seat));
        let mut opening = Opening::new(Identity { sim, server });
        opening.segment_bytes = SEGMENT_BYTES;
        let damage = put_aside(disk, opening)?;
        let opened = Store::open(&mut *disk, opening).map_err(|e| e.to_string())?;
        let mut store = opened.store;
        if opened.records_lost {
            // It does not know what it signed; its log says so from now on, as that of a node.
            let silence = Record::Silence.encode();
            store.append(AGREEMENT_KIND, None, &silence).map_err(|e| e.to_string())?;
            store.sync().map_err(|e| e.to_string())?;
            store.acknowledge_loss().map_err(|e| e.to_string())?;
        }
        if fresh && store.end() == Position::default() {
            store
                .append(AGREEMENT_KIND, None, &Record::Voice.encode())
                .map_err(|e| e.to_string())?;
            store.sync().map_err(|e| e.to_string())?;
        }
        drop(store);
        let mut mirror = disk.clone();
        let writer = recover(&mut mirror, sim).map_err(|e| e.to_string())?.writer;
        let writer = writer.with_segment_bytes(SEGMENT_BYTES);
        let (base, mut world) = start_from(setting, &mirror)?;
        setting.break_rules(seat, Round::default(), &mut world);
        let records = records_after(writer.index(), &mirror, base.height);
        let records = records.map_err(|e| e.to_string())?;
        Ok(Found { files: Self { writer, mirror }, base, world, records, damage })
    }

    /// Appends a record.
    pub(crate) fn append(&mut self, tag: Option<u64>, payload: &[u8]) -> FileChange {
        let write = self.writer.append(AGREEMENT_KIND, tag, payload);
        let write = write.expect("agreement's records are bounded, and decided in order");
        write.perform(&mut self.mirror).expect("memory does not fail by itself");
        FileChange::Append(write)
    }

    /// What to sync so that everything so far is durable; nothing while the log is empty.
    pub(crate) fn sync_request(&self) -> Option<SyncRequest> {
        self.writer.sync_request()
    }

    pub(crate) fn synced(&mut self, request: &SyncRequest) {
        self.writer.mark_synced(request.end);
    }

    /// Decided turns, read from the log.
    pub(crate) fn load(&self, from: Height, count: u32) -> Vec<Decision> {
        let payloads = payloads_after(self.writer.index(), &self.mirror, from);
        let payloads = payloads.expect("memory does not fail by itself");
        let records = payloads
            .map(|payload| payload.expect("memory does not fail by itself"))
            .filter_map(|payload| Record::decode(&payload).ok());
        find_decisions(records, from, count)
    }

    /// The decided turns up to `base` that clients may still ask for.
    pub(crate) fn past(&self, base: Height) -> Vec<Decision> {
        let from = recall_from(base);
        let count = base.plus(1).0.saturating_sub(from.0);
        self.load(from, u32::try_from(count).unwrap_or(u32::MAX))
    }

    /// What a replica is opened with that begins with the state of this height.
    pub(crate) fn records_after(&self, base: Height) -> Vec<Record> {
        let records = records_after(self.writer.index(), &self.mirror, base);
        records.expect("memory does not fail by itself")
    }

    /// Stores a snapshot, and lets older ones go.
    pub(crate) fn snapshot(&mut self, snapshot: &Snapshot) -> Vec<FileChange> {
        self.store(|disk| put_snapshot(disk, snapshot))
    }

    /// Stores a snapshot, and lets all others go.
    pub(crate) fn only_snapshot(&mut self, snapshot: &Snapshot) -> Vec<FileChange> {
        self.store(|disk| put_only_snapshot(disk, snapshot))
    }

    fn store(
        &mut self,
        put: impl FnOnce(&mut dyn Disk) -> Result<(), SnapshotError>,
    ) -> Vec<FileChange> {
        let mut recorder = Recorder { disk: &mut self.mirror, changes: Vec::new() };
        put(&mut recorder).expect("memory does not fail by itself");
        recorder.changes
    }
}

/// Puts aside what is damaged of a log, as a node does when it starts.
fn put_aside(disk: &mut MemoryDisk, opening: Opening) -> Result<Option<String>, String> {
    match Store::open(&mut *disk, opening) {
        Err(OpenError::Recover(RecoverError::Scan(
            ScanError::Damaged(_) | ScanError::Missing(_),
        ))) => {}
        _ => return Ok(None),
    }
    let done = quarantine(disk, opening.identity.sim, &suffices).map_err(|e| e.to_string())?;
    Ok(done.map(|done| done.fault.to_string()))
}

/// Can a server start from its newest snapshot and this log?
fn suffices(index: &LogIndex, disk: &dyn ReadDisk) -> bool {
    let newest = newest_snapshot(disk).ok().and_then(|newest| newest.snapshot);
    let Some(before) = newest.and_then(|s| s.height.minus(RECORDS_BACK_HEIGHTS)) else {
        return !index.is_pruned();
    };
    matches!(index.find(disk, before.0), Ok(Some(_)))
}

/// The newest snapshot that is whole and of the agreed state, or genesis.
fn start_from(setting: &Setting, disk: &MemoryDisk) -> Result<(Base, World), String> {
    let newest = newest_snapshot(disk).map_err(|e| e.to_string())?;
    match newest.snapshot {
        Some(snapshot) => {
            decode_snapshot(&snapshot.bytes, &setting.tools()).map_err(|e| e.to_string())
        }
        None => Ok((setting.base(), setting.beginning())),
    }
}

/// Does changes of whole files to the mirror, and remembers them for the disk itself.
struct Recorder<'a> {
    disk: &'a mut MemoryDisk,
    changes: Vec<FileChange>,
}

impl ReadDisk for Recorder<'_> {
    fn list(&self, folder: Folder) -> Result<Vec<FileName>, DiskError> {
        self.disk.list(folder)
    }

    fn length(&self, file: FileName) -> Result<u64, DiskError> {
        self.disk.length(file)
    }

    fn read(&self, file: FileName, at: u64, length: u32) -> Result<Vec<u8>, DiskError> {
        self.disk.read(file, at, length)
    }
}

impl Disk for Recorder<'_> {
    fn append(&mut self, file: FileName, bytes: &[u8]) -> Result<(), DiskError> {
        self.disk.append(file, bytes)
    }

    fn rename(&mut self, from: FileName, to: FileName) -> Result<(), DiskError> {
        self.disk.rename(from, to)
    }

    fn remove(&mut self, file: FileName) -> Result<(), DiskError> {
        self.changes.push(FileChange::Remove(file));
        self.disk.remove(file)
    }

    fn sync(&mut self, file: FileName, length: u64) -> Result<(), DiskError> {
        self.disk.sync(file, length)
    }

    fn sync_dir(&mut self, folder: Folder) -> Result<(), DiskError> {
        self.disk.sync_dir(folder)
    }

    fn write_new(&mut self, file: FileName, bytes: &[u8]) -> Result<(), DiskError> {
        let bytes_kept = bytes.to_vec();
        self.changes.push(FileChange::Create { file, bytes: bytes_kept });
        self.disk.write_new(file, bytes)
    }
}
