//! When a member speaks: often after a change of its view, seldom at rest.

use std::time::Duration;

use metatopia_math::Stream;

use super::Overlay;
use crate::pace;

/// The moments at which each task of the overlay is due.
#[derive(Clone, Copy, Debug)]
pub(super) struct OverlayTimers {
    pub(super) exchange: Duration,
    pub(super) sample: Duration,
    pub(super) probe: Duration,
    pub(super) house: Duration,
    /// The moment when those are greeted who were just learned of; never, if there are none.
    pub(super) greeting: Duration,
    pub(super) hot_until: Duration,
    pub(super) warm_until: Duration,
}

impl OverlayTimers {
    pub(super) fn new(cycle: Duration, now: Duration, stream: &mut Stream) -> Self {
        // Members that start together do not all speak at once.
        let mut within = || {
            let nanos = u64::try_from(cycle.as_nanos()).unwrap_or(u64::MAX);
            now.saturating_add(Duration::from_nanos(stream.below(nanos)))
        };
        Self {
            exchange: within(),
            sample: within(),
            probe: within(),
            house: within(),
            greeting: Duration::MAX,
            hot_until: now.saturating_add(cycle * pace::HOT_CYCLES),
            warm_until: now.saturating_add(cycle * pace::WARM_CYCLES),
        }
    }
}

impl Overlay {
    /// Does what is due.
    pub(super) fn wake(&mut self) {
        let now = self.now.monotonic;
        let cycle = self.config.cycle;
        let (is_hot, is_warm) = (now < self.timers.hot_until, now < self.timers.warm_until);
        if self.timers.exchange <= now {
            let pause = match (is_hot, is_warm) {
                (true, _) => cycle / pace::BURST,
                (false, true) => cycle,
                (false, false) => cycle * pace::REST_EXCHANGE_CYCLES,
            };
            self.timers.exchange = self.soon(pause);
            self.greet();
            self.exchange_with_neighbour();
        }
        if self.timers.greeting <= now {
            self.timers.greeting = Duration::MAX;
            self.greet();
        }
        if self.timers.sample <= now {
            self.timers.sample =
                self.soon(if is_warm { cycle } else { cycle * pace::REST_SAMPLE_CYCLES });
            self.exchange_with_sample();
        }
        if self.timers.probe <= now {
            let arrives = self.arrivals > 0 && self.own.is_some() && self.sites.len() > 0;
            let pause = match (arrives, is_warm) {
                (true, _) => cycle / pace::ARRIVALS_PER_CYCLE,
                (false, true) => cycle,
                (false, false) => cycle * pace::REST_PROBE_CYCLES,
            };
            self.timers.probe = self.soon(pause);
            self.probe();
        }
        if self.timers.house <= now {
            self.timers.house = self.soon(cycle);
            self.keep_house();
        }
        self.give_up_waiting();
    }

    /// Returns a time so far ahead, an eighth more or less, so that members do not fall in step.
    pub(super) fn soon(&mut self, span: Duration) -> Duration {
        let nanos = u64::try_from(span.as_nanos()).unwrap_or(u64::MAX / 2);
        let span = nanos - nanos / 8 + self.stream.below(nanos / 4 + 1);
        self.now.monotonic.saturating_add(Duration::from_nanos(span.max(1)))
    }

    /// Speaks more for a while: the view changed.
    pub(super) fn heat(&mut self) {
        self.timers.hot_until = self.cycles(pace::HOT_CYCLES);
        self.timers.warm_until = self.cycles(pace::WARM_CYCLES);
        let (third, cycle) = (self.config.cycle / pace::BURST, self.config.cycle);
        let (exchange, sample, probe) = (self.soon(third), self.soon(cycle), self.soon(cycle));
        self.timers.exchange = self.timers.exchange.min(exchange);
        self.timers.sample = self.timers.sample.min(sample);
        self.timers.probe = self.timers.probe.min(probe);
    }

    /// Greets soon: somebody was just learned of. A little later, so that the best of those who are
    /// learned of together are greeted.
    pub(super) fn hasten(&mut self) {
        let soon = self.soon(self.config.cycle / pace::GREETINGS_PER_CYCLE);
        self.timers.greeting = self.timers.greeting.min(soon);
    }

    /// A newcomer learned of its first site: it seeks its own place from there at once.
    pub(super) fn arrive(&mut self) {
        if self.arrivals == pace::ARRIVALS && self.own.is_some() {
            self.timers.probe = self.now.monotonic;
        }
    }
}
