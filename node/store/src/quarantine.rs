//! What to do about a damaged log: nothing is thrown away, and nothing damaged is used.

use metatopia_types::SimId;

use crate::{
    Damaged, Disk, DiskError, FileKind, FileName, Folder, LogIndex, ReadDisk, RecoverError,
    ScanError,
    controls::LogControls,
    disk::{read_range, read_start},
    format::unknown_format,
    frame::{SEGMENT_HEADER_BYTES, SegmentHeader},
    index::LogStart,
    limits::READ_BYTES,
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
    /// Whether records are lost that nobody can do without: the last ones. See
    /// [`Opened::records_lost`](crate::Opened::records_lost).
    pub records_lost: bool,
}

/// Puts the damaged part of a log aside; `None` if it has none.
///
/// If what lies behind the damage is whole and `suffices`, the log begins there from now on: only
/// history is lost. Otherwise it ends where the damage begins, and its writer has lost records. Either
/// may be interrupted by a crash, and is then done the next time. `suffices` may rely on the snapshots
/// there are if [`Store::open`](crate::Store::open) refused the log: it makes their names durable.
///
/// # Errors
/// A log of another sim or version is not damaged; nothing was done then, nor where any file of the
/// directory is of another version. Or the disk failed.
pub fn quarantine(
    disk: &mut dyn Disk,
    sim: SimId,
    suffices: &dyn Fn(&LogIndex, &dyn ReadDisk) -> bool,
) -> Result<Option<Quarantine>, RecoverError> {
    let (scan, [of_mark, of_log]) = survey_both(disk, sim, LogControls::default())?;
    // Behind the damage there may be files that only a later program can read.
    if let Some(unknown) = unknown_format(disk)? {
        return Err(unknown.into());
    }
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
    // Before anything is done that rests on what a killed process did to these names.
    disk.sync_dir(Folder::Log)?;
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
    let moved = cut(disk, sim, &scan.index, bad)?;
    Ok(Some(Quarantine { fault, moved, records_lost: true }))
}

/// Finds where the undamaged rest of the log behind the last damage begins; `None` if the rest does not
/// suffice.
fn whole_end(
    disk: &dyn ReadDisk,
    sim: SimId,
    mark: Option<Mark>,
    suffices: &dyn Fn(&LogIndex, &dyn ReadDisk) -> bool,
) -> Result<Option<LogStart>, DiskError> {
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
fn cut(
    disk: &mut dyn Disk,
    sim: SimId,
    index: &LogIndex,
    bad: FileName,
) -> Result<Vec<FileName>, DiskError> {
    // How much of the file is in order, and written anew.
    let part = index.last_segment_bytes().filter(|_| index.last_file() == Some(bad));
    // Once there is another mark, and nothing behind it, what is damaged may pass for a torn tail.
    let copied = part.map(|_| copy_aside(disk, bad)).transpose()?;
    let start = index.start_before(index.begin());
    let (end, tip) = (index.end(), index.tip());
    // Before anything is cut: whatever happens on the way, the loss will be known.
    Mark { sim, start, end, tip, records_lost: true }.write(disk)?;
    let mut moved = Vec::from_iter(copied);
    // The last one first: what is left is a log at every moment.
    for number in segment_numbers(disk, index.next_segment())?.into_iter().rev() {
        moved.push(put_aside(disk, number)?);
    }
    disk.sync_dir(Folder::Log)?;
    if let Some(length) = part {
        let bytes = read_start(disk, bad, length)?;
        disk.write_new(bad, &bytes)?;
    }
    moved.sort_unstable();
    Ok(moved)
}

/// Says whether a log begins behind a segment that was put aside, so that its turns are lost.
///
/// A log that was cut in that segment went on in one of the same number, and has lost nothing that it would still
/// have once it is pruned. So the bytes that were put aside must end where the log begins, and nothing else must
/// have followed them there. A segment without a header held nothing in order, and counts as lost.
///
/// # Errors
/// When the disk fails.
pub fn begins_behind_damage(disk: &dyn ReadDisk, index: &LogIndex) -> Result<bool, DiskError> {
    let LogStart { segment, position, before } = index.start_before(index.begin());
    let Some(last) = segment.checked_sub(1) else { return Ok(false) };
    let mut is_behind = false;
    for file in disk.list(Folder::Log)?.into_iter().filter(|file| !file.temporary) {
        let FileKind::Quarantined { segment: number, .. } = file.kind else { continue };
        if number != last && number != segment {
            continue;
        }
        let header = disk.read(file, 0, SEGMENT_HEADER_BYTES as u32)?;
        let header = SegmentHeader::parse(&header).ok();
        if number == last {
            let held = disk.length(file)?.saturating_sub(SEGMENT_HEADER_BYTES as u64);
            is_behind |= header.is_none_or(|header| header.start.plus(held) == position);
        } else if header.is_some_and(|at| at.start == position && at.continues != before) {
            return Ok(false);
        }
    }
    Ok(is_behind)
}

/// Gives a segment a name that nobody reads.
fn put_aside(disk: &mut dyn Disk, number: u64) -> Result<FileName, DiskError> {
    let free = free_name(disk, number)?;
    disk.rename(FileName::segment(number), free)?;
    Ok(free)
}

/// Copies a segment to a name that nobody reads, unless a start that was cut off has done so. It stays
/// where it is: what is in order of it must be in the log at every moment.
fn copy_aside(disk: &mut dyn Disk, file: FileName) -> Result<FileName, DiskError> {
    let FileKind::Segment(number) = file.kind else {
        unreachable!("{file} is a segment");
    };
    for other in disk.list(Folder::Log)? {
        let is_aside =
            matches!(other.kind, FileKind::Quarantined { segment, .. } if segment == number);
        if is_aside && !other.temporary && is_same(disk, file, other)? {
            return Ok(other);
        }
    }
    let free = free_name(disk, number)?;
    copy(disk, file, free)?;
    Ok(free)
}

fn is_same(disk: &dyn ReadDisk, one: FileName, other: FileName) -> Result<bool, DiskError> {
    let length = disk.length(one)?;
    let mut same = disk.length(other)? == length;
    for at in (0..length).step_by(READ_BYTES) {
        let piece = |file| read_range(disk, file, at, at + READ_BYTES as u64);
        same = same && piece(one)? == piece(other)?;
    }
    Ok(same)
}

/// Copies a file as [`Disk::write_new`] would, but piece by piece, because nobody knows how long a damaged
/// file is.
fn copy(disk: &mut dyn Disk, from: FileName, to: FileName) -> Result<(), DiskError> {
    let temporary = to.temporary();
    if disk.list(to.folder())?.contains(&temporary) {
        disk.remove(temporary)?;
    }
    let done = append_all(disk, from, temporary)
        .and_then(|()| disk.rename(temporary, to))
        .and_then(|()| disk.sync_dir(to.folder()));
    if done.is_err() {
        // Gives the space back; the first error is the one to tell.
        drop(disk.remove(temporary));
    }
    done
}

fn append_all(disk: &mut dyn Disk, from: FileName, to: FileName) -> Result<(), DiskError> {
    let length = disk.length(from)?;
    for at in (0..length).step_by(READ_BYTES) {
        let piece = read_range(disk, from, at, at + READ_BYTES as u64)?;
        disk.append(to, &piece)?;
    }
    disk.sync(to, length)
}

fn free_name(disk: &dyn ReadDisk, segment: u64) -> Result<FileName, DiskError> {
    let taken = disk.list(Folder::Log)?;
    let name = |copy| FileName::new(FileKind::Quarantined { segment, copy });
    let free = (0..=u32::MAX).map(name).find(|name| !taken.contains(name));
    Ok(free.expect("no folder has so many files"))
}
