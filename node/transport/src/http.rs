//! HTTP: decides which requests are let in, and by which name of the server, before a request gets
//! to its route.
//!
//! The program that runs the server hands in the routes ([`HttpRoutes`]), which stand behind a
//! guard ([`guarded`]); a session over WebSocket begins at [`upgrade`]. A refused request is
//! answered in JSON, see [`ErrorAnswer`]: `{"error":{"code":"not_found","message":".."}}`.
//!
//! The server answers only pages of its own origin, of the configured ones and of the sim's other
//! servers ([`Allowed`]), and only if the request names it by a name that is its own: the address
//! that it listens on, any address if it listens on all, or the host of its own or a configured
//! origin. So no page of another site can read or act through a visitor's browser. Connections,
//! their idle time and the size of bodies are limited.
//!
//! With a [certificate](crate::authority) all of this is HTTPS. A request without TLS is redirected
//! there, except questions of this machine's own programs, which are no pages.
//!
//! A loopback address is listened on in both families, `127.0.0.1` and `[::1]`, with one port:
//! `http://localhost` may mean either.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use axum::{Router, extract::DefaultBodyLimit, middleware};
use tokio::{net::TcpListener, sync::oneshot, task::JoinHandle, time::timeout};
use tokio_rustls::TlsAcceptor;

use crate::{
    authority::Authority,
    bind::{BindError, both_families},
    figures::HttpFigures,
};

mod allowed;
mod answer;
mod guard;
mod listener;
mod origin;
mod places;
mod websocket;
mod wire;

pub use allowed::{Allowed, in_url};
pub use answer::ErrorAnswer;
pub(crate) use listener::WrittenBytes;
pub use listener::{CONNECTIONS_MAX, Caller, IDLE, SOCKET_BYTES};
pub use origin::{Origins, ParseWebOriginError, UrlScheme, WebOrigin, host, is_host};
pub use websocket::upgrade;

/// The largest body of a request, in bytes.
pub const BODY_BYTES_MAX: usize = 64 * 1024;

/// The time that open requests have to finish when the server stops.
const SHUTDOWN: Duration = Duration::from_secs(2);

/// The answers of a server to requests that are let in.
#[derive(Debug, Clone)]
pub struct HttpRoutes {
    /// The routes, and the answers where there is none.
    pub router: Router,
    /// The beginnings of paths that programs of this machine may ask for without TLS, where there
    /// is a certificate.
    pub plain: &'static [&'static str],
    /// The setting by which an operator allows other origins. A refused client is told its name.
    pub origins_setting: &'static str,
}

/// A running server. It stops when this is dropped; open requests are then cut off.
#[derive(Debug)]
pub struct HttpServer {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    task: JoinHandle<()>,
    places: Arc<places::ConnectionSlots>,
}

impl HttpServer {
    /// Returns the connections that take a place of [`CONNECTIONS_MAX`]; those that became sessions
    /// do not.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.places.taken()
    }

    /// Returns the address that is listened on, with the port that the system gave.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Stops the server, after open requests had a moment to finish.
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
    /// Returns the address that is listened on, with the port that the system gave. If both
    /// families of loopback are listened on, it is the address of `listen`.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

/// Opens the sockets: one at `listen`, and if that is a loopback address one of the other family
/// with the same port. Must be called inside a tokio runtime.
///
/// # Errors
/// Fails when the address cannot be listened on.
pub fn bind(listen: SocketAddr) -> Result<ListeningSockets, BindError> {
    let failed = |source| BindError { address: listen.to_string(), source };
    let sockets = both_families(listen, listener::listen, TcpListener::local_addr);
    let sockets = sockets.map_err(failed)?;
    let address = sockets[0].local_addr().map_err(failed)?;
    Ok(ListeningSockets { sockets, address })
}

/// Starts answering with these routes, which are [`guarded`].
#[must_use]
pub fn start(bound: ListeningSockets, routes: Router) -> HttpServer {
    start_by(bound, None, routes)
}

/// Starts answering as [`start`] does, under TLS.
///
/// # Errors
/// Fails when the certificate cannot be used for TLS.
pub fn start_secure(
    bound: ListeningSockets,
    authority: &Authority,
    routes: Router,
) -> Result<HttpServer, rustls::Error> {
    let tls = authority.server(&[b"http/1.1"])?;
    let tls = TlsAcceptor::from(Arc::new(tls));
    Ok(start_by(bound, Some(tls), routes))
}

fn start_by(bound: ListeningSockets, tls: Option<TlsAcceptor>, app: Router) -> HttpServer {
    let ListeningSockets { sockets, address } = bound;
    let app = app.into_make_service_with_connect_info::<Caller>();
    let listener = listener::Limited::new(sockets, tls);
    let places = listener.places();
    let (stop, stopped) = oneshot::channel::<()>();
    let task = tokio::spawn(async move {
        let until_stopped = async {
            // The sender is dropped to stop the server, which is an error here.
            let _ = stopped.await;
        };
        let serve = axum::serve(listener, app);
        if let Err(error) = serve.with_graceful_shutdown(until_stopped).await {
            tracing::error!(%error, "the HTTP server has stopped");
        }
    });
    HttpServer { address, stop: Some(stop), task, places }
}

/// Returns routes behind the checks that every request must pass. Pages that one of the lists
/// allows may ask, and a request may name the server by each name that one of the lists knows.
pub fn guarded(
    allowed: impl IntoIterator<Item = Allowed>,
    routes: HttpRoutes,
    figures: Arc<HttpFigures>,
) -> Router {
    let HttpRoutes { router, plain, origins_setting } = routes;
    let allowed = allowed.into_iter().collect();
    let guard = guard::Guard { allowed, plain, origins_setting, figures };
    router
        .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
        .layer(middleware::from_fn_with_state(Arc::new(guard), guard::check))
}

#[cfg(test)]
mod tests;
