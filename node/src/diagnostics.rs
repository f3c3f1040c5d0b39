//! Diagnostics of a server's own wrong states: capsules to replay, and reports to read.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::SystemTime,
};

use metatopia_replica::RepairReport;
use metatopia_types::Height;
use serde::Serialize;

use crate::atomic_file;

/// The name of the folder in a data directory.
pub const FOLDER_NAME: &str = "capsules";

/// The most files in that folder: a capsule and a report of each of the last eight repairs.
pub const DIAGNOSTIC_FILES_KEPT: usize = 16;

/// The folder of diagnostics of one server.
#[derive(Clone, Debug)]
pub struct Diagnostics(PathBuf);

/// A report in its file.
#[derive(Debug, Serialize)]
struct ReportFile<'a> {
    /// The first turn after which the state was wrong.
    height: u64,
    had: String,
    right: String,
    /// The fields below are of the state after this turn.
    looked_at: u64,
    leaf: Option<String>,
    entry: Option<&'a str>,
    field: &'a [String],
    had_value: Option<&'a str>,
    right_value: Option<&'a str>,
    leaves: u32,
    heals: usize,
    votes: bool,
    capsule: String,
}

impl Diagnostics {
    /// Returns the folder in a data directory. The folder is created when it is needed.
    #[must_use]
    pub fn of(data_dir: &Path) -> Self {
        Self(data_dir.join(FOLDER_NAME))
    }

    /// Writes a capsule, and returns its path.
    ///
    /// # Errors
    /// Returns what the system says.
    pub fn keep_capsule(&self, height: Height, bytes: &[u8]) -> io::Result<PathBuf> {
        self.keep(&capsule_name(height), bytes)
    }

    /// Writes a report, and returns its path.
    ///
    /// # Errors
    /// Returns what the system says.
    pub fn keep_report(&self, report: &RepairReport) -> io::Result<PathBuf> {
        let found = report.difference.as_ref();
        let written = ReportFile {
            height: report.height.0,
            had: report.had.to_string(),
            right: report.now.to_string(),
            looked_at: report.looked_at.0,
            leaf: found.map(|found| found.key.to_string()),
            entry: found.and_then(|found| found.entry.as_deref()),
            field: found.map(|found| found.field.as_slice()).unwrap_or_default(),
            had_value: found.and_then(|found| found.left.as_deref()),
            right_value: found.and_then(|found| found.right.as_deref()),
            leaves: found.map_or(0, |found| found.leaves),
            heals: report.repairs,
            votes: report.votes,
            capsule: capsule_name(report.looked_at),
        };
        let text = serde_json::to_vec_pretty(&written).map_err(io::Error::other)?;
        self.keep(&format!("report-{}.json", report.looked_at), &text)
    }

    /// Writes a file as a whole, and removes the oldest files.
    fn keep(&self, name: &str, bytes: &[u8]) -> io::Result<PathBuf> {
        atomic_file::create_folder(&self.0)?;
        let path = self.0.join(name);
        atomic_file::replace(&path, bytes)?;
        let mut kept: Vec<(SystemTime, PathBuf)> = Vec::new();
        for entry in fs::read_dir(&self.0)? {
            let entry = entry?;
            kept.push((entry.metadata()?.modified()?, entry.path()));
        }
        kept.sort();
        let surplus = kept.len().saturating_sub(DIAGNOSTIC_FILES_KEPT);
        for (_, old) in kept.into_iter().take(surplus).filter(|(_, old)| *old != path) {
            fs::remove_file(old)?;
        }
        Ok(path)
    }
}

fn capsule_name(height: Height) -> String {
    format!("capsule-{height}.capsule")
}

#[cfg(test)]
mod tests {
    use metatopia_types::{Digest, Root};

    use super::*;

    #[test]
    fn the_newest_files_are_kept_and_the_oldest_go() {
        let dir = std::env::temp_dir().join(format!("metatopia-capsules-{}", std::process::id()));
        let capsules = Diagnostics::of(&dir);
        let files = DIAGNOSTIC_FILES_KEPT as u64 + 5;
        for height in 1..=files {
            let path = capsules.keep_capsule(Height(height), b"a capsule").unwrap();
            assert_eq!(fs::read(path).unwrap(), b"a capsule");
        }
        let report = RepairReport {
            height: Height(7),
            had: Root(Digest::ZERO),
            now: Root(Digest::ZERO),
            looked_at: Height(8),
            difference: None,
            repairs: 1,
            votes: true,
        };
        let path = capsules.keep_report(&report).unwrap();
        let read: serde_json::Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
        assert_eq!((&read["height"], &read["capsule"]), (&7.into(), &"capsule-8.capsule".into()));
        assert_eq!(fs::read_dir(dir.join(FOLDER_NAME)).unwrap().count(), DIAGNOSTIC_FILES_KEPT);
        fs::remove_dir_all(&dir).unwrap();
    }
}
