//! HTTPS, by a client that trusts the authority of a test and no other.

use metatopia_transport::http::{Origins, UrlScheme, WebOrigin};
use tokio_rustls::TlsConnector;

use super::*;
use crate::authority_files::{AuthorityFiles, tests::Files};

const NAME: &str = "plaza.example";

struct Secure {
    server: HttpServer,
    files: Files,
    authority: AuthorityFiles,
    _status: watch::Sender<Option<StatusAnswer>>,
}

/// A server that listens on all addresses, and is called by name.
fn run(name: &str) -> Secure {
    let files = Files::new(name);
    let authority = AuthorityFiles::open(&files.chain(), &files.key()).unwrap();
    let (status, published) = watch::channel(None);
    let mut session = a_session("127.0.0.1:8081");
    session.certificates = session.certificates.with(Some(authority.authority().clone()));
    let node = a_node(session, published, mpsc::channel(1).0);
    let bound = bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let announced = WebOrigin::at(UrlScheme::Https, NAME, bound.address().port());
    let allowed =
        Allowed::by(UrlScheme::Https, Origins::default(), bound.address(), Some(&announced));
    let hosted = hosting([(allowed, Some(node))]);
    let server = start(bound, Some(authority.authority()), hosted).unwrap();
    Secure { server, files, authority, _status: status }
}

impl Secure {
    fn called(&self) -> String {
        format!("{NAME}:{}", self.server.address().port())
    }

    fn request(&self, path: &str, lines: &str) -> String {
        let called = self.called();
        format!("GET {path} HTTP/1.1\r\nHost: {called}\r\n{lines}Connection: close\r\n\r\n")
    }

    /// The whole answer under TLS, to somebody who calls it by `name`.
    async fn ask(&self, name: &'static str, path: &str, lines: &str) -> io::Result<String> {
        let connector = TlsConnector::from(self.files.client());
        let stream = TcpStream::connect(self.server.address()).await?;
        let mut stream = connector.connect(name.try_into().unwrap(), stream).await?;
        stream.write_all(self.request(path, lines).as_bytes()).await?;
        let mut answer = Vec::new();
        timeout(GUARD, stream.read_to_end(&mut answer)).await??;
        Ok(String::from_utf8_lossy(&answer).into_owned())
    }

    /// The same without TLS.
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
    let node = run("https-page");
    let answer = node.ask(NAME, "/", "").await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let (code, body) = split(&node.ask(NAME, "/api/session", "").await.unwrap());
    assert_eq!((code, &body["authority"]), (200, &Value::Bool(true)));

    let own = format!("Origin: https://{}\r\n", node.called());
    assert_eq!(split(&node.ask(NAME, "/api/session", &own).await.unwrap()).0, 200);
    let plain = format!("Origin: http://{}\r\n", node.called());
    assert_eq!(split(&node.ask(NAME, "/api/session", &plain).await.unwrap()).0, 403);
    // The certificate is not for this name, so the client hangs up.
    assert!(node.ask("other.example", "/", "").await.is_err());
}

#[tokio::test]
async fn without_tls_a_page_is_sent_to_https_and_programs_of_this_machine_are_answered() {
    let node = run("https-plain");
    assert_eq!(split(&node.ask_plainly("/health/live", "").await).0, 200);
    for (path, lines) in [("/", ""), ("/w/1?at=2", ""), ("/assets/0/main.js", ""), ("/ws", "")] {
        let answer = node.ask_plainly(path, lines).await;
        assert!(answer.starts_with("HTTP/1.1 307"), "{answer}");
        let there = format!("location: https://{}{path}\r\n", node.called());
        assert!(answer.contains(&there), "{answer}");
    }
    let page = format!("Origin: https://{}\r\n", node.called());
    assert_eq!(split(&node.ask_plainly("/api/session", &page).await).0, 307);
}

#[tokio::test]
async fn a_renewed_certificate_is_shown_to_the_next_who_comes() {
    let node = run("https-renewed");
    node.files.give("other.example");
    assert!(node.ask(NAME, "/health/live", "").await.is_ok());

    node.authority.reload().unwrap();

    assert!(node.ask("other.example", "/health/live", "").await.is_ok());
    assert!(node.ask(NAME, "/health/live", "").await.is_err());

    // What cannot be used leaves what is in use.
    node.files.write_key("nothing".to_owned(), 0o600);
    node.authority.reload().unwrap_err();
    assert!(node.ask("other.example", "/health/live", "").await.is_ok());
}
