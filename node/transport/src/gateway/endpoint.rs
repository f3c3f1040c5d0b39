//! The QUIC endpoint: its settings, and which clients are let in.

use std::{
    io,
    net::{SocketAddr, UdpSocket},
    sync::Arc,
};

use quinn::{
    Endpoint, EndpointConfig, IdleTimeout, Incoming, ServerConfig, TokioRuntime, TransportConfig,
    VarInt, crypto::rustls::QuicServerConfig,
};

use super::{
    ALPN, GatewayLimits, StartGatewayError,
    admission::Turned,
    client::Gateway,
    webtransport::{self, BIDI_STREAMS, DATAGRAM_BYTES, UNI_STREAMS},
};
use crate::{
    bind::{BindError, both_families},
    certificates::Certificates,
};

/// The bytes sent to one client and not acknowledged: 1.2 MB/s at a round trip of 100 ms.
const SEND_WINDOW_BYTES: u32 = 128 * 1024;

/// The most bytes that one client may send before they are read.
const RECEIVE_WINDOW_BYTES: u32 = 64 * 1024;

/// The most first packets that quinn may hold until the accepting task handles them, and their
/// bytes.
const INCOMING_MAX: usize = 256;
const INCOMING_BYTES_MAX: u64 = 1024 * 1024;

pub(super) fn bind_error(listen: SocketAddr, source: io::Error) -> StartGatewayError {
    StartGatewayError::Bind(BindError { address: listen.to_string(), source })
}

/// Opens an endpoint at `listen`. If that is a loopback address, opens another one of the other
/// family with the same port.
pub(super) fn open(
    listen: SocketAddr,
    limits: &GatewayLimits,
    certificates: &Certificates,
) -> Result<Vec<Endpoint>, StartGatewayError> {
    let failed = |error: String| StartGatewayError::Certificate(error);
    let tls = certificates.server(&[ALPN, webtransport::ALPN]);
    let tls = tls.map_err(|error| failed(error.to_string()))?;
    let crypto = QuicServerConfig::try_from(tls).map_err(|error| failed(error.to_string()))?;
    let mut config = ServerConfig::with_crypto(Arc::new(crypto));
    config.max_incoming(INCOMING_MAX).incoming_buffer_size_total(INCOMING_BYTES_MAX);
    config.transport_config(Arc::new(transport(limits)));
    let sockets = both_families(listen, UdpSocket::bind, UdpSocket::local_addr);
    let endpoint = |socket| {
        let (own, runtime) = (EndpointConfig::default(), Arc::new(TokioRuntime));
        Endpoint::new(own, Some(config.clone()), socket, runtime)
    };
    let endpoints = sockets.and_then(|sockets| sockets.into_iter().map(endpoint).collect());
    endpoints.map_err(|error| bind_error(listen, error))
}

fn transport(limits: &GatewayLimits) -> TransportConfig {
    let idle = IdleTimeout::try_from(limits.idle).expect("less than 2^62 ms");
    let mut transport = TransportConfig::default();
    transport
        .max_idle_timeout(Some(idle))
        // A client may be silent, but its connection must live.
        .keep_alive_interval(Some(limits.idle / 4))
        // Only the server opens the stream of a session. Which protocol the stream is for is not
        // known before the handshake.
        .max_concurrent_bidi_streams(VarInt::from_u32(BIDI_STREAMS))
        .max_concurrent_uni_streams(VarInt::from_u32(UNI_STREAMS))
        .datagram_receive_buffer_size(Some(DATAGRAM_BYTES))
        .stream_receive_window(VarInt::from_u32(RECEIVE_WINDOW_BYTES))
        .receive_window(VarInt::from_u32(RECEIVE_WINDOW_BYTES))
        .send_window(SEND_WINDOW_BYTES.into());
    transport
}

/// Lets clients in until the endpoint is closed.
pub(super) async fn accept(endpoint: Endpoint, gateway: Arc<Gateway>) {
    while let Some(incoming) = endpoint.accept().await {
        admit(incoming, &gateway);
    }
}

fn admit(incoming: Incoming, gateway: &Arc<Gateway>) {
    let (address, validated) = (incoming.remote_address(), incoming.remote_address_validated());
    match gateway.admission.enter(address.ip(), validated) {
        Ok(ticket) => {
            // An error here is a malformed first packet; its ticket is dropped with it.
            if let Ok(connecting) = incoming.accept() {
                let id = gateway.name();
                gateway.tasks.spawn(gateway.clone().serve(id, address, connecting, ticket));
            }
        }
        Err(Turned::ToProve) => {
            gateway.metrics.clients_retried_total.inc();
            // A client that was asked before is validated. If quinn refuses to ask, this refuses
            // the client.
            if let Err(again) = incoming.retry() {
                again.into_incoming().refuse();
            }
        }
        Err(Turned::Away) => {
            gateway.metrics.clients_refused_total.inc();
            tracing::debug!(%address, clients = gateway.admission.clients(), "client refused");
            incoming.refuse();
        }
    }
}
