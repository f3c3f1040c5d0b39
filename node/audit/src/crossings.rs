//! Both ends of what went over a border, as the logs of the two sims show them.
//!
//! A log proves what its own sim did: what departed, what it judged of the neighbour's departures, and which
//! states of the neighbour it heard. Whether these states are those that the neighbour's log leads to, and
//! whether everything that departed is in one place, only both logs together can tell.

mod compare;
mod hearing;
#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeMap, BTreeSet, btree_map::Entry},
    ops::{ControlFlow, Range},
};

use metatopia_sim::{Applied, Border, Stage, Watch, World};
use metatopia_types::{BorderDeparture, HeaderId, Height, Millis, SimId, TravelRefusal, Turn};

use self::hearing::HeardTurn;
pub use self::{
    compare::{BorderSide, CrossingFault, CrossingVerdict, DirectionCount, compare},
    hearing::{HeardBytes, HearingCost},
};
use crate::TurnObserver;

/// What a sim made of a departure of its own that is under way no longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DepartureEnd {
    /// The neighbour has it.
    Settled,
    /// It came home: the neighbour refused it, or was past the deadline.
    CameHome,
    /// It came home because the neighbour was given up.
    Severed,
}

/// A departure, as the log of its sim shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SeenDeparture {
    /// The departure itself.
    pub departure: BorderDeparture,
    /// How many bytes its parcel has.
    pub bytes: u64,
    /// What became of it; `None` while it is under way.
    pub end: Option<DepartureEnd>,
}

/// What the log of a sim shows of its border to one neighbour.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BorderEnd {
    /// Departures to the neighbour, by their numbers.
    pub departures: BTreeMap<u64, SeenDeparture>,
    /// The verdicts on departures of the neighbour, by their numbers: why each was refused, if it was.
    pub verdicts: BTreeMap<u64, Option<TravelRefusal>>,
    /// The headers of the neighbour that proved what was heard, by their heights.
    pub heard: BTreeMap<Height, HeaderId>,
    /// The numbers of departures since the last gap in the log: all of them were seen.
    pub departed: Option<Range<u64>>,
    /// The numbers of the neighbour's departures that were judged since then.
    pub judged: Option<Range<u64>>,
    /// Whether the neighbour signed two states of one height.
    pub frozen: bool,
    /// How old each border frame of the neighbour was when it came, in milliseconds, by the time at which it was made.
    pub frames: BTreeMap<Millis, u64>,
    /// How many bytes of the log hearing the neighbour takes.
    pub hearing: HearingCost,
}

/// What the logs of one sim show of its borders, by the neighbours.
pub type BorderEnds = BTreeMap<SimId, BorderEnd>;

/// Adds what the log of another server of the same sim shows.
pub fn join_ends(ends: &mut BorderEnds, others: BorderEnds) {
    for (neighbour, other) in others {
        match ends.entry(neighbour) {
            Entry::Vacant(free) => drop(free.insert(other)),
            Entry::Occupied(mut own) => own.get_mut().join(other),
        }
    }
}

/// Collects what happens at the borders of a sim while its log is verified.
#[derive(Debug, Default)]
pub struct CrossingObserver {
    ends: BorderEnds,
    /// The departures that are under way, by the neighbours: what ended long ago is not looked at again.
    under_way: BTreeMap<SimId, BTreeSet<u64>>,
    /// The frames that were known where the log begins, or goes on behind a gap: nobody knows when they came.
    known: Option<BTreeMap<SimId, Millis>>,
    turn: HeardTurn,
}

impl CrossingObserver {
    /// Returns what was seen.
    #[must_use]
    pub fn into_ends(self) -> BorderEnds {
        self.ends
    }
}

impl Watch for CrossingObserver {
    fn enter(&mut self, _: Stage) {}
}

impl TurnObserver for CrossingObserver {
    fn begins(&mut self, _: Height) -> ControlFlow<()> {
        self.ends.values_mut().for_each(BorderEnd::forget_open);
        self.under_way.clear();
        self.known = None;
        self.turn = HeardTurn::default();
        ControlFlow::Continue(())
    }

    fn comes(&mut self, turn: &Turn) {
        self.turn.begin(turn);
    }

    fn applied(&mut self, _: &Applied, world: &World) -> ControlFlow<()> {
        let made = |neighbour: &SimId| {
            Some(world.border(neighbour)?.crossing.heard.as_ref()?.said.frame.made)
        };
        let known = self.known.get_or_insert_with(|| {
            let all = world.borders();
            all.iter()
                .filter_map(|border| Some((border.neighbour, made(&border.neighbour)?)))
                .collect()
        });
        for summary in world.borders() {
            if let Some(border) = world.border(&summary.neighbour) {
                let under_way = self.under_way.entry(summary.neighbour).or_default();
                let end = self.ends.entry(summary.neighbour).or_default();
                end.see(border, world.parcels(summary.neighbour), under_way);
                end.see_frame(border, world.time(), known.get(&summary.neighbour));
                self.turn.add_to(&mut end.hearing, summary.neighbour, border);
            }
        }
        ControlFlow::Continue(())
    }
}

impl BorderEnd {
    /// Takes in the border as it is after a turn. What is under way takes several turns, because a header
    /// two turns later proves it to the neighbour: so each departure and each verdict is seen.
    /// The parcels are those of the departures that are under way, in the order of their numbers.
    fn see<'a>(
        &mut self,
        border: &Border,
        mut parcels: impl Iterator<Item = &'a [u8]>,
        under_way: &mut BTreeSet<u64>,
    ) {
        let (said, heard) = (&border.crossing.said, border.crossing.heard.as_ref());
        let verdicts = heard.map_or(&[][..], |heard| &heard.said.verdicts);
        under_way.retain(|number| {
            let is_listed = said.departures.iter().any(|listed| listed.number == *number);
            if let Some(seen) = self.departures.get_mut(number).filter(|_| !is_listed) {
                let verdict = verdicts.iter().find(|verdict| verdict.number == *number);
                let is_taken = verdict.is_some_and(|verdict| verdict.refused.is_none());
                seen.end = Some(match () {
                    () if said.came_home.contains(number) => DepartureEnd::Severed,
                    () if is_taken => DepartureEnd::Settled,
                    () => DepartureEnd::CameHome,
                });
            }
            is_listed
        });
        for departure in &said.departures {
            let bytes = parcels.next().map_or(0, |parcel| parcel.len() as u64);
            let seen = SeenDeparture { departure: *departure, bytes, end: None };
            self.departures.entry(departure.number).or_insert(seen);
            under_way.insert(departure.number);
        }
        self.frozen |= border.frozen;
        for verdict in &said.verdicts {
            self.verdicts.insert(verdict.number, verdict.refused);
        }
        self.heard.extend(heard.map(|heard| (heard.proved_at, heard.header)));
        cover(&mut self.departed, under_way.first().copied(), said.out_next);
        let lowest = said.verdicts.first().map(|verdict| verdict.number);
        cover(&mut self.judged, lowest, said.in_next);
    }

    /// Takes in the neighbour's newest frame, as old as it is after the turn that ended at this time, unless it was
    /// known before.
    fn see_frame(&mut self, border: &Border, time: Millis, known: Option<&Millis>) {
        let Some(heard) = &border.crossing.heard else { return };
        let frame = &heard.said.frame;
        if !frame.bodies.is_empty() && known != Some(&frame.made) {
            self.frames.entry(frame.made).or_insert_with(|| time.since(frame.made));
        }
    }

    /// Forgets what the turns of a gap may have ended.
    fn forget_open(&mut self) {
        self.departures.retain(|_, seen| seen.end.is_some());
        (self.departed, self.judged) = (None, None);
    }

    /// Adds what the log of another server of the same sim shows.
    fn join(&mut self, other: Self) {
        for (number, seen) in other.departures {
            let own = self.departures.entry(number).or_insert(seen);
            own.end = own.end.or(seen.end);
        }
        self.frozen |= other.frozen;
        self.hearing = self.hearing.join(other.hearing);
        // The servers of a sim hear a frame in the same turn. A log that begins later sees it older than it was.
        for (made, age) in other.frames {
            self.frames.entry(made).and_modify(|own| *own = age.min(*own)).or_insert(age);
        }
        self.verdicts.extend(other.verdicts);
        self.heard.extend(other.heard);
        self.departed = joined(self.departed.take(), other.departed);
        self.judged = joined(self.judged.take(), other.judged);
    }
}

/// Widens the covered numbers up to `next`. A range that begins does so with the lowest number that is listed.
fn cover(range: &mut Option<Range<u64>>, lowest: Option<u64>, next: u64) {
    range.get_or_insert(lowest.unwrap_or(next)..next).end = next;
}

/// Returns the numbers that either log covers; of two ranges that do not touch, the later one.
fn joined(one: Option<Range<u64>>, other: Option<Range<u64>>) -> Option<Range<u64>> {
    let (Some(one), Some(other)) = (one.clone(), other.clone()) else { return one.or(other) };
    let (early, late) = if one.end <= other.end { (one, other) } else { (other, one) };
    let touch = early.end >= late.start;
    Some(if touch { early.start.min(late.start)..late.end } else { late })
}
