//! What the medium does to a log, and to stored states, behind their server's back.

use metatopia_store::memory::{MemoryDisk, SECTOR_BYTES};
use metatopia_store::{
    FileKind, FileName, Folder, ReadDisk as _, Snapshot, list_snapshots, load_snapshot, scan,
};
use metatopia_types::SimId;

use crate::chance::Dice;
use crate::class::Class;

/// Changes what is on a disk, where the rest of the log shows that it had been durable: what was
/// written last looks like something that a crash tore when it is damaged, so that is a fault of
/// another kind. Returns which file it changed.
pub(crate) fn harm(
    disk: &mut MemoryDisk,
    sim: SimId,
    class: Class,
    place: u64,
) -> Option<FileName> {
    let index = scan(disk, sim).ok()?.index;
    let (last, guarded) = index.locate(index.guarded())?;
    let mut files = disk.list(Folder::Log).ok()?;
    // What was put aside is never read.
    files.retain(|file| !matches!(file.kind, FileKind::Quarantined { .. }));
    files.truncate(files.iter().position(|file| *file == last)? + 1);
    let count = u64::try_from(files.len()).ok()?;
    let at = usize::try_from(place % count).unwrap_or(0);
    let file = files.get(at).copied()?;
    let old = disk.bytes(file)?.to_vec();
    let end = if file == last { usize::try_from(guarded).ok()? } else { old.len() };
    if end < 4 * SECTOR_BYTES {
        return None;
    }
    let within = |bound: usize| Dice::new(place, class.name()).index(bound);
    if class == Class::BitFlip {
        let flipped = disk.flip(file, u64::try_from(within(end * 8)).unwrap_or(0));
        return flipped.then_some(file);
    }
    let sectors = end / SECTOR_BYTES;
    let to = within(sectors) * SECTOR_BYTES;
    let mut new = old.clone();
    if class == Class::LostWrite {
        new[to..to + SECTOR_BYTES].fill(0);
    } else {
        let from = (to + SECTOR_BYTES) % (sectors * SECTOR_BYTES);
        let (from, to) = (from..from + SECTOR_BYTES, to);
        new.copy_within(from, to);
    }
    (new != old).then(|| {
        disk.replace(file, new);
        file
    })
}

/// Makes the newest stored state unreadable, or all of them: by a bit that turns, or by a whole file
/// whose content is none, as of another version. Returns whether there was one.
pub(crate) fn spoil(disk: &mut MemoryDisk, place: u64, all: bool) -> bool {
    let mut dice = Dice::new(place, Class::BadSnapshot.name());
    let found = list_snapshots(disk).unwrap_or_default();
    let mut spoiled = false;
    for (height, root) in found.into_iter().take(if all { usize::MAX } else { 1 }) {
        let Ok(mut snapshot) = load_snapshot(disk, height, root) else { continue };
        let file = FileName::new(FileKind::Snapshot(height, root));
        if dice.below(2) == 0 {
            let bits = disk.bytes(file).map_or(0, <[u8]>::len) as u64 * 8;
            spoiled |= disk.flip(file, dice.below(bits));
        } else {
            snapshot.bytes.truncate(snapshot.bytes.len() / 2);
            disk.replace(file, Snapshot::to_file(&snapshot));
            spoiled = true;
        }
    }
    spoiled
}
