//! What the program finds out about the world that a sim lies in: its map, and who owns a point of it.

use std::{pin::Pin, time::Duration};

use metatopia_client::{BlockList, BuddyList, OwnProfile};
use metatopia_client_driver::NodeUrl;
use metatopia_types::{Digest, PublicKey, SimId, Square, TilePoint};

use crate::LineKind;

/// A sim on the map. Its id, square and holder are proved; the rest is what its servers say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownSim {
    /// The id that its genesis must have.
    pub sim: SimId,
    /// The ground that it lies on.
    pub square: Square,
    /// Who may give the square away.
    pub holder: PublicKey,
    /// What the sim is called.
    pub name: Option<String>,
    /// How many people are there.
    pub people: Option<u32>,
    /// The licence of what is built there.
    pub licence: Option<String>,
    /// Whether the node that was asked hears of its servers.
    pub is_met: bool,
    /// Where its servers let people in.
    pub servers: Vec<NodeUrl>,
}

/// The map of a world, as far as a node has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownMap {
    /// What is granted.
    pub sims: Vec<KnownSim>,
    /// How old the oldest proof of it is; none of an empty map.
    pub age: Option<Duration>,
    /// All members that the node knows are in one network, so one liar may be all of them.
    pub one_door: bool,
}

/// Who owns a point of a world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownOwner {
    /// The sim that lies there; none where the point is nobody's.
    pub sim: Option<KnownSim>,
    /// What is known of the map that says so.
    pub map: MapFreshness,
}

/// The age after which a map is old: much may have been granted since.
pub const MAP_OLD: Duration = Duration::from_secs(24 * 3_600);

/// How far a map that is proved can be taken for the map of now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MapFreshness {
    /// How old the proof is.
    pub age: Duration,
    /// All members that the node knows are in one network, so one liar may be all of them.
    pub one_door: bool,
}

impl MapFreshness {
    /// Says whether the map is so old that it may have changed.
    #[must_use]
    pub fn is_old(&self) -> bool {
        self.age > MAP_OLD
    }

    /// Returns what a person is told of it, a sentence a line.
    #[must_use]
    pub fn lines(&self) -> Vec<(LineKind, String)> {
        let age = aged(self.age);
        let mut lines = vec![if self.is_old() {
            (LineKind::Warned, format!("The map is {age} old, so it may have changed."))
        } else {
            (LineKind::Answer, format!("The map is {age} old."))
        }];
        if self.one_door {
            lines.push((LineKind::Warned, ONE_DOOR.to_owned()));
        }
        lines
    }
}

/// What a person is told of a map that comes through one door.
pub const ONE_DOOR: &str = "Through one door: all members that the node knows are in one network, \
                            so one liar may be all of them.";

/// Returns an age in words, such as `40 s` or `25 hours`.
#[must_use]
pub fn aged(age: Duration) -> String {
    let seconds = age.as_secs();
    match (seconds / 60, seconds / 3_600) {
        (0..2, _) => format!("{seconds} s"),
        (minutes, 0..2) => format!("{minutes} min"),
        (_, hours @ 0..72) => format!("{hours} hours"),
        (_, hours) => format!("{} days", hours / 24),
    }
}

/// What comes when a node was asked and its proofs were checked. Errors are sentences for the person.
pub type FromWorld<'a, T> = Pin<Box<dyn Future<Output = Result<T, String>> + 'a>>;

/// Whoever asks nodes about a world for a text client, proves what they say, and remembers which house
/// rules a person agreed to, whose words she does not want to read, her buddies and what she says of herself.
pub trait WorldDesk {
    /// Asks a node for the map of this world, and proves it.
    fn map(&self, node: NodeUrl, world: SimId) -> FromWorld<'_, KnownMap>;

    /// Asks a node who owns a point of this world, and proves it.
    fn owner(&self, node: NodeUrl, world: SimId, point: TilePoint) -> FromWorld<'_, KnownOwner>;

    /// Says whether the person agreed to house rules of this digest.
    fn has_agreed(&self, rules: Digest) -> bool;

    /// Remembers that the person agrees to them.
    fn agree(&self, rules: Digest);

    /// Returns those whose words the person does not want to read.
    fn blocked(&self) -> BlockList;

    /// Remembers them.
    ///
    /// # Errors
    /// When they cannot be kept; the error is a sentence for the person, without its full stop.
    fn keep_blocked(&self, blocked: &BlockList) -> Result<(), String>;

    /// Returns those whom the person likes to find.
    fn buddies(&self) -> BuddyList;

    /// Remembers them.
    ///
    /// # Errors
    /// When they cannot be kept; the error is a sentence for the person, without its full stop.
    fn keep_buddies(&self, buddies: &BuddyList) -> Result<(), String>;

    /// Returns what the person says of herself.
    fn profile(&self) -> Option<OwnProfile>;

    /// Remembers it.
    ///
    /// # Errors
    /// When it cannot be kept; the error is a sentence for the person, without its full stop.
    fn keep_profile(&self, profile: &OwnProfile) -> Result<(), String>;

    /// Reads a picture from a file of this name.
    ///
    /// # Errors
    /// When it cannot be read; the error is a sentence for the person, without its full stop.
    fn read_picture(&self, file: &str) -> Result<Vec<u8>, String>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_is_told_in_the_unit_that_a_person_would_use() {
        let told = |seconds| aged(Duration::from_secs(seconds));
        let ages = [0, 119, 120, 7_199, 7_200, 25 * 3_600, 72 * 3_600 - 1, 72 * 3_600];
        let expected =
            ["0 s", "119 s", "2 min", "119 min", "2 hours", "25 hours", "71 hours", "3 days"];
        assert_eq!(ages.map(told), expected);
    }

    #[test]
    fn a_map_warns_once_it_is_older_than_a_day_or_comes_through_one_door() {
        let lines = |age, one_door| MapFreshness { age, one_door }.lines();
        let fresh = (LineKind::Answer, "The map is 24 hours old.".to_owned());
        assert_eq!(lines(MAP_OLD, false), std::slice::from_ref(&fresh));
        let old = lines(MAP_OLD + Duration::from_secs(3_600), false);
        let text = "The map is 25 hours old, so it may have changed.";
        assert_eq!(old, [(LineKind::Warned, text.to_owned())]);
        let door = (LineKind::Warned, ONE_DOOR.to_owned());
        assert_eq!(lines(MAP_OLD, true), [fresh, door]);
    }
}
