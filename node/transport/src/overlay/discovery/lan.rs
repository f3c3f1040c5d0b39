//! Members in the local network, by mDNS.
//!
//! The library remembers whoever calls, for as long as the caller likes. So somebody in the network could
//! fill the memory of all who listen; a behaviour that remembers too many begins anew.
//!
//! It tells once of whoever calls. A member whose only dial failed, because the two dialled each other at once, would
//! not be met for the six minutes after which the library forgets it; so each of them is told of again.

use std::{
    collections::BTreeMap,
    io,
    task::{Context, Poll},
    time::Duration,
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

use tokio::time::{Interval, MissedTickBehavior, interval};

use crate::overlay::limits::LAN_MEMBERS_MAX;

/// Time until all are told of again who called of late.
const AGAIN: Duration = Duration::from_secs(7);

/// How often a member that called is told of again.
const AGAIN_MAX: u8 = 3;

/// Addresses of one member that are told of again.
const ADDRESSES_MAX: usize = 4;

/// Where a member calls from, and how often it is still told of.
type LanCaller = (Vec<Multiaddr>, u8);

/// Calls in the local network, and hears who calls there.
pub(in crate::overlay) struct LanBehaviour {
    inner: mdns::tokio::Behaviour,
    local: PeerId,
    listening: Vec<(ListenerId, Multiaddr)>,
    /// Who called of late, at most [`LAN_MEMBERS_MAX`].
    callers: BTreeMap<PeerId, LanCaller>,
    again: Interval,
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
        let mut again = interval(AGAIN);
        again.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Ok(Self { inner, local, listening: Vec::new(), callers: BTreeMap::new(), again })
    }

    /// Remembers who called, to tell of them again.
    fn note(&mut self, heard: &[(PeerId, Multiaddr)]) {
        for (peer, address) in heard {
            if is_crowded(self.callers.len() + 1) {
                return;
            }
            let (addresses, left) = self.callers.entry(*peer).or_default();
            if addresses.len() < ADDRESSES_MAX {
                addresses.push(address.clone());
            }
            *left = AGAIN_MAX;
        }
    }

    /// Returns all who are told of again now.
    fn called_of_late(&mut self) -> Vec<(PeerId, Multiaddr)> {
        let mut told = Vec::new();
        self.callers.retain(|peer, (addresses, left)| {
            told.extend(addresses.iter().map(|address| (*peer, address.clone())));
            *left -= 1;
            *left > 0
        });
        told
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
        while self.again.poll_tick(cx).is_ready() {
            let told = self.called_of_late();
            if !told.is_empty() {
                return Poll::Ready(ToSwarm::GenerateEvent(told));
            }
        }
        loop {
            let told = std::task::ready!(self.inner.poll(cx));
            if let ToSwarm::GenerateEvent(mdns::Event::Discovered(heard)) = told {
                self.bound();
                self.note(&heard);
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

    /// Two who dialled each other at once, and had no connection then, did not meet for six minutes.
    #[tokio::test]
    async fn whoever_called_is_told_of_three_times_more_and_no_more_callers_than_there_is_room_for()
    {
        let mut lan = LanBehaviour::new(PeerId::random()).expect("it has networks");
        let address: Multiaddr = "/ip4/192.0.2.7/tcp/8083".parse().expect("an address");
        let caller = (PeerId::random(), address.clone());
        lan.note(std::slice::from_ref(&caller));
        for _ in 0..AGAIN_MAX {
            assert_eq!(lan.called_of_late(), std::slice::from_ref(&caller));
        }
        assert_eq!(lan.called_of_late(), []);

        let many: Vec<_> =
            (0..LAN_MEMBERS_MAX + 9).map(|_| (PeerId::random(), address.clone())).collect();
        lan.note(&many);
        assert_eq!(lan.called_of_late().len(), LAN_MEMBERS_MAX);

        let mut lan = LanBehaviour::new(PeerId::random()).expect("it has networks");
        lan.note(&vec![caller; ADDRESSES_MAX + 9]);
        assert_eq!(lan.called_of_late().len(), ADDRESSES_MAX);
    }
}
