//! Carries packets between TUN devices: a thread for each device reads, one thread holds what is on
//! its way and hands it out when it is due.

use std::{
    cmp::Reverse,
    collections::BinaryHeap,
    io,
    net::Ipv4Addr,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
        mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel},
    },
    thread,
    time::{Duration, Instant},
};

use tun::Device;

use crate::{NetworkConditions, PacketDice};

/// Bytes of a packet, at most: less than any real path has, so that nothing is ever in two parts.
pub(crate) const PACKET_BYTES_MAX: u16 = 1_400;

/// Packets between the readers and the thread that carries them; more than that are lost, as a
/// router's queue loses them.
const ARRIVED_MAX: usize = 4_096;

/// Packets that are on their way; more than that are lost.
const FLYING_MAX: usize = 65_536;

/// What a switch has done so far.
#[derive(Debug, Default)]
pub struct SwitchCounters {
    /// Packets handed out.
    pub packets: AtomicU64,
    /// Packets that the weather or a cut took, or that found a queue full.
    pub lost: AtomicU64,
    /// Packets that came twice.
    pub doubled: AtomicU64,
}

/// A switch that runs as long as the process.
#[derive(Clone, Debug)]
pub struct Switch {
    conditions: Arc<Mutex<NetworkConditions>>,
    carried: Arc<SwitchCounters>,
}

struct Packet {
    from: usize,
    bytes: Vec<u8>,
}

/// On its way; ordered by when it is due, and then by when it was sent.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Flying {
    due: Instant,
    number: u64,
    to: usize,
    bytes: Vec<u8>,
}

impl Switch {
    /// Connects these devices; the address of the n-th one ends with n + 1.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn start(
        devices: Vec<Device>,
        conditions: NetworkConditions,
        seed: u64,
    ) -> io::Result<Self> {
        let devices: Arc<[Device]> = devices.into();
        let (arrive, arrived) = sync_channel(ARRIVED_MAX);
        let switch = Self { conditions: Arc::new(Mutex::new(conditions)), carried: Arc::default() };
        for seat in 0..devices.len() {
            let (devices, arrive) = (Arc::clone(&devices), arrive.clone());
            let carried = Arc::clone(&switch.carried);
            let read = move || read(&devices[seat], seat, &arrive, &carried);
            thread::Builder::new().name(format!("seat {seat}")).spawn(read)?;
        }
        let here = switch.clone();
        let carry = move || here.carry(&devices, &arrived, seed);
        thread::Builder::new().name("switch".into()).spawn(carry)?;
        Ok(switch)
    }

    /// Returns the conditions that hold now. A change takes effect at once.
    pub fn conditions(&self) -> MutexGuard<'_, NetworkConditions> {
        self.conditions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns what the switch has done so far.
    #[must_use]
    pub fn carried(&self) -> &SwitchCounters {
        &self.carried
    }

    fn carry(&self, devices: &[Device], arrived: &Receiver<Packet>, seed: u64) {
        let seats = devices.len();
        let mut fates: Vec<PacketDice> =
            (0..seats * seats).map(|n| PacketDice::new(seed, (n / seats, n % seats))).collect();
        let (mut flying, mut number) = (BinaryHeap::<Reverse<Flying>>::new(), 0);
        loop {
            let now = Instant::now();
            while flying.peek().is_some_and(|Reverse(next)| next.due <= now)
                && let Some(Reverse(packet)) = flying.pop()
            {
                // A device whose namespace is gone takes nothing, as an unplugged cable.
                let told = devices[packet.to].send(&packet.bytes);
                let counter = if told.is_ok() { &self.carried.packets } else { &self.carried.lost };
                counter.fetch_add(1, Ordering::Relaxed);
            }
            let wait = flying.peek().map_or(Duration::from_millis(100), |Reverse(next)| {
                next.due.saturating_duration_since(now)
            });
            let packet = match arrived.recv_timeout(wait) {
                Ok(packet) => packet,
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => return,
            };
            let Some(to) = seat_of(&packet.bytes).filter(|to| *to < seats) else {
                continue;
            };
            let link = (packet.from, to);
            let weather = self.conditions().of(link);
            let copies = match weather {
                Some(weather) => fates[link.0 * seats + link.1].of_packet(weather),
                None => Vec::new(),
            };
            if copies.is_empty() || flying.len() >= FLYING_MAX {
                self.carried.lost.fetch_add(1, Ordering::Relaxed);
                continue;
            }
            self.carried.doubled.fetch_add(copies.len() as u64 - 1, Ordering::Relaxed);
            for after in copies {
                number += 1;
                let due = Instant::now() + after;
                flying.push(Reverse(Flying { due, number, to, bytes: packet.bytes.clone() }));
            }
        }
    }
}

fn read(device: &Device, seat: usize, arrive: &SyncSender<Packet>, carried: &SwitchCounters) {
    let mut buffer = [0; PACKET_BYTES_MAX as usize];
    loop {
        let Ok(length) = device.recv(&mut buffer) else {
            return;
        };
        let packet = Packet { from: seat, bytes: buffer[..length].to_vec() };
        if arrive.try_send(packet).is_err() {
            carried.lost.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Returns where an IPv4 packet goes, or `None` for anything else.
fn seat_of(packet: &[u8]) -> Option<usize> {
    let version = packet.first()? >> 4;
    let to: [u8; 4] = packet.get(16..20)?.try_into().ok()?;
    let to = Ipv4Addr::from(to);
    let here = to.octets()[..3] == crate::lab::NETWORK;
    if version == 4 && here { usize::from(to.octets()[3]).checked_sub(1) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_goes_where_its_header_says_and_strange_ones_nowhere() {
        let mut packet = [0; 20];
        packet[0] = 0x45;
        packet[16..].copy_from_slice(&[10, 78, 0, 3]);
        assert_eq!(seat_of(&packet), Some(2));
        assert_eq!(seat_of(&packet[..19]), None, "cut short");
        packet[16..].copy_from_slice(&[10, 79, 0, 3]);
        assert_eq!(seat_of(&packet), None, "another network");
        packet[16..].copy_from_slice(&[10, 78, 0, 0]);
        assert_eq!(seat_of(&packet), None, "nobody's address");
        packet[0] = 0x65;
        assert_eq!(seat_of(&packet), None, "no IPv4");
    }
}
