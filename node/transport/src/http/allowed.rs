//! The list of origins whose pages may connect to a server, by HTTP and over the carriers of
//! sessions.

use std::{
    collections::BTreeSet,
    net::SocketAddr,
    sync::{Arc, PoisonError, RwLock},
};

use super::{
    Origins, UrlScheme, WebOrigin,
    origin::{host, is_address},
};
use crate::bind::twin;

/// The origins whose pages may connect to this server: its own, those that its configuration names,
/// those of the sim's other servers, as their signed announcements say, and those of other sims of its
/// world. Clones are the same list.
#[derive(Clone, Debug, Default)]
pub struct Allowed(Arc<List>);

#[derive(Debug, Default)]
struct List {
    configured: Origins,
    scheme: UrlScheme,
    /// The port of this server's own pages.
    port: Option<u16>,
    /// Says whether the server listens on all addresses of its machine. Then each of them is a name
    /// of it.
    everywhere: bool,
    own: BTreeSet<WebOrigin>,
    servers: RwLock<BTreeSet<WebOrigin>>,
    sites: RwLock<BTreeSet<WebOrigin>>,
}

/// The kind of page that asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Page {
    /// A page of the server's own, by the name that this request uses.
    Own,
    /// A page of another origin that may ask, and may read the answer.
    Other,
    /// A page of an origin that may not ask.
    Foreign,
}

impl Allowed {
    /// Returns the origins of a server whose pages are at `http`. `announced` is its announced
    /// origin, if that is another one.
    #[must_use]
    pub fn new(configured: Origins, http: SocketAddr, announced: Option<&WebOrigin>) -> Self {
        Self::by(UrlScheme::Http, configured, http, announced)
    }

    /// Returns the origins as [`Allowed::new`] does, for pages that come by this scheme.
    #[must_use]
    pub fn by(
        scheme: UrlScheme,
        configured: Origins,
        http: SocketAddr,
        announced: Option<&WebOrigin>,
    ) -> Self {
        let mut own: BTreeSet<WebOrigin> = announced.cloned().into_iter().collect();
        if !http.ip().is_unspecified() {
            own.insert(WebOrigin::at(scheme, &in_url(http), http.port()));
        }
        if let Some(twin) = twin(http.ip()) {
            own.insert(WebOrigin::at(scheme, &in_url(SocketAddr::new(twin, 0)), http.port()));
            own.insert(WebOrigin::at(scheme, "localhost", http.port()));
        }
        let (port, everywhere) = (Some(http.port()), http.ip().is_unspecified());
        let (servers, sites) = (RwLock::default(), RwLock::default());
        Self(Arc::new(List { configured, scheme, port, everywhere, own, servers, sites }))
    }

    /// Sets the origins of the sim's other servers.
    pub fn set_servers(&self, origins: impl IntoIterator<Item = WebOrigin>) {
        let origins = origins.into_iter().collect();
        *self.0.servers.write().unwrap_or_else(PoisonError::into_inner) = origins;
    }

    /// Sets the origins of other sims of the own world, so that people can walk over from their pages with
    /// the key that these keep.
    pub fn set_sites(&self, origins: impl IntoIterator<Item = WebOrigin>) {
        let origins = origins.into_iter().collect();
        *self.0.sites.write().unwrap_or_else(PoisonError::into_inner) = origins;
    }

    /// Returns the origins of the sim's servers, as far as they are known.
    #[must_use]
    pub fn servers(&self) -> Vec<String> {
        let servers = self.0.servers.read().unwrap_or_else(PoisonError::into_inner);
        servers.iter().map(ToString::to_string).collect()
    }

    fn lists(&self, origin: &str) -> bool {
        let servers = self.0.servers.read().unwrap_or_else(PoisonError::into_inner);
        let sites = self.0.sites.read().unwrap_or_else(PoisonError::into_inner);
        let is = |known: &WebOrigin| known.as_str() == origin;
        self.0.configured.contains(origin)
            || self.0.own.iter().chain(servers.iter()).chain(sites.iter()).any(is)
    }

    /// Returns whether this host, in lowercase, is a name of this server. A page can make a name of
    /// its own site resolve to this server's address (DNS rebinding), and then it is of "the same
    /// origin" as this server.
    pub(crate) fn is_name(&self, name: &str) -> bool {
        let own = |origin: &WebOrigin| host(origin.authority()) == name;
        self.0.everywhere && (is_address(name) || name == "localhost")
            || self.0.configured.has_host(name)
            || self.0.own.iter().any(own)
    }

    /// Returns the kind of page that asks by HTTP and names the server `called` (host and port).
    pub(crate) fn page(&self, origin: &str, called: &str) -> Page {
        if origin == WebOrigin::own(self.0.scheme, called).as_str() {
            Page::Own
        } else if self.lists(origin) {
            Page::Other
        } else {
            Page::Foreign
        }
    }

    /// Returns whether a page of `origin` may open a session by QUIC and name the server `name`.
    /// The server's own pages come from another port of the same host.
    pub(crate) fn session(&self, origin: &str, name: &str) -> bool {
        let name = name.to_ascii_lowercase();
        let own = || {
            self.0
                .port
                .is_some_and(|port| WebOrigin::at(self.0.scheme, &name, port).as_str() == origin)
        };
        self.is_name(&name) && own() || self.lists(origin)
    }
}

/// Returns the host of an address, as a URL has it.
#[must_use]
pub fn in_url(address: SocketAddr) -> String {
    match address {
        SocketAddr::V4(address) => address.ip().to_string(),
        SocketAddr::V6(address) => format!("[{}]", address.ip()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(http: &str) -> Allowed {
        let configured = "https://plaza.example".parse().unwrap();
        Allowed::new(configured, http.parse().unwrap(), None)
    }

    #[test]
    fn own_pages_may_open_sessions_whatever_loopback_is_called() {
        let allowed = allowed("127.0.0.1:8080");
        for page in ["http://127.0.0.1:8080", "http://localhost:8080", "http://[::1]:8080"] {
            for name in ["127.0.0.1", "localhost", "[::1]"] {
                assert!(allowed.session(page, name), "{page} {name}");
            }
        }
        for page in ["http://127.0.0.1:8081", "https://127.0.0.1:8080", "http://evil.example"] {
            assert!(!allowed.session(page, "127.0.0.1"), "{page}");
        }
    }

    #[test]
    fn a_server_that_listens_on_one_address_is_called_by_that_alone() {
        let allowed = allowed("192.0.2.7:8080");
        assert!(allowed.is_name("192.0.2.7") && allowed.is_name("plaza.example"));
        for name in ["192.0.2.8", "127.0.0.1", "localhost", "[::1]", "evil.example"] {
            assert!(!allowed.is_name(name), "{name}");
            let page = format!("http://{name}:8080");
            assert!(!allowed.session(&page, name), "{page}");
        }
    }

    #[test]
    fn pages_under_tls_are_others_than_those_without() {
        let http = "192.0.2.7:8443".parse().unwrap();
        let allowed = Allowed::by(UrlScheme::Https, Origins::default(), http, None);
        let (own, plain) = ("https://192.0.2.7:8443", "http://192.0.2.7:8443");
        assert_eq!(allowed.page(own, "192.0.2.7:8443"), Page::Own);
        assert_eq!(allowed.page(plain, "192.0.2.7:8443"), Page::Foreign);
        assert!(allowed.session(own, "192.0.2.7") && !allowed.session(plain, "192.0.2.7"));
    }

    #[test]
    fn a_server_that_listens_everywhere_knows_its_pages_by_the_name_it_is_called() {
        let allowed = allowed("0.0.0.0:8080");
        assert!(allowed.session("http://192.0.2.7:8080", "192.0.2.7"));
        assert!(!allowed.session("http://192.0.2.8:8080", "192.0.2.7"));
        // Another site made this name resolve to this address.
        assert!(!allowed.session("http://evil.example:8080", "evil.example"));
    }

    #[test]
    fn pages_of_other_sims_of_the_world_may_ask_and_name_no_server() {
        let allowed = allowed("127.0.0.1:8080");
        let other: WebOrigin = "http://192.0.2.9:8080".parse().unwrap();
        allowed.set_sites([other.clone()]);
        assert_eq!(allowed.page(other.as_str(), "127.0.0.1:8080"), Page::Other);
        assert!(allowed.session(other.as_str(), "127.0.0.1") && !allowed.is_name("192.0.2.9"));
        assert_eq!(allowed.servers(), Vec::<String>::new());
        allowed.set_sites([]);
        assert_eq!(allowed.page(other.as_str(), "127.0.0.1:8080"), Page::Foreign);
    }

    #[test]
    fn pages_of_other_servers_may_ask_as_long_as_these_are_known() {
        let allowed = allowed("127.0.0.1:8080");
        let other: WebOrigin = "http://192.0.2.7:8080".parse().unwrap();
        assert_eq!(allowed.page(other.as_str(), "127.0.0.1:8080"), Page::Foreign);

        allowed.set_servers([other.clone()]);
        assert_eq!(allowed.page(other.as_str(), "127.0.0.1:8080"), Page::Other);
        assert!(allowed.session(other.as_str(), "127.0.0.1"));
        // The names of other servers are not ours.
        allowed.set_servers(["http://other.example".parse().unwrap()]);
        assert!(!allowed.is_name("other.example"));
        assert!(!allowed.session(other.as_str(), "127.0.0.1"));
    }

    #[test]
    fn an_announced_origin_is_ours_by_origin_and_by_name() {
        let announced: WebOrigin = "https://node.example".parse().unwrap();
        let http = "0.0.0.0:8080".parse().unwrap();
        let allowed = Allowed::new(Origins::default(), http, Some(&announced));
        assert!(allowed.is_name("node.example"));
        assert!(allowed.session("https://node.example", "node.example"));
        assert_eq!(allowed.page("https://node.example", "node.example"), Page::Other);
    }
}
