//! The listener of a swarm.

use std::{io, time::Duration};

use futures::StreamExt as _;
use libp2p::{
    Multiaddr, Swarm, TransportError,
    swarm::{NetworkBehaviour, SwarmEvent},
};
use tokio::time::{Instant, timeout_at};

use super::StartPeersError;
use crate::bind::BindError;

/// Opens the listener of a swarm, which may take this long, and returns its address.
///
/// # Errors
/// When the transport knows no such address, or the system refuses it.
pub(crate) async fn listen<B: NetworkBehaviour>(
    swarm: &mut Swarm<B>,
    address: &Multiaddr,
    patience: Duration,
) -> Result<Multiaddr, StartPeersError> {
    let bind = |source| StartPeersError::Bind(BindError { address: address.to_string(), source });
    match swarm.listen_on(address.clone()) {
        Ok(_) => {}
        Err(TransportError::MultiaddrNotSupported(address)) => {
            return Err(StartPeersError::Address(address));
        }
        Err(TransportError::Other(error)) => return Err(bind(error)),
    }
    let deadline = Instant::now() + patience;
    loop {
        match timeout_at(deadline, swarm.select_next_some()).await {
            Ok(SwarmEvent::NewListenAddr { address, .. }) => return Ok(address),
            Ok(SwarmEvent::ListenerError { error, .. }) => return Err(bind(error)),
            Ok(SwarmEvent::ListenerClosed { reason: Err(error), .. }) => return Err(bind(error)),
            Ok(_) => {}
            Err(_) => return Err(bind(io::ErrorKind::TimedOut.into())),
        }
    }
}
