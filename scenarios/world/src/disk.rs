//! A disk that forgets: what is not synced when a server dies may be lost, torn or kept.

use std::collections::BTreeMap;

use crate::chance::Dice;

/// What becomes of the bytes that were written but not synced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Tail {
    /// All of them are gone.
    Lost,
    /// All of them are still there: the process died, the machine did not. They are no more
    /// durable than before, and a later power loss may take them.
    Kept,
    /// They end somewhere; the rest is missing, zeros or rubbish.
    Torn,
}

/// Bytes of rubbish past the end of a torn tail, at most: a block that was allocated and not
/// written.
const RUBBISH_MAX: u64 = 600;

#[derive(Debug, Clone, Default)]
struct File {
    bytes: Vec<u8>,
    synced: usize,
}

/// The files of one server.
#[derive(Debug, Clone, Default)]
pub struct Disk {
    files: BTreeMap<String, File>,
}

impl Disk {
    /// The bytes of a file as the running server sees them.
    #[must_use]
    pub fn read(&self, file: &str) -> Option<&[u8]> {
        self.files.get(file).map(|f| f.bytes.as_slice())
    }

    /// The bytes of a file that a power loss leaves, whatever happens.
    #[must_use]
    pub fn durable(&self, file: &str) -> Option<&[u8]> {
        self.files.get(file).map(|f| &f.bytes[..f.synced])
    }

    /// The names of all files, ascending.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// Adds bytes at the end of a file.
    pub fn append(&mut self, file: &str, bytes: &[u8]) {
        self.files
            .entry(file.to_owned())
            .or_default()
            .bytes
            .extend_from_slice(bytes);
    }

    /// Cuts a file. What is left is durable: whoever cuts, syncs.
    pub fn truncate(&mut self, file: &str, length: usize) {
        if let Some(f) = self.files.get_mut(file) {
            f.bytes.truncate(length);
            f.synced = f.bytes.len();
        }
    }

    /// Puts a whole file there at once, durably.
    pub fn replace(&mut self, file: &str, bytes: Vec<u8>) {
        self.files.insert(
            file.to_owned(),
            File {
                synced: bytes.len(),
                bytes,
            },
        );
    }

    /// Removes a file.
    pub fn remove(&mut self, file: &str) {
        self.files.remove(file);
    }

    /// How long every file is now: what a sync that starts now will make durable.
    #[must_use]
    pub fn lengths(&self) -> BTreeMap<String, usize> {
        self.files
            .iter()
            .map(|(name, f)| (name.clone(), f.bytes.len()))
            .collect()
    }

    /// A sync that began when files had these lengths is done.
    pub fn synced(&mut self, lengths: &BTreeMap<String, usize>) {
        for (name, length) in lengths {
            if let Some(f) = self.files.get_mut(name) {
                f.synced = f.synced.max((*length).min(f.bytes.len()));
            }
        }
    }

    /// The server dies: every file keeps what was synced, and of the rest what `tail` leaves.
    pub fn crash(&mut self, tail: Tail, dice: &mut Dice) {
        self.files.retain(|_, f| {
            f.crash(tail, dice);
            // A file that never reached the disk does not exist after a crash that loses it.
            f.synced > 0 || tail != Tail::Lost
        });
    }
}

impl File {
    fn crash(&mut self, tail: Tail, dice: &mut Dice) {
        let unsynced = self.bytes.len() - self.synced;
        match tail {
            Tail::Kept => return,
            Tail::Lost => self.bytes.truncate(self.synced),
            Tail::Torn if unsynced == 0 => {}
            Tail::Torn => {
                self.bytes.truncate(self.synced + dice.index(unsynced + 1));
                let rest = self.synced..self.bytes.len();
                match dice.below(3) {
                    // The length arrived, a part of the data did not.
                    0 => {
                        let from = rest.start + dice.index(rest.len() + 1);
                        self.bytes[from..].fill(0);
                    }
                    1 => {
                        let rubbish = 1 + dice.below(RUBBISH_MAX);
                        self.bytes
                            .extend((0..rubbish).map(|_| dice.below(256) as u8));
                    }
                    _ => {}
                }
            }
        }
        // Whatever a power loss left is on the disk.
        self.synced = self.bytes.len();
    }
}

#[cfg(test)]
mod tests {
    use super::{Disk, Tail};
    use crate::chance::Dice;

    fn written() -> Disk {
        let mut disk = Disk::default();
        disk.append("log", b"synced");
        let lengths = disk.lengths();
        disk.append("log", b"written while the sync ran");
        disk.synced(&lengths);
        disk
    }

    #[test]
    fn a_sync_covers_what_was_written_when_it_began() {
        assert_eq!(written().durable("log"), Some(&b"synced"[..]));
    }

    #[test]
    fn what_was_synced_survives_every_crash() {
        for seed in 0..200 {
            let mut dice = Dice::new(seed, "disk");
            for tail in [Tail::Lost, Tail::Kept, Tail::Torn] {
                let mut disk = written();

                disk.crash(tail, &mut dice);

                let left = disk.read("log").unwrap();
                assert!(
                    left.starts_with(b"synced"),
                    "seed {seed}, {tail:?}: {left:?}"
                );
            }
        }
    }

    #[test]
    fn a_lost_tail_is_gone_and_a_kept_one_is_there() {
        let mut dice = Dice::new(1, "disk");
        let (mut lost, mut kept) = (written(), written());

        lost.crash(Tail::Lost, &mut dice);
        kept.crash(Tail::Kept, &mut dice);

        assert_eq!(lost.read("log"), Some(&b"synced"[..]));
        assert_eq!(
            kept.read("log"),
            Some(&b"syncedwritten while the sync ran"[..])
        );
        kept.crash(Tail::Lost, &mut dice);
        assert_eq!(
            kept.read("log"),
            Some(&b"synced"[..]),
            "a kept tail is not a durable one"
        );
    }

    #[test]
    fn torn_tails_are_cut_zeroed_and_followed_by_rubbish() {
        let whole = b"syncedwritten while the sync ran";
        let (mut cut, mut zeroed, mut longer) = (0, 0, 0);

        for seed in 0..300 {
            let mut disk = written();
            disk.crash(Tail::Torn, &mut Dice::new(seed, "disk"));
            let left = disk.read("log").unwrap();
            cut += u32::from(left.len() < whole.len() && whole.starts_with(left));
            zeroed += u32::from(left.ends_with(&[0]));
            longer += u32::from(left.len() > whole.len());
        }

        assert!(
            cut > 50 && zeroed > 30 && longer > 50,
            "{cut} {zeroed} {longer}"
        );
    }
}
