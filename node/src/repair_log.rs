//! The repair log: the times when this server repaired a wrong state. They are stored, so that a
//! restart does not make a bad machine look trustworthy.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use metatopia_replica::REPAIRS_MAX;
use metatopia_types::Millis;

use crate::atomic_file;

/// The file in the data directory: a line for each time, in milliseconds since 1970.
const FILE_NAME: &str = "heals";

/// The most repairs that the file keeps.
const REPAIRS_KEPT: usize = 4 * REPAIRS_MAX;

/// The file with the times of repairs.
#[derive(Debug, Clone)]
pub struct RepairLog(PathBuf);

impl RepairLog {
    /// Returns the repair log of this data directory. The file need not exist.
    #[must_use]
    pub fn at(data_dir: &Path) -> Self {
        Self(data_dir.join(FILE_NAME))
    }

    /// Returns the times in the file, or none if the file cannot be read.
    #[must_use]
    pub fn read(&self) -> Vec<Millis> {
        match fs::read_to_string(&self.0) {
            Ok(text) => text.lines().filter_map(|line| line.parse().ok()).map(Millis).collect(),
            Err(error) => {
                if error.kind() != io::ErrorKind::NotFound {
                    let file = self.0.display();
                    tracing::warn!(%file, %error, "earlier repairs are forgotten");
                }
                Vec::new()
            }
        }
    }

    /// Writes the times, or the newest of them if there are many.
    pub(crate) fn write(&self, repairs: &[Millis]) {
        let newest = repairs.len().saturating_sub(REPAIRS_KEPT);
        let text: String = repairs[newest..].iter().map(|at| format!("{}\n", at.0)).collect();
        if let Err(error) = atomic_file::replace(&self.0, text.as_bytes()) {
            tracing::warn!(file = %self.0.display(), %error, "a repair was not written");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heals_are_read_back_in_order_and_what_is_no_number_is_passed_over() {
        let dir = std::env::temp_dir().join(format!("metatopia-heals-{}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        let file = RepairLog::at(&dir);
        assert_eq!(file.read(), []);
        let repairs: Vec<Millis> = (0..20).map(Millis).collect();
        file.write(&repairs);
        assert_eq!(file.read(), repairs[20 - REPAIRS_KEPT..]);
        fs::write(dir.join(FILE_NAME), "7\nseven\n8\n").unwrap();
        assert_eq!(file.read(), [Millis(7), Millis(8)]);
        fs::remove_dir_all(&dir).unwrap();
    }
}
