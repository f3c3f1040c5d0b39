//! The HTTP server: what operators, tools and pages ask a node.
//!
//! | route | answer |
//! | --- | --- |
//! | `GET /api/status[?at=HEIGHT]` | [`StatusAnswer`] as JSON; with `at`, the root after that height |
//! | `GET /api/session` | [`SessionAnswer`] as JSON: what a client needs to connect |
//! | `GET /api/servers` | [`ServerEntry`]s as JSON: where the sim's servers let clients in |
//! | `GET /api/invites/HASH` | an invite for who has the short one, covered |
//! | `GET /ws` | a session over WebSocket, see [`gateway`](crate::gateway) |
//! | `GET /health/live` | 200 while the node's loop runs, else 503 |
//! | `GET /health/ready` | 200 while the node takes part, else 503 with the reason |
//! | `GET /metrics` | [`Metrics`] for Prometheus |
//! | `GET /source` | [`SourceOffer`] as JSON: this very program's source, as its licence asks |
//! | `GET /source.tar.gz` | that source |
//! | `GET /`, `GET /w/SIM`, `GET /assets/..` | the page and what it is made of |
//!
//! The node's loop publishes its status in a [`watch`] channel and answers [`Query`]s; the server
//! itself knows nothing of worlds. Errors are JSON:
//! `{"error":{"code":"not_found","message":".."}}`.
//!
//! It answers pages of its own origin, of the configured ones and of the sim's other servers only
//! ([`Allowed`]), and only if it is called by a name that is its own (the address that it listens on,
//! any if it listens on all, or the host of its own or a configured origin), so that no page of another
//! site can read or act through a visitor's browser. Connections, their idle time, the size of bodies and the time of a
//! query are limited.
//!
//! With a [certificate](crate::authority) all of it is HTTPS. What comes without TLS is sent there,
//! but for questions of this very machine's programs, which are no pages.
//!
//! A loopback address is listened on in both families, `127.0.0.1` and `[::1]`, with one port:
//! `http://localhost` may mean either.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use axum::{
    Extension, Json, Router,
    extract::{DefaultBodyLimit, State},
    http::{StatusCode, header::CONTENT_TYPE},
    middleware,
    response::{IntoResponse, Response},
    routing::get,
};
use serde_json::json;
use tokio::{
    net::TcpListener,
    sync::{mpsc, oneshot, watch},
    task::JoinHandle,
    time::timeout,
};
use tokio_rustls::TlsAcceptor;

use crate::{
    authority::Authority,
    bind::{BindError, both_families},
    gateway::WebSockets,
    joining::InviteStore,
    metrics::{Metrics, OPEN_METRICS},
};

mod allowed;
mod answer;
mod guard;
mod invites;
mod listener;
mod origin;
mod page;
mod places;
mod query;
mod servers;
mod source;
mod status;
mod websocket;
mod wire;

pub use allowed::Allowed;
pub(crate) use allowed::in_url;
pub use answer::ErrorAnswer;
pub(crate) use listener::WrittenBytes;
pub use listener::{CONNECTIONS_MAX, IDLE, SOCKET_BYTES};
pub(crate) use origin::is_host;
pub use origin::{Origins, ParseWebOriginError, UrlScheme, WebOrigin};
pub(crate) use page::module_warning;
pub use query::{Busy, QUERY, Query, Reply, RootUnknown};
pub use servers::ServerEntry;
pub use source::SourceOffer;
pub use status::{
    Carriers, DelayedChangeStatus, FollowStatus, MissingTurns, ParentAnswer, RefusingServer,
    SessionAnswer, StatusAnswer,
};

/// Largest body of a request, in bytes.
pub const BODY_BYTES_MAX: usize = 64 * 1024;

/// Time that requests under way have to finish when the server stops.
const SHUTDOWN: Duration = Duration::from_secs(2);

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

/// A running server. It stops when this is dropped; requests under way are then cut off.
#[derive(Debug)]
pub struct HttpServer {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    task: JoinHandle<()>,
    places: Arc<places::ConnectionSlots>,
}

impl HttpServer {
    /// Connections that take a place of [`CONNECTIONS_MAX`]; those that became sessions do not.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.places.taken()
    }

    /// The address that is listened on, with the port the system gave.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Stops the server, after requests under way had a moment to finish.
    pub async fn shutdown(mut self) {
        drop(self.stop.take());
        let _ = timeout(SHUTDOWN, &mut self.task).await;
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Sockets that listen, and serve nobody yet.
#[derive(Debug)]
pub struct ListeningSockets {
    sockets: Vec<TcpListener>,
    address: SocketAddr,
}

impl ListeningSockets {
    /// The address that is listened on, with the port the system gave; that of `listen`, if both
    /// families of loopback are.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

/// Opens the sockets: one at `listen`, and if that is a loopback address one of the other family
/// with the same port. Must be called inside a tokio runtime.
///
/// # Errors
/// When the address cannot be listened on.
pub fn bind(listen: SocketAddr) -> Result<ListeningSockets, BindError> {
    let failed = |source| BindError { address: listen.to_string(), flag: "--http-listen", source };
    let sockets = both_families(listen, listener::listen, TcpListener::local_addr);
    let sockets = sockets.map_err(failed)?;
    let address = sockets[0].local_addr().map_err(failed)?;
    Ok(ListeningSockets { sockets, address })
}

/// Starts answering. Pages that are `allowed` may talk to it.
#[must_use]
pub fn start(bound: ListeningSockets, allowed: Allowed, node: Node) -> HttpServer {
    start_by(bound, None, allowed, node)
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
    let tls = authority.server(&[b"http/1.1"])?;
    Ok(start_by(bound, Some(TlsAcceptor::from(Arc::new(tls))), allowed, node))
}

fn start_by(
    bound: ListeningSockets,
    tls: Option<TlsAcceptor>,
    allowed: Allowed,
    node: Node,
) -> HttpServer {
    let ListeningSockets { sockets, address } = bound;
    let app = app(allowed, node).into_make_service_with_connect_info::<listener::Caller>();
    let listener = listener::Limited::new(sockets, tls);
    let places = listener.places();
    let (stop, stopped) = oneshot::channel::<()>();
    let task = tokio::spawn(async move {
        let until_stopped = async {
            // An error is the drop of the sender, which is what stops us.
            let _ = stopped.await;
        };
        let serve = axum::serve(listener, app);
        if let Err(error) = serve.with_graceful_shutdown(until_stopped).await {
            tracing::error!(%error, "the HTTP server has stopped");
        }
    });
    HttpServer { address, stop: Some(stop), task, places }
}

fn app(allowed: Allowed, node: Node) -> Router {
    let guard = guard::Guard { allowed: allowed.clone(), metrics: node.metrics.clone() };
    Router::new()
        .route("/api/status", get(query::status))
        .route("/api/session", get(status::session))
        .route("/api/servers", get(servers::servers))
        .route("/api/invites/{hash}", get(invites::invite))
        .route("/ws", get(websocket::upgrade))
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
        .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
        .layer(Extension(allowed))
        .layer(middleware::from_fn_with_state(Arc::new(guard), guard::check))
        .with_state(node)
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
        node.metrics.height.set(status.height.0);
        node.metrics.tick.set(status.tick.0);
        node.metrics.stalled.set(status.stalled.into());
        node.metrics.missing_turns.set(status.missing.as_ref().map_or(0, |missing| missing.turns));
    }
    ([(CONTENT_TYPE, OPEN_METRICS)], node.metrics.encode())
}

#[cfg(test)]
mod tests;
