//! Lists that a node tells page after page, in the order of their keys.

use alloc::vec::Vec;

use metatopia_types::{ClubId, LotId, PackageId, PublicKey, ScriptId};

use crate::{
    CLUBS_PER_ANSWER_MAX, ClubEntry, LOTS_PER_ANSWER_MAX, LotEntry, PACKAGES_PER_ANSWER_MAX,
    PEOPLE_PER_ANSWER_MAX, PackageEntry, PersonEntry, REPORTS_PER_ANSWER_MAX, ReportEntry,
    SCRIPTS_PER_ANSWER_MAX, ScriptEntry,
};

/// An entry of a list that comes in pages.
pub trait Listed {
    /// What the list is in the order of.
    type Key: Copy + Ord;

    /// Entries of a page that is not the last one.
    const PER_PAGE: usize;

    /// Entries of the list that are taken in. A sim has no more, or nobody looks at more of them.
    const LISTED_MAX: usize;

    /// Returns its key.
    fn key(&self) -> Self::Key;
}

/// Takes in a page. Returns the key after which the next one begins, or `None` at the end of the list.
///
/// A page that goes back ends the list, and so does one beyond [`Listed::LISTED_MAX`]: a node that lies would
/// be asked for ever, and fill the memory of whoever asks.
pub fn take_page<T: Listed>(all: &mut Vec<T>, page: Vec<T>) -> Option<T::Key> {
    let is_full = page.len() >= T::PER_PAGE;
    let mut last = all.last().map(Listed::key);
    for entry in page {
        let key = entry.key();
        if all.len() >= T::LISTED_MAX || last.is_some_and(|last| key <= last) {
            return None;
        }
        last = Some(key);
        all.push(entry);
    }
    last.filter(|_| is_full)
}

impl Listed for ScriptEntry {
    type Key = ScriptId;

    const PER_PAGE: usize = SCRIPTS_PER_ANSWER_MAX;
    const LISTED_MAX: usize = 16 * SCRIPTS_PER_ANSWER_MAX;

    fn key(&self) -> ScriptId {
        self.script
    }
}

impl Listed for PackageEntry {
    type Key = PackageId;

    const PER_PAGE: usize = PACKAGES_PER_ANSWER_MAX;
    const LISTED_MAX: usize = 40 * PACKAGES_PER_ANSWER_MAX;

    fn key(&self) -> PackageId {
        self.package
    }
}

impl Listed for LotEntry {
    type Key = LotId;

    const PER_PAGE: usize = LOTS_PER_ANSWER_MAX;
    const LISTED_MAX: usize = 4 * LOTS_PER_ANSWER_MAX;

    fn key(&self) -> LotId {
        self.lot
    }
}

impl Listed for ClubEntry {
    type Key = ClubId;

    const PER_PAGE: usize = CLUBS_PER_ANSWER_MAX;
    const LISTED_MAX: usize = 32 * CLUBS_PER_ANSWER_MAX;

    fn key(&self) -> ClubId {
        self.club
    }
}

impl Listed for ReportEntry {
    type Key = u64;

    const PER_PAGE: usize = REPORTS_PER_ANSWER_MAX;
    const LISTED_MAX: usize = 4 * REPORTS_PER_ANSWER_MAX;

    fn key(&self) -> u64 {
        self.report
    }
}

impl Listed for PersonEntry {
    type Key = PublicKey;

    const PER_PAGE: usize = PEOPLE_PER_ANSWER_MAX;
    const LISTED_MAX: usize = 64 * PEOPLE_PER_ANSWER_MAX;

    fn key(&self) -> PublicKey {
        self.key
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq)]
    struct Entry(u64);

    impl Listed for Entry {
        type Key = u64;

        const PER_PAGE: usize = 3;
        const LISTED_MAX: usize = 7;

        fn key(&self) -> u64 {
            self.0
        }
    }

    fn page(keys: [u64; 3]) -> Vec<Entry> {
        keys.map(Entry).into()
    }

    #[test]
    fn a_list_goes_on_after_a_full_page_and_ends_with_a_shorter_one() {
        let mut all = Vec::new();
        assert_eq!(take_page(&mut all, page([0, 1, 5])), Some(5));
        assert_eq!(take_page(&mut all, vec![Entry(9)]), None);
        assert_eq!(all.len(), 4);
    }

    /// A server among four told a tab of ever more lots, and the tab ran out of memory.
    #[test]
    fn a_node_that_lies_about_a_list_is_asked_no_further() {
        let mut all = Vec::new();
        let mut next = take_page(&mut all, page([1, 2, 3]));
        let mut asked = 1;
        while let Some(last) = next {
            next = take_page(&mut all, page([last + 1, last + 2, last + 3]));
            asked += 1;
        }
        assert_eq!((asked, all.len()), (3, Entry::LISTED_MAX));

        for back in [[3, 4, 5], [4, 6, 5]] {
            let mut all = page([1, 2, 3]);
            assert_eq!(take_page(&mut all, page(back)), None);
        }
    }
}
