//! The bounds of the gateway.

use std::time::Duration;

use metatopia_protocol::{CLIENT_FRAME_BYTES_MAX, SERVER_FRAME_BYTES_MAX};

use super::SourceLimits;
use crate::pace::UNIT_BYTES;

/// The bounds of the gateway.
///
/// Held for one client at most: [`reliable_bytes_max`](Self::reliable_bytes_max), one latest frame,
/// 128 KiB that were sent and not acknowledged, and inwards
/// [`receive_bytes_max`](Self::receive_bytes_max), one frame, and a window of 64 KiB. For all
/// clients, outwards: [`held_bytes_max`](Self::held_bytes_max) and at most that again in fair
/// shares.
#[derive(Debug, Clone, Copy)]
pub struct GatewayLimits {
    /// Clients at once, also those in their handshake.
    pub clients_max: u32,
    /// Clients of one IPv4 address, or one IPv6 network of 64 bits, if it is not trusted. Below it
    /// they give way to newcomers from other addresses once there is no place left.
    pub clients_per_ip_max: u32,
    /// What one address, or one such network, may have, beyond which it waits.
    pub source: SourceLimits,
    /// Handshakes at once whose address is not proved; above it newcomers must prove theirs first.
    pub unvalidated_max: u32,
    /// Largest frame from a client, in bytes.
    pub frame_in_bytes_max: usize,
    /// Largest frame to a client, in bytes.
    pub frame_out_bytes_max: usize,
    /// Bytes of reliable frames that may wait for one client; more means that it is too slow.
    pub reliable_bytes_max: usize,
    /// Bytes that may wait for all clients together before those above a fair share are closed.
    pub held_bytes_max: usize,
    /// Bytes received from one client that may wait to be handled.
    pub receive_bytes_max: usize,
    /// Frames of one client that are taken in a second, each begun 4 KiB counting as one; what comes
    /// faster waits unread, but for a second's worth after a quiet time. At least one.
    pub frames_per_second: u32,
    /// Time from the first packet of a client to the end of its first frame.
    pub handshake: Duration,
    /// A client from which no packet came for this long is gone.
    pub idle: Duration,
    /// A client that takes nothing of what is written to it for this long is closed.
    pub stall: Duration,
    /// Time that a close waits for the client to have received what was queued before it.
    pub linger: Duration,
}

impl GatewayLimits {
    /// Bytes that are read from one client in a second over a carrier whose frames may be cheaper to
    /// send than to read: what its frames at their most come to.
    pub(super) fn bytes_per_second(&self) -> u32 {
        self.frames_per_second.max(1).saturating_mul(UNIT_BYTES)
    }

    /// Returns what every client may hold, whatever the others do.
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
            // Two of the largest frames, or what 20 turns a second of 5 KiB gather in 10 s.
            reliable_bytes_max: 1024 * 1024 + 64 * 1024,
            held_bytes_max: 64 * 1024 * 1024,
            receive_bytes_max: 128 * 1024,
            // Forty acts and twenty seen views a second, and what is asked beside them.
            frames_per_second: 128,
            handshake: Duration::from_secs(5),
            idle: Duration::from_secs(10),
            stall: Duration::from_secs(10),
            linger: Duration::from_secs(1),
        }
    }
}
