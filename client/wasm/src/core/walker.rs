//! Headings as acts: at most so many a second, never two alike, and always the last one.
//!
//! So holding a stick does not flood the servers, and letting it go is never lost.

use std::time::Duration;

use metatopia_math::{Fx, Vec2};

/// The shortest time between two acts.
const APART: Duration = Duration::from_millis(100);

/// Headings closer than this are alike.
const ALIKE: Fx = Fx::from_ratio(2, 100);

/// What is due about headings.
pub(super) enum HeadingDue {
    /// Says this heading; who waits for it is told what came of that.
    Say(Vec2, Vec<u64>),
    /// Nothing has to be said.
    Nothing(Vec<u64>),
}

/// What was wanted and said of headings.
#[derive(Debug, Default)]
pub(super) struct Walker {
    wanted: Vec2,
    /// What the servers were told; none if that may not hold any more.
    told: Option<Vec2>,
    /// It was told that the avatar stands, at the beginning and by each login.
    fresh: bool,
    at: Option<Duration>,
    /// Commands that wait for what comes of them.
    waiting: Vec<u64>,
}

impl Walker {
    /// Forgets the heading that was told, because it may not hold any more; the next one is told in any case.
    pub(super) const fn forget(&mut self) {
        self.told = None;
        self.fresh = true;
    }

    /// Wants to walk this way; a command waits for what comes of it.
    pub(super) fn walk(&mut self, heading: Vec2, command: u64) {
        self.wanted = heading;
        self.waiting.push(command);
    }

    /// Returns what is due, if anything waits for it.
    pub(super) fn due(&mut self, now: Duration) -> Option<HeadingDue> {
        let early = self.at.is_some_and(|at| now < at.saturating_add(APART));
        if self.waiting.is_empty() || early {
            return None;
        }
        let waiting = std::mem::take(&mut self.waiting);
        let told = self.told.or((!self.fresh).then_some(Vec2::ZERO));
        let stops = self.wanted == Vec2::ZERO && told != Some(Vec2::ZERO);
        let alike = told.is_some_and(|told| self.wanted.distance(told) < ALIKE);
        if alike && !stops {
            return Some(HeadingDue::Nothing(waiting));
        }
        (self.told, self.at) = (Some(self.wanted), Some(now));
        Some(HeadingDue::Say(self.wanted, waiting))
    }
}
