//! The routes of the HTTP server: what operators, tools and pages ask a node.
//!
//! | route | answer |
//! | --- | --- |
//! | `GET /api/status[?at=HEIGHT]` | [`StatusAnswer`] as JSON; with `at`, the root after that height |
//! | `GET /api/sims` | [`SimEntry`]s as JSON: the sims that this process hosts |
//! | `GET /api/session` | [`SessionAnswer`] as JSON: what a client needs to connect |
//! | `GET /api/genesis` | the sim's genesis, encoded: the digest of its head is the sim's id |
//! | `GET /api/page` | what the page is told beside its code, as JSON |
//! | `GET /api/servers` | [`ServerEntry`]s as JSON: where the sim's servers let clients in |
//! | `GET /api/world` | [`WorldAnswer`] as JSON: which world it takes part in |
//! | `GET /api/world/find?x=X&y=Y` | [`FindAnswer`] as JSON: who owns a point, with the proof |
//! | `GET /api/world/map` | [`MapAnswer`] as JSON: the map, as far as it is known here |
//! | `GET /api/world/reach` | [`ReachAnswer`] as JSON: which of its ports others reach |
//! | `GET /api/invites/HASH` | an invite for who has the short one, covered |
//! | `GET /ws` | a session over WebSocket, see [`gateway`](metatopia_transport::gateway) |
//! | `GET /health/live` | 200 while the node's loop runs, else 503 |
//! | `GET /health/ready` | 200 while the node takes part, else 503 with the reason |
//! | `GET /metrics` | [`Metrics`] for Prometheus |
//! | `GET /source` | [`SourceOffer`] as JSON: this very program's source, as its licence asks |
//! | `GET /source.tar.gz` | that source |
//! | `GET /`, `GET /w/SIM`, `GET /assets/..` | the page and what it is made of |
//!
//! [`WorldAnswer`]: crate::overlay::answers::WorldAnswer
//! [`FindAnswer`]: crate::overlay::answers::FindAnswer
//! [`MapAnswer`]: crate::overlay::answers::MapAnswer
//! [`ReachAnswer`]: crate::overlay::answers::ReachAnswer
//!
//! Where a process hosts several sims, `?sim=SIM` names the one that is asked, see [`HostedSims`].
//! `/api/sims`, `/api/invites`, `/metrics`, `/source` and assets are those of the process.
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
use metatopia_types::Height;
use serde_json::json;
use tokio::sync::{mpsc, watch};

use crate::{
    joining::InviteStore,
    metrics::{NodeFigures, OPEN_METRICS, SimFigures},
    overlay::CurrentPlace,
};

mod genesis;
mod hosted;
mod invites;
mod page;
mod query;
mod servers;
mod source;
mod status;
mod world;

pub use genesis::GenesisBytes;
pub use hosted::{HostedSim, HostedSims, SimEntry, SimsAnswer};
pub(crate) use page::{PageFolder, module_warning, page_folder};
pub use query::{Busy, QUERIES_MAX, QUERY, Query, Reply, RootUnknown, queries};
pub use servers::ServerEntry;
pub use source::SourceOffer;
pub use status::{
    AdminsStatus, Carriers, DelayedChangeStatus, FollowStatus, MissingTurns, NamedKey,
    ParentAnswer, RefusingServer, SessionAnswer, StatusAnswer,
};

/// What programs of this machine ask without TLS. Pages, and what they are made of, are not there.
const PLAIN: &[&str] = &["/api/", "/health/", "/metrics", "/source"];

/// What the server of one sim tells about, and whom it asks.
#[derive(Debug, Clone)]
pub struct Node {
    /// What the node's loop publishes; `None` until it does. When the loop is gone, so is the
    /// sender.
    pub status: watch::Receiver<Option<StatusAnswer>>,
    /// Where the node's loop takes questions from.
    pub queries: mpsc::Sender<Query>,
    /// What a client needs to connect; fixed for the run of a server.
    pub session: Arc<SessionAnswer>,
    /// What the sim began with, encoded.
    pub genesis: GenesisBytes,
    /// Where sessions over WebSocket begin.
    pub sockets: WebSockets,
    /// The figures of the sim in this process.
    pub figures: Arc<SimFigures>,
    /// What is kept for those who have a short invite.
    pub invites: InviteStore,
    /// The node's place in the world of many sims, if it takes part in one.
    pub world: Option<CurrentPlace>,
}

impl FromRef<Node> for WebSockets {
    fn from_ref(node: &Node) -> Self {
        node.sockets.clone()
    }
}

impl Node {
    /// Returns whether the node's loop runs. Only the loop holds the sender.
    fn is_live(&self) -> bool {
        self.status.has_changed().is_ok()
    }

    /// Returns the last turn that was applied, as far as the loop has published it.
    fn height(&self) -> Option<Height> {
        self.status.borrow().as_ref().map(|status| status.height)
    }

    /// Sets the figures that the status holds.
    fn update_figures(&self, figures: &NodeFigures) {
        if let Some(status) = &*self.status.borrow() {
            figures.height.set(status.height.0);
            figures.tick.set(status.tick.0);
            figures.stalled.set(status.stalled.into());
            figures.missing_turns.set(status.missing.as_ref().map_or(0, |missing| missing.turns));
        }
    }
}

/// Starts answering for all these sims, under TLS if there is a certificate. Pages that a sim allows may
/// talk to that sim.
///
/// # Errors
/// When TLS is not to be had by the certificate.
pub fn start(
    bound: ListeningSockets,
    authority: Option<&Authority>,
    hosted: HostedSims,
) -> Result<HttpServer, rustls::Error> {
    let router = hosted.into_router();
    match authority {
        None => Ok(http::start(bound, router)),
        Some(authority) => http::start_secure(bound, authority, router),
    }
}

/// Returns what the process answers, whichever sims it hosts.
fn routes_of_process(hosted: Arc<HostedSims>) -> HttpRoutes {
    let router = Router::new()
        .route("/api/sims", get(hosted::sims))
        .route("/api/invites/{hash}", get(invites::invite))
        .route("/metrics", get(metrics))
        .route("/source", get(source))
        .route(source::ARCHIVE_PATH, get(source::archive))
        .route("/assets/{tree}/{*path}", get(page::asset))
        .route("/favicon.ico", get(page::icon))
        .method_not_allowed_fallback(not_this_way);
    routes_with(router.with_state(hosted))
}

/// Returns what the server of one sim answers.
fn routes_of(allowed: Allowed, node: Node) -> HttpRoutes {
    let router = Router::new()
        .route("/api/status", get(query::status))
        .route("/api/session", get(status::session))
        .route("/api/genesis", get(genesis::genesis))
        .route("/api/page", get(page::facts))
        .route("/api/servers", get(servers::servers))
        .route("/api/world", get(world::facts))
        .route("/api/world/find", get(world::find))
        .route("/api/world/map", get(world::map))
        .route("/api/world/reach", get(world::reach))
        .route("/ws", get(http::upgrade))
        .route("/health/live", get(live))
        .route("/health/ready", get(ready))
        .route("/", get(page::page))
        .route("/w/{sim}", get(page::page_of))
        .fallback(page::lost)
        .method_not_allowed_fallback(not_this_way)
        .layer(Extension(allowed));
    routes_with(router.with_state(node))
}

/// Returns routes, and what of them is asked without TLS, and which setting lets others ask.
fn routes_with(router: Router) -> HttpRoutes {
    HttpRoutes { router, plain: PLAIN, origins_setting: "http_origins" }
}

async fn not_this_way() -> ErrorAnswer {
    ErrorAnswer::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", "not this way")
}

async fn source(State(hosted): State<Arc<HostedSims>>) -> Response {
    Json(&*hosted.source).into_response()
}

/// Answers whether the loop is there at all. A supervisor restarts a node for which this fails.
async fn live(State(node): State<Node>) -> impl IntoResponse {
    let live = node.is_live();
    let code = if live { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (code, Json(json!({ "live": live })))
}

/// Answers whether the node takes part. A balancer sends clients elsewhere while it does not.
async fn ready(State(node): State<Node>) -> impl IntoResponse {
    let waiting = match &*node.status.borrow() {
        _ if !node.is_live() => Some("the node has stopped".to_owned()),
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

async fn metrics(State(hosted): State<Arc<HostedSims>>) -> impl IntoResponse {
    hosted.update_figures();
    ([(CONTENT_TYPE, OPEN_METRICS)], hosted.metrics.encode())
}

#[cfg(test)]
mod tests;
