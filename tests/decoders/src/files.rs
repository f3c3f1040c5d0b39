//! Files that people hand to each other.

use std::{collections::BTreeMap, str, sync::LazyLock};

use metatopia_audit::{evidence::EvidenceFile, recover::file};
use metatopia_scenarios::{Place, plaza};
use metatopia_scripting::Package;
use metatopia_simulator::story::{EmptyShelf, Story};

use crate::binary::only;

pub(crate) fn recovery(bytes: &[u8]) -> bool {
    only(bytes, file::decode(bytes).ok().map(|signed| file::encode(&signed)))
}

/// Decodes a file of evidence. Each piece in it is judged as well, whether or not it holds.
pub(crate) fn evidence(bytes: &[u8]) -> bool {
    let file = EvidenceFile::decode(bytes).ok();
    let judged = file.as_ref().is_some_and(|file| file.check().is_ok());
    only(bytes, file.map(|file| file.encode())) && judged
}

/// Reads a place, which may run what runs on the plaza. Its genesis is one, if it is a place.
pub(crate) fn place(bytes: &[u8]) -> bool {
    static PACKAGES: LazyLock<Vec<Package>> = LazyLock::new(plaza::packages);
    let parsed = str::from_utf8(bytes).ok().map(|text| Place::parse("a.toml", text, &PACKAGES));
    let Some(Ok(place)) = parsed else {
        return false;
    };
    let genesis = place.genesis(BTreeMap::new(), Default::default()).encode();
    only(&genesis, metatopia_sim::Genesis::decode(&genesis).ok().map(|again| again.encode()))
}

/// A story that names no other files; it is read, and not played.
pub(crate) fn story(bytes: &[u8]) -> bool {
    str::from_utf8(bytes).is_ok_and(|text| Story::parse("a.toml", text, &EmptyShelf).is_ok())
}
