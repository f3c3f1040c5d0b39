//! The invite that a node came by, kept: for later starts, and for servers that it has yet to be let
//! in by.

use std::{
    fmt, fs, io,
    path::{Path, PathBuf},
};

use metatopia_protocol::SignedInvite;

use crate::atomic_file;

/// In the data directory: its text.
const INVITE: &str = "invite";

/// The file that keeps it. Who reads it can join by it, so its owner alone may.
#[derive(Debug)]
pub struct InviteFile(PathBuf);

impl fmt::Display for InviteFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.display())
    }
}

impl InviteFile {
    /// Returns the one in this data directory, which need not be there yet.
    #[must_use]
    pub fn at(data_dir: &Path) -> Self {
        Self(data_dir.join(INVITE))
    }

    /// Reads the text of the invite.
    ///
    /// # Errors
    /// What the system said; of a node that came by none, that there is no such file.
    pub fn read(&self) -> io::Result<String> {
        fs::read_to_string(&self.0)
    }

    /// Returns the invite, if the node came by one.
    pub(crate) fn invite(&self) -> Option<SignedInvite> {
        let text = match self.read() {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
            Err(error) => {
                tracing::warn!(file = %self, %error, "nobody is asked to let this node in");
                return None;
            }
        };
        let read = SignedInvite::read(&text);
        read.inspect_err(|error| {
            tracing::warn!(file = %self, %error, "nobody is asked to let this node in");
        })
        .ok()
    }

    /// Keeps an invite in place of the one before.
    ///
    /// # Errors
    /// What the system said.
    pub fn keep(&self, invite: &SignedInvite) -> io::Result<()> {
        atomic_file::replace(&self.0, invite.text().as_bytes())
    }
}
