//! Who may connect: how many at once, from where, and who must prove its address first.
//!
//! The source address of a first packet can be forged. So a handshake that has not proved its
//! address counts towards one small common limit and never towards an address' own: nobody can use
//! up the places of somebody else's address. Above the common limit a newcomer is asked to prove
//! its address, at no cost for us (a QUIC Retry, for which nothing is remembered).

use std::{
    collections::BTreeMap,
    net::{IpAddr, Ipv6Addr},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use super::GatewayLimits;

/// Why a newcomer does not come in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turned {
    /// It must prove its address first.
    ToProve,
    /// No place is left, or its address has too many.
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

#[derive(Debug, Default)]
struct Counts {
    clients: u32,
    unvalidated: u32,
    blocks: BTreeMap<Block, u32>,
}

/// Counts clients, from their first packet to their end.
#[derive(Debug)]
pub(super) struct Admission {
    clients_max: u32,
    clients_per_ip_max: u32,
    unvalidated_max: u32,
    counts: Mutex<Counts>,
}

impl Admission {
    pub(super) fn new(limits: &GatewayLimits) -> Arc<Self> {
        Arc::new(Self {
            clients_max: limits.clients_max,
            clients_per_ip_max: limits.clients_per_ip_max,
            unvalidated_max: limits.unvalidated_max,
            counts: Mutex::default(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_crowded(&self, counts: &Counts, block: Block) -> bool {
        counts.blocks.get(&block).is_some_and(|count| *count >= self.clients_per_ip_max)
    }

    /// Counts a newcomer from `ip`, which has or has not proved that it receives packets there,
    /// until its ticket is dropped.
    ///
    /// # Errors
    /// When it cannot come in, or not like this.
    pub(super) fn enter(self: &Arc<Self>, ip: IpAddr, validated: bool) -> Result<Ticket, Turned> {
        let mut counts = self.lock();
        let block = Block::of(ip);
        if counts.clients >= self.clients_max {
            return Err(Turned::Away);
        }
        if !validated && counts.unvalidated >= self.unvalidated_max {
            return Err(Turned::ToProve);
        }
        if validated && self.is_crowded(&counts, block) {
            return Err(Turned::Away);
        }
        counts.clients += 1;
        if validated {
            *counts.blocks.entry(block).or_default() += 1;
        } else {
            counts.unvalidated += 1;
        }
        drop(counts);
        Ok(Ticket { admission: self.clone(), block, validated })
    }

    /// Clients that are counted now.
    pub(super) fn clients(&self) -> u32 {
        self.lock().clients
    }
}

/// A place that is taken until this is dropped.
#[derive(Debug)]
pub(super) struct Ticket {
    admission: Arc<Admission>,
    block: Block,
    validated: bool,
}

impl Ticket {
    /// The handshake is done, which proves the address. False if that address has too many already.
    pub(super) fn validate(&mut self) -> bool {
        if self.validated {
            return true;
        }
        let mut counts = self.admission.lock();
        if self.admission.is_crowded(&counts, self.block) {
            return false;
        }
        counts.unvalidated -= 1;
        *counts.blocks.entry(self.block).or_default() += 1;
        self.validated = true;
        true
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut counts = self.admission.lock();
        counts.clients -= 1;
        if !self.validated {
            counts.unvalidated -= 1;
        } else if let Some(count) = counts.blocks.get_mut(&self.block) {
            *count -= 1;
            if *count == 0 {
                counts.blocks.remove(&self.block);
            }
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
        Admission::new(&limits)
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
