//! The client's end of a session with a node's gateway.
//!
//! [`connect`] accepts certificates that are named by their hashes, and waits for the server to
//! speak: when it returns, the first frame is there or on its way. The two halves of a [`Carrier`]
//! can be used from different tasks. This module does not know what frames mean.

use std::{
    io,
    net::{Ipv4Addr, Ipv6Addr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use bytes::{Buf as _, Bytes};
use metatopia_protocol::{CLIENT_FRAME_BYTES_MAX, SERVER_FRAME_BYTES_MAX};
use quinn::{
    ClientConfig, Connection, ConnectionError, Endpoint, IdleTimeout, ReadError, RecvStream,
    SendStream, TransportConfig, TransportErrorCode, VarInt, WriteError,
    crypto::rustls::QuicClientConfig,
};
use tokio::time::timeout;

use crate::{
    framing::{self, Decoder, Oversize},
    tls::{self, CertificateHash, Pin},
};

/// The name of the application protocol that a raw connection asks for in its handshake.
pub const ALPN: &[u8] = b"metatopia/1";

/// The code with which a client closes a session without any fault.
pub const LEFT_CODE: u32 = 0;

/// The round trip that is taken for granted before one is measured. A first packet that is lost is sent again after
/// three of them: five times before [`CONNECT`] is over, where the 333 ms that RFC 9002 recommends give three tries.
const FIRST_RTT: Duration = Duration::from_millis(100);

/// The time for the handshake and the server's first frame.
pub const CONNECT: Duration = Duration::from_secs(5);

/// The longest time without a packet to the other side, so that neither side takes the other for
/// gone.
const KEEP_ALIVE: Duration = Duration::from_secs(1);

/// The time without a packet after which a server counts as gone. A killed process sends no close
/// over UDP, and its clients' acts wait for as long until another server gets them. A live server
/// counts as gone only when three packets in a row are lost.
const IDLE: Duration = Duration::from_secs(4);

/// The time that [`CarrierSender::leave`] waits for sent frames to arrive.
const LINGER: Duration = Duration::from_secs(1);

/// The most bytes that the server may send before they are read here.
const RECEIVE_WINDOW_BYTES: u32 = 1024 * 1024;

/// The bytes read from the transport at once.
const READ_BYTES: usize = 64 * 1024;

/// Says why a session could not be opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConnectError {
    /// The server at this address has another certificate.
    #[error("the server's certificate is {found}, which it did not announce")]
    WrongCertificate {
        /// The hash of the certificate that was shown.
        found: CertificateHash,
    },
    /// The server is full, or has enough connections from this address.
    #[error("the server refused: it is full, or has enough from this address")]
    Refused,
    /// No answer came within [`CONNECT`].
    #[error("no answer within {} s", CONNECT.as_secs())]
    NoAnswer,
    /// The server closed the connection.
    #[error("closed by the server: {reason} (code {code})")]
    Closed {
        /// The code of the close, as the gateway numbers them.
        code: u64,
        /// The reason that the server gave.
        reason: String,
    },
    /// The address cannot be dialled.
    #[error("cannot dial {0}")]
    Address(SocketAddr),
    /// No socket could be opened.
    #[error("no socket: {0}")]
    Socket(io::ErrorKind),
    /// The connection failed in another way.
    #[error("connection failed: {0}")]
    Failed(ConnectionError),
}

/// Says why a session ended.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CarrierError {
    /// The server closed the session.
    #[error("closed by the server: {reason} (code {code})")]
    Closed {
        /// The code of the close, as the gateway numbers them.
        code: u64,
        /// The reason that the server gave.
        reason: String,
    },
    /// The connection broke.
    #[error("connection lost: {0}")]
    Lost(ConnectionError),
    /// The server announced a frame above the limit.
    #[error(transparent)]
    Oversize(Oversize),
    /// A frame to send is empty or above the limit. The session continues without it.
    #[error("frame of {bytes} bytes, where 1 to {CLIENT_FRAME_BYTES_MAX} are possible")]
    Size {
        /// The size of the frame in bytes.
        bytes: usize,
    },
}

impl From<ConnectionError> for CarrierError {
    fn from(error: ConnectionError) -> Self {
        match error {
            ConnectionError::ApplicationClosed(close) => Self::Closed {
                code: close.error_code.into_inner(),
                reason: String::from_utf8_lossy(&close.reason).into_owned(),
            },
            error => Self::Lost(error),
        }
    }
}

/// A session with a node.
#[derive(Debug)]
pub struct Carrier {
    /// The half that sends frames.
    pub send: CarrierSender,
    /// The half that receives frames.
    pub recv: CarrierReceiver,
}

/// The sending half. The session ends when both halves are dropped; see [`leave`](Self::leave).
#[derive(Debug)]
pub struct CarrierSender {
    endpoint: Endpoint,
    connection: Connection,
    stream: SendStream,
    encoded: Vec<u8>,
}

impl CarrierSender {
    /// Sends a frame. Waits while the server takes no more. When it is cancelled while it waits, a
    /// part of the frame may have been sent, and the session cannot be used any more.
    ///
    /// # Errors
    /// Fails when the frame's size is not allowed, or the session has ended.
    pub async fn send(&mut self, frame: &[u8]) -> Result<(), CarrierError> {
        if frame.is_empty() || frame.len() > CLIENT_FRAME_BYTES_MAX {
            return Err(CarrierError::Size { bytes: frame.len() });
        }
        self.encoded.clear();
        framing::encode(frame, &mut self.encoded);
        match self.stream.write_all(&self.encoded).await {
            Ok(()) => Ok(()),
            Err(WriteError::ConnectionLost(lost)) => Err(lost.into()),
            Err(_) => Err(why_closed(&self.connection).await),
        }
    }

    /// Closes the session, once the server has all sent frames or a second has passed.
    pub async fn leave(mut self) {
        let arrived = async {
            if self.stream.finish().is_ok() {
                let _ = self.stream.stopped().await;
            }
        };
        let _ = timeout(LINGER, arrived).await;
        self.connection.close(VarInt::from_u32(LEFT_CODE), b"left");
        let _ = timeout(LINGER, self.endpoint.wait_idle()).await;
    }

    /// Returns the time of a round trip to the server, as the transport estimates it now.
    #[must_use]
    pub fn round_trip(&self) -> Duration {
        self.connection.rtt()
    }
}

/// The receiving half.
#[derive(Debug)]
pub struct CarrierReceiver {
    connection: Connection,
    stream: RecvStream,
    decoder: Decoder,
    chunk: Bytes,
}

impl CarrierReceiver {
    /// Waits for the next frame, of 1 or more bytes. Nothing is lost when this is cancelled.
    ///
    /// # Errors
    /// Fails when the session has ended, or the server announced a frame above the limit.
    pub async fn recv(&mut self) -> Result<Bytes, CarrierError> {
        loop {
            let mut input = &self.chunk[..];
            let frame = self.decoder.next(&mut input).map_err(CarrierError::Oversize)?;
            let used = self.chunk.len() - input.len();
            self.chunk.advance(used);
            match frame {
                Some(frame) if frame.is_empty() => continue,
                Some(frame) => return Ok(frame),
                None => {}
            }
            self.chunk = match self.stream.read_chunk(READ_BYTES, true).await {
                Ok(Some(chunk)) => chunk.bytes,
                Err(ReadError::ConnectionLost(lost)) => return Err(lost.into()),
                Ok(None) | Err(_) => return Err(why_closed(&self.connection).await),
            };
        }
    }
}

/// Returns why the server closed the session. The server has ended its stream; its reason follows
/// within a moment, or never.
async fn why_closed(connection: &Connection) -> CarrierError {
    match timeout(LINGER, connection.closed()).await {
        Ok(error) => error.into(),
        Err(_) => CarrierError::Lost(ConnectionError::TimedOut),
    }
}

/// Connects to the gateway at `address`, if its certificate has one of these hashes. A gateway
/// announces the certificate in use and the next one.
///
/// # Errors
/// See [`ConnectError`].
pub async fn connect(
    address: SocketAddr,
    certificates: &[CertificateHash],
) -> Result<Carrier, ConnectError> {
    let any: SocketAddr = match address {
        SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    };
    let endpoint = Endpoint::client(any).map_err(|error| ConnectError::Socket(error.kind()))?;
    let pin = Pin::new(certificates);
    let connecting = endpoint
        .connect_with(config(&pin, ALPN), address, tls::NAME)
        .map_err(|_| ConnectError::Address(address))?;
    let opened = async {
        let connection = connecting.await?;
        let (send, recv) = connection.accept_bi().await?;
        Ok((connection, send, recv))
    };
    let (connection, send, recv) = match timeout(CONNECT, opened).await {
        Ok(Ok(opened)) => opened,
        Ok(Err(error)) => return Err(refusal(error, &pin)),
        Err(_) => return Err(ConnectError::NoAnswer),
    };
    let decoder = Decoder::new(SERVER_FRAME_BYTES_MAX);
    let chunk = Bytes::new();
    Ok(Carrier {
        recv: CarrierReceiver { connection: connection.clone(), stream: recv, decoder, chunk },
        send: CarrierSender { endpoint, connection, stream: send, encoded: Vec::new() },
    })
}

/// Returns the QUIC settings of a client that speaks `alpn` with the server whose certificate is
/// pinned.
///
/// # Panics
/// Panics when ring has no TLS 1.3, which it has.
#[must_use]
pub fn config(pin: &Arc<Pin>, alpn: &[u8]) -> ClientConfig {
    let tls = tls::client(pin.clone(), alpn).expect("ring has TLS 1.3");
    let crypto = QuicClientConfig::try_from(tls).expect("ring has the suite of first packets");
    let mut transport = TransportConfig::default();
    transport
        .initial_rtt(FIRST_RTT)
        .max_idle_timeout(Some(IdleTimeout::try_from(IDLE).expect("less than 2^62 ms")))
        .keep_alive_interval(Some(KEEP_ALIVE))
        .max_concurrent_bidi_streams(VarInt::from_u32(1))
        .max_concurrent_uni_streams(VarInt::from_u32(0))
        .datagram_receive_buffer_size(None)
        .stream_receive_window(VarInt::from_u32(RECEIVE_WINDOW_BYTES))
        .receive_window(VarInt::from_u32(RECEIVE_WINDOW_BYTES));
    let mut config = ClientConfig::new(Arc::new(crypto));
    config.transport_config(Arc::new(transport));
    config
}

fn refusal(error: ConnectionError, pin: &Pin) -> ConnectError {
    if let Some(found) = pin.mismatch() {
        return ConnectError::WrongCertificate { found };
    }
    match error {
        ConnectionError::TimedOut => ConnectError::NoAnswer,
        ConnectionError::ConnectionClosed(close)
            if close.error_code == TransportErrorCode::CONNECTION_REFUSED =>
        {
            ConnectError::Refused
        }
        ConnectionError::ApplicationClosed(close) => ConnectError::Closed {
            code: close.error_code.into_inner(),
            reason: String::from_utf8_lossy(&close.reason).into_owned(),
        },
        error => ConnectError::Failed(error),
    }
}
