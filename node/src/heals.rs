//! When this server healed from a wrong state: kept, so that a restart does not make a machine
//! trustworthy that is not.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use metatopia_replica::HEALS_MAX;
use metatopia_types::Millis;

use crate::durable;

/// In the data directory: a line for each time, in milliseconds since 1970.
const HEALS: &str = "heals";

/// Heals that are kept: with one more than these, a server does not vote.
const KEPT: usize = 4 * HEALS_MAX;

/// The file that remembers them.
#[derive(Debug, Clone)]
pub struct HealFile(PathBuf);

impl HealFile {
    /// The one in this data directory, which need not be there yet.
    #[must_use]
    pub fn at(data_dir: &Path) -> Self {
        Self(data_dir.join(HEALS))
    }

    /// The times that it holds. Of a file that cannot be read, none.
    #[must_use]
    pub fn read(&self) -> Vec<Millis> {
        match fs::read_to_string(&self.0) {
            Ok(text) => text.lines().filter_map(|line| line.parse().ok()).map(Millis).collect(),
            Err(error) => {
                if error.kind() != io::ErrorKind::NotFound {
                    let file = self.0.display();
                    tracing::warn!(%file, %error, "earlier heals are forgotten");
                }
                Vec::new()
            }
        }
    }

    /// Writes them down, the newest of them if there are many.
    pub(crate) fn keep(&self, heals: &[Millis]) {
        let newest = heals.len().saturating_sub(KEPT);
        let text: String = heals[newest..].iter().map(|at| format!("{}\n", at.0)).collect();
        if let Err(error) = durable::replace(&self.0, text.as_bytes()) {
            tracing::warn!(file = %self.0.display(), %error, "a heal is not written down");
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
        let file = HealFile::at(&dir);
        assert_eq!(file.read(), []);
        let heals: Vec<Millis> = (0..20).map(Millis).collect();
        file.keep(&heals);
        assert_eq!(file.read(), heals[20 - KEPT..]);
        fs::write(dir.join(HEALS), "7\nseven\n8\n").unwrap();
        assert_eq!(file.read(), [Millis(7), Millis(8)]);
        fs::remove_dir_all(&dir).unwrap();
    }
}
