//! The sim's servers, as they say of themselves.

use axum::{Json, extract::State};
use metatopia_protocol::SignedAnnouncement;
use metatopia_transport::{http::ErrorAnswer, tls::CertificateHash};
use serde::Serialize;

use super::{Node, Query};

/// Where one server lets clients in. What it is made from is signed by that server; whoever does
/// not trust the one that tells asks the question `Servers` in a session and checks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ServerEntry {
    /// Its key, in hexadecimal digits.
    pub server: String,
    /// The origin of its pages; `/ws` is below it.
    pub http: String,
    /// Host and UDP port of raw QUIC.
    pub quic: String,
    /// The URL for WebTransport.
    pub wt: String,
    /// Hashes of the certificate in use there, and of the next.
    pub certificates: Vec<CertificateHash>,
    /// When it said so, in milliseconds since 1970.
    pub issued: u64,
    /// Whether it is the one that was asked.
    pub here: bool,
}

/// Answers with all servers that are known.
pub(super) async fn servers(State(node): State<Node>) -> Result<Json<ServersAnswer>, ErrorAnswer> {
    let known = node.ask(|reply| Query::Servers { reply }).await?;
    let entry = |SignedAnnouncement { announcement, .. }: SignedAnnouncement| ServerEntry {
        server: announcement.server.to_string(),
        wt: format!("https://{}/", announcement.quic),
        http: announcement.http,
        quic: announcement.quic,
        certificates: announcement.certificates.into_iter().map(CertificateHash).collect(),
        issued: announcement.issued.0,
        here: announcement.server == node.session.server,
    };
    Ok(Json(ServersAnswer { servers: known.into_iter().map(entry).collect() }))
}

#[derive(Debug, Serialize)]
pub(super) struct ServersAnswer {
    servers: Vec<ServerEntry>,
}
