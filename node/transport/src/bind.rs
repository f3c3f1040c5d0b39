//! Listens on both families of loopback, and says why an address cannot be listened on.

use std::{
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
};

/// The error of a listener that could not be opened.
#[derive(Debug, thiserror::Error)]
#[error("cannot listen on {address}: {source}")]
pub struct BindError {
    /// The address that was asked for.
    pub address: String,
    /// The error of the system.
    pub source: io::Error,
}

/// The most ports that are tried until one is free in both families, when any will do.
pub const TRIES_MAX: usize = 16;

/// Returns the same address on the other family's loopback. `127.0.0.1` and `[::1]` are both named
/// localhost, and a browser may dial either.
#[must_use]
pub fn twin(ip: IpAddr) -> Option<IpAddr> {
    match ip {
        IpAddr::V4(Ipv4Addr::LOCALHOST) => Some(Ipv6Addr::LOCALHOST.into()),
        IpAddr::V6(Ipv6Addr::LOCALHOST) => Some(Ipv4Addr::LOCALHOST.into()),
        _ => None,
    }
}

/// Opens a listener on `listen`. If that is a loopback address, opens another one of the same port
/// on [the other family's](twin). Where the system does not have that family, or another program
/// has its port, the first one is all there is.
///
/// # Errors
/// Fails when `listen` itself cannot be listened on.
pub(crate) fn both_families<S>(
    listen: SocketAddr,
    bind: impl Fn(SocketAddr) -> io::Result<S>,
    address: impl Fn(&S) -> io::Result<SocketAddr>,
) -> io::Result<Vec<S>> {
    let Some(twin) = twin(listen.ip()) else {
        return Ok(vec![bind(listen)?]);
    };
    // These sockets are held until the end, so that the system does not give the same port again.
    let mut passed_over = Vec::new();
    loop {
        let first = bind(listen)?;
        let twin = SocketAddr::new(twin, address(&first)?.port());
        match bind(twin) {
            Ok(second) => return Ok(vec![first, second]),
            Err(error) => {
                let in_use = error.kind() == io::ErrorKind::AddrInUse;
                if in_use && listen.port() == 0 && passed_over.len() < TRIES_MAX {
                    passed_over.push(first);
                    continue;
                }
                if in_use {
                    tracing::warn!(address = %twin, "another program listens there, as localhost");
                } else {
                    tracing::debug!(address = %twin, %error, "not listened on");
                }
                return Ok(vec![first]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;

    use super::*;

    fn open(listen: &str) -> Vec<SocketAddr> {
        let opened = both_families(listen.parse().unwrap(), UdpSocket::bind, UdpSocket::local_addr);
        opened.unwrap().iter().map(|socket| socket.local_addr().unwrap()).collect()
    }

    #[test]
    fn loopback_is_listened_on_in_both_families_with_one_port() {
        for (listen, other) in [("127.0.0.1:0", "::1"), ("[::1]:0", "127.0.0.1")] {
            let opened = open(listen);
            assert_eq!(opened[1].ip(), other.parse::<IpAddr>().unwrap());
            assert_eq!(opened[0].port(), opened[1].port());
        }
        assert_eq!(open("127.0.0.2:0").len(), 1);
        assert_eq!(open("0.0.0.0:0").len(), 1);
    }

    #[test]
    fn a_port_that_is_taken_in_the_other_family_only_is_used_in_one() {
        let taken = UdpSocket::bind("[::1]:0").unwrap();
        let port = taken.local_addr().unwrap().port();
        assert_eq!(open(&format!("127.0.0.1:{port}")).len(), 1);
    }

    #[test]
    fn another_port_is_tried_when_any_will_do_but_not_for_ever() {
        let asked = std::cell::Cell::new(0);
        let bind = |address: SocketAddr| {
            asked.set(asked.get() + 1);
            if address.is_ipv6() { Err(io::ErrorKind::AddrInUse.into()) } else { Ok(address) }
        };
        let opened = both_families("127.0.0.1:0".parse().unwrap(), bind, |bound| Ok(*bound));
        assert_eq!((opened.unwrap().len(), asked.get()), (1, 2 * (TRIES_MAX + 1)));
    }
}
