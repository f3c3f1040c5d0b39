//! The limits of the gateway.

use std::time::Duration;

use metatopia_protocol::{CLIENT_FRAME_BYTES_MAX, SERVER_FRAME_BYTES_MAX};

use super::SourceLimits;
use crate::pace::UNIT_BYTES;

/// The limits of the gateway.
///
/// For one client it holds at most: [`reliable_bytes_max`](Self::reliable_bytes_max), one latest
/// frame, 128 KiB that were sent and not acknowledged, and inwards
/// [`receive_bytes_max`](Self::receive_bytes_max), one frame, and a window of 64 KiB. For all
/// clients, outwards: [`held_bytes_max`](Self::held_bytes_max) and at most that again in fair
/// shares.
#[derive(Debug, Clone, Copy)]
pub struct GatewayLimits {
    /// The most clients at once, including those in their handshake.
    pub clients_max: u32,
    /// The most clients of one IPv4 address, or one IPv6 network of 64 bits, if it is not trusted.
    /// Below this number they give way to newcomers from other addresses once there is no place
    /// left.
    pub clients_per_ip_max: u32,
    /// What one address, or one such network, may have. Beyond it a client waits.
    pub source: SourceLimits,
    /// The most handshakes at once whose address is not proved. Above it newcomers must prove
    /// theirs first.
    pub unvalidated_max: u32,
    /// The largest frame from a client, in bytes.
    pub frame_in_bytes_max: usize,
    /// The largest frame to a client, in bytes.
    pub frame_out_bytes_max: usize,
    /// The most bytes of reliable frames that may wait for one client. With more, it is too slow.
    pub reliable_bytes_max: usize,
    /// The bytes that may wait for all clients together before those above a fair share are closed.
    pub held_bytes_max: usize,
    /// The most bytes received from one client that may wait to be handled.
    pub receive_bytes_max: usize,
    /// The frames of one client that are read in a second, where each begun 4 KiB counts as one.
    /// Faster ones wait unread, except a second's worth after a quiet time. At least one.
    pub frames_per_second: u32,
    /// The time from the first packet of a client to the end of its first frame.
    pub handshake: Duration,
    /// The time without a packet after which a client counts as gone.
    pub idle: Duration,
    /// The time after which a client that reads nothing of what is written to it is closed.
    pub stall: Duration,
    /// The time that a close waits for the client to receive what was queued before it.
    pub linger: Duration,
}

impl GatewayLimits {
    /// Returns the bytes that are read from one client in a second over a carrier whose frames may
    /// be cheaper to send than to read: the most that its frames can have.
    pub(super) fn bytes_per_second(&self) -> u32 {
        self.frames_per_second.max(1).saturating_mul(UNIT_BYTES)
    }

    /// Returns the bytes that every client may hold, whatever the others do.
    pub(super) fn fair_share_bytes(&self) -> usize {
        self.held_bytes_max / self.clients_max.max(1) as usize
    }
}

impl Default for GatewayLimits {
    fn default() -> Self {
        Self {
            clients_max: 512,
            clients_per_ip_max: 512,
            source: SourceLimits::default(),
            unvalidated_max: 32,
            frame_in_bytes_max: CLIENT_FRAME_BYTES_MAX,
            frame_out_bytes_max: SERVER_FRAME_BYTES_MAX,
            // The limit holds two of the largest frames, or what 20 turns a second of 5 KiB gather
            // in 10 s.
            reliable_bytes_max: 1024 * 1024 + 64 * 1024,
            held_bytes_max: 64 * 1024 * 1024,
            receive_bytes_max: 128 * 1024,
            // A client sends forty acts and confirms twenty views a second, and asks questions
            // beside them.
            frames_per_second: 128,
            handshake: Duration::from_secs(5),
            idle: Duration::from_secs(10),
            stall: Duration::from_secs(10),
            linger: Duration::from_secs(1),
        }
    }
}
