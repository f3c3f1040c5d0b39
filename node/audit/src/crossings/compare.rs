//! Holds the two ends of a border against each other.

use std::{collections::BTreeMap, fmt};

use metatopia_types::{HeaderId, Height, SimId};
use serde::{Serialize, Serializer};

use super::{BorderEnd, DepartureEnd, HeardBytes, HearingCost};

/// Why two logs, each in order, cannot both be of what happened at a border.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CrossingFault {
    /// A sim heard a state of the neighbour that is not in the neighbour's log.
    #[error(
        "sim {by} heard of sim {of} what its log does not have: another turn of height {height}"
    )]
    OtherHistory {
        /// Who heard it.
        by: SimId,
        /// The sim that has this state.
        of: SimId,
        /// The height of the header that proved it.
        height: u64,
    },
    /// A sim heard two certified states of one height of the neighbour.
    #[error(
        "sim {by} heard two states of one height that sim {of} signed: its border is closed for good"
    )]
    Forked {
        /// Who heard them.
        by: SimId,
        /// Who signed both.
        of: SimId,
    },
    /// A sim judged a departure that the neighbour's log does not have.
    #[error("sim {to} judged departure {number} of sim {from}, which never left there")]
    NeverLeft {
        /// Where it is said to come from.
        from: SimId,
        /// Who judged it.
        to: SimId,
        /// The number of the departure.
        number: u64,
    },
    /// What departed is in both sims.
    #[error(
        "departure {number} of sim {from} came home, and sim {to} took it: it is in two places"
    )]
    Doubled {
        /// Where it comes from.
        from: SimId,
        /// Who took it.
        to: SimId,
        /// The number of the departure.
        number: u64,
    },
    /// What departed is in neither sim.
    #[error(
        "departure {number} of sim {from} did not come home, and sim {to} has not taken it: it is lost"
    )]
    Lost {
        /// Where it comes from.
        from: SimId,
        /// Who did not take it.
        to: SimId,
        /// The number of the departure.
        number: u64,
    },
}

/// What became of the departures in one direction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct DirectionCount {
    /// Departures that the log of their sim shows.
    pub departed: u64,
    /// Departures of these that the neighbour took, by both logs.
    pub taken: u64,
    /// Departures that came home, by both logs.
    pub came_home: u64,
    /// Departures that came home when the neighbour was given up; it gives back what it had taken of them.
    pub severed: u64,
    /// Departures that were under way at the end of the log.
    pub under_way: u64,
    /// Departures that ended by the log of their sim, and that the log of the neighbour does not reach.
    pub one_sided: u64,
    /// States of the neighbour that were heard, and that its log has.
    pub heard: u64,
    /// States of the neighbour that were heard, and that its log does not reach.
    pub heard_one_sided: u64,
}

/// What two sims did at their border, by the logs of both.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CrossingVerdict {
    /// The two sims.
    pub border: [String; 2],
    /// What departed from the first to the second, and what the first heard.
    pub there: DirectionCount,
    /// What departed from the second to the first, and what the second heard.
    pub back: DirectionCount,
    /// How many bytes the parcels of all departures had, ascending; in JSON the median and the largest.
    #[serde(rename = "parcel_bytes", serialize_with = "sizes")]
    pub parcels: Vec<u64>,
    /// How old border frames were when the other sim had them, in milliseconds, ascending; in JSON their median and the
    /// one that 95 of 100 are no older than.
    #[serde(rename = "ghost_lag_ms", serialize_with = "lags")]
    pub frame_ages: Vec<u64>,
    /// How many bytes of its log each of the two takes to hear the other; in JSON bytes a second.
    #[serde(rename = "heard_bytes_a_second")]
    pub hearing: [HearingCost; 2],
}

impl CrossingVerdict {
    /// Returns the milliseconds by which ghosts lag behind the bodies that they are of: so many of a hundred frames are
    /// no older. There are none if no frame moved a ghost.
    #[must_use]
    pub fn ghost_lag(&self, percent: usize) -> Option<u64> {
        share(&self.frame_ages, percent)
    }

    /// Returns the bytes that so many of a hundred parcels do not exceed. There are none if nothing departed.
    #[must_use]
    pub fn parcel_bytes(&self, percent: usize) -> Option<u64> {
        share(&self.parcels, percent)
    }
}

/// Returns the number that so many of a hundred do not exceed, of numbers in order.
fn share(ascending: &[u64], percent: usize) -> Option<u64> {
    let place = (ascending.len() * percent).div_ceil(100).max(1) - 1;
    ascending.get(place).copied()
}

/// Writes the median and the 95th percentile of ages.
fn lags<S: Serializer>(ages: &[u64], serializer: S) -> Result<S::Ok, S::Error> {
    [50, 95].map(|percent| share(ages, percent)).serialize(serializer)
}

/// Writes the median and the largest of sizes.
fn sizes<S: Serializer>(sizes: &[u64], serializer: S) -> Result<S::Ok, S::Error> {
    [50, 100].map(|percent| share(sizes, percent)).serialize(serializer)
}

/// One of two sims at a border.
#[derive(Debug, Clone, Copy)]
pub struct BorderSide<'a> {
    /// The sim on this side.
    pub sim: SimId,
    /// What its logs show of the border.
    pub end: &'a BorderEnd,
    /// The turns in its logs.
    pub turns: &'a BTreeMap<Height, HeaderId>,
}

/// Compares what the logs of two sims show of their border.
///
/// # Errors
/// The first thing that cannot be true of both.
pub fn compare(
    one: BorderSide<'_>,
    other: BorderSide<'_>,
) -> Result<CrossingVerdict, CrossingFault> {
    let border = [one.sim.to_string(), other.sim.to_string()];
    let frames = [one, other].into_iter().flat_map(|side| side.end.frames.values());
    let mut frame_ages: Vec<u64> = frames.copied().collect();
    frame_ages.sort_unstable();
    let departures = [one, other].into_iter().flat_map(|side| side.end.departures.values());
    let mut parcels: Vec<u64> = departures.map(|seen| seen.bytes).collect();
    parcels.sort_unstable();
    let (there, back) = (direction(one, other)?, direction(other, one)?);
    let hearing = [one.end.hearing, other.end.hearing];
    Ok(CrossingVerdict { border, there, back, parcels, frame_ages, hearing })
}

/// Compares what departed from one sim to the other, and what the first heard of the second.
fn direction(from: BorderSide<'_>, to: BorderSide<'_>) -> Result<DirectionCount, CrossingFault> {
    let mut count = DirectionCount::default();
    for (height, header) in &from.end.heard {
        match to.turns.get(height) {
            Some(turn) if turn == header => count.heard += 1,
            None => count.heard_one_sided += 1,
            Some(_) => {
                let (by, of, height) = (from.sim, to.sim, height.0);
                return Err(CrossingFault::OtherHistory { by, of, height });
            }
        }
    }
    if from.end.frozen {
        return Err(CrossingFault::Forked { by: from.sim, of: to.sim });
    }
    // What came home by its deadline has no verdict. The log of the neighbour reaches it with the state that
    // was heard last.
    let last = from.end.heard.last_key_value();
    let reaches = last.is_none_or(|(height, _)| to.turns.contains_key(height));
    let follows = |number| to.end.judged.as_ref().is_some_and(|judged| judged.start <= number);
    for (number, seen) in &from.end.departures {
        let (from, number) = (from.sim, *number);
        let is_judged = to.end.judged.as_ref().is_some_and(|judged| judged.contains(&number));
        let verdict = to.end.verdicts.get(&number);
        let is_taken = verdict.is_some_and(Option::is_none);
        count.departed += 1;
        *match seen.end {
            None => &mut count.under_way,
            Some(DepartureEnd::Severed) => &mut count.severed,
            Some(DepartureEnd::Settled) if is_taken => &mut count.taken,
            Some(DepartureEnd::Settled) if is_judged || verdict.is_some() => {
                return Err(CrossingFault::Lost { from, to: to.sim, number });
            }
            Some(DepartureEnd::CameHome) if is_taken => {
                return Err(CrossingFault::Doubled { from, to: to.sim, number });
            }
            Some(DepartureEnd::CameHome) if verdict.is_some() || (reaches && follows(number)) => {
                &mut count.came_home
            }
            Some(DepartureEnd::Settled | DepartureEnd::CameHome) => &mut count.one_sided,
        } += 1;
    }
    let covered =
        |number: &&u64| from.end.departed.as_ref().is_some_and(|all| all.contains(*number));
    let known = |number: &u64| from.end.departures.contains_key(number);
    match to.end.verdicts.keys().filter(covered).find(|number| !known(number)) {
        None => Ok(count),
        Some(number) => {
            Err(CrossingFault::NeverLeft { from: from.sim, to: to.sim, number: *number })
        }
    }
}

impl fmt::Display for CrossingVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [one, other] = &self.border;
        write!(f, "border of {one} and {other}: both ends agree")?;
        for (from, count) in [(one, &self.there), (other, &self.back)] {
            let DirectionCount { departed, taken, came_home, heard, .. } = count;
            write!(
                f,
                "\n  from {from}: {departed} departed, {taken} taken, {came_home} came home"
            )?;
            let others = [
                (count.severed, "came home from a neighbour that was given up"),
                (count.under_way, "under way"),
                (count.one_sided, "in one log alone"),
            ];
            for (number, what) in others.into_iter().filter(|(number, _)| *number > 0) {
                write!(f, ", {number} {what}")?;
            }
            write!(f, "; it heard {heard} states that the other log has")?;
            if count.heard_one_sided > 0 {
                write!(f, ", and {} that it does not reach", count.heard_one_sided)?;
            }
        }
        let [median, largest] = [50, 100].map(|percent| self.parcel_bytes(percent));
        if let (Some(median), Some(largest)) = (median, largest) {
            write!(f, "\n  parcels have {median} / {largest} bytes (median, largest)")?;
        }
        let [median, p95] = [50, 95].map(|percent| self.ghost_lag(percent));
        if let (Some(median), Some(p95)) = (median, p95) {
            write!(f, "\n  ghosts lag by {median} / {p95} ms (median, p95)")?;
        }
        for (sim, cost) in self.border.iter().zip(&self.hearing) {
            let of = |part: HeardBytes, when: &str| {
                part.per_second().map(|bytes| format!("{bytes} bytes of log a second {when}"))
            };
            let parts = [of(cost.quiet, "with nobody near"), of(cost.busy, "with somebody near")];
            let parts: Vec<String> = parts.into_iter().flatten().collect();
            if !parts.is_empty() {
                write!(f, "\n  to hear the other takes {sim} {}", parts.join(", "))?;
            }
        }
        Ok(())
    }
}
