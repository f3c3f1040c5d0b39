//! The part of the mesh that lives on one connection. It negotiates the two substreams of a
//! session, hands them out whole, and then has nothing more to do.

use std::{
    collections::VecDeque,
    convert::Infallible,
    task::{Context, Poll},
};

use libp2p::{
    Stream, StreamProtocol,
    core::upgrade::ReadyUpgrade,
    swarm::{
        ConnectionHandler, ConnectionHandlerEvent, SubstreamProtocol,
        handler::{
            ConnectionEvent, DialUpgradeError, FullyNegotiatedInbound, FullyNegotiatedOutbound,
        },
    },
};

type ProtocolUpgrade = ReadyUpgrade<StreamProtocol>;

/// An event of the handler for the mesh.
#[derive(Debug)]
pub(crate) enum FromHandler {
    /// The substream that the remote opened, which we only read.
    Read(Stream),
    /// The substream that we opened, which we only write to.
    Write(Stream),
    /// The remote does not speak the protocol, or opened a second substream.
    Refused,
}

/// Negotiates one session.
pub(crate) struct SessionHandler {
    protocol: StreamProtocol,
    asked: bool,
    read_seen: bool,
    queue: VecDeque<FromHandler>,
}

impl SessionHandler {
    pub(crate) fn new(protocol: StreamProtocol) -> Self {
        Self { protocol, asked: false, read_seen: false, queue: VecDeque::new() }
    }
}

impl ConnectionHandler for SessionHandler {
    type FromBehaviour = Infallible;
    type ToBehaviour = FromHandler;
    type InboundProtocol = ProtocolUpgrade;
    type OutboundProtocol = ProtocolUpgrade;
    type InboundOpenInfo = ();
    type OutboundOpenInfo = ();

    fn listen_protocol(&self) -> SubstreamProtocol<ProtocolUpgrade> {
        SubstreamProtocol::new(ReadyUpgrade::new(self.protocol.clone()), ())
    }

    fn poll(
        &mut self,
        _: &mut Context<'_>,
    ) -> Poll<ConnectionHandlerEvent<ProtocolUpgrade, (), FromHandler>> {
        if !self.asked {
            self.asked = true;
            let protocol = self.listen_protocol();
            return Poll::Ready(ConnectionHandlerEvent::OutboundSubstreamRequest { protocol });
        }
        match self.queue.pop_front() {
            Some(event) => Poll::Ready(ConnectionHandlerEvent::NotifyBehaviour(event)),
            None => Poll::Pending,
        }
    }

    fn on_behaviour_event(&mut self, event: Infallible) {
        match event {}
    }

    fn on_connection_event(
        &mut self,
        event: ConnectionEvent<'_, ProtocolUpgrade, ProtocolUpgrade>,
    ) {
        let event = match event {
            ConnectionEvent::FullyNegotiatedInbound(FullyNegotiatedInbound {
                protocol, ..
            }) => {
                // One `Refused` ends the connection. More of them would only fill the queue.
                match (std::mem::replace(&mut self.read_seen, true), self.queue.len()) {
                    (false, _) => FromHandler::Read(protocol),
                    (true, 0..4) => FromHandler::Refused,
                    (true, _) => return,
                }
            }
            ConnectionEvent::FullyNegotiatedOutbound(FullyNegotiatedOutbound {
                protocol, ..
            }) => FromHandler::Write(protocol),
            ConnectionEvent::DialUpgradeError(DialUpgradeError { .. }) => FromHandler::Refused,
            _ => return,
        };
        self.queue.push_back(event);
    }
}
