//! How many bytes the log of a sim grows by what it hears of a neighbour.

use std::collections::BTreeMap;

use metatopia_sim::{Border, limits::PASS_MS};
use metatopia_types::{Act, Blob, Millis, SimId, Turn, wire};
use serde::{Serialize, Serializer, ser::SerializeStruct as _};

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
}

impl HearingCost {
    pub(super) const fn join(self, other: Self) -> Self {
        Self { quiet: self.quiet.longer(other.quiet), busy: self.busy.longer(other.busy) }
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

/// The turn that is applied, and what it says of neighbours.
#[derive(Debug, Default)]
pub(super) struct HeardTurn {
    bytes: BTreeMap<SimId, u64>,
    /// The time of the turn, and of the one before it, unless that is in a gap.
    time: Option<Millis>,
    before: Option<Millis>,
    /// When somebody was near each border, or something under way over it.
    stirred: BTreeMap<SimId, Millis>,
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

    /// Adds the turn to what hearing this neighbour takes. The border is as it is after the turn. What it takes until
    /// the two have heard of each other is not counted.
    pub(super) fn add_to(&mut self, cost: &mut HearingCost, neighbour: SimId, border: &Border) {
        let Some(((time, before), heard)) =
            self.time.zip(self.before).zip(border.crossing.heard.as_ref())
        else {
            return;
        };
        let mut both = [&border.crossing.said, &heard.said].into_iter();
        let part = if both.any(|said| !said.near.is_empty() || !said.departures.is_empty()) {
            self.stirred.insert(neighbour, time);
            &mut cost.busy
        } else {
            // The pass of who was here is said for a while yet.
            let stirred = self.stirred.get(&neighbour);
            if stirred.is_some_and(|stirred| time.since(*stirred) <= PASS_MS) {
                return;
            }
            &mut cost.quiet
        };
        part.time = part.time.saturating_add(time.since(before));
        let bytes = self.bytes.get(&neighbour).copied().unwrap_or_default();
        part.bytes = part.bytes.saturating_add(bytes);
    }
}
