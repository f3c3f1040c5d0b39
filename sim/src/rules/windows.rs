//! Which acts may still be decided: an index that decided turns keep, without executing them.
//!
//! A lane is one session of an author. Its window is the highest sequence that was decided, so that
//! no act is ever decided twice; it is forgotten when everything that could be replayed has
//! expired.

use std::collections::{BTreeMap, BTreeSet};

use metatopia_types::{Envelope, Height, Lane, PublicKey, Seq, Turn};
use serde::{Deserialize, Serialize};

use super::admission::{Judging, TurnAdmission};
use crate::limits::LANES_CROWDED;

/// An author's lane.
pub type LaneKey = (PublicKey, Lane);

/// The window of a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    /// The highest sequence that was decided.
    pub seq: Seq,
    /// The highest last valid height of a decided act: after it, nothing can be replayed.
    pub last_valid: Height,
    /// The proposer of the turn that opened the lane: one proposer may open a share of all lanes only.
    pub opener: PublicKey,
}

/// The windows after some decided turn.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LaneWindows {
    height: Height,
    windows: BTreeMap<LaneKey, Window>,
    /// Lanes by the height after which they are forgotten.
    expiring: BTreeMap<Height, BTreeSet<LaneKey>>,
    /// How many lanes each proposer's turns opened.
    opened: BTreeMap<PublicKey, usize>,
    /// Whether the last sequence may be decided once more, which only broken windows say.
    pub(crate) open_end: bool,
}

impl LaneWindows {
    /// Returns the windows after the turn of `height`, from those that a snapshot holds.
    #[must_use]
    pub fn new(height: Height, windows: BTreeMap<LaneKey, Window>) -> Self {
        let mut expiring: BTreeMap<Height, BTreeSet<LaneKey>> = BTreeMap::new();
        let mut opened: BTreeMap<PublicKey, usize> = BTreeMap::new();
        for (lane, window) in &windows {
            expiring.entry(window.last_valid).or_default().insert(*lane);
            *opened.entry(window.opener).or_default() += 1;
        }
        Self { height, windows, expiring, opened, open_end: false }
    }

    /// Returns the height of the last turn that they know.
    #[must_use]
    pub const fn height(&self) -> Height {
        self.height
    }

    /// Returns how many lanes are remembered.
    #[must_use]
    pub fn len(&self) -> usize {
        self.windows.len()
    }

    /// Says whether no lane is remembered.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.windows.is_empty()
    }

    /// Returns the window of a lane; nothing if the lane is new, or forgotten.
    #[must_use]
    pub fn get(&self, lane: &LaneKey) -> Option<Window> {
        self.windows.get(lane).copied()
    }

    /// Returns the lanes that are remembered.
    pub fn lanes(&self) -> impl Iterator<Item = LaneKey> {
        self.windows.keys().copied()
    }

    /// Begins to choose acts for a turn of `height`: the next one, or the one after `undecided`,
    /// whose acts then count as decided.
    #[must_use]
    pub fn admission<'a>(
        &'a self,
        height: Height,
        undecided: Option<&Turn>,
        judging: Judging<'a>,
    ) -> TurnAdmission<'a> {
        let mut ahead = BTreeMap::new();
        if let Some(turn) = undecided {
            for act in turn.body.acts() {
                let lane = (act.envelope.author, act.envelope.lane);
                let before = ahead.get(&lane).copied().or_else(|| self.get(&lane));
                ahead.insert(lane, after(before, &act.envelope, turn.header.proposer));
            }
        }
        let new = |lane: &&LaneKey| self.get(lane).is_none();
        let fresh: BTreeSet<LaneKey> = ahead.keys().filter(new).copied().collect();
        let opened = judging.proposer.map_or(0, |proposer| {
            let undecided = undecided.filter(|turn| turn.header.proposer == proposer);
            let ahead = undecided.map_or(0, |_| fresh.len());
            self.opened.get(&proposer).copied().unwrap_or(0) + ahead
        });
        TurnAdmission {
            windows: self,
            height,
            judging,
            ahead,
            taken: BTreeSet::new(),
            is_crowded: self.len() + fresh.len() >= LANES_CROWDED,
            fresh,
            opened,
            opening: 0,
            first_logins: 0,
            heard: BTreeSet::new(),
        }
    }

    /// Records a decided turn, and forgets lanes that have expired.
    ///
    /// # Panics
    /// When it is not the next turn: then these are not the windows it was judged by.
    pub fn record(&mut self, turn: &Turn) {
        self.record_touched(turn);
    }

    /// Records a decided turn as [`LaneWindows::record`] does. Returns the lanes that changed or were
    /// forgotten.
    pub(crate) fn record_touched(&mut self, turn: &Turn) -> BTreeSet<LaneKey> {
        assert_eq!(turn.header.height, self.height.plus(1), "turns are recorded in order");
        self.height = turn.header.height;
        let mut touched = BTreeSet::new();
        for act in turn.body.acts() {
            let lane = (act.envelope.author, act.envelope.lane);
            let before = self.get(&lane);
            let window = after(before, &act.envelope, turn.header.proposer);
            match before {
                Some(before) => self.unlist(before.last_valid, &lane),
                None => *self.opened.entry(window.opener).or_default() += 1,
            }
            self.expiring.entry(window.last_valid).or_default().insert(lane);
            self.windows.insert(lane, window);
            touched.insert(lane);
        }
        while let Some(entry) = self.expiring.first_entry()
            && *entry.key() <= self.height
        {
            for lane in entry.remove() {
                let gone = self.windows.remove(&lane).expect("a lane that expires is remembered");
                self.discount(gone.opener);
                touched.insert(lane);
            }
        }
        touched
    }

    /// Says whether this sequence was decided.
    pub(super) fn is_used(&self, window: Window, seq: Seq) -> bool {
        if self.open_end { window.seq > seq } else { window.seq >= seq }
    }

    /// Removes a lane from the list of those that expire at this height.
    fn unlist(&mut self, last_valid: Height, lane: &LaneKey) {
        let lanes =
            self.expiring.get_mut(&last_valid).expect("a window is listed where it expires");
        assert!(lanes.remove(lane), "a window is listed where it expires");
        if lanes.is_empty() {
            self.expiring.remove(&last_valid);
        }
    }

    /// Counts one lane less of those that this proposer opened.
    fn discount(&mut self, opener: PublicKey) {
        let count = self.opened.get_mut(&opener).expect("who opened a lane is counted");
        *count -= 1;
        if *count == 0 {
            self.opened.remove(&opener);
        }
    }

    /// Returns how many lanes of an author are remembered.
    pub(super) fn lanes_of(&self, author: PublicKey) -> usize {
        self.windows.range((author, Lane(0))..=(author, Lane(u64::MAX))).count()
    }
}

/// Returns the window of a lane after an act.
fn after(before: Option<Window>, envelope: &Envelope, proposer: PublicKey) -> Window {
    let (seq, last_valid) = (envelope.seq, envelope.last_valid);
    before.map_or(Window { seq, last_valid, opener: proposer }, |window| Window {
        seq: window.seq.max(seq),
        last_valid: window.last_valid.max(last_valid),
        opener: window.opener,
    })
}
