//! Templates: places that are part of the program, to begin with and to learn from.

use std::collections::BTreeMap;

use crate::{
    ExamplePackage, Mistake, Place, folder::PACKAGES_FOLDER, parse_folder, place::PLACE_FILE,
};

/// A place that is part of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlaceTemplate {
    /// The name by which it is asked for.
    pub name: &'static str,
    /// What it is, in one line.
    pub about: &'static str,
    /// The text of its `place.toml`.
    place: &'static str,
    /// The names of the packages that it brings.
    packages: &'static [&'static str],
}

macro_rules! templates {
    ($($name:literal, $about:literal, [$($package:literal),*];)*) => {
        [$(PlaceTemplate {
            name: $name,
            about: $about,
            place: include_str!(concat!("../templates/", $name, ".toml")),
            packages: &[$($package),*],
        }),*]
    };
}

impl PlaceTemplate {
    /// All templates; the first is that of a sim that is started without a place.
    pub const ALL: [Self; 7] = templates! {
        "plaza", "a walled square with crates, a bell, a door, and a greeter",
            ["bell", "door", "greeter", "turntable"];
        "meadow", "open ground with trees, stones and a pond, where everybody builds",
            ["garden", "greeter", "vote-box"];
        "workshop", "benches, stacks of parts, and generous rules for builders",
            ["bell", "music-box", "turntable", "vending"];
        "house", "four rooms around a hall, with doors between them", ["bell", "door"];
        "arena", "a walled field with two goals, a ball, a match and a race",
            ["arena", "bell", "goal", "race", "scores", "turntable"];
        "playground", "a seesaw, a chain bridge, dominoes and a ragdoll, seen from the side", [];
        "empty", "nothing but ground", [];
    };

    /// Returns the template of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|template| template.name == name)
    }

    /// Returns the texts of its folder, by path, as an author begins with them.
    #[must_use]
    pub fn files(&self) -> BTreeMap<String, String> {
        let mut files = BTreeMap::from([(PLACE_FILE.to_owned(), self.place.to_owned())]);
        let brought = |example: &ExamplePackage| self.packages.contains(&example.name);
        for example in ExamplePackage::ALL.into_iter().filter(brought) {
            for (file, text) in example.files {
                let path = format!("{PACKAGES_FOLDER}/{}/{file}", example.name);
                files.insert(path, (*text).to_owned());
            }
        }
        files
    }

    /// Returns the texts of its folder for a place of this name.
    #[must_use]
    pub fn files_named(&self, name: &str) -> BTreeMap<String, String> {
        let mut files = self.files();
        let (own, other) = (format!("name = {:?}\n", self.name), toml::Value::String(name.into()));
        let renamed = self.place.replacen(&own, &format!("name = {other}\n"), 1);
        files.insert(PLACE_FILE.to_owned(), renamed);
        files
    }

    /// Reads it as a place.
    ///
    /// # Errors
    /// The mistakes in the files that were built in; the tests of this crate find them first.
    pub fn place(&self) -> Result<Place, Vec<Mistake>> {
        parse_folder(self.name, &self.files())
    }
}
