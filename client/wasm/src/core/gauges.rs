//! What a connection is like: bytes a second, time there and back, and whether the server is there.

use std::{collections::VecDeque, time::Duration};

/// Bytes are counted over this long.
const WINDOW: Duration = Duration::from_secs(2);

/// Parts of the window that are told apart.
const PIECE: Duration = Duration::from_millis(100);

/// A ping is sent so often.
const PING_EVERY: Duration = Duration::from_secs(1);

/// A server that says nothing for this long, not even to a ping, is gone.
const SILENCE: Duration = Duration::from_millis(2_500);

/// The server has this long to answer the last ping, so that a tab that slept asks once more.
const PING_ANSWER: Duration = Duration::from_millis(500);

/// The server has this long for its first words, and to let the client in.
const GREETING: Duration = Duration::from_secs(5);

/// Bytes of the last two seconds.
#[derive(Debug, Default)]
struct ByteRate(VecDeque<(Duration, usize)>);

impl ByteRate {
    fn add(&mut self, now: Duration, bytes: usize) {
        match self.0.back_mut() {
            Some((at, sum)) if now.saturating_sub(*at) < PIECE => *sum = sum.saturating_add(bytes),
            _ => self.0.push_back((now, bytes)),
        }
        self.forget(now);
    }

    fn forget(&mut self, now: Duration) {
        while self.0.front().is_some_and(|(at, _)| now.saturating_sub(*at) > WINDOW) {
            self.0.pop_front();
        }
    }

    fn per_second(&mut self, now: Duration) -> u64 {
        self.forget(now);
        let sum: usize = self.0.iter().map(|(_, bytes)| bytes).sum();
        sum as u64 / WINDOW.as_secs()
    }
}

/// What is measured of the line to the server.
#[derive(Debug, Default)]
pub(super) struct LinkGauges {
    attached: bool,
    heard_at: Duration,
    pinged_at: Option<Duration>,
    next_ping: Duration,
    round_trip: Option<Duration>,
    incoming: ByteRate,
    outgoing: ByteRate,
}

impl LinkGauges {
    pub(super) fn connected(&mut self, now: Duration) {
        (self.attached, self.heard_at, self.next_ping) = (true, now, now);
        (self.pinged_at, self.round_trip) = (None, None);
    }

    pub(super) const fn disconnected(&mut self) {
        self.attached = false;
    }

    pub(super) fn heard(&mut self, now: Duration, bytes: usize) {
        self.heard_at = now;
        self.incoming.add(now, bytes);
    }

    pub(super) fn sent(&mut self, now: Duration, bytes: usize) {
        self.outgoing.add(now, bytes);
    }

    /// Notes how long a ping took. The newest one counts for three tenths.
    pub(super) fn pong(&mut self, after: Duration) {
        let smooth = |before: Duration| (before * 7 + after * 3) / 10;
        self.round_trip = Some(self.round_trip.map_or(after, smooth));
    }

    /// Returns whether a ping is due. A ping that is due counts as sent.
    pub(super) fn pings(&mut self, now: Duration) -> bool {
        let due = now >= self.next_ping;
        if due {
            self.next_ping = now.saturating_add(PING_EVERY);
            self.pinged_at = Some(now);
        }
        due
    }

    /// Returns whether the server is silent for too long.
    pub(super) fn is_silent(&self, now: Duration, open: bool) -> bool {
        let silence = now.saturating_sub(self.heard_at);
        if !self.attached || !open {
            return self.attached && silence > GREETING;
        }
        let unanswered = self
            .pinged_at
            .is_some_and(|at| at > self.heard_at && now.saturating_sub(at) > PING_ANSWER);
        unanswered && silence > SILENCE
    }

    pub(super) const fn round_trip(&self) -> Option<Duration> {
        self.round_trip
    }

    /// Returns bytes a second that come in and go out.
    pub(super) fn rates(&mut self, now: Duration) -> (u64, u64) {
        (self.incoming.per_second(now), self.outgoing.per_second(now))
    }
}
