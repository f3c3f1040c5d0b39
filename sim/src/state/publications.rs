//! Publications: what the sim keeps of each package besides its source, and which package leaves when
//! there is no room for all.
//!
//! Keys cost nothing, so the room is for what runs. A package that no script runs makes room for a newer
//! one, the one that has been unused longest first, and leaves after a week in any case. What another
//! package of the state imports is used as long as that one is there. What ships with the sim stays.

use std::collections::{BTreeMap, BTreeSet};

use metatopia_scripting::{ImportError, LinkedPackage, Package, PackageAuthor};
use metatopia_types::{Digest, Height, PackageId, PublicKey};
use serde::{Deserialize, Serialize};

use super::sim_state::State;
use crate::{
    limits::{
        AUTHORS_KEPT_BYTES, PACKAGE_BYTES_PER_PUBLISHER_MAX, PACKAGE_UNUSED_MS_MAX,
        PACKAGES_LEAVING_PER_TURN_MAX, PACKAGES_MAX, PUBLICATIONS_MAX, PUBLISHED_BYTES_MAX,
        PUBLISHING_HEIGHTS,
    },
    tree::Tracked,
};

/// What the sim keeps of a package besides its source. It stays when the source has left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Publication {
    /// Who published it; none for a package that ships with the sim.
    pub publisher: Option<PublicKey>,
    /// The turn that brought it.
    pub height: Height,
    /// The length of the package as it is handed out, with that of the sources that it imports.
    pub bytes: u32,
    /// The copyleft licence under which it runs here, an SPDX expression.
    pub licence: String,
    /// Who wrote it, as its manifest names them: at most [`AUTHORS_KEPT_BYTES`]. Who is left out is counted.
    pub authors: String,
    /// The governance time since which no script runs it and no package imports it, in milliseconds; none
    /// while one does.
    pub unused_since: Option<u64>,
    /// The turn in which its source left the state; none while it is there.
    pub left: Option<Height>,
}

/// Returns the names of authors that stay when their source leaves, as `Ada, Bob and 3 more`.
fn kept_authors(authors: &[PackageAuthor]) -> String {
    let joined = |count: usize| {
        let names: Vec<&str> = authors[..count].iter().map(|author| author.name.as_str()).collect();
        match authors.len() - count {
            0 => names.join(", "),
            more => format!("{} and {more} more", names.join(", ")),
        }
    };
    // One name always fits: it has 64 bytes at most.
    let fits = (1..=authors.len()).rev().map(joined).find(|text| text.len() <= AUTHORS_KEPT_BYTES);
    fits.expect("a package has an author, whose name is short")
}

/// The publications of a sim, with what follows from them and from the scripts.
#[derive(Debug, Clone, Default)]
pub(crate) struct Publications {
    pub(crate) records: Tracked<PackageId, Publication>,
    /// Index: how many scripts run each package, or fall back to it.
    uses: BTreeMap<PackageId, usize>,
    /// Index: how many packages in the state import each package.
    importers: BTreeMap<PackageId, usize>,
    /// Index: what may leave, the longest unused first.
    unused: BTreeSet<(u64, PackageId)>,
    /// Index: what left, the longest ago first.
    gone: BTreeSet<(Height, PackageId)>,
    /// Index: what each player published.
    by_publisher: BTreeMap<PublicKey, PublishedPackages>,
    /// Index: bytes of published packages whose source is in the state.
    bytes: u64,
}

/// Index: what one player published.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct PublishedPackages {
    /// All that the sim has a record of, the oldest first.
    by_height: BTreeSet<(Height, PackageId)>,
    /// Those whose source is in the state.
    present: BTreeSet<PackageId>,
}

impl Publications {
    /// Returns the publications with these records, where scripts run these packages, and packages in the
    /// state import those.
    pub(crate) fn new(
        records: Tracked<PackageId, Publication>,
        used: impl Iterator<Item = PackageId>,
        imported: impl Iterator<Item = PackageId>,
    ) -> Self {
        let mut all = Self { records, ..Self::default() };
        used.for_each(|id| *all.uses.entry(id).or_default() += 1);
        imported.for_each(|id| *all.importers.entry(id).or_default() += 1);
        let records: Vec<(PackageId, Publication)> =
            all.records.iter().map(|(id, record)| (*id, record.clone())).collect();
        records.iter().for_each(|(id, record)| all.list(*id, record));
        all
    }

    /// Adds a record to the indexes.
    fn list(&mut self, id: PackageId, record: &Publication) {
        if let Some(publisher) = record.publisher {
            let own = self.by_publisher.entry(publisher).or_default();
            own.by_height.insert((record.height, id));
            if record.left.is_none() {
                own.present.insert(id);
                self.bytes += u64::from(record.bytes);
                self.unused.extend(record.unused_since.map(|since| (since, id)));
            }
        }
        self.gone.extend(record.left.map(|height| (height, id)));
    }

    /// Removes a record with all that the indexes say of it.
    fn forget(&mut self, id: PackageId) {
        let Some(record) = self.records.remove(&id) else {
            return;
        };
        record.left.map(|height| self.gone.remove(&(height, id)));
        if let Some(publisher) = record.publisher
            && let Some(own) = self.by_publisher.get_mut(&publisher)
        {
            own.by_height.remove(&(record.height, id));
            own.present.remove(&id);
            if own.by_height.is_empty() {
                self.by_publisher.remove(&publisher);
            }
        }
    }

    /// Makes somebody else the publisher of what one key published.
    pub(crate) fn change_publisher(&mut self, old: &PublicKey, new: PublicKey) {
        let Some(own) = self.by_publisher.remove(old) else { return };
        for (_, id) in &own.by_height {
            if let Some(record) = self.records.get_mut(id) {
                record.publisher = Some(new);
            }
        }
        // The new key may have published as well: as somebody whom the sim forgot since.
        let all = self.by_publisher.entry(new).or_default();
        all.by_height.extend(own.by_height);
        all.present.extend(own.present);
    }

    /// Returns the bytes of published packages whose source is in the state.
    pub(crate) const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns how many scripts run a package, or fall back to it.
    pub(crate) fn uses(&self, id: &PackageId) -> usize {
        self.uses.get(id).copied().unwrap_or(0)
    }

    /// Counts one more script that runs a package, or falls back to it.
    pub(crate) fn take(&mut self, id: PackageId) {
        self.begin_need(id);
        *self.uses.entry(id).or_default() += 1;
    }

    /// Counts one script less that runs a package, or falls back to it.
    pub(crate) fn release(&mut self, id: PackageId, time: u64) {
        let uses = self.uses.get_mut(&id).expect("what is released was taken");
        *uses -= 1;
        if *uses == 0 {
            self.uses.remove(&id);
        }
        self.end_need(id, time);
    }

    /// Counts one more package of the state that imports a package.
    fn hold(&mut self, id: PackageId) {
        self.begin_need(id);
        *self.importers.entry(id).or_default() += 1;
    }

    /// Counts one package less that imports a package.
    fn let_go(&mut self, id: PackageId, time: u64) {
        let importers = self.importers.get_mut(&id).expect("what is let go was held");
        *importers -= 1;
        if *importers == 0 {
            self.importers.remove(&id);
        }
        self.end_need(id, time);
    }

    /// Says whether a script runs a package, or another package imports it.
    fn is_needed(&self, id: &PackageId) -> bool {
        self.uses.contains_key(id) || self.importers.contains_key(id)
    }

    /// Notes that a package is needed from now on, before that is counted.
    fn begin_need(&mut self, id: PackageId) {
        if !self.is_needed(&id) {
            self.note_unused(id, None);
        }
    }

    /// Notes since when a package is not needed, after that was counted.
    fn end_need(&mut self, id: PackageId, time: u64) {
        if !self.is_needed(&id) {
            self.note_unused(id, Some(time));
        }
    }

    /// Notes since when a package is not needed. What ships with the sim has no such time: it stays. Nor has
    /// what left: a sleeping script may need it, and it would leave again when that script ends.
    fn note_unused(&mut self, id: PackageId, since: Option<u64>) {
        let leaves = |record: &Publication| record.publisher.is_some() && record.left.is_none();
        if !self.records.get(&id).is_some_and(leaves) {
            return;
        }
        let record = self.records.get_mut(&id).expect("a record that was just read");
        record.unused_since.map(|before| self.unused.remove(&(before, id)));
        record.unused_since = since;
        self.unused.extend(since.map(|since| (since, id)));
    }

    /// Adds a package that ships with the sim.
    fn ship(&mut self, package: &Package, bytes: u32) {
        let record = Publication {
            publisher: None,
            height: Height(0),
            bytes,
            licence: package.manifest().licence.chosen.clone(),
            authors: kept_authors(&package.manifest().authors),
            unused_since: None,
            left: None,
        };
        self.records.insert(package.id(), record);
    }

    /// Adds a package that somebody published. A script may need it already: one that came over a border, and
    /// sleeps because its source is not here.
    fn publish(&mut self, id: PackageId, record: Publication) {
        // It may have been here, and have left.
        self.forget(id);
        let unused_since = record.unused_since.filter(|_| !self.is_needed(&id));
        let record = Publication { unused_since, ..record };
        self.list(id, &record);
        self.records.insert(id, record);
        if self.records.len() > PUBLICATIONS_MAX {
            // Fewer packages may be in a state than it has records of.
            let (_, oldest) = *self.gone.first().expect("more records than packages");
            self.forget(oldest);
        }
    }

    /// Notes that the source of a package leaves the state in the turn of this height.
    fn leave(&mut self, id: PackageId, height: Height) {
        assert!(!self.is_needed(&id), "package {id} leaves while a script or package needs it");
        self.note_unused(id, None);
        let record = self.records.get_mut(&id).expect("a package in the state has a record");
        record.left = Some(height);
        if let Some(publisher) = record.publisher {
            self.bytes -= u64::from(record.bytes);
            let own = self.by_publisher.get_mut(&publisher).expect("a publisher is listed");
            own.present.remove(&id);
        }
        self.gone.insert((height, id));
    }

    /// Returns how many bytes somebody published in the last minute of turns. What a successor took over was
    /// published before its first turn, however long ago.
    pub(crate) fn bytes_of_late(&self, publisher: &PublicKey, now: Height) -> u64 {
        let first = Height(now.0.saturating_sub(PUBLISHING_HEIGHTS).saturating_add(1).max(1));
        let own = self.by_publisher.get(publisher);
        let late =
            own.into_iter().flat_map(|own| own.by_height.range((first, PackageId(Digest::ZERO))..));
        late.map(|(_, id)| u64::from(self.record(id).bytes)).sum()
    }

    /// Returns the record of a package that an index lists.
    fn record(&self, id: &PackageId) -> &Publication {
        self.records.get(id).expect("what is listed has a record")
    }

    /// Returns the packages that leave so that somebody can publish so many bytes, or nothing if what
    /// runs leaves no room. An author's own packages make room for the author's next one first. What that
    /// one imports stays.
    pub(crate) fn room_for(
        &self,
        publisher: &PublicKey,
        bytes: u64,
        imports: &BTreeSet<PackageId>,
    ) -> Option<Vec<PackageId>> {
        let present = self.by_publisher.get(publisher).into_iter().flat_map(|own| &own.present);
        let own: Vec<_> = present.map(|id| (id, self.record(id))).collect();
        let mut own_bytes: u64 = own.iter().map(|(_, record)| u64::from(record.bytes)).sum();
        let mut leaving = Vec::new();
        let mut own_unused: Vec<(u64, PackageId, u64)> = own
            .into_iter()
            .filter(|(id, _)| !imports.contains(id))
            .filter_map(|(id, record)| Some((record.unused_since?, *id, u64::from(record.bytes))))
            .collect();
        own_unused.sort();
        let mut left = self.bytes;
        for (_, id, freed) in own_unused {
            if own_bytes + bytes <= PACKAGE_BYTES_PER_PUBLISHER_MAX {
                break;
            }
            own_bytes -= freed;
            left -= freed;
            leaving.push(id);
        }
        if own_bytes + bytes > PACKAGE_BYTES_PER_PUBLISHER_MAX {
            return None;
        }
        let mut count = self.in_state() - leaving.len();
        for (_, id) in &self.unused {
            if left + bytes <= PUBLISHED_BYTES_MAX && count < PACKAGES_MAX {
                break;
            }
            if !leaving.contains(id) && !imports.contains(id) {
                left -= self.records.get(id).map_or(0, |record| u64::from(record.bytes));
                count -= 1;
                leaving.push(*id);
            }
        }
        (left + bytes <= PUBLISHED_BYTES_MAX && count < PACKAGES_MAX).then_some(leaving)
    }

    /// Returns how many packages have their source in the state.
    fn in_state(&self) -> usize {
        self.records.len() - self.gone.len()
    }

    /// Begins the records of a successor, whose heights begin anew.
    pub(crate) fn begin_heights(&mut self) {
        let ids: Vec<PackageId> = self.records.iter().map(|(id, _)| *id).collect();
        for id in ids {
            let record = self.records.get_mut(&id).expect("a record that was just listed");
            record.height = Height(0);
            record.left = record.left.map(|_| Height(0));
        }
        self.gone = self.gone.iter().map(|(_, id)| (Height(0), *id)).collect();
        for own in self.by_publisher.values_mut() {
            own.by_height = own.by_height.iter().map(|(_, id)| (Height(0), *id)).collect();
        }
    }
}

impl State {
    /// Adds a package that ships with the sim, whose source compiles.
    pub(crate) fn ship_package(&mut self, package: Package, weight: u32) {
        self.publications.ship(&package, weight);
        self.add_package(package);
    }

    /// Puts a package together with what it imports of the packages that are there.
    ///
    /// # Errors
    /// See [`ImportError`].
    pub(crate) fn link<'a>(
        &'a self,
        package: &'a Package,
    ) -> Result<LinkedPackage<'a>, ImportError> {
        LinkedPackage::new(package, &|id| self.packages.get(id))
    }

    /// Adds a package that somebody published, whose source compiles, once others have made room for it.
    /// The programs have it from the ticks of this turn on.
    pub(crate) fn publish(
        &mut self,
        publisher: PublicKey,
        package: Package,
        weight: u32,
        leaving: &[PackageId],
    ) {
        leaving.iter().for_each(|id| self.remove_package(id));
        let record = Publication {
            publisher: Some(publisher),
            height: self.clock.height,
            bytes: weight,
            licence: package.manifest().licence.chosen.clone(),
            authors: kept_authors(&package.manifest().authors),
            unused_since: Some(self.governance.time),
            left: None,
        };
        self.publications.publish(package.id(), record);
        self.add_package(package);
    }

    /// Removes packages that were unused for too long, a few each turn.
    pub(super) fn remove_stale_packages(&mut self) {
        for _ in 0..PACKAGES_LEAVING_PER_TURN_MAX {
            let first = self.publications.unused.first().copied();
            let time = self.governance.time;
            match first {
                Some((since, id)) if since.saturating_add(PACKAGE_UNUSED_MS_MAX) <= time => {
                    self.remove_package(&id);
                }
                _ => return,
            }
        }
    }

    /// Adds a package to those that scripts can run.
    fn add_package(&mut self, package: Package) {
        let id = package.id();
        package.imports().for_each(|import| self.publications.hold(import));
        self.package_changes.insert(id);
        self.packages.insert(id, package);
    }

    /// Removes a package that no script runs and no package imports.
    pub(crate) fn remove_package(&mut self, id: &PackageId) {
        self.publications.leave(*id, self.clock.height);
        self.package_changes.insert(*id);
        let (gone, time) = (self.packages.remove(id), self.governance.time);
        for import in gone.iter().flat_map(Package::imports) {
            self.publications.let_go(import, time);
        }
    }
}

#[cfg(test)]
mod tests;
