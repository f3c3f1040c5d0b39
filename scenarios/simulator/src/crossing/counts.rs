//! What a crossing counts: who and what crossed, what was refused, and what came home.

use std::collections::BTreeMap;
use std::time::Duration;

/// How often each thing happened, by its name.
pub type NamedCounts = BTreeMap<&'static str, u64>;

/// What a run counted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CrossingCounts {
    /// Parcels with a person that were taken.
    pub people: u64,
    /// Parcels with a thing alone that were taken.
    pub things: u64,
    /// Things that came along in somebody's hands.
    pub carried: u64,
    /// Things that their owners put into luggage.
    pub stowed: u64,
    /// Parcels that the receiver refused, by its reasons.
    pub refused: NamedCounts,
    /// Parcels that came home, by what brought them home: see [`HOMECOMINGS`].
    pub came_home: NamedCounts,
    /// Crashes that were planned for a step of a crossing, by the step and the side.
    pub ambushes: NamedCounts,
    /// How often a sim gave the other up.
    pub severings: u64,
    /// Parcels that came home by that, though the other sim had taken them.
    pub given_back: u64,
    /// Changes of the members of either sim.
    pub set_changes: u64,
    /// Crossings amid which members changed: between which steps, and at which side.
    pub changes_amid: NamedCounts,
    /// Arrivals that were held at the line because their sender had not settled them.
    pub pinned_waits: u64,
    /// Turns of the receiver from each departure to its arrival.
    pub turns: Vec<u64>,
    /// Turns of the receiver from the border frame of a state to the ghosts that it moves.
    pub ghost_turns: Vec<u64>,
    /// The longest time from a departure to its end.
    pub longest: Duration,
    /// Pairs of states that were looked at.
    pub looks: u64,
}

impl CrossingCounts {
    /// Returns how many parcels were taken.
    #[must_use]
    pub const fn taken(&self) -> u64 {
        self.people + self.things
    }

    /// Adds what another run counted.
    pub fn add(&mut self, other: &Self) {
        self.people += other.people;
        self.things += other.things;
        self.carried += other.carried;
        self.stowed += other.stowed;
        add_named(&mut self.refused, &other.refused);
        add_named(&mut self.came_home, &other.came_home);
        add_named(&mut self.ambushes, &other.ambushes);
        self.severings += other.severings;
        self.given_back += other.given_back;
        self.set_changes += other.set_changes;
        add_named(&mut self.changes_amid, &other.changes_amid);
        self.pinned_waits += other.pinned_waits;
        self.turns.extend(&other.turns);
        self.ghost_turns.extend(&other.ghost_turns);
        self.longest = self.longest.max(other.longest);
        self.looks += other.looks;
    }

    /// Returns the turns that so many of a hundred arrivals needed at most; none if nobody arrived.
    #[must_use]
    pub fn percentile(&self, percent: usize) -> Option<u64> {
        part_of(&self.turns, percent)
    }

    /// Returns the turns that so many of a hundred border frames needed at most; none if none was heard.
    #[must_use]
    pub fn ghost_percentile(&self, percent: usize) -> Option<u64> {
        part_of(&self.ghost_turns, percent)
    }
}

/// What brings a parcel home: the receiver refused it, it refused it because it heard of it too late, it is past the
/// deadline without a verdict, or it was given up.
pub const HOMECOMINGS: [&str; 4] = ["refused", "late", "no verdict", "severed"];

/// The steps of a crossing after which servers die, with the side at which they do.
pub const CRASH_STEPS: [&str; 10] = [
    "departure, at the sender",
    "departure, at the receiver",
    "arrival, at the sender",
    "arrival, at the receiver",
    "refusal, at the sender",
    "refusal, at the receiver",
    "settlement, at the sender",
    "settlement, at the receiver",
    "homecoming, at the sender",
    "homecoming, at the receiver",
];

/// The steps of a crossing between which members change, with the side at which they do.
pub const CHANGE_STEPS: [&str; 4] = [
    "departure to verdict, at the sender",
    "departure to verdict, at the receiver",
    "verdict to end, at the sender",
    "verdict to end, at the receiver",
];

/// Counts something once more.
pub(super) fn note(counts: &mut NamedCounts, name: &'static str) {
    *counts.entry(name).or_default() += 1;
}

/// Adds what was counted elsewhere, name by name.
pub(super) fn add_named(counts: &mut NamedCounts, others: &NamedCounts) {
    for (name, times) in others {
        *counts.entry(name).or_default() += times;
    }
}

/// Returns the number that so many of a hundred are no greater than.
fn part_of(turns: &[u64], percent: usize) -> Option<u64> {
    let mut turns = turns.to_vec();
    turns.sort_unstable();
    let place = (turns.len() * percent).div_ceil(100).max(1) - 1;
    turns.get(place).copied()
}

#[cfg(test)]
mod tests {
    use super::CrossingCounts;

    #[test]
    fn so_many_of_a_hundred_arrivals_need_no_more_turns() {
        let turns = (1..=200).rev().collect();
        let counts = CrossingCounts { turns, ..CrossingCounts::default() };
        assert_eq!(
            [50, 99, 100].map(|percent| counts.percentile(percent)),
            [Some(100), Some(198), Some(200)]
        );
        assert_eq!(CrossingCounts::default().percentile(50), None);
    }

    #[test]
    fn what_two_runs_counted_is_added_name_by_name() {
        let refused = |names: &[&'static str]| CrossingCounts {
            refused: names.iter().map(|name| (*name, 2)).collect(),
            ..CrossingCounts::default()
        };
        let mut all = refused(&["share full", "here"]);
        all.add(&refused(&["here", "closed"]));
        let expected = [("closed", 2), ("here", 4), ("share full", 2)];
        assert_eq!(all.refused, expected.into_iter().collect());
    }
}
