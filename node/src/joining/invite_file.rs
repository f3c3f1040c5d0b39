//! The invite that a node joined by. It is kept for later starts, and for servers that have yet to
//! let the node in.

use std::{
    fmt, fs, io,
    path::{Path, PathBuf},
};

use metatopia_protocol::SignedInvite;

use crate::atomic_file;

/// The file in the data directory that holds the text of the invite.
const INVITE: &str = "invite";

/// The file that keeps the invite. Whoever reads it can join by it, so only its owner may.
#[derive(Debug)]
pub struct InviteFile(PathBuf);

impl fmt::Display for InviteFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.display())
    }
}

impl InviteFile {
    /// Returns the file in this data directory, which need not exist yet.
    #[must_use]
    pub fn at(data_dir: &Path) -> Self {
        Self(data_dir.join(INVITE))
    }

    /// Reads the text of the invite.
    ///
    /// # Errors
    /// Returns what the system said. A node that joined by no invite has no such file.
    pub fn read(&self) -> io::Result<String> {
        fs::read_to_string(&self.0)
    }

    /// Returns the invite, if the node joined by one.
    pub(crate) fn invite(&self) -> Option<SignedInvite> {
        let text = match self.read() {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
            Err(error) => {
                tracing::warn!(file = %self, %error, "no server is asked to let this node in");
                return None;
            }
        };
        let read = SignedInvite::read(&text);
        read.inspect_err(|error| {
            tracing::warn!(file = %self, %error, "no server is asked to let this node in");
        })
        .ok()
    }

    /// Keeps an invite in place of the last one.
    ///
    /// # Errors
    /// Returns what the system said.
    pub fn keep(&self, invite: &SignedInvite) -> io::Result<()> {
        atomic_file::replace(&self.0, invite.text().as_bytes())
    }
}
