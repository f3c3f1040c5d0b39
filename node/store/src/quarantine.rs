//! What to do about a damaged log: nothing is thrown away, and nothing damaged is used.

use metatopia_types::SimId;

use crate::{
    Damaged, Disk, DiskError, FileKind, FileName, Folder, LogIndex, ReadDisk, RecoverError,
    ScanError,
    controls::Controls,
    disk::read_start,
    index::Start,
    mark::Mark,
    scan::{Scanner, segment_numbers, start_of, survey_both},
};

/// What was done about a damaged log, which can be opened now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quarantine {
    /// What was wrong.
    pub fault: ScanError,
    /// The segments that were put aside, under their new names.
    pub moved: Vec<FileName>,
    /// Are records lost that nobody can do without: the last ones? See
    /// [`Opened::records_lost`](crate::Opened::records_lost).
    pub records_lost: bool,
}

/// Puts the damaged part of a log aside; `None` if it has none.
///
/// If what lies behind the damage is whole and `suffices`, the log begins there from now on: only
/// history is lost. Otherwise it ends where the damage begins, and its writer has lost records. Either
/// may be interrupted by a crash, and is then done the next time.
///
/// # Errors
/// A log of another sim or version is not damaged; nothing was done then. Or the disk failed.
pub fn quarantine(
    disk: &mut dyn Disk,
    sim: SimId,
    suffices: &dyn Fn(&LogIndex, &dyn ReadDisk) -> bool,
) -> Result<Option<Quarantine>, RecoverError> {
    let (scan, [of_mark, of_log]) = survey_both(disk, sim, Controls::default())?;
    let mut bad = None;
    for fault in [&of_mark, &of_log].into_iter().flatten() {
        match fault {
            ScanError::Damaged(Damaged { file, .. }) | ScanError::Missing(file) => {
                bad = Some(*file);
            }
            _ => return Err(fault.clone().into()),
        }
    }
    let mark = if of_mark.is_some() { None } else { Mark::read(disk, sim)? };
    // Who knows what a damaged mark said.
    let records_lost = of_mark.is_some() || scan.records_lost;
    let (Some(fault), Some(bad)) = (of_mark.or(of_log), bad) else {
        return Ok(None);
    };
    if let Some(start) = whole_end(disk, sim, mark, suffices)? {
        let mut moved = Vec::new();
        for number in segment_numbers(disk, 0)?.into_iter().filter(|n| *n < start.segment) {
            moved.push(put_aside(disk, number)?);
        }
        disk.sync_dir(Folder::Log)?;
        let (end, tip) = match mark.filter(|mark| mark.end >= start.position) {
            Some(mark) => (mark.end, mark.tip),
            None => (start.position, start.before),
        };
        Mark { sim, start, end, tip, records_lost }.write(disk)?;
        return Ok(Some(Quarantine { fault, moved, records_lost }));
    }
    let index = &scan.index;
    let start = index.start_before(index.begin());
    let (end, tip) = (index.end(), index.tip());
    // Before anything is cut: whatever happens on the way, the loss will be known.
    Mark { sim, start, end, tip, records_lost: true }.write(disk)?;
    let moved = cut(disk, index, bad)?;
    Ok(Some(Quarantine { fault, moved, records_lost: true }))
}

/// Where the whole rest of the log behind the last damage begins, if it is of use.
fn whole_end(
    disk: &dyn ReadDisk,
    sim: SimId,
    mark: Option<Mark>,
    suffices: &dyn Fn(&LogIndex, &dyn ReadDisk) -> bool,
) -> Result<Option<Start>, DiskError> {
    let first = mark.map_or(0, |mark| mark.start.segment);
    let numbers = segment_numbers(disk, first)?;
    let mut next = first;
    for number in numbers {
        if number < next {
            continue;
        }
        let Some(start) = start_of(disk, sim, number)? else {
            continue;
        };
        let mut scanner = Scanner::new(disk, sim, LogIndex::new(start), mark);
        match scanner.run() {
            Ok(_) if suffices(&scanner.index, disk) => return Ok(Some(start)),
            Ok(_) => return Ok(None),
            Err(ScanError::Disk(error)) => return Err(error),
            Err(_) => next = scanner.index.next_segment(),
        }
    }
    Ok(None)
}

/// Cuts the log where `index` ends: in the file `bad`, or before it.
fn cut(disk: &mut dyn Disk, index: &LogIndex, bad: FileName) -> Result<Vec<FileName>, DiskError> {
    let last = index.last_file();
    let whole = match (last, bad.kind) {
        // What is in order of it is written anew.
        (Some(last), FileKind::Segment(_)) if last == bad => index.last_segment_bytes(),
        _ => None,
    };
    let kept = index.next_segment();
    let mut moved = Vec::new();
    // The last one first: what is left is a log at every moment.
    for number in segment_numbers(disk, kept)?.into_iter().rev() {
        moved.push(put_aside(disk, number)?);
    }
    if let (Some(length), FileKind::Segment(number)) = (whole, bad.kind) {
        let bytes = read_start(disk, bad, length)?;
        moved.push(put_aside(disk, number)?);
        disk.write_new(bad, &bytes)?;
    }
    disk.sync_dir(Folder::Log)?;
    moved.reverse();
    Ok(moved)
}

/// Gives a segment a name that nobody reads.
fn put_aside(disk: &mut dyn Disk, segment: u64) -> Result<FileName, DiskError> {
    let taken = disk.list(Folder::Log)?;
    let name = |copy| FileName::new(FileKind::Quarantined { segment, copy });
    let free = (0..=u32::MAX).map(name).find(|name| !taken.contains(name));
    let free = free.expect("no folder has so many files");
    disk.rename(FileName::segment(segment), free)?;
    Ok(free)
}
