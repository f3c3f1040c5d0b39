//! Tests of HTTPS, by a client that trusts the authority of a test and no other.

use std::io;

use tokio_rustls::TlsConnector;

use super::*;
use crate::authority::tests::Issuer;

const NAME: &str = "plaza.example";

struct Secure {
    server: HttpServer,
    issuer: Issuer,
    authority: Authority,
}

/// Starts a server that is addressed by its name.
fn run() -> Secure {
    let issuer = Issuer::new();
    let authority = issuer.give(NAME).authority();
    let bound = bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let announced = WebOrigin::at(UrlScheme::Https, NAME, bound.address().port());
    let allowed =
        Allowed::by(UrlScheme::Https, Origins::default(), bound.address(), Some(&announced));
    let routes = guarded([allowed], routes(), Arc::default());
    let server = start_secure(bound, &authority, routes).unwrap();
    Secure { server, issuer, authority }
}

impl Secure {
    fn called(&self) -> String {
        format!("{NAME}:{}", self.server.address().port())
    }

    fn request(&self, path: &str, lines: &str) -> String {
        let called = self.called();
        format!("GET {path} HTTP/1.1\r\nHost: {called}\r\n{lines}Connection: close\r\n\r\n")
    }

    /// Returns the whole answer under TLS to a client that addresses the server as `name`.
    async fn ask(&self, name: &'static str, path: &str, lines: &str) -> io::Result<String> {
        let connector = TlsConnector::from(self.issuer.client());
        let stream = TcpStream::connect(self.server.address()).await?;
        let mut stream = connector.connect(name.try_into().unwrap(), stream).await?;
        stream.write_all(self.request(path, lines).as_bytes()).await?;
        let mut answer = Vec::new();
        timeout(GUARD, stream.read_to_end(&mut answer)).await??;
        Ok(String::from_utf8_lossy(&answer).into_owned())
    }

    /// Returns the whole answer to a request without TLS.
    async fn ask_plainly(&self, path: &str, lines: &str) -> String {
        let mut stream = TcpStream::connect(self.server.address()).await.unwrap();
        stream.write_all(self.request(path, lines).as_bytes()).await.unwrap();
        let mut answer = String::new();
        timeout(GUARD, stream.read_to_string(&mut answer)).await.unwrap().unwrap();
        answer
    }
}

#[tokio::test]
async fn pages_come_by_https_to_who_trusts_the_authority() {
    let node = run();
    let answer = node.ask(NAME, "/", "").await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let own = format!("Origin: https://{}\r\n", node.called());
    assert_eq!(split(&node.ask(NAME, "/api/session", &own).await.unwrap()).0, 200);
    let plain = format!("Origin: http://{}\r\n", node.called());
    assert_eq!(split(&node.ask(NAME, "/api/session", &plain).await.unwrap()).0, 403);
    // The certificate is not for this name, so the client hangs up.
    assert!(node.ask("other.example", "/", "").await.is_err());
}

#[tokio::test]
async fn without_tls_plain_routes_answer_programs_of_this_machine_and_nothing_else_does() {
    let node = run();
    assert_eq!(split(&node.ask_plainly("/health/live", "").await).0, 200);
    let answer = node.ask_plainly("/?at=2", "").await;
    assert!(answer.starts_with("HTTP/1.1 307"), "{answer}");
    let there = format!("location: https://{}/?at=2\r\n", node.called());
    assert!(answer.contains(&there), "{answer}");
    let page = format!("Origin: https://{}\r\n", node.called());
    assert_eq!(split(&node.ask_plainly("/api/session", &page).await).0, 307);
}

#[tokio::test]
async fn a_renewed_certificate_is_shown_to_the_next_who_comes() {
    let node = run();
    node.issuer.give("other.example").replace(&node.authority).unwrap();
    assert!(node.ask("other.example", "/health/live", "").await.is_ok());
    assert!(node.ask(NAME, "/health/live", "").await.is_err());
}

#[tokio::test]
async fn who_is_slow_at_the_handshake_keeps_nobody_out() {
    let node = run();
    let mut slow = Vec::new();
    for _ in 0..8 {
        let mut stream = TcpStream::connect(node.server.address()).await.unwrap();
        stream.write_all(&[0x16, 3, 1]).await.unwrap();
        slow.push(stream);
    }
    assert!(node.ask(NAME, "/health/live", "").await.is_ok());
}
