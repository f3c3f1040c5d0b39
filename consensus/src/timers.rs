//! What is waited for, and until when.

use std::collections::BTreeMap;
use std::time::Duration;

use metatopia_types::HeaderId;

use crate::core::Wait;

/// What happens when a time has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Alarm {
    /// The core's patience is over.
    Core(Wait),
    /// A turn may leave.
    Leave,
    /// A turn that others have is still missing here.
    Want(HeaderId),
    /// See whether others are ahead.
    Sync,
}

/// Alarms with the monotonic time of each.
#[derive(Debug, Default)]
pub(crate) struct Timers {
    times: BTreeMap<Alarm, Duration>,
}

impl Timers {
    /// Sets or moves an alarm.
    pub(crate) fn set(&mut self, alarm: Alarm, at: Duration) {
        self.times.insert(alarm, at);
    }

    /// Stops an alarm; true if it was set.
    pub(crate) fn stop(&mut self, alarm: Alarm) -> bool {
        self.times.remove(&alarm).is_some()
    }

    pub(crate) fn is_set(&self, alarm: Alarm) -> bool {
        self.times.contains_key(&alarm)
    }

    /// Stops all alarms of the core.
    pub(crate) fn stop_core(&mut self) {
        self.times.retain(|alarm, _| !matches!(alarm, Alarm::Core(_)));
    }

    /// Stops all alarms of a height.
    pub(crate) fn stop_height(&mut self) {
        self.times.retain(|alarm, _| *alarm == Alarm::Sync);
    }

    /// Takes the first alarm that is due, in the order of their times.
    pub(crate) fn take_due(&mut self, now: Duration) -> Option<Alarm> {
        let (alarm, at) = self.first()?;
        if at > now {
            return None;
        }
        self.times.remove(&alarm);
        Some(alarm)
    }

    /// Returns the next time at which an alarm is due.
    pub(crate) fn next(&self) -> Option<Duration> {
        self.first().map(|(_, at)| at)
    }

    fn first(&self) -> Option<(Alarm, Duration)> {
        let alarms = self.times.iter().map(|(alarm, at)| (*alarm, *at));
        alarms.min_by_key(|(alarm, at)| (*at, *alarm))
    }
}
