//! A leaf table: entries of one kind, sorted by key and cut into leaves of bounded size.
//!
//! Where a table is cut depends on its entries alone, never on the order in which they came: the
//! entries whose keys share a prefix form one leaf if they fit, and are divided by one more digit of the
//! key if they do not. So two servers with the same entries have the same leaves, and a leaf that grew and
//! shrank is what it was.

use std::collections::{BTreeMap, BTreeSet, btree_map::Entry};
use std::ops::Bound;
use std::sync::Arc;

use metatopia_types::{
    Digest,
    limits::{LEAF_BYTES_MAX, PROFILES_LEAF_BYTES_MAX, SHELF_BYTES_MAX},
    wire,
};

/// Bytes of a leaf's entry count, at most: five for a `u32` as postcard writes it.
const COUNT_BYTES_MAX: usize = 5;

/// How a table is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct CutRule {
    /// Bits of a key that are one digit of a prefix: 4, or 2.
    digit_bits: u32,
    /// The bytes of all entries of one leaf.
    entries_bytes_max: usize,
    /// Whether a part without entries has a leaf as well, if what is around it was cut.
    covers: bool,
}

impl CutRule {
    /// A table divided by hexadecimal digits, into leaves as large as there may be.
    const WIDE: Self =
        Self { digit_bits: 4, entries_bytes_max: LEAF_BYTES_MAX - COUNT_BYTES_MAX, covers: false };

    /// A table divided by hexadecimal digits, into leaves of which one is a small answer.
    const NARROW: Self =
        Self { entries_bytes_max: PROFILES_LEAF_BYTES_MAX - COUNT_BYTES_MAX, ..Self::WIDE };

    /// A table divided by quarters of the plane, into shelves of a map.
    const SHELVES: Self =
        Self { digit_bits: 2, entries_bytes_max: SHELF_BYTES_MAX - COUNT_BYTES_MAX, covers: true };

    /// Returns how many digits one byte of a key has.
    const fn digits_per_byte(self) -> usize {
        (8 / self.digit_bits) as usize
    }

    /// Returns how many values a digit has.
    const fn base(self) -> u8 {
        1 << self.digit_bits
    }

    /// Returns the first and the last key with this prefix.
    fn bounds<const N: usize>(self, prefix: &[u8]) -> ([u8; N], [u8; N]) {
        let (mut first, mut last) = ([0; N], [0xff; N]);
        let (per_byte, bits) = (self.digits_per_byte(), self.digit_bits);
        for (n, digit) in prefix.iter().enumerate() {
            let (byte, place) = (n / per_byte, n % per_byte);
            let shift = 8 - bits * (place as u32 + 1);
            let mask = (self.base() - 1) << shift;
            first[byte] |= digit << shift & mask;
            last[byte] = last[byte] & !mask | digit << shift & mask;
        }
        (first, last)
    }

    /// Returns the digits of a key.
    fn digits(self, key: &[u8]) -> Digits {
        let shifts = || (1..=self.digits_per_byte() as u32).map(|n| 8 - self.digit_bits * n);
        let digit = |byte: u8, shift: u32| byte >> shift & (self.base() - 1);
        key.iter().flat_map(|byte| shifts().map(move |shift| digit(*byte, shift))).collect()
    }
}

/// The first digits of a key, one per byte, so that prefixes are prefixes.
type Digits = Vec<u8>;

/// A leaf as it is known without its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LeafDigest {
    /// blake3 of the content.
    pub(crate) hash: Digest,
    /// The content's length.
    pub(crate) bytes: u32,
}

/// The range of a leaf that is asked for.
#[derive(Debug, Clone, Copy)]
pub(super) enum LeafRange {
    /// All of its content.
    Whole,
    /// Its first entries, as many as it takes for so many bytes.
    Head(usize),
}

/// Entries in their canonical encoding under keys of `N` bytes, and the leaves they form. Clones
/// share their entries.
#[derive(Debug, Clone)]
pub(crate) struct LeafTable<const N: usize> {
    rule: CutRule,
    entries: BTreeMap<[u8; N], Arc<[u8]>>,
    leaves: BTreeMap<Digits, LeafDigest>,
    touched: BTreeSet<[u8; N]>,
}

impl<const N: usize> Default for LeafTable<N> {
    fn default() -> Self {
        Self::cut_by(CutRule::WIDE)
    }
}

/// Returns a leaf's prefix as it is written in leaf keys.
pub(super) fn prefix_text(prefix: &[u8]) -> String {
    let digit = |digit: &u8| char::from_digit(u32::from(*digit), 16);
    prefix.iter().map(|d| digit(d).expect("a digit is below 16")).collect()
}

impl LeafTable<8> {
    /// Returns a table of shelves: its keys are places on the curve through the quadtree of the plane.
    pub(super) fn shelves() -> Self {
        Self::cut_by(CutRule::SHELVES)
    }
}

impl LeafTable<32> {
    /// Returns a table of what is kept of people, each leaf of which is a small answer.
    pub(super) fn narrow() -> Self {
        Self::cut_by(CutRule::NARROW)
    }
}

impl<const N: usize> LeafTable<N> {
    /// Returns the prefix of the leaf that a key is in, and how many leaves come before it; nothing if
    /// no leaf is there.
    pub(super) fn shelf_of(&self, key: &[u8; N]) -> Option<(Digits, usize)> {
        let prefix = self.leaf_of(key);
        self.leaves.get(&prefix)?;
        let before = self.leaves.range::<[u8], _>((Bound::Unbounded, Bound::Excluded(&*prefix)));
        let before = before.count();
        Some((prefix, before))
    }

    /// Returns a table without entries.
    fn cut_by(rule: CutRule) -> Self {
        let (entries, leaves, touched) = (BTreeMap::new(), BTreeMap::new(), BTreeSet::new());
        Self { rule, entries, leaves, touched }
    }

    /// Sets the entry of `key`.
    ///
    /// # Panics
    /// When the entry alone is larger than a leaf: limits of what it holds must prevent that.
    pub(crate) fn put(&mut self, key: [u8; N], entry: Vec<u8>) {
        let max = self.rule.entries_bytes_max;
        assert!(entry.len() <= max, "an entry of {} bytes fits no leaf", entry.len());
        match self.entries.entry(key) {
            Entry::Occupied(old) if **old.get() == *entry => return,
            Entry::Occupied(mut old) => {
                old.insert(entry.into());
            }
            Entry::Vacant(place) => {
                place.insert(entry.into());
            }
        }
        self.touched.insert(key);
    }

    /// Removes the entry of `key`.
    pub(crate) fn take(&mut self, key: [u8; N]) {
        if self.entries.remove(&key).is_some() {
            self.touched.insert(key);
        }
    }

    /// Returns the entry of `key`.
    pub(crate) fn get(&self, key: &[u8; N]) -> Option<&[u8]> {
        self.entries.get(key).map(Arc::as_ref)
    }

    /// Returns the last key below this one that has an entry.
    pub(super) fn last_below(&self, key: &[u8; N]) -> Option<[u8; N]> {
        self.entries.range(..*key).next_back().map(|(key, _)| *key)
    }

    /// Returns all entries, in the order of their keys.
    pub(super) fn entries(&self) -> impl Iterator<Item = (&[u8; N], &[u8])> {
        self.entries.iter().map(|(key, entry)| (key, &**entry))
    }

    /// Returns the leaves of the last refresh, by their prefixes.
    pub(crate) fn leaves(&self) -> impl Iterator<Item = (&[u8], LeafDigest)> {
        self.leaves.iter().map(|(prefix, digest)| (prefix.as_slice(), *digest))
    }

    /// Says whether the table has no entry.
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Says whether nothing has changed since the last refresh.
    pub(super) fn is_fresh(&self) -> bool {
        self.touched.is_empty()
    }

    /// Cuts and hashes again what changes since the last call can have moved. Returns the leaves that are
    /// gone, and those that were hashed, by their prefixes.
    pub(crate) fn refresh(&mut self) -> BTreeMap<Digits, Option<LeafDigest>> {
        let mut changes = BTreeMap::new();
        let mut done: Option<Digits> = None;
        for prefix in self.stale() {
            // A wider prefix sorts before the prefixes that it covers, which were cut with it.
            if done.as_ref().is_some_and(|done| prefix.starts_with(done)) {
                continue;
            }
            let gone: Vec<Digits> =
                self.leaves_under(&prefix).map(|(key, _)| key.clone()).collect();
            for key in gone {
                self.leaves.remove(&key);
                changes.insert(key, None);
            }
            self.cut(&prefix);
            let fresh = self.leaves_under(&prefix);
            changes.extend(fresh.map(|(key, digest)| (key.clone(), Some(*digest))));
            done = Some(prefix);
        }
        changes
    }

    /// Returns the prefixes under which something may have moved.
    fn stale(&mut self) -> BTreeSet<Digits> {
        let mut leaves: BTreeSet<Digits> = BTreeSet::new();
        let mut covered: Option<[u8; N]> = None;
        for key in core::mem::take(&mut self.touched) {
            // Keys come in order, and most of them are in the leaf of the one before.
            if covered.is_some_and(|last| key <= last) {
                continue;
            }
            let leaf = self.leaf_of(&key);
            covered = Some(self.rule.bounds(&leaf).1);
            leaves.insert(leaf);
        }
        leaves.into_iter().map(|leaf| self.widest(leaf)).collect()
    }

    /// Returns the prefix of the leaf in which `key` is, or the shortest one under which no leaf is.
    fn leaf_of(&self, key: &[u8; N]) -> Digits {
        let all = self.rule.digits(key);
        let mut prefixes = (0..=all.len()).map(|len| &all[..len]);
        let leaf = prefixes.find(|prefix| {
            self.leaves.contains_key(*prefix) || self.leaves_under(prefix).next().is_none()
        });
        leaf.unwrap_or(&all).to_vec()
    }

    /// Returns the leaves whose prefixes begin with `prefix`.
    fn leaves_under<'a>(
        &'a self,
        prefix: &'a [u8],
    ) -> impl Iterator<Item = (&'a Digits, &'a LeafDigest)> {
        let from = self.leaves.range::<[u8], _>((Bound::Included(prefix), Bound::Unbounded));
        from.take_while(move |(key, _)| key.starts_with(prefix))
    }

    /// Returns the entries whose keys begin with `prefix`.
    fn entries_under(&self, prefix: &[u8]) -> impl Iterator<Item = &[u8]> {
        let (first, last) = self.rule.bounds(prefix);
        self.entries.range(first..=last).map(|(_, entry)| &**entry)
    }

    /// Returns the widest prefix around `prefix` under which everything fits into one leaf.
    fn widest(&self, mut prefix: Digits) -> Digits {
        while !prefix.is_empty() && self.fits(&prefix[..prefix.len() - 1]) {
            prefix.truncate(prefix.len() - 1);
        }
        prefix
    }

    /// Says whether one leaf holds all entries under `prefix`. Looks at no more entries than fill a leaf.
    fn fits(&self, prefix: &[u8]) -> bool {
        let mut bytes = 0;
        self.entries_under(prefix).all(|entry| {
            bytes += entry.len();
            bytes <= self.rule.entries_bytes_max
        })
    }

    /// Cuts the entries under `prefix` into leaves, and hashes these.
    fn cut(&mut self, prefix: &[u8]) {
        // A table without entries has no leaves, whatever it covers else.
        let covers = self.rule.covers && !self.entries.is_empty();
        if !covers && self.entries_under(prefix).next().is_none() {
            return;
        }
        // The entries are looked up once: a turn of logins cuts a hundred leaves of hundreds of entries.
        let mut left = self.rule.entries_bytes_max;
        let mut fits = true;
        let entries = self.entries_under(prefix).take_while(|entry| {
            let rest = left.checked_sub(entry.len());
            (left, fits) = (rest.unwrap_or(0), rest.is_some());
            fits
        });
        let entries: Vec<&[u8]> = entries.collect();
        if !fits {
            (0..self.rule.base()).for_each(|digit| self.cut(&[prefix, &[digit]].concat()));
            return;
        }
        let content = joined(&entries);
        let bytes = u32::try_from(content.len()).expect("a leaf is at most LEAF_BYTES_MAX long");
        let hash = Digest(*blake3::hash(&content).as_bytes());
        self.leaves.insert(prefix.to_vec(), LeafDigest { hash, bytes });
    }

    /// Returns the content of the leaf with this prefix, or its first entries.
    pub(super) fn part(&self, prefix: &[u8], range: LeafRange) -> Vec<u8> {
        let LeafRange::Head(bytes) = range else {
            return self.content(prefix);
        };
        let mut head = Vec::with_capacity(bytes);
        for entry in self.entries_under(prefix) {
            head.extend_from_slice(entry);
            if head.len() >= bytes {
                break;
            }
        }
        head
    }

    /// Returns the content of the leaf with this prefix: the count of its entries, then the entries.
    pub(super) fn content(&self, prefix: &[u8]) -> Vec<u8> {
        joined(&self.entries_under(prefix).collect::<Vec<_>>())
    }
}

/// Returns the count of these entries, then the entries.
fn joined(entries: &[&[u8]]) -> Vec<u8> {
    let count = u32::try_from(entries.len()).expect("a leaf is at most LEAF_BYTES_MAX long");
    let bytes: usize = entries.iter().map(|entry| entry.len()).sum();
    let mut content = Vec::with_capacity(COUNT_BYTES_MAX + bytes);
    content.extend(wire::encode(&count));
    entries.iter().for_each(|entry| content.extend_from_slice(entry));
    content
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rebuilt(table: &LeafTable<2>) -> LeafTable<2> {
        let mut fresh =
            LeafTable { entries: table.entries.clone(), ..LeafTable::cut_by(table.rule) };
        fresh.cut(&[]);
        fresh
    }

    #[test]
    fn bounds_hold_exactly_the_keys_with_a_prefix() {
        let bounds = |prefix: &[u8]| CutRule::WIDE.bounds::<2>(prefix);
        assert_eq!(bounds(&[]), ([0, 0], [0xff, 0xff]));
        assert_eq!(bounds(&[0xa]), ([0xa0, 0], [0xaf, 0xff]));
        assert_eq!(bounds(&[0xa, 0x1, 0x7]), ([0xa1, 0x70], [0xa1, 0x7f]));
        let digits = CutRule::WIDE.digits(&key(0x1234));
        assert_eq!(bounds(&digits), (key(0x1234), key(0x1234)));
        let bounds = |prefix: &[u8]| CutRule::SHELVES.bounds::<2>(prefix);
        assert_eq!(bounds(&[]), ([0, 0], [0xff, 0xff]));
        assert_eq!(bounds(&[2, 1]), ([0x90, 0], [0x9f, 0xff]));
        let digits = CutRule::SHELVES.digits(&key(0x1234));
        assert_eq!(digits, [0, 1, 0, 2, 0, 3, 1, 0]);
        assert_eq!(bounds(&digits), (key(0x1234), key(0x1234)));
    }

    fn listed(table: &LeafTable<2>) -> Vec<(String, LeafDigest)> {
        table.leaves.iter().map(|(prefix, digest)| (prefix_text(prefix), *digest)).collect()
    }

    fn key(id: u16) -> [u8; 2] {
        id.to_be_bytes()
    }

    #[test]
    fn entries_that_fit_form_one_leaf_with_an_empty_prefix() {
        let mut table = LeafTable::default();

        table.put(key(7), vec![1; 100]);
        table.put(key(0xfff7), vec![2; 100]);
        table.refresh();

        assert_eq!(listed(&table).len(), 1);
        assert_eq!(listed(&table)[0].0, "");
        assert_eq!(listed(&table)[0].1.bytes, 201);
    }

    #[test]
    fn a_leaf_that_is_full_to_the_byte_is_not_cut_and_one_more_byte_cuts_it() {
        let mut table = LeafTable::default();
        table.put(key(1), vec![0; CutRule::WIDE.entries_bytes_max - 10]);
        table.put(key(0x8001), vec![0; 10]);
        table.refresh();
        assert_eq!(listed(&table).len(), 1);

        table.put(key(0x8001), vec![0; 11]);
        table.refresh();

        let prefixes: Vec<String> = listed(&table).into_iter().map(|(prefix, _)| prefix).collect();
        assert_eq!(prefixes, ["0", "8"]);
    }

    #[test]
    fn what_did_not_change_is_not_hashed_again() {
        let mut table = LeafTable::default();
        (0..200).for_each(|id| table.put(key(id * 300), vec![3; 1_000]));
        table.refresh();

        table.put(key(300), vec![3; 1_000]);
        assert!(table.refresh().is_empty());
        table.put(key(300), vec![4; 1_000]);
        let hashed = table.refresh();

        assert_eq!(hashed.len(), 1, "one of {} leaves holds the entry", table.leaves.len());
        assert!(table.leaves.len() > 1);
    }

    /// Asks that each key is in exactly one leaf, whether or not it has an entry.
    fn covers_every_key(table: &LeafTable<2>) {
        let mut next = Some(0_u16);
        for (prefix, _) in table.leaves() {
            let (first, last) = table.rule.bounds::<2>(prefix);
            assert_eq!(Some(u16::from_be_bytes(first)), next, "{}", prefix_text(prefix));
            next = u16::from_be_bytes(last).checked_add(1);
        }
        assert_eq!(next, if table.is_empty() { Some(0) } else { None });
    }

    proptest! {
        #[test]
        fn shelves_cover_all_keys_fit_and_depend_on_the_entries_alone(
            steps in prop::collection::vec((any::<u16>(), 0_usize..260, any::<bool>()), 1..200)
        ) {
            let mut table = LeafTable::cut_by(CutRule::SHELVES);
            for (n, (id, len, refresh)) in steps.iter().enumerate() {
                if len % 3 == 0 {
                    let near = table.entries.range(key(*id)..).next().map(|(key, _)| *key);
                    near.into_iter().for_each(|key| table.take(key));
                } else {
                    table.put(key(*id), vec![n as u8; *len]);
                }
                if *refresh {
                    table.refresh();
                    prop_assert_eq!(listed(&table), listed(&rebuilt(&table)));
                }
            }
            table.refresh();
            prop_assert_eq!(listed(&table), listed(&rebuilt(&table)));
            covers_every_key(&table);
            let fits = |leaf: &LeafDigest| leaf.bytes as usize <= SHELF_BYTES_MAX;
            prop_assert!(table.leaves.values().all(fits));
        }
    }

    proptest! {
        #[test]
        fn leaves_depend_on_the_entries_and_not_on_their_history(
            steps in prop::collection::vec((any::<u16>(), 0_usize..9_000, any::<bool>()), 1..200)
        ) {
            let mut table = LeafTable::default();
            for (n, (id, len, refresh)) in steps.iter().enumerate() {
                if len % 3 == 0 {
                    let near = table.entries.range(key(*id)..).next().map(|(key, _)| *key);
                    near.into_iter().for_each(|key| table.take(key));
                } else {
                    table.put(key(*id), vec![n as u8; *len]);
                }
                if *refresh {
                    table.refresh();
                    prop_assert_eq!(listed(&table), listed(&rebuilt(&table)));
                }
            }
            table.refresh();

            prop_assert_eq!(listed(&table), listed(&rebuilt(&table)));
            let fits = |leaf: &LeafDigest| leaf.bytes as usize <= LEAF_BYTES_MAX;
            prop_assert!(table.leaves.values().all(fits));
        }
    }
}
