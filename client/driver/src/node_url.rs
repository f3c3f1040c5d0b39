//! Where a node is.

use std::{fmt, str::FromStr};

/// The HTTP address of a node: `http://host:port` or `https://host:port`, without a path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeUrl(String);

impl NodeUrl {
    /// Returns the address of a path on the node. The path begins with `/`.
    #[must_use]
    pub fn join(&self, path: &str) -> String {
        format!("{}{path}", self.0)
    }

    /// Returns the host, as it is written in the address.
    #[must_use]
    pub fn host(&self) -> &str {
        let authority = self.0.split_once("://").map_or("", |(_, authority)| authority);
        match authority.rsplit_once(':') {
            Some((host, port)) if port.bytes().all(|b| b.is_ascii_digit()) => host,
            _ => authority,
        }
    }
}

impl fmt::Display for NodeUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/", self.0)
    }
}

/// Why a text is no address of a node.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NodeUrlError {
    /// Something else than http and https.
    #[error("an address looks like http://127.0.0.1:8080 or https://plaza.example")]
    Scheme,
    /// There is more behind the port.
    #[error("`{0}` is behind the port; an address ends there, like http://127.0.0.1:8080")]
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
        let authority = rest.strip_suffix('/').unwrap_or(rest);
        if let Some(at) = authority.find(['/', '?', '#']) {
            return Err(NodeUrlError::Path(authority[at..].to_owned()));
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
        Ok(Self(format!("{scheme}://{authority}")))
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
