//! The history of a run: always as a digest, and as text when somebody wants to read it.

use std::collections::VecDeque;
use std::thread;
use std::time::Duration;

use metatopia_types::Digest;

use crate::fall;

/// Lines a written trace keeps: enough for a second of a small cluster.
const LINES_MAX: usize = 4_000;

/// A digest of everything that happened, in order. Two runs of one seed have the same.
#[derive(Debug, Clone)]
pub struct Trace {
    hasher: blake3::Hasher,
    events: u64,
    lines: Option<VecDeque<String>>,
}

impl Trace {
    /// An empty history; `written` keeps the last lines as text, too.
    #[must_use]
    pub fn new(written: bool) -> Self {
        let lines = written.then(VecDeque::new);
        Self { hasher: blake3::Hasher::new(), events: 0, lines }
    }

    /// Notes that something of `kind` happened to the server in `seat`; `stamp` tells it from others.
    pub fn note(&mut self, at: Duration, seat: usize, kind: &'static str, stamp: &[u8]) {
        self.events += 1;
        let nanos = u64::try_from(at.as_nanos()).expect("a run is short");
        let mut head = [0; 16];
        head[..8].copy_from_slice(&nanos.to_le_bytes());
        head[8..].copy_from_slice(&(seat as u64).to_le_bytes());
        self.hasher.update(&head);
        self.hasher.update(kind.as_bytes());
        self.hasher.update(stamp);
    }

    /// Adds a line to a written trace; `line` is not called otherwise.
    pub fn write(&mut self, at: Duration, seat: usize, line: impl FnOnce() -> String) {
        let Some(lines) = &mut self.lines else { return };
        if lines.len() == LINES_MAX {
            lines.pop_front();
        }
        lines.push_back(format!("{:>12.3?} server {seat}: {}", at, line()));
    }

    /// Returns how many events there were.
    #[must_use]
    pub const fn events(&self) -> u64 {
        self.events
    }

    /// The digest of the history so far.
    #[must_use]
    pub fn digest(&self) -> Digest {
        Digest(*self.hasher.finalize().as_bytes())
    }

    /// The last lines of a written trace.
    pub fn lines(&self) -> impl Iterator<Item = &str> {
        self.lines.iter().flatten().map(String::as_str)
    }
}

impl Drop for Trace {
    fn drop(&mut self) {
        if let Some(lines) = self.lines.take()
            && thread::panicking()
        {
            fall::keep(lines.into_iter());
        }
    }
}
