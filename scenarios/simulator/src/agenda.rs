//! What happens next: events ordered by their moment and, within one moment, by when they were
//! planned.

use std::collections::BTreeMap;
use std::time::Duration;

/// A queue of events by (moment, sequence number). Two runs that plan the same events in the same
/// order take them in the same order, so one seed is one history.
#[derive(Debug, Clone)]
pub struct Agenda<E> {
    events: BTreeMap<(Duration, u64), E>,
    planned: u64,
}

impl<E> Default for Agenda<E> {
    fn default() -> Self {
        Self { events: BTreeMap::new(), planned: 0 }
    }
}

impl<E> Agenda<E> {
    /// Plans `event` for `at`, after everything already planned for the same moment.
    pub fn plan(&mut self, at: Duration, event: E) {
        self.planned = self.planned.checked_add(1).expect("a run plans fewer than 2^64 events");
        self.events.insert((at, self.planned), event);
    }

    /// Takes the next event that is due at `limit` or before.
    pub fn take(&mut self, limit: Duration) -> Option<(Duration, E)> {
        let next = self.events.first_entry()?;
        if next.key().0 > limit {
            return None;
        }
        let ((at, _), event) = next.remove_entry();
        Some((at, event))
    }

    /// The moment of the next event.
    #[must_use]
    pub fn next_at(&self) -> Option<Duration> {
        self.events.first_key_value().map(|((at, _), _)| *at)
    }

    /// Returns how many events wait.
    #[must_use]
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// Returns whether nothing is planned.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::Agenda;
    use std::time::Duration;

    #[test]
    fn events_of_one_moment_come_in_the_order_they_were_planned() {
        let mut agenda = Agenda::default();
        let at = Duration::from_millis(5);
        agenda.plan(at, "first");
        agenda.plan(Duration::from_millis(9), "last");
        agenda.plan(at, "second");
        agenda.plan(Duration::ZERO, "before");

        let mut order = Vec::new();
        while let Some((_, event)) = agenda.take(Duration::MAX) {
            order.push(event);
        }

        assert_eq!(order, ["before", "first", "second", "last"]);
    }

    #[test]
    fn an_event_past_the_limit_stays() {
        let mut agenda = Agenda::default();
        agenda.plan(Duration::from_millis(2), ());

        assert_eq!(agenda.take(Duration::from_millis(1)), None);
        assert_eq!(agenda.len(), 1);
        assert_eq!(agenda.next_at(), Some(Duration::from_millis(2)));
    }
}
