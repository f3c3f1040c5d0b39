//! Which time honest clocks allowed, and when: one that was wrong once and is right again allows
//! nothing any more.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use metatopia_types::{Height, Millis, PublicKey};

use crate::oracle::Oracle;

/// How far ahead of a clock a turn may be that its server votes for, in milliseconds.
const AHEAD_MS: u64 = 500;

/// The latest that the clock of each honest seat showed while a height was the last that was told.
#[derive(Debug, Default)]
pub(crate) struct Clocks {
    latest: BTreeMap<Height, Vec<Millis>>,
}

impl Clocks {
    /// Returns the latest time that the clock of a seat allowed whoever votes at a height. A server votes
    /// there when it has decided the height before, by votes of honest servers whose logs held the one before
    /// that. So all that it judged, it judged since that one was told.
    fn allowed(&self, seat: usize, height: Height) -> Millis {
        let since = height.minus(2).unwrap_or_default();
        let shown = self.latest.range(since..).map(|(_, latest)| latest[seat]).max();
        shown.unwrap_or_default().plus(AHEAD_MS)
    }
}

impl Oracle {
    /// Moves the time on, and notes what the wall clocks show.
    pub fn watch_clocks(&mut self, at: Duration, wall: impl Fn(usize) -> Millis) {
        self.now = at;
        let seats = self.honest.len();
        let latest = self.clocks.latest.entry(self.history.last());
        let latest = latest.or_insert_with(|| vec![Millis(0); seats]);
        for seat in (0..seats).filter(|seat| self.honest[*seat]) {
            latest[seat] = wall(seat).max(latest[seat]);
        }
    }

    /// Returns whether this server may vote for a turn of that time: its own clock says so, or a quorum
    /// vouched for the time.
    pub(crate) fn may_find_fresh(&self, seat: usize, height: Height, time: Millis) -> bool {
        time <= self.clocks.allowed(seat, height) || time <= self.latest_time(height)
    }

    /// The latest time that a turn of a height may state: the clocks of a quorum must allow it, and
    /// liars take every clock for right.
    pub(crate) fn latest_time(&self, height: Height) -> Millis {
        let names = &self.founding.names;
        let (honest, liars): (Vec<usize>, Vec<usize>) =
            (0..names.len()).partition(|seat| self.honest[*seat]);
        let mut allowed: Vec<(Millis, usize)> =
            honest.into_iter().map(|seat| (self.clocks.allowed(seat, height), seat)).collect();
        allowed.sort_unstable();
        let mut vouch: BTreeSet<PublicKey> = liars.into_iter().map(|seat| names[seat]).collect();
        let mut latest = Millis(0);
        for (time, seat) in allowed.into_iter().rev() {
            vouch.insert(names[seat]);
            latest = time;
            let power = self.electorate.power_of(height, vouch.iter().copied());
            // Where nobody knows who votes, one honest server may be enough.
            if power.is_none_or(|(power, total)| power * 3 > total * 2) {
                break;
            }
        }
        latest
    }
}
