//! Bounds of the overlay's transport.

use std::time::Duration;

use crate::peers::PeerLimits;

/// The largest frame: what the messages of the overlay are cut for.
pub const FRAME_BYTES_MAX: usize = 8 * 1024;

/// The most sessions that others began. A member of the overlay keeps 96 connections, whoever began them;
/// more may come in, so that a newcomer finds a place before the least used one is closed.
pub const SESSIONS_IN_MAX: u32 = 160;

/// The most sessions that others began from one IPv4 address, or IPv6 network of 64 bits. This
/// machine's own addresses are not counted: a small world runs on one machine.
pub const SESSIONS_PER_SOURCE_MAX: usize = 16;

/// The most connections with one member: one from each side, and those that are being closed.
pub const CONNECTIONS_PER_MEMBER_MAX: u32 = 4;

/// The most dials under way. One more fails at once.
pub const DIALS_MAX: usize = 64;

/// The most frames that wait for a member that is being dialled.
pub const WAITING_FRAMES_MAX: usize = 16;

/// The most orders that may wait for the swarm's task, and the most failed dials that may wait for the
/// owner.
pub(super) const ORDERS_MAX: usize = 64;

/// The most events that may wait for the owner: 2 MiB. Beyond it members are not read.
pub(super) const EVENTS_MAX: usize = 256;

/// The limits of one session. A member of the overlay sends less than one frame a second at rest; the
/// machine above reads no more than 256 KiB of a member in a cycle of two seconds.
pub(super) const SESSION: PeerLimits = PeerLimits {
    frame_bytes_max: FRAME_BYTES_MAX,
    // Eight of the largest frames, or an answer to each question of a hundred.
    send_bytes_max: 128 * 1024,
    receive_bytes_max: 64 * 1024,
    frames_per_second: 128,
    heartbeat: Duration::from_secs(5),
    silence: Duration::from_secs(16),
};
