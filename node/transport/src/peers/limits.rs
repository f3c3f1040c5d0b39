//! The limits of sessions with peers, and how peers are dialled.

use std::time::Duration;

/// The largest frame: the longest answer to a question, and the encoding around it.
pub const FRAME_BYTES_MAX: usize = 528 * 1024;

/// The frames of one peer that are read in a second. That is four tenths of all acts that turns
/// have room for, or 32 MiB a second. At some 45 us each, acts with wrong signatures so take at
/// most 0.37 of a core. An honest peer stays below: it sends some dozens of votes and parts a turn.
pub const FRAMES_PER_SECOND: u32 = 8_192;

/// The limits of one session.
#[derive(Debug, Clone, Copy)]
pub struct PeerLimits {
    /// The largest frame, in bytes, in either direction.
    pub frame_bytes_max: usize,
    /// The most bytes that may wait to be sent to one peer. With more, the peer is too slow.
    pub send_bytes_max: usize,
    /// The most bytes received from one peer that may wait to be handled.
    pub receive_bytes_max: usize,
    /// The frames of one peer that are read in a second, where each begun 4 KiB counts as one.
    /// Those of one second are read at once after a quiet time.
    pub frames_per_second: u32,
    /// The time without a sent frame after which a heartbeat is sent.
    pub heartbeat: Duration,
    /// The time after which a session ends in which nothing was received, or nothing could be
    /// written.
    pub silence: Duration,
}

impl Default for PeerLimits {
    fn default() -> Self {
        Self {
            frame_bytes_max: FRAME_BYTES_MAX,
            // This holds sixteen of the largest frames, or at 12 votes of 200 bytes a turn, an hour
            // of votes.
            send_bytes_max: 8 * 1024 * 1024,
            receive_bytes_max: 4 * 1024 * 1024,
            frames_per_second: FRAMES_PER_SECOND,
            heartbeat: Duration::from_millis(250),
            silence: Duration::from_secs(1),
        }
    }
}

/// How missing peers are dialled, and how long connections may take.
#[derive(Debug, Clone, Copy)]
pub struct Redial {
    /// The time before the first new try.
    pub first: Duration,
    /// The longest time between tries. The time doubles with every failure; a session that lasted
    /// this long resets it.
    pub max: Duration,
    /// The extra time that the side with the larger id waits, so that a pair seldom dials twice.
    pub larger_waits: Duration,
    /// The time after which a connection is closed on which no session has opened.
    pub open_within: Duration,
    /// The time within which two connections count as both sides dialling at once.
    pub same_time: Duration,
}

impl Default for Redial {
    fn default() -> Self {
        Self {
            first: Duration::from_millis(50),
            // A try at a network that is cut ends after its two seconds, or finds the network whole
            // again when the kernel asks a second time, after one. With this pause, servers that
            // were cut off are connected some two seconds after the network is whole.
            max: Duration::from_millis(500),
            larger_waits: Duration::from_millis(50),
            open_within: Duration::from_secs(2),
            same_time: Duration::from_secs(2),
        }
    }
}

/// The settings of the sessions of a server.
#[derive(Debug, Clone, Copy, Default)]
pub struct PeersConfig {
    /// The limits of each session.
    pub limits: PeerLimits,
    /// The way in which peers are dialled again.
    pub redial: Redial,
}
