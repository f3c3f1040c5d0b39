//! What the medium does to a log behind its server's back.

use metatopia_store::memory::{MemoryDisk, SECTOR_BYTES};
use metatopia_store::{Folder, ReadDisk as _};

use crate::chance::Dice;
use crate::class::Class;

/// Changes what is on a disk, well before the end of the log: a last record that is damaged looks
/// like one that a crash tore, so that is a fault of another kind. Returns whether it did.
pub(crate) fn harm(disk: &mut MemoryDisk, class: Class, place: u64) -> bool {
    let Ok(files) = disk.list(Folder::Log) else {
        return false;
    };
    let count = u64::try_from(files.len()).unwrap_or(u64::MAX).max(1);
    let at = usize::try_from(place % count).unwrap_or(0);
    let Some(file) = files.get(at).copied() else {
        return false;
    };
    let Some(old) = disk.bytes(file).map(<[u8]>::to_vec) else {
        return false;
    };
    let last = at + 1 == files.len();
    let end = if last { old.len() / 2 } else { old.len() };
    if end < 4 * SECTOR_BYTES {
        return false;
    }
    let within = |bound: usize| Dice::new(place, class.name()).index(bound);
    if class == Class::BitFlip {
        return disk.flip(file, u64::try_from(within(end * 8)).unwrap_or(0));
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
    let harmed = new != old;
    if harmed {
        disk.replace(file, new);
    }
    harmed
}
