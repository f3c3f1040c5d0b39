//! The lines between a server and its clients: what waits for a client that does not read is
//! bounded, as at the gateway of a node.

use std::collections::{BTreeMap, VecDeque};

use metatopia_protocol::Goodbye;
use metatopia_replica::{ClientId, Delivery};

/// Bytes that may be on their way to a client without being read.
pub const WINDOW_BYTES: usize = 128 * 1_024;

/// Bytes of reliable frames that may wait for one client; more means that it is too slow. Two of the
/// largest frames, as at the gateway of a node.
pub const HELD_BYTES_MAX: usize = 1_024 * 1_024 + 64 * 1_024;

/// Why a line was cut by the server's side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hangup {
    /// The replica ended the session, and said so.
    Said(Goodbye),
    /// The client does not read.
    TooSlow,
    /// The client sent a frame that is longer than a frame may be.
    TooLong,
}

/// All lines of one life of a server.
#[derive(Debug, Default)]
pub(crate) struct VirtualGateway {
    lines: BTreeMap<ClientId, ClientQueue>,
}

#[derive(Debug, Default)]
struct ClientQueue {
    /// Bytes on their way.
    unread: usize,
    reliable: VecDeque<Vec<u8>>,
    held: usize,
    latest: Option<Vec<u8>>,
    ends: Option<Hangup>,
}

/// What comes of a change of a line.
#[derive(Debug, Default)]
pub(crate) struct Moved {
    /// Frames that leave, in order.
    pub(crate) frames: Vec<Vec<u8>>,
    /// The line is cut after them.
    pub(crate) ended: Option<Hangup>,
}

impl VirtualGateway {
    pub(crate) fn connect(&mut self, client: ClientId) {
        self.lines.insert(client, ClientQueue::default());
    }

    pub(crate) fn disconnect(&mut self, client: ClientId) {
        self.lines.remove(&client);
    }

    pub(crate) fn is_connected(&self, client: ClientId) -> bool {
        self.lines.contains_key(&client)
    }

    /// The bytes of reliable frames that wait for whoever has most of them waiting.
    pub(crate) fn held_most(&self) -> usize {
        self.lines.values().map(|line| line.held).max().unwrap_or(0)
    }

    /// Queues a frame.
    pub(crate) fn send(&mut self, client: ClientId, delivery: Delivery, frame: Vec<u8>) -> Moved {
        let over = |line: &ClientQueue| line.held.saturating_add(frame.len()) > HELD_BYTES_MAX;
        let full = self.lines.get(&client).is_some_and(over);
        let frame = match delivery {
            Delivery::Answer(question) if full => metatopia_replica::busy(question),
            _ => frame,
        };
        self.change(client, |line| match delivery {
            Delivery::Reliable | Delivery::Answer(_)
                if line.held.saturating_add(frame.len()) > HELD_BYTES_MAX =>
            {
                line.ends = Some(Hangup::TooSlow);
            }
            Delivery::Reliable | Delivery::Answer(_) => {
                line.held += frame.len();
                line.reliable.push_back(frame);
            }
            Delivery::Latest => line.latest = Some(frame),
        })
    }

    /// Notes that the client has read so many bytes.
    pub(crate) fn read(&mut self, client: ClientId, bytes: usize) -> Moved {
        self.change(client, |line| {
            line.unread = line.unread.saturating_sub(bytes);
        })
    }

    /// Ends a line, after what waits; at once if that is for who does not read.
    pub(crate) fn end(&mut self, client: ClientId, why: Hangup) -> Moved {
        self.change(client, |line| line.ends = Some(why))
    }

    fn change(&mut self, client: ClientId, change: impl FnOnce(&mut ClientQueue)) -> Moved {
        let Some(line) = self.lines.get_mut(&client) else {
            return Moved::default();
        };
        change(line);
        let mut moved = line.advance();
        let at_once = matches!(line.ends, Some(Hangup::TooSlow | Hangup::TooLong));
        if at_once || line.reliable.is_empty() {
            moved.ended = line.ends;
        }
        if moved.ended.is_some() {
            self.lines.remove(&client);
        }
        moved
    }
}

impl ClientQueue {
    fn advance(&mut self) -> Moved {
        let mut moved = Moved::default();
        while self.unread < WINDOW_BYTES {
            let frame = match self.reliable.pop_front() {
                Some(frame) => {
                    self.held -= frame.len();
                    frame
                }
                None => match self.latest.take() {
                    Some(frame) => frame,
                    None => break,
                },
            };
            self.unread += frame.len();
            moved.frames.push(frame);
        }
        moved
    }
}

#[cfg(test)]
mod tests {
    use metatopia_protocol::Goodbye;
    use metatopia_replica::{ClientId, Delivery};

    use super::{HELD_BYTES_MAX, Hangup, VirtualGateway, WINDOW_BYTES};

    const CLIENT: ClientId = ClientId(1);

    fn connected() -> VirtualGateway {
        let mut gateway = VirtualGateway::default();
        gateway.connect(CLIENT);
        gateway
    }

    #[test]
    fn a_client_that_reads_gets_everything_and_only_the_latest_scene() {
        let mut gateway = connected();
        let window = gateway.send(CLIENT, Delivery::Reliable, vec![0; WINDOW_BYTES]);
        assert_eq!(window.frames.len(), 1);
        for byte in [1, 2] {
            let waits = gateway.send(CLIENT, Delivery::Latest, vec![byte]);
            assert!(waits.frames.is_empty());
        }
        assert!(gateway.send(CLIENT, Delivery::Reliable, vec![3]).frames.is_empty());

        let moved = gateway.read(CLIENT, WINDOW_BYTES);

        assert_eq!(moved.frames, [vec![3], vec![2]]);
        assert_eq!(moved.ended, None);
    }

    #[test]
    fn a_client_that_does_not_read_is_cut_off_at_the_bound() {
        let mut gateway = connected();
        let frame = || vec![0; WINDOW_BYTES];
        assert_eq!(gateway.send(CLIENT, Delivery::Reliable, frame()).frames.len(), 1);
        let mut held = 0;
        while held + WINDOW_BYTES <= HELD_BYTES_MAX {
            assert_eq!(gateway.send(CLIENT, Delivery::Reliable, frame()).ended, None);
            held += WINDOW_BYTES;
        }

        let over = gateway.send(CLIENT, Delivery::Reliable, frame());

        assert_eq!(over.ended, Some(Hangup::TooSlow));
        assert!(!gateway.is_connected(CLIENT));
    }

    #[test]
    fn a_goodbye_leaves_before_the_line_is_cut() {
        let mut gateway = connected();
        gateway.send(CLIENT, Delivery::Reliable, vec![0; WINDOW_BYTES]);
        gateway.send(CLIENT, Delivery::Reliable, vec![7]);
        let why = Hangup::Said(Goodbye::Stopping);
        assert_eq!(gateway.end(CLIENT, why).ended, None);

        let moved = gateway.read(CLIENT, 1);

        assert_eq!((moved.frames, moved.ended), (vec![vec![7]], Some(why)));
    }
}
