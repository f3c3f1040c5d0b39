//! The plaza, the sim that every node can start at once: a walled square with crates to push, a
//! door, a beam that turns, a bell, and somebody who answers.

use std::collections::{BTreeMap, BTreeSet};

use metatopia_scripting::Package;
use metatopia_sim::Genesis;
use metatopia_types::{NodeContact, PublicKey};

use crate::{Mistake, Place, parse_package};

/// The folder that messages name.
const FOLDER: &str = "scenarios/plaza";

/// The description of the place.
const PLACE: &str = include_str!("../plaza/plaza.toml");

macro_rules! packages {
    ($($name:literal: $($file:literal),+;)*) => {
        &[$(($name, &[$(
            ($file, include_str!(concat!("../plaza/packages/", $name, "/", $file))),
        )+])),*]
    };
}

/// The files of the packages, by name.
const PACKAGES: &[(&str, &[(&str, &str)])] = packages! {
    "bell": "package.toml", "bell.rhai";
    "door": "package.toml", "door.rhai";
    "greeter": "package.toml", "greeter.rhai";
    "turntable": "package.toml", "turntable.rhai";
};

/// The packages that run on the plaza.
///
/// # Errors
/// A mistake in one of the files that were built in; the tests of this crate find it first.
pub fn packages() -> Result<Vec<Package>, Mistake> {
    let parse = |(name, files): &(&str, &[(&str, &str)])| {
        let files: BTreeMap<&str, &str> = files.iter().copied().collect();
        parse_package(&format!("{FOLDER}/packages/{name}"), &files)
    };
    PACKAGES.iter().map(parse).collect()
}

/// The plaza as a place.
///
/// # Errors
/// A mistake in one of the files that were built in; the tests of this crate find it first.
pub fn place() -> Result<Place, Mistake> {
    Place::parse(&format!("{FOLDER}/plaza.toml"), PLACE, &packages()?)
}

/// The genesis of a plaza with these servers and permanent admins.
///
/// # Panics
/// Never: the files are part of the program, and the tests of this crate load them.
#[must_use]
pub fn genesis(
    validators: BTreeMap<PublicKey, NodeContact>,
    admins: BTreeSet<PublicKey>,
) -> Genesis {
    let place = place().expect("the plaza's files were built in and loaded by a test");
    place.genesis(validators, admins)
}
