//! Real requests on loopback. Time-outs here only keep a broken test from hanging.

use axum::{Json, http::StatusCode, routing::get};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use super::*;

mod crowds;
mod secure;

const GUARD: Duration = Duration::from_secs(30);

struct Running {
    server: HttpServer,
    allowed: Allowed,
}

/// Returns routes that answer what programs ask, and one that only pages ask for.
fn routes() -> HttpRoutes {
    let router = Router::new()
        .route("/", get(async || "a page"))
        .route("/api/session", get(async || Json(json!({ "name": "plaza" }))))
        .route("/health/live", get(async || Json(json!({ "live": true }))))
        .method_not_allowed_fallback(async || {
            ErrorAnswer::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", "not this way")
        });
    HttpRoutes { router, plain: &["/api/", "/health/"], origins_setting: "origins_of_a_test" }
}

async fn run(origins: &str) -> Running {
    let bound = bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let allowed = Allowed::new(origins.parse().unwrap(), bound.address(), None);
    let server = start(bound, guarded([allowed.clone()], routes(), Arc::default()));
    Running { server, allowed }
}

impl Running {
    /// Sends a request with these header lines, and returns the whole response.
    async fn send(&self, request: &str, headers: &[&str], body: &[u8]) -> String {
        let mut head = format!("{request} HTTP/1.1\r\nConnection: close\r\n");
        for line in headers {
            head.push_str(line);
            head.push_str("\r\n");
        }
        head.push_str("\r\n");
        let talk = async {
            let mut stream = TcpStream::connect(self.server.address()).await.unwrap();
            stream.write_all(head.as_bytes()).await.unwrap();
            // The server may have hung up on a body that it does not accept.
            let _ = stream.write_all(body).await;
            let mut response = Vec::new();
            let _ = stream.read_to_end(&mut response).await;
            String::from_utf8_lossy(&response).into_owned()
        };
        timeout(GUARD, talk).await.expect("an answer in time")
    }

    /// Returns the status code, and the body as JSON (or text).
    async fn get(&self, path: &str) -> (u16, Value) {
        let host = format!("Host: {}", self.server.address());
        split(&self.send(&format!("GET {path}"), &[&host], b"").await)
    }
}

fn split(response: &str) -> (u16, Value) {
    let (head, body) = response.split_once("\r\n\r\n").unwrap_or((response, ""));
    let code = head.split(' ').nth(1).and_then(|code| code.parse().ok());
    let body = serde_json::from_str(body).unwrap_or_else(|_| Value::String(body.to_owned()));
    (code.unwrap_or_else(|| panic!("no status in {response:?}")), body)
}

#[tokio::test]
async fn pages_of_the_sims_other_servers_may_ask_and_read() {
    let node = run("").await;
    let host = format!("Host: {}", node.server.address());
    let headers = [host.as_str(), "Origin: http://192.0.2.7:8080"];
    assert_eq!(split(&node.send("GET /api/session", &headers, b"").await).0, 403);

    node.allowed.set_servers(["http://192.0.2.7:8080".parse().unwrap()]);

    let response = node.send("GET /api/session", &headers, b"").await;
    assert_eq!(split(&response).0, 200);
    let readable = "access-control-allow-origin: http://192.0.2.7:8080";
    assert!(response.to_lowercase().contains(readable), "{response}");
}

/// A server with two lists answers whoever one of them allows, and by the names of both.
#[tokio::test]
async fn who_one_of_several_lists_allows_may_ask() {
    let bound = bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let list = |origin: &str| Allowed::new(origin.parse().unwrap(), bound.address(), None);
    let lists = [list("https://plaza.example"), list("https://garden.example")];
    let allowed = lists[0].clone();
    let server = start(bound, guarded(lists, routes(), Arc::default()));
    let node = Running { server, allowed };
    for (host, origin, code) in [
        ("plaza.example", "https://plaza.example", 200),
        ("garden.example", "https://garden.example", 200),
        // One list knows the name, and the other one the origin.
        ("garden.example", "https://plaza.example", 403),
        ("evil.example", "https://plaza.example", 403),
        ("plaza.example", "https://evil.example", 403),
    ] {
        let headers = [format!("Host: {host}"), format!("Origin: {origin}")];
        let headers = [headers[0].as_str(), &headers[1]];
        let response = node.send("GET /api/session", &headers, b"").await;
        assert_eq!(split(&response).0, code, "{host} {origin}");
    }
}

#[tokio::test]
async fn both_families_of_loopback_answer() {
    let node = run("").await;
    let port = node.server.address().port();
    let mut stream = TcpStream::connect(("::1", port)).await.unwrap();
    let request =
        format!("GET /health/live HTTP/1.1\r\nHost: localhost:{port}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut response = String::new();
    timeout(GUARD, stream.read_to_string(&mut response)).await.unwrap().unwrap();
    assert_eq!(split(&response).0, 200);
}

#[tokio::test]
async fn pages_of_other_sites_are_refused() {
    let node = run("https://plaza.example").await;
    let address = node.server.address();
    let port = address.port();
    let own = format!("Host: {address}");
    for (host, origin, code) in [
        (own.as_str(), None, 200),
        (&own, Some(format!("http://{address}")), 200),
        (&own, Some("https://plaza.example".to_owned()), 200),
        (&own, Some("https://evil.example".to_owned()), 403),
        (&own, Some(format!("https://{address}")), 403),
        (&own, Some(format!("http://127.0.0.1:{}", port ^ 1)), 403),
        (&own, Some("null".to_owned()), 403),
        ("Host: LocalHost", Some("http://localhost".to_owned()), 200),
        ("Host: [::1]:9", None, 200),
        ("Host: plaza.example", None, 200),
        // Another site made this name resolve to this address.
        ("Host: evil.example", None, 403),
        ("Host: evil.example", Some("http://evil.example".to_owned()), 403),
        ("Host: localhost.evil.example", None, 403),
        ("X-No-Host: 1", None, 400),
    ] {
        let origin_line = origin.as_ref().map(|origin| format!("Origin: {origin}"));
        let headers: Vec<&str> =
            [Some(host), origin_line.as_deref()].into_iter().flatten().collect();
        let response = node.send("GET /api/session", &headers, b"").await;
        assert_eq!(split(&response).0, code, "{host} {origin:?}");
        let readable = response.to_lowercase().contains("access-control-allow-origin");
        let configured = origin.as_deref() == Some("https://plaza.example");
        assert_eq!(readable, configured, "{host} {origin:?}");
    }
}

#[tokio::test]
async fn two_origins_in_one_request_are_refused() {
    let node = run("").await;
    let host = format!("Host: {}", node.server.address());
    let own = format!("Origin: http://{}", node.server.address());
    let headers = [host.as_str(), &own, "Origin: https://evil.example"];
    assert_eq!(split(&node.send("GET /api/session", &headers, b"").await).0, 400);
}

#[tokio::test]
async fn a_body_above_the_limit_is_refused() {
    let node = run("").await;
    let host = format!("Host: {}", node.server.address());
    for (bytes, code) in [(BODY_BYTES_MAX, 405), (BODY_BYTES_MAX + 1, 413)] {
        let length = format!("Content-Length: {bytes}");
        let body = if code == 405 { vec![b'x'; bytes] } else { Vec::new() };
        let response = node.send("POST /api/session", &[&host, &length], &body).await;
        assert_eq!(split(&response).0, code, "{bytes} bytes");
    }
}

#[tokio::test]
async fn garbage_gets_an_error_and_harms_nobody() {
    let node = run("").await;
    let mut stream = TcpStream::connect(node.server.address()).await.unwrap();
    stream.write_all(&[0xa5; 4_000]).await.unwrap();
    let mut response = Vec::new();
    let _ = timeout(GUARD, stream.read_to_end(&mut response)).await.unwrap();
    assert!(!response.starts_with(b"HTTP/1.1 200"));
    assert_eq!(node.get("/api/session").await.0, 200);
}

#[tokio::test]
async fn a_server_that_is_shut_down_does_not_listen_any_more() {
    let node = run("").await;
    let address = node.server.address();
    // A connection that is kept open delays nothing.
    let _idle = TcpStream::connect(address).await.unwrap();
    timeout(GUARD, node.server.shutdown()).await.unwrap();
    assert!(TcpStream::connect(address).await.is_err());
}

#[tokio::test]
async fn a_port_in_use_is_an_error_that_names_the_address() {
    let node = run("").await;
    let listen = node.server.address();
    let error = bind(listen).unwrap_err().to_string();
    assert!(error.starts_with(&format!("cannot listen on {listen}: ")), "{error}");
}
