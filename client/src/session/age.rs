//! How old what a session believes may be: keys of servers that stopped voting long ago may be anybody's.

use core::time::Duration;

use metatopia_types::Millis;

use super::Session;

/// The time for which the servers that were known to vote are trusted to vouch for those who follow them: 28
/// days. A key that does not vote any more is kept with care for weeks, and not for years; and who comes once
/// a month is never asked.
pub const TRUSTING_PERIOD: Duration = Duration::from_secs(28 * 24 * 60 * 60);

/// The owner's clock, and the time of the newest trusted header.
#[derive(Debug)]
pub(super) struct TrustAge {
    /// The time by the owner's clock; sessions without one ask for no age.
    wall: Option<Millis>,
    /// The time of the last header that was trusted: a checkpoint's at first.
    trusted: Option<Millis>,
    /// Somebody said that what is older may be trusted once.
    accepted: bool,
}

impl TrustAge {
    /// Begins with the time of a checkpoint.
    pub(super) const fn since(trusted: Option<Millis>) -> Self {
        Self { wall: None, trusted, accepted: false }
    }

    /// Notes the time of a header that was verified.
    pub(super) fn met(&mut self, time: Millis) {
        // Whoever begins with genesis knows nothing older.
        if self.trusted.is_none() || self.age().is_none() {
            self.trusted = self.trusted.max(Some(time));
        }
        // Once something is of now, it is asked anew whether something old is to be trusted.
        if self.accepted && !self.is_past() {
            self.accepted = false;
        }
    }

    fn is_past(&self) -> bool {
        let (Some(wall), Some(trusted)) = (self.wall, self.trusted) else {
            return false;
        };
        Duration::from_millis(wall.since(trusted)) > TRUSTING_PERIOD
    }

    fn age(&self) -> Option<Duration> {
        let age = Duration::from_millis(self.wall?.since(self.trusted?));
        (self.is_past() && !self.accepted).then_some(age)
    }
}

impl Session {
    /// Says what time it is by the owner's clock. Who never says so is not asked about ages.
    pub const fn set_wall(&mut self, wall: Millis) {
        self.age.wall = Some(wall);
    }

    /// Returns how old the newest header is that can be trusted, if that is more than
    /// [`TRUSTING_PERIOD`] and nobody accepted it: acts wait until then.
    #[must_use]
    pub fn trust_age(&self) -> Option<Duration> {
        self.age.age()
    }

    /// Accepts that the trusted header is old, because the owner says so.
    pub fn accept_age(&mut self, now: Duration) {
        self.now = now;
        self.age.accepted = true;
        if let Some(time) = self.newest_header().map(|header| header.time) {
            self.age.met(time);
        }
        self.sign_or_seek();
    }
}
