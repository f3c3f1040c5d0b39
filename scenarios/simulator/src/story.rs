//! Stories as data: a file says who is there, what goes wrong and what should come of it, and whole
//! servers play it in the simulated world.
//!
//! [`Story::parse`] reads a file, strictly: whatever it does not know is a mistake with its line.
//! [`Story::play`] plays it with a seed, and [`Story::judge`] holds its [`StoryEnding`] against what the
//! file expects. `docs/stories.md` describes the format, `scenarios/stories` holds some.

mod check;
mod ending;
mod expect;
mod faults;
mod file;
pub mod limits;
mod play;
mod reasons;
mod step;
mod times;
mod units;

use std::collections::BTreeMap;
use std::time::Duration;

use metatopia_scenarios::{Mistake, Place};

pub use ending::{Group, StoryEnding};
pub use expect::{Expectation, Unmet};
pub use units::span;

use crate::conditions::Conditions;
use crate::replica::{Flip, Trap};
use step::{StoryStep, StrangerAction, Visitor};

/// A story, ready to be played. Playing it changes nothing: the same seed is the same history.
#[derive(Debug, Clone)]
pub struct Story {
    /// What it is called, in one line.
    pub title: String,
    /// What it is about.
    pub about: String,
    /// Its own seed, for who names no other.
    pub seed: u64,
    /// How long it lasts until the faults stop, in the world's time.
    pub length: Duration,
    /// What it expects.
    pub expectations: Vec<Expectation>,
    goes_on: bool,
    patience: Duration,
    place: Place,
    signatures: file::Signatures,
    founders: usize,
    /// Seats after the founders, empty to begin with.
    reserve: usize,
    snapshot_turns: Option<u64>,
    conditions: Conditions,
    people: Vec<Visitor>,
    strangers: Vec<StrangerAction>,
    /// In the order in which they happen.
    steps: Vec<(Duration, StoryStep)>,
    flips: Vec<Flip>,
    trap: Option<Trap>,
}

/// Where the files are that a story names. Paths are as the story has them.
pub trait StoryFileSource {
    /// The text of a file.
    ///
    /// # Errors
    /// Why it cannot be had.
    fn text(&self, path: &str) -> Result<String, String>;

    /// The texts of all files of a folder, by name.
    ///
    /// # Errors
    /// Why they cannot be had.
    fn folder(&self, path: &str) -> Result<BTreeMap<String, String>, String>;
}

/// A shelf with nothing on it, for stories that name no other files.
#[derive(Debug, Clone, Copy, Default)]
pub struct EmptyShelf;

impl StoryFileSource for EmptyShelf {
    fn text(&self, path: &str) -> Result<String, String> {
        Err(format!("{path} cannot be read from here"))
    }

    fn folder(&self, path: &str) -> Result<BTreeMap<String, String>, String> {
        Err(format!("{path} cannot be read from here"))
    }
}

impl Story {
    /// Reads a story. `file` is how messages name it.
    ///
    /// # Errors
    /// The first mistake, with line and column.
    pub fn parse(file: &str, text: &str, shelf: &dyn StoryFileSource) -> Result<Self, Mistake> {
        check::story(file, text, shelf)
    }

    /// Returns what did not come true.
    #[must_use]
    pub fn judge(&self, ending: &StoryEnding) -> Vec<Unmet> {
        self.expectations.iter().filter_map(|expectation| expectation.judge(ending)).collect()
    }

    /// Returns how many servers vote at the beginning.
    #[must_use]
    pub const fn servers(&self) -> usize {
        self.founders
    }

    /// Returns how many people come.
    #[must_use]
    pub const fn people(&self) -> usize {
        self.people.len()
    }

    /// Returns how many things happen by plan: acts, faults and strangers, each time counted.
    #[must_use]
    pub const fn steps(&self) -> usize {
        self.steps.len()
    }
}
