//! Chooses ports that a server can come back to: on loopback, or on an address that others reach.

use std::{
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, UdpSocket},
    ops::Range,
    process,
};

use libp2p::{Multiaddr, multiaddr::Protocol};
use metatopia_client_driver::NodeUrl;

use crate::cli::Failure;

/// The ports that are chosen from. The system lends the ports above to outgoing connections: Linux
/// from 32,768 on (`ip_local_port_range`), others from 49,152 (RFC 6335). A server that is down for
/// a second would find such a port lent.
const LASTING: Range<u16> = 16_384..32_768;

/// The distance of the ports at which two processes begin to look, so that sims that start together
/// seldom meet. Eight servers have two ports each.
const STRIDE: u32 = 16;

/// The addresses and ports that one server listens on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) struct Ports {
    ip: IpAddr,
    /// The address at which this machine is reached. Servers tell it to each other, so it is one
    /// address even if `ip` stands for all.
    own: IpAddr,
    http: u16,
    /// The UDP port for clients. On loopback it is 0, which takes any port; HTTP then tells which.
    clients: u16,
    p2p: u16,
}

impl Ports {
    /// Returns the URL at which programs of this machine reach the server.
    pub(in crate::cli) fn url(&self) -> NodeUrl {
        let ip = match self.ip {
            IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
            ip => ip,
        };
        let address = SocketAddr::new(ip, self.http);
        format!("http://{address}/").parse().expect("an address like its example")
    }

    /// Returns the server's HTTP port, and its UDP port for clients.
    pub(in crate::cli) const fn public(&self) -> (u16, u16) {
        (self.http, self.clients)
    }

    pub(in crate::cli) const fn http_address(&self) -> SocketAddr {
        SocketAddr::new(self.ip, self.http)
    }

    /// Returns the UDP address for clients.
    pub(in crate::cli) const fn client_address(&self) -> SocketAddr {
        SocketAddr::new(self.ip, self.clients)
    }

    /// Returns the ports of a server that answers HTTP at the same port as another one, because one
    /// process runs both.
    pub(in crate::cli) const fn beside(self, other: &Self) -> Self {
        Self { http: other.http, ..self }
    }

    /// Returns the TCP ports of the server.
    pub(in crate::cli) const fn tcp(&self) -> [u16; 2] {
        [self.http, self.p2p]
    }

    /// Says whether the other server's port for servers is one of this server's.
    pub(in crate::cli) const fn meets(&self, other: &Self) -> bool {
        self.has(other.p2p)
    }

    /// Says whether a TCP socket of the server has this port.
    pub(in crate::cli) const fn has(&self, port: u16) -> bool {
        self.http == port || self.p2p == port
    }

    /// Returns the address that the server listens on for other servers.
    pub(in crate::cli) fn p2p_address(&self) -> Multiaddr {
        Multiaddr::from(self.own).with(Protocol::Tcp(self.p2p))
    }
}

/// Chooses ports of loopback for `count` servers: HTTP at `first` and the ones after it where they
/// are free.
///
/// All ports are held until the last is chosen, so they differ. Then they are released for the
/// servers to take.
///
/// # Errors
/// Fails when the first HTTP port is in use, or the system has none left.
pub(in crate::cli) fn choose(count: usize, first: u16) -> Result<Vec<Ports>, Failure> {
    choose_on(Ipv4Addr::LOCALHOST.into(), Ipv4Addr::LOCALHOST.into(), count, first)
}

/// Chooses ports as [`choose`] does, on any address of this machine, or on all of them if the
/// address is a wildcard; `own` is the address at which the machine is reached. Where that is not
/// loopback, the UDP port for clients has the same number as the HTTP port, so that a firewall has
/// one number to let in.
pub(in crate::cli) fn choose_on(
    ip: IpAddr,
    own: IpAddr,
    count: usize,
    first: u16,
) -> Result<Vec<Ports>, Failure> {
    choose_by((ip, own), count, first, &mut |port| hold(ip, port))
}

/// Returns as many other free TCP ports as are asked for, of which none is taken.
///
/// # Errors
/// Fails when the system has none left.
pub(in crate::cli) fn free(
    ip: IpAddr,
    count: usize,
    is_taken: impl Fn(u16) -> bool,
) -> Result<Vec<u16>, Failure> {
    let places = u32::from(LASTING.end - LASTING.start);
    // Far from where a process begins to look for its other ports.
    let first = (process::id().wrapping_mul(STRIDE) + places / 2) % places;
    let places = (first..places).chain(0..first).filter_map(|place| u16::try_from(place).ok());
    let ports = places.map(|place| LASTING.start + place).filter(|port| !is_taken(*port));
    let held = ports.filter_map(|port| Some((port, TcpListener::bind((ip, port)).ok()?)));
    let held: Vec<(u16, TcpListener)> = held.take(count).collect();
    if held.len() < count {
        return Err(in_use(ip, 0, &io::ErrorKind::AddrInUse.into()));
    }
    Ok(held.into_iter().map(|(port, _)| port).collect())
}

type Hold<'a> = &'a mut dyn FnMut(u16) -> io::Result<TcpListener>;

fn choose_by(
    (ip, own): (IpAddr, IpAddr),
    count: usize,
    first: u16,
    hold: Hold<'_>,
) -> Result<Vec<Ports>, Failure> {
    let (mut held, mut ports) = (Vec::new(), Vec::new());
    let in_use = |port, error: &io::Error| in_use(ip, port, error);
    for index in 0..count {
        let wanted = match (first, u16::try_from(index)) {
            (0, _) | (_, Err(_)) => 0,
            (first, Ok(index)) => first.checked_add(index).unwrap_or(0),
        };
        let http = hold(wanted).or_else(|error| match index {
            0 => Err(in_use(first, &error)),
            _ => hold(0).map_err(|error| in_use(0, &error)),
        })?;
        let p2p = hold(0).map_err(|error| in_use(0, &error))?;
        let port = |listener: &TcpListener| {
            let address = listener.local_addr().map_err(|error| in_use(0, &error))?;
            Ok::<_, Failure>(address.port())
        };
        let (http_port, p2p_port) = (port(&http)?, port(&p2p)?);
        let clients = if own.is_loopback() { 0 } else { udp(ip, http_port)? };
        ports.push(Ports { ip, own, http: http_port, clients, p2p: p2p_port });
        held.extend([http, p2p]);
    }
    Ok(ports)
}

/// Returns the port if it is free for UDP. It is the number of a TCP port that is held, so no other
/// server takes it.
fn udp(ip: IpAddr, port: u16) -> Result<u16, Failure> {
    UdpSocket::bind((ip, port)).map(|_| port).map_err(|error| {
        let address = SocketAddr::new(ip, port);
        Failure::failed(format!("cannot take clients at UDP {address}: {error}"))
            .hint("name another port by --http-port; 0 takes any that is free")
    })
}

/// Holds a port, or with 0 any port of [`LASTING`].
fn hold(ip: IpAddr, port: u16) -> io::Result<TcpListener> {
    let bind = |port| TcpListener::bind((ip, port));
    if port != 0 {
        return bind(port);
    }
    let count = u32::from(LASTING.end - LASTING.start);
    let first = process::id().wrapping_mul(STRIDE) % count;
    let places = (first..count).chain(0..first).filter_map(|place| u16::try_from(place).ok());
    let mut free = places.filter_map(|place| bind(LASTING.start + place).ok());
    free.next().ok_or_else(|| io::ErrorKind::AddrInUse.into())
}

fn in_use(ip: IpAddr, port: u16, error: &io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::AddrInUse if port == 0 => {
            Failure::failed(format!("no port of {LASTING:?} is free on {ip}"))
        }
        io::ErrorKind::AddrInUse => {
            Failure::failed(format!("port {port} is in use (--http-port, on {ip})"))
                .hint("stop the program that has it, or name another; 0 takes any that is free")
        }
        io::ErrorKind::AddrNotAvailable => {
            Failure::failed(format!("{ip} is no address of this machine"))
                .hint("name one that it has, or 0.0.0.0 for all")
        }
        _ => Failure::failed(format!("cannot listen on {}: {error}", SocketAddr::new(ip, port))),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

    #[test]
    fn a_port_in_use_is_named_with_the_flag_that_sets_it() {
        let taken = hold(LOOPBACK, 0).unwrap();
        let port = taken.local_addr().unwrap().port();

        let failure = choose(1, port).unwrap_err();

        assert!(failure.message.contains(&port.to_string()), "{failure}");
        assert!(failure.message.contains("--http-port"), "{failure}");
    }

    #[test]
    fn servers_never_share_a_port() {
        let ports = choose(8, 0).unwrap();
        let all: BTreeSet<u16> = ports.iter().flat_map(|p| [p.http, p.p2p]).collect();
        assert_eq!(all.len(), 16);
        assert!(all.iter().all(|port| LASTING.contains(port)), "lent to others meanwhile: {all:?}");
    }

    #[test]
    fn later_servers_give_way_to_who_has_the_port() {
        let mut asked = Vec::new();
        let mut system = |port| {
            asked.push(port);
            match port {
                8_081 => Err(io::ErrorKind::AddrInUse.into()),
                _ => hold(LOOPBACK, 0),
            }
        };

        let ports = choose_by((LOOPBACK, LOOPBACK), 3, 8_080, &mut system).unwrap();

        assert_eq!(ports.len(), 3);
        // The order is HTTP and then the port for servers. Where the second HTTP port is taken, any
        // other is asked for.
        assert_eq!(asked, [8_080, 0, 8_081, 0, 0, 8_082, 0]);
    }

    #[test]
    fn clients_of_a_server_that_others_reach_come_to_the_number_of_its_http_port() {
        // The server is not called by the address that it is reached at.
        let own = "192.0.2.1".parse().unwrap();
        let ports = choose_on(Ipv4Addr::UNSPECIFIED.into(), own, 4, 0).unwrap();
        for ports in ports {
            let (http, clients) = ports.public();
            assert_eq!(http, clients);
            assert_eq!(ports.url().host(), "127.0.0.1");
            assert!(ports.p2p_address().to_string().starts_with("/ip4/192.0.2.1/tcp/"));
        }
        assert_eq!(choose(1, 0).unwrap()[0].public().1, 0);
    }

    #[test]
    fn an_address_that_the_machine_does_not_have_is_named() {
        // 192.0.2.0/24 is for documents (RFC 5737), so no machine has it.
        let nobodys = "192.0.2.1".parse().unwrap();
        let failure = choose_on(nobodys, nobodys, 1, 0).unwrap_err();
        assert!(failure.message.contains("192.0.2.1"), "{failure}");
    }
}
