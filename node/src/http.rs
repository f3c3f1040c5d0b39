//! The HTTP server: what operators, tools and pages ask a node.
//!
//! | route | answer |
//! | --- | --- |
//! | `GET /api/status[?at=HEIGHT]` | [`Status`] as JSON; with `at`, the root after that height |
//! | `GET /api/session` | [`Session`] as JSON: what a client needs to connect |
//! | `GET /health/live` | 200 while the node's loop runs, else 503 |
//! | `GET /health/ready` | 200 while the node takes part, else 503 with the reason |
//! | `GET /metrics` | [`Metrics`] for Prometheus |
//! | `GET /source` | [`SourceOffer`] as JSON: this very program's source, as its licence asks |
//! | `GET /`, `GET /w/SIM`, `GET /assets/..` | the page and what it is made of |
//!
//! The node's loop publishes its status in a [`watch`] channel and answers [`Query`]s; the server
//! itself knows nothing of worlds. Errors are JSON:
//! `{"error":{"code":"not_found","message":".."}}`.
//!
//! It answers pages of its own origin and of the configured ones only, and only if it is called by
//! a name that is its own (an IP address, `localhost`, or the host of a configured origin), so that
//! no page of another site can read or act through a visitor's browser. Connections, their idle
//! time, the size of bodies and the time of a query are limited.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use axum::{
    Json, Router,
    extract::{DefaultBodyLimit, State},
    http::{StatusCode, header::CONTENT_TYPE},
    middleware,
    response::{IntoResponse, Response},
    routing::get,
};
use serde::Serialize;
use serde_json::json;
use tokio::{
    net::TcpListener,
    sync::{mpsc, oneshot, watch},
    task::JoinHandle,
    time::timeout,
};

use crate::{bind::BindError, metrics::Metrics};

mod answer;
mod guard;
mod listener;
mod origin;
mod page;
mod query;
mod source;
mod status;

pub use answer::Failure;
pub use listener::{CONNECTIONS_MAX, IDLE};
pub use origin::{Origin, Origins, ParseOriginError};
pub use query::{QUERY, Query, RootUnknown};
pub use source::SourceOffer;
pub use status::{Session, Status};

/// Largest body of a request, in bytes.
pub const BODY_BYTES_MAX: usize = 64 * 1024;

/// Time that requests under way have to finish when the server stops.
const SHUTDOWN: Duration = Duration::from_secs(2);

/// What the server tells about, and whom it asks.
#[derive(Debug, Clone)]
pub struct Node {
    /// What the node's loop publishes; `None` until it does. When the loop is gone, so is the
    /// sender.
    pub status: watch::Receiver<Option<Status>>,
    /// Where the node's loop takes questions from.
    pub queries: mpsc::Sender<Query>,
    /// What a client needs to connect; fixed for the run of a server.
    pub session: Arc<Session>,
    /// The figures.
    pub metrics: Arc<Metrics>,
    /// Where the source is.
    pub source: Arc<SourceOffer>,
}

/// A running server. It stops when this is dropped; requests under way are then cut off.
#[derive(Debug)]
pub struct HttpServer {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    task: JoinHandle<()>,
}

impl HttpServer {
    /// The address that is listened on, with the port the system gave.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Stops: lets requests under way finish, for a moment.
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

/// Starts listening at `listen`. Pages of `origins`, and the server's own, may talk to it.
///
/// # Errors
/// When the address cannot be listened on.
pub async fn start(
    listen: SocketAddr,
    origins: Origins,
    node: Node,
) -> Result<HttpServer, BindError> {
    let bind = |source| BindError { address: listen.to_string(), flag: "--http-listen", source };
    let socket = TcpListener::bind(listen).await.map_err(bind)?;
    let address = socket.local_addr().map_err(bind)?;
    let app = app(origins, node);
    let (stop, stopped) = oneshot::channel::<()>();
    let task = tokio::spawn(async move {
        let until_stopped = async {
            // An error is the drop of the sender, which is what stops us.
            let _ = stopped.await;
        };
        let serve = axum::serve(listener::Limited::new(socket), app);
        if let Err(error) = serve.with_graceful_shutdown(until_stopped).await {
            tracing::error!(%error, "the HTTP server has stopped");
        }
    });
    Ok(HttpServer { address, stop: Some(stop), task })
}

fn app(origins: Origins, node: Node) -> Router {
    let guard = guard::Guard { origins, metrics: node.metrics.clone() };
    Router::new()
        .route("/api/status", get(query::status))
        .route("/api/session", get(session))
        .route("/health/live", get(live))
        .route("/health/ready", get(ready))
        .route("/metrics", get(metrics))
        .route("/source", get(source))
        .route("/", get(page::page))
        .route("/w/{sim}", get(page::page_of))
        .route("/assets/{tree}/{*path}", get(page::asset))
        .route("/favicon.ico", get(page::icon))
        .fallback(page::lost)
        .method_not_allowed_fallback(async || {
            Failure::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", "not this way")
        })
        .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
        .layer(middleware::from_fn_with_state(Arc::new(guard), guard::check))
        .with_state(node)
}

/// A session's facts, and where the page's module is.
#[derive(Serialize)]
struct SessionOffer<'a> {
    #[serde(flatten)]
    session: &'a Session,
    wasm: Option<String>,
}

async fn session(State(node): State<Node>) -> Response {
    Json(SessionOffer { session: &node.session, wasm: page::module_address() }).into_response()
}

async fn source(State(node): State<Node>) -> Response {
    Json(&*node.source).into_response()
}

/// Is the loop there at all? A supervisor restarts a node for which this fails.
async fn live(State(node): State<Node>) -> impl IntoResponse {
    // Only the loop holds the sender.
    let live = node.status.has_changed().is_ok();
    let code = if live { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (code, Json(json!({ "live": live })))
}

/// Does the node take part? A balancer sends clients elsewhere while it does not.
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
    }
    ([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], node.metrics.encode())
}

#[cfg(test)]
mod tests;
