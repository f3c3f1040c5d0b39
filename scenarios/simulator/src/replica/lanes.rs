//! Lanes between servers: frames of one connection arrive in order, or the connection breaks, as
//! over the streams of a node. Underneath, the world's network delays each frame as it likes, and
//! loses some: who waits for one in vain breaks the connection, and both sides begin anew.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::time::Duration;

use metatopia_types::PublicKey;

/// A connection from one server to another, in one direction. Later ones are greater: first the
/// sender's life, then the connections it had in it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct PeerStream {
    life: u64,
    connection: u64,
}

/// How long a frame may be late before it counts as lost.
pub(crate) const LATE: Duration = Duration::from_millis(300);

/// A frame on its way.
#[derive(Debug, Clone)]
pub struct StreamFrame {
    /// Where it belongs; or, of a frame without a place, which stream of the receiver is broken.
    stream: PeerStream,
    /// Its place in the stream, from 0.
    place: Option<u64>,
    /// What it says; nothing if it is empty.
    pub bytes: Rc<[u8]>,
    /// What a liar says besides.
    besides: Vec<Rc<[u8]>>,
}

impl StreamFrame {
    /// Returns the frame that a liar sends in the place of this one, with nothing, one message, or several.
    #[must_use]
    pub(crate) fn saying(&self, said: impl IntoIterator<Item = Vec<u8>>) -> Self {
        let mut said = said.into_iter().map(Rc::<[u8]>::from);
        let bytes = said.next().unwrap_or_else(|| Rc::new([]));
        Self { bytes, besides: said.collect(), ..self.clone() }
    }

    fn all(self) -> impl Iterator<Item = Rc<[u8]>> {
        let all = [self.bytes].into_iter().chain(self.besides);
        all.filter(|bytes| !bytes.is_empty())
    }
}

/// What came of a frame that arrived.
#[derive(Debug, Default)]
pub(crate) struct ReceiveResult {
    /// What can be read now, in order.
    pub(crate) read: Vec<Rc<[u8]>>,
    /// Connections that ended and began.
    pub(crate) changes: Vec<ConnectionChange>,
    /// What to tell its sender: its stream is broken.
    pub(crate) answer: Option<StreamFrame>,
}

/// The lanes of one life of a server.
#[derive(Debug)]
pub(crate) struct PeerStreams {
    life: u64,
    connections: u64,
    /// Servers that run, as far as the transport knows.
    reachable: BTreeSet<PublicKey>,
    /// Servers to keep connections with.
    wanted: BTreeSet<PublicKey>,
    /// Connections: the stream to each server, and how many frames are in it.
    out: BTreeMap<PublicKey, (PeerStream, u64)>,
    /// What came of the newest stream of each server.
    into: BTreeMap<PublicKey, Inward>,
}

/// What came of a stream.
#[derive(Debug, Default)]
struct Inward {
    stream: PeerStream,
    /// How many frames came in order.
    next: u64,
    /// Frames that overtook others, by their places.
    early: BTreeMap<u64, StreamFrame>,
    /// Since when they wait.
    since: Duration,
    /// A frame of it is lost, and its sender was told so at this moment.
    broken: Option<Duration>,
}

/// A connection came or went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConnectionChange {
    Up(PublicKey),
    Down(PublicKey),
}

impl PeerStreams {
    /// The lanes of a process without connections. `life` is greater than those of all earlier lives.
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
    pub(crate) fn came(&mut self, peer: PublicKey) -> Vec<ConnectionChange> {
        let mut changes = self.went(peer);
        self.reachable.insert(peer);
        changes.extend(self.connect());
        changes
    }

    /// Notes that the process of `peer` is gone.
    pub(crate) fn went(&mut self, peer: PublicKey) -> Vec<ConnectionChange> {
        self.reachable.remove(&peer);
        self.connect()
    }

    /// Keeps connections with these, as far as they run, and with nobody else.
    pub(crate) fn want(&mut self, wanted: BTreeSet<PublicKey>) -> Vec<ConnectionChange> {
        self.wanted = wanted;
        self.connect()
    }

    fn connect(&mut self) -> Vec<ConnectionChange> {
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
            self.out.insert(*peer, (PeerStream { life, connection }, 0));
        }
        let down = gone.into_iter().map(ConnectionChange::Down);
        down.chain(new.into_iter().map(ConnectionChange::Up)).collect()
    }

    /// The next frame for `peer`; nothing if there is no connection.
    pub(crate) fn frame(&mut self, peer: PublicKey, bytes: &Rc<[u8]>) -> Option<StreamFrame> {
        let (stream, frames) = self.out.get_mut(&peer)?;
        let place = Some(*frames);
        *frames += 1;
        Some(StreamFrame { stream: *stream, place, bytes: Rc::clone(bytes), besides: Vec::new() })
    }

    /// Handles a frame that came.
    pub(crate) fn arrived(
        &mut self,
        now: Duration,
        from: PublicKey,
        frame: StreamFrame,
    ) -> ReceiveResult {
        let mut arrival = ReceiveResult::default();
        let Some((own, _)) = self.out.get(&from) else {
            return arrival;
        };
        let Some(place) = frame.place else {
            if *own == frame.stream {
                arrival.changes = self.begin_anew(from);
            }
            return arrival;
        };
        let inward = self.into.entry(from).or_default();
        if frame.stream > inward.stream {
            *inward = Inward { stream: frame.stream, ..Inward::default() };
        }
        if frame.stream != inward.stream {
            return arrival;
        }
        let told = |inward: &Inward| {
            let (bytes, besides) = (Rc::new([]), Vec::new());
            StreamFrame { stream: inward.stream, place: None, bytes, besides }
        };
        if let Some(at) = inward.broken {
            // It may have missed it.
            if now >= at + LATE {
                inward.broken = Some(now);
                arrival.answer = Some(told(inward));
            }
            return arrival;
        }
        if place >= inward.next {
            if inward.early.is_empty() {
                inward.since = now;
            }
            inward.early.insert(place, frame);
        }
        while let Some(frame) = inward.early.remove(&inward.next) {
            inward.next += 1;
            inward.since = now;
            arrival.read.extend(frame.all());
        }
        if !inward.early.is_empty() && now >= inward.since + LATE {
            inward.broken = Some(now);
            inward.early.clear();
            arrival.answer = Some(told(inward));
            arrival.changes = self.begin_anew(from);
        }
        arrival
    }

    /// Replaces the connection to `peer` by another one.
    fn begin_anew(&mut self, peer: PublicKey) -> Vec<ConnectionChange> {
        self.connections += 1;
        let (life, connection) = (self.life, self.connections);
        self.out.insert(peer, (PeerStream { life, connection }, 0));
        vec![ConnectionChange::Down(peer), ConnectionChange::Up(peer)]
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::rc::Rc;

    use std::time::Duration;

    use metatopia_types::PublicKey;

    use super::{ConnectionChange, LATE, PeerStreams, StreamFrame};

    const PEER: PublicKey = PublicKey([7; 32]);

    fn connected(life: u64) -> PeerStreams {
        let mut lanes = PeerStreams::new(life);
        assert_eq!(lanes.want(BTreeSet::from([PEER])), []);
        assert_eq!(lanes.came(PEER), [ConnectionChange::Up(PEER)]);
        lanes
    }

    fn read(to: &mut PeerStreams, frame: &StreamFrame) -> Vec<u8> {
        to.arrived(Duration::ZERO, PEER, frame.clone()).read.concat()
    }

    #[test]
    fn a_frame_that_is_lost_ends_the_connection_on_both_sides() {
        let (mut from, mut to) = (connected(1), connected(2));
        let frames: Vec<_> = (0..4).filter_map(|n| from.frame(PEER, &Rc::from([n]))).collect();
        assert_eq!(read(&mut to, &frames[0]), [0]);
        assert!(read(&mut to, &frames[2]).is_empty());

        let late = to.arrived(LATE, PEER, frames[3].clone());

        let anew = [ConnectionChange::Down(PEER), ConnectionChange::Up(PEER)];
        assert_eq!(late.changes, anew);
        let told = from.arrived(LATE, PEER, late.answer.expect("it is told"));
        assert_eq!(told.changes, anew);
        // What was on its way is lost, and what comes now is read.
        assert!(to.arrived(LATE, PEER, frames[1].clone()).read.is_empty());
        let new = from.frame(PEER, &Rc::from([9])).expect("connected");
        assert_eq!(read(&mut to, &new), [9]);
    }

    #[test]
    fn frames_that_overtake_wait_and_repeated_ones_are_dropped() {
        let (mut from, mut to) = (connected(1), connected(2));
        let frames: Vec<_> = (0..3).filter_map(|n| from.frame(PEER, &Rc::from([n]))).collect();

        assert!(read(&mut to, &frames[1]).is_empty());
        assert_eq!(read(&mut to, &frames[0]), [0, 1]);
        assert!(read(&mut to, &frames[1]).is_empty());
        assert_eq!(read(&mut to, &frames[2]), [2]);
    }

    #[test]
    fn a_new_process_begins_a_new_connection_and_the_rest_of_the_old_one_is_lost() {
        let (mut from, mut to) = (connected(1), connected(2));
        let lost = from.frame(PEER, &Rc::from([0])).expect("connected");

        assert_eq!(from.came(PEER), [ConnectionChange::Down(PEER), ConnectionChange::Up(PEER)]);
        let new = from.frame(PEER, &Rc::from([1])).expect("connected");

        assert_eq!(read(&mut to, &new), [1]);
        assert!(read(&mut to, &lost).is_empty());
    }

    #[test]
    fn there_is_no_lane_to_who_is_not_wanted() {
        let mut lanes = PeerStreams::new(1);

        assert_eq!(lanes.came(PEER), []);

        assert!(lanes.frame(PEER, &Rc::from([0])).is_none());
        let mut other = connected(2);
        let frame = other.frame(PEER, &Rc::from([0])).expect("connected");
        assert!(read(&mut lanes, &frame).is_empty());
    }
}
