//! A shelf: entries of one kind, sorted by key and cut into leaves of bounded size.
//!
//! Where a shelf is cut depends on its entries alone, never on the order in which they came: the
//! entries whose keys share a prefix form one leaf if they fit, and are told apart by one more
//! hexadecimal digit of the key if they do not. So two servers with the same entries have the same
//! leaves, and a leaf that grew and shrank is what it was.

use std::collections::{BTreeMap, BTreeSet};

use metatopia_types::{Digest, limits::LEAF_BYTES_MAX, wire};

/// Bytes of a leaf's entry count, at most: five for a `u32` as postcard writes it.
const COUNT_BYTES_MAX: usize = 5;

/// The largest entry.
const ENTRY_BYTES_MAX: usize = LEAF_BYTES_MAX - COUNT_BYTES_MAX;

/// A key as hexadecimal digits, one per byte, so that prefixes are prefixes.
type Digits = Vec<u8>;

/// A leaf as it is known without its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LeafDigest {
    /// blake3 of the content.
    pub(crate) hash: Digest,
    /// The content's length.
    pub(crate) bytes: u32,
}

/// Entries in their canonical encoding, and the leaves they form.
#[derive(Debug, Clone, Default)]
pub(crate) struct Shelf {
    entries: BTreeMap<Digits, Vec<u8>>,
    leaves: BTreeMap<Digits, LeafDigest>,
    touched: BTreeSet<Digits>,
}

fn under<'a, T>(
    map: &'a BTreeMap<Digits, T>,
    prefix: &'a [u8],
) -> impl Iterator<Item = (&'a Digits, &'a T)> {
    map.range(prefix.to_vec()..).take_while(move |(key, _)| key.starts_with(prefix))
}

fn digits(key: &[u8]) -> Digits {
    key.iter().flat_map(|byte| [byte >> 4, byte & 15]).collect()
}

/// The leaf's prefix as it is written in leaf keys.
pub(crate) fn prefix_text(prefix: &[u8]) -> String {
    prefix.iter().map(|digit| char::from_digit(u32::from(*digit), 16).unwrap_or('?')).collect()
}

impl Shelf {
    /// Sets the entry of `key`; keys of one shelf have one length.
    ///
    /// # Panics
    /// When the entry alone is larger than a leaf: limits of what it holds must prevent that.
    pub(crate) fn put(&mut self, key: &[u8], entry: Vec<u8>) {
        assert!(entry.len() <= ENTRY_BYTES_MAX, "an entry of {} bytes fits no leaf", entry.len());
        let key = digits(key);
        if self.entries.get(&key) != Some(&entry) {
            self.touched.insert(key.clone());
            self.entries.insert(key, entry);
        }
    }

    /// Takes the entry of `key` away.
    pub(crate) fn take(&mut self, key: &[u8]) {
        let key = digits(key);
        if self.entries.remove(&key).is_some() {
            self.touched.insert(key);
        }
    }

    /// Has it no entry?
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Cuts and hashes again whatever a change since the last call can have moved. Gives the leaves
    /// that are gone, and those that were hashed, by their prefixes.
    pub(crate) fn settle(&mut self) -> BTreeMap<Digits, Option<LeafDigest>> {
        let touched = core::mem::take(&mut self.touched);
        let moved: BTreeSet<Digits> = touched.iter().map(|key| self.leaf_of(key)).collect();
        let stale: BTreeSet<Digits> = moved.into_iter().map(|prefix| self.widest(prefix)).collect();
        let mut changes = BTreeMap::new();
        let mut done: Option<Digits> = None;
        for prefix in stale {
            // A wider prefix sorts before what it covers.
            if done.as_ref().is_some_and(|done| prefix.starts_with(done)) {
                continue;
            }
            let gone: Vec<Digits> =
                under(&self.leaves, &prefix).map(|(key, _)| key.clone()).collect();
            for key in gone {
                self.leaves.remove(&key);
                changes.insert(key, None);
            }
            self.cut(&prefix);
            let fresh = under(&self.leaves, &prefix);
            changes.extend(fresh.map(|(key, digest)| (key.clone(), Some(*digest))));
            done = Some(prefix);
        }
        changes
    }

    /// The prefix of the leaf in which `key` is, or of the place where it would begin one.
    fn leaf_of(&self, key: &[u8]) -> Digits {
        (0..=key.len())
            .map(|len| &key[..len])
            .find(|prefix| self.leaves.contains_key(*prefix))
            .map_or_else(|| self.gap(key), <[u8]>::to_vec)
    }

    /// The shortest prefix of `key` under which no leaf is.
    fn gap(&self, key: &[u8]) -> Digits {
        (0..=key.len())
            .map(|len| &key[..len])
            .find(|prefix| under(&self.leaves, prefix).next().is_none())
            .unwrap_or(key)
            .to_vec()
    }

    /// Climbs from `prefix` while everything under the wider prefix fits into one leaf.
    fn widest(&self, mut prefix: Digits) -> Digits {
        while !prefix.is_empty() {
            let wider = &prefix[..prefix.len() - 1];
            if !self.fits(wider) {
                break;
            }
            prefix.truncate(prefix.len() - 1);
        }
        prefix
    }

    /// Does one leaf hold all entries under `prefix`? Looks at no more than fill a leaf.
    fn fits(&self, prefix: &[u8]) -> bool {
        let mut bytes = 0;
        under(&self.entries, prefix).all(|(_, entry)| {
            bytes += entry.len();
            bytes <= ENTRY_BYTES_MAX
        })
    }

    fn cut(&mut self, prefix: &[u8]) {
        if under(&self.entries, prefix).next().is_none() {
            return;
        }
        if !self.fits(prefix) {
            (0..16).for_each(|digit| self.cut(&[prefix, &[digit]].concat()));
            return;
        }
        let content = self.content(prefix);
        let bytes = u32::try_from(content.len()).expect("a leaf is at most LEAF_BYTES_MAX long");
        let hash = Digest(*blake3::hash(&content).as_bytes());
        self.leaves.insert(prefix.to_vec(), LeafDigest { hash, bytes });
    }

    /// The content of the leaf with this prefix: the count of its entries, then the entries.
    pub(crate) fn content(&self, prefix: &[u8]) -> Vec<u8> {
        let count = under(&self.entries, prefix).count();
        let count = u32::try_from(count).expect("a leaf holds fewer entries than bytes");
        let mut content = wire::encode(&count);
        under(&self.entries, prefix).for_each(|(_, entry)| content.extend(entry));
        content
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rebuilt(shelf: &Shelf) -> Shelf {
        let mut fresh = Shelf { entries: shelf.entries.clone(), ..Shelf::default() };
        fresh.cut(&[]);
        fresh
    }

    fn listed(shelf: &Shelf) -> Vec<(String, LeafDigest)> {
        shelf.leaves.iter().map(|(prefix, digest)| (prefix_text(prefix), *digest)).collect()
    }

    fn key(id: u16) -> [u8; 2] {
        id.to_be_bytes()
    }

    #[test]
    fn entries_that_fit_form_one_leaf_with_an_empty_prefix() {
        let mut shelf = Shelf::default();

        shelf.put(&key(7), vec![1; 100]);
        shelf.put(&key(0xfff7), vec![2; 100]);
        shelf.settle();

        assert_eq!(listed(&shelf).len(), 1);
        assert_eq!(listed(&shelf)[0].0, "");
        assert_eq!(listed(&shelf)[0].1.bytes, 201);
    }

    #[test]
    fn a_leaf_that_is_full_to_the_byte_is_not_cut_and_one_more_byte_cuts_it() {
        let mut shelf = Shelf::default();
        shelf.put(&key(1), vec![0; ENTRY_BYTES_MAX - 10]);
        shelf.put(&key(0x8001), vec![0; 10]);
        shelf.settle();
        assert_eq!(listed(&shelf).len(), 1);

        shelf.put(&key(0x8001), vec![0; 11]);
        shelf.settle();

        let prefixes: Vec<String> = listed(&shelf).into_iter().map(|(prefix, _)| prefix).collect();
        assert_eq!(prefixes, ["0", "8"]);
    }

    #[test]
    fn what_did_not_change_is_not_hashed_again() {
        let mut shelf = Shelf::default();
        (0..200).for_each(|id| shelf.put(&key(id * 300), vec![3; 1_000]));
        shelf.settle();

        shelf.put(&key(300), vec![3; 1_000]);
        assert!(shelf.settle().is_empty());
        shelf.put(&key(300), vec![4; 1_000]);
        let hashed = shelf.settle();

        assert_eq!(hashed.len(), 1, "one of {} leaves holds the entry", shelf.leaves.len());
        assert!(shelf.leaves.len() > 1);
    }

    proptest! {
        #[test]
        fn leaves_depend_on_the_entries_and_not_on_their_history(
            steps in prop::collection::vec((any::<u16>(), 0_usize..9_000, any::<bool>()), 1..200)
        ) {
            let mut shelf = Shelf::default();
            for (n, (id, len, settle)) in steps.iter().enumerate() {
                if len % 3 == 0 {
                    let near = shelf.entries.range(digits(&key(*id))..).next();
                    let near: Option<Vec<u8>> = near.map(|(key, _)| {
                        key.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
                    });
                    near.iter().for_each(|key| shelf.take(key));
                } else {
                    shelf.put(&key(*id), vec![n as u8; *len]);
                }
                if *settle {
                    shelf.settle();
                    prop_assert_eq!(listed(&shelf), listed(&rebuilt(&shelf)));
                }
            }
            shelf.settle();

            prop_assert_eq!(listed(&shelf), listed(&rebuilt(&shelf)));
            let fits = |leaf: &LeafDigest| leaf.bytes as usize <= LEAF_BYTES_MAX;
            prop_assert!(shelf.leaves.values().all(fits));
        }
    }
}
