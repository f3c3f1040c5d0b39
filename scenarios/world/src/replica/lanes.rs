//! Lanes between servers: frames of one connection arrive in order, or the connection breaks, as
//! over the streams of a node. Underneath, the world's network delays each frame as it likes.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use metatopia_types::PublicKey;

/// A connection from one server to another, in one direction. Later ones are greater: first the
/// sender's life, then the connections it had in it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stream {
    life: u64,
    connection: u64,
}

/// A frame on its way.
#[derive(Debug, Clone)]
pub struct Frame {
    stream: Stream,
    /// Its place in the stream, from 0.
    place: u64,
    /// What it says.
    pub bytes: Rc<[u8]>,
}

/// The lanes of one life of a server.
#[derive(Debug)]
pub(crate) struct Lanes {
    life: u64,
    connections: u64,
    /// Servers that run, as far as the transport knows.
    reachable: BTreeSet<PublicKey>,
    /// Servers to keep connections with.
    wanted: BTreeSet<PublicKey>,
    /// Connections: the stream to each server, and how many frames are in it.
    out: BTreeMap<PublicKey, (Stream, u64)>,
    /// What came of the newest stream of each server: how many frames in order, and those that
    /// overtook others.
    into: BTreeMap<PublicKey, (Stream, u64, Overtakers)>,
}

/// Frames that overtook others, by their place in the stream.
type Overtakers = BTreeMap<u64, Rc<[u8]>>;

/// A connection came or went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    Up(PublicKey),
    Down(PublicKey),
}

impl Lanes {
    /// No connections. `life` is greater than those of all earlier lives.
    pub(crate) fn new(life: u64) -> Self {
        Self {
            life,
            connections: 0,
            reachable: BTreeSet::new(),
            wanted: BTreeSet::new(),
            out: BTreeMap::new(),
            into: BTreeMap::new(),
        }
    }

    pub(crate) fn connected(&self) -> impl Iterator<Item = PublicKey> + '_ {
        self.out.keys().copied()
    }

    /// The process of `peer` runs; if it ran before, as far as we knew, it is a new one.
    pub(crate) fn came(&mut self, peer: PublicKey) -> Vec<Change> {
        let mut changes = self.went(peer);
        self.reachable.insert(peer);
        changes.extend(self.connect());
        changes
    }

    /// The process of `peer` is gone.
    pub(crate) fn went(&mut self, peer: PublicKey) -> Vec<Change> {
        self.reachable.remove(&peer);
        self.connect()
    }

    /// Keeps connections with these, as far as they run, and with nobody else.
    pub(crate) fn want(&mut self, wanted: BTreeSet<PublicKey>) -> Vec<Change> {
        self.wanted = wanted;
        self.connect()
    }

    fn connect(&mut self) -> Vec<Change> {
        let (wanted, reachable) = (&self.wanted, &self.reachable);
        let stands = |peer: &PublicKey| wanted.contains(peer) && reachable.contains(peer);
        let gone: Vec<_> = self.connected().filter(|peer| !stands(peer)).collect();
        let mut new: Vec<_> = wanted.intersection(reachable).copied().collect();
        new.retain(|peer| !self.out.contains_key(peer));
        for peer in &gone {
            self.out.remove(peer);
            self.into.remove(peer);
        }
        for peer in &new {
            self.connections += 1;
            let (life, connection) = (self.life, self.connections);
            self.out.insert(*peer, (Stream { life, connection }, 0));
        }
        let down = gone.into_iter().map(Change::Down);
        down.chain(new.into_iter().map(Change::Up)).collect()
    }

    /// The next frame for `peer`; nothing if there is no connection.
    pub(crate) fn frame(&mut self, peer: PublicKey, bytes: &Rc<[u8]>) -> Option<Frame> {
        let (stream, frames) = self.out.get_mut(&peer)?;
        let place = *frames;
        *frames += 1;
        Some(Frame { stream: *stream, place, bytes: Rc::clone(bytes) })
    }

    /// A frame came: what can be read now, in order.
    pub(crate) fn arrived(&mut self, from: PublicKey, frame: Frame) -> Vec<Rc<[u8]>> {
        if !self.out.contains_key(&from) {
            return Vec::new();
        }
        let (stream, next, early) = self.into.entry(from).or_default();
        if frame.stream > *stream {
            *stream = frame.stream;
            *next = 0;
            early.clear();
        }
        if frame.stream == *stream && frame.place >= *next {
            early.insert(frame.place, frame.bytes);
        }
        let mut read = Vec::new();
        while let Some(bytes) = early.remove(next) {
            *next += 1;
            read.push(bytes);
        }
        read
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::rc::Rc;

    use metatopia_types::PublicKey;

    use super::{Change, Lanes};

    const PEER: PublicKey = PublicKey([7; 32]);

    fn connected(life: u64) -> Lanes {
        let mut lanes = Lanes::new(life);
        assert_eq!(lanes.want(BTreeSet::from([PEER])), []);
        assert_eq!(lanes.came(PEER), [Change::Up(PEER)]);
        lanes
    }

    #[test]
    fn frames_that_overtake_wait_and_repeated_ones_are_dropped() {
        let (mut from, mut to) = (connected(1), connected(2));
        let frames: Vec<_> = (0..3).filter_map(|n| from.frame(PEER, &Rc::from([n]))).collect();

        assert!(to.arrived(PEER, frames[1].clone()).is_empty());
        let read = to.arrived(PEER, frames[0].clone());
        assert_eq!(read.concat(), [0, 1]);
        assert!(to.arrived(PEER, frames[1].clone()).is_empty());
        assert_eq!(to.arrived(PEER, frames[2].clone()).concat(), [2]);
    }

    #[test]
    fn a_new_process_begins_a_new_connection_and_the_rest_of_the_old_one_is_lost() {
        let (mut from, mut to) = (connected(1), connected(2));
        let lost = from.frame(PEER, &Rc::from([0])).expect("connected");

        assert_eq!(from.came(PEER), [Change::Down(PEER), Change::Up(PEER)]);
        let new = from.frame(PEER, &Rc::from([1])).expect("connected");

        assert_eq!(to.arrived(PEER, new).concat(), [1]);
        assert!(to.arrived(PEER, lost).is_empty());
    }

    #[test]
    fn there_is_no_lane_to_who_is_not_wanted() {
        let mut lanes = Lanes::new(1);

        assert_eq!(lanes.came(PEER), []);

        assert!(lanes.frame(PEER, &Rc::from([0])).is_none());
        let mut other = connected(2);
        let frame = other.frame(PEER, &Rc::from([0])).expect("connected");
        assert!(lanes.arrived(PEER, frame).is_empty());
    }
}
