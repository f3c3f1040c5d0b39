//! Saves that are held back, because many things would go by them.

use metatopia_scenarios::{PLACE_FILE, Place};

use crate::cli::script::lines::shown;

/// The most things that go by a save without a question. An editor that wrote half a file, or another branch that was
/// checked out, takes more away.
const FEW_THINGS: usize = 8;

/// The things that are named of those that would go.
const NAMED: usize = 3;

/// The things that would go by a save.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct LostThings {
    /// Their names, in the order of the file.
    pub(super) names: Vec<String>,
    /// How many things of the folder the sim has, these among them.
    pub(super) of: usize,
}

impl LostThings {
    /// Says whether these are so many that the author is asked: more than a few, and more than a half.
    const fn is_many(&self) -> bool {
        self.names.len() > FEW_THINGS && 2 * self.names.len() > self.of
    }

    fn question(&self) -> String {
        let few: Vec<String> = self.names.iter().take(NAMED).map(|name| shown(name)).collect();
        format!(
            "warning: this save is held back: it would delete {} of {} things, among them {}; to go on, save \
             {PLACE_FILE} once more without a change, else put them back",
            self.names.len(),
            self.of,
            few.join(", ")
        )
    }
}

/// The save that is held back, if there is one.
#[derive(Debug, Default)]
pub(super) struct HeldSave(Option<Place>);

impl HeldSave {
    /// Returns the question to the author, if a save is to be held back. A save of `place.toml` by which the folder
    /// stays the same is the answer that lets it through.
    pub(super) fn question(
        &mut self,
        place: &Place,
        lost: &LostThings,
        is_file_saved: bool,
    ) -> Option<String> {
        let is_same = self.0.as_ref() == Some(place);
        if !lost.is_many() || (is_same && is_file_saved) {
            self.0 = None;
            return None;
        }
        self.0 = Some(place.clone());
        Some(lost.question())
    }
}
