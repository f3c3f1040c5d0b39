//! The QUIC endpoint: its settings, and who is let in.

use std::{io, net::SocketAddr, sync::Arc};

use quinn::{
    Endpoint, EndpointConfig, IdleTimeout, Incoming, ServerConfig, TokioRuntime, TransportConfig,
    VarInt, crypto::rustls::QuicServerConfig,
};
use tokio::task::JoinSet;

use super::{
    ALPN, ClientId, GatewayLimits, StartError,
    admission::{Admission, Verdict},
    client::Gateway,
};
use crate::{
    bind::BindError,
    tls::{CertificateHash, Identity},
};

/// Bytes sent to one client and not acknowledged. 1.2 MB/s at a round trip of 100 ms.
const SEND_WINDOW_BYTES: u32 = 128 * 1024;

/// Bytes that one client may send ahead of what was taken from it.
const RECEIVE_WINDOW_BYTES: u32 = 64 * 1024;

/// First packets that quinn may hold until the accepting task looks at them, and their bytes.
const INCOMING_MAX: usize = 256;
const INCOMING_BYTES_MAX: u64 = 1024 * 1024;

pub(super) fn bind_error(listen: SocketAddr, source: io::Error) -> StartError {
    let (address, flag) = (listen.to_string(), "--client-listen");
    StartError::Bind(BindError { address, flag, source })
}

/// Opens the endpoint with a new certificate.
pub(super) fn open(
    listen: SocketAddr,
    limits: &GatewayLimits,
) -> Result<(Endpoint, CertificateHash), StartError> {
    let failed = |error: String| StartError::Certificate(error);
    let identity = Identity::generate().map_err(|error| failed(error.to_string()))?;
    let hash = identity.hash();
    let tls = identity.server(ALPN).map_err(|error| failed(error.to_string()))?;
    let crypto = QuicServerConfig::try_from(tls).map_err(|error| failed(error.to_string()))?;
    let mut config = ServerConfig::with_crypto(Arc::new(crypto));
    config.max_incoming(INCOMING_MAX).incoming_buffer_size_total(INCOMING_BYTES_MAX);
    config.transport_config(Arc::new(transport(limits)));
    let socket = std::net::UdpSocket::bind(listen).map_err(|error| bind_error(listen, error))?;
    let runtime = Arc::new(TokioRuntime);
    let endpoint = Endpoint::new(EndpointConfig::default(), Some(config), socket, runtime)
        .map_err(|error| bind_error(listen, error))?;
    Ok((endpoint, hash))
}

fn transport(limits: &GatewayLimits) -> TransportConfig {
    let idle = IdleTimeout::try_from(limits.idle).expect("less than 2^62 ms");
    let mut transport = TransportConfig::default();
    transport
        .max_idle_timeout(Some(idle))
        // Only the server opens a stream, and it opens one.
        .max_concurrent_bidi_streams(VarInt::from_u32(0))
        .max_concurrent_uni_streams(VarInt::from_u32(0))
        .datagram_receive_buffer_size(None)
        .stream_receive_window(VarInt::from_u32(RECEIVE_WINDOW_BYTES))
        .receive_window(VarInt::from_u32(RECEIVE_WINDOW_BYTES))
        .send_window(SEND_WINDOW_BYTES.into());
    transport
}

/// Lets clients in until the endpoint is closed, then waits for those that are there to end.
pub(super) async fn accept(endpoint: Endpoint, gateway: Gateway) {
    let admission = Admission::new(&gateway.limits);
    let gateway = Arc::new(gateway);
    let mut next = ClientId(0);
    let mut clients = JoinSet::new();
    loop {
        tokio::select! {
            incoming = endpoint.accept() => match incoming {
                Some(incoming) => admit(incoming, &admission, &gateway, &mut next, &mut clients),
                None => break,
            },
            Some(_) = clients.join_next() => {}
        }
    }
    while clients.join_next().await.is_some() {}
}

fn admit(
    incoming: Incoming,
    admission: &Arc<Admission>,
    gateway: &Arc<Gateway>,
    next: &mut ClientId,
    clients: &mut JoinSet<()>,
) {
    let (address, validated) = (incoming.remote_address(), incoming.remote_address_validated());
    match admission.judge(address.ip(), validated) {
        Verdict::Accept => {
            let ticket = admission.admit(address.ip(), validated);
            // An error here is a first packet that was malformed; its ticket is dropped with it.
            if let Ok(connecting) = incoming.accept() {
                next.0 += 1;
                clients.spawn(gateway.clone().serve(*next, address, connecting, ticket));
            }
        }
        Verdict::Retry => {
            gateway.metrics.clients_retried_total.one();
            // Whoever was asked before is validated; and if quinn refuses to ask, so do we.
            if let Err(again) = incoming.retry() {
                again.into_incoming().refuse();
            }
        }
        Verdict::Refuse => {
            gateway.metrics.clients_refused_total.one();
            tracing::debug!(%address, clients = admission.clients(), "client refused");
            incoming.refuse();
        }
    }
}
