//! Which acts may still be decided: an index that decided turns keep, without executing them.
//!
//! A lane is one session of an author. Its window is the highest sequence that was decided, so that
//! no act is ever decided twice; it is forgotten when everything that could be replayed has
//! expired.

use std::collections::{BTreeMap, BTreeSet};

use metatopia_types::{Envelope, Height, Lane, PublicKey, Seq, SimId, Turn, limits};
use serde::{Deserialize, Serialize};

use crate::limits::{LANES_MAX, LANES_PER_AUTHOR_MAX};

/// An author's lane.
pub type LaneKey = (PublicKey, Lane);

/// What is remembered of a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    /// The highest sequence that was decided.
    pub seq: Seq,
    /// The highest last valid height of a decided act: after it, nothing can be replayed.
    pub last_valid: Height,
}

/// Why an act may not be in a turn of this height.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ActFault {
    /// It is meant for another sim.
    #[error("the act is meant for sim {0}")]
    OtherSim(SimId),
    /// Its envelope is too long.
    #[error(
        "the envelope has {0} bytes where at most {max} are allowed",
        max = limits::ENVELOPE_BYTES_MAX
    )]
    TooLong(usize),
    /// Its last valid height has passed.
    #[error("the act was valid up to height {last_valid}, not at {height}")]
    Expired {
        /// The act's last valid height.
        last_valid: Height,
        /// The height it was tried at.
        height: Height,
    },
    /// Its last valid height is too far ahead.
    #[error(
        "last valid height {last_valid} is more than {max} ahead of {height}",
        max = limits::EXPIRY_HEIGHTS_MAX
    )]
    TooFarAhead {
        /// The act's last valid height.
        last_valid: Height,
        /// The height it was tried at.
        height: Height,
    },
    /// The lane has decided this sequence or a later one.
    #[error("the lane has decided sequence {0} already")]
    Replayed(Seq),
    /// The author has too many lanes that are remembered.
    #[error("the author has {0} lanes open")]
    TooManyLanes(usize),
    /// The sim remembers too many lanes.
    #[error("{0} lanes are open in this sim")]
    Full(usize),
    /// The signature is not the author's.
    #[error("the signature is not the author's")]
    Signature,
}

/// The windows after some decided turn.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LaneWindows {
    height: Height,
    windows: BTreeMap<LaneKey, Window>,
    /// Lanes by the height after which they are forgotten.
    expiring: BTreeMap<Height, BTreeSet<LaneKey>>,
    /// May the last sequence be decided once more? Only broken windows say so.
    pub(crate) open_end: bool,
}

impl LaneWindows {
    /// The windows after the turn of `height`; what a snapshot holds.
    #[must_use]
    pub fn new(height: Height, windows: BTreeMap<LaneKey, Window>) -> Self {
        let mut expiring: BTreeMap<Height, BTreeSet<LaneKey>> = BTreeMap::new();
        for (lane, window) in &windows {
            expiring.entry(window.last_valid).or_default().insert(*lane);
        }
        Self { height, windows, expiring, open_end: false }
    }

    /// The last turn they know.
    #[must_use]
    pub const fn height(&self) -> Height {
        self.height
    }

    /// How many lanes are remembered.
    #[must_use]
    pub fn len(&self) -> usize {
        self.windows.len()
    }

    /// Is no lane remembered?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.windows.is_empty()
    }

    /// The window of a lane; nothing if the lane is new, or forgotten.
    #[must_use]
    pub fn get(&self, lane: &LaneKey) -> Option<Window> {
        self.windows.get(lane).copied()
    }

    /// The lanes that are remembered.
    pub fn lanes(&self) -> impl Iterator<Item = LaneKey> {
        self.windows.keys().copied()
    }

    /// Begins to choose acts for a turn of `height`: the next one, or the one after `undecided`,
    /// whose acts then count as decided.
    #[must_use]
    pub fn admission(&self, height: Height, undecided: Option<&Turn>) -> Admission<'_> {
        let mut ahead = BTreeMap::new();
        for act in undecided.iter().flat_map(|turn| turn.body.acts()) {
            let lane = (act.envelope.author, act.envelope.lane);
            let before = ahead.get(&lane).copied().or_else(|| self.get(&lane));
            ahead.insert(lane, after(before, &act.envelope));
        }
        let new = |lane: &&LaneKey| self.get(lane).is_none();
        let fresh = ahead.keys().filter(new).copied().collect();
        Admission { windows: self, height, ahead, taken: BTreeSet::new(), fresh }
    }

    /// Takes note of a decided turn, and forgets lanes that have expired.
    ///
    /// # Panics
    /// When it is not the next turn: then these are not the windows it was judged by.
    pub fn record(&mut self, turn: &Turn) {
        self.record_touched(turn);
    }

    /// As [`LaneWindows::record`]; gives the lanes that changed or were forgotten.
    pub(crate) fn record_touched(&mut self, turn: &Turn) -> BTreeSet<LaneKey> {
        assert_eq!(turn.header.height, self.height.plus(1), "turns are recorded in order");
        self.height = turn.header.height;
        let mut touched = BTreeSet::new();
        for act in turn.body.acts() {
            let lane = (act.envelope.author, act.envelope.lane);
            let before = self.get(&lane);
            let window = after(before, &act.envelope);
            if let Some(before) = before {
                self.unlist(before.last_valid, &lane);
            }
            self.expiring.entry(window.last_valid).or_default().insert(lane);
            self.windows.insert(lane, window);
            touched.insert(lane);
        }
        while let Some(entry) = self.expiring.first_entry()
            && *entry.key() <= self.height
        {
            for lane in entry.remove() {
                self.windows.remove(&lane);
                touched.insert(lane);
            }
        }
        touched
    }

    fn is_used(&self, window: Window, seq: Seq) -> bool {
        if self.open_end { window.seq > seq } else { window.seq >= seq }
    }

    fn unlist(&mut self, last_valid: Height, lane: &LaneKey) {
        if let Some(lanes) = self.expiring.get_mut(&last_valid) {
            lanes.remove(lane);
            if lanes.is_empty() {
                self.expiring.remove(&last_valid);
            }
        }
    }

    fn lanes_of(&self, author: PublicKey) -> usize {
        self.windows.range((author, Lane(0))..=(author, Lane(u64::MAX))).count()
    }
}

fn after(before: Option<Window>, envelope: &Envelope) -> Window {
    let (seq, last_valid) = (envelope.seq, envelope.last_valid);
    before.map_or(Window { seq, last_valid }, |window| Window {
        seq: window.seq.max(seq),
        last_valid: window.last_valid.max(last_valid),
    })
}

/// Acts being chosen for one turn. They may come in any order: inside a turn only equal sequences
/// of a lane exclude one another.
#[derive(Debug, Clone)]
pub struct Admission<'a> {
    windows: &'a LaneWindows,
    height: Height,
    ahead: BTreeMap<LaneKey, Window>,
    taken: BTreeSet<(LaneKey, Seq)>,
    fresh: BTreeSet<LaneKey>,
}

impl Admission<'_> {
    /// Takes the act into the turn, if expiry and lane window allow it.
    ///
    /// # Errors
    /// See [`ActFault`]; the act is not taken then. The signature is not looked at.
    pub fn admit(&mut self, envelope: &Envelope) -> Result<(), ActFault> {
        self.check(envelope)?;
        let lane = (envelope.author, envelope.lane);
        self.taken.insert((lane, envelope.seq));
        if self.windows.get(&lane).is_none() {
            self.fresh.insert(lane);
        }
        Ok(())
    }

    /// How many lanes are open once the acts that were taken are decided.
    #[must_use]
    pub fn open_lanes(&self) -> usize {
        self.windows.len() + self.fresh.len()
    }

    /// Would this act open another one?
    #[must_use]
    pub fn opens(&self, envelope: &Envelope) -> bool {
        let lane = (envelope.author, envelope.lane);
        self.windows.get(&lane).is_none() && !self.fresh.contains(&lane)
    }

    /// Would [`Admission::admit`] take it?
    ///
    /// # Errors
    /// See [`ActFault`].
    pub fn check(&self, envelope: &Envelope) -> Result<(), ActFault> {
        let (last_valid, height) = (envelope.last_valid, self.height);
        if last_valid < height {
            return Err(ActFault::Expired { last_valid, height });
        }
        if last_valid > height.plus(limits::EXPIRY_HEIGHTS_MAX) {
            return Err(ActFault::TooFarAhead { last_valid, height });
        }
        let lane = (envelope.author, envelope.lane);
        if self.taken.contains(&(lane, envelope.seq)) {
            return Err(ActFault::Replayed(envelope.seq));
        }
        match self.ahead.get(&lane).copied().or_else(|| self.windows.get(&lane)) {
            Some(window) if self.windows.is_used(window, envelope.seq) => {
                Err(ActFault::Replayed(window.seq))
            }
            Some(_) => Ok(()),
            None if self.fresh.contains(&lane) => Ok(()),
            None => self.room(envelope.author),
        }
    }

    /// Is there room for another lane of this author?
    fn room(&self, author: PublicKey) -> Result<(), ActFault> {
        let all = self.open_lanes();
        if all >= LANES_MAX {
            return Err(ActFault::Full(all));
        }
        let range = (author, Lane(0))..=(author, Lane(u64::MAX));
        let own = self.windows.lanes_of(author) + self.fresh.range(range).count();
        if own >= LANES_PER_AUTHOR_MAX { Err(ActFault::TooManyLanes(own)) } else { Ok(()) }
    }
}
