//! Places as data: what a sim begins with, written in TOML, and the scripts that ship with it.
//!
//! A place is a folder of texts: `place.toml` describes the ground and what stands on it, and each
//! package of scripts has a folder of its own ([`parse_folder`]). This crate reads no disk: it is handed
//! the texts, and those of the [templates](PlaceTemplate) are part of the program. A mistake in a file is
//! reported with its line and column. [`Place::of_world`] goes the other way: it describes a running sim, and
//! [`Place::files`] writes the description. [`SameThings`] and [`ThingDifference`] compare two readings of a place.
//! It cannot change a running sim; it only makes a [`Genesis`](metatopia_sim::Genesis).
//!
//! [`rehearse`] runs the tests of a package, which are scripts themselves, in a small sim.
//!
//! The [`golden`] log is a recorded afternoon on the plaza, with the roots that every build, on
//! every machine, must come to.
//!
//! ```
//! use std::{collections::{BTreeMap, BTreeSet}, sync::Arc};
//!
//! use metatopia_scenarios::plaza;
//! use metatopia_sim::{Tools, World};
//! use metatopia_types::{NodeContact, Ed25519, Sign, SigningKey};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let server = SigningKey::from_seed([1; 32]).public();
//! let validators = BTreeMap::from([(server, NodeContact::default())]);
//! let genesis = plaza::genesis(validators, BTreeSet::new());
//! let world = World::genesis(&genesis, &Tools::new(Arc::new(Ed25519)))?;
//! assert_eq!(world.objects().filter(|object| object.kind == "crate").count(), 24);
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

mod examples;
mod folder;
pub mod golden;
mod mistake;
mod number;
mod package;
mod place;
pub mod plaza;
mod rehearsal;
mod template;

pub use examples::ExamplePackage;
pub use folder::{PACKAGES_FOLDER, parse_folder};
pub use metatopia_scripting::PACKAGE_FILE;
pub use mistake::{Mistake, TomlSource, text_of_file};
pub use package::{
    KnownPackages, imported_ids, licence_words, package_files, parse_package, parse_package_all,
    read_package, source_mistakes,
};
pub use place::{
    JOINT_KEY, PICTURE_FILES, PLACE_FILE, Place, SameThings, ThingDifference, ThingEdit, as_built,
};
pub use rehearsal::{
    REHEARSAL_ASKS_MAX, REHEARSAL_SECONDS_MAX, RehearsedTest, TESTS_FILE, rehearse,
};
pub use template::PlaceTemplate;
