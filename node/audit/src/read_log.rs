//! Reads logs whose servers run and may remove old segments meanwhile.

use metatopia_store::{FileKind, Folder, ReadDisk};

/// Reads a log, and reads it again if the result is not sound and the log lost its first segment
/// meanwhile. A server removes a segment in minutes, so this comes to an end.
pub(crate) fn read_log<T>(
    disk: &dyn ReadDisk,
    mut read: impl FnMut() -> T,
    is_sound: impl Fn(&T) -> bool,
) -> T {
    loop {
        let begin = first_segment(disk);
        let found = read();
        if is_sound(&found) || first_segment(disk) == begin {
            return found;
        }
    }
}

fn first_segment(disk: &dyn ReadDisk) -> Option<u64> {
    let numbers = disk.list(Folder::Log).ok()?.into_iter().filter_map(|file| match file.kind {
        FileKind::Segment(number) => Some(number),
        _ => None,
    });
    numbers.min()
}
