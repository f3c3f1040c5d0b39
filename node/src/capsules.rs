//! What a server keeps about its own wrong states: capsules to be replayed, and reports to be read.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::SystemTime,
};

use metatopia_replica::Report;
use metatopia_types::Height;
use serde::Serialize;

use crate::durable;

/// The folder in a data directory.
pub const CAPSULES: &str = "capsules";

/// Files that are kept there: a capsule and a report of each of the last eight times.
pub const CAPSULE_FILES_KEPT: usize = 16;

/// The folder of one server.
#[derive(Clone, Debug)]
pub struct Capsules(PathBuf);

/// A report as it is kept.
#[derive(Debug, Serialize)]
struct Written<'a> {
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

impl Capsules {
    /// That of a data directory. It is made when it is needed.
    #[must_use]
    pub fn of(data_dir: &Path) -> Self {
        Self(data_dir.join(CAPSULES))
    }

    /// Keeps a capsule, and says where.
    ///
    /// # Errors
    /// What the system says.
    pub fn keep_capsule(&self, height: Height, bytes: &[u8]) -> io::Result<PathBuf> {
        self.keep(&capsule_name(height), bytes)
    }

    /// Keeps a report, and says where.
    ///
    /// # Errors
    /// What the system says.
    pub fn keep_report(&self, report: &Report) -> io::Result<PathBuf> {
        let found = report.difference.as_ref();
        let written = Written {
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
            heals: report.heals,
            votes: report.votes,
            capsule: capsule_name(report.looked_at),
        };
        let text = serde_json::to_vec_pretty(&written).map_err(io::Error::other)?;
        self.keep(&format!("report-{}.json", report.looked_at), &text)
    }

    /// Writes a file as a whole, and lets the oldest go.
    fn keep(&self, name: &str, bytes: &[u8]) -> io::Result<PathBuf> {
        durable::create_folder(&self.0)?;
        let path = self.0.join(name);
        durable::replace(&path, bytes)?;
        let mut kept: Vec<(SystemTime, PathBuf)> = Vec::new();
        for entry in fs::read_dir(&self.0)? {
            let entry = entry?;
            kept.push((entry.metadata()?.modified()?, entry.path()));
        }
        kept.sort();
        let surplus = kept.len().saturating_sub(CAPSULE_FILES_KEPT);
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
    use metatopia_types::Root;

    use super::*;

    #[test]
    fn the_newest_files_are_kept_and_the_oldest_go() {
        let dir = std::env::temp_dir().join(format!("metatopia-capsules-{}", std::process::id()));
        let capsules = Capsules::of(&dir);
        let files = CAPSULE_FILES_KEPT as u64 + 5;
        for height in 1..=files {
            let path = capsules.keep_capsule(Height(height), b"a capsule").unwrap();
            assert_eq!(fs::read(path).unwrap(), b"a capsule");
        }
        let report = Report {
            height: Height(7),
            had: Root::default(),
            now: Root::default(),
            looked_at: Height(8),
            difference: None,
            heals: 1,
            votes: true,
        };
        let path = capsules.keep_report(&report).unwrap();
        let read: serde_json::Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
        assert_eq!((&read["height"], &read["capsule"]), (&7.into(), &"capsule-8.capsule".into()));
        assert_eq!(fs::read_dir(dir.join(CAPSULES)).unwrap().count(), CAPSULE_FILES_KEPT);
        fs::remove_dir_all(&dir).unwrap();
    }
}
