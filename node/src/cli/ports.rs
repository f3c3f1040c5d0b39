//! Ports on loopback that a server can come back to.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr, TcpListener},
    ops::Range,
    process,
};

use libp2p::{Multiaddr, multiaddr::Protocol};

use crate::{cli::Failure, client_driver::NodeUrl};

/// Passing connections get theirs from above: Linux lends from 32,768 on (`ip_local_port_range`),
/// others from 49,152 (RFC 6335). A server that is down for a second would find its port lent.
const LASTING: Range<u16> = 16_384..32_768;

/// Ports between the places where two processes begin to look, so that those of worlds that start
/// together seldom meet: eight servers have two each.
const STRIDE: u32 = 16;

/// Where one server listens. For clients it takes any UDP port, and names it by HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) struct Ports {
    http: u16,
    p2p: u16,
}

impl Ports {
    /// Its HTTP address.
    pub(in crate::cli) fn url(&self) -> NodeUrl {
        format!("http://127.0.0.1:{}/", self.http).parse().expect("an address like its example")
    }

    pub(in crate::cli) fn http_address(&self) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, self.http).into()
    }

    /// Its address for other servers.
    pub(in crate::cli) fn p2p_address(&self) -> Multiaddr {
        Multiaddr::empty().with(Protocol::Ip4(Ipv4Addr::LOCALHOST)).with(Protocol::Tcp(self.p2p))
    }
}

/// Chooses ports for `count` servers: HTTP at `first` and the ones after it where they are free.
///
/// All are held until all are chosen, so they differ; then they are let go for the servers to take.
///
/// # Errors
/// When the first HTTP port is in use, or the system has none left.
pub(in crate::cli) fn choose(count: usize, first: u16) -> Result<Vec<Ports>, Failure> {
    choose_by(count, first, &mut hold)
}

type Hold<'a> = &'a mut dyn FnMut(u16) -> io::Result<TcpListener>;

fn choose_by(count: usize, first: u16, hold: Hold<'_>) -> Result<Vec<Ports>, Failure> {
    let (mut held, mut ports) = (Vec::new(), Vec::new());
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
        ports.push(Ports { http: port(&http)?, p2p: port(&p2p)? });
        held.extend([http, p2p]);
    }
    Ok(ports)
}

/// Holds a port, or with 0 any that lasts.
fn hold(port: u16) -> io::Result<TcpListener> {
    let bind = |port| TcpListener::bind((Ipv4Addr::LOCALHOST, port));
    if port != 0 {
        return bind(port);
    }
    let count = u32::from(LASTING.end - LASTING.start);
    let first = process::id().wrapping_mul(STRIDE) % count;
    let places = (first..count).chain(0..first).filter_map(|place| u16::try_from(place).ok());
    let mut free = places.filter_map(|place| bind(LASTING.start + place).ok());
    free.next().ok_or_else(|| io::ErrorKind::AddrInUse.into())
}

fn in_use(port: u16, error: &io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::AddrInUse if port == 0 => {
            Failure::failed(format!("no port of {LASTING:?} is free on 127.0.0.1"))
        }
        io::ErrorKind::AddrInUse => {
            Failure::failed(format!("port {port} is in use (--http-port, on 127.0.0.1)"))
                .hint("stop whoever has it, or name another; 0 takes any that is free")
        }
        _ => Failure::failed(format!("cannot listen on 127.0.0.1:{port}: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_port_in_use_is_named_with_the_flag_that_sets_it() {
        let taken = hold(0).unwrap();
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
                _ => hold(0),
            }
        };

        let ports = choose_by(3, 8_080, &mut system).unwrap();

        assert_eq!(ports.len(), 3);
        // HTTP, then the port for servers; where the second HTTP port is taken, any other.
        assert_eq!(asked, [8_080, 0, 8_081, 0, 0, 8_082, 0]);
    }
}
