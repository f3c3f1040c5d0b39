//! Places for connections, and who gives way when none is free.
//!
//! A client may keep its connection for as long as it says something now and then, so whoever waited
//! for a free place could wait for ever. A newcomer waits for nobody: it takes the oldest connection's
//! place of the address that has most of them. So a crowd from one address is in nobody's way but its
//! own, and as long as there is room it may have all of it.

use std::{
    cmp::Reverse,
    collections::BTreeMap,
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use crate::gateway::Block;

#[derive(Debug)]
pub(super) struct Places {
    max: usize,
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    /// The older the smaller.
    next: u64,
    holders: BTreeMap<u64, Holder>,
}

#[derive(Debug)]
struct Holder {
    block: Block,
    lost: CancellationToken,
}

/// A place that is taken until it is left or dropped.
#[derive(Debug)]
pub(super) struct Place {
    places: Arc<Places>,
    number: u64,
    lost: CancellationToken,
}

impl Places {
    pub(super) fn new(max: usize) -> Arc<Self> {
        Arc::new(Self { max, taken: Mutex::default() })
    }

    fn lock(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Those that are taken.
    pub(super) fn taken(&self) -> usize {
        self.lock().holders.len()
    }

    /// Takes a place for a connection from `ip`, somebody else's if none is free.
    pub(super) fn take(self: &Arc<Self>, ip: IpAddr) -> Place {
        let (block, lost) = (Block::of(ip), CancellationToken::new());
        let mut taken = self.lock();
        if taken.holders.len() >= self.max
            && let Some(holder) = taken.crowding().and_then(|number| taken.holders.remove(&number))
        {
            holder.lost.cancel();
        }
        let number = taken.next;
        taken.next += 1;
        taken.holders.insert(number, Holder { block, lost: lost.clone() });
        drop(taken);
        Place { places: self.clone(), number, lost }
    }
}

impl Taken {
    /// The oldest place of the block that has most; of several such blocks, the oldest of all.
    fn crowding(&self) -> Option<u64> {
        let mut blocks: BTreeMap<Block, (usize, Reverse<u64>)> = BTreeMap::new();
        for (number, holder) in &self.holders {
            blocks.entry(holder.block).or_insert((0, Reverse(*number))).0 += 1;
        }
        blocks.into_values().max().map(|(_, Reverse(oldest))| oldest)
    }
}

impl Place {
    /// Makes room for somebody else; a place that is left is not lost any more.
    pub(super) fn leave(&self) {
        self.places.lock().holders.remove(&self.number);
    }

    /// Ends when somebody else has taken the place.
    pub(super) fn lost(&self) -> WaitForCancellationFutureOwned {
        self.lost.clone().cancelled_owned()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.leave();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(places: &Arc<Places>, ips: &[&str]) -> Vec<Place> {
        ips.iter().map(|ip| places.take(ip.parse().unwrap())).collect()
    }

    /// Which of these have lost their places.
    fn lost(all: &[Place]) -> Vec<usize> {
        (0..all.len()).filter(|index| all[*index].lost.is_cancelled()).collect()
    }

    #[test]
    fn the_oldest_of_the_address_that_has_most_gives_way() {
        let places = Places::new(5);
        let mut all = take(&places, &["10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.2", "10.0.0.2"]);
        assert_eq!((lost(&all), places.taken()), (vec![], 5));

        all.extend(take(&places, &["10.0.0.4"]));
        assert_eq!((lost(&all), places.taken()), (vec![1], 5));
        all.extend(take(&places, &["10.0.0.2"]));
        assert_eq!((lost(&all), places.taken()), (vec![1, 3], 5), "its own");
    }

    #[test]
    fn of_addresses_that_have_one_each_the_oldest_gives_way() {
        let places = Places::new(2);
        let all = take(&places, &["10.0.0.9", "10.0.0.1", "10.0.0.5"]);
        assert_eq!(lost(&all), [0]);
    }

    #[test]
    fn a_network_is_one_address() {
        let places = Places::new(3);
        let all = take(&places, &["10.0.0.1", "2001:db8::1", "2001:db8::2", "2001:db8:0:1::1"]);
        assert_eq!(lost(&all), [1]);
    }

    #[test]
    fn who_left_makes_room_and_loses_nothing() {
        let places = Places::new(2);
        let mut all = take(&places, &["10.0.0.1", "10.0.0.1"]);
        all[0].leave();
        drop(all.pop());
        assert_eq!(places.taken(), 0);

        all.extend(take(&places, &["10.0.0.2", "10.0.0.2"]));
        assert!(lost(&all).is_empty());
    }
}
