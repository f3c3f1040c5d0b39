//! Decides who may connect: how many at once, from where, and who must prove its address first.
//!
//! The source address of a first packet can be forged. So a handshake that has not proved its
//! address counts towards one small common limit and never towards an address' own: nobody can use
//! up the places of another address. Above the common limit a newcomer must prove its address,
//! which costs this server nothing (a QUIC Retry, for which nothing is remembered).
//!
//! While there are free places, one address may have all of them. When there are none, a newcomer
//! takes a place of the address that has most, if that address has at least two more than the
//! newcomer's own. Among its clients strangers give way before known people, and the newest
//! stranger first. So a crowd delays nobody but itself.

use std::{
    cmp::Reverse,
    collections::BTreeMap,
    net::{IpAddr, Ipv6Addr},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use tokio_util::sync::CancellationToken;

use super::{
    GatewayLimits,
    sources::{Rations, Sources},
};

/// Says why a newcomer does not come in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turned {
    /// The newcomer must prove its address first.
    ToProve,
    /// No place is left, or the newcomer's address has too many.
    Away,
}

/// Addresses that are counted together: one IPv4 address, or one IPv6 network of 64 bits, which is
/// the least that one household has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Block(IpAddr);

impl Block {
    pub(crate) fn of(ip: IpAddr) -> Self {
        Self(match ip.to_canonical() {
            IpAddr::V4(ip) => ip.into(),
            IpAddr::V6(ip) => Ipv6Addr::from_bits(ip.to_bits() >> 64 << 64).into(),
        })
    }
}

/// A client that has a place, at a proved address.
#[derive(Debug, Default, Clone)]
pub(super) struct AdmittedClient {
    /// Says whether the sim knows the session's key.
    pub(super) known: Arc<AtomicBool>,
    /// Cancelled when another client has taken the place.
    lost: CancellationToken,
}

#[derive(Debug, Default)]
struct Counts {
    clients: u32,
    unvalidated: u32,
    /// The next number; older clients have smaller ones.
    next: u64,
    /// The counted clients. Clients of trusted sources are not among them and may have any number
    /// of places.
    blocks: BTreeMap<Block, BTreeMap<u64, AdmittedClient>>,
}

impl Counts {
    fn of(&self, block: Block) -> usize {
        self.blocks.get(&block).map_or(0, BTreeMap::len)
    }

    /// Returns the client that would give way to a newcomer of this block.
    fn gives_way(&self, block: Block) -> Option<(Block, u64)> {
        let sizes = self.blocks.iter().map(|(block, holders)| (holders.len(), Reverse(*block)));
        let (most, Reverse(crowd)) = sizes.max()?;
        if most < self.of(block) + 2 {
            return None;
        }
        let newest = self.blocks[&crowd]
            .iter()
            .map(|(number, holder)| (!holder.known.load(Ordering::Relaxed), *number));
        newest.max().map(|(_, number)| (crowd, number))
    }

    /// Takes a client's place away, whether or not it still has one.
    fn remove(&mut self, block: Block, number: u64) -> Option<AdmittedClient> {
        let holders = self.blocks.get_mut(&block)?;
        let holder = holders.remove(&number)?;
        if holders.is_empty() {
            self.blocks.remove(&block);
        }
        self.clients -= 1;
        Some(holder)
    }

    fn insert(&mut self, block: Block, holder: AdmittedClient) -> u64 {
        let number = self.next;
        self.next += 1;
        self.blocks.entry(block).or_default().insert(number, holder);
        number
    }
}

/// Counts clients, from their first packet to their end.
#[derive(Debug)]
pub(super) struct Admission {
    clients_max: u32,
    clients_per_ip_max: u32,
    unvalidated_max: u32,
    sources: Sources,
    counts: Mutex<Counts>,
}

impl Admission {
    pub(super) fn new(limits: &GatewayLimits, sources: Sources) -> Arc<Self> {
        Arc::new(Self {
            clients_max: limits.clients_max,
            clients_per_ip_max: limits.clients_per_ip_max,
            unvalidated_max: limits.unvalidated_max,
            sources,
            counts: Mutex::default(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_crowded(&self, counts: &Counts, block: Block) -> bool {
        counts.of(block) >= self.clients_per_ip_max as usize
    }

    /// Counts a newcomer from `ip` until its ticket is dropped; `validated` says whether it has
    /// proved that it receives packets there.
    ///
    /// # Errors
    /// Fails when the newcomer cannot come in, or must prove its address first.
    pub(super) fn enter(self: &Arc<Self>, ip: IpAddr, validated: bool) -> Result<Ticket, Turned> {
        let mut counts = self.lock();
        let (block, trusted) = (Block::of(ip), self.sources.trusts(ip));
        if !validated && counts.unvalidated >= self.unvalidated_max {
            return Err(Turned::ToProve);
        }
        if validated && !trusted && self.is_crowded(&counts, block) {
            return Err(Turned::Away);
        }
        if counts.clients >= self.clients_max {
            let (crowd, number) = counts.gives_way(block).ok_or(Turned::Away)?;
            if !validated {
                // An address that may be forged takes nobody's place.
                return Err(Turned::ToProve);
            }
            if let Some(holder) = counts.remove(crowd, number) {
                holder.lost.cancel();
            }
        }
        counts.clients += 1;
        let holder = AdmittedClient::default();
        let kept = match (validated, trusted) {
            (false, _) => {
                counts.unvalidated += 1;
                AdmissionKind::Unvalidated
            }
            (true, true) => AdmissionKind::Trusted,
            (true, false) => AdmissionKind::Counted(counts.insert(block, holder.clone())),
        };
        drop(counts);
        let rations = self.sources.of(ip);
        Ok(Ticket { admission: self.clone(), block, trusted, kept, holder, rations })
    }

    /// Returns how many clients are counted now.
    pub(super) fn clients(&self) -> u32 {
        self.lock().clients
    }
}

/// The way in which a place is counted.
#[derive(Debug, Clone, Copy)]
enum AdmissionKind {
    Unvalidated,
    Trusted,
    /// The place is counted under this number, for its block.
    Counted(u64),
}

/// A place that is taken until this is dropped.
#[derive(Debug)]
pub(super) struct Ticket {
    admission: Arc<Admission>,
    block: Block,
    trusted: bool,
    kept: AdmissionKind,
    holder: AdmittedClient,
    rations: Rations,
}

impl Ticket {
    /// Notes that the handshake is done, which proves the address. Returns false if that address
    /// has too many already.
    pub(super) fn validate(&mut self) -> bool {
        if !matches!(self.kept, AdmissionKind::Unvalidated) {
            return true;
        }
        let mut counts = self.admission.lock();
        if !self.trusted && self.admission.is_crowded(&counts, self.block) {
            return false;
        }
        counts.unvalidated -= 1;
        self.kept = match self.trusted {
            true => AdmissionKind::Trusted,
            false => AdmissionKind::Counted(counts.insert(self.block, self.holder.clone())),
        };
        true
    }

    /// Returns the rations of the client's source.
    pub(super) fn rations(&self) -> Rations {
        self.rations.clone()
    }

    /// Returns the note whether the sim knows the key of the session, which the node sets.
    pub(super) fn known(&self) -> Arc<AtomicBool> {
        self.holder.known.clone()
    }

    /// Waits until another client has taken the place.
    pub(super) async fn lost(&self) {
        self.holder.lost.cancelled().await;
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut counts = self.admission.lock();
        match self.kept {
            AdmissionKind::Unvalidated => {
                counts.unvalidated -= 1;
                counts.clients -= 1;
            }
            AdmissionKind::Trusted => counts.clients -= 1,
            // The client may have given way already.
            AdmissionKind::Counted(number) => drop(counts.remove(self.block, number)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admission() -> Arc<Admission> {
        let limits = GatewayLimits {
            clients_max: 5,
            clients_per_ip_max: 2,
            unvalidated_max: 1,
            ..GatewayLimits::default()
        };
        let sources = Sources::new(limits.source, "127.0.0.0/8".parse().unwrap());
        Admission::new(&limits, sources)
    }

    fn is_lost(ticket: &Ticket) -> bool {
        ticket.holder.lost.is_cancelled()
    }

    #[test]
    fn a_newcomer_takes_the_newest_strangers_place_of_the_address_that_has_most() {
        let limits = GatewayLimits { clients_max: 4, ..GatewayLimits::default() };
        let admission = Admission::new(&limits, Sources::new(limits.source, Default::default()));
        let crowd: Vec<Ticket> =
            (0..4).map(|_| admission.enter(ip("10.0.0.1"), true).unwrap()).collect();
        crowd[3].known().store(true, Ordering::Relaxed);

        // A newcomer whose address is not proved takes nobody's place.
        assert_eq!(admission.enter(ip("10.0.0.2"), false).unwrap_err(), Turned::ToProve);
        let _second = admission.enter(ip("10.0.0.2"), true).unwrap();
        assert_eq!(crowd.iter().map(is_lost).collect::<Vec<_>>(), [false, false, true, false]);
        let _third = admission.enter(ip("10.0.0.3"), true).unwrap();
        assert_eq!(crowd.iter().map(is_lost).collect::<Vec<_>>(), [false, true, true, false]);

        // With two, one and one, no address has two more than another.
        assert_eq!(admission.enter(ip("10.0.0.3"), true).unwrap_err(), Turned::Away);
        assert_eq!(admission.enter(ip("10.0.0.1"), true).unwrap_err(), Turned::Away);
        drop(crowd);
        assert_eq!(admission.clients(), 2, "who gave way is not counted twice");
    }

    #[test]
    fn who_is_trusted_has_as_many_places_as_there_are_and_gives_way_to_nobody() {
        let admission = admission();
        let trusted: Vec<Ticket> =
            (0..5).map(|_| admission.enter(ip("127.0.0.1"), true).unwrap()).collect();
        assert_eq!(admission.enter(ip("10.0.0.1"), true).unwrap_err(), Turned::Away);
        assert!(!trusted.iter().any(is_lost));
        drop(trusted);
        assert_eq!(admission.clients(), 0);
    }

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn the_limit_of_all_clients_is_hit_and_freed() {
        let admission = admission();
        let mut tickets: Vec<Ticket> =
            (0..5).map(|n| admission.enter(ip(&format!("10.0.0.{n}")), true).unwrap()).collect();
        assert_eq!(admission.enter(ip("10.0.1.1"), true).unwrap_err(), Turned::Away);
        assert_eq!(admission.enter(ip("10.0.1.1"), false).unwrap_err(), Turned::Away);

        tickets.pop();
        admission.enter(ip("10.0.1.1"), true).unwrap();
    }

    #[test]
    fn the_limit_of_one_address_is_hit_and_freed() {
        let admission = admission();
        let (here, there) = (ip("10.0.0.1"), ip("10.0.0.2"));
        let first = admission.enter(here, true).unwrap();
        let _second = admission.enter(here, true).unwrap();
        assert_eq!(admission.enter(here, true).unwrap_err(), Turned::Away);
        admission.enter(there, true).unwrap();

        let mut late = admission.enter(here, false).unwrap();
        assert!(!late.validate());

        drop(first);
        assert!(late.validate());
        assert_eq!(admission.enter(here, true).unwrap_err(), Turned::Away);
    }

    #[test]
    fn forged_addresses_use_up_nobodys_places() {
        let admission = admission();
        let victim = ip("10.0.0.1");
        let _forged = admission.enter(victim, false).unwrap();

        assert_eq!(admission.enter(victim, false).unwrap_err(), Turned::ToProve);
        admission.enter(victim, true).unwrap();
    }

    #[test]
    fn nothing_is_remembered_of_those_that_left() {
        let admission = admission();
        for validated in [true, false] {
            let mut ticket = admission.enter(ip("2001:db8::1"), validated).unwrap();
            assert!(ticket.validate());
        }
        drop(admission.enter(ip("10.0.0.1"), false).unwrap());

        let counts = admission.lock();
        assert_eq!((counts.clients, counts.unvalidated, counts.blocks.len()), (0, 0, 0));
    }

    #[test]
    fn an_ipv6_network_counts_as_one_address_and_a_mapped_one_as_ipv4() {
        assert_eq!(Block::of(ip("2001:db8:0:1::1")), Block::of(ip("2001:db8:0:1:ffff::9")));
        assert_ne!(Block::of(ip("2001:db8:0:1::1")), Block::of(ip("2001:db8:0:2::1")));
        assert_eq!(Block::of(ip("::ffff:10.0.0.1")), Block::of(ip("10.0.0.1")));
    }
}
