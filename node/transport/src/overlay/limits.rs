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

/// The most members that were found and that may wait for the owner. More are not told.
pub const FOUND_MAX: usize = 32;

/// The most members that are dialled in a minute because others told of them. A network of 20 is met in
/// one; more would let a liar use this member to knock at others.
pub const FOUND_DIALS_PER_MINUTE_MAX: u32 = 60;

/// The most members of the table that are about as far away as each other, by their keys: half as far as
/// those of the bucket before. So 10,000 members make a table of less than 200.
pub const TABLE_BUCKET_MAX: usize = 16;

/// The most members of the table with addresses of one IPv4 address, or IPv6 network of 64 bits, that is
/// not of this machine.
pub const TABLE_SOURCE_MAX: usize = 16;

/// The most addresses of one member in the table, and the most that are dialled to reach it.
pub const TABLE_ADDRESSES_MAX: usize = 4;

/// The most questions and answers of one member's Kademlia in a second. One more ends its connection. A
/// search asks each member about once for each doubling of their number.
pub const TABLE_FRAMES_PER_SECOND_MAX: u32 = 64;

/// The longest question or answer of Kademlia: 20 members with four addresses each.
pub const ANSWER_BYTES_MAX: usize = 8 * 1024;

/// The most addresses of others that are remembered from calls in the local network.
pub const LAN_MEMBERS_MAX: usize = 256;

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
