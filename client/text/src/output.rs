//! What a text client tells, and to whom.

use std::io;

use metatopia_types::PublicKey;
use serde::Serialize;

use crate::MapFreshness;

/// What a line is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LineKind {
    /// Somebody said something.
    Heard,
    /// Somebody came or went.
    Seen,
    /// What a command did.
    Done,
    /// What a command asked for.
    Answer,
    /// A command that was not carried out.
    Refused,
    /// A reason to doubt what was told.
    Warned,
}

/// Whoever reads what a text client tells: a person at a terminal, or a program.
pub trait TextOutput {
    /// Tells a line of the story.
    ///
    /// # Errors
    /// When nobody can be told any more; the text client ends with that.
    fn tell(&self, kind: LineKind, text: &str) -> io::Result<()>;

    /// Tells how far the map can be believed by which somebody goes to another sim.
    ///
    /// # Errors
    /// As [`TextOutput::tell`].
    fn tell_map(&self, map: &MapFreshness) -> io::Result<()> {
        map.lines().iter().try_for_each(|(kind, line)| self.tell(*kind, line))
    }

    /// Tells of somebody who is in the sim, in a line that has the beginning of the key.
    ///
    /// # Errors
    /// As [`TextOutput::tell`].
    fn tell_person(&self, text: &str, key: &PublicKey) -> io::Result<()> {
        let _ = key;
        self.tell(LineKind::Answer, text)
    }

    /// Tells something beside the story, such as a lost connection.
    fn note(&self, text: &str);
}
