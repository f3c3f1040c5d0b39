//! The limits of sessions with peers, and how peers are dialled.

use std::time::Duration;

/// Largest frame: the longest answer to a question, and what encodes around it.
pub const FRAME_BYTES_MAX: usize = 528 * 1024;

/// Frames of one peer that are read in a second. Four tenths of all acts that turns have room for, or
/// 32 MiB a second. Acts with wrong signatures, some 45 us each, take so at most 0.37 of a core from
/// the one who looks. Whoever keeps the rules stays below: votes and parts are some dozens a turn.
pub const FRAMES_PER_SECOND: u32 = 8_192;

/// The bounds of one session.
#[derive(Debug, Clone, Copy)]
pub struct PeerLimits {
    /// Largest frame, in bytes, either way.
    pub frame_bytes_max: usize,
    /// Bytes that may wait to be sent to one peer; more means the peer is too slow.
    pub send_bytes_max: usize,
    /// Bytes received from one peer that may wait to be handled.
    pub receive_bytes_max: usize,
    /// Frames of one peer that are read in a second, each begun 4 KiB counting as one; those of one
    /// second at once after a quiet time.
    pub frames_per_second: u32,
    /// A heartbeat is sent when nothing was for this long.
    pub heartbeat: Duration,
    /// A session ends when nothing was received, or nothing could be written, for this long.
    pub silence: Duration,
}

impl Default for PeerLimits {
    fn default() -> Self {
        Self {
            frame_bytes_max: FRAME_BYTES_MAX,
            // Sixteen of the largest frames; at 12 votes of 200 bytes a turn, an hour of votes.
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
    /// Time before the first new try.
    pub first: Duration,
    /// The time doubles with every failure up to this; a session that lasted this long resets it.
    pub max: Duration,
    /// The side with the larger id waits this much longer, so that a pair seldom dials twice.
    pub larger_waits: Duration,
    /// A connection on which no session has opened by then is closed.
    pub open_within: Duration,
    /// Two connections made within this time of each other count as both sides dialling at once.
    pub same_time: Duration,
}

impl Default for Redial {
    fn default() -> Self {
        Self {
            first: Duration::from_millis(50),
            // A try at a network that is cut ends after its two seconds, or finds the network whole
            // again when the kernel asks a second time, after one. With this pause behind it servers
            // that were cut off are connected some two seconds after the network is whole.
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
    /// Bounds of each session.
    pub limits: PeerLimits,
    /// How peers are dialled again.
    pub redial: Redial,
}
