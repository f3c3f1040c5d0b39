//! The plaza, the sim that every node can start at once: a walled square with crates to push, a
//! door, a beam that turns, a bell, and somebody who answers.

use std::collections::{BTreeMap, BTreeSet};

use metatopia_scripting::Package;
use metatopia_sim::Genesis;
use metatopia_types::{NodeContact, PublicKey};

use crate::{Place, PlaceTemplate};

/// Returns the packages that run on the plaza, by name.
///
/// # Panics
/// Never: the files are part of the program, and the tests of this crate load them.
#[must_use]
pub fn packages() -> Vec<Package> {
    let mut packages: Vec<Package> = place().packages().cloned().collect();
    packages.sort_by(|a, b| a.manifest().name.cmp(&b.manifest().name));
    packages
}

/// Returns the plaza as a place.
///
/// # Panics
/// Never: the files are part of the program, and the tests of this crate load them.
#[must_use]
pub fn place() -> Place {
    let plaza = PlaceTemplate::named("plaza").expect("the plaza is a template");
    plaza.place().expect("the plaza's files were built in and loaded by a test")
}

/// Returns the genesis of a plaza with these servers and permanent admins.
///
/// # Panics
/// Never: the files are part of the program, and the tests of this crate load them.
#[must_use]
pub fn genesis(
    validators: BTreeMap<PublicKey, NodeContact>,
    admins: BTreeSet<PublicKey>,
) -> Genesis {
    place().genesis(validators, admins)
}
