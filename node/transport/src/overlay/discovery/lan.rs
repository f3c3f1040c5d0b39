//! Members in the local network, by mDNS.
//!
//! The library remembers whoever calls, for as long as the caller likes. So somebody in the network could
//! fill the memory of all who listen; a behaviour that remembers too many begins anew.

use std::{
    io,
    task::{Context, Poll},
};

use libp2p::{
    Multiaddr, PeerId,
    core::{
        Endpoint,
        transport::{ListenerId, PortUse},
    },
    mdns,
    swarm::{
        ConnectionDenied, ConnectionId, FromSwarm, NetworkBehaviour, NewListenAddr, THandler,
        THandlerInEvent, THandlerOutEvent, ToSwarm, dummy,
    },
};

use crate::overlay::limits::LAN_MEMBERS_MAX;

/// Calls in the local network, and hears who calls there.
pub(in crate::overlay) struct LanBehaviour {
    inner: mdns::tokio::Behaviour,
    local: PeerId,
    listening: Vec<(ListenerId, Multiaddr)>,
}

/// Says whether so many are remembered that it begins anew.
const fn is_crowded(remembered: usize) -> bool {
    remembered > LAN_MEMBERS_MAX
}

impl LanBehaviour {
    /// Begins to call and to listen.
    ///
    /// # Errors
    /// When the system tells nothing about its networks.
    pub(in crate::overlay) fn new(local: PeerId) -> io::Result<Self> {
        let inner = mdns::tokio::Behaviour::new(mdns::Config::default(), local)?;
        Ok(Self { inner, local, listening: Vec::new() })
    }

    /// Begins anew, if too many are remembered. A system that tells nothing about its networks now is asked
    /// again later.
    fn bound(&mut self) {
        if !is_crowded(self.inner.discovered_nodes().len()) {
            return;
        }
        tracing::debug!("more than {LAN_MEMBERS_MAX} addresses are called in the local network");
        let Ok(mut inner) = mdns::tokio::Behaviour::new(mdns::Config::default(), self.local) else {
            return;
        };
        for (listener_id, addr) in &self.listening {
            let listener_id = *listener_id;
            inner.on_swarm_event(FromSwarm::NewListenAddr(NewListenAddr { listener_id, addr }));
        }
        self.inner = inner;
    }
}

impl NetworkBehaviour for LanBehaviour {
    type ConnectionHandler = dummy::ConnectionHandler;
    type ToSwarm = Vec<(PeerId, Multiaddr)>;

    fn handle_established_inbound_connection(
        &mut self,
        _: ConnectionId,
        _: PeerId,
        _: &Multiaddr,
        _: &Multiaddr,
    ) -> Result<THandler<Self>, ConnectionDenied> {
        Ok(dummy::ConnectionHandler)
    }

    fn handle_established_outbound_connection(
        &mut self,
        _: ConnectionId,
        _: PeerId,
        _: &Multiaddr,
        _: Endpoint,
        _: PortUse,
    ) -> Result<THandler<Self>, ConnectionDenied> {
        Ok(dummy::ConnectionHandler)
    }

    fn on_swarm_event(&mut self, event: FromSwarm<'_>) {
        match event {
            FromSwarm::NewListenAddr(NewListenAddr { listener_id, addr }) => {
                self.listening.push((listener_id, addr.clone()));
            }
            FromSwarm::ExpiredListenAddr(expired) => {
                self.listening.retain(|(_, address)| address != expired.addr);
            }
            _ => {}
        }
        self.inner.on_swarm_event(event);
    }

    fn on_connection_handler_event(
        &mut self,
        _: PeerId,
        _: ConnectionId,
        event: THandlerOutEvent<Self>,
    ) {
        match event {}
    }

    /// Tells who was heard. What the library would have others know of it is dropped: nobody has checked it.
    fn poll(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<ToSwarm<Self::ToSwarm, THandlerInEvent<Self>>> {
        loop {
            let told = std::task::ready!(self.inner.poll(cx));
            if let ToSwarm::GenerateEvent(mdns::Event::Discovered(heard)) = told {
                self.bound();
                return Poll::Ready(ToSwarm::GenerateEvent(heard));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_calls_under_ever_new_names_fills_no_memory() {
        assert!(!is_crowded(LAN_MEMBERS_MAX));
        assert!(is_crowded(LAN_MEMBERS_MAX + 1));
    }
}
