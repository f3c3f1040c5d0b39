//! WebTransport over HTTP/3: the steps before the one stream of a session.
//!
//! The server sends its settings, reads the client's settings and the client's one CONNECT request,
//! answers the request, and opens the stream for frames. It accepts no other request, and grants
//! the client no other streams than those that HTTP/3 needs. Datagrams are dropped. The server
//! reads no more of HTTP/3's own streams, so a client that writes to them soon blocks itself, and
//! nobody else.
use quinn::{Connection, ConnectionError, RecvStream, SendStream, VarInt};
use tokio::{io::AsyncReadExt as _, sync::oneshot};
use tokio_util::task::AbortOnDropHandle;
use web_transport_proto::{
    Capsule, CapsuleError, ConnectRequest, ConnectResponse, Frame, Http3CapsuleReader, Settings,
    http::{HeaderMap, StatusCode, header::ORIGIN},
};

use super::{
    ClientEnd, CloseCode, PROTOCOL,
    stream::{StreamReceiver, StreamSender},
};
use crate::http::Allowed;

/// The application protocol of a connection that may carry WebTransport.
pub(super) const ALPN: &[u8] = b"h3";

/// The streams in one direction that HTTP/3 needs from a client: control, and two for its headers.
pub(super) const UNI_STREAMS: u32 = 3;

/// The streams in both directions that a client may open: that of its CONNECT request.
pub(super) const BIDI_STREAMS: u32 = 1;

/// The bytes of datagrams that may wait. WebTransport requires datagrams, and nobody reads them.
pub(super) const DATAGRAM_BYTES: usize = 2_048;

/// The most bytes that a client may send after its request. A proper client sends a few.
pub(super) const CAPSULES_BYTES_MAX: u64 = 16 * 1024;

/// The path at which sessions begin.
const PATH: &str = "/";

/// Says why a session could not be opened.
#[derive(Debug)]
pub(super) enum SessionRefusal {
    /// The connection ended.
    Lost,
    /// The client spoke no HTTP/3, or sent no request for WebTransport.
    Nonsense,
    /// The request was refused with an answer.
    Answered {
        /// Says whether the origin of the page was the reason.
        foreign: bool,
        /// The session's streams, to be held until the client has the answer.
        http3: Http3,
    },
}

impl From<ConnectionError> for SessionRefusal {
    fn from(_: ConnectionError) -> Self {
        Self::Lost
    }
}

impl From<quinn::WriteError> for SessionRefusal {
    fn from(_: quinn::WriteError) -> Self {
        Self::Lost
    }
}

/// The streams of HTTP/3 that must stay open as long as the session.
#[derive(Debug)]
pub(super) struct Http3 {
    _control: SendStream,
    _their_control: RecvStream,
    connect: SendStream,
    /// The task that reads what follows the request. While it does, the stream is whole, and a
    /// browser believes the reason of a close. It reports a stream that was stopped as a lost
    /// connection.
    _reader: Option<AbortOnDropHandle<()>>,
}

impl Http3 {
    /// The HTTP/3 code for a connection that ends as it should.
    pub(super) const NO_ERROR: VarInt = VarInt::from_u32(0x100);

    /// The HTTP/3 code for a connection that does not speak the protocol.
    pub(super) const GENERAL_PROTOCOL_ERROR: VarInt = VarInt::from_u32(0x101);

    /// Returns the HTTP/3 code for a stream of a session that is reset.
    pub(super) fn reset() -> VarInt {
        let code = web_transport_proto::error_to_http3(0);
        VarInt::from_u64(code).expect("these codes are below 2^62")
    }

    /// Ends the session, and waits until the client has hung up.
    pub(super) async fn close(mut self, connection: &Connection, code: CloseCode, reason: &str) {
        let capsule = Capsule::CloseWebTransportSession { code: code.0, reason: reason.to_owned() };
        let (mut content, mut frame) = (Vec::new(), Vec::new());
        capsule.encode(&mut content);
        Frame::DATA.encode(&mut frame);
        varint(content.len()).encode(&mut frame);
        frame.extend_from_slice(&content);
        if self.connect.write_all(&frame).await.is_ok() && self.connect.finish().is_ok() {
            connection.closed().await;
        }
    }

    /// Waits until the client has the answer to a request that was refused.
    pub(super) async fn refused(mut self) {
        if self.connect.finish().is_ok() {
            let _ = self.connect.stopped().await;
        }
    }
}

fn varint(len: usize) -> web_transport_proto::VarInt {
    web_transport_proto::VarInt::try_from(len).expect("lengths are below 2^62")
}

/// Does the handshake on a connection whose client speaks HTTP/3, and opens the session's stream.
pub(super) async fn accept(
    connection: &Connection,
    allowed: &Allowed,
    frame_bytes_max: usize,
) -> Result<(StreamSender, StreamReceiver), SessionRefusal> {
    let (control, their_control) =
        tokio::try_join!(send_settings(connection), settings(connection))?;
    let (mut connect, mut requests) = connection.accept_bi().await?;
    let request =
        ConnectRequest::read(&mut requests).await.map_err(|_| SessionRefusal::Nonsense)?;
    let status = judge(&request, allowed);
    let mut response = ConnectResponse::new(status);
    if status == StatusCode::OK && !request.protocols.is_empty() {
        response = response.with_protocol(PROTOCOL);
    }
    response.write(&mut connect).await.map_err(|_| SessionRefusal::Lost)?;
    let session = connect.id();
    let mut http3 =
        Http3 { _control: control, _their_control: their_control, connect, _reader: None };
    if status != StatusCode::OK {
        return Err(SessionRefusal::Answered { foreign: status == StatusCode::FORBIDDEN, http3 });
    }
    let (mut send, recv) = connection.open_bi().await?;
    let mut header = Vec::new();
    Frame::WEBTRANSPORT.encode(&mut header);
    let session = u64::from(VarInt::from(session));
    web_transport_proto::VarInt::from_u64(session)
        .expect("ids of streams are below 2^62")
        .encode(&mut header);
    send.write_all(&header).await?;
    let (told, end) = oneshot::channel();
    http3._reader = Some(AbortOnDropHandle::new(tokio::spawn(async move {
        // Nobody waits for this when the session has ended in another way.
        let _ = told.send(hung_up(requests).await);
    })));
    let hangup = async { end.await.unwrap_or(ClientEnd::Left) };
    let receiver = StreamReceiver::new(recv, frame_bytes_max, Box::pin(hangup));
    Ok((StreamSender::new(connection.clone(), send, Some(http3)), receiver))
}

async fn send_settings(connection: &Connection) -> Result<SendStream, SessionRefusal> {
    let mut settings = Settings::default();
    settings.enable_webtransport(1);
    let mut bytes = Vec::new();
    settings.encode(&mut bytes);
    let mut control = connection.open_uni().await?;
    control.write_all(&bytes).await?;
    Ok(control)
}

/// Reads the client's settings. They must be there, but their content does not matter; the request
/// decides.
async fn settings(connection: &Connection) -> Result<RecvStream, SessionRefusal> {
    let mut control = connection.accept_uni().await?;
    Settings::read(&mut control).await.map_err(|_| SessionRefusal::Nonsense)?;
    Ok(control)
}

fn judge(request: &ConnectRequest, allowed: &Allowed) -> StatusCode {
    let protocol_fits = request.protocols.is_empty()
        || request.protocols.iter().any(|protocol| protocol == PROTOCOL);
    if request.url.path() != PATH || request.url.query().is_some() {
        StatusCode::NOT_FOUND
    } else if !is_allowed(&request.headers, request.url.host_str().unwrap_or_default(), allowed) {
        StatusCode::FORBIDDEN
    } else if !protocol_fits {
        StatusCode::BAD_REQUEST
    } else {
        StatusCode::OK
    }
}

/// Returns whether the request may open a session. Programs that are no browsers send no Origin,
/// and no page can make them come here unknowingly.
fn is_allowed(headers: &HeaderMap, name: &str, allowed: &Allowed) -> bool {
    let mut origins = headers.get_all(ORIGIN).iter();
    match (origins.next(), origins.next()) {
        (None, _) => true,
        (Some(origin), None) => origin.to_str().is_ok_and(|origin| allowed.session(origin, name)),
        (Some(_), Some(_)) => false,
    }
}

/// Waits until the client ends its session or breaks the rules of its request's stream.
async fn hung_up(requests: RecvStream) -> ClientEnd {
    // The reader gathers what it cannot decode, so it must not get much.
    let mut capsules = Http3CapsuleReader::new(requests.take(CAPSULES_BYTES_MAX));
    loop {
        match capsules.read().await {
            Ok(Some(Capsule::CloseWebTransportSession { .. }) | None) => return ClientEnd::Left,
            // Other capsules are for extensions that we do not have.
            Ok(Some(_)) => {}
            Err(CapsuleError::MessageTooLong | CapsuleError::InvalidUtf8) => {
                return ClientEnd::Malformed("a capsule that is too long, or no text");
            }
            Err(_) => return ClientEnd::Left,
        }
    }
}
