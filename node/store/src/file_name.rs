//! Which files a data directory holds.

use std::{fmt, str::FromStr};

use metatopia_types::{BlobId, Height, Root};

/// A directory of the data directory; it is listed and synced as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Folder {
    /// The data directory itself: holds [`FileName::IDENTITY`].
    Top,
    /// Segments of the log, and what was put back into it.
    Log,
    /// Snapshots of the state.
    Snapshots,
    /// Blobs by hash.
    Blobs,
}

impl Folder {
    /// All of them, parents first.
    pub const ALL: [Self; 4] = [Self::Top, Self::Log, Self::Snapshots, Self::Blobs];

    /// Its name below the data directory; empty for the directory itself.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Top => "",
            Self::Log => "log",
            Self::Snapshots => "snapshots",
            Self::Blobs => "blobs",
        }
    }
}

impl fmt::Display for Folder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Top => ".",
            _ => self.name(),
        })
    }
}

/// What a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FileKind {
    /// The file that says which server of which sim has this data directory.
    Identity,
    /// What is known of the log without reading it.
    Mark,
    /// A segment of the log, counted from 0.
    Segment(u64),
    /// A segment that was damaged, or lay behind damage: put aside for people to look at. `copy`
    /// tells those of one number apart.
    Quarantined {
        /// The number that the segment had.
        segment: u64,
        /// The first free number from 0 on.
        copy: u32,
    },
    /// Records that the log lacks, put back: those of all tags from `from` to `to`.
    Patch {
        /// The first tag.
        from: u64,
        /// The last height in it.
        to: u64,
    },
    /// The state after a height, with its root.
    Snapshot(Height, Root),
    /// Bytes named by their hash.
    Blob(BlobId),
}

/// A file of the data directory, shown as its path below it, like `log/segment-0000000003`.
///
/// Names are typed, so nothing that a peer sends can become a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileName {
    /// What it holds.
    pub kind: FileKind,
    /// Whether it is the unfinished form, which takes its real name once it is whole and durable.
    pub temporary: bool,
}

const TEMPORARY: &str = "temporary-";

impl FileName {
    /// The file that says which server of which sim has this data directory.
    pub const IDENTITY: Self = Self::new(FileKind::Identity);

    /// What is known of the log without reading it.
    pub const MARK: Self = Self::new(FileKind::Mark);

    /// The finished file of a kind.
    #[must_use]
    pub const fn new(kind: FileKind) -> Self {
        Self { kind, temporary: false }
    }

    /// A segment of the log, counted from 0.
    #[must_use]
    pub const fn segment(number: u64) -> Self {
        Self::new(FileKind::Segment(number))
    }

    /// The unfinished form of this file.
    #[must_use]
    pub const fn temporary(self) -> Self {
        Self { kind: self.kind, temporary: true }
    }

    /// Returns the folder of the file.
    #[must_use]
    pub const fn folder(self) -> Folder {
        match self.kind {
            FileKind::Identity => Folder::Top,
            FileKind::Mark
            | FileKind::Segment(_)
            | FileKind::Quarantined { .. }
            | FileKind::Patch { .. } => Folder::Log,
            FileKind::Snapshot(..) => Folder::Snapshots,
            FileKind::Blob(_) => Folder::Blobs,
        }
    }

    /// The file with this name in `folder`; `None` for files that are not ours. Each file has
    /// exactly one name.
    #[must_use]
    pub fn parse(folder: Folder, name: &str) -> Option<Self> {
        let finished = name.strip_prefix(TEMPORARY);
        let parsed = Self {
            kind: parse_kind(folder, finished.unwrap_or(name))?,
            temporary: finished.is_some(),
        };
        (parsed.name() == name).then_some(parsed)
    }

    /// Its name inside its folder.
    #[must_use]
    pub fn name(self) -> String {
        let mark = if self.temporary { TEMPORARY } else { "" };
        match self.kind {
            FileKind::Identity => format!("{mark}identity"),
            FileKind::Mark => format!("{mark}mark"),
            FileKind::Segment(number) => format!("{mark}segment-{number:010}"),
            FileKind::Quarantined { segment, copy } => {
                format!("{mark}quarantined-{segment:010}-{copy}")
            }
            FileKind::Patch { from, to } => format!("{mark}patch-{from}-{to}"),
            FileKind::Snapshot(height, root) => format!("{mark}snapshot-{height}-{root}"),
            FileKind::Blob(id) => format!("{mark}blob-{id}"),
        }
    }
}

fn parse_kind(folder: Folder, name: &str) -> Option<FileKind> {
    match folder {
        Folder::Top => (name == "identity").then_some(FileKind::Identity),
        Folder::Log if name == "mark" => Some(FileKind::Mark),
        Folder::Log => {
            if let Some(rest) = name.strip_prefix("quarantined-") {
                let (segment, copy) = rest.split_once('-')?;
                let (segment, copy) = (segment.parse().ok()?, copy.parse().ok()?);
                return Some(FileKind::Quarantined { segment, copy });
            }
            if let Some(rest) = name.strip_prefix("patch-") {
                let (from, to) = rest.split_once('-')?;
                return Some(FileKind::Patch { from: from.parse().ok()?, to: to.parse().ok()? });
            }
            parse_after("segment-", name).map(FileKind::Segment)
        }
        Folder::Snapshots => {
            let (height, root) = name.strip_prefix("snapshot-")?.split_once('-')?;
            let height = height.parse().ok()?;
            Some(FileKind::Snapshot(Height(height), root.parse().ok()?))
        }
        Folder::Blobs => parse_after("blob-", name).map(FileKind::Blob),
    }
}

fn parse_after<T: FromStr>(prefix: &str, name: &str) -> Option<T> {
    name.strip_prefix(prefix)?.parse().ok()
}

impl fmt::Display for FileName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.folder() {
            Folder::Top => f.write_str(&self.name()),
            folder => write!(f, "{folder}/{}", self.name()),
        }
    }
}

#[cfg(test)]
mod tests {
    use metatopia_types::Digest;

    use super::*;

    #[test]
    fn every_name_parses_back_to_its_file() {
        let digest = Digest::of("a test", b"file names");
        let kinds = [
            FileKind::Identity,
            FileKind::Segment(0),
            FileKind::Segment(u64::MAX),
            FileKind::Mark,
            FileKind::Quarantined { segment: 3, copy: 0 },
            FileKind::Quarantined { segment: u64::MAX, copy: u32::MAX },
            FileKind::Patch { from: 0, to: u64::MAX },
            FileKind::Patch { from: 601, to: 1_200 },
            FileKind::Snapshot(Height(600), Root(digest)),
            FileKind::Blob(BlobId(digest)),
        ];
        for file in kinds.map(FileName::new) {
            for file in [file, file.temporary()] {
                assert_eq!(FileName::parse(file.folder(), &file.name()), Some(file));
            }
        }
    }

    #[test]
    fn other_spellings_of_a_name_are_not_ours() {
        let strange = [
            "segment-3",
            "segment-+000000003",
            "segment-00000000003",
            "segment-0000000003~",
            "segment-",
            "segment-99999999999999999999",
            "temporary-temporary-segment-0000000003",
            "quarantined-0000000003",
            "quarantined-0000000003-01",
            "patch-601",
            "patch-0601-1200",
            "patch-+601-1200",
            "mark-",
            "",
        ];
        for name in strange {
            assert_eq!(FileName::parse(Folder::Log, name), None, "{name}");
        }
        assert_eq!(FileName::parse(Folder::Top, "segment-0000000003"), None);
        assert_eq!(FileName::parse(Folder::Snapshots, "snapshot-01-00"), None);
    }
}
