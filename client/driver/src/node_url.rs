//! Where a node is, and which of its sims is meant.

use std::{fmt, str::FromStr};

use metatopia_types::SimId;

/// The HTTP address of a node: `http://host:port` or `https://host:port`. A node may host several sims;
/// `http://host:port/w/SIM` names one of them, as the address of its page does.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeUrl {
    /// Scheme, host and port.
    origin: String,
    /// The sim that is asked; without one it is the node's first or only one. Boxed, because errors hold
    /// addresses.
    sim: Option<Box<SimId>>,
}

impl NodeUrl {
    /// Returns the address of a path on the node, which names the sim if this address does. The path
    /// begins with `/`.
    #[must_use]
    pub fn join(&self, path: &str) -> String {
        let origin = &self.origin;
        let Some(sim) = &self.sim else {
            return format!("{origin}{path}");
        };
        let mark = if path.contains('?') { '&' } else { '?' };
        format!("{origin}{path}{mark}sim={sim}")
    }

    /// Returns the address of this sim on the same node.
    #[must_use]
    pub fn of(&self, sim: SimId) -> Self {
        Self { origin: self.origin.clone(), sim: Some(Box::new(sim)) }
    }

    /// Returns the address of the node, which names no sim.
    #[must_use]
    pub fn node(&self) -> Self {
        Self { origin: self.origin.clone(), sim: None }
    }

    /// Returns the sim that this address names.
    #[must_use]
    pub fn sim(&self) -> Option<SimId> {
        self.sim.as_deref().copied()
    }

    /// Returns whether both name one node; each may name another sim of it.
    pub(crate) fn is_same_node(&self, other: &Self) -> bool {
        self.origin == other.origin
    }

    /// Returns the host, as it is written in the address.
    #[must_use]
    pub fn host(&self) -> &str {
        let authority = self.origin.split_once("://").map_or("", |(_, authority)| authority);
        match authority.rsplit_once(':') {
            Some((host, port)) if port.bytes().all(|b| b.is_ascii_digit()) => host,
            _ => authority,
        }
    }
}

/// Writes the address of the page there.
impl fmt::Display for NodeUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.sim {
            None => write!(f, "{}/", self.origin),
            Some(sim) => write!(f, "{}/w/{sim}", self.origin),
        }
    }
}

/// Why a text is no address of a node.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NodeUrlError {
    /// Something else than http and https.
    #[error("an address looks like http://127.0.0.1:8080 or https://plaza.example")]
    Scheme,
    /// There is more behind the port than the sim.
    #[error(
        "`{0}` is behind the port; an address ends there, like http://127.0.0.1:8080, or goes on \
         with /w/ and the id of a sim"
    )]
    Path(String),
    /// No host, or no valid port.
    #[error("no host and port; an address looks like http://127.0.0.1:8080")]
    Authority,
}

impl FromStr for NodeUrl {
    type Err = NodeUrlError;

    fn from_str(text: &str) -> Result<Self, NodeUrlError> {
        let (scheme, rest) = text.split_once("://").ok_or(NodeUrlError::Scheme)?;
        if !matches!(scheme, "http" | "https") {
            return Err(NodeUrlError::Scheme);
        }
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
        let sim: Option<SimId> = path.strip_prefix("/w/").and_then(|sim| sim.parse().ok());
        if !path.is_empty() && sim.is_none() {
            return Err(NodeUrlError::Path(path.to_owned()));
        }
        let (host, port) = match authority.rsplit_once(':') {
            // The colons of a bare IPv6 address are inside of its brackets.
            Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
            _ => (authority, None),
        };
        let fine = |c: char| c.is_ascii_alphanumeric() || ".-[]:%".contains(c);
        let port_fine = port.is_none_or(|port| port.parse::<u16>().is_ok_and(|port| port > 0));
        if host.is_empty() || !host.chars().all(fine) || !port_fine {
            return Err(NodeUrlError::Authority);
        }
        Ok(Self { origin: format!("{scheme}://{authority}"), sim: sim.map(Box::new) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_nodes_are_read_with_and_without_a_slash() {
        for text in ["http://127.0.0.1:8080", "http://127.0.0.1:8080/"] {
            let url: NodeUrl = text.parse().unwrap();
            assert_eq!(url.to_string(), "http://127.0.0.1:8080/");
            assert_eq!(url.join("/api/status"), "http://127.0.0.1:8080/api/status");
            assert_eq!(url.host(), "127.0.0.1");
        }
        let secure: NodeUrl = "https://plaza.example/".parse().unwrap();
        assert_eq!(
            (secure.host(), secure.join("/ws")),
            ("plaza.example", "https://plaza.example/ws".into())
        );
        assert_eq!("http://[::1]:80".parse::<NodeUrl>().unwrap().host(), "[::1]");
        assert_eq!("http://[::1]".parse::<NodeUrl>().unwrap().host(), "[::1]");
        assert_eq!("http://node.example".parse::<NodeUrl>().unwrap().host(), "node.example");
    }

    #[test]
    fn an_address_may_name_a_sim_of_the_node_as_its_page_does() {
        let id = "ab".repeat(32);
        let page = format!("http://127.0.0.1:8080/w/{id}");
        for text in [page.clone(), format!("{page}/")] {
            let url: NodeUrl = text.parse().unwrap();
            assert_eq!((url.to_string(), url.host()), (page.clone(), "127.0.0.1"));
            assert_eq!(url.sim().unwrap().to_string(), id);
            assert_eq!(
                url.join("/api/status"),
                format!("http://127.0.0.1:8080/api/status?sim={id}")
            );
            assert!(url.join("/api/status?at=7").ends_with(&format!("/api/status?at=7&sim={id}")));
            let node: NodeUrl = "http://127.0.0.1:8080".parse().unwrap();
            assert_eq!((url.node(), node.sim()), (node.clone(), None));
            assert_eq!(node.of(url.sim().unwrap()), url);
        }
        for path in ["/w/", "/w/ab", &format!("/w/{id}/more"), &format!("/w/{id}?at=1")] {
            let error = format!("http://127.0.0.1:8080{path}").parse::<NodeUrl>().unwrap_err();
            let path = path.strip_suffix('/').unwrap_or(path);
            assert_eq!(error, NodeUrlError::Path(path.to_owned()));
        }
    }

    #[test]
    fn what_is_no_address_is_refused_with_a_reason() {
        let read = |text: &str| text.parse::<NodeUrl>().unwrap_err();
        assert_eq!(read("ftp://a:1"), NodeUrlError::Scheme);
        assert_eq!(read("127.0.0.1:8080"), NodeUrlError::Scheme);
        assert_eq!(read("http://a:1/api"), NodeUrlError::Path("/api".into()));
        for text in
            ["http://", "http://:80", "http://a:0", "http://a:x", "http://a:70000", "http://a b"]
        {
            assert_eq!(read(text), NodeUrlError::Authority, "{text}");
        }
    }
}
