//! How many bytes the log of a sim grows by what it hears of a neighbour.

use std::collections::BTreeMap;

use metatopia_sim::Border;
use metatopia_types::{Act, Blob, Millis, SimId, Turn, wire};
use serde::{Serialize, Serializer, ser::SerializeStruct as _};

/// Milliseconds until a border is quiet after the last person went: her pass is said so long.
const STIRRED: u64 = 10_000;

/// A part of the time that a log spans, and the bytes of it that say what was heard of a neighbour.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HeardBytes {
    /// Milliseconds of the sim's own time.
    pub time: u64,
    /// Bytes of acts and their blobs.
    pub bytes: u64,
}

impl HeardBytes {
    /// Returns bytes a second; `None` of less than a second.
    #[must_use]
    pub fn per_second(&self) -> Option<u64> {
        (self.time >= 1_000).then(|| self.bytes.saturating_mul(1_000) / self.time)
    }

    /// Returns the one of two that spans more time: servers of a sim hear the same.
    const fn longer(self, other: Self) -> Self {
        if other.time > self.time { other } else { self }
    }
}

/// What hearing a neighbour takes, apart by whether anybody is at the border.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HearingCost {
    /// While nobody of either sim had been near the line for ten seconds, and nothing was under way.
    pub quiet: HeardBytes,
    /// While somebody was near, or something under way. What is neither is not counted.
    pub busy: HeardBytes,
    /// When somebody was near, or something under way.
    pub(super) stirred: Option<Millis>,
}

impl HearingCost {
    /// Adds a turn of this time after which the border is like this. What it takes until the two have heard
    /// of each other is not counted.
    pub(super) fn add(&mut self, border: &Border, now: Millis, turn: HeardBytes) {
        let Some(heard) = &border.crossing.heard else { return };
        let mut both = [&border.crossing.said, &heard.said].into_iter();
        let part = if both.any(|said| !said.near.is_empty() || !said.departures.is_empty()) {
            self.stirred = Some(now);
            &mut self.busy
        } else if self.stirred.is_some_and(|stirred| now.since(stirred) <= STIRRED) {
            return;
        } else {
            &mut self.quiet
        };
        part.time = part.time.saturating_add(turn.time);
        part.bytes = part.bytes.saturating_add(turn.bytes);
    }

    pub(super) const fn join(self, other: Self) -> Self {
        let (quiet, busy) = (self.quiet.longer(other.quiet), self.busy.longer(other.busy));
        Self { quiet, busy, stirred: self.stirred }
    }
}

/// Writes bytes a second.
impl Serialize for HearingCost {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("hearing", 2)?;
        object.serialize_field("quiet", &self.quiet.per_second())?;
        object.serialize_field("busy", &self.busy.per_second())?;
        object.end()
    }
}

/// What one turn says of neighbours, and when it was.
#[derive(Debug, Default)]
pub(super) struct HeardTurn {
    bytes: BTreeMap<SimId, u64>,
    /// The time of the turn, and of the one before it, unless that is in a gap.
    time: Option<Millis>,
    before: Option<Millis>,
}

impl HeardTurn {
    pub(super) fn begin(&mut self, turn: &Turn) {
        self.bytes.clear();
        self.before = self.time.replace(turn.header.time);
        for act in turn.body.acts() {
            let Act::Hear { neighbour, dispatch } = &act.envelope.act else { continue };
            let blob = turn.body.blobs().iter().find(|blob| Blob::id(blob) == *dispatch);
            let bytes = wire::encode(act).len() + blob.map_or(0, |blob| blob.0.len());
            *self.bytes.entry(*neighbour).or_default() += bytes as u64;
        }
    }

    /// Returns the time since the turn before, and what the turn says of this neighbour.
    pub(super) fn of(&self, neighbour: &SimId) -> HeardBytes {
        let time = self.time.zip(self.before).map_or(0, |(time, before)| time.since(before));
        HeardBytes { time, bytes: self.bytes.get(neighbour).copied().unwrap_or_default() }
    }
}
