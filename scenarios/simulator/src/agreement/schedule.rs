//! Twins: two copies of one server with one key, and who reaches whom in which round, enumerated.
//!
//! Copies of an honest server that do not know of each other do what a liar would: vote twice,
//! propose twice, forget. Nobody has to think of the attacks.

use metatopia_types::{Height, Round};

/// Seats of a twin world: four names, and a second copy of one of them in the last seat.
pub const TWIN_SEATS: usize = 5;
/// Names of a twin world.
pub const TWIN_NAMES: usize = 4;
/// Rounds of each height that have a partition of their own.
const ROUNDS: usize = 3;
/// Heights under the schedule; later ones are whole.
const HEIGHTS: u64 = 2;
/// Two-way partitions of five seats: the last seat is always on side 0.
const PARTITIONS: u64 = 16;
/// Choices of leaders: every set of names but the empty one.
const LEADERS: u64 = 15;

/// Which name has two copies, who leads, and who reaches whom in which round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    /// The seat whose name the last seat shares.
    pub twin: usize,
    /// The seats that lead the first rounds.
    pub leaders: Vec<usize>,
    /// For each round, the side of every seat.
    partitions: [[bool; TWIN_SEATS]; ROUNDS],
}

impl Schedule {
    /// How many schedules there are.
    pub const COUNT: u64 = TWIN_NAMES as u64 * LEADERS * PARTITIONS * PARTITIONS * PARTITIONS;

    /// The `number`-th schedule, counted from 0. Neighbouring numbers differ in everything, so that
    /// a first part of all numbers is a fair sample.
    #[must_use]
    pub fn numbered(number: u64) -> Self {
        // A step that shares no factor with the count visits every schedule once.
        let mut rest = number % Self::COUNT * 100_003 % Self::COUNT;
        let mut take = |choices: u64| {
            let choice = rest % choices;
            rest /= choices;
            usize::try_from(choice).expect("few choices")
        };
        let twin = take(TWIN_NAMES as u64);
        let chosen = take(LEADERS) + 1;
        let leaders = (0..TWIN_NAMES).filter(|seat| chosen >> seat & 1 == 1).collect();
        let partitions = std::array::from_fn(|_| {
            let sides = take(PARTITIONS);
            std::array::from_fn(|seat| seat + 1 < TWIN_SEATS && sides >> seat & 1 == 1)
        });
        Self { twin, leaders, partitions }
    }

    /// Returns whether what a server says in this round reaches the other seat.
    #[must_use]
    pub fn connects(&self, height: Height, round: Option<Round>, from: usize, to: usize) -> bool {
        let round = round.and_then(|round| usize::try_from(round.0).ok());
        let sides = round.and_then(|round| self.partitions.get(round));
        match sides {
            Some(sides) if height.0 <= HEIGHTS => sides[from] == sides[to],
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Schedule, TWIN_SEATS};
    use std::collections::BTreeSet;

    #[test]
    fn numbers_enumerate_every_schedule_once() {
        let all: BTreeSet<String> =
            (0..Schedule::COUNT).map(|n| format!("{:?}", Schedule::numbered(n))).collect();

        assert_eq!(all.len() as u64, Schedule::COUNT);
        assert_eq!(Schedule::COUNT, 245_760);
    }

    #[test]
    fn a_sample_has_every_twin_every_leader_and_every_partition() {
        let sample: Vec<_> = (0..2_000).map(Schedule::numbered).collect();

        let twins: BTreeSet<_> = sample.iter().map(|s| s.twin).collect();
        let leaders: BTreeSet<_> = sample.iter().map(|s| s.leaders.clone()).collect();
        assert_eq!((twins.len(), leaders.len()), (4, 15));
        for round in 0..3 {
            let partitions: BTreeSet<_> = sample.iter().map(|s| s.partitions[round]).collect();
            assert_eq!(partitions.len(), 16, "round {round}");
        }
    }

    #[test]
    fn sides_do_not_reach_each_other() {
        let schedule = Schedule::numbered(7);
        let (height, round) = (metatopia_types::Height(1), Some(metatopia_types::Round(0)));
        for (from, to) in (0..TWIN_SEATS).flat_map(|a| (0..TWIN_SEATS).map(move |b| (a, b))) {
            let there = schedule.connects(height, round, from, to);
            assert_eq!(there, schedule.connects(height, round, to, from));
            assert!(schedule.connects(height.plus(2), round, from, to));
        }
    }
}
