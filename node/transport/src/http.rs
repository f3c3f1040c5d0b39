//! HTTP: who is let in, and by which name, before a request gets to its route.
//!
//! The routes are those of whoever runs the server ([`HttpRoutes`]); a session over WebSocket begins at
//! [`upgrade`]. What is refused here is refused in JSON, see [`ErrorAnswer`]:
//! `{"error":{"code":"not_found","message":".."}}`.
//!
//! It answers pages of its own origin, of the configured ones and of the sim's other servers only
//! ([`Allowed`]), and only if it is called by a name that is its own (the address that it listens on,
//! any if it listens on all, or the host of its own or a configured origin), so that no page of another
//! site can read or act through a visitor's browser. Connections, their idle time and the size of bodies are limited.
//!
//! With a [certificate](crate::authority) all of it is HTTPS. What comes without TLS is sent there,
//! but for questions of this very machine's programs, which are no pages.
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
    figures::TransportFigures,
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

/// Largest body of a request, in bytes.
pub const BODY_BYTES_MAX: usize = 64 * 1024;

/// Time that requests under way have to finish when the server stops.
const SHUTDOWN: Duration = Duration::from_secs(2);

/// What a server answers to whoever is let in.
#[derive(Debug, Clone)]
pub struct HttpRoutes {
    /// The routes, and the answers where there is none.
    pub router: Router,
    /// How paths begin that programs of this machine may ask for without TLS, where there is a
    /// certificate.
    pub plain: &'static [&'static str],
    /// What an operator sets to allow other origins; it is named to who is refused.
    pub origins_setting: &'static str,
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
    let failed = |source| BindError { address: listen.to_string(), source };
    let sockets = both_families(listen, listener::listen, TcpListener::local_addr);
    let sockets = sockets.map_err(failed)?;
    let address = sockets[0].local_addr().map_err(failed)?;
    Ok(ListeningSockets { sockets, address })
}

/// Starts answering. Pages that are `allowed` may talk to it.
#[must_use]
pub fn start(
    bound: ListeningSockets,
    allowed: Allowed,
    routes: HttpRoutes,
    figures: Arc<TransportFigures>,
) -> HttpServer {
    start_by(bound, None, app(allowed, routes, figures))
}

/// As [`start`], under TLS.
///
/// # Errors
/// When TLS is not to be had by the certificate.
pub fn start_secure(
    bound: ListeningSockets,
    authority: &Authority,
    allowed: Allowed,
    routes: HttpRoutes,
    figures: Arc<TransportFigures>,
) -> Result<HttpServer, rustls::Error> {
    let tls = authority.server(&[b"http/1.1"])?;
    let tls = TlsAcceptor::from(Arc::new(tls));
    Ok(start_by(bound, Some(tls), app(allowed, routes, figures)))
}

fn start_by(bound: ListeningSockets, tls: Option<TlsAcceptor>, app: Router) -> HttpServer {
    let ListeningSockets { sockets, address } = bound;
    let app = app.into_make_service_with_connect_info::<Caller>();
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

/// Returns the routes behind what every request must pass.
fn app(allowed: Allowed, routes: HttpRoutes, figures: Arc<TransportFigures>) -> Router {
    let HttpRoutes { router, plain, origins_setting } = routes;
    let guard = guard::Guard { allowed, plain, origins_setting, figures };
    router
        .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
        .layer(middleware::from_fn_with_state(Arc::new(guard), guard::check))
}

#[cfg(test)]
mod tests;
