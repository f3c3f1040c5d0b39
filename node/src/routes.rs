//! The routes of the HTTP server: what operators, tools and pages ask a node.
//!
//! | route | answer |
//! | --- | --- |
//! | `GET /api/status[?at=HEIGHT]` | [`StatusAnswer`] as JSON; with `at`, the root after that height |
//! | `GET /api/session` | [`SessionAnswer`] as JSON: what a client needs to connect |
//! | `GET /api/servers` | [`ServerEntry`]s as JSON: where the sim's servers let clients in |
//! | `GET /api/invites/HASH` | an invite for who has the short one, covered |
//! | `GET /ws` | a session over WebSocket, see [`gateway`](metatopia_transport::gateway) |
//! | `GET /health/live` | 200 while the node's loop runs, else 503 |
//! | `GET /health/ready` | 200 while the node takes part, else 503 with the reason |
//! | `GET /metrics` | [`Metrics`] for Prometheus |
//! | `GET /source` | [`SourceOffer`] as JSON: this very program's source, as its licence asks |
//! | `GET /source.tar.gz` | that source |
//! | `GET /`, `GET /w/SIM`, `GET /assets/..` | the page and what it is made of |
//!
//! The node's loop publishes its status in a [`watch`] channel and answers [`Query`]s; the routes
//! themselves know nothing of worlds. Errors are JSON:
//! `{"error":{"code":"not_found","message":".."}}`.
//!
//! Who may ask at all, and how, is the matter of [`http`](metatopia_transport::http).

use std::sync::Arc;

use axum::{
    Extension, Json, Router,
    extract::{FromRef, State},
    http::{StatusCode, header::CONTENT_TYPE},
    response::{IntoResponse, Response},
    routing::get,
};
use metatopia_transport::{
    authority::Authority,
    gateway::WebSockets,
    http::{self, Allowed, ErrorAnswer, HttpRoutes, HttpServer, ListeningSockets},
};
use serde_json::json;
use tokio::sync::{mpsc, watch};

use crate::{
    joining::InviteStore,
    metrics::{Metrics, OPEN_METRICS},
};

mod invites;
mod page;
mod query;
mod servers;
mod source;
mod status;

pub(crate) use page::module_warning;
pub use query::{Busy, QUERY, Query, Reply, RootUnknown};
pub use servers::ServerEntry;
pub use source::SourceOffer;
pub use status::{
    Carriers, DelayedChangeStatus, FollowStatus, MissingTurns, ParentAnswer, RefusingServer,
    SessionAnswer, StatusAnswer,
};

/// What programs of this machine ask without TLS. Pages, and what they are made of, are not there.
const PLAIN: &[&str] = &["/api/", "/health/", "/metrics", "/source"];

/// What the server tells about, and whom it asks.
#[derive(Debug, Clone)]
pub struct Node {
    /// What the node's loop publishes; `None` until it does. When the loop is gone, so is the
    /// sender.
    pub status: watch::Receiver<Option<StatusAnswer>>,
    /// Where the node's loop takes questions from.
    pub queries: mpsc::Sender<Query>,
    /// What a client needs to connect; fixed for the run of a server.
    pub session: Arc<SessionAnswer>,
    /// Where sessions over WebSocket begin.
    pub sockets: WebSockets,
    /// The metrics of this process.
    pub metrics: Arc<Metrics>,
    /// Where the source is.
    pub source: Arc<SourceOffer>,
    /// What is kept for those who have a short invite.
    pub invites: InviteStore,
}

impl FromRef<Node> for WebSockets {
    fn from_ref(node: &Node) -> Self {
        node.sockets.clone()
    }
}

/// Starts answering. Pages that are `allowed` may talk to it.
#[must_use]
pub fn start(bound: ListeningSockets, allowed: Allowed, node: Node) -> HttpServer {
    let figures = Arc::clone(&node.metrics.transport);
    http::start(bound, allowed.clone(), routes(allowed, node), figures)
}

/// As [`start`], under TLS.
///
/// # Errors
/// When TLS is not to be had by the certificate.
pub fn start_secure(
    bound: ListeningSockets,
    authority: &Authority,
    allowed: Allowed,
    node: Node,
) -> Result<HttpServer, rustls::Error> {
    let figures = Arc::clone(&node.metrics.transport);
    http::start_secure(bound, authority, allowed.clone(), routes(allowed, node), figures)
}

fn routes(allowed: Allowed, node: Node) -> HttpRoutes {
    let router = Router::new()
        .route("/api/status", get(query::status))
        .route("/api/session", get(status::session))
        .route("/api/servers", get(servers::servers))
        .route("/api/invites/{hash}", get(invites::invite))
        .route("/ws", get(http::upgrade))
        .route("/health/live", get(live))
        .route("/health/ready", get(ready))
        .route("/metrics", get(metrics))
        .route("/source", get(source))
        .route(source::ARCHIVE_PATH, get(source::archive))
        .route("/", get(page::page))
        .route("/w/{sim}", get(page::page_of))
        .route("/assets/{tree}/{*path}", get(page::asset))
        .route("/favicon.ico", get(page::icon))
        .fallback(page::lost)
        .method_not_allowed_fallback(async || {
            ErrorAnswer::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", "not this way")
        })
        .layer(Extension(allowed))
        .with_state(node);
    HttpRoutes { router, plain: PLAIN, origins_setting: "http_origins" }
}

async fn source(State(node): State<Node>) -> Response {
    Json(&*node.source).into_response()
}

/// Answers whether the loop is there at all. A supervisor restarts a node for which this fails.
async fn live(State(node): State<Node>) -> impl IntoResponse {
    // Only the loop holds the sender.
    let live = node.status.has_changed().is_ok();
    let code = if live { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (code, Json(json!({ "live": live })))
}

/// Answers whether the node takes part. A balancer sends clients elsewhere while it does not.
async fn ready(State(node): State<Node>) -> impl IntoResponse {
    let gone = node.status.has_changed().is_err();
    let waiting = match &*node.status.borrow() {
        _ if gone => Some("the node has stopped".to_owned()),
        None => Some("starting".to_owned()),
        Some(status) => status.waiting_for.clone(),
    };
    match waiting {
        None => (StatusCode::OK, Json(json!({ "ready": true }))),
        Some(reason) => {
            let body = json!({ "ready": false, "reason": reason });
            (StatusCode::SERVICE_UNAVAILABLE, Json(body))
        }
    }
}

async fn metrics(State(node): State<Node>) -> impl IntoResponse {
    if let Some(status) = &*node.status.borrow() {
        node.metrics.node.height.set(status.height.0);
        node.metrics.node.tick.set(status.tick.0);
        node.metrics.node.stalled.set(status.stalled.into());
        node.metrics
            .node
            .missing_turns
            .set(status.missing.as_ref().map_or(0, |missing| missing.turns));
    }
    ([(CONTENT_TYPE, OPEN_METRICS)], node.metrics.encode())
}

#[cfg(test)]
mod tests;
