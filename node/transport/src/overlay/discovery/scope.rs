//! Which addresses a member dials because others tell of them.

use std::net::IpAddr;

use libp2p::{Multiaddr, multiaddr::Protocol};

/// Where a member is, and so which addresses it dials because strangers name them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::overlay) enum DialScope {
    /// On this machine alone.
    Machine,
    /// In a local network, whose addresses are dialled as well.
    Network,
    /// Where everybody is. Strangers must not reach what listens in the network behind.
    Everywhere,
}

/// Returns how near an address is, or `None` if nobody can be there.
fn place_of(ip: IpAddr) -> Option<DialScope> {
    let ip = ip.to_canonical();
    let is_nobody = match ip {
        IpAddr::V4(ip) => ip.octets()[0] == 0 || ip.octets()[0] >= 224,
        IpAddr::V6(ip) => ip.is_unspecified() || ip.is_multicast(),
    };
    let is_near = match ip {
        // The last one is for networks of carriers (RFC 6598).
        IpAddr::V4(ip) => {
            let [first, second, ..] = ip.octets();
            ip.is_private() || ip.is_link_local() || (first == 100 && second & 0xc0 == 64)
        }
        IpAddr::V6(ip) => ip.is_unique_local() || ip.is_unicast_link_local(),
    };
    match (is_nobody, ip.is_loopback(), is_near) {
        (true, ..) => None,
        (_, true, _) => Some(DialScope::Machine),
        (_, _, true) => Some(DialScope::Network),
        _ => Some(DialScope::Everywhere),
    }
}

/// Returns the IP address and port of an address that has nothing else, but perhaps a peer id.
fn plain(address: &Multiaddr) -> Option<(IpAddr, u16)> {
    let parts: Vec<Protocol<'_>> = address.iter().take(4).collect();
    let (ip, port) = match parts[..] {
        [Protocol::Ip4(ip), Protocol::Tcp(port)]
        | [Protocol::Ip4(ip), Protocol::Tcp(port), Protocol::P2p(_)] => (IpAddr::V4(ip), port),
        [Protocol::Ip6(ip), Protocol::Tcp(port)]
        | [Protocol::Ip6(ip), Protocol::Tcp(port), Protocol::P2p(_)] => (IpAddr::V6(ip), port),
        _ => return None,
    };
    (port != 0).then_some((ip, port))
}

/// Returns the address without the peer id behind it.
pub(in crate::overlay) fn without_peer(address: &Multiaddr) -> Multiaddr {
    address.iter().filter(|part| !matches!(part, Protocol::P2p(_))).collect()
}

impl DialScope {
    /// Returns the scope of a member that listens here, and looks around in its local network or not.
    pub(in crate::overlay) fn of(listen: &Multiaddr, lan: bool) -> Self {
        let place = super::super::sessions::ip_of(listen).and_then(place_of);
        match place {
            Some(Self::Machine) => Self::Machine,
            Some(Self::Network) => Self::Network,
            _ if lan => Self::Network,
            _ => Self::Everywhere,
        }
    }

    /// Says whether an address is dialled that a stranger names.
    pub(in crate::overlay) fn admits(self, address: &Multiaddr) -> bool {
        let Some(place) = plain(address).and_then(|(ip, _)| place_of(ip)) else { return false };
        match place {
            Self::Machine => self == Self::Machine,
            Self::Network => self != Self::Everywhere,
            Self::Everywhere => true,
        }
    }

    /// Says whether an address is dialled that somebody calls out in the local network: only one that
    /// is there.
    pub(in crate::overlay) fn admits_near(self, address: &Multiaddr) -> bool {
        let place = plain(address).and_then(|(ip, _)| place_of(ip));
        place == Some(Self::Network) && self != Self::Everywhere
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Multiaddr {
        text.parse().unwrap()
    }

    #[test]
    fn strangers_make_a_member_dial_nothing_on_its_machine_or_in_the_network_behind() {
        let public = DialScope::of(&at("/ip4/0.0.0.0/tcp/8083"), false);
        assert_eq!(public, DialScope::Everywhere);
        for inside in
            ["127.0.0.1", "10.0.0.1", "192.168.1.4", "172.16.9.9", "169.254.1.1", "100.64.0.1"]
        {
            assert!(!public.admits(&at(&format!("/ip4/{inside}/tcp/80"))), "{inside}");
        }
        for inside in ["::1", "fd00::1", "fe80::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1"] {
            assert!(!public.admits(&at(&format!("/ip6/{inside}/tcp/80"))), "{inside}");
        }
        assert!(public.admits(&at("/ip4/198.51.100.4/tcp/8083")));
        assert!(public.admits(&at("/ip6/2001:db8::4/tcp/8083")));
    }

    #[test]
    fn a_member_that_looks_around_dials_its_network_and_one_on_loopback_its_machine() {
        let near = at("/ip4/192.168.1.4/tcp/8083");
        for lan in [
            DialScope::of(&at("/ip4/0.0.0.0/tcp/0"), true),
            DialScope::of(&at("/ip4/192.168.1.9/tcp/0"), false),
        ] {
            assert!(lan.admits(&near) && lan.admits_near(&near));
            assert!(!lan.admits(&at("/ip4/127.0.0.1/tcp/8083")));
            assert!(!lan.admits_near(&at("/ip4/198.51.100.4/tcp/8083")), "nobody calls from there");
        }
        let here = DialScope::of(&at("/ip4/127.0.0.1/tcp/0"), false);
        assert!(here.admits(&at("/ip4/127.0.0.1/tcp/8083")));
    }

    #[test]
    fn what_is_no_plain_address_is_dialled_by_nobody() {
        let wrong = [
            "/ip4/198.51.100.4/tcp/0",
            "/ip4/198.51.100.4/udp/8083/quic-v1",
            "/ip4/198.51.100.4/tcp/8083/ws",
            "/dns4/example.org/tcp/8083",
            "/tcp/8083",
            "/ip4/0.0.0.0/tcp/8083",
            "/ip4/224.0.0.251/tcp/8083",
            "/ip4/255.255.255.255/tcp/8083",
            "/ip6/ff02::fb/tcp/8083",
            "/ip6/::/tcp/8083",
        ];
        for scope in [DialScope::Machine, DialScope::Network, DialScope::Everywhere] {
            for address in wrong {
                assert!(!scope.admits(&at(address)), "{address}");
                assert!(!scope.admits_near(&at(address)), "{address}");
            }
        }
    }
}
