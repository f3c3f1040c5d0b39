//! Example packages: scripts that are part of the program, to begin with and to learn from.

use std::collections::BTreeMap;

use metatopia_scripting::{ImportTree, Package};

use crate::{KnownPackages, read_package};

/// A package that is part of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExamplePackage {
    /// The name by which it is asked for, which is that of its manifest.
    pub name: &'static str,
    /// What it does, in one line.
    pub about: &'static str,
    /// The texts of its folder, by path.
    pub(crate) files: &'static [(&'static str, &'static str)],
}

macro_rules! examples {
    ($($name:literal, $about:literal;)*) => {
        [$(ExamplePackage {
            name: $name,
            about: $about,
            files: &[
                ("package.toml", include_str!(concat!("../packages/", $name, "/package.toml"))),
                (
                    concat!($name, ".rhai"),
                    include_str!(concat!("../packages/", $name, "/", $name, ".rhai")),
                ),
                ("tests.rhai", include_str!(concat!("../packages/", $name, "/tests.rhai"))),
            ],
        }),*]
    };
}

impl ExamplePackage {
    /// All examples, by name.
    pub const ALL: [Self; 17] = examples! {
        "arena", "a match of two teams, with walls that break";
        "bell", "rings when it is touched, and strikes the hours";
        "door", "slides open for whoever touches it, and closes again";
        "garden", "grows flowers while somebody waters it";
        "goal", "counts the balls that come into it";
        "greeter", "greets people by name, and answers a few questions";
        "guide", "welcomes newcomers, and answers what they want to know";
        "lift", "goes to and fro between stops, by touch or on call";
        "music-box", "plays songs, in notes and colours";
        "pad", "takes people to the next pad, once they agree";
        "race", "times laps past gates, and shows the best";
        "scores", "lists of best scores, for other packages to import";
        "shop", "sells lamps for tokens, by offers that people accept";
        "tag", "the game of tag, for whoever touches the post";
        "turntable", "turns for ever, and the other way when it is touched";
        "vending", "lets people choose a drink, and puts it beside it";
        "vote-box", "asks a question and counts who says yes or no";
    };

    /// Returns the example of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|example| example.name == name)
    }

    /// Returns the package.
    ///
    /// # Panics
    /// Never: the files are part of the program, and the tests of this crate load them.
    #[must_use]
    pub fn package(&self) -> Package {
        let files: BTreeMap<&str, &str> = self.files.iter().copied().collect();
        read_package(self.name, &files).expect("a package that was built in and loaded by a test")
    }

    /// Returns what the package imports, each behind what that one imports.
    ///
    /// # Panics
    /// Never: examples import examples, and the tests of this crate load them.
    #[must_use]
    pub fn imports(&self) -> Vec<Package> {
        let package = self.package();
        if package.manifest().imports.is_empty() {
            return Vec::new();
        }
        let all = Self::ALL.iter().map(Self::package);
        let known: KnownPackages = all.map(|package| (package.id(), package)).collect();
        let tree = ImportTree::find(&package.manifest().imports, &|id| known.get(id));
        tree.expect("examples that were built in").packages().cloned().collect()
    }
}
