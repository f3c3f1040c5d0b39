//! Real requests on loopback. Time-outs here only keep a broken test from hanging.

use metatopia_protocol::EndpointAnnouncement;
use metatopia_transport::{certificates::Certificates, http::bind, tls::CertificateHash};
use metatopia_types::{
    Digest, Height, Millis, PublicKey, Root, Sign as _, SigningKey, SimId, Tick,
};
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::timeout,
};

use std::{collections::BTreeMap, io, time::Duration};

use super::{status::MissingTurns, *};
use crate::{clock::SystemClock, metrics::Metrics};

mod secure;

const GUARD: Duration = Duration::from_secs(30);

pub(super) fn a_status() -> StatusAnswer {
    StatusAnswer {
        disk: None,
        server: PublicKey([1; 32]),
        sim: SimId(Digest([2; 32])),
        height: Height(42),
        tick: Tick(126),
        root: Root(Digest([3; 32])),
        root_height: Height(42),
        proposer: Some(PublicKey([4; 32])),
        validators: vec![PublicKey([1; 32]), PublicKey([4; 32])],
        voting: true,
        peers: 1,
        clients: 5,
        players: 1,
        missing: None,
        admins: AdminsStatus {
            seconds_away: 7,
            seconds_left: 9,
            temp_admin: None,
            next: Some(NamedKey { key: PublicKey([5; 32]), name: "Bob".to_owned() }),
            words: "it is so".to_owned(),
        },
        seconds_left: None,
        delayed: Vec::new(),
        condition: "running",
        stalled: false,
        follows: None,
        world: Some(SimId(Digest([6; 32]))),
        waiting_for: None,
    }
}

pub(super) struct Running {
    pub(super) server: HttpServer,
    pub(super) status: watch::Sender<Option<StatusAnswer>>,
    pub(super) queries: mpsc::Receiver<Query>,
    pub(super) allowed: Allowed,
}

pub(super) async fn run(origins: &str, queries_max: usize) -> Running {
    let (status, published) = watch::channel(None);
    let (asked, queries) = mpsc::channel(queries_max);
    let session = a_session("127.0.0.1:8081");
    let bound = bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let allowed = Allowed::new(origins.parse().unwrap(), bound.address(), None);
    let node = a_node(session, published, asked);
    let server = start(bound, None, hosting([(allowed.clone(), Some(node))])).unwrap();
    Running { server, status, queries, allowed }
}

/// A node that answers for a sim whose loop publishes this status and takes these questions.
pub(super) fn a_node(
    session: SessionAnswer,
    status: watch::Receiver<Option<StatusAnswer>>,
    queries: mpsc::Sender<Query>,
) -> Node {
    Node {
        status,
        queries,
        session: Arc::new(session),
        genesis: Arc::new(b"how it began".to_vec()).into(),
        sockets: WebSockets::default(),
        figures: Arc::default(),
        invites: InviteStore::default(),
        world: None,
    }
}

/// A process that hosts these sims, of which those without a node did not start. The id of each is that
/// of its node, or is all zeros.
pub(super) fn hosting(sims: impl IntoIterator<Item = (Allowed, Option<Node>)>) -> HostedSims {
    let metrics = Arc::<Metrics>::default();
    let (mut hosted, mut first) = (BTreeMap::new(), None);
    for (allowed, mut node) in sims {
        let sim = node.as_ref().map_or(SimId(Digest::ZERO), |node| node.session.sim);
        if let Some(node) = &mut node {
            node.figures = metrics.of(sim);
        }
        first.get_or_insert(sim);
        let one = HostedSim { name: "plaza".to_owned(), allowed, node, ended: Arc::default() };
        hosted.insert(sim, one);
    }
    let source = SourceOffer::new(Some("https://example.org/source".to_owned()));
    HostedSims { sims: hosted, first: first.unwrap(), metrics, source: Arc::new(source) }
}

pub(super) fn a_session(quic: &str) -> SessionAnswer {
    SessionAnswer {
        sim: SimId(Digest([2; 32])),
        parent: None,
        name: "plaza".to_owned(),
        server: PublicKey([1; 32]),
        quic: quic.parse().unwrap(),
        announced_quic: None,
        certificates: Certificates::generate(SystemClock::default().now().wall).unwrap(),
        wire_version: 1,
        clients_max: 2,
    }
}

impl Running {
    /// Sends a request with these header lines; the whole response.
    pub(super) async fn send(&self, request: &str, headers: &[&str], body: &[u8]) -> String {
        let mut head = format!("{request} HTTP/1.1\r\nConnection: close\r\n");
        for line in headers {
            head.push_str(line);
            head.push_str("\r\n");
        }
        head.push_str("\r\n");
        let talk = async {
            let mut stream = TcpStream::connect(self.server.address()).await.unwrap();
            stream.write_all(head.as_bytes()).await.unwrap();
            // The server may have hung up on a body that it does not want.
            let _ = stream.write_all(body).await;
            let mut response = Vec::new();
            let _ = stream.read_to_end(&mut response).await;
            // Packed files are no text, but their heads are.
            String::from_utf8_lossy(&response).into_owned()
        };
        timeout(GUARD, talk).await.expect("an answer in time")
    }

    /// Status code, and body as JSON (or text).
    pub(super) async fn get(&self, path: &str) -> (u16, Value) {
        let host = format!("Host: {}", self.server.address());
        split(&self.send(&format!("GET {path}"), &[&host], b"").await)
    }
}

pub(super) fn split(response: &str) -> (u16, Value) {
    let (head, body) = response.split_once("\r\n\r\n").unwrap_or((response, ""));
    let code = head.split(' ').nth(1).and_then(|code| code.parse().ok());
    let body = serde_json::from_str(body).unwrap_or_else(|_| Value::String(body.to_owned()));
    (code.unwrap_or_else(|| panic!("no status in {response:?}")), body)
}

#[tokio::test]
async fn the_status_is_what_was_published_last() {
    let node = run("", 1).await;
    assert_eq!(node.get("/api/status").await.0, 503);

    let (first, last) = (Height(30), Height(34));
    let missing = Some(MissingTurns { turns: 7, first, last, unasked: Some("somebody knows why") });
    node.status.send_replace(Some(StatusAnswer { missing, ..a_status() }));
    let (code, body) = node.get("/api/status").await;

    assert_eq!(code, 200);
    let expected = json!({
        "server": "01".repeat(32),
        "sim": "02".repeat(32),
        "height": 42,
        "tick": 126,
        "root": "03".repeat(32),
        "root_height": 42,
        "proposer": "04".repeat(32),
        "validators": ["01".repeat(32), "04".repeat(32)],
        "peers": 1,
        "clients": 5,
        "players": 1,
        "condition": "running",
        "stalled": false,
        "voting": true,
        "missing": { "turns": 7, "first": 30, "last": 34, "unasked": "somebody knows why" },
        "disk": null,
        "follows": null,
        "world": "06".repeat(32),
        "waiting_for": null,
        "delayed": [],
        "admins": {
            "seconds_away": 7,
            "seconds_left": 9,
            "temp_admin": null,
            "next": { "key": "05".repeat(32), "name": "Bob" },
            "words": "it is so",
        },
        "seconds_left": null,
    });
    assert_eq!(body, expected);
}

#[tokio::test]
async fn the_root_after_a_height_is_asked_of_the_loop() {
    let mut node = run("", 1).await;
    node.status.send_replace(Some(a_status()));
    let mut queries = std::mem::replace(&mut node.queries, mpsc::channel(1).1);
    let the_loop = async {
        let Some(Query::RootAt { height, reply }) = queries.recv().await else { panic!() };
        let known = Root(Digest([9; 32]));
        let unknown = RootUnknown { oldest: Height(7), newest: Height(42) };
        reply.send(Ok(if height == Height(17) { Ok(known) } else { Err(unknown) })).unwrap();
        queries
    };

    let ((code, body), queries) = tokio::join!(node.get("/api/status?at=17"), the_loop);
    assert_eq!((code, &body["root"]), (200, &json!("09".repeat(32))));
    assert_eq!((&body["root_height"], &body["height"]), (&json!(17), &json!(42)));

    let mut queries = queries;
    let the_loop = async {
        let Some(Query::RootAt { reply, .. }) = queries.recv().await else { panic!() };
        reply.send(Ok(Err(RootUnknown { oldest: Height(7), newest: Height(42) }))).unwrap();
    };
    let ((code, body), ()) = tokio::join!(node.get("/api/status?at=3"), the_loop);
    assert_eq!((code, &body["error"]["code"]), (404, &json!("not_found")));
    let message = body["error"]["message"].as_str().unwrap();
    assert!(message.contains("7 to 42"), "{message}");
}

/// It said that an archive is to be asked, and that no server is known.
#[tokio::test]
async fn a_busy_node_says_that_it_is_busy() {
    let mut node = run("", 1).await;
    node.status.send_replace(Some(a_status()));
    let mut queries = std::mem::replace(&mut node.queries, mpsc::channel(1).1);
    for path in ["/api/status?at=17", "/api/servers"] {
        let the_loop = async {
            match queries.recv().await.unwrap() {
                Query::RootAt { reply, .. } => reply.send(Err(Busy)).unwrap(),
                Query::Servers { reply } => reply.send(Err(Busy)).unwrap(),
            }
        };
        let ((code, body), ()) = tokio::join!(node.get(path), the_loop);
        assert_eq!((code, &body["error"]["code"]), (503, &json!("unavailable")), "{path}");
        let message = body["error"]["message"].as_str().unwrap();
        assert!(message.contains("ask another server"), "{message}");
    }
}

#[tokio::test]
async fn wrong_parameters_are_named() {
    let node = run("", 1).await;
    node.status.send_replace(Some(a_status()));
    for wrong in ["at=yesterday", "at=-1", "at=18446744073709551616", "height=3", "at="] {
        let (code, body) = node.get(&format!("/api/status?{wrong}")).await;
        assert_eq!((code, &body["error"]["code"]), (400, &json!("bad_request")), "{wrong}");
    }
}

#[tokio::test]
async fn a_point_beyond_the_plane_or_without_a_coordinate_is_refused_by_name() {
    let node = run("", 1).await;
    for (wrong, why) in [
        ("x=2147483648&y=0", "x: "),
        ("x=0&y=-2147483649", "y: "),
        ("y=0", "missing field `x`"),
        ("x=0", "missing field `y`"),
        ("x=0.5&y=0", "x: "),
        ("x=0&y=0&z=0", "unknown field `z`"),
    ] {
        let (code, body) = node.get(&format!("/api/world/find?{wrong}")).await;
        assert_eq!((code, &body["error"]["code"]), (400, &json!("bad_request")), "{wrong}");
        let message = body["error"]["message"].as_str().unwrap();
        assert!(message.starts_with("a point has x and y, whole numbers of tiles"), "{message}");
        assert!(message.contains(why), "{message}");
    }
    // All points of the plane are questions, to which this node of no world has no answer.
    let (code, _) = node.get("/api/world/find?x=2147483647&y=-2147483648").await;
    assert_eq!(code, 404);
}

#[tokio::test]
async fn questions_above_the_limit_and_to_a_stopped_loop_are_refused() {
    let mut node = run("", 1).await;
    node.status.send_replace(Some(a_status()));
    let waiting = node.get("/api/status?at=1");
    let crowd = async {
        // The first question waits, so the second one does not fit.
        while node.queries.is_empty() {
            tokio::task::yield_now().await;
        }
        node.get("/api/status?at=2").await
    };
    let (code, body) = tokio::select! {
        refused = crowd => refused,
        answered = waiting => panic!("{answered:?}"),
    };
    assert_eq!(code, 503);
    assert_eq!(body["error"]["message"], "too many questions wait");

    node.queries.close();
    let (code, body) = node.get("/api/status?at=3").await;
    assert_eq!(code, 503);
    assert_eq!(body["error"]["message"], "the node has stopped");
}

#[tokio::test]
async fn the_session_tells_how_to_connect() {
    let node = run("", 1).await;
    node.allowed.set_servers(["http://192.0.2.7:8080".parse().unwrap()]);
    let (code, mut body) = node.get("/api/session").await;
    let certificates: Vec<CertificateHash> =
        serde_json::from_value(body["certificates"].take()).unwrap();
    assert_eq!(certificates.len(), 2);
    assert_ne!(certificates[0], certificates[1]);
    let expected = json!({
        "sim": "02".repeat(32),
        "name": "plaza",
        "parent": null,
        "server": "01".repeat(32),
        "quic": "127.0.0.1:8081",
        "wt": "https://127.0.0.1:8081/",
        "ws": format!("/ws?sim={}", "02".repeat(32)),
        "certificates": null,
        "authority": false,
        "clients": { "quic": 0, "webtransport": 0, "websocket": 0 },
        "room": true,
        "wire_version": 1,
        "servers": ["http://192.0.2.7:8080"],
        "wasm": page::module_address(),
    });
    assert_eq!((code, body), (200, expected));

    for (clients, room) in [(1, true), (2, false)] {
        let carriers = Carriers { quic: 0, webtransport: clients, websocket: 0 };
        assert_eq!(carriers.leave_room(a_session("127.0.0.1:8081").clients_max), room);
    }
}

#[tokio::test]
async fn the_genesis_is_handed_out_once_and_kept_by_the_id_of_the_sim() {
    let node = run("", 1).await;
    let host = format!("Host: {}", node.server.address());
    let first = node.send("GET /api/genesis", &[&host], b"").await;
    assert_eq!(split(&first), (200, json!("how it began")));
    let head = first.to_lowercase();
    assert!(head.contains("content-type: application/octet-stream"), "{head}");
    let tag = format!("\"{}\"", "02".repeat(32));
    assert!(head.contains(&format!("etag: {tag}")), "{head}");

    let known = format!("If-None-Match: {tag}");
    let again = node.send("GET /api/genesis", &[&host, &known], b"").await;
    assert_eq!(split(&again), (304, json!("")));
    let other = "If-None-Match: \"03\"";
    assert_eq!(split(&node.send("GET /api/genesis", &[&host, other], b"").await).0, 200);
}

#[test]
fn sessions_are_where_the_server_was_called_if_it_listens_everywhere() {
    let session = a_session("[::]:8081");
    assert_eq!(session.quic_for("192.0.2.7:8080"), "192.0.2.7:8081");
    assert_eq!(session.quic_for("[2001:db8::1]:8080"), "[2001:db8::1]:8081");
    assert_eq!(a_session("[::1]:8081").quic_for("localhost:8080"), "[::1]:8081");
    let announced_quic = Some("node.example:443".to_owned());
    let session = SessionAnswer { announced_quic, ..session };
    assert_eq!(session.quic_for("192.0.2.7:8080"), "node.example:443");
}

#[tokio::test]
async fn servers_are_told_as_they_said_themselves() {
    let mut node = run("", 1).await;
    let mut queries = std::mem::replace(&mut node.queries, mpsc::channel(1).1);
    let key = SigningKey::from_seed([8; 32]);
    let announcement = EndpointAnnouncement {
        sim: SimId(Digest([2; 32])),
        server: key.public(),
        http: "http://192.0.2.7:8080".to_owned(),
        quic: "192.0.2.7:8081".to_owned(),
        certificates: vec![[6; 32], [7; 32]],
        issued: Millis(1_234),
    };
    let the_loop = async {
        let Some(Query::Servers { reply }) = queries.recv().await else { panic!() };
        reply.send(Ok(vec![announcement.sign(&key)])).unwrap();
    };

    let ((code, body), ()) = tokio::join!(node.get("/api/servers"), the_loop);

    let expected = json!({ "servers": [{
        "server": key.public().to_string(),
        "http": "http://192.0.2.7:8080",
        "quic": "192.0.2.7:8081",
        "wt": "https://192.0.2.7:8081/",
        "certificates": ["06".repeat(32), "07".repeat(32)],
        "issued": 1_234,
        "here": false,
    }] });
    assert_eq!((code, body), (200, expected));
}

#[tokio::test]
async fn a_node_is_ready_when_it_waits_for_nothing() {
    let node = run("", 1).await;
    let starting = json!({ "ready": false, "reason": "starting" });
    assert_eq!(node.get("/health/ready").await, (503, starting));

    let waiting_for = Some("120 turns to catch up".to_owned());
    node.status.send_replace(Some(StatusAnswer { waiting_for, ..a_status() }));
    let behind = json!({ "ready": false, "reason": "120 turns to catch up" });
    assert_eq!(node.get("/health/ready").await, (503, behind));

    node.status.send_replace(Some(a_status()));
    assert_eq!(node.get("/health/ready").await, (200, json!({ "ready": true })));
    assert_eq!(node.get("/health/live").await, (200, json!({ "live": true })));
}

#[tokio::test]
async fn a_node_whose_loop_is_gone_is_neither_live_nor_ready() {
    let mut node = run("", 1).await;
    node.status.send_replace(Some(a_status()));
    node.status = watch::channel(None).0;
    assert_eq!(node.get("/health/live").await, (503, json!({ "live": false })));
    assert_eq!(node.get("/health/ready").await.0, 503);
}

#[tokio::test]
async fn metrics_are_open_metrics_text() {
    let node = run("", 1).await;
    node.status.send_replace(Some(a_status()));
    let host = format!("Host: {}", node.server.address());
    let response = node.send("GET /metrics", &[&host], b"").await;
    let lowercase = response.to_lowercase();
    assert!(
        lowercase.contains("content-type: application/openmetrics-text; version=1.0.0"),
        "{response}"
    );
    let sim = "02".repeat(32);
    for name in Metrics::names_of_a_sim() {
        assert!(response.contains(&format!("\nmetatopia_{name}{{sim=\"{sim}\"}} ")), "{name}");
    }
    for (name, value) in [("running", 1), ("height", 42), ("tick", 126)] {
        let line = format!("\nmetatopia_{name}{{sim=\"{sim}\"}} {value}\n");
        assert!(response.contains(&line), "{line}");
    }
    assert!(response.contains("\nmetatopia_http_requests_total 1\n"));
}

#[tokio::test]
async fn the_source_is_offered() {
    let (code, body) = run("", 1).await.get("/source").await;
    assert_eq!(code, 200);
    assert_eq!(body["licence"], "AGPL-3.0-or-later");
    assert_eq!(body["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(body["commit"], env!("BUILD_COMMIT_OF_METATOPIA"));
    assert_eq!(body["url"], "https://example.org/source");
    assert_eq!(body["archive"], "/source.tar.gz");
}

#[tokio::test]
async fn the_source_is_there_to_be_fetched() {
    let node = run("", 1).await;
    let length = node.get("/source").await.1["archive_bytes"].as_u64().expect("a number");
    let url = format!("http://{}/source.tar.gz", node.server.address());
    let fetch = move || {
        let answer = ureq::get(&url).call().expect("an answer");
        let told = |name: &str| answer.headers()[name].to_str().expect("text").to_owned();
        let (kind, kept_as) = (told("content-type"), told("content-disposition"));
        let bytes = answer.into_body().read_to_vec().expect("all of it");
        (kind, kept_as, bytes)
    };
    let (kind, kept_as, bytes) = tokio::task::spawn_blocking(fetch).await.expect("no panic");
    assert_eq!(kind, "application/gzip");
    assert!(kept_as.starts_with("attachment; filename=\"metatopia-"), "{kept_as}");
    assert_eq!(bytes.len() as u64, length);
}

#[tokio::test]
async fn unknown_paths_and_methods_are_json_errors() {
    let node = run("", 1).await;
    let (code, body) = node.get("/api/nothing").await;
    assert_eq!((code, &body["error"]["code"]), (404, &json!("not_found")));
    let host = format!("Host: {}", node.server.address());
    let (code, body) = split(&node.send("DELETE /api/status", &[&host], b"").await);
    assert_eq!((code, &body["error"]["code"]), (405, &json!("method_not_allowed")));
}
