//! What the medium does to a log behind its server's back.

use metatopia_store::memory::{MemoryDisk, SECTOR_BYTES};
use metatopia_store::{FileKind, FileName, Folder, ReadDisk as _};

use crate::chance::Dice;
use crate::class::Class;

/// Changes what is on a disk, well before the end of the log: a last record that is damaged looks
/// like one that a crash tore, so that is a fault of another kind. Returns which file it changed.
pub(crate) fn harm(disk: &mut MemoryDisk, class: Class, place: u64) -> Option<FileName> {
    let mut files = disk.list(Folder::Log).ok()?;
    // What was put aside is never read.
    files.retain(|file| !matches!(file.kind, FileKind::Quarantined { .. }));
    let count = u64::try_from(files.len()).unwrap_or(u64::MAX).max(1);
    let at = usize::try_from(place % count).unwrap_or(0);
    let file = files.get(at).copied()?;
    let old = disk.bytes(file)?.to_vec();
    let last = at + 1 == files.len();
    let end = if last { old.len() / 2 } else { old.len() };
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
