//! Tests of pages: sessions over WebTransport and WebSocket, by clients that we did not write.

use axum::{Router, routing::get};
use futures::{SinkExt as _, StreamExt as _};
use quinn::TransportConfig;
use tokio::net::TcpStream;
use tokio_tungstenite::{
    WebSocketStream, client_async,
    tungstenite::{
        self, Message,
        client::IntoClientRequest as _,
        handshake::client::Request,
        http::HeaderValue,
        protocol::{CloseFrame, frame::coding::CloseCode as SocketCode},
    },
};
use web_transport_quinn::{
    ClientError, RecvStream, SendStream, Session,
    http::HeaderName,
    proto::{ConnectRequest, Settings},
};

use super::*;
use crate::{
    figures::HttpFigures,
    framing,
    http::{self, HttpRoutes},
};

/// The origin of pages that may come in.
pub(super) const PAGE: &str = "https://plaza.example";

/// A gateway with the HTTP server that its WebSockets need.
pub(super) struct Site {
    pub(super) node: Node,
    pub(super) http: http::HttpServer,
    pub(super) http_figures: Arc<HttpFigures>,
}

impl Site {
    pub(super) fn new(limits: GatewayLimits) -> Self {
        let bound = http::bind(LOOPBACK.into()).unwrap();
        let allowed = Allowed::new(PAGE.parse().unwrap(), bound.address(), None);
        let (metrics, certificates) = (Arc::<TransportFigures>::default(), certificates());
        let listen_config = listen_config(&certificates, allowed.clone());
        let (handle, events) = start(listen_config, limits, metrics.clone()).unwrap();
        let router = Router::new().route("/ws", get(http::upgrade)).with_state(handle.sockets());
        let routes = HttpRoutes { router, plain: &[], origins_setting: "the origins" };
        let http_figures = Arc::<HttpFigures>::default();
        let http = http::start(bound, http::guarded([allowed], routes, http_figures.clone()));
        let node = Node { handle, events, metrics, certificates };
        Self { node, http, http_figures }
    }

    /// Opens a connection of a client that speaks HTTP/3.
    pub(super) async fn h3(&self) -> Connection {
        let endpoint = Endpoint::client(LOOPBACK.into()).unwrap();
        let mut config = carrier::config(&Pin::new(&self.node.certificates.hashes()), b"h3");
        let mut transport = TransportConfig::default();
        transport.keep_alive_interval(Some(Duration::from_millis(50)));
        config.transport_config(Arc::new(transport));
        let address = self.node.handle.address();
        endpoint.connect_with(config, address, "anything").unwrap().await.unwrap()
    }

    /// Returns a request that a page sends.
    pub(super) fn request(&self, path: &str, origin: &'static str) -> ConnectRequest {
        let url = format!("https://{}{path}", self.node.handle.address());
        ConnectRequest::new(url.parse::<url::Url>().unwrap())
            .with_header(HeaderName::from_static("origin"), HeaderValue::from_static(origin))
            .with_protocol(PROTOCOL)
    }

    pub(super) async fn open(&self, request: ConnectRequest) -> Result<Session, ClientError> {
        timeout(GUARD, Session::connect(self.h3().await, request)).await.expect("in time")
    }

    /// Connects a page over WebTransport that has a stream and was greeted.
    pub(super) async fn transport(&mut self) -> (ClientId, Session, SendStream, RecvStream) {
        let request = self.request("/", PAGE);
        let session = self.open(request).await.unwrap();
        let (id, streams) = tokio::join!(self.node.greet(), session.accept_bi());
        let (send, mut recv) = streams.unwrap();
        assert_eq!(read(&mut recv).await, b"welcome");
        (id, session, send, recv)
    }

    pub(super) fn upgrade(&self, origin: Option<&'static str>, protocol: &str) -> Request {
        let url = format!("ws://{}/ws", self.http.address());
        let mut request = url.into_client_request().unwrap();
        let headers = request.headers_mut();
        if let Some(origin) = origin {
            headers.insert("origin", HeaderValue::from_static(origin));
        }
        if !protocol.is_empty() {
            headers.insert("sec-websocket-protocol", protocol.parse().unwrap());
        }
        request
    }

    pub(super) fn dial(
        &self,
        request: Request,
    ) -> impl Future<Output = Result<Socket, tungstenite::Error>> + use<> {
        let address = self.http.address();
        async move {
            let stream = TcpStream::connect(address).await.unwrap();
            let opened = timeout(GUARD, client_async(request, stream)).await.expect("in time");
            opened.map(|(socket, _)| socket)
        }
    }

    /// Connects a page over WebSocket that was greeted.
    pub(super) async fn socket(&mut self) -> (ClientId, Socket) {
        let request = self.upgrade(Some(PAGE), WEBSOCKET_PROTOCOL);
        let dialled = self.dial(request);
        let (id, socket) = tokio::join!(self.node.greet(), dialled);
        let mut socket = socket.unwrap();
        assert_eq!(next(&mut socket).await, Message::binary("welcome"));
        (id, socket)
    }
}

pub(super) type Socket = WebSocketStream<TcpStream>;

/// Returns the next message that is no ping.
pub(super) async fn next(socket: &mut Socket) -> Message {
    loop {
        let message = timeout(GUARD, socket.next()).await.expect("in time").expect("one more");
        match message.unwrap() {
            Message::Ping(_) => {}
            message => return message,
        }
    }
}

/// Reads the next frame of a stream.
pub(super) async fn read(recv: &mut RecvStream) -> Vec<u8> {
    let whole = async {
        let mut len = [0; 4];
        recv.read_exact(&mut len).await.unwrap();
        let mut frame = vec![0; u32::from_le_bytes(len) as usize];
        recv.read_exact(&mut frame).await.unwrap();
        frame
    };
    timeout(GUARD, whole).await.expect("a frame in time")
}

pub(super) fn encoded(frame: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    framing::encode(frame, &mut bytes);
    bytes
}

pub(super) fn closing(code: CloseCode, reason: &str) -> Message {
    let code = SocketCode::from(CLOSE_CODES + u16::try_from(code.0).unwrap());
    Message::Close(Some(CloseFrame { code, reason: reason.into() }))
}

/// Returns how the server ended a session.
pub(super) async fn ended(session: &Session) -> (u32, String) {
    use web_transport_quinn::{SessionError, WebTransportError};
    match timeout(GUARD, session.closed()).await.expect("in time") {
        SessionError::WebTransportError(WebTransportError::Closed(code, reason)) => (code, reason),
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn frames_travel_both_ways_over_webtransport() {
    let mut site = Site::new(limits());
    let request = site.request("/", PAGE);
    let session = site.open(request).await.unwrap();
    assert_eq!(session.protocol(), Some(PROTOCOL));
    let GatewayEvent::ClientUp { id, carrier, .. } = site.node.next().await else { panic!() };
    assert_eq!(carrier, CarrierKind::WebTransport);
    let (mut send, mut recv) = session.accept_bi().await.unwrap();
    let down = Bytes::from(vec![1; SERVER_FRAME_BYTES_MAX]);
    let up = Bytes::from(vec![2; CLIENT_FRAME_BYTES_MAX]);

    site.node.handle.send(id, Delivery::Reliable, down.clone()).unwrap();
    send.write_all(&encoded(&up)).await.unwrap();

    assert_eq!(read(&mut recv).await, down);
    assert_eq!(site.node.next().await, GatewayEvent::ClientFrame { id, bytes: up });
    assert_eq!(site.node.metrics.clients_webtransport.get(), 1);
    assert_eq!(site.node.metrics.clients_quic.get(), 0);
}

#[tokio::test]
async fn frames_travel_both_ways_over_websocket() {
    let mut site = Site::new(limits());
    let request = site.upgrade(Some(PAGE), "other, metatopia.1");
    let mut socket = site.dial(request).await.unwrap();
    let GatewayEvent::ClientUp { id, carrier, .. } = site.node.next().await else { panic!() };
    assert_eq!(carrier, CarrierKind::WebSocket);
    let down = Bytes::from(vec![1; SERVER_FRAME_BYTES_MAX]);
    let up = Bytes::from(vec![2; CLIENT_FRAME_BYTES_MAX]);

    site.node.handle.send(id, Delivery::Reliable, down.clone()).unwrap();
    assert_eq!(next(&mut socket).await, Message::Binary(down));
    socket.send(Message::Binary(up.clone())).await.unwrap();
    assert_eq!(site.node.next().await, GatewayEvent::ClientFrame { id, bytes: up });

    for n in 0..200u8 {
        site.node.handle.send(id, Delivery::Reliable, vec![n; 100].into()).unwrap();
    }
    for n in 0..200u8 {
        assert_eq!(next(&mut socket).await, Message::binary(vec![n; 100]));
    }
    assert_eq!(site.node.metrics.clients_websocket.get(), 1);
}

#[tokio::test]
async fn programs_without_an_origin_may_come_in() {
    let mut site = Site::new(limits());
    let request = site.upgrade(None, WEBSOCKET_PROTOCOL);
    let dialled = site.dial(request);
    let (_, socket) = tokio::join!(site.node.greet(), dialled);
    let _socket = socket.unwrap();
    let url = format!("https://{}/", site.node.handle.address()).parse::<url::Url>();
    let session = site.open(ConnectRequest::new(url.unwrap())).await.unwrap();
    assert_eq!(session.protocol(), None);
    site.node.greet().await;
}

#[tokio::test]
async fn a_page_that_leaves_is_down_after_its_last_frame() {
    let mut site = Site::new(limits());
    let (by_transport, session, mut send, _recv) = site.transport().await;
    send.write_all(&encoded(b"farewell")).await.unwrap();
    assert_eq!(site.node.next().await, frame(by_transport, b"farewell"));
    session.close(0, b"left");
    assert_eq!(site.node.down(by_transport).await, ClientEnd::Left);

    let (by_socket, mut socket) = site.socket().await;
    socket.send(Message::binary("farewell")).await.unwrap();
    socket.close(None).await.unwrap();
    assert_eq!(site.node.next().await, frame(by_socket, b"farewell"));
    assert_eq!(site.node.down(by_socket).await, ClientEnd::Left);
    assert_eq!(site.node.metrics.clients.get(), 0);
}

#[tokio::test]
async fn what_was_sent_before_a_close_arrives_and_then_the_reason_on_every_carrier() {
    let mut site = Site::new(limits());
    let code = CloseCode(CloseCode::FIRST_FREE.0 + 1);
    let numbered = |n: u8| Bytes::from(vec![n; 40_000]);

    let (id, session, _send, mut recv) = site.transport().await;
    (0..20).for_each(|n| {
        site.node.handle.send(id, Delivery::Reliable, numbered(n)).unwrap();
    });
    site.node.handle.close(id, code, "the rule");
    for n in 0..20 {
        assert_eq!(read(&mut recv).await, numbered(n));
    }
    assert_eq!(ended(&session).await, (code.0, "the rule".to_owned()));
    assert_eq!(site.node.down(id).await, ClientEnd::Closed(code));

    let (id, mut socket) = site.socket().await;
    (0..20).for_each(|n| {
        site.node.handle.send(id, Delivery::Reliable, numbered(n)).unwrap();
    });
    site.node.handle.close(id, code, "the rule");
    for n in 0..20 {
        assert_eq!(next(&mut socket).await, Message::Binary(numbered(n)));
    }
    assert_eq!(next(&mut socket).await, closing(code, "the rule"));
    assert!(timeout(GUARD, socket.next()).await.unwrap().is_none());
    assert_eq!(site.node.down(id).await, ClientEnd::Closed(code));
}

#[tokio::test]
async fn a_long_reason_is_cut_to_what_a_websocket_has_room_for() {
    let mut site = Site::new(limits());
    let (id, mut socket) = site.socket().await;
    site.node.handle.close(id, CloseCode::DONE, &"\u{20ac}".repeat(1_000));
    assert_eq!(next(&mut socket).await, closing(CloseCode::DONE, &"\u{20ac}".repeat(123 / 3)));
}

#[tokio::test]
async fn a_shutdown_says_goodbye_to_pages() {
    let mut site = Site::new(limits());
    let (_, session, _send, _recv) = site.transport().await;
    let (_, mut socket) = site.socket().await;

    let goodbye = async { tokio::join!(ended(&session), next(&mut socket)) };
    let ((), (said, message)) = tokio::join!(site.node.handle.shutdown(), goodbye);

    assert_eq!(said, (CloseCode::SHUTDOWN.0, "the server stops".to_owned()));
    assert_eq!(message, closing(CloseCode::SHUTDOWN, "the server stops"));
    let request = site.upgrade(Some(PAGE), WEBSOCKET_PROTOCOL);
    assert!(
        matches!(site.dial(request).await, Err(tungstenite::Error::Http(said)) if said.status() == 503)
    );
}

#[tokio::test]
async fn all_carriers_share_the_places_of_an_address() {
    let mut site = Site::new(GatewayLimits { clients_per_ip_max: 2, ..limits() });
    let (_, _carrier) = site.node.client().await;
    let (id, mut socket) = site.socket().await;

    let request = site.upgrade(Some(PAGE), WEBSOCKET_PROTOCOL);
    assert!(
        matches!(site.dial(request).await, Err(tungstenite::Error::Http(said)) if said.status() == 503)
    );
    let request = site.request("/", PAGE);
    assert!(site.open(request).await.is_err());

    socket.close(None).await.unwrap();
    assert_eq!(site.node.down(id).await, ClientEnd::Left);
    site.transport().await;
}

#[tokio::test]
async fn sessions_take_no_places_of_http() {
    let mut site = Site::new(limits());
    let mut sockets = Vec::new();
    for _ in 0..3 {
        sockets.push(site.socket().await);
    }
    assert_eq!(site.http.connections(), 0);
    drop(sockets);
}

#[tokio::test]
async fn a_silent_page_is_asked_for_a_sign_of_life_and_stays() {
    let idle = Duration::from_millis(400);
    let mut site = Site::new(GatewayLimits { idle, ..limits() });
    let (id, mut socket) = site.socket().await;
    socket.send(Message::binary("hello")).await.unwrap();
    assert_eq!(site.node.next().await, frame(id, b"hello"));

    // The page answers pings as long as it is read, and does nothing else.
    for _ in 0..8 {
        let ping = timeout(GUARD, socket.next()).await.unwrap().unwrap().unwrap();
        assert!(ping.is_ping(), "{ping}");
    }
    site.node.handle.send(id, Delivery::Reliable, "still here".into()).unwrap();
    assert_eq!(next(&mut socket).await, Message::binary("still here"));

    // The page stops answering.
    assert_eq!(site.node.down(id).await, ClientEnd::Lost(ConnectionError::TimedOut));
}

/// Returns the bytes of a client's settings, for tests that do the rest by hand.
pub(super) fn settings() -> Vec<u8> {
    let mut settings = Settings::default();
    settings.enable_webtransport(1);
    let mut bytes = Vec::new();
    settings.encode(&mut bytes);
    bytes
}
