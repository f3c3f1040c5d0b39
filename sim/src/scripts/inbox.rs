//! Inboxes, and the canonical order in which a receiver gets its events.
//!
//! The servers agree on the set of acts; each receiver's own order is derived from it. Events
//! are grouped by sender, groups are sorted by a keyed hash that nobody knows before the turn is
//! decided, and inside a group the sender's own order stays.

use std::collections::BTreeMap;

use metatopia_scripting::{Event, EventKind};
use metatopia_types::{Digest, PublicKey, ScriptId, Tick, wire};
use serde::{Deserialize, Serialize};

use crate::{
    limits::{
        INBOX_BYTES_MAX, INBOX_BYTES_PER_SENDER_MAX, INBOX_EVENTS_MAX, INBOX_EVENTS_PER_SENDER_MAX,
    },
    rules::ByteBudget,
};

/// The sender of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Sender {
    /// The sim core: starts, ticks, timers.
    Core,
    /// A player, by an act.
    Player(PublicKey),
    /// Physics, by a contact of two bodies.
    Physics,
    /// A script, by a message.
    Script(ScriptId),
}

/// An event on its way to a script.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueuedEvent {
    /// The sender that raised it.
    pub sender: Sender,
    /// When it was raised.
    pub raised: Tick,
    /// Its place among what the sender raised then.
    pub index: u32,
    /// The event itself.
    pub event: Event,
}

/// Why an event is dropped. The receiving script counts dropped events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum InboxFull {
    /// The sender has as many events waiting as one sender may.
    #[error("too many events of one sender")]
    Sender,
    /// The inbox is full.
    #[error("the inbox is full")]
    Inbox,
    /// The whole state has no room for more.
    #[error("the world is full")]
    World,
}

/// Events waiting for one script.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inbox {
    /// Each with its encoded length, which need not be found out again for every newcomer.
    waiting: Vec<(QueuedEvent, u32)>,
}

impl Inbox {
    /// Says whether no event waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Returns the events that wait, in no particular order.
    pub fn waiting(&self) -> impl ExactSizeIterator<Item = &QueuedEvent> {
        self.waiting.iter().map(|(delivery, _)| delivery)
    }

    /// Returns the bytes of each event of a timer that waits.
    pub(crate) fn timer_bytes(&self) -> impl Iterator<Item = usize> {
        let timers = self.waiting.iter().filter(|(it, _)| it.event.kind() == EventKind::Timer);
        timers.map(|(_, bytes)| added(*bytes))
    }

    /// Checks that an event fits: into the bound of this sender, that of this inbox, and the budget. Returns
    /// its bytes.
    pub(crate) fn check(&self, delivery: &QueuedEvent, room: ByteBudget) -> Result<u32, InboxFull> {
        let bytes = u32::try_from(wire::length(delivery)).unwrap_or(u32::MAX);
        let (mut own, mut own_bytes, mut all_bytes) = (1, bytes, bytes);
        for (other, bytes) in &self.waiting {
            all_bytes = bytes.saturating_add(all_bytes);
            if other.sender == delivery.sender {
                own += 1;
                own_bytes = bytes.saturating_add(own_bytes);
            }
        }
        if own > INBOX_EVENTS_PER_SENDER_MAX || own_bytes > INBOX_BYTES_PER_SENDER_MAX {
            return Err(InboxFull::Sender);
        }
        if self.waiting.len() >= INBOX_EVENTS_MAX || all_bytes > INBOX_BYTES_MAX {
            return Err(InboxFull::Inbox);
        }
        if room.has(added(bytes)) { Ok(bytes) } else { Err(InboxFull::World) }
    }

    /// Adds an event if it fits, and takes its bytes from the budget.
    pub(crate) fn push(
        &mut self,
        delivery: QueuedEvent,
        room: &mut ByteBudget,
    ) -> Result<(), InboxFull> {
        let bytes = self.check(&delivery, *room)?;
        room.take(added(bytes));
        self.waiting.push((delivery, bytes));
        Ok(())
    }

    /// Adds the event that a script begins or was upgraded, in place of an older one of that kind. It is
    /// never dropped, however full the inbox is: without it new source would run on a state that it never
    /// looked at. A script that has not begun yet has nothing to upgrade.
    pub(crate) fn announce(&mut self, delivery: QueuedEvent) {
        debug_assert!(announces(&delivery.event), "other events have to find room");
        if self.waiting().any(|waiting| waiting.event == Event::Start) {
            return;
        }
        self.waiting.retain(|(waiting, _)| !announces(&waiting.event));
        let bytes = u32::try_from(wire::length(&delivery)).unwrap_or(u32::MAX);
        self.waiting.push((delivery, bytes));
    }

    /// Takes everything out, in the receiver's order at this tick.
    pub(super) fn take(
        &mut self,
        seed: &Digest,
        tick: Tick,
        receiver: ScriptId,
    ) -> Vec<QueuedEvent> {
        let waiting = core::mem::take(&mut self.waiting).into_iter();
        let waiting = waiting.map(|(delivery, _)| delivery).collect();
        let place = |delivery: &QueuedEvent| (delivery.raised, delivery.index);
        let mut events =
            canonical_order(seed, tick, receiver, waiting, |delivery| delivery.sender, place);
        // A script is told that it begins, or is another one, before anything else.
        events.sort_by_key(|delivery| !announces(&delivery.event));
        events
    }
}

/// Says whether an event tells a script that it begins, or is another one.
const fn announces(event: &Event) -> bool {
    use Event as E;
    matches!(event, E::Start | E::Upgrade | E::Arrive | E::Refused { .. })
}

/// Returns the bytes that an event of so many bytes adds to an inbox: its length is kept with it.
fn added(bytes: u32) -> usize {
    wire::length(&bytes).saturating_add(bytes as usize)
}

/// Returns the key by which the groups of a receiver are sorted:
/// `keyed_hash(R_h, tick || receiver || sender)`.
///
/// Tick and receiver are eight bytes each, lowest first; the sender is in its canonical encoding.
#[must_use]
pub fn group_key(seed: &Digest, tick: Tick, receiver: ScriptId, sender: &Sender) -> Digest {
    let mut hasher = blake3::Hasher::new_keyed(&seed.0);
    hasher.update(&tick.0.to_le_bytes()).update(&receiver.0.to_le_bytes());
    hasher.update(&wire::encode(sender));
    Digest(*hasher.finalize().as_bytes())
}

/// Puts `items` into the order in which `receiver` gets them at this tick.
pub(crate) fn canonical_order<T, P: Ord>(
    seed: &Digest,
    tick: Tick,
    receiver: ScriptId,
    items: Vec<T>,
    sender: impl Fn(&T) -> Sender,
    place: impl Fn(&T) -> P,
) -> Vec<T> {
    let mut groups: BTreeMap<Sender, Vec<T>> = BTreeMap::new();
    for item in items {
        groups.entry(sender(&item)).or_default().push(item);
    }
    let mut groups: Vec<(Digest, Sender, Vec<T>)> = groups
        .into_iter()
        .map(|(sender, items)| (group_key(seed, tick, receiver, &sender), sender, items))
        .collect();
    groups.sort_by_key(|(key, sender, _)| (*key, *sender));
    groups
        .into_iter()
        .flat_map(|(.., mut items)| {
            items.sort_by_key(&place);
            items
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use metatopia_types::ObjectId;

    use super::*;

    fn delivery(sender: u64, index: u32, bytes: usize) -> QueuedEvent {
        let event = Event::Chat { from: ObjectId(1), text: "x".repeat(bytes) };
        QueuedEvent { sender: Sender::Script(ScriptId(sender)), raised: Tick(1), index, event }
    }

    fn push(inbox: &mut Inbox, delivery: QueuedEvent) -> Result<(), InboxFull> {
        let mut room = ByteBudget::UNLIMITED;
        inbox.push(delivery, &mut room)
    }

    #[test]
    fn a_sender_fills_its_share_and_everybody_together_the_inbox() {
        let mut inbox = Inbox::default();
        let per_sender = INBOX_EVENTS_PER_SENDER_MAX as u32;
        for sender in 0..INBOX_EVENTS_MAX as u64 / u64::from(per_sender) {
            (0..per_sender)
                .for_each(|n| assert_eq!(push(&mut inbox, delivery(sender, n, 1)), Ok(())));
            assert_eq!(push(&mut inbox, delivery(sender, per_sender, 1)), Err(InboxFull::Sender));
        }

        assert_eq!(inbox.waiting().len(), INBOX_EVENTS_MAX);
        assert_eq!(push(&mut inbox, delivery(99, 0, 1)), Err(InboxFull::Inbox));
    }

    #[test]
    fn bytes_are_bounded_like_events() {
        let mut inbox = Inbox::default();
        let half = INBOX_BYTES_PER_SENDER_MAX as usize / 2 - 20;
        for sender in 0..2 {
            assert_eq!(push(&mut inbox, delivery(sender, 0, half)), Ok(()));
            assert_eq!(push(&mut inbox, delivery(sender, 1, half)), Ok(()));
            assert_eq!(push(&mut inbox, delivery(sender, 2, 100)), Err(InboxFull::Sender));
        }
        assert_eq!(push(&mut inbox, delivery(2, 0, half)), Ok(()));

        assert_eq!(push(&mut inbox, delivery(3, 0, half)), Err(InboxFull::Inbox));
        assert_eq!(push(&mut inbox, delivery(3, 0, 1)), Ok(()));
        assert!(wire::length(&inbox) < INBOX_BYTES_MAX as usize + 2_000);
    }

    #[test]
    fn a_full_inbox_takes_one_upgrade_and_the_newest_is_first() {
        let mut inbox = Inbox::default();
        let senders = (INBOX_EVENTS_MAX / INBOX_EVENTS_PER_SENDER_MAX) as u64;
        for sender in 0..senders {
            (0..INBOX_EVENTS_PER_SENDER_MAX as u32)
                .for_each(|n| assert_eq!(push(&mut inbox, delivery(sender, n, 1)), Ok(())));
        }
        let upgrade = |raised| QueuedEvent {
            sender: Sender::Core,
            raised: Tick(raised),
            index: 0,
            event: Event::Upgrade,
        };

        inbox.announce(upgrade(1));
        inbox.announce(upgrade(2));

        assert_eq!(inbox.waiting().len(), INBOX_EVENTS_MAX + 1);
        let taken = inbox.take(&Digest::ZERO, Tick(3), ScriptId(1));
        assert_eq!(taken[0], upgrade(2));
    }

    #[test]
    fn a_script_that_has_not_begun_is_not_upgraded() {
        let mut inbox = Inbox::default();
        let core = |event| QueuedEvent { sender: Sender::Core, raised: Tick(1), index: 0, event };
        inbox.announce(core(Event::Start));
        inbox.announce(core(Event::Upgrade));
        assert_eq!(inbox.take(&Digest::ZERO, Tick(1), ScriptId(1)), [core(Event::Start)]);
    }

    #[test]
    fn what_waits_over_several_ticks_stays_in_its_senders_order() {
        let mut inbox = Inbox::default();
        for (tick, index) in [(2, 1), (1, 9), (2, 0), (1, 3)] {
            let delivery = QueuedEvent { raised: Tick(tick), ..delivery(7, index, 1) };
            assert_eq!(push(&mut inbox, delivery), Ok(()));
        }

        let taken = inbox.take(&Digest::ZERO, Tick(3), ScriptId(1));

        let places: Vec<(u64, u32)> = taken.iter().map(|d| (d.raised.0, d.index)).collect();
        assert_eq!(places, [(1, 3), (1, 9), (2, 0), (2, 1)]);
        assert!(inbox.is_empty());
    }
}
