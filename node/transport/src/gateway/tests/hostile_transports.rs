//! Tests of pages that break the rules of HTTP/3 and WebTransport, or ours.

use web_transport_quinn::{
    ClientError,
    proto::{Capsule, ConnectRequest, ConnectResponse, Frame, VarInt as H3Int},
};

use super::{
    pages::{PAGE, Site, encoded, ended, read, settings},
    *,
};

/// Returns the code that the connection of a client was closed with.
async fn closed_with(connection: &Connection) -> u64 {
    close_code(connection).await
}

#[tokio::test]
async fn requests_that_do_not_fit_are_refused() {
    let mut site = Site::new(limits());
    let protocols = |request: ConnectRequest, protocol: &str| {
        let mut request = request;
        request.protocols = vec![protocol.to_owned()];
        request
    };
    for (what, request) in [
        ("origin", site.request("/", "https://evil.example")),
        ("no origin", site.request("/", "null")),
        ("path", site.request("/ws", PAGE)),
        ("query", site.request("/?a=b", PAGE)),
        ("protocol", protocols(site.request("/", PAGE), "metatopia/2")),
    ] {
        let refused = site.open(request).await.err();
        assert!(matches!(refused, Some(ClientError::HttpError(_))), "{what}: {refused:?}");
    }
    assert_eq!(site.node.metrics.clients_foreign_total.get(), 2);
    assert_eq!(site.node.metrics.clients_mistaken_total.get(), 3);
    assert_eq!(site.node.handle.clients(), 0);
    site.transport().await;
}

#[tokio::test]
async fn nonsense_instead_of_http3_is_refused() {
    let mut site = Site::new(hasty());
    let control = [0, 4, 0];
    for nonsense in [
        &[0x3f; 64][..],
        // These are a push stream, a frame of headers where settings belong, and a frame of 2^30
        // bytes.
        &[1, 0],
        &[0, 1, 0],
        &[0, 4, 0xc0, 0, 0, 0, 0x40, 0, 0, 0],
    ] {
        let connection = site.h3().await;
        connection.open_uni().await.unwrap().write_all(nonsense).await.unwrap();
        assert_eq!(closed_with(&connection).await, 0x101, "{nonsense:?}");
    }
    for nonsense in [&b"GET / HTTP/1.1\r\n\r\n"[..], &[1, 3, 0, 0, 0xff], &[1, 0x7f, 0xff]] {
        let connection = site.h3().await;
        let mut stream = connection.open_uni().await.unwrap();
        stream.write_all(&control).await.unwrap();
        let (mut request, _response) = connection.open_bi().await.unwrap();
        request.write_all(nonsense).await.unwrap();
        let _ = request.finish();
        assert_eq!(closed_with(&connection).await, 0x101, "{nonsense:?}");
    }
    assert_eq!(site.node.metrics.clients_mistaken_total.get(), 7);
    site.node.client().await;
}

#[tokio::test]
async fn a_request_that_never_comes_is_not_waited_for() {
    let mut site = Site::new(GatewayLimits { clients_max: 1, ..hasty() });
    let connection = site.h3().await;
    connection.open_uni().await.unwrap().write_all(&settings()).await.unwrap();

    assert_eq!(closed_with(&connection).await, 0x101);

    assert_eq!(site.node.metrics.clients_refused_total.get(), 1);
    // The place of the closed client is free.
    site.node.client().await;
}

/// Connects a page that writes `misdeed` on its stream after the greeting.
async fn misbehave(misdeed: &[u8]) -> (ClientEnd, u32) {
    let mut site = Site::new(hasty());
    let (id, session, mut send, _recv) = site.transport().await;
    send.write_all(misdeed).await.unwrap();
    let (end, (code, reason)) = tokio::join!(site.node.down(id), ended(&session));
    assert_eq!(reason, end.to_string());
    (end, code)
}

#[tokio::test]
async fn a_page_that_announces_too_much_is_closed() {
    let oversize = Oversize { announced: u32::MAX, max: CLIENT_FRAME_BYTES_MAX };
    let expected = (ClientEnd::Oversize(oversize), CloseCode::OVERSIZE.0);
    assert_eq!(misbehave(&[0xff; 8]).await, expected);
}

#[tokio::test]
async fn a_page_that_sends_an_empty_frame_is_closed() {
    assert_eq!(misbehave(&[0; 4]).await, (ClientEnd::Empty, CloseCode::EMPTY.0));
}

#[tokio::test]
async fn a_page_that_never_finishes_its_first_frame_is_closed() {
    let part = [&9u32.to_le_bytes()[..], b"part"].concat();
    assert_eq!(misbehave(&part).await, (ClientEnd::Silent, CloseCode::SILENT.0));
}

#[tokio::test]
async fn more_streams_are_not_allowed_and_datagrams_change_nothing() {
    let mut site = Site::new(limits());
    let (id, session, mut send, _recv) = site.transport().await;
    let brief = Duration::from_millis(200);
    assert!(timeout(brief, session.open_bi()).await.is_err());
    // Two streams are left of those that HTTP/3 needs. Nobody reads what comes on them.
    let mut extra = [session.open_uni().await.unwrap(), session.open_uni().await.unwrap()];
    assert!(timeout(brief, session.open_uni()).await.is_err());
    extra[0].write_all(&[1; 1_000]).await.unwrap();
    for n in 0..100u8 {
        session.send_datagram(vec![n; 1_000].into()).unwrap();
    }

    send.write_all(&encoded(b"fine")).await.unwrap();

    assert_eq!(site.node.next().await, frame(id, b"fine"));
}

#[tokio::test]
async fn a_flood_on_streams_that_nobody_reads_blocks_itself() {
    let mut site = Site::new(limits());
    let (_, session, _send, _recv) = site.transport().await;
    let (good, mut carrier) = site.node.client().await;
    let mut extra = session.open_uni().await.unwrap();
    let flood = async {
        loop {
            extra.write_all(&[1; 10_000]).await.unwrap();
        }
    };
    timeout(Duration::from_millis(300), flood).await.unwrap_err();

    carrier.send.send(b"fine").await.unwrap();
    assert_eq!(site.node.next().await, frame(good, b"fine"));
}

/// Opens a session by hand. The test decides what follows the request on its stream.
async fn by_hand(site: &mut Site) -> (ClientId, Connection, quinn::SendStream, [OpenStream; 2]) {
    let connection = site.h3().await;
    let mut control = connection.open_uni().await.unwrap();
    control.write_all(&settings()).await.unwrap();
    let (mut request, mut response) = connection.open_bi().await.unwrap();
    let mut bytes = Vec::new();
    site.request("/", PAGE).encode(&mut bytes).unwrap();
    request.write_all(&bytes).await.unwrap();
    ConnectResponse::read(&mut response).await.unwrap();
    let id = site.node.greet().await;
    (id, connection, request, [OpenStream::Send(control), OpenStream::Recv(response)])
}

/// Streams that stay open during a test.
#[expect(dead_code, reason = "they are held, not used")]
enum OpenStream {
    Send(quinn::SendStream),
    Recv(quinn::RecvStream),
}

fn in_data(content: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    Frame::DATA.encode(&mut bytes);
    H3Int::try_from(content.len()).unwrap().encode(&mut bytes);
    bytes.extend_from_slice(content);
    bytes
}

#[tokio::test]
async fn a_session_whose_request_ends_is_over() {
    let mut site = Site::new(limits());
    let (id, _connection, mut request, _held) = by_hand(&mut site).await;
    request.finish().unwrap();
    assert_eq!(site.node.down(id).await, ClientEnd::Left);

    let (id, _connection, mut request, _held) = by_hand(&mut site).await;
    request.reset(7u32.into()).unwrap();
    assert_eq!(site.node.down(id).await, ClientEnd::Left);

    let (id, _connection, mut request, _held) = by_hand(&mut site).await;
    let mut capsule = Vec::new();
    Capsule::CloseWebTransportSession { code: 9, reason: "bye".into() }.encode(&mut capsule);
    request.write_all(&in_data(&capsule)).await.unwrap();
    assert_eq!(site.node.down(id).await, ClientEnd::Left);
}

#[tokio::test]
async fn capsules_that_mean_nothing_are_passed_over_but_not_for_ever() {
    let mut site = Site::new(limits());
    let (id, connection, mut request, _held) = by_hand(&mut site).await;
    // The first capsule is of a kind that does not exist. The second ends a session but is too
    // short to be whole: a reader could wait for the rest, and gather what comes.
    request.write_all(&in_data(&[0x12, 3, 1, 2, 3])).await.unwrap();
    let (mut send, mut recv) = connection.accept_bi().await.unwrap();
    let mut header = [0; 3];
    recv.read_exact(&mut header).await.unwrap();
    assert_eq!(header, [0x40, 0x41, 0]);
    send.write_all(&encoded(b"fine")).await.unwrap();
    assert_eq!(site.node.next().await, frame(id, b"fine"));

    let mut sent = 0;
    while request.write_all(&in_data(&[0x68, 0x43, 2, 0, 0])).await.is_ok() {
        sent += 7;
        assert!(sent < 1024 * 1024, "{sent} bytes were gathered");
    }
    let end = site.node.down(id).await;
    assert!(matches!(end, ClientEnd::Left | ClientEnd::Malformed(_)), "{end}");
}

#[tokio::test]
async fn a_capsule_that_is_too_long_ends_the_session() {
    let mut site = Site::new(limits());
    let (id, _connection, mut request, _held) = by_hand(&mut site).await;
    request.write_all(&in_data(&[0x12, 0xc0, 0, 0, 0, 0x40, 0, 0, 0])).await.unwrap();
    let end = site.node.down(id).await;
    assert!(matches!(end, ClientEnd::Malformed(_)), "{end}");
}

#[tokio::test]
async fn a_page_that_never_reads_is_closed_and_told_and_nobody_else_is() {
    let frame_out_bytes_max = 8 * 1024;
    let mut site =
        Site::new(GatewayLimits { frame_out_bytes_max, reliable_bytes_max: 64 * 1024, ..limits() });
    let (slow, session, _send, _recv) = site.transport().await;
    let (good, _session, _send, mut recv) = site.transport().await;

    let sent = site.node.glut(slow, frame_out_bytes_max).await;

    // The limit is the client's own window, which quinn makes 1.25 MB wide, and our queues.
    assert!(sent < 3 * 1024 * 1024, "{sent} bytes are held for one client");
    let reason = "too slow for what is sent to it".to_owned();
    let (end, said) = tokio::join!(site.node.down(slow), ended(&session));
    assert_eq!((end, said), (ClientEnd::TooSlow, (CloseCode::TOO_SLOW.0, reason)));
    site.node.handle.send(good, Delivery::Reliable, "fine".into()).unwrap();
    assert_eq!(read(&mut recv).await, b"fine");
}

#[tokio::test]
async fn a_page_that_writes_slowly_is_heard_when_it_is_done() {
    let mut site = Site::new(limits());
    let (id, _session, mut send, _recv) = site.transport().await;
    let (good, mut carrier) = site.node.client().await;
    for piece in [&[3][..], &[0, 0], &[0], b"a", b"b"] {
        send.write_all(piece).await.unwrap();
        carrier.send.send(b"meanwhile").await.unwrap();
        assert_eq!(site.node.next().await, frame(good, b"meanwhile"));
    }
    send.write_all(b"c").await.unwrap();
    assert_eq!(site.node.next().await, frame(id, b"abc"));
}
