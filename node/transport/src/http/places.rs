//! Places for connections, and which connection gives way when none is free.
//!
//! A client may keep its connection for as long as it sends something now and then, so a newcomer
//! that waited for a free place could wait for ever. A newcomer does not wait: it takes the place
//! of the oldest connection of the address that has most of them. So a crowd from one address
//! delays nobody but itself, and as long as there is room it may have all of it.

use std::{
    cmp::Reverse,
    collections::BTreeMap,
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use crate::gateway::Block;

#[derive(Debug)]
pub(super) struct ConnectionSlots {
    max: usize,
    taken: Mutex<SlotTable>,
}

#[derive(Debug, Default)]
struct SlotTable {
    /// The next number; older connections have smaller ones.
    next: u64,
    holders: BTreeMap<u64, SlotHolder>,
}

#[derive(Debug)]
struct SlotHolder {
    block: Block,
    lost: CancellationToken,
}

/// A place that is taken until it is left or dropped.
#[derive(Debug)]
pub(super) struct ConnectionSlot {
    places: Arc<ConnectionSlots>,
    number: u64,
    lost: CancellationToken,
}

impl ConnectionSlots {
    pub(super) fn new(max: usize) -> Arc<Self> {
        Arc::new(Self { max, taken: Mutex::default() })
    }

    fn lock(&self) -> MutexGuard<'_, SlotTable> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns how many places are taken.
    pub(super) fn taken(&self) -> usize {
        self.lock().holders.len()
    }

    /// Takes a place for a connection from `ip`: another connection's if none is free.
    pub(super) fn take(self: &Arc<Self>, ip: IpAddr) -> ConnectionSlot {
        let (block, lost) = (Block::of(ip), CancellationToken::new());
        let mut taken = self.lock();
        if taken.holders.len() >= self.max
            && let Some(holder) = taken.crowding().and_then(|number| taken.holders.remove(&number))
        {
            holder.lost.cancel();
        }
        let number = taken.next;
        taken.next += 1;
        taken.holders.insert(number, SlotHolder { block, lost: lost.clone() });
        drop(taken);
        ConnectionSlot { places: self.clone(), number, lost }
    }
}

impl SlotTable {
    /// Returns the oldest place of the block that has most. If several blocks do, returns the
    /// oldest place of all of theirs.
    fn crowding(&self) -> Option<u64> {
        let mut blocks: BTreeMap<Block, (usize, Reverse<u64>)> = BTreeMap::new();
        for (number, holder) in &self.holders {
            blocks.entry(holder.block).or_insert((0, Reverse(*number))).0 += 1;
        }
        blocks.into_values().max().map(|(_, Reverse(oldest))| oldest)
    }
}

impl ConnectionSlot {
    /// Frees the place for others. A place that was left cannot be lost any more.
    pub(super) fn leave(&self) {
        self.places.lock().holders.remove(&self.number);
    }

    /// Returns a future that ends when another connection has taken the place.
    pub(super) fn lost(&self) -> WaitForCancellationFutureOwned {
        self.lost.clone().cancelled_owned()
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.leave();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(places: &Arc<ConnectionSlots>, ips: &[&str]) -> Vec<ConnectionSlot> {
        ips.iter().map(|ip| places.take(ip.parse().unwrap())).collect()
    }

    /// Returns which of these connections have lost their places.
    fn lost(all: &[ConnectionSlot]) -> Vec<usize> {
        (0..all.len()).filter(|index| all[*index].lost.is_cancelled()).collect()
    }

    #[test]
    fn the_oldest_of_the_address_that_has_most_gives_way() {
        let places = ConnectionSlots::new(5);
        let mut all = take(&places, &["10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.2", "10.0.0.2"]);
        assert_eq!((lost(&all), places.taken()), (vec![], 5));

        all.extend(take(&places, &["10.0.0.4"]));
        assert_eq!((lost(&all), places.taken()), (vec![1], 5));
        all.extend(take(&places, &["10.0.0.2"]));
        assert_eq!((lost(&all), places.taken()), (vec![1, 3], 5), "its own");
    }

    #[test]
    fn of_addresses_that_have_one_each_the_oldest_gives_way() {
        let places = ConnectionSlots::new(2);
        let all = take(&places, &["10.0.0.9", "10.0.0.1", "10.0.0.5"]);
        assert_eq!(lost(&all), [0]);
    }

    #[test]
    fn a_network_is_one_address() {
        let places = ConnectionSlots::new(3);
        let all = take(&places, &["10.0.0.1", "2001:db8::1", "2001:db8::2", "2001:db8:0:1::1"]);
        assert_eq!(lost(&all), [1]);
    }

    #[test]
    fn who_left_makes_room_and_loses_nothing() {
        let places = ConnectionSlots::new(2);
        let mut all = take(&places, &["10.0.0.1", "10.0.0.1"]);
        all[0].leave();
        drop(all.pop());
        assert_eq!(places.taken(), 0);

        all.extend(take(&places, &["10.0.0.2", "10.0.0.2"]));
        assert!(lost(&all).is_empty());
    }
}
